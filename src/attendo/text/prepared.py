"""The prepared folder: what `attendo prepare` leaves behind and training reads.

- `source.spm`: the vocabulary of both languages, learned or a model's own; `target.spm` is beside it where they differ.
- `shards/NAME-00000.*.npy`: the tokens of each corpus, and of the validation set under the name `valid`.
- `valid.source.txt`, `valid.target.txt`: the validation set's sentences, to be translated while training.
- `dropped.tsv`: every pair left out: corpus, files, line, reason, and how it begins.
- `report.json`: the counts.
- `manifest.json`: what the folder was made from, and the size and SHA-256 of all of the above.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from attendo.errors import DataError
from attendo.files import sha256
from attendo.text.accounting import CorpusReport
from attendo.text.corpora import VALID_NAME, DataConfig
from attendo.text.shards import PairShards
from attendo.text.tokenization import Tokenizer, TokenizerConfig

FORMAT_VERSION = 1
"""Raised whenever folders written before can no longer be read."""
_NOT_PREPARED = ("weight", "share", "licence", "attribution")
"""Keys of a corpus that no prepared file depends on: training mixes the shards anew, and a card quotes the rest."""
MANIFEST_NAME = "manifest.json"
"""The file that is written last: a folder without it is not whole."""


@dataclass(frozen=True, kw_only=True)
class PreparationReport:
    """What `report.json` holds."""

    corpora: tuple[CorpusReport, ...]
    valid: CorpusReport | None
    source_vocab_size: int
    target_vocab_size: int
    sampled_pairs: int
    """Pairs the vocabulary was learned from; 0 where it is that of a model."""
    seconds: float
    """Wall time of the preparation."""
    vocabulary_from: str | None = None
    """The model whose vocabulary was kept; None where it was learned."""

    @property
    def read(self) -> int:
        """Pairs read from all corpora, the validation set not counted."""
        return sum(corpus.read for corpus in self.corpora)

    @property
    def kept(self) -> int:
        """Pairs kept of all corpora."""
        return sum(corpus.kept for corpus in self.corpora)

    @property
    def dropped(self) -> dict[str, int]:
        """Pairs left out of all corpora, by reason."""
        reasons = self.corpora[0].dropped if self.corpora else {}
        return {reason: sum(corpus.dropped[reason] for corpus in self.corpora) for reason in reasons}


@dataclass(frozen=True, kw_only=True)
class PreparedData:
    """A prepared folder, opened: its texts and counts in memory, its tokens on disk."""

    folder: Path
    source_language: str
    target_language: str
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    """The same object as `source_tokenizer` where the vocabulary is joint."""
    corpora: Mapping[str, PairShards]
    """Each corpus by its name, in the recipe's order; `PairShards.join(list(corpora.values()))` is all of them."""
    valid: PairShards | None
    valid_source: tuple[str, ...]
    """Sentences of the validation set; empty without one."""
    valid_target: tuple[str, ...]
    report: PreparationReport


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The vocabulary of a model, which data is prepared for in place of one that is learned."""

    source: Tokenizer
    target: Tokenizer
    """The same object as `source` where the vocabulary is joint."""
    origin: str
    """The model it is of, for reports."""

    @classmethod
    def of_model(cls, folder: Path) -> Self:
        """Reads the vocabulary of a model folder.

        Raises:
            ModelError: a file is missing or is no SentencePiece model.
        """
        source = Tokenizer.load(folder / "source.spm")
        joint = not (folder / "target.spm").exists()
        return cls(source=source, target=source if joint else Tokenizer.load(folder / "target.spm"), origin=str(folder))

    @property
    def joint(self) -> bool:
        """Whether both languages share it."""
        return self.target is self.source

    @property
    def checksums(self) -> tuple[str, str]:
        """The SHA-256 of the source's and of the target's SentencePiece file."""
        source, target = (hashlib.sha256(side.serialized).hexdigest() for side in (self.source, self.target))
        return source, target


def fingerprint(data: DataConfig, tokenizer: TokenizerConfig, seed: int, vocabulary: Vocabulary | None = None) -> str:
    """Gives a name, 64 hexadecimal digits, to what settings a prepared folder depends on.

    Args:
        data: the corpora.
        tokenizer: which vocabulary to learn.
        seed: of the sample it is learned from.
        vocabulary: that of a model, where none is learned; it then counts in place of the two before.
    """
    settings: dict[str, Any] = {"format": FORMAT_VERSION, "data": dataclasses.asdict(data)}
    for corpus in (*settings["data"]["corpora"], settings["data"]["valid"] or {}):
        for key in _NOT_PREPARED:
            corpus.pop(key, None)
    if vocabulary is not None:
        settings["vocabulary"] = vocabulary.checksums
    else:
        learned = dataclasses.asdict(tokenizer)
        del learned["bpe_dropout"]  # read by training alone
        settings |= {"tokenizer": learned, "seed": seed}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def is_prepared(folder: Path, expected: str, corpus_folder: Path) -> bool:
    """Says whether a folder is whole and was made with these settings from these very files.

    Args:
        folder: the prepared folder, which need not exist.
        expected: what `fingerprint` gives for the recipe at hand.
        corpus_folder: what the corpora's paths are relative to. A corpus file that is gone is no objection; one whose
            content has changed is.

    Raises:
        DataError: there is a manifest and it cannot be read.
    """
    if not (folder / MANIFEST_NAME).exists():
        return False
    manifest = _read_manifest(folder)
    if manifest["fingerprint"] != expected or _damage(folder, manifest, verify=False):
        return False
    return all(_unchanged(corpus_folder / name, entry) for name, entry in manifest["corpus_files"].items())


def open_prepared(folder: Path, *, verify: bool = False) -> PreparedData:
    """Opens a prepared folder.

    Args:
        folder: what `prepare` wrote.
        verify: compare also the SHA-256 of every file, which reads all of it.

    Raises:
        DataError: the folder is none, or a file of it is missing or torn; the message lists all of those.
    """
    manifest = _read_manifest(folder)
    if damage := _damage(folder, manifest, verify=verify):
        raise DataError(f"{folder}: {', '.join(damage)}; run `attendo prepare` again")
    try:
        report = _read_report(json.loads((folder / "report.json").read_text(encoding="utf-8")))
        source_tokenizer = Tokenizer.load(folder / "source.spm")
        joint = manifest["joint"]
        shards = folder / "shards"
        return PreparedData(
            folder=folder,
            source_language=manifest["source_language"],
            target_language=manifest["target_language"],
            source_tokenizer=source_tokenizer,
            target_tokenizer=source_tokenizer if joint else Tokenizer.load(folder / "target.spm"),
            corpora={corpus.name: PairShards.open(shards, corpus.name) for corpus in report.corpora},
            valid=PairShards.open(shards, VALID_NAME) if report.valid else None,
            valid_source=_read_lines(folder / "valid.source.txt") if report.valid else (),
            valid_target=_read_lines(folder / "valid.target.txt") if report.valid else (),
            report=report,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder}: is not as `attendo prepare` wrote it ({error!r}); run it again") from error


def report_as_json(report: PreparationReport) -> dict[str, Any]:
    """Gives a report as JSON has it, with the totals over all corpora."""
    total = {"read": report.read, "kept": report.kept, "dropped": report.dropped}
    return {"total": total, **dataclasses.asdict(report)}


def _read_report(content: dict[str, Any]) -> PreparationReport:
    def corpus(entry: dict[str, Any]) -> CorpusReport:
        known = {key: value for key, value in entry.items() if key != "weight"}  # which older folders have
        return CorpusReport(**{**known, "files": tuple(entry["files"]), "tags": tuple(entry["tags"])})

    return PreparationReport(
        **{key: value for key, value in content.items() if key not in ("total", "corpora", "valid")},
        corpora=tuple(corpus(entry) for entry in content["corpora"]),
        valid=corpus(content["valid"]) if content["valid"] else None,
    )


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST_NAME
    if not path.is_file():
        raise DataError(f"{folder}: this is no prepared folder, or not a whole one: it has no {MANIFEST_NAME}")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["format_version"]
        if version != FORMAT_VERSION:
            raise DataError(f"{path}: has format_version {version}, expected {FORMAT_VERSION}; prepare the data again")
        for key in ("fingerprint", "files", "corpus_files", "joint", "source_language", "target_language"):
            manifest[key]  # each is there
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: is torn or not a manifest ({error!r}); prepare the data again") from error
    return manifest


def _damage(folder: Path, manifest: dict[str, Any], *, verify: bool) -> list[str]:
    """Lists the files of a folder that are not as its manifest says."""
    damage = []
    for name, entry in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            damage.append(f"{name} is missing")
        elif path.stat().st_size != entry["bytes"]:
            damage.append(f"{name} has {path.stat().st_size} bytes and should have {entry['bytes']}")
        elif verify and sha256(path) != entry["sha256"]:
            damage.append(f"{name} has another SHA-256 than when it was written")
    return damage


def _unchanged(path: Path, entry: dict[str, Any]) -> bool:
    if not path.is_file():
        return True
    if path.stat().st_size != entry["bytes"]:
        return False
    return bool(path.stat().st_mtime_ns == entry["mtime_ns"] or sha256(path) == entry["sha256"])


def _read_lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_bytes().decode("utf-8").split("\n")[:-1])
