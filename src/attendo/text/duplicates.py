"""Which pairs of a corpus of any size occurred before, found with bounded memory by way of a file of digests."""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt

# 128 bits: among 10^9 pairs the chance that two different ones share a digest is about 10^-21.
_DIGEST_BYTES = 16
_ROWS_AT_ONCE = 1 << 18


def pair_digest(source: str, target: str) -> bytes:
    """Gives 16 bytes that stand for a pair; neither side may hold a line feed."""
    return hashlib.blake2b(f"{source}\n{target}".encode(), digest_size=_DIGEST_BYTES).digest()


class DigestFile:
    """Collects the digests of pairs in order; a context manager, which removes the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("w+b")

    def add(self, digest: bytes) -> None:
        """Appends what `pair_digest` gave."""
        self._file.write(digest)

    def find_duplicates(self) -> npt.NDArray[np.bool_]:
        """Gives for each pair whether an equal one came before it, `(num_pairs,)`.

        The file is read once for each part of the range of digests, and a part has about 2^18 of them, so that the
        memory needed does not grow with the number of pairs but for the byte each has in the result.
        """
        self._file.flush()
        num_pairs = self._path.stat().st_size // _DIGEST_BYTES
        duplicates = np.zeros(num_pairs, dtype=np.bool_)
        num_parts = max(1, num_pairs // _ROWS_AT_ONCE)
        for part in range(num_parts):
            rows, digests = self._read_part(part, num_parts)
            order = np.lexsort((digests[:, 1], digests[:, 0]))  # stable: among equals the first pair stays first
            repeated = (digests[order[1:]] == digests[order[:-1]]).all(axis=1)
            duplicates[rows[order[1:]][repeated]] = True
        return duplicates

    def _read_part(self, part: int, num_parts: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Gives row numbers and digests, `(num_rows, 2)`, of those digests that fall into one part of their range."""
        self._file.seek(0)
        rows, digests = [], []
        start = 0
        while chunk := self._file.read(_ROWS_AT_ONCE * _DIGEST_BYTES):
            table = np.frombuffer(chunk, dtype="<u8").reshape(-1, 2)
            chosen = np.flatnonzero(table[:, 0] % np.uint64(num_parts) == part)
            rows.append(chosen + start)
            digests.append(table[chosen])
            start += len(table)
        if not rows:
            return np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.uint64)
        return np.concatenate(rows), np.concatenate(digests)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)
