"""Results of units of work that survive an interruption: each is kept in a file and not computed again."""

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
    """`Workers` that keep results in files and pass on only the tasks without a result.

    Args:
        workers: the workers that do the tasks without a result.
        folder: the folder of the results, of a single preparation, as files are named by unit and number of the task.
    """

    def __init__(self, workers: Workers, folder: Path) -> None:
        self._workers, self._folder = workers, folder

    def map(self, unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]) -> Iterator[tuple[TaskT, ResultT]]:
        """Yields each task with its result, in the order of the tasks; see `Workers`."""
        form = _FORMS.get(unit)
        if form is None:  # the unit is quick, or depends on files that are written anew each time
            yield from self._workers.map(unit, tasks)
            return
        # The next result to yield is either on disk or the next one of the workers, who take tasks in advance.
        pending: deque[tuple[TaskT, Path, bool]] = deque()

        def missing() -> Iterator[TaskT]:
            for number, task in enumerate(tasks):
                path = self._folder / f"{unit.__name__}-{number:06}{_of_vocabulary(task)}.npz"
                exists = path.exists()
                pending.append((task, path, exists))
                if not exists:
                    yield task

        for _, result in self._workers.map(unit, missing()):
            yield from self._stored(form, pending)
            task, path, _ = pending.popleft()
            with atomic_path(path) as temporary:
                np.savez(temporary, allow_pickle=False, **form.pack(result))
            yield task, result
        yield from self._stored(form, pending)

    def _stored(self, form: "_Form", pending: "deque[tuple[TaskT, Path, bool]]") -> Iterator[tuple[TaskT, Any]]:
        """Takes the tasks before the first one without a result, and yields them with their results."""
        while pending and pending[0][2]:
            task, path, _ = pending.popleft()
            with np.load(path) as arrays:
                yield task, form.unpack(arrays)


@dataclass(frozen=True, kw_only=True)
class _Form:
    """The format on disk of a unit's results."""

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
    """Returns a suffix that identifies an encoding task's vocabularies, as another SentencePiece may learn others."""
    if not isinstance(task, EncodeTask):
        return ""
    return "-" + hashlib.sha256(task.source_model + task.target_model).hexdigest()[:16]


def _bytes(content: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)
