"""Corpora to a prepared folder: the vocabulary, the token shards, and an account of every pair kept or dropped.

The corpora are read three times, and nothing of them is held but a bounded sample and a byte a pair: once to clean them
and to find duplicates, once to learn the vocabulary (not where a model's is kept), once to write the tokens.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.files import atomic_folder, write_json, write_text
from attendo.text.accounting import Account, CorpusReport
from attendo.text.corpora import (
    VALID_NAME,
    CorpusConfig,
    DataConfig,
    Dropped,
    SentencePair,
    check_files,
    clean,
    read_corpus,
    read_valid,
)
from attendo.text.duplicates import DigestFile, pair_digest
from attendo.text.prepared import (
    FORMAT_VERSION,
    MANIFEST_NAME,
    PreparationReport,
    PreparedData,
    Vocabulary,
    describe_files,
    fingerprint,
    is_prepared,
    open_prepared,
    report_as_json,
)
from attendo.text.shards import ShardWriter
from attendo.text.tokenization import Tokenizer, TokenizerConfig, learn_tokenizer

__all__ = ["PreparedData", "Progress", "fingerprint", "is_prepared", "open_prepared", "prepare"]

_CHUNK_PAIRS = 4096
_DROPPED_HEADER = "corpus\tfiles\tline\treason\tsource\ttarget\n"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a preparation is."""

    stage: Literal["cleaning", "learning", "encoding"]
    done_bytes: int
    """Bytes of the corpus files read in this stage."""
    total_bytes: int
    """Bytes of all corpus files; each stage reads all of them."""


@dataclass(frozen=True, kw_only=True)
class _Cleaned:
    """What the first reading tells the other two."""

    duplicates: npt.NDArray[np.bool_]
    """For each pair that `clean` lets through, over all corpora in order, whether it came before."""
    in_valid: Counter[str]
    """Pairs kept of each corpus that the validation set has too."""


class _Corpora:
    """The training corpora of a recipe, to be read again and again."""

    def __init__(self, data: DataConfig, base_folder: Path, progress: Callable[[Progress], None] | None) -> None:
        self.configs = data.corpora
        self.folder = base_folder / data.folder
        self._cleaning = data.cleaning
        self._progress = progress
        self._sizes = [sum(path.stat().st_size for path in c.paths(self.folder)) for c in self.configs]

    def clean(
        self, number: int, stage: Literal["cleaning", "learning", "encoding"]
    ) -> Iterator[SentencePair | Dropped]:
        """Yields what `clean` makes of each pair of a corpus, and reports how far the stage is."""
        before, total = sum(self._sizes[:number]), sum(self._sizes)

        def report(taken: int) -> None:
            if self._progress:
                self._progress(Progress(stage=stage, done_bytes=before + taken, total_bytes=total))

        corpus = self.configs[number]
        return clean(read_corpus(corpus, self.folder, report), corpus.name, self._cleaning)

    def names(self) -> dict[str, Path]:
        """Gives every file under the name the recipe has for it."""
        paths = [path for corpus in self.configs for path in corpus.paths(self.folder)]
        names = [str(path) for corpus in self.configs for path in corpus.paths(Path())]
        return dict(zip(names, paths, strict=True))


