"""People in a text: names after a title, or beginning with a common given name.

Models that have met few people translate their names (*Frau Müller*, *the Miller's*) or make up others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from attendo.text.proper_names import BEHIND_TITLE, TITLES, given_names

_WORD = re.compile(r"(?<![\w-])(?:O['’])?[^\W\d_]+(?:-[^\W\d_]+)*(?![\w-])")
_LONGEST_TITLE = 14
_PARTICLES = frozenset(("de", "der", "di", "du", "la", "le", "van", "von", "zu"))
_MAX_GIVEN = 3
_NEARLY_SAME = 0.75
"""Share of two words' letters that they have in common, in the same order (`difflib`)."""
_SPACES = (" ", "\u00a0")


@dataclass(frozen=True, slots=True)
class Person:
    """A name in a text."""

    start: int
    """Position of the first character, after a title."""
    end: int
    """Position of the character after it."""
    text: str
    """The name: given names, particles and a family name, or some of them."""
    titled: bool
    """Whether a title precedes the name."""

    def is_lost(self, written: str, language: str) -> bool:
        """Whether a translation lacks any word of the name, unchanged or in the genitive.

        In German a noun may follow a given name (*Sie gab Anna Saft*), so without a title, the name counts as lost only
        if all words are lost or one is misspelled.

        Args:
            written: the translation.
            language: the source's language, as an ISO 639-1 code.
        """
        words = [word for word in self.text.split() if word not in _PARTICLES]
        missing = [word for word in words if not _has(written, word)]
        if language != "de" or self.titled:
            return bool(missing)
        return len(missing) == len(words) or any(_is_misspelled(word, written) for word in missing)


def people(text: str) -> list[Person]:
    """Finds people, in order and without overlaps.

    A person is a capitalised name after a title or a common given name. Given names that differ between languages
    (*Mary*, *Maria*) are no person by themselves.
    """
    return list(_people(text))


def _people(text: str) -> Iterator[Person]:
    words = list(_WORD.finditer(text))
    behind = 0
    for place, word in enumerate(words):
        if word.start() < behind or not _is_name(word[0]):
            continue
        titled = BEHIND_TITLE.search(text, max(0, word.start() - _LONGEST_TITLE), word.start()) is not None
        last = _last_word(text, words, place)
        if not titled and (last == place or not _is_given(word[0])):
            continue
        behind = words[last].end()
        yield Person(word.start(), behind, text[word.start() : behind], titled)


def _last_word(text: str, words: list[re.Match[str]], first: int) -> int:
    """The index of the last word of a name: its first word that is neither a given name nor a particle."""
    last = first
    while last - first < _MAX_GIVEN and _is_given(words[last][0]):
        following = last + 1
        while following < len(words) and words[following][0] in _PARTICLES:
            following += 1
        if following == len(words) or not _is_name(words[following][0]):
            break
        if any(text[words[index].end() : words[index + 1].start()] not in _SPACES for index in range(last, following)):
            break
        last = following
    return last


def _is_name(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and not word.isupper() and word not in TITLES


def _is_given(word: str) -> bool:
    """Whether a word is a given name, or several joined by hyphens of which the first is one."""
    return word.split("-")[0] in given_names()


def _has(written: str, word: str) -> bool:
    stem = word[:-1] if word.endswith("s") else word
    return re.search(rf"(?<!\w){re.escape(stem)}(?:s?['’]?s?)(?!\w)", written) is not None


def _is_misspelled(word: str, written: str) -> bool:
    """Whether a translation has a name with nearly the same letters instead of the name."""
    others = [other[0] for other in _WORD.finditer(written) if _is_name(other[0])]
    return bool(get_close_matches(word, others, n=1, cutoff=_NEARLY_SAME))
