"""Token shards: the ids of a corpus as `.npy` files, written as a stream and read through the system's page cache.

A shard `NAME-00000` is four files: `.source_ids.npy` and `.target_ids.npy` (uint16, or uint32 for a vocabulary of more
than 65,536), all sentences one after the other, each with its `</s>`; and `.source_offsets.npy` and
`.target_offsets.npy` (int64, one more than the number of sentences): sentence i is `ids[offsets[i]:offsets[i + 1]]`.
"""

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.reading import require_regular

_LONGEST = (1 << 31) - 1
"""Maximum number of tokens of a sentence, so that lengths fit into 32 bits."""
# An .npy header is padded to a multiple of 64 bytes with room for the first axis to grow: 128 for ours, always.
_HEADER_BYTES = 128
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00v\x00"
    rb"\{'descr': '(?P<dtype><[ui][248])', 'fortran_order': False, 'shape': \((?P<length>\d+),\), \} *\n"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenRows:
    """Concatenated sentences as ids: one side of pairs before they are written to a shard."""

    ids: npt.NDArray[np.integer[Any]]
    """`(num_tokens,)`: of all sentences, each with its `</s>`; of the type `id_dtype`."""
    offsets: npt.NDArray[np.int64]
    """`(num_sentences + 1,)`: sentence i is `ids[offsets[i]:offsets[i + 1]]`."""

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]], dtype: np.dtype[Any]) -> Self:
        """Concatenates sentences."""
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        ids = np.fromiter(chain.from_iterable(sentences), dtype=dtype, count=int(offsets[-1]))
        return cls(ids=ids, offsets=offsets)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each sentence, with `</s>`, `(num_sentences,)`."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        """Counts the sentences."""
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> npt.NDArray[np.integer[Any]]:
        """Returns the ids of a sentence, a view."""
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def rows(self) -> list[npt.NDArray[np.integer[Any]]]:
        """Returns all of them."""
        return [self[row] for row in range(len(self))]


def id_dtype(vocab_size: int) -> np.dtype[Any]:
    """Returns the type of an id in a shard.

    Args:
        vocab_size: vocabulary size of the larger side.
    """
    return np.dtype(np.uint16 if vocab_size <= 1 << 16 else np.uint32)


def spans(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns the indices of several spans one after the other: `start`, `start + 1`, ... of each."""
    behind = np.cumsum(lengths)
    return np.repeat(starts - behind + lengths, lengths) + np.arange(behind[-1] if len(behind) else 0)


