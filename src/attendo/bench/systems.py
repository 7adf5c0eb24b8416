"""The interface of the timed systems, which use threads and batches in their own ways, and attendo behind it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Protocol

import torch

from attendo.bench.work import Sentence, Work
from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.config import SearchConfig
from attendo.decoding.parallel import IdSearch
from attendo.decoding.searches.hypothesis import Hypothesis


@dataclass(frozen=True, kw_only=True)
class TimedTranslation:
    """A system's translations, and the time they took."""

    seconds: float
    """Time without converting ids to the system's input and its output to ids."""
    ids: list[Sentence]
    """One translation per source, in the order of the sources."""


class System(Protocol):
    """A program that translates ids, in one type and with one thread layout."""

    name: str
    """Name of the program."""
    dtype: Dtype
    """Type of its matrix products."""
    kernel: str
    """The implementation of the products, as the program names it."""

    def layout(self, sentences: int, batch: int) -> str:
        """Returns the layout used for this number of sentences: workers x threads per worker."""

    def translate(self, sources: Sequence[Sentence], *, beam: int, batch: int) -> TimedTranslation:
        """Translates; a batch of 1 means one call per sentence, each after the previous one has returned."""


class AttendoSystem:
    """attendo, as `attendo translate` runs it.

    Args:
        work: the model and sentences to translate.
        dtype: type of the matrix products.
        threads: number of threads of all workers together.
        device: the device to translate on.
        model: the model prepared for decoding; None to prepare the work's model.
    """

    name = "attendo"

    def __init__(
        self, work: Work, dtype: Dtype, *, threads: int, device: torch.device, model: DecodingModel | None = None
    ) -> None:
        if model is None:
            # Another type or device changes a model in place, and the work's model is shared by all systems.
            as_it_is = dtype != "bfloat16" and device.type == "cpu"
            model = decoding_model(work.model if as_it_is else deepcopy(work.model), dtype=dtype, device=device)
        self._model = model
        self.dtype: Dtype = dtype
        self.kernel = self._model.kernel
        self._work, self._threads = work, threads

    def layout(self, sentences: int, batch: int) -> str:
        """Returns workers of one thread, or one worker with all threads for single sentences and with torch."""
        return f"{self._threads}x1" if self._model.concurrent and batch > 1 else f"1x{self._threads}"

    def translate(self, sources: Sequence[Sentence], *, beam: int, batch: int) -> TimedTranslation:
        """Translates; with a forced length it also decodes `</s>`, one step more than the peers."""
        search = id_search(self._model, self._work, beam=beam, batch=batch, threads=self._threads)
        calls = [[source] for source in sources] if batch == 1 else [list(sources)]
        rules = [self._work.rules(call) for call in calls]
        with torch_threads(self._threads):
            started = time.perf_counter()
            results = [search.search(call, call_rules) for call, call_rules in zip(calls, rules, strict=True)]
            seconds = time.perf_counter() - started
        return TimedTranslation(
            seconds=seconds, ids=[best(hypotheses, self._work.length) for call in results for hypotheses in call]
        )


def id_search(model: DecodingModel, work: Work, *, beam: int, batch: int, threads: int) -> IdSearch:
    """Returns a search over ids with a fixed number of sentences per batch, whatever their lengths."""
    longest = max((len(source) for source in work.sources), default=1)
    config = SearchConfig(
        beam_size=beam,
        # If the length is forced, the peers rank the hypotheses that they have at the end, see `best`.
        n_best=1 if work.length is None else beam,
        length_penalty=work.length_penalty,
        max_batch_sentences=batch,
        max_batch_tokens=batch * longest,
    )
    return IdSearch([model], config, threads=threads)


def best(hypotheses: Sequence[Hypothesis], length: int | None) -> Sentence:
    """Returns the translation among a sentence's hypotheses.

    If the length is forced, no peer decodes the `</s>` that would follow; attendo's search does, and its probability is
    ignored here. Of equal hypotheses the first is taken.
    """
    if length is None:
        return hypotheses[0].ids
    return max(hypotheses, key=lambda hypothesis: sum(hypothesis.token_log_probs[:-1])).ids


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Sets the number of torch's threads within the block, for the whole process."""
    previous = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(previous)
