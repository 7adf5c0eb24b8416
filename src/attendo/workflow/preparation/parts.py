"""The units of work of preparing a corpus: pure functions of one picklable task, each on a part of it.

`workflow.preparation.prepare` hands them to `workers.Workers`, in the order below, and puts the results together in the
order of the tasks: so the result does not depend on the kind, number or place of the workers. To use other workers,
such as on other machines, implement `Workers` and pass it to `prepare`; all workers must see the corpus's files and the
folder in progress.

| unit | task | result |
|---|---|---|
| `text.parts.scan_file` | a file | its checksum, and the positions of its lines |
| `clean_part` | `CleanTask` | the digests of the part's clean pairs |
| `text.duplicates.repeated_rows` | a bucket's file | which of its pairs came before |
| `sample_part` | `SampleTask` | `Sample`: the pairs to learn the vocabulary from |
| `learn_vocabulary` | `LearnTask` | a SentencePiece model, also written |
| `encode_part` | `EncodeTask` | `EncodedPart`: ids, counts, and the lines of `dropped.tsv` |
| `drop_part` | `DropTask` | `EncodedPart` without ids: the account where preparing fails |
| `files.sha256` | a file that was written | its checksum |
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from attendo.text.accounting import PairCounts, TokenCounts, file_names
from attendo.text.cleaning import Dropped, SentencePair, clean
from attendo.text.corpora import CorpusConfig
from attendo.text.duplicates import Digests, as_digests, pair_digest
from attendo.text.pair_rules import CleaningConfig
from attendo.text.parts import CorpusPart, changed_error
from attendo.text.shards import TokenRows, id_dtype
from attendo.text.subwords.learning import learn_symbols, learn_tokenizer
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CleanTask:
    """A part to clean for the first time."""

    part: CorpusPart
    cleaning: CleaningConfig
    languages: tuple[str, str] = ("", "")
    """The codes of source and target; empty where unknown."""

    def __str__(self) -> str:
        """A name of the work, for messages."""
        return str(self.part)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SampleTask:
    """Selects the pairs of a part that belong to the sample."""

    part: CorpusPart
    cleaning: CleaningConfig
    rows: npt.NDArray[np.int64]
    """Numbers of the chosen pairs among the part's clean pairs, from 0, ascending, `(num_chosen,)`."""
    languages: tuple[str, str] = ("", "")
    """The codes of source and target; empty where unknown."""

    def __str__(self) -> str:
        """A name of the work, for messages."""
        return str(self.part)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Sample:
    """The chosen pairs of a part, in the form appended to a `LearnTask`'s files: UTF-8, one sentence a line."""

    sources: bytes
    targets: bytes


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LearnTask:
    """A vocabulary to learn."""

    texts: tuple[Path, ...]
    """Files of sentences, one per line, as in `Sample`; their lines are read alternately."""
    config: TokenizerConfig
    output: Path
    """The SentencePiece model to write."""
    symbols: tuple[str, ...] = ()
    """Words that are a single piece each."""
    only_symbols: bool = False
    """The text is symbols, and each is a piece."""

    def __str__(self) -> str:
        """A name of the work, for messages."""
        return f"the vocabulary {self.output.name}"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DropTask:
    """A part to account for, where preparing fails before there is a vocabulary."""

    part: CorpusPart
    cleaning: CleaningConfig
    duplicates: npt.NDArray[np.bool_]
    """Whether each clean pair of the part occurred before, `(num_clean,)`."""
    languages: tuple[str, str] = ("", "")
    """The codes of source and target; empty where unknown."""

    def __str__(self) -> str:
        """A name of the work, for messages."""
        return str(self.part)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EncodeTask:
    """A part to turn into tokens."""

    part: CorpusPart
    cleaning: CleaningConfig
    duplicates: npt.NDArray[np.bool_]
    """Whether each clean pair of the part occurred before, `(num_clean,)`."""
    source_model: bytes
    """The content of the SentencePiece model of the sources."""
    target_model: bytes
    """The target's SentencePiece model; equal to `source_model` for a joint vocabulary."""
    languages: tuple[str, str] = ("", "")
    """The codes of source and target; empty where unknown."""

    def __str__(self) -> str:
        """A name of the work, for messages."""
        return str(self.part)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class EncodedPart:
    """A part as it goes into the prepared folder."""

    source: TokenRows
    target: TokenRows
    counts: PairCounts
    dropped: str
    """The part's lines of `dropped.tsv`."""


@dataclass(kw_only=True, slots=True)
class _Written:
    """The results of `encode_part`."""

    source_ids: list[list[int]] = field(default_factory=list)
    target_ids: list[list[int]] = field(default_factory=list)
    trimmed: int = 0
    dropped: list[Dropped] = field(default_factory=list)


def clean_part(task: CleanTask) -> Digests:
    """Returns the digests of the pairs of a part that pass `clean`, `(num_clean, 2)`.

    Raises:
        DataError: a file is broken, or has changed.
    """
    items = _cleaned(task.part, task.cleaning, task.languages)
    near = task.cleaning.near_duplicates
    return as_digests(
        pair_digest(item.source, item.target, near=near) for item in items if isinstance(item, SentencePair)
    )


