"""A made-up translator that puts words in capitals, or as a test has them, exactly aligned."""

import asyncio
import re
from collections.abc import Callable, Sequence

import numpy as np

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.alignment import alignment
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.formats.contents import Content, content
from attendo.formats.file import Form, Unit
from attendo.markup.text_types import TranslatedLine
from attendo.markup.units.batching import BatchedLines
from attendo.markup.units.passages import Passages
from attendo.markup.units.translating import UnitTranslator
from attendo.markup.units.translation import UnitTranslation

SYMBOL = re.compile("(\u27e6[0-9]+\u27e7)")


def in_capitals(line: str) -> list[str]:
    """The words of a line in capitals; what stands for a placeholder stays."""
    return ["".join(part if SYMBOL.fullmatch(part) else part.upper() for part in SYMBOL.split(w)) for w in line.split()]


def backwards(line: str) -> list[str]:
    """The words in capitals, in reverse order."""
    return in_capitals(line)[::-1]


class MadeUp:
    """Translates lines word by word, and remembers them."""

    def __init__(self, words: Callable[[str], list[str]] = in_capitals) -> None:
        self._words = words
        self.batches: list[list[str]] = []

    def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None, aligned: bool
    ) -> list[TranslatedLine]:
        self.batches.append(list(lines))
        return [self._line(line, aligned) for line in lines]

    def _line(self, line: str, aligned: bool) -> TranslatedLine:
        words, read = self._words(line), line.split()
        text = " ".join(words)
        best = Candidate(text=text, ids=(), pieces=(), log_prob=-1, score=-0.5, token_log_probs=(), finished=True)
        translation = Translation(source=line, text=text, score=-0.5, log_prob=-1, n_best=(best,), read=line)
        if not aligned or len(words) != len(read):
            return TranslatedLine(translation=translation)
        weights = np.eye(len(words) + 1, dtype=np.float32)
        if self._words is backwards:
            weights[:-1, :-1] = weights[:-1, :-1][::-1]
        source, target = ([*(f"\u2581{word}" for word in side), "</s>"] for side in (read, words))
        return TranslatedLine(translation=translation, alignments=(alignment(source, target, weights),))


def unit(source: str | Content, *flags: str) -> Unit:
    """A unit of one form."""
    return Unit(
        id="u", forms=(Form(source=content(source) if isinstance(source, str) else source),), flags=frozenset(flags)
    )


def shown(text: Content) -> str:
    """A text with its codes as they are written."""
    return "".join(part if isinstance(part, str) else part.raw for part in text)


def translator(made_up: MadeUp | None = None, target: str = "de") -> UnitTranslator:
    return UnitTranslator(Passages(BatchedLines(made_up or MadeUp()), source_language="en", target_language=target))


def translations(units: Sequence[Unit], made_up: MadeUp | None = None, target: str = "de") -> list[UnitTranslation]:
    """Translates units together."""
    working = translator(made_up, target)

    async def work() -> list[UnitTranslation]:
        return list(await asyncio.gather(*(working.translated(each) for each in units)))

    return asyncio.run(work())


def translated(source: str | Content, *flags: str, made_up: MadeUp | None = None, target: str = "de") -> str:
    """The translation of a text, codes as they are written."""
    [found] = translations([unit(source, *flags)], made_up, target)
    [text] = found.texts
    return shown(text)
