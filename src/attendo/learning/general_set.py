"""The general set: text that a new model must not translate worse, apart from what is replayed while it learns."""

from collections.abc import Sequence
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.learning.config import LearningConfig
from attendo.learning.own_text import OWN_TEXT, Domain, own_text
from attendo.learning.parallel_lines import ParallelLines, evenly_spread, names_of, read_parallel

GATE_PAIRS = 1000
"""Pairs of the general set that the gate judges by, at least."""
SELECTION_PAIRS = 100
"""Pairs of the general set that help to choose, at least."""
_MAX_SELECTION = 500


@dataclass(frozen=True, kw_only=True)
class GeneralSet:
    """Text that must not get worse."""

    name: str
    """What the card calls it."""
    domains: tuple[Domain, ...]
    """What the gate judges by."""
    selection: ParallelLines
    """What helps to choose; the gate does not see it."""

    @property
    def gate(self) -> ParallelLines:
        """The pairs of all domains, one after the other."""
        lines = ParallelLines()
        for domain in self.domains:
            lines = lines.with_more(domain.lines)
        return lines

    @property
    def sources(self) -> frozenset[str]:
        """All sources."""
        return frozenset((*self.gate.sources, *self.selection.sources))


def general_set(config: LearningConfig, languages: tuple[str, str], excluded: frozenset[str]) -> GeneralSet:
    """Reads the general set: the user's, or attendo's own text.

    Args:
        config: names its files.
        languages: of the model.
        excluded: sources that are not to be in it, those of the corrections.

    Raises:
        DataError: a file cannot be read, there are too few pairs, or there is no text of our own in these languages.
    """
    if config.general:
        lines = read_parallel(config.general, languages, "general").without(excluded)
        aside = max(SELECTION_PAIRS, min(_MAX_SELECTION, len(lines.sources) - GATE_PAIRS))
        chosen = evenly_spread(len(lines.sources), min(aside, len(lines.sources)))
        rest = sorted(frozenset(range(len(lines.sources))).difference(chosen))
        domains: Sequence[Domain] = (Domain(name="", lines=lines.rows(rest)),)
        name, selection = names_of(config.general), lines.rows(chosen)
    else:
        found = own_text(languages)
        if found is None:
            raise DataError(
                f"learning.general: {OWN_TEXT} is in English, German and French, and the model translates "
                f"{languages[0]} to {languages[1]}; name a general set with --general"
            )
        domains = [Domain(name=each.name, lines=each.lines.without(excluded)) for each in found.gate]
        name, selection = OWN_TEXT, found.selection.without(excluded)
    general = GeneralSet(name=config.general_name or name, domains=tuple(domains), selection=selection)
    num_pairs = len(general.gate.sources) + len(selection.sources)
    if len(general.gate.sources) < GATE_PAIRS or len(selection.sources) < SELECTION_PAIRS:
        raise DataError(
            f"learning.general: {name} has {num_pairs:,} pairs that are no corrections, and "
            f"{GATE_PAIRS + SELECTION_PAIRS:,} are needed: {GATE_PAIRS:,} that the gate judges by, the others to "
            "choose by; name a larger set"
        )
    return general
