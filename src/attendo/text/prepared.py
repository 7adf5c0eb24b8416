"""The prepared folder: the output of `attendo prepare`, which training reads.

- `source.spm`: the vocabulary of both languages, learned or a model's own; `target.spm` is added if they differ.
- `shards/NAME-00000.*.npy`: the tokens of each corpus, and of the validation set under the name `valid`.
- `valid.source.txt`, `valid.target.txt`: the validation set's sentences, to be translated while training.
- `word_tags.json`, `valid.trees.txt`, `unread.tsv`: for treebanks: the tags of words, the validation set's trees, and
  the trees that could not be read.
- `dropped.tsv`: every dropped pair: corpus, files, line, reason, and beginning.
- `report.json`: the counts.
- `manifest.json`: the input of the folder, and the size and SHA-256 of all of the above.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from attendo.errors import DataError
from attendo.files import sha256
from attendo.reading import MAX_JSON_BYTES, parse_json, read_bounded
from attendo.text.accounting import CorpusReport
from attendo.text.corpora import VALID_NAME, CorpusConfig, DataConfig
from attendo.text.shards import PairShards
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig

FORMAT_VERSION = 1
"""Raised whenever folders written before can no longer be read."""
_NOT_PREPARED = ("weight", "share", "distilled", "licence", "attribution")
"""Keys of a corpus that no prepared file depends on: training mixes the shards again, and a card quotes the rest."""
_LATER_KEYS = ("trees", "pair", "encoding", "file", "columns", "fields", "states")
"""Keys of a corpus that folders prepared before there were any do not have."""
WORD_TAGS = "word_tags.json"
"""The file of word tags, for treebanks."""
VALID_TREES = "valid.trees.txt"
"""The file of the validation set's trees, for treebanks: one per line, with their sentences in `valid.source.txt`."""
MANIFEST_NAME = "manifest.json"
"""The file that is written last: a folder without it is not whole."""
_MAX_VALUES = 50_000
_HASHING_THREADS = 8
_LISTED = 5
"""Damaged files that a message lists."""


@dataclass(frozen=True, kw_only=True)
class PreparationReport:
    """The content of `report.json`."""

    corpora: tuple[CorpusReport, ...]
    valid: CorpusReport | None
    source_vocab_size: int
    target_vocab_size: int
    sampled_pairs: int
    """Number of pairs from which the vocabulary was learned; 0 if it is that of a model."""
    seconds: float
    """Wall time of the preparation."""
    vocabulary_from: str | None = None
    """The model whose vocabulary was kept; None if it was learned."""

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
class _File:
    """A file of a prepared folder, as the manifest has it."""

    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class _CorpusFile(_File):
    """A file that it was prepared from."""

    mtime_ns: int


@dataclass(frozen=True, kw_only=True)
class _Manifest:
    """The content of `manifest.json`."""

    format_version: int
    fingerprint: str
    source_language: str
    target_language: str
    joint: bool
    corpus_files: Mapping[str, _CorpusFile]
    files: Mapping[str, _File]


# A folder's contents are untrusted: both are checked before they are used.
_MANIFEST = TypeAdapter(_Manifest)
_REPORT = TypeAdapter(PreparationReport)
_TAGS = TypeAdapter(dict[str, list[str]])


@dataclass(frozen=True, kw_only=True)
class PreparedData:
    """A prepared folder, opened: its texts and counts in memory, its tokens on disk."""

    folder: Path
    source_language: str
    target_language: str
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    """The target's tokenizer; the same object as `source_tokenizer` for a joint vocabulary."""
    corpora: Mapping[str, PairShards]
    """Each corpus by its name, in the recipe's order; `PairShards.join(list(corpora.values()))` is all of them."""
    valid: PairShards | None
    valid_source: tuple[str, ...]
    """Sentences of the validation set; empty without one."""
    valid_target: tuple[str, ...]
    report: PreparationReport
    word_tags: Mapping[str, Sequence[str]] | None = None
    """The tags of words, for treebanks, as `parsing.word_tags` learned them."""
    valid_trees: tuple[str, ...] = ()
    """The validation set's trees, for treebanks."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The vocabulary of a model for which data is prepared, in place of a learned one."""

    source: Tokenizer
    target: Tokenizer
    """The target's vocabulary; the same object as `source` if it is joint."""
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


