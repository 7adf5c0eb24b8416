"""Finds pairs that occurred before in a corpus of any size, with bounded memory, by files of digests.

Each pair has a digest and a row, its number. The digests go to disk in buckets, by their value, so that equal ones meet
in one bucket; a bucket is small enough to be sorted in memory, and no bucket needs another. The digests are written
once and read once, whatever their number. Only a bit or two per pair is kept in memory.

Repetitions within one batch of pairs do not go into a bucket: otherwise one line repeated endlessly, which is a few
bytes compressed, would put everything into one bucket.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

_FEW_LETTERS = 20
_OTHER_THAN_LETTERS = re.compile(r"[\W\d_]+")
# 128 bits: among 10^9 pairs the chance that two different ones share a digest is about 10^-21.
_DIGEST_BYTES = 16

Digests = npt.NDArray[np.uint64]
"""`(num_pairs, 2)`: the two halves of each pair's digest."""


def pair_digest(source: str, target: str, *, near: bool = False) -> bytes:
    """Returns a digest of 16 bytes for a pair; neither side may contain a line feed.

    Args:
        source: one side.
        target: the other.
        near: whether pairs that are equal when `folded` have the same digest.
    """
    if near:
        source, target = folded(source), folded(target)
    return hashlib.blake2b(f"{source}\n{target}".encode(), digest_size=_DIGEST_BYTES).digest()


def folded(text: str) -> str:
    """Returns a text's letters in lower case, for finding near-duplicates; a text of few letters stays unchanged."""
    letters = _OTHER_THAN_LETTERS.sub("", text.casefold())
    return letters if len(letters) >= _FEW_LETTERS else text


def as_digests(digests: Iterable[bytes]) -> Digests:
    """Returns results of `pair_digest` as numbers, `(num_pairs, 2)`."""
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2)


class DigestBuckets:
    """Files of digests and their rows.

    Args:
        folder: their folder; it is created.
        num_buckets: number of buckets. With one for about every 10^6 pairs, sorting one takes some 100 MB.
    """

    def __init__(self, folder: Path, num_buckets: int) -> None:
        folder.mkdir()
        self._paths = [folder / f"{number:04d}" for number in range(num_buckets)]
        self.num_rows = 0
        """Digests added so far."""

    @property
    def paths(self) -> list[Path]:
        """The buckets that hold something, for `repeated_rows`."""
        return [path for path in self._paths if path.exists()]

    def add(self, digests: Digests) -> npt.NDArray[np.int64]:
        """Appends digests, whose rows follow those before.

        Returns:
            The rows of those that are repeated among these, ascending, `(num_repeated,)`; no bucket has them.
        """
        is_repeated = np.zeros(len(digests), dtype=np.bool_)
        is_repeated[_repeated(digests)] = True
        rows = np.arange(self.num_rows, self.num_rows + len(digests), dtype=np.int64)
        self.num_rows += len(digests)
        self._append(digests[~is_repeated], rows[~is_repeated].astype(np.uint64))
        return rows[is_repeated]

    def _append(self, digests: Digests, rows: npt.NDArray[np.uint64]) -> None:
        buckets = digests[:, 0] % np.uint64(len(self._paths))
        order = np.argsort(buckets, kind="stable")  # so that the rows of a bucket ascend
        records = np.column_stack([digests, rows])[order].astype("<u8", copy=False)
        ends = np.cumsum(np.bincount(buckets.astype(np.int64), minlength=len(self._paths)))
        for path, part in zip(self._paths, np.split(records, ends[:-1]), strict=True):
            if len(part):
                with path.open("ab") as file:  # closed again: there may be more buckets than files can be open
                    file.write(part.tobytes())


def repeated_rows(bucket: Path) -> npt.NDArray[np.int64]:
    """Returns the rows of a bucket whose digest an earlier row has, ascending, `(num_repeated,)`."""
    records = np.fromfile(bucket, dtype="<u8").reshape(-1, 3)
    return np.sort(records[_repeated(records[:, :2]), 2]).astype(np.int64)


def _repeated(digests: Digests) -> npt.NDArray[np.int64]:
    """Returns the indices of digests equal to an earlier one, in no order, `(num_repeated,)`."""
    order = np.lexsort((digests[:, 1], digests[:, 0]))  # stable: among equals the first stays first
    repeated: npt.NDArray[np.int64] = order[1:][(digests[order[1:]] == digests[order[:-1]]).all(axis=1)]
    return repeated


class RowSet:
    """A set of row numbers, with one bit for each possible row."""

    def __init__(self, num_rows: int = 0) -> None:
        self._bits = np.zeros(-(-num_rows // 8), dtype=np.uint8)
        self._num_rows = num_rows
        self._num_added = 0

    def __len__(self) -> int:
        """Counts the rows in it."""
        return self._num_added

    def grow(self, num_rows: int) -> None:
        """Makes room for additional rows."""
        self._num_rows += num_rows
        missing = -(-self._num_rows // 8) - len(self._bits)
        if missing > 0:  # at least doubled, so that growing in small steps does not copy everything each time
            self._bits = np.concatenate([self._bits, np.zeros(max(missing, len(self._bits)), dtype=np.uint8)])

    def add(self, rows: npt.NDArray[np.int64]) -> None:
        """Adds rows that are not in the set yet."""
        # Each bit is set once, so adding sets it; numpy adds faster at repeated indices than it sets bits.
        np.add.at(self._bits, rows >> 3, np.left_shift(1, rows & 7).astype(np.uint8))
        self._num_added += len(rows)

    def between(self, start: int, stop: int) -> npt.NDArray[np.bool_]:
        """Whether each row from `start` to before `stop` is in the set, `(stop - start,)`."""
        assert 0 <= start <= stop <= self._num_rows, "rows that there are"
        bits = np.unpackbits(self._bits[start >> 3 : -(-stop // 8)], bitorder="little")
        return bits[start & 7 : (start & 7) + stop - start].astype(np.bool_)


class HeldOut:
    """The pairs of the validation set, to be found among others.

    Args:
        pairs: the set's sources and targets.
        once: count a pair only the first time it is found, since repetitions are dropped.
        near: find near-duplicates too.
    """

    def __init__(self, pairs: tuple[Sequence[str], Sequence[str]], *, once: bool, near: bool = False) -> None:
        found = [pair_digest(source.strip(), target.strip(), near=near) for source, target in zip(*pairs, strict=True)]
        self._digests, self._once = set(found), once
        self._starts = np.unique(as_digests(found)[:, 0])

    def count(self, digests: Digests) -> int:
        """Counts the digests of pairs of the validation set."""
        found = 0
        for row in np.flatnonzero(np.isin(digests[:, 0], self._starts)):
            digest = digests[row].tobytes()
            if digest in self._digests:
                found += 1
                if self._once:
                    self._digests.discard(digest)
        return found
