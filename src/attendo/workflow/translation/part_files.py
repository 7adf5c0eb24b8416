"""Parts of an output: files next to it, each complete or absent, that become the output when all exist."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from attendo.decoding.lines.translation import Counts
from attendo.errors import DataError
from attendo.files import atomic_path, flush_to_disk, locked, sha256, short_name, write_json

_MANIFEST = "manifest.json"
_LOCK = ".lock"
_RECORDS = "[0-9]*.json"


@dataclass(frozen=True, kw_only=True)
class PartRecord:
    """The record of a finished part."""

    num_bytes: int
    """Size of the part's file in bytes."""
    sha256: str
    """The SHA-256 of the file's bytes."""
    kernel: str
    """The kernels and number type used."""
    counts: Counts
    """The counts of the work on the part."""

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Reads the result of `as_json`.

        Raises:
            KeyError: a key is missing.
            TypeError: it has another form.
        """
        counters = {name: Counter(found["counts"].get(name, {})) for name in ("guards", "terms", "matches")}
        missed = tuple((number, term) for number, term in found["counts"].get("missed_terms", ()))
        counts = Counts(**{**found["counts"], **counters, "missed_terms": missed})
        return cls(num_bytes=found["num_bytes"], sha256=found["sha256"], kernel=found["kernel"], counts=counts)

    def as_json(self) -> dict[str, Any]:
        """Returns it as JSON has it."""
        return {
            "num_bytes": self.num_bytes,
            "sha256": self.sha256,
            "kernel": self.kernel,
            "counts": {
                **vars(self.counts),
                **{name: dict(getattr(self.counts, name)) for name in ("guards", "terms", "matches")},
            },
        }


@dataclass(frozen=True, kw_only=True)
class PartsFolder:
    """The folder of an output's parts until the output is complete."""

    path: Path

    @classmethod
    def beside(cls, output: Path) -> Self:
        """The folder of an output, which need not be there."""
        return cls(path=output.with_name(f"{short_name(output.name, len('.parts'))}.parts").absolute())

    @property
    def manifest(self) -> Path:
        """The file that describes the translation of the parts."""
        return self.path / _MANIFEST

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Makes the folder and holds its lock; a folder that holds no part in the end is removed.

        Raises:
            DataError: another process holds the lock.
            OSError: the folder cannot be written to.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path / _LOCK))
            except BlockingIOError as error:
                raise DataError(
                    f"{self.path}: {error.strerror}, which writes the same output; wait for its end, or choose "
                    "another output"
                ) from error
            try:
                yield self
            finally:
                if not any(self.path.glob(_RECORDS)):
                    self.clear()

    def clear(self) -> None:
        """Removes all written files, and the folder if nothing else is in it."""
        self.remove_parts()
        for path in self.path.glob("unpacked-*.txt"):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # Windows keeps a lock that is held, and a folder may hold files of others
            (self.path / _LOCK).unlink(missing_ok=True)
            self.path.rmdir()

    def remove_parts(self) -> None:
        """Removes the parts and their manifest."""
        if not self.path.is_dir():
            return
        for pattern in (_RECORDS, "[0-9]*.txt", ".tmp-*"):
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)
        # The manifest is removed last, and permanently: parts without it would be mistaken for those of the next one.
        flush_to_disk(self.path)
        self.manifest.unlink(missing_ok=True)

    def differences(self, manifest: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the entries that differ from the folder's manifest; empty if it is equal or missing.

        Args:
            manifest: everything that determines the output, as JSON values.

        Raises:
            DataError: the folder's manifest is not of this program.
        """
        if not self.manifest.exists():
            return ()
        try:
            found = json.loads(self.manifest.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise DataError(f"{self.manifest}: is not a manifest of attendo; remove {self.path}")
        keys = dict.fromkeys([*manifest, *found])
        return tuple(key for key in keys if manifest.get(key) != found.get(key))

    def claim(self, manifest: Mapping[str, Any]) -> None:
        """Assigns the folder to this manifest, or confirms that it is already.

        Args:
            manifest: everything that determines the output, as JSON values.

        Raises:
            DataError: it has parts of another translation.
        """
        if others := self.differences(manifest):
            raise DataError(
                f"{self.path}: holds parts of another output, with another {', '.join(others)}; "
                "choose another output, or remove the folder to begin again"
            )
        if not self.manifest.exists():
            self.remove_parts()
            write_json(self.manifest, manifest)

    def text(self, number: int) -> Path:
        """The file of a part's lines."""
        return self.path / f"{number:06}.txt"

    def record(self, number: int) -> Path:
        """The file that marks the lines of a part as complete."""
        return self.path / f"{number:06}.json"

    def write(self, number: int, content: bytes, record: PartRecord) -> None:
        """Writes a part; on any machine, even on two at the same time.

        Args:
            number: the number of the part.
            content: its lines.
            record: its record.

        Raises:
            OSError: the folder is missing, or cannot be written to.
        """
        _write_whole(self.text(number), content)
        _write_whole(self.record(number), json.dumps(record.as_json()).encode("utf-8"))

    def done(self, num_parts: int) -> dict[int, PartRecord]:
        """Finds the finished parts, given their total number."""
        existing = {path.name for path in self.path.glob("*.json")}
        found = {}
        for number in range(num_parts):
            if self.record(number).name not in existing:
                continue
            try:
                record = PartRecord.from_json(json.loads(self.record(number).read_text(encoding="utf-8")))
                whole = sha256(self.text(number)) == record.sha256
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if whole:
                found[number] = record
        return found

    def join(self, records: Mapping[int, PartRecord], output: Path) -> None:
        """Puts the parts into the output, in their order, and removes them.

        Args:
            records: the records of all parts.
            output: appears when it is whole.

        Raises:
            DataError: a part has changed since it was written.
        """
        with atomic_path(output) as temporary, temporary.open("wb") as whole:
            for number in sorted(records):
                before = whole.tell()
                with self.text(number).open("rb") as part:
                    shutil.copyfileobj(part, whole, 1 << 20)
                if whole.tell() - before != records[number].num_bytes:
                    raise DataError(f"{self.text(number)}: is not as it was written; remove it, and start again")
        self.clear()


def _write_whole(path: Path, content: bytes) -> None:
    """Writes a file under a name unique to this machine, and renames it; makes no folder.

    A missing folder is on storage that is not mounted here, where other machines would not find the file.
    """
    temporary = path.with_name(f".tmp-{uuid4().hex}-{path.name}")
    try:
        temporary.write_bytes(content)
        flush_to_disk(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    flush_to_disk(path.parent)


def added(all_counts: Iterable[Counts]) -> Counts:
    """Adds counts up."""
    total = Counts()
    for counts in all_counts:
        for key in fields(Counts):
            setattr(total, key.name, getattr(total, key.name) + getattr(counts, key.name))
    return total


def since(before: Counts, after: Counts) -> Counts:
    """The difference of the counts at two moments."""
    missed = after.missed_terms[len(before.missed_terms) :]
    values = {
        key.name: getattr(after, key.name) - getattr(before, key.name)
        for key in fields(Counts)
        if key.name != "missed_terms"
    }
    return Counts(**values, missed_terms=missed)


def copied(counts: Counts) -> Counts:
    """A copy of the present counts."""
    return replace(counts, guards=Counter(counts.guards), terms=Counter(counts.terms), matches=Counter(counts.matches))
