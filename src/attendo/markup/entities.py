"""Entities of markup: read as characters, and written as in the source."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
"""A pattern of possible entities."""
_OF_XML = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}
SPECIAL = re.compile("[&<>\"']|[^\x00-\x7f]")
"""Pattern of a character that may be written in several ways."""
_NEEDED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def character_of(entity: str, *, xml: bool) -> str | None:
    """Returns the single character of an entity; None if it is unknown, several characters, or none for text.

    Args:
        entity: the entity as written.
        xml: whether only the five names of XML are known.
    """
    if xml and not entity.startswith("&#"):
        return _OF_XML.get(entity)
    text = html.unescape(entity)
    if text == entity or len(text) != 1:
        return None
    # Control characters, surrogates and noncharacters are left unchanged.
    return text if text.isprintable() or text in "\u00a0\u202f\u00ad\u200b\u2009" else None


@dataclass
class Spelling:
    """The spelling of characters that a source can write in several ways."""

    xml: bool
    """Whether a bare `&` or `<` is an error."""
    forms: dict[str, str] = field(default_factory=dict)
    """The first spelling of each such character."""

    def note(self, character: str, written: str) -> None:
        """Records a spelling, if it is the character's first."""
        self.forms.setdefault(character, written)

    def note_all(self, characters: Iterable[str]) -> None:
        """Records that characters are written unescaped."""
        for character in characters:
            self.forms.setdefault(character, character)

    def written(self, character: str, behind: str) -> str:
        """Writes a character as the source would, so that it is not read as markup.

        Args:
            character: a character that `SPECIAL` matches.
            behind: the next one; empty at the end.
        """
        form = self.forms.get(character)
        if form is None:
            return _NEEDED.get(character, character)
        if form != character or character not in "&<":
            return form
        # The source has it bare; so may the translation, where it cannot be mistaken for the beginning of markup.
        harmless = not self.xml and (behind.isspace() or (behind.isdigit() and character == "&"))
        return character if harmless else _NEEDED[character]


class Plain(Spelling):
    """Text without markup: every character is itself."""

    def __init__(self) -> None:
        super().__init__(xml=False)

    def note(self, character: str, written: str) -> None:
        """Does nothing, since characters have only one spelling."""

    def written(self, character: str, behind: str) -> str:
        """Returns the character."""
        del behind
        return character
