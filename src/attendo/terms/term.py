"""A term of a glossary."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """A word or phrase, and how it is to be translated.

    A term whose target is its source is not to be translated: it is looked for and kept to the letter.
    """

    source: str
    """The word or phrase; upper and lower case do not differ, unless it is all capitals."""
    target: str
    """Its translation, as a dictionary has it; empty where only words are forbidden."""
    forms: tuple[str, ...] = ()
    """Inflected forms of the target, besides those that the rules of the language give."""
    alternatives: tuple[str, ...] = ()
    """Other translations that are accepted."""
    forbidden: tuple[str, ...] = ()
    """Translations that must not be used for the source."""
    comment: str = ""
    """A note for people."""

    @property
    def is_verbatim(self) -> bool:
        """Whether it is not to be translated."""
        return self.source == self.target
