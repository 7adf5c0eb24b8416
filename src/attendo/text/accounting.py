"""The account of a corpus: each pair read is kept, or dropped for one reason, and the sums agree."""

from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attendo.errors import DataError
from attendo.text.corpora import DROP_REASONS, CorpusConfig
from attendo.text.tokenization import BYTE_IDS, UNK_ID


@dataclass(frozen=True, kw_only=True)
class CorpusReport:
    """What became of the pairs of one corpus; `read` is `kept` plus all of `dropped`."""

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
    """Pairs kept that the validation set has too, which makes its scores look better than they are."""
    source_tokens: int
    """Subwords of the sources kept, `</s>` counted."""
    target_tokens: int
    """Subwords of the targets kept, `</s>` counted."""
    source_byte_tokens: int
    """Those of them that are single bytes of characters the vocabulary lacks."""
    target_byte_tokens: int
    """Likewise of the targets."""
    unknown_tokens: int
    """`<unk>` on either side; with byte fallback there should be none."""


class Account:
    """The counts of one corpus while it is written."""

    def __init__(
        self,
        config: CorpusConfig,
        name: str,
        *,
        source_byte_ids: Collection[int] = BYTE_IDS,
        target_byte_ids: Collection[int] = BYTE_IDS,
    ) -> None:
        """Opens an account of zeros.

        Args:
            config: the corpus.
            name: what the report calls it.
            source_byte_ids: the ids of single bytes in the source vocabulary.
            target_byte_ids: likewise of the target's.
        """
        self.name = name
        self.files = " ".join(str(path) for path in config.paths(Path()))
        """The corpus's files, as the recipe names them."""
        self._config = config
        self._kept = self._trimmed = 0
        self._dropped: Counter[str] = Counter()
        self._source_tokens, self._target_tokens = _TokenCount(source_byte_ids), _TokenCount(target_byte_ids)

    def keep(self, src_ids: Sequence[int], tgt_ids: Sequence[int], *, trimmed: bool = False) -> None:
        """Counts a pair as kept, and its tokens."""
        self._kept += 1
        self._trimmed += trimmed
        self._source_tokens.add(src_ids)
        self._target_tokens.add(tgt_ids)

    def drop(self, reason: str) -> None:
        """Counts a pair as dropped for one of `DROP_REASONS`."""
        self._dropped[reason] += 1

    def close(self, in_valid: int) -> CorpusReport:
        """Gives the report.

        Raises:
            DataError: no pair was kept.
        """
        read = self._kept + self._dropped.total()
        if not self._kept:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self._dropped.items())
            raise DataError(
                f"corpus {self.name} ({self.files}): none of its {read} pairs is kept ({reasons or 'it is empty'}); "
                "correct the files or data.cleaning, or leave the corpus out"
            )
        source_tokens, source_bytes, source_unknown = self._source_tokens.counts()
        target_tokens, target_bytes, target_unknown = self._target_tokens.counts()
        return CorpusReport(
            name=self.name,
            files=tuple(str(path) for path in self._config.paths(Path())),
            tags=self._config.tags,
            read=read,
            kept=self._kept,
            dropped={reason: self._dropped[reason] for reason in DROP_REASONS},
            trimmed=self._trimmed,
            in_valid=in_valid,
            source_tokens=source_tokens,
            target_tokens=target_tokens,
            source_byte_tokens=source_bytes,
            target_byte_tokens=target_bytes,
            unknown_tokens=source_unknown + target_unknown,
        )


class _TokenCount:
    """Counts tokens, a block at a time: one by one it would take longer than to find them."""

    def __init__(self, byte_ids: Collection[int]) -> None:
        self._is_byte = np.zeros(max(byte_ids, default=0) + 2, dtype=np.bool_)  # the last is for all ids above
        self._is_byte[list(byte_ids)] = True
        self._block = array("i")
        self._total = self._single_bytes = self._unknown = 0

    def add(self, ids: Sequence[int]) -> None:
        self._block.extend(ids)
        if len(self._block) > 1 << 16:
            self._flush()

    def counts(self) -> tuple[int, int, int]:
        """Gives the number of tokens, of single bytes among them, and of `<unk>`."""
        self._flush()
        return self._total, self._single_bytes, self._unknown

    def _flush(self) -> None:
        ids = np.array(self._block, dtype=np.int32)
        self._total += len(ids)
        self._single_bytes += int(np.count_nonzero(self._is_byte[np.minimum(ids, len(self._is_byte) - 1)]))
        self._unknown += int(np.count_nonzero(ids == UNK_ID))
        del self._block[:]
