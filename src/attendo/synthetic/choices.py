"""Random choices of a template, with a record of the content words among them."""

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar


class _HasGerman(Protocol):
    @property
    def de(self) -> str: ...


_Word = TypeVar("_Word", bound=_HasGerman | str)
_Form = TypeVar("_Form")


class Chooser:
    """Draws the choices for one sentence; training and held-out splits must not share the combination `content`."""

    def __init__(self, generator: random.Random) -> None:
        self._generator = generator
        self._content: list[str] = []

    @property
    def content(self) -> tuple[str, ...]:
        """The content words drawn so far, in German, in order."""
        return tuple(self._content)

    def form(self, options: Sequence[_Form]) -> _Form:
        """Draws anything but a content word: person, tense, article, time."""
        # Only random() is guaranteed to give the same numbers in every Python version; choice() is not.
        return options[int(self._generator.random() * len(options))]

    def word(self, options: Sequence[_Word]) -> _Word:
        """Draws a content word and records it."""
        chosen = self.form(options)
        self._content.append(chosen if isinstance(chosen, str) else chosen.de)
        return chosen

    def chance(self, probability: float) -> bool:
        """Returns True with the given probability."""
        return self._generator.random() < probability