def prepare(
    data: DataConfig,
    tokenizer: TokenizerConfig,
    output: Path,
    *,
    base_folder: Path,
    seed: int,
    vocabulary: Vocabulary | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> PreparedData:
    """Learns the vocabulary, or keeps a model's, writes the token shards and accounts for every pair.

    The folder appears under its name when it is whole; what a folder of that name held before is replaced.

    Args:
        data: which corpora, and how to clean them.
        tokenizer: which vocabulary to learn.
        output: the prepared folder to make.
        base_folder: what `data.folder` is relative to.
        seed: of the sample that the vocabulary is learned from.
        vocabulary: that of a model to fine-tune, in place of one that is learned.
        progress: called a few times a second.

    Returns:
        The folder, opened.

    Raises:
        DataError: a corpus file is missing (all of those in one message), broken, or of another number of lines than
            its counterpart; a corpus keeps no pair; the validation set has a bad line; the vocabulary is too large for
            the text; or `output` is something else than a prepared folder.
    """
    started = time.monotonic()
    if not data.corpora:
        raise DataError("data.corpora names no corpus: there is nothing to prepare")
    check_files(data, base_folder)
    _check_replaceable(output)
    corpora = _Corpora(data, base_folder, progress)
    valid = read_valid(data.valid, corpora.folder) if data.valid else ([], [])
    with atomic_folder(output) as folder:
        names = corpora.names() | _valid_names(data, corpora.folder)
        corpus_files = describe_files(list(names.values()), list(names))
        cleaned = _find_duplicates(corpora, valid, folder / "digests.tmp", data.cleaning.drop_duplicates)
        if vocabulary is None:
            tokenizers, sampled = _learn(corpora, cleaned, tokenizer, folder, seed, data.source_tags)
        else:
            tokenizers, sampled = _keep(vocabulary, folder), 0
        writer = _Writer(folder, tokenizers, data.cleaning.max_tokens)
        reports = writer.write_corpora(corpora, cleaned)
        valid_report = writer.write_valid(data.valid, valid) if data.valid else None
        report = PreparationReport(
            corpora=tuple(reports),
            valid=valid_report,
            source_vocab_size=tokenizers[0].vocab_size,
            target_vocab_size=tokenizers[1].vocab_size,
            sampled_pairs=sampled,
            seconds=round(time.monotonic() - started, 3),
            vocabulary_from=vocabulary.origin if vocabulary else None,
        )
        write_json(folder / "report.json", report_as_json(report))
        _check_unchanged(names, corpus_files)
        _write_manifest(folder, data, tokenizer, seed, vocabulary, corpus_files)
    return open_prepared(output)


def _check_replaceable(output: Path) -> None:
    """Refuses to replace what is not ours."""
    if output.is_dir() and (not any(output.iterdir()) or (output / MANIFEST_NAME).is_file()):
        return
    if output.exists():
        raise DataError(f"{output}: exists and is not a prepared folder; name another one, or remove it")


def _valid_names(data: DataConfig, folder: Path) -> dict[str, Path]:
    if data.valid is None:
        return {}
    return {str(name): folder / name for name in data.valid.paths(Path())}


def _find_duplicates(
    corpora: _Corpora, valid: tuple[Sequence[str], Sequence[str]], path: Path, drop_duplicates: bool
) -> _Cleaned:
    """Reads all corpora and gives which pairs are repeated, and how many the validation set has too."""
    held_out = {pair_digest(source.strip(), target.strip()) for source, target in zip(*valid, strict=True)}
    rows_in_valid: list[tuple[int, str]] = []
    row = 0
    with DigestFile(path) as digests:
        for number, corpus in enumerate(corpora.configs):
            for item in corpora.clean(number, "cleaning"):
                if isinstance(item, SentencePair):
                    digest = pair_digest(item.source, item.target)
                    digests.add(digest)
                    if digest in held_out:
                        rows_in_valid.append((row, corpus.name))
                    row += 1
        duplicates = digests.find_duplicates() if drop_duplicates else np.zeros(row, dtype=np.bool_)
    in_valid = Counter(name for row, name in rows_in_valid if not duplicates[row])
    return _Cleaned(duplicates=duplicates, in_valid=in_valid)


def _learn(
    corpora: _Corpora,
    cleaned: _Cleaned,
    config: TokenizerConfig,
    folder: Path,
    seed: int,
    source_tags: Sequence[str],
) -> tuple[tuple[Tokenizer, Tokenizer], int]:
    """Learns one or two vocabularies; gives those of source and target, and how many pairs they were learned from."""
    num_kept = int(np.count_nonzero(~cleaned.duplicates))
    num_sampled = min(num_kept, config.sample_pairs)

    def sample() -> Iterator[SentencePair]:
        # Knuth's selection sampling: an exact sample of known size in one reading, without holding it.
        rng, wanted, left = random.Random(seed), num_sampled, num_kept
        for pair in _kept(corpora, cleaned):
            if rng.random() * left < wanted:
                wanted -= 1
                yield pair
            left -= 1

    if config.joint:
        sentences = (sentence for pair in sample() for sentence in (pair.source, pair.target))
        joint = learn_tokenizer(sentences, config, folder / "source.spm", seed, symbols=source_tags)
        return (joint, joint), num_sampled
    sources = (pair.source for pair in sample())
    source = learn_tokenizer(sources, config, folder / "source.spm", seed, symbols=source_tags)
    target = learn_tokenizer((pair.target for pair in sample()), config, folder / "target.spm", seed)
    return (source, target), num_sampled


def _keep(vocabulary: Vocabulary, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Writes a model's vocabulary as it is; gives its two sides."""
    vocabulary.source.save(folder / "source.spm")
    if not vocabulary.joint:
        vocabulary.target.save(folder / "target.spm")
    return vocabulary.source, vocabulary.target


def _kept(corpora: _Corpora, cleaned: _Cleaned) -> Iterator[SentencePair]:
    """Yields the pairs of all corpora that neither `clean` nor the search for duplicates left out."""
    row = 0
    for number in range(len(corpora.configs)):
        for item in corpora.clean(number, "learning"):
            if isinstance(item, SentencePair):
                if not cleaned.duplicates[row]:
                    yield item
                row += 1


class _Writer:
    """Writes tokens, dropped pairs and the validation set into the folder in the making."""

    def __init__(self, folder: Path, tokenizers: tuple[Tokenizer, Tokenizer], max_tokens: int) -> None:
        self._folder = folder
        self._source_tokenizer, self._target_tokenizer = tokenizers
        self._max_tokens = max_tokens

    def write_corpora(self, corpora: _Corpora, cleaned: _Cleaned) -> list[CorpusReport]:
        """Writes the shards of every corpus, and `dropped.tsv`; gives what became of each corpus's pairs."""
        reports = []
        rows = iter(cleaned.duplicates)
        with (self._folder / "dropped.tsv").open("w", encoding="utf-8", newline="\n") as dropped:
            dropped.write(_DROPPED_HEADER)
            for number, config in enumerate(corpora.configs):
                account = self._account(config, config.name)
                items = _marked(corpora.clean(number, "encoding"), rows)
                with self._shards(config.name) as shards:
                    while chunk := list(islice(items, _CHUNK_PAIRS)):
                        self._write_chunk(chunk, config, shards, account, dropped)
                reports.append(account.close(cleaned.in_valid[config.name]))
        return reports

    def write_valid(self, config: CorpusConfig, valid: tuple[list[str], list[str]]) -> CorpusReport:
        """Writes the validation set's shards and sentences, its tag before the sources."""
        account = self._account(config, VALID_NAME)
        valid = [config.tagged(source) for source in valid[0]], valid[1]
        batches = [self._source_tokenizer.encode_batch(valid[0]), self._target_tokenizer.encode_batch(valid[1])]
        with self._shards(VALID_NAME) as shards:
            for src_ids, tgt_ids in zip(*batches, strict=True):
                shards.add(src_ids, tgt_ids)
                account.keep(src_ids, tgt_ids)
        for side, sentences in zip(("source", "target"), valid, strict=True):
            write_text(self._folder / f"valid.{side}.txt", "".join(f"{sentence}\n" for sentence in sentences))
        return account.close(in_valid=0)

    def _account(self, config: CorpusConfig, name: str) -> Account:
        return Account(
            config,
            name,
            source_byte_ids=self._source_tokenizer.byte_ids,
            target_byte_ids=self._target_tokenizer.byte_ids,
        )

    def _shards(self, name: str) -> ShardWriter:
        vocab_size = max(self._source_tokenizer.vocab_size, self._target_tokenizer.vocab_size)
        return ShardWriter(self._folder / "shards", name, vocab_size)

    def _write_chunk(
        self,
        chunk: list[SentencePair | Dropped],
        config: CorpusConfig,
        shards: ShardWriter,
        account: Account,
        dropped: IO[str],
    ) -> None:
        pairs = [item for item in chunk if isinstance(item, SentencePair)]
        src_batch = iter(self._source_tokenizer.encode_batch([config.tagged(pair.source) for pair in pairs]))
        tgt_batch = iter(self._target_tokenizer.encode_batch([pair.target for pair in pairs]))
        for item in chunk:
            if isinstance(item, SentencePair):
                src_ids, tgt_ids = next(src_batch), next(tgt_batch)
                if max(len(src_ids), len(tgt_ids)) <= self._max_tokens:
                    shards.add(src_ids, tgt_ids)
                    account.keep(src_ids, tgt_ids, trimmed=item.trimmed)
                    continue
                item = item.dropped("too_many_tokens")
            account.drop(item.reason)
            fields = (account.name, account.files, str(item.line), item.reason, item.source, item.target)
            dropped.write("\t".join(fields) + "\n")


def _marked(
    items: Iterator[SentencePair | Dropped], duplicates: Iterator[np.bool_]
) -> Iterator[SentencePair | Dropped]:
    """Turns the pairs that came before into dropped ones; takes one of `duplicates` for each pair."""
    for item in items:
        yield item.dropped("duplicate") if isinstance(item, SentencePair) and next(duplicates) else item


def _check_unchanged(names: dict[str, Path], before: dict[str, dict[str, Any]]) -> None:
    """Makes sure that the three readings saw the same files.

    Raises:
        DataError: one has changed since.
    """
    for name, path in names.items():
        if (path.stat().st_size, path.stat().st_mtime_ns) != (before[name]["bytes"], before[name]["mtime_ns"]):
            raise DataError(f"{path}: was written to while it was being prepared; prepare again when it is complete")


def _write_manifest(
    folder: Path,
    data: DataConfig,
    tokenizer: TokenizerConfig,
    seed: int,
    vocabulary: Vocabulary | None,
    corpus_files: dict[str, dict[str, Any]],
) -> None:
    """Writes the file that says that all others are there."""
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    kept = {"from": vocabulary.origin, "sha256": vocabulary.checksums} if vocabulary else None
    manifest = {
        "format_version": FORMAT_VERSION,
        "fingerprint": fingerprint(data, tokenizer, seed, vocabulary),
        "source_language": data.source_language,
        "target_language": data.target_language,
        "joint": vocabulary.joint if vocabulary else tokenizer.joint,
        "vocabulary": kept,
        "seed": seed,
        "corpus_files": corpus_files,
        "files": describe_files(written, [path.relative_to(folder).as_posix() for path in written]),
    }
    write_json(folder / MANIFEST_NAME, manifest)