def sample_part(task: SampleTask) -> Sample:
    """Returns the chosen pairs of a part.

    Raises:
        DataError: a file is broken, or has changed.
    """
    if not len(task.rows):
        return Sample(sources=b"", targets=b"")
    items = _cleaned(task.part, task.cleaning, task.languages)
    chosen: list[SentencePair] = []
    rows = task.rows.tolist()
    for row, pair in enumerate(item for item in items if isinstance(item, SentencePair)):
        if len(chosen) < len(rows) and row == rows[len(chosen)]:
            chosen.append(pair)
    if len(chosen) < len(rows):
        raise changed_error(task.part.files[0].path)
    return Sample(sources=_as_lines(pair.source for pair in chosen), targets=_as_lines(pair.target for pair in chosen))


def learn_vocabulary(task: LearnTask) -> bytes:
    """Learns a vocabulary and writes it; returns the content of its file.

    SentencePiece uses its own threads, always the same number, on which the result for unigram depends.

    Raises:
        DataError: the text cannot fill the vocabulary, or has too many characters for it.
    """
    files = [_sentences(path) for path in task.texts]
    sentences = chain.from_iterable(zip(*files, strict=True))
    if task.only_symbols:
        return learn_symbols(sentences, task.output).serialized
    return learn_tokenizer(sentences, task.config, task.output, symbols=task.symbols).serialized


def drop_part(task: DropTask) -> EncodedPart:
    """Accounts for the pairs of a part without a vocabulary: the pairs kept, and those dropped for another reason.

    Raises:
        DataError: a file is broken, or has changed.
    """
    duplicates, kept = iter(task.duplicates.tolist()), 0
    dropped: list[Dropped] = []
    for item in _cleaned(task.part, task.cleaning, task.languages):
        if isinstance(item, Dropped):
            dropped.append(item)
        elif next(duplicates, False):
            dropped.append(item.dropped("duplicate"))
        else:
            kept += 1
    nothing = TokenRows.of([], id_dtype(1))
    counts = PairCounts(kept=kept, dropped=Counter(item.reason for item in dropped))
    lines = _dropped_lines(task.part.corpus, dropped)
    return EncodedPart(source=nothing, target=nothing, counts=counts, dropped=lines)


def encode_part(task: EncodeTask) -> EncodedPart:
    """Turns the pairs of a part into ids, except those that are dropped, and accounts for each.

    Raises:
        DataError: a file is broken, or has changed.
    """
    corpus, cleaning = task.part.corpus, task.cleaning
    source, target = _tokenizer(task.source_model), _tokenizer(task.target_model)
    duplicates = iter(task.duplicates.tolist())
    written = _Written()
    for item in _cleaned(task.part, cleaning, task.languages):
        if isinstance(item, Dropped):
            written.dropped.append(item)
        elif (is_duplicate := next(duplicates, None)) is None:
            raise changed_error(task.part.files[0].path)
        elif is_duplicate:
            written.dropped.append(item.dropped("duplicate"))
        else:
            # One at a time: a batch would start SentencePiece's threads, and there are already many processes.
            src_ids, tgt_ids = source.encode(corpus.tagged(item.source)), target.encode(item.target)
            if max(len(src_ids), len(tgt_ids)) > cleaning.max_tokens:
                written.dropped.append(item.dropped("too_many_tokens"))
            else:
                written.source_ids.append(src_ids)
                written.target_ids.append(tgt_ids)
                written.trimmed += item.trimmed
    return _encoded(task, written, source, target)


def _encoded(task: EncodeTask, written: _Written, source: Tokenizer, target: Tokenizer) -> EncodedPart:
    dtype = id_dtype(max(source.vocab_size, target.vocab_size))
    sides = TokenRows.of(written.source_ids, dtype), TokenRows.of(written.target_ids, dtype)
    corpus = task.part.corpus
    counts = PairCounts(
        kept=len(written.source_ids),
        trimmed=written.trimmed,
        dropped=Counter(item.reason for item in written.dropped),
        source=TokenCounts.of(sides[0].ids, source.byte_ids),
        target=TokenCounts.of(sides[1].ids, target.byte_ids),
    )
    return EncodedPart(source=sides[0], target=sides[1], counts=counts, dropped=_dropped_lines(corpus, written.dropped))


def _dropped_lines(corpus: CorpusConfig, dropped: Iterable[Dropped]) -> str:
    """Returns lines of `dropped.tsv`; the line number refers to these files."""
    files = " ".join(file_names(corpus))
    return "".join(
        "\t".join((corpus.name, files, str(item.line), item.reason, item.source, item.target)) + "\n"
        for item in dropped
    )


def _cleaned(
    part: CorpusPart, cleaning: CleaningConfig, languages: tuple[str, str]
) -> Iterator[SentencePair | Dropped]:
    """Yields the results of `clean` for a part."""
    encodings = part.corpus.line_encodings
    return clean(part.pairs(), part.corpus.name, cleaning, encodings=encodings, languages=languages)


@lru_cache(maxsize=2)
def _tokenizer(serialized: bytes) -> Tokenizer:
    """Reads a model once a process: that takes as long as some hundred sentences."""
    return Tokenizer(serialized)


def _as_lines(sentences: Iterable[str]) -> bytes:
    return "".join(f"{sentence}\n" for sentence in sentences).encode("utf-8")


def _sentences(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")
