"""The general set: text that a new model must not translate worse, separate from the replayed text."""

from collections.abc import Sequence
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.learning.config import LearningConfig
from attendo.learning.own_text import OWN_TEXT, Domain, own_text
from attendo.learning.parallel_lines import ParallelLines, evenly_spread, names_of, read_parallel

GATE_PAIRS = 1000
"""Minimum number of pairs of the general set that the gate judges by."""
SELECTION_PAIRS = 100
"""Minimum number of pairs of the general set by which the share of the fine-tuned weights is chosen."""
_MAX_SELECTION = 500


@dataclass(frozen=True, kw_only=True)
class GeneralSet:
    """Text whose translations must not get worse."""

    name: str
    """Name of the set in the card."""
    domains: tuple[Domain, ...]
    """The pairs that the gate judges by."""
    selection: ParallelLines
    """The pairs by which the share of the fine-tuned weights is chosen; the gate does not see them."""

    @property
    def gate(self) -> ParallelLines:
        """The pairs of all domains, in order."""
        lines = ParallelLines()
        for domain in self.domains:
            lines = lines.with_more(domain.lines)
        return lines

    @property
    def sources(self) -> frozenset[str]:
        """The sources of all pairs, of both the gate and the selection."""
        return frozenset((*self.gate.sources, *self.selection.sources))


def general_set(config: LearningConfig, languages: tuple[str, str], excluded: frozenset[str]) -> GeneralSet:
    """Reads the general set: the user's, or attendo's own text.

    Args:
        config: the settings, which name the user's files.
        languages: codes of the model's source and target language.
        excluded: sources to leave out, namely those of the corrections.

    Raises:
        DataError: a file cannot be read, there are too few pairs, or attendo has no text in these languages.
    """
    if config.general:
        lines = read_parallel(config.general, languages, "general").without(excluded)
        num_selected = max(SELECTION_PAIRS, min(_MAX_SELECTION, len(lines.sources) - GATE_PAIRS))
        chosen = evenly_spread(len(lines.sources), min(num_selected, len(lines.sources)))
        rest = sorted(frozenset(range(len(lines.sources))).difference(chosen))
        domains: Sequence[Domain] = (Domain(name="", lines=lines.rows(rest)),)
        name, selection = names_of(config.general), lines.rows(chosen)
    else:
        own = own_text(languages)
        if own is None:
            raise DataError(
                f"learning.general: {OWN_TEXT} is in English, German and French, and the model translates "
                f"{languages[0]} to {languages[1]}; name a general set with --general"
            )
        domains = [Domain(name=domain.name, lines=domain.lines.without(excluded)) for domain in own.gate]
        name, selection = OWN_TEXT, own.selection.without(excluded)
    general = GeneralSet(name=config.general_name or name, domains=tuple(domains), selection=selection)
    num_pairs = len(general.gate.sources) + len(selection.sources)
    if len(general.gate.sources) < GATE_PAIRS or len(selection.sources) < SELECTION_PAIRS:
        raise DataError(
            f"learning.general: {name} has {num_pairs:,} pairs that are no corrections, and "
            f"{GATE_PAIRS + SELECTION_PAIRS:,} are needed: {GATE_PAIRS:,} that the gate judges by, the others to "
            "choose by; name a larger set"
        )
    return general
