"""Seeded choices of a template, noting which of them are content words."""

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar


class _HasGerman(Protocol):
    @property
    def de(self) -> str: ...


_Word = TypeVar("_Word", bound=_HasGerman | str)
_Form = TypeVar("_Form")


class Chooser:
    """Draws for one sentence; `content` is the combination that the held-out split must not share with training."""

    def __init__(self, generator: random.Random) -> None:
        self._generator = generator
        self._content: list[str] = []

    @property
    def content(self) -> tuple[str, ...]:
        """The content words drawn so far, in German, in order."""
        return tuple(self._content)

    def form(self, options: Sequence[_Form]) -> _Form:
        """Draws what is not a content word: person, tense, article, time."""
        # Only random() is promised to give the same numbers in every Python version; choice() is not.
        return options[int(self._generator.random() * len(options))]

    def word(self, options: Sequence[_Word]) -> _Word:
        """Draws a content word and notes it."""
        chosen = self.form(options)
        self._content.append(chosen if isinstance(chosen, str) else chosen.de)
        return chosen

    def chance(self, probability: float) -> bool:
        """True with that probability."""
        return self._generator.random() < probability
