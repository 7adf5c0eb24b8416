"""The units of a document translated beside a server's requests.

Reading sentences out of texts, putting translations together and checking them is done in the thread for long texts,
a group of units at a time, so that it holds up nobody; its lines go to the server's loop, some at a time.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.formats.file import Unit
from attendo.markup.text_types import Confidence, FindCorrections, TranslatedLine, TranslateLines
from attendo.markup.together import gathered
from attendo.markup.units.passages import Passages
from attendo.markup.units.translating import UnitTranslator
from attendo.markup.units.translation import UnitTranslation
from attendo.serving.core.text_loop import TextLoop, in_loop
from attendo.serving.documents.units import num_characters
from attendo.serving.documents.workers import ReadDocument
from attendo.terms.glossary import Glossary

_MOST_CHARACTERS, _MOST = 4_000, 64
"""Maximum number of characters of units, and of lines, that are translated at a time."""


async def translate_units(
    document: ReadDocument,
    translate: TranslateLines,
    texts: TextLoop,
    *,
    confidence: Confidence,
    candidates: TranslateLines | None,
    glossary: Glossary | None,
    corrections: FindCorrections,
    progress: Callable[[int], None],
) -> dict[str, UnitTranslation]:
    """Translates the units of a document; whoever is cancelled meanwhile stops it.

    Args:
        document: what is translated.
        translate: what translates lines, in the event loop that this is called in.
        texts: the thread in which texts are cut into sentences and put together.
        confidence: how sure a translation is.
        candidates: what translates lines into several candidates each, for units that limit the length.
        glossary: how certain words are to be translated.
        corrections: finds what answers in the model's place; called in another thread's event loop.
        progress: called with the characters translated so far, in another thread.

    Returns:
        The translations by the ids of units.

    Raises:
        ServingError: whatever `translate` raises.
    """
    counted = _Progress(progress)
    loop = asyncio.get_running_loop()
    passages = Passages(
        _Lines(in_loop(loop, translate), counted),
        source_language=document.source,
        target_language=document.target,
        confidence=confidence,
        candidates=candidates and _Lines(in_loop(loop, candidates), counted),
        glossary=glossary,
        corrections=corrections,
    )
    return await texts.run(_translated(document.units, passages, counted, texts))


@dataclass
class _Progress:
    """Counts the characters that are translated: group by group of units, within a group line by line."""

    report: Callable[[int], None]
    before: int = 0
    size: int = 0
    within: int = 0

    def begin(self, size: int) -> None:
        """Begins a group of units with this number of characters; the group before is done."""
        self.before, self.size, self.within = self.before + self.size, size, 0
        self.report(self.before)

    def add(self, lines: Sequence[str]) -> None:
        """Counts lines of the group; some are translated several times, others never."""
        self.within = min(self.size, self.within + sum(map(len, lines)))
        self.report(self.before + self.within)


@dataclass(frozen=True)
class _Lines:
    """Translates lines, and counts them."""

    translate: TranslateLines
    progress: _Progress

    async def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        """Translates lines, some at a time, so that a long text takes no more room in the queue than others."""
        found: list[TranslatedLine] = []
        for start, stop in _slices([len(line) for line in lines]):
            some = None if constraints is None else constraints[start:stop]
            found += await self.translate(lines[start:stop], some, alignment=alignment)
            self.progress.add(lines[start:stop])
        return found


async def _translated(
    units: Sequence[Unit], passages: Passages, progress: _Progress, texts: TextLoop
) -> dict[str, UnitTranslation]:
    translator, found = UnitTranslator(passages), dict[str, UnitTranslation]()
    try:
        for start, stop in _slices([num_characters([unit]) for unit in units]):
            await texts.turn()
            group = units[start:stop]
            progress.begin(num_characters(group))
            translations = await gathered([translator.translated(unit) for unit in group])
            found |= {unit.id: each for unit, each in zip(group, translations, strict=True)}
    finally:
        await passages.stop()
    return found


def _slices(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Divides items into groups, limited by number and by characters unless a single item exceeds them."""
    start = characters = 0
    for place, size in enumerate(sizes):
        if place > start and (characters + size > _MOST_CHARACTERS or place - start >= _MOST):
            yield start, place
            start, characters = place, 0
        characters += size
    if start < len(sizes):
        yield start, len(sizes)
