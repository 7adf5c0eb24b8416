"""Text that is replayed while a model learns, so that it forgets less: attendo's own text, and the user's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.pairs.table import has_both_sides
from attendo.learning.config import LearningConfig
from attendo.learning.own_text import OWN_TEXT, own_text
from attendo.learning.parallel_lines import ParallelLines, names_of, read_parallel
from attendo.synthetic.phrasebook import generate
from attendo.workflow.lines import lines_from

PHRASEBOOK = "attendo's phrasebook"
"""Name of the generated sentences in cards and reports."""
_PHRASEBOOK_LANGUAGES = ("en", "de")

Translate = Callable[[Sequence[str]], list[str]]
"""A function that translates lines with the model before learning."""


@dataclass(frozen=True, kw_only=True)
class ReplayPart:
    """Text of one origin."""

    name: str
    lines: ParallelLines
    """The pairs; with empty targets if the model has to translate the sources."""
    is_translated: bool
    """Whether the lines have targets."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """All text that is replayed."""

    parts: tuple[ReplayPart, ...]

    @property
    def name(self) -> str:
        """Name of the text in the card: each part with its number of lines."""
        named = [f"{len(part.lines.sources):,} of {part.name}" for part in self.parts]
        return ", ".join(named) or "nothing"

    @property
    def num_pairs(self) -> int:
        """Number of pairs in all parts."""
        return sum(len(part.lines.sources) for part in self.parts)

    @property
    def untranslated(self) -> tuple[str, ...]:
        """The sources that the model has to translate, in the order of the parts."""
        return tuple(source for part in self.parts if not part.is_translated for source in part.lines.sources)


def replay_of(config: LearningConfig, languages: tuple[str, str], excluded: frozenset[str], wanted: int) -> Replay:
    """Reads and generates the text to replay.

    Attendo's own text comes first; the user's text and the phrasebook share the remaining number of pairs.

    Args:
        config: the settings, which name the user's files and state whether attendo's own text is replayed.
        languages: codes of the model's source and target language.
        excluded: sources to leave out, namely those of the general set and of the corrections.
        wanted: number of useful pairs; `config.max_replay` limits it.

    Raises:
        DataError: a file cannot be read or has no line that is not excluded, or there is nothing to replay.
    """
    remaining = min(wanted, config.max_replay)
    parts: list[ReplayPart] = []
    own = own_text(languages) if config.own_replay else None
    if own is not None:
        lines = own.replay.without(excluded).spread(remaining)
        parts.append(ReplayPart(name=OWN_TEXT, lines=_without_targets(lines.sources), is_translated=False))
        remaining -= len(lines.sources)
    has_phrasebook = config.own_replay and {_base(code) for code in languages} == set(_PHRASEBOOK_LANGUAGES)
    if config.replay:
        part = _users_part(
            config.replay, languages, excluded, remaining - remaining // 2 if has_phrasebook else remaining
        )
        parts.append(part)
        remaining -= len(part.lines.sources)
    if has_phrasebook and remaining:
        lines = _phrasebook(remaining, languages, config.seed).without(excluded)
        parts.append(ReplayPart(name=PHRASEBOOK, lines=lines, is_translated=False))
    if config.replay_share and not any(part.lines.sources for part in parts):
        raise DataError(
            f"learning.replay: there is no text of attendo's own to replay from {languages[0]} to {languages[1]}; name "
            f"a file of lines in {languages[0]} with --replay"
        )
    return Replay(parts=tuple(parts))


def replayed(replay: Replay, translate: Translate) -> ParallelLines:
    """Returns the pairs to replay, where missing targets are the model's translations.

    Args:
        replay: the text to replay.
        translate: translates lines with the model before learning.
    """
    lines = ParallelLines()
    for part in replay.parts:
        if part.is_translated:
            lines = lines.with_more(part.lines)
    sources = replay.untranslated
    kept = [(s, t) for s, t in zip(sources, translate(sources), strict=True) if t.strip()]
    return lines.with_more(ParallelLines(sources=tuple(s for s, _ in kept), targets=tuple(t for _, t in kept)))


def _users_part(
    files: tuple[str, ...], languages: tuple[str, str], excluded: frozenset[str], number: int
) -> ReplayPart:
    is_translated = len(files) == 2 or has_both_sides(Path(files[0]))
    if is_translated:
        lines = read_parallel(files, languages, "replay")
    else:
        lines = _without_targets(tuple(dict.fromkeys(line for line in lines_from(Path(files[0])) if line.strip())))
    lines = lines.without(excluded)
    if not lines.sources:
        raise DataError(f"learning.replay: {names_of(files)} has no line that is in no other set; name another file")
    return ReplayPart(name=names_of(files), lines=lines.spread(number), is_translated=is_translated)


def _without_targets(sources: tuple[str, ...]) -> ParallelLines:
    return ParallelLines(sources=sources, targets=("",) * len(sources))


def _phrasebook(number: int, languages: tuple[str, str], seed: int) -> ParallelLines:
    """Generates sentences in the source language."""
    pairs = generate(number, seed)
    is_english = _base(languages[0]) == "en"
    return _without_targets(tuple(pair.source if is_english else pair.target for pair in pairs))


def _base(code: str) -> str:
    return code.split("-")[0]
