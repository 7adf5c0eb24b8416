"""The search with the engine's settings, and variants that replace it when a translation is searched again."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.parallel import IdSearch

_FORCED_BEAM = 12
_DIVERSE_BEAM, _DIVERSE_GROUPS = 8, 4
_TERM_CANDIDATES = 6


class SearchVariants:
    """Searches with the same models, made when they are first used.

    Args:
        models: the mean of their probabilities is searched.
        config: search settings.
        threads: number of threads that may work.
        ranked: whether all hypotheses of the own search are returned, because they are to be ranked.
    """

    def __init__(
        self, models: Sequence[DecodingModel], config: SearchConfig, *, threads: int, ranked: bool = False
    ) -> None:
        self._models, self._config, self._threads = models, config, threads
        self.own = self._with(replace(config, n_best=config.beam_size) if ranked else config)
        """The search with the engine's settings."""

    @cached_property
    def narrow(self) -> IdSearch:
        """Greedy search, for text that a wider beam does not improve."""
        return self._with(replace(self._config, beam_size=1, beam_groups=1))

    @cached_property
    def wide(self) -> IdSearch:
        """A beam with room for forced tokens besides the tokens that the model prefers."""
        return self._with(replace(self._config, beam_size=max(_FORCED_BEAM, self._config.beam_size), beam_groups=1))

    @cached_property
    def terms(self) -> IdSearch:
        """The wide beam with several candidates, to choose those that use terms and lose nothing else."""
        beam_size = max(_FORCED_BEAM, self._config.beam_size)
        n_best = max(_TERM_CANDIDATES, self._config.n_best)
        return self._with(replace(self._config, beam_size=beam_size, beam_groups=1, n_best=n_best))

    @cached_property
    def diverse(self) -> IdSearch:
        """Groups of a beam that are kept from writing the same."""
        return self._with(
            replace(self._config, beam_size=_DIVERSE_BEAM, beam_groups=_DIVERSE_GROUPS, n_best=_DIVERSE_BEAM)
        )

    def _with(self, config: SearchConfig) -> IdSearch:
        return IdSearch(self._models, config, threads=self._threads)
