"""Translates a document's units alongside a server's requests.

Splitting texts into sentences, joining translations and checking them is done in the thread for long texts, one group
of units at a time, so that other requests are not delayed; the lines go to the server's loop, some at a time.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from attendo.formats.file import Unit
from attendo.markup.text_types import Confidence, FindCorrections, TranslateLines
from attendo.markup.together import gathered
from attendo.markup.units.passages import Passages
from attendo.markup.units.translating import UnitTranslator
from attendo.markup.units.translation import UnitTranslation
from attendo.serving.core.text_loop import TextLoop, in_loop, slices
from attendo.serving.documents.units import num_characters
from attendo.serving.documents.workers import ReadDocument
from attendo.terms.glossary import Glossary


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
    """Translates the units of a document; cancelling the caller stops it.

    Args:
        document: the document.
        translate: translates lines in the caller's event loop.
        texts: the thread in which texts are cut into sentences and put together.
        confidence: computes the confidence of a translation.
        candidates: translates lines into several candidates each, for units that limit the length.
        glossary: the glossary to use.
        corrections: finds corrections that replace the model's translations; called in another thread's event loop.
        progress: called with the characters translated so far, in another thread.

    Returns:
        The translations by the ids of units.

    Raises:
        ServingError: any error of `translate`.
    """
    counted = _Progress(progress)
    in_this_loop = partial(
        in_loop, asyncio.get_running_loop(), parts=1, done=counted.add
    )  # as much room as others' texts
    passages = Passages(
        in_this_loop(translate),
        source_language=document.source,
        target_language=document.target,
        confidence=confidence,
        candidates=candidates and in_this_loop(candidates),
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


async def _translated(
    units: Sequence[Unit], passages: Passages, progress: _Progress, texts: TextLoop
) -> dict[str, UnitTranslation]:
    translator, found = UnitTranslator(passages), dict[str, UnitTranslation]()
    try:
        for places in slices([num_characters([unit]) for unit in units]):
            await texts.turn()
            group = units[places]
            progress.begin(num_characters(group))
            translations = await gathered([translator.translated(unit) for unit in group])
            found |= {unit.id: each for unit, each in zip(group, translations, strict=True)}
    finally:
        await passages.stop()
    return found
