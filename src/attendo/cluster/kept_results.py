"""Results of units of work that outlive an interruption: each lies in a file, and is not worked out again."""

import hashlib
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from attendo.files import atomic_path
from attendo.text.accounting import PairCounts, TokenCounts
from attendo.text.duplicates import Digests
from attendo.text.shards import TokenRows
from attendo.workers import ResultT, TaskT, Workers
from attendo.workflow.preparation.parts import (
    EncodedPart,
    EncodeTask,
    Sample,
    clean_part,
    encode_part,
    sample_part,
)

_Arrays = dict[str, npt.NDArray[Any]]


class KeptResults:
    """`Workers` that hand to others only what is not there yet.

    Args:
        workers: who does what is missing.
        folder: where the results are, of one preparation alone: one goes by its unit and its place among the tasks.
    """

    def __init__(self, workers: Workers, folder: Path) -> None:
        self._workers, self._folder = workers, folder

    def map(self, unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]) -> Iterator[tuple[TaskT, ResultT]]:
        """Yields each task with its result, in the order of the tasks; see `Workers`."""
        form = _FORMS.get(unit)
        if form is None:  # quick, or hangs on files that are made anew each time
            yield from self._workers.map(unit, tasks)
            return
        # The next result to yield is either there or the next of the workers', who take tasks ahead of it.
        taken: deque[tuple[TaskT, Path, bool]] = deque()

        def missing() -> Iterator[TaskT]:
            for number, task in enumerate(tasks):
                path = self._folder / f"{unit.__name__}-{number:06}{_of_vocabulary(task)}.npz"
                there = path.exists()
                taken.append((task, path, there))
                if not there:
                    yield task

        for _, result in self._workers.map(unit, missing()):
            yield from self._there(form, taken)
            task, path, _ = taken.popleft()
            with atomic_path(path) as temporary:
                np.savez(temporary, allow_pickle=False, **form.pack(result))
            yield task, result
        yield from self._there(form, taken)

    def _there(self, form: "_Form", taken: "deque[tuple[TaskT, Path, bool]]") -> Iterator[tuple[TaskT, Any]]:
        """Takes and yields what stands before the first task that is missing."""
        while taken and taken[0][2]:
            task, path, _ = taken.popleft()
            with np.load(path) as arrays:
                yield task, form.unpack(arrays)


@dataclass(frozen=True, kw_only=True)
class _Form:
    """How the results of a unit lie on disk."""

    pack: Callable[[Any], _Arrays]
    unpack: Callable[[Mapping[str, npt.NDArray[Any]]], Any]


def _pack_digests(digests: Digests) -> _Arrays:
    return {"digests": digests}


def _unpack_digests(arrays: Mapping[str, npt.NDArray[Any]]) -> Digests:
    return arrays["digests"]


def _pack_sample(sample: Sample) -> _Arrays:
    return {"sources": _bytes(sample.sources), "targets": _bytes(sample.targets)}


def _unpack_sample(arrays: Mapping[str, npt.NDArray[Any]]) -> Sample:
    return Sample(sources=arrays["sources"].tobytes(), targets=arrays["targets"].tobytes())


def _pack_encoded(part: EncodedPart) -> _Arrays:
    counts = {
        "kept": part.counts.kept,
        "trimmed": part.counts.trimmed,
        "dropped": dict(part.counts.dropped),
        "source": asdict(part.counts.source),
        "target": asdict(part.counts.target),
    }
    return {
        "source_ids": part.source.ids,
        "source_offsets": part.source.offsets,
        "target_ids": part.target.ids,
        "target_offsets": part.target.offsets,
        "counts": _bytes(json.dumps(counts).encode("utf-8")),
        "dropped": _bytes(part.dropped.encode("utf-8")),
    }


def _unpack_encoded(arrays: Mapping[str, npt.NDArray[Any]]) -> EncodedPart:
    counts = json.loads(arrays["counts"].tobytes())
    return EncodedPart(
        source=TokenRows(ids=arrays["source_ids"], offsets=arrays["source_offsets"]),
        target=TokenRows(ids=arrays["target_ids"], offsets=arrays["target_offsets"]),
        counts=PairCounts(
            kept=counts["kept"],
            trimmed=counts["trimmed"],
            dropped=Counter(counts["dropped"]),
            source=TokenCounts(**counts["source"]),
            target=TokenCounts(**counts["target"]),
        ),
        dropped=arrays["dropped"].tobytes().decode("utf-8"),
    )


_FORMS: Mapping[Callable[..., Any], _Form] = {
    clean_part: _Form(pack=_pack_digests, unpack=_unpack_digests),
    sample_part: _Form(pack=_pack_sample, unpack=_unpack_sample),
    encode_part: _Form(pack=_pack_encoded, unpack=_unpack_encoded),
}


def _of_vocabulary(task: object) -> str:
    """What tells the ids of one vocabulary from those of another, which another SentencePiece may have learned."""
    if not isinstance(task, EncodeTask):
        return ""
    return "-" + hashlib.sha256(task.source_model + task.target_model).hexdigest()[:16]


def _bytes(content: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)