class ShardWriter:
    """Writes the pairs of one corpus to shards; a context manager, which closes the last one.

    Ids are written to disk immediately; only a shard's offsets, 16 bytes a pair, are kept in memory. Readers should
    trust the files only if a file written later, such as the prepared folder's manifest, declares them complete.
    """

    def __init__(self, folder: Path, corpus: str, vocab_size: int, shard_pairs: int = 1_000_000) -> None:
        """Starts writing.

        Args:
            folder: the folder of the files; it is created if missing.
            corpus: the files' name.
            vocab_size: vocabulary size of the larger side; it determines the width of an id.
            shard_pairs: pairs after which the next shard begins.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._corpus, self._shard_pairs = folder, corpus, shard_pairs
        self._dtype = id_dtype(vocab_size)
        self._number = 0
        self._source: _IdFile | None = None
        self._target: _IdFile | None = None
        self.paths: list[Path] = []
        """The files written so far."""

    def add(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> None:
        """Appends a pair; both sides are ids with their `</s>`."""
        if self._source is None or self._target is None:
            self._source, self._target = self._start("source"), self._start("target")
        self._source.add(src_ids)
        self._target.add(tgt_ids)
        if len(self._source) >= self._shard_pairs:
            self._finish()

    def extend(self, source: "TokenRows", target: "TokenRows") -> None:
        """Appends the pairs that two sides of equal number make."""
        assert len(source) == len(target), "a pair has two sides"
        start = 0
        while start < len(source):
            if self._source is None or self._target is None:
                self._source, self._target = self._start("source"), self._start("target")
            stop = min(len(source), start + self._shard_pairs - len(self._source))
            self._source.extend(source, start, stop)
            self._target.extend(target, start, stop)
            start = stop
            if len(self._source) >= self._shard_pairs:
                self._finish()

    def close(self) -> None:
        """Finishes the last shard; a corpus without pairs gets an empty shard."""
        if self._source is None and self._number == 0:
            self._source, self._target = self._start("source"), self._start("target")
        self._finish()

    def _start(self, side: str) -> "_IdFile":
        stem = f"{self._corpus}-{self._number:05d}.{side}"
        ids_path, offsets_path = self._folder / f"{stem}_ids.npy", self._folder / f"{stem}_offsets.npy"
        self.paths += [ids_path, offsets_path]
        return _IdFile(ids_path, offsets_path, self._dtype)

    def _finish(self) -> None:
        for side in (self._source, self._target):
            if side is not None:
                side.close()
        if self._source is not None:
            self._number += 1
        self._source = self._target = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class PairShards:
    """The concatenated pairs of one or several corpora, read from disk on demand."""

    def __init__(self, shards: Sequence["_Shard"]) -> None:
        """Joins shards; use `open` and `join`."""
        self._shards = list(shards)
        sizes = [len(shard) for shard in self._shards]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    @classmethod
    def open(cls, folder: Path, corpus: str, vocab_sizes: tuple[int, int]) -> Self:
        """Opens all shards of a corpus.

        Args:
            folder: the folder of the files.
            corpus: the files' name.
            vocab_sizes: vocabulary sizes of source and target; ids must be below them.

        Raises:
            DataError: a file is missing or damaged, or the name leads outside the folder.
        """
        if not corpus or Path(corpus).name != corpus:
            raise DataError(f"{folder}: {corpus[:100]!r} is no name of a corpus; prepare the data again")
        shards: list[_Shard] = []
        while not shards or (folder / f"{corpus}-{len(shards):05d}.source_ids.npy").exists():
            shards.append(_Shard(folder / f"{corpus}-{len(shards):05d}", vocab_sizes))
        return cls(shards)

    @classmethod
    def join(cls, parts: Sequence["PairShards"]) -> Self:
        """Concatenates corpora; index i of the second is `len(first) + i`."""
        return cls([shard for part in parts for shard in part._shards])

    def __len__(self) -> int:
        """Counts the pairs."""
        return int(self._starts[-1])

    # Computed on first use: they take four bytes a pair, and reading the offsets eight more, which opening must not
    # cost.
    @cached_property
    def source_lengths(self) -> npt.NDArray[np.int32]:
        """Number of tokens of each source, with `</s>`, `(num_pairs,)`.

        Raises:
            DataError: offsets do not rise, or by 2^31 and more.
        """
        return _joined([shard.source.lengths() for shard in self._shards])

    @cached_property
    def target_lengths(self) -> npt.NDArray[np.int32]:
        """Number of tokens of each target, with `</s>`, `(num_pairs,)`.

        Raises:
            DataError: offsets do not rise, or by 2^31 and more.
        """
        return _joined([shard.target.lengths() for shard in self._shards])

    def source(self, index: int) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Returns the ids of a source, `(src_len,)`, `</s>` last; an unsigned view of the file.

        Raises:
            DataError: its offsets do not increase, or an id is not in the vocabulary.
        """
        shard, row = self._find(index)
        return shard.source.row(row)

    def target(self, index: int) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Returns the ids of a target, `(tgt_len,)`, `</s>` last; an unsigned view of the file.

        Raises:
            DataError: its offsets do not increase, or an id is not in the vocabulary.
        """
        shard, row = self._find(index)
        return shard.target.row(row)

    def rows(self, indices: npt.NDArray[np.int64]) -> tuple[TokenRows, TokenRows]:
        """Returns the sources and the targets of some pairs, copied, in the order of `indices`.

        Raises:
            DataError: as for `source` and `target`.
        """
        sides = [shard.source for shard in self._shards], [shard.target for shard in self._shards]
        source, target = map(self._gathered, sides, (self.source_lengths, self.target_lengths), (indices, indices))
        return source, target

    def _gathered(
        self, sides: Sequence["_Side"], lengths: npt.NDArray[np.int32], indices: npt.NDArray[np.int64]
    ) -> TokenRows:
        own_lengths = lengths[indices].astype(np.int64)
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(own_lengths)])
        ids = np.empty(offsets[-1], dtype=np.int32)
        numbers = np.searchsorted(self._starts, indices, side="right") - 1
        for number, side in enumerate(sides):
            own = np.flatnonzero(numbers == number)
            ids[spans(offsets[own], own_lengths[own])] = side.rows(indices[own] - self._starts[number])
        return TokenRows(ids=ids, offsets=offsets)

    def _find(self, index: int) -> tuple["_Shard", int]:
        if not 0 <= index < len(self):
            raise IndexError(f"pair {index} of {len(self)}")
        number = int(np.searchsorted(self._starts, index, side="right")) - 1
        return self._shards[number], int(index - self._starts[number])


class _IdFile:
    """One side of a shard being written."""

    def __init__(self, ids_path: Path, offsets_path: Path, dtype: np.dtype[Any]) -> None:
        self._offsets_path, self._dtype = offsets_path, dtype
        self._offsets = array("q", [0])
        self._ids: IO[bytes] = ids_path.open("wb")
        self._ids.write(bytes(_HEADER_BYTES))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, ids: Sequence[int]) -> None:
        self._ids.write(np.asarray(ids, dtype=self._dtype).tobytes())
        self._offsets.append(self._offsets[-1] + len(ids))

    def extend(self, rows: TokenRows, start: int, stop: int) -> None:
        assert rows.ids.dtype == self._dtype, "ids as wide as the shard's"
        first, last = int(rows.offsets[start]), int(rows.offsets[stop])
        self._ids.write(rows.ids[first:last].tobytes())
        self._offsets.frombytes((rows.offsets[start + 1 : stop + 1] - first + self._offsets[-1]).tobytes())

    def close(self) -> None:
        """Writes the header, now that the number of ids is known, and the offsets."""
        self._ids.seek(0)
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(self._ids, {**header, "shape": (self._offsets[-1],)})
        assert self._ids.tell() == _HEADER_BYTES, "numpy's header has another size than reserved"
        self._ids.close()
        np.save(self._offsets_path, np.frombuffer(self._offsets, dtype=np.int64))


class _Side:
    """One side of a memory-mapped shard. Values are checked when they are used: checking all would read whole files.

    Ids index the rows of an embedding, in kernels that do not look at them again.
    """

    def __init__(self, stem: Path, side: str, vocab_size: int) -> None:
        self._stem, self._vocab_size = stem.with_name(f"{stem.name}.{side}"), vocab_size
        self._ids_path, offsets_path = (stem.with_name(f"{stem.name}.{side}_{part}.npy") for part in ("ids", "offsets"))
        self._ids = _map(self._ids_path, ("<u2", "<u4"))
        self._offsets = _map(offsets_path, ("<i8",))
        self._offsets_path = offsets_path

    def fits(self) -> bool:
        """Whether the offsets begin and end at the bounds of the ids."""
        return len(self._offsets) > 0 and self._offsets[0] == 0 and self._offsets[-1] == len(self._ids)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each sentence, `(num_sentences,)`."""
        lengths = np.diff(self._offsets)
        if len(lengths) and not 1 <= lengths.min() <= lengths.max() <= _LONGEST:
            raise self._torn_offsets()
        return lengths

    def row(self, row: int) -> npt.NDArray[np.unsignedinteger[Any]]:
        """The ids of a sentence."""
        start, stop = self._offsets[row], self._offsets[row + 1]
        if not 0 <= start < stop <= len(self._ids):
            raise self._torn_offsets()
        ids = self._ids[start:stop]
        self._require_known(ids)
        return ids

    def rows(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.unsignedinteger[Any]]:
        """The concatenated ids of some sentences."""
        ids = self._ids[spans(self._offsets[rows], self._offsets[rows + 1] - self._offsets[rows])]
        self._require_known(ids)
        return ids

    def _require_known(self, ids: npt.NDArray[np.unsignedinteger[Any]]) -> None:
        largest = np.maximum.reduce(ids, initial=0)
        if largest >= self._vocab_size:
            raise DataError(
                f"{self._ids_path}: has the id {largest}, but the vocabulary ends at {self._vocab_size - 1}; prepare "
                "the data again"
            )

    def _torn_offsets(self) -> DataError:
        return DataError(f"{self._offsets_path}: its offsets do not rise, or too far; prepare the data again")


