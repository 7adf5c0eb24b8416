"""Text in letters that a model has never read: all it could do with them is to make something up."""

import re

from attendo.decoding.words import Pieces

_NO_LETTERS = re.compile(r"<0x[0-9A-F]{2}>|</s>|<unk>")


class KnownLetters:
    """The characters that a vocabulary has pieces with; it spells others in bytes, or not at all.

    Args:
        vocabulary: the source's pieces.
    """

    def __init__(self, vocabulary: Pieces) -> None:
        pieces = vocabulary.pieces(range(vocabulary.vocab_size))
        known = {letter for piece in pieces if not _NO_LETTERS.fullmatch(piece) for letter in piece}
        # A vocabulary of small letters knows the capitals that casing makes small, and the other way round.
        self._known = frozenset(form for letter in known for form in (letter, *letter.lower(), *letter.upper()))

    def are_few_of(self, text: str) -> bool:
        """Whether most letters of a text are none that the vocabulary has; False for a text without a letter."""
        unknown = set(text) - self._known
        if not unknown:
            return False
        letters = [character for character in text if character.isalpha()]
        return 2 * sum(letter in unknown for letter in letters) > len(letters)
