"""A term of a glossary."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """A word or phrase with its translation.

    A term whose target is its source is not to be translated: it is matched and kept exactly.
    """

    source: str
    """The word or phrase; its case does not matter unless it is all capitals."""
    target: str
    """The translation in the dictionary's form; empty if there are only forbidden words."""
    forms: tuple[str, ...] = ()
    """Inflected forms of the target besides those of the language's rules."""
    alternatives: tuple[str, ...] = ()
    """Other translations that are accepted."""
    forbidden: tuple[str, ...] = ()
    """Translations that must not be used for the source."""
    comment: str = ""
    """A note for people."""

    @property
    def is_verbatim(self) -> bool:
        """Whether the term is not to be translated."""
        return self.source == self.target