def fingerprint(
    data: DataConfig,
    tokenizer: TokenizerConfig,
    vocabulary: Vocabulary | None = None,
    linearization: Mapping[str, Any] | None = None,
) -> str:
    """Returns a digest, 64 hexadecimal digits, of the settings that a prepared folder depends on.

    Args:
        data: the corpora.
        tokenizer: the settings of the vocabulary to learn.
        vocabulary: the vocabulary of a model, if none is learned; it then counts in place of the two before.
        linearization: the settings for writing trees as symbols, if the corpora are treebanks.
    """
    settings: dict[str, Any] = {"format": FORMAT_VERSION, "data": dataclasses.asdict(data)}
    for corpus in (*settings["data"]["corpora"], settings["data"]["valid"] or {}):
        for key in _NOT_PREPARED:
            corpus.pop(key, None)
        for key in _LATER_KEYS:
            if corpus and corpus[key] == getattr(CorpusConfig, key):
                del corpus[key]
    if linearization is not None:
        settings["linearization"] = dict(linearization)
    if vocabulary is not None:
        settings["vocabulary"] = vocabulary.checksums
    else:
        learned = dataclasses.asdict(tokenizer)
        del learned["bpe_dropout"]  # read by training alone
        if not learned["target_symbols"]:
            del learned["target_symbols"]  # only a true value counts
        seed = learned.pop("seed")  # separate from the others in folders of earlier versions
        settings |= {"tokenizer": learned, "seed": seed}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def is_prepared(
    folder: Path, expected: str, corpus_folder: Path, *, verify: bool = False, matched: frozenset[str] | None = None
) -> bool:
    """Whether a folder is complete and was made with these settings from exactly these files.

    Args:
        folder: the prepared folder, which need not exist.
        expected: the result of `fingerprint` for the recipe.
        corpus_folder: the folder to which the corpora's paths are relative. Missing corpus files are accepted; changed
            ones are not.
        verify: compare also the SHA-256 of every file of the folder.
        matched: the files that the corpora's patterns match now (`DataConfig.matched_files`).
    """
    manifest = _whole(folder, verify=verify)
    return manifest is not None and not _other(manifest, expected, corpus_folder, matched)


def other_content(
    folder: Path, expected: str, corpus_folder: Path, *, matched: frozenset[str] | None = None
) -> str | None:
    """Describes how an intact folder's content differs from the request; None if it is not intact or does not differ.

    Args:
        folder: the prepared folder, which need not exist.
        expected: the result of `fingerprint` for the recipe.
        corpus_folder: the folder to which the corpora's paths are relative.
        matched: the files that the corpora's patterns match now.
    """
    manifest = _whole(folder, verify=False)
    return None if manifest is None else _other(manifest, expected, corpus_folder, matched)


def open_prepared(folder: Path, *, verify: bool = False) -> PreparedData:
    """Opens a prepared folder.

    Args:
        folder: the output of `prepare`.
        verify: compare also the SHA-256 of every file, which reads all of it, several at a time.

    Raises:
        DataError: the folder is not a prepared one, or files of it are missing or damaged; the message lists them.
    """
    manifest = _read_manifest(folder)
    way_out = f"make it anew with: attendo prepare RECIPE -o {folder}"
    if damage := _damage(folder, manifest, verify=verify):
        more = f" and {len(damage) - _LISTED} more" if len(damage) > _LISTED else ""
        raise DataError(f"{folder}: {', '.join(damage[:_LISTED])}{more}; {way_out}")
    try:
        content = read_bounded(folder / "report.json", MAX_JSON_BYTES)
        _parsed(content)
        report = _REPORT.validate_json(content, strict=True)
        _check_names([corpus.name for corpus in report.corpora])
        source_tokenizer = Tokenizer.load(folder / "source.spm")
        target_tokenizer = source_tokenizer if manifest.joint else Tokenizer.load(folder / "target.spm")
        shards, vocab_sizes = folder / "shards", (source_tokenizer.vocab_size, target_tokenizer.vocab_size)
        data = PreparedData(
            folder=folder,
            source_language=manifest.source_language,
            target_language=manifest.target_language,
            source_tokenizer=source_tokenizer,
            target_tokenizer=target_tokenizer,
            corpora={corpus.name: PairShards.open(shards, corpus.name, vocab_sizes) for corpus in report.corpora},
            valid=PairShards.open(shards, VALID_NAME, vocab_sizes) if report.valid else None,
            valid_source=_read_lines(folder / "valid.source.txt") if report.valid else (),
            valid_target=_read_lines(folder / "valid.target.txt") if report.valid else (),
            report=report,
            word_tags=_read_word_tags(folder / WORD_TAGS) if WORD_TAGS in manifest.files else None,
            valid_trees=_read_lines(folder / VALID_TREES) if VALID_TREES in manifest.files else (),
        )
        if data.valid is not None and not len(data.valid) == len(data.valid_source) == len(data.valid_target):
            raise ValueError("the validation set's shards and its two texts differ in their number of lines")
        if data.valid_trees and len(data.valid_trees) != len(data.valid_source):
            raise ValueError("the validation set's trees and its sentences differ in their number")
        return data
    except (OSError, ValueError) as error:
        raise DataError(f"{folder}: is not as `attendo prepare` wrote it ({_message_of(error)}); {way_out}") from error


