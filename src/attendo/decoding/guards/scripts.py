"""Text in letters that a model has never read: all it could do with them is to make something up."""

import re
from collections.abc import Sequence

from attendo.decoding.constraints.words import Pieces

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
# Spanish between its marks, in a text of another language.
_SPANISH = re.compile(r"[¿¡][^\W\d_][^¿¡?!]{0,80}[?!]")
_NO_LETTERS = re.compile(r"<0x[0-9A-F]{2}>|</s>|<unk>")
# Letters that a language writes its own words with: a rare one may be missing from a vocabulary (Noël, Israël).
_OWN_LETTERS = {"de": "äöüß", "fr": "àâæçéèêëîïôœùûüÿ"}


class KnownLetters:
    """The characters that a vocabulary has pieces with; it spells others in bytes, or not at all.

    Args:
        vocabulary: the source's pieces.
    """

    def __init__(self, vocabulary: Pieces) -> None:
        pieces = vocabulary.pieces(range(vocabulary.vocab_size))
        known = set("".join(piece for piece in pieces if piece[:1] != "<" or not _NO_LETTERS.fullmatch(piece)))
        # A lower-case vocabulary also covers the capitals that casing lowers, and the reverse.
        self._known = frozenset(form for letter in known for form in (letter, *letter.lower(), *letter.upper()))

    def are_few_of(self, text: str) -> bool:
        """Whether the vocabulary lacks most letters of a text; False for a text without a letter."""
        unknown = set(text) - self._known
        if not unknown:
            return False
        letters = [character for character in text if character.isalpha()]
        return 2 * sum(letter in unknown for letter in letters) > len(letters)

    def foreign(self, text: str, language: str) -> list[tuple[int, int]]:
        """Finds words that the model cannot read: in another script, or Spanish between ¿ and ?.

        They include names with a letter that the vocabulary lacks, such as Erdős, but no other words in Latin letters:
        naïve can be translated, and so can French Noël, whose letters the language has itself.

        Args:
            text: a line.
            language: the line's language, as an ISO 639-1 code.

        Returns:
            Start and end position of each stretch, in order and without overlaps.
        """
        unknown = set(text) - self._known
        found: list[tuple[int, int]] = []
        if language != "es" and not unknown.isdisjoint("¿¡"):
            found = [match.span() for match in _SPANISH.finditer(text)]
        own = _OWN_LETTERS.get(language, "")
        unknown = {letter for letter in unknown if letter.isalpha() and letter.lower() not in own}
        if unknown:
            words = [match.span() for match in _WORD.finditer(text) if _is_foreign(match[0], unknown)]
            found += [span for span in words if not any(start < span[1] and span[0] < end for start, end in found)]
        return _joined(text, sorted(found))


def _is_foreign(word: str, unknown: set[str]) -> bool:
    """Whether a word has an unknown letter and is in another script or a name."""
    if unknown.isdisjoint(word):
        return False
    return word[0].isupper() or not _LATIN.search(word)


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches in their order, those put together between which there is only white space."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and text[joined[-1][1] : start].isspace():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
