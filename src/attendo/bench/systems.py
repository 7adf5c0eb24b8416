"""What is timed: attendo and its peers behind one small interface, each with its own idea of threads and batches."""

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
class Timed:
    """What a system translated, and how long it took."""

    seconds: float
    """Without turning ids into what the system takes, and what it gives into ids."""
    ids: list[Sentence]
    """A translation a source, in their order."""


class System(Protocol):
    """A program that translates ids, in one type and with one layout of threads."""

    name: str
    """The program's."""
    dtype: Dtype
    """Of its matrix products."""
    kernel: str
    """What computes them, in the program's own words."""

    def layout(self, sentences: int, batch: int) -> str:
        """How it works on so many sentences: workers x threads of each."""

    def translate(self, sources: Sequence[Sentence], *, beam: int, batch: int) -> Timed:
        """Translates; a batch of 1 means one call a sentence, the next when the last has come back."""


class AttendoSystem:
    """attendo, as `attendo translate` runs it.

    Args:
        work: what to translate.
        dtype: of the products.
        threads: for all workers together.
        device: where.
        model: what decodes; made of the work's model where left out.
    """

    name = "attendo"

    def __init__(
        self, work: Work, dtype: Dtype, *, threads: int, device: torch.device, model: DecodingModel | None = None
    ) -> None:
        if model is None:
            # Another type or device changes a model in place, and the work's own is everybody's.
            as_it_is = dtype != "bfloat16" and device.type == "cpu"
            model = decoding_model(work.model if as_it_is else deepcopy(work.model), dtype=dtype, device=device)
        self._model = model
        self.dtype: Dtype = dtype
        self.kernel = self._model.kernel
        self._work, self._threads = work, threads

    def layout(self, sentences: int, batch: int) -> str:
        """One-thread workers, but all threads together on one sentence, or wherever torch does the work."""
        return f"{self._threads}x1" if self._model.concurrent and batch > 1 else f"1x{self._threads}"

    def translate(self, sources: Sequence[Sentence], *, beam: int, batch: int) -> Timed:
        """Translates; with a forced length `</s>` is decoded too, a step more than the peers make."""
        search = id_search(self._model, self._work, beam=beam, batch=batch, threads=self._threads)
        calls = [[source] for source in sources] if batch == 1 else [list(sources)]
        rules = [self._work.rules(call) for call in calls]
        with torch_threads(self._threads):
            started = time.perf_counter()
            found = [search.search(call, its_rules) for call, its_rules in zip(calls, rules, strict=True)]
            seconds = time.perf_counter() - started
        return Timed(
            seconds=seconds, ids=[best(hypotheses, self._work.length) for call in found for hypotheses in call]
        )


def id_search(model: DecodingModel, work: Work, *, beam: int, batch: int, threads: int) -> IdSearch:
    """A search over ids with batches of so many sentences, whatever their lengths."""
    longest = max((len(source) for source in work.sources), default=1)
    config = SearchConfig(
        beam_size=beam,
        # Of translations whose length is forced the peers rank those they have at the end, see `best`.
        n_best=1 if work.length is None else beam,
        length_penalty=work.length_penalty,
        max_batch_sentences=batch,
        max_batch_tokens=batch * longest,
    )
    return IdSearch([model], config, threads=threads)


def best(hypotheses: Sequence[Hypothesis], length: int | None) -> Sentence:
    """The translation among a sentence's hypotheses.

    Where the length is forced, no peer decodes the `</s>` that would follow: its probability, which ours counts, is
    left out of the choice. The first of equal ones is taken.
    """
    if length is None:
        return hypotheses[0].ids
    return max(hypotheses, key=lambda hypothesis: sum(hypothesis.token_log_probs[:-1])).ids


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Within the block torch has so many threads, in this whole process."""
    previous = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(previous)