def report_as_json(report: PreparationReport) -> dict[str, Any]:
    """Returns a report as JSON has it, with the totals over all corpora."""
    total = {"read": report.read, "kept": report.kept, "dropped": report.dropped}
    return {"total": total, **dataclasses.asdict(report)}


def _read_manifest(folder: Path) -> _Manifest:
    path = folder / MANIFEST_NAME
    if not path.is_file():
        raise DataError(f"{folder}: this is no prepared folder, or not a whole one: it has no {MANIFEST_NAME}")
    try:
        content = read_bounded(path, MAX_JSON_BYTES)
        found = _parsed(content)
        version = found.get("format_version", FORMAT_VERSION)
        if version != FORMAT_VERSION:
            shown = repr(version)[:80]
            raise DataError(f"{path}: has format_version {shown}, expected {FORMAT_VERSION}; prepare the data again")
        manifest = _MANIFEST.validate_json(content, strict=True)
        _check_names(manifest.files)
    except (OSError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: is torn or not a manifest ({_message_of(error)}); prepare the data again") from error
    return manifest


def _parsed(content: bytes) -> Any:
    """Parses JSON with a bounded number of values, since pydantic makes an error of a kilobyte for each invalid one.

    Raises:
        ValueError: it is not JSON, or has more values.
    """
    found = parse_json(content)
    if content.count(b",") > _MAX_VALUES:
        raise ValueError("it has more values than attendo writes")
    return found


def _whole(folder: Path, *, verify: bool) -> _Manifest | None:
    """Returns the manifest of a folder that can be used; None of another."""
    if not (folder / MANIFEST_NAME).exists():
        return None
    try:
        manifest = _read_manifest(folder)
    except DataError:  # torn, or another attendo's
        return None
    return None if _damage(folder, manifest, verify=verify) else manifest


def _other(manifest: _Manifest, expected: str, corpus_folder: Path, matched: frozenset[str] | None) -> str | None:
    """Describes how the input of a folder differs from the requested one, or None."""
    if manifest.fingerprint != expected:
        return "other corpora or settings"
    if matched is not None and (different := sorted(matched.symmetric_difference(manifest.corpus_files))):
        return f"other files than its patterns stand for now ({', '.join(different[:_LISTED])} came or went)"
    files = manifest.corpus_files.items()
    changed = [str(corpus_folder / name) for name, file in files if not _unchanged(corpus_folder / name, file)]
    return f"another {' and another '.join(changed)} than there is now" if changed else None


def _damage(folder: Path, manifest: _Manifest, *, verify: bool) -> list[str]:
    """Lists the files of a folder that do not match its manifest."""
    with ThreadPoolExecutor(_HASHING_THREADS) as threads:  # hashing and reading leave Python's lock alone
        found = threads.map(lambda item: _file_damage(folder, *item, verify=verify), manifest.files.items())
        return [problem for problem in found if problem is not None]


def _file_damage(folder: Path, name: str, file: _File, *, verify: bool) -> str | None:
    path = folder / name
    try:
        if not path.is_file():
            return f"{name} is missing"
        if (size := path.stat().st_size) != file.bytes:
            return f"{name} has {size} bytes and should have {file.bytes}"
        if verify and sha256(path) != file.sha256:
            return f"{name} has another SHA-256 than when it was written"
    except OSError as error:
        return f"{name} cannot be read ({error.strerror})"
    return None


def _check_names(names: Iterable[str]) -> None:
    """Refuses names of files or corpora that lead out of the folder.

    Raises:
        ValueError: one does.
    """
    for name in names:
        if not re.fullmatch(r"(shards/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,150}", name):
            raise ValueError(f"{name[:80]!r} is no name of a file in it")


def _message_of(error: Exception) -> str:
    """Returns the message of an error, on one line of bounded length."""
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        message = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return message[:300]


def _unchanged(path: Path, file: _CorpusFile) -> bool:
    if not path.is_file():
        return True
    status = path.stat()
    if status.st_size != file.bytes:
        return False
    return bool(status.st_mtime_ns == file.mtime_ns or sha256(path) == file.sha256)


def _read_word_tags(path: Path) -> dict[str, list[str]]:
    return _TAGS.validate_json(read_bounded(path, MAX_JSON_BYTES), strict=True)


def _read_lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_bytes().decode("utf-8").split("\n")[:-1])
