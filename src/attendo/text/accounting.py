"""The account of a corpus: each pair read is kept, or dropped for one reason, and the sums agree."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.text.cleaning import DROP_REASONS
from attendo.text.corpora import CorpusConfig
from attendo.text.subwords.tokenization import BYTE_IDS, UNK_ID


@dataclass(frozen=True, kw_only=True)
class CorpusReport:
    """The outcome for the pairs of one corpus; `read` is `kept` plus all of `dropped`."""

    name: str
    files: tuple[str, ...]
    tags: tuple[str, ...]
    read: int
    """Pairs of lines in the files."""
    kept: int
    dropped: Mapping[str, int]
    """Pairs left out by reason; every reason is there, if with 0."""
    trimmed: int
    """Pairs kept of which white space at the ends of a side was taken off."""
    in_valid: int
    """Kept pairs that are also in the validation set, which makes its scores look better than they are."""
    source_tokens: int
    """Subwords of the sources kept, `</s>` counted."""
    target_tokens: int
    """Subwords of the targets kept, `</s>` counted."""
    source_byte_tokens: int
    """Source tokens that are single bytes of characters outside the vocabulary."""
    target_byte_tokens: int
    """Target tokens that are single bytes."""
    unknown_tokens: int
    """`<unk>` on either side; with byte fallback there should be none."""
    encoding_advice: str | None = None
    """Advice on `encoding`, if many pairs were dropped because they are in another one."""

    @property
    def keeps_little(self) -> bool:
        """Whether less than half of the pairs was kept."""
        return keeps_little(self.kept, self.read)


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """The outcome for some pairs of a corpus; two can be added."""

    kept: int = 0
    trimmed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    source: "TokenCounts" = field(default_factory=lambda: TokenCounts())
    target: "TokenCounts" = field(default_factory=lambda: TokenCounts())

    @property
    def read(self) -> int:
        """Pairs in all."""
        return self.kept + self.dropped.total()

    def __add__(self, other: "PairCounts") -> "PairCounts":
        """Counts both."""
        return PairCounts(
            kept=self.kept + other.kept,
            trimmed=self.trimmed + other.trimmed,
            dropped=self.dropped + other.dropped,
            source=self.source + other.source,
            target=self.target + other.target,
        )


@dataclass(frozen=True, kw_only=True)
class TokenCounts:
    """The tokens of one side of some pairs; two add up."""

    total: int = 0
    single_bytes: int = 0
    """Tokens that are bytes of characters outside the vocabulary."""
    unknown: int = 0
    """`<unk>`."""

    @classmethod
    def of(cls, ids: npt.NDArray[np.integer], byte_ids: Collection[int] = BYTE_IDS) -> Self:
        """Counts ids, `(num_tokens,)`.

        Args:
            ids: the ids of all sentences.
            byte_ids: the ids of single bytes in the vocabulary.
        """
        is_byte = np.zeros(1 + max(*byte_ids, int(ids.max(initial=0)), 0), dtype=np.bool_)
        is_byte[list(byte_ids)] = True
        return cls(
            total=len(ids),
            single_bytes=int(np.count_nonzero(is_byte[ids])),
            unknown=int(np.count_nonzero(ids == UNK_ID)),
        )

    def __add__(self, other: "TokenCounts") -> "TokenCounts":
        """Counts both."""
        return TokenCounts(
            total=self.total + other.total,
            single_bytes=self.single_bytes + other.single_bytes,
            unknown=self.unknown + other.unknown,
        )


def keeps_little(kept: int, read: int) -> bool:
    """Whether so little of a corpus is kept, less than half, that a mistake is likely."""
    return 2 * kept < read


def is_other_encoding(num_dropped: int, read: int) -> bool:
    """Whether so many pairs are dropped for their encoding that the files probably have another one.

    Args:
        num_dropped: pairs dropped for their encoding.
        read: pairs in all.
    """
    return num_dropped > max(0.01 * read, 2) or num_dropped >= 1000


def file_names(config: CorpusConfig) -> tuple[str, ...]:
    """Returns a resolved corpus's files as the recipe names them."""
    return tuple(str(Path(name)) for name in config.files)


def corpus_report(
    config: CorpusConfig, name: str, counts: PairCounts, *, in_valid: int, encoding_advice: str | None = None
) -> CorpusReport:
    """Closes the account of a corpus.

    Args:
        config: the corpus.
        name: the corpus's name in the report.
        counts: the counts of all its pairs.
        in_valid: number of kept pairs that are also in the validation set.
        encoding_advice: advice on pairs in another encoding.

    Raises:
        DataError: no pair was kept.
    """
    files = file_names(config)
    if not counts.kept:
        reasons = ", ".join(f"{count} {reason}" for reason, count in counts.dropped.items())
        raise DataError(
            f"corpus {name} ({' '.join(files)}): none of its {counts.read} pairs is kept ({reasons or 'it is empty'}); "
            "correct the files or data.cleaning, or leave the corpus out"
        )
    return CorpusReport(
        name=name,
        files=files,
        tags=config.tags,
        read=counts.read,
        kept=counts.kept,
        dropped={reason: counts.dropped[reason] for reason in DROP_REASONS},
        trimmed=counts.trimmed,
        in_valid=in_valid,
        source_tokens=counts.source.total,
        target_tokens=counts.target.total,
        source_byte_tokens=counts.source.single_bytes,
        target_byte_tokens=counts.target.single_bytes,
        unknown_tokens=counts.source.unknown + counts.target.unknown,
        encoding_advice=encoding_advice,
    )
