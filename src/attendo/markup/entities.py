"""Characters as markup writes them: read from entities, and written as the source wrote them."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
"""A pattern of possible entities."""
_OF_XML = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}
SPECIAL = re.compile("[&<>\"']|[^\x00-\x7f]")
"""A character that may be written in several ways."""
_NEEDED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def character_of(entity: str, *, xml: bool) -> str | None:
    """The one character that an entity stands for, or None: then it is unknown, several, or no character for text.

    Args:
        entity: as it is written.
        xml: whether only the five names of XML are known.
    """
    if xml and not entity.startswith("&#"):
        return _OF_XML.get(entity)
    text = html.unescape(entity)
    if text == entity or len(text) != 1:
        return None
    # Control characters, surrogates and noncharacters are left as they are written.
    return text if text.isprintable() or text in "\u00a0\u202f\u00ad\u200b\u2009" else None


@dataclass
class Spelling:
    """The spelling of characters that a source can write in several ways."""

    xml: bool
    """Whether a bare `&` or `<` is an error."""
    forms: dict[str, str] = field(default_factory=dict)
    """The first spelling of each such character."""

    def note(self, character: str, written: str) -> None:
        """Remembers a form, if it is the character's first."""
        self.forms.setdefault(character, written)

    def note_all(self, characters: Iterable[str]) -> None:
        """Remembers that characters are written as they are."""
        for character in characters:
            self.forms.setdefault(character, character)

    def written(self, character: str, behind: str) -> str:
        """A character as the source would write it, so that it is not read as markup.

        Args:
            character: one that `SPECIAL` finds.
            behind: the next one; empty at the end.
        """
        form = self.forms.get(character)
        if form is None:
            return _NEEDED.get(character, character)
        if form != character or character not in "&<":
            return form
        # The source has it bare; so may the translation, where nobody could take it for the beginning of markup.
        harmless = not self.xml and (behind.isspace() or (behind.isdigit() and character == "&"))
        return character if harmless else _NEEDED[character]


class Plain(Spelling):
    """Text without markup: every character is itself."""

    def __init__(self) -> None:
        super().__init__(xml=False)

    def note(self, character: str, written: str) -> None:
        """Nothing is to be remembered."""

    def written(self, character: str, behind: str) -> str:
        """The character."""
        del behind
        return character
