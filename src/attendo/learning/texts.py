"""The text beside the corrections: what is replayed while a model learns, and the general set of the gate."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.pairs.table import has_both_sides
from attendo.learning.config import LearningConfig
from attendo.synthetic.phrasebook import generate
from attendo.text.pair_rules import CleaningConfig
from attendo.workflow.lines import lines_from, read_pairs
from attendo.workflow.pair_files import pairs_of

GATE_PAIRS = 1000
"""Pairs of the general set that the gate judges by, at least."""
SELECTION_PAIRS = 100
"""Pairs of the general set that help to choose, at least."""
_MAX_SELECTION = 500
_GENERATED = ("en", "de")
"""The languages of generated sentences."""
_PHRASEBOOK = "generated sentences (attendo's phrasebook)"

Translate = Callable[[str, Sequence[str]], list[str]]
"""Translates lines with the model as it is; the first argument says what they are."""


@dataclass(frozen=True, kw_only=True)
class ParallelLines:
    """Lines with their translations."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]

    def rows(self, numbers: Sequence[int]) -> "ParallelLines":
        """Gives some of the pairs by their numbers."""
        return ParallelLines(
            sources=tuple(self.sources[number] for number in numbers),
            targets=tuple(self.targets[number] for number in numbers),
        )

    def without(self, sources: frozenset[str]) -> "ParallelLines":
        """Gives the pairs whose source is none of these."""
        kept = [pair for pair in zip(self.sources, self.targets, strict=True) if pair[0] not in sources]
        return ParallelLines(sources=tuple(s for s, _ in kept), targets=tuple(t for _, t in kept))


@dataclass(frozen=True, kw_only=True)
class GeneralSet:
    """Text that must not get worse."""

    name: str
    """What the card calls it."""
    gate: ParallelLines
    """What the gate judges by."""
    selection: ParallelLines
    """What helps to choose; the gate does not see it."""


@dataclass(frozen=True, kw_only=True)
class ReplaySource:
    """Text to be replayed."""

    name: str
    """What the card calls it."""
    lines: ParallelLines
    """With empty targets where the model has to translate the sources."""
    is_translated: bool
    """Whether the targets are there."""


def general_set(config: LearningConfig, languages: tuple[str, str], excluded: frozenset[str]) -> GeneralSet:
    """Reads the general set, or generates it.

    Args:
        config: names its files.
        languages: of the model.
        excluded: sources that are not to be in it, those of the corrections.

    Raises:
        DataError: a file cannot be read, there are too few pairs, or there is no generated text in these languages.
    """
    if config.general:
        lines, name = _read_pairs(config.general, languages, "general"), _name(config.general)
    else:
        _check_generated(languages, "general")
        number = GATE_PAIRS + _MAX_SELECTION
        lines, name = _phrasebook(0, number, languages, config.seed), _PHRASEBOOK
    lines = lines.without(excluded)
    least = GATE_PAIRS + SELECTION_PAIRS
    if len(lines.sources) < least:
        raise DataError(
            f"learning.general: {name} has {len(lines.sources):,} pairs that are no corrections, and {least:,} are "
            f"needed: {GATE_PAIRS:,} that the gate judges by, the others to choose by; name a larger set"
        )
    aside = min(_MAX_SELECTION, len(lines.sources) - GATE_PAIRS)
    chosen = frozenset(_spread(len(lines.sources), aside))
    rest = [number for number in range(len(lines.sources)) if number not in chosen]
    return GeneralSet(name=config.general_name or name, gate=lines.rows(rest), selection=lines.rows(sorted(chosen)))


def replay_source(
    config: LearningConfig, languages: tuple[str, str], excluded: frozenset[str], wanted: int
) -> ReplaySource:
    """Reads the text to be replayed, or generates it.

    Args:
        config: names its files.
        languages: of the model.
        excluded: sources that are not to be in it, those of the general set and of the corrections.
        wanted: pairs that are useful.

    Raises:
        DataError: a file cannot be read, has no line left, or there is no generated text in these languages.
    """
    number = min(wanted, config.max_replay)
    files = config.replay
    if not files:
        _check_generated(languages, "replay")
        found = _phrasebook(GATE_PAIRS + _MAX_SELECTION, number, languages, config.seed)
        lines, name, is_translated = _without_targets(found.sources), _PHRASEBOOK, False
    elif len(files) == 1 and not has_both_sides(Path(files[0])):
        distinct = tuple(dict.fromkeys(line for line in lines_from(Path(files[0])) if line.strip()))
        lines, name, is_translated = _without_targets(distinct), _name(files), False
    else:
        lines, name, is_translated = _read_pairs(files, languages, "replay"), _name(files), True
    lines = lines.without(excluded)
    if not lines.sources:
        raise DataError(f"learning.replay: {name} has no line that is in no other set; name another file")
    chosen = lines.rows(_spread(len(lines.sources), min(number, len(lines.sources))))
    return ReplaySource(name=name, lines=chosen, is_translated=is_translated)


def replayed(source: ReplaySource, translate: Translate) -> ParallelLines:
    """Gives the pairs to be replayed, those that have no translation yet with the model's.

    Args:
        source: as `replay_source` gave it.
        translate: the model as it is.
    """
    if source.is_translated:
        return source.lines
    targets = translate("replay", source.lines.sources)
    kept = [(s, t) for s, t in zip(source.lines.sources, targets, strict=True) if t.strip()]
    return ParallelLines(sources=tuple(s for s, _ in kept), targets=tuple(t for _, t in kept))


def _without_targets(sources: Sequence[str]) -> ParallelLines:
    return ParallelLines(sources=tuple(sources), targets=("",) * len(sources))


def _phrasebook(start: int, number: int, languages: tuple[str, str], seed: int) -> ParallelLines:
    """Gives generated sentences with their translations; those of another start are others."""
    pairs = generate(start + number, seed)[start:]
    sides = {"en": tuple(pair.source for pair in pairs), "de": tuple(pair.target for pair in pairs)}
    return ParallelLines(sources=sides[_base(languages[0])], targets=sides[_base(languages[1])])


def _check_generated(languages: tuple[str, str], key: str) -> None:
    if {_base(code) for code in languages} != set(_GENERATED):
        raise DataError(
            f"learning.{key}: there are no generated sentences for {languages[0]} to {languages[1]}, only for English "
            f"and German; name a file with --{key}"
        )


def _read_pairs(files: tuple[str, ...], languages: tuple[str, str], key: str) -> ParallelLines:
    if len(files) == 2:
        sources, targets = read_pairs(Path(files[0]), Path(files[1]))
        distinct = dict(zip(sources, targets, strict=True))
    elif has_both_sides(Path(files[0])):
        found = pairs_of(Path(files[0]), languages, Counter(), cleaning=CleaningConfig())
        distinct = {pair.source: pair.target for pair in found}
    else:
        raise DataError(
            f"learning.{key}: {files[0]} holds one side alone; name a source and a target of lines, or one file with "
            "both, such as TMX or TSV"
        )
    return ParallelLines(sources=tuple(distinct), targets=tuple(distinct.values()))


def _spread(length: int, number: int) -> list[int]:
    """Gives some places of a sequence, evenly spread."""
    return [place * length // number for place in range(number)]


def _name(files: tuple[str, ...]) -> str:
    return " and ".join(Path(name).name for name in files)


def _base(code: str) -> str:
    return code.split("-")[0]