class _Shard:
    """The two sides of one shard."""

    def __init__(self, stem: Path, vocab_sizes: tuple[int, int]) -> None:
        self.source, self.target = (
            _Side(stem, side, size) for side, size in zip(("source", "target"), vocab_sizes, strict=True)
        )
        if not (self.source.fits() and self.target.fits() and len(self.source) == len(self.target)):
            raise DataError(f"{stem}.*.npy: the four files do not fit together; prepare the data again")

    def __len__(self) -> int:
        return len(self.source)


def _map(path: Path, dtypes: Sequence[str]) -> npt.NDArray[Any]:
    """Maps an array's file: one axis, of one of the dtypes, no longer than the file.

    Only headers in our own form are accepted; numpy's reader parses any header as Python literals, and crashes on a
    hostile one.

    Raises:
        DataError: it is missing, damaged or another kind of file.
    """
    try:
        require_regular(path)
        with path.open("rb") as file:
            found = _HEADER.fullmatch(file.read(_HEADER_BYTES))
        if found is None or found["dtype"].decode() not in dtypes:
            raise ValueError(f"its header is not that of {' or '.join(dtypes)} on one axis")
        dtype, length, size = np.dtype(found["dtype"].decode()), int(found["length"]), path.stat().st_size
        if size != _HEADER_BYTES + length * dtype.itemsize:
            raise ValueError(f"it has {size} bytes, not {_HEADER_BYTES + length * dtype.itemsize}")
        if length == 0:  # which cannot be mapped
            return np.zeros(0, dtype)
        # A plain view: slicing a memmap object costs five times as much.
        return np.asarray(np.memmap(path, dtype, mode="r", offset=_HEADER_BYTES, shape=(length,)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path}: a token shard is missing or torn ({reason}); prepare the data again") from error


def _joined(lengths: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int32]:
    return np.concatenate(lengths).astype(np.int32) if lengths else np.zeros(0, dtype=np.int32)
