"""Converts lines in CAPITALS or Title Case to the small letters that models mostly read, and restores first letters.

A word that the vocabulary spells in fewer pieces with its capitals than without, such as NATO or Anna, is a name that
the model knows as such, and keeps its capitals. docs/translating.md has measurements.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from attendo.decoding.constraints.words import Pieces

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LETTER = re.compile(r"[^\W\d_]")
_ENGLISH_I = re.compile(r"I(?:['’]|$)")
_FIRST_WORD = re.compile(r"[\s\"'“„«»‘‚(\[¿¡]*+([^\W\d_]\w*)")
_LETTERS = re.compile(r"[^\W\d_]+")
_CAPITAL_INSIDE = re.compile("[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]")
_MIN_CAPITALS = 4
_MIN_TITLE_WORDS = 4
# Words that headlines keep small, in the languages that capitalise the others.
_SMALL = re.compile(
    "an?|and|as|at|but|by|for|from|if|in|into|is|nor|off?|onto|on|or|out|over|per|than|the|to|upon|up|via|vs|with|"
    "à|aux?|de|des|du|d|el|en|et|ou|la|les?|y"
)
_TITLE_LANGUAGES = frozenset(("en", "es", "fr", "it", "nl", "pt"))
"""Languages in which only names and sentences begin with a capital; in German every noun does."""


def in_capitals(text: str) -> bool:
    """Whether a text has no small letter, and at least two words or four letters."""
    # The sharp s has no capital that is in use: STRAßE.
    if not (text.isupper() or ("ß" in text and text.replace("ß", "").isupper())):
        return False
    words = _WORD.findall(text)
    return len(words) > 1 or sum(map(len, words)) >= _MIN_CAPITALS


def in_title_case(text: str, language: str) -> bool:
    """Whether all words, except small ones, begin with a capital, at least four of them, and some letters are small.

    Args:
        text: the text.
        language: the language of the text; the result is False for one that capitalises common words, or is not known.
    """
    if language not in _TITLE_LANGUAGES:
        return False
    capitals = 0
    for match in _WORD.finditer(text):
        word = match[0]
        if word[0].isupper():
            capitals += 1
        elif not _SMALL.fullmatch(word):
            return False
    return capitals >= _MIN_TITLE_WORDS and not text.isupper()


@dataclass(frozen=True, kw_only=True)
class SmallLetters:
    """A text with its words in small letters, except for names and first letters of sentences."""

    text: str
    """The text."""
    common: int
    """Words with a capital within sentences that are a single piece in small letters: hardly names."""
    others: int
    """Number of other capitalised words within sentences, except single letters."""
    changed: int
    """Words that have other letters now."""


def in_small_letters(text: str, vocabulary: Pieces, language: str, starts: Iterable[int]) -> SmallLetters:
    """Puts a text's words in small letters.

    Args:
        text: the text.
        vocabulary: the source vocabulary; words that it spells in fewer pieces with capitals keep them.
        language: the language of the text; English has "I".
        starts: the positions where its sentences begin; their first letters stay capital.
    """
    words = sorted({match[0] for match in _WORD.finditer(text)})
    lengths = [len(ids) for ids in vocabulary.encode_batch([*words, *(word.lower() for word in words)])]
    with_capitals, without = (dict(zip(words, of, strict=False)) for of in (lengths, lengths[len(words) :]))
    firsts = {found.start() for start in starts if (found := _LETTER.search(text, start))}
    within = [match[0] for match in _WORD.finditer(text) if match.start() not in firsts and match[0][0].isupper()]
    within = [word for word in within if len(word) > 1]

    def small(match: re.Match[str]) -> str:
        word = match[0]
        # For a word by itself there is no other way to distinguish NATO from STOP.
        if with_capitals[word] < without[word] + (len(words) == 1):
            return word
        if match.start() in firsts or (language == "en" and _ENGLISH_I.match(word)):
            return word[0] + word[1:].lower()
        return word.lower()

    changed = [match for match in _WORD.finditer(text) if small(match) != match[0]]
    # A piece and </s>.
    common = [word for word in within if without[word] == 2]
    return SmallLetters(
        text=_WORD.sub(small, text), common=len(common), others=len(within) - len(common), changed=len(changed)
    )


def out_of_title_case(text: str, vocabulary: Pieces, language: str, starts: Iterable[int]) -> str:
    """Rewrites a text that looks like a title in sentence case; other texts are returned unchanged.

    Four names in a row look like a title, but have no common word. "It is Central Park in New York" is no title either,
    so more evidence is required where small words have no capital.

    Args:
        text: a text that is `in_title_case`.
        vocabulary: the source vocabulary.
        language: the language of the text.
        starts: the positions where its sentences begin.
    """
    found = in_small_letters(text, vocabulary, language, starts)
    needed = 2 if all(match[0][0].isupper() for match in _WORD.finditer(text)) else 3
    return found.text if found.common >= max(needed, 2 * found.others) else text


def with_first_capital(source: str, text: str, language: str) -> str:
    """Returns a translation that begins with a capital as its source does.

    A first word that the source has too, or that has a capital inside, as program names do, is left unchanged. A
    capital at the start of a German text may be a noun's, so it is ignored.

    Args:
        source: the translated text.
        text: its translation.
        language: the language of the source.
    """
    theirs, ours = _FIRST_WORD.match(source), _FIRST_WORD.match(text)
    if language == "de" or theirs is None or ours is None or not theirs[1][0].isupper() or not ours[1].islower():
        return text
    capital = ours[1][0].upper()
    if len(capital) > 1 or re.search(rf"(?<!\w){re.escape(ours[1])}(?!\w)", source):
        return text
    return text[: ours.start(1)] + capital + text[ours.start(1) + 1 :]


def with_source_capitals(source: str, text: str) -> str:
    """Returns a translation whose words with a capital inside are spelled as in the source: CoSPAR becomes COSPAR.

    Args:
        source: the translated text.
        text: its translation; a word that the source has with these capitals, or not at all, is left unchanged.
    """
    if not _CAPITAL_INSIDE.search(text):
        return text
    words = set(_LETTERS.findall(source))
    names = {word.lower(): word for word in words if not word.islower()}

    def spelled(match: re.Match[str]) -> str:
        word = match[0]
        is_odd = word not in words and _CAPITAL_INSIDE.search(word)
        return names.get(word.lower(), word) if is_odd else word

    return _LETTERS.sub(spelled, text)
