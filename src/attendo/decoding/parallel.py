"""Searches many sentences, given as ids: batches of similar length, distributed over all threads."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import Event
from typing import TypeVar

from attendo.decoding.backends.ensemble import EnsembleStep
from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.batches import length_batches
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.blockwise import blockwise_search, keeps_to_length
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.searches.search import search
from attendo.decoding.step import can_draft, can_read
from attendo.decoding.watch import UNWATCHED, Cancelled, Watch
from attendo.text.subwords.tokenization import EOS_ID

DoneT = TypeVar("DoneT")
Check = Callable[[], None]
"""Raises where a batch is to stop."""


class IdSearch:
    """Searches with one model, or with several as an ensemble.

    If the model is `concurrent`, each thread has its own batch, which is fastest. Where there are fewer batches than
    threads, several work on a batch together. None of it changes a result.

    Args:
        models: the mean of their probabilities is searched.
        config: search settings.
        threads: number of threads that may work.
    """

    def __init__(self, models: Sequence[DecodingModel], config: SearchConfig, *, threads: int = 1) -> None:
        self.models, self.config = tuple(models), config
        self._threads = threads if all(model.concurrent for model in models) else 1

    def search(
        self, sources: Sequence[Sequence[int]], rules: Sequence[Rules], watch: Watch = UNWATCHED
    ) -> list[list[Hypothesis]]:
        """Hypotheses of each sentence, best first, in the sentences' order; none for a cancelled sentence.

        Args:
            sources: each sentence's ids with its `</s>`.
            rules: the rules of each sentence.
            watch: the watch over the sentences; called once before each batch and after each of its steps.

        Raises:
            ModelError: the models' probabilities are not numbers.
        """
        batches = self._batches(sources)
        found: list[list[Hypothesis]] = [[] for _ in sources]
        with ExitStack() as stack:
            for model in self.models:
                stack.enter_context(model.at_work())
            for batch, hypotheses in zip(batches, self._search_all(batches, sources, rules, watch), strict=True):
                for index, its_hypotheses in zip(batch, hypotheses, strict=True):
                    found[index] = its_hypotheses
        return found

    def _batches(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Indices into the sources, longest first."""
        return length_batches(
            [len(ids) for ids in sources],
            max_tokens=self.config.max_batch_tokens,
            max_sentences=self.config.max_batch_sentences,
        )

    def _search_all(
        self,
        batches: Sequence[Sequence[int]],
        sources: Sequence[Sequence[int]],
        rules: Sequence[Rules],
        watch: Watch,
    ) -> list[list[list[Hypothesis]]]:
        """Hypotheses of each batch."""
        together = max(1, self._threads // max(1, len(batches)))

        def work(batch: Sequence[int], check: Check) -> list[list[Hypothesis]]:
            def between_steps() -> AbstractSet[int]:
                check()
                return watch.between_steps()

            its_watch = replace(watch.of(batch), between_steps=between_steps)
            return self._search_batch([sources[i] for i in batch], [rules[i] for i in batch], together, its_watch)

        return on_threads(work, batches, self._threads)

    def _search_batch(
        self, sources: Sequence[Sequence[int]], rules: Sequence[Rules], threads: int, watch: Watch
    ) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = [[] for _ in sources]
        cancelled = watch.cancelled()
        places = [place for place in range(len(sources)) if place not in cancelled]
        if places:
            wanted = [sources[place] for place in places], [rules[place] for place in places]
            for place, hypotheses in zip(places, self._search_wanted(*wanted, threads, watch.of(places)), strict=True):
                found[place] = hypotheses
        return found

    def _search_wanted(
        self, sources: Sequence[Sequence[int]], rules: Sequence[Rules], threads: int, watch: Watch
    ) -> list[list[Hypothesis]]:
        def look() -> None:
            if len(watch.cancelled()) == len(sources):
                raise Cancelled

        steps = [model.step(sources, threads=threads) for model in self.models]
        try:
            for step in steps:
                if can_read(step):
                    step.read(look)
            if len(sources) == 1 and self._drafts(rules[0]) and can_draft(steps[0]):
                drafted = blockwise_search(steps[0], rules[0], eos_id=EOS_ID, config=self.config, watch=watch)
                return [[drafted.hypothesis]]
        except Cancelled:
            return [[] for _ in sources]
        whole = steps[0] if len(steps) == 1 else EnsembleStep(steps)
        return search(whole, rules, eos_id=EOS_ID, config=self.config, watch=watch)

    def _drafts(self, rules: Rules) -> bool:
        """Whether a single sentence gains by the model's drafter; in a batch, steps are fully used without it."""
        config = self.config
        is_wanted = config.draft and config.beam_size == 1 and not config.sampling
        has_drafter = len(self.models) == 1 and self.models[0].config.draft_tokens > 0
        return is_wanted and has_drafter and keeps_to_length(rules, config)


class _Stopped(Exception):  # ends a batch whose results are no longer needed
    """Raised when another batch has failed, or after Ctrl-C."""


def on_threads(
    work: Callable[[Sequence[int], Check], DoneT], batches: Sequence[Sequence[int]], threads: int
) -> list[DoneT]:
    """Runs each batch and returns the results in order; raises the first error.

    Args:
        work: called for each batch; with several threads, at the same time. It gets a function to call between two
            steps, which raises if the batch is no longer needed: after Ctrl-C, or an error in another batch.
        batches: indices.
        threads: maximum number of threads; 1 uses the caller's thread.
    """
    stopped = Event()

    def check() -> None:
        if stopped.is_set():
            raise _Stopped

    workers = min(threads, len(batches))
    if workers < 2:
        return [work(batch, check) for batch in batches]
    pool = ThreadPoolExecutor(workers, thread_name_prefix="attendo-decoding")
    try:
        return list(pool.map(lambda batch: work(batch, check), batches))
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)
