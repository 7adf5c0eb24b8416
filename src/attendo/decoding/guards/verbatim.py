"""Text that is no language: base64, hashes, minified code, endless repetitions, tables of symbols.

A model can only invent a translation for it, and takes longer over it than over any sentence. It is located by script
and statistics. White space alone is no evidence: Chinese, Japanese, Thai, Lao, Khmer, Burmese and Tibetan have none
between words, and a German compound may have eighty letters. Every pattern is longer than in natural language, so that
a word or an odd sentence never matches.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attendo.text.patterns import compiled

UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1bff\u2e80-\u312f\u3190-\ua4cf\ua980-\ua9ff"
    "\uaa60-\uaadf\uf900-\ufaff\uff61-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts that are written without spaces between words, as ranges of a character class: Thai, Lao, Tibetan, Burmese,
Khmer, Chinese, Japanese, Yi, Javanese and their neighbours."""

# Lengths in characters below which text is not examined.
_SHORTEST = 16
_SHORTEST_STRETCH = 64
_SHORTEST_TABLE = 48
_MIN_DENSE = 20
_MIN_OPAQUE = 20
_MIN_RUN = 40
_LONG_RUN = 80
_NEVER_A_RUN = 120
_NEVER_AN_ADDRESS = 400
_NEVER_A_WORD = 90
_MIN_SENTENCE_LETTERS = 100

_SUSPECT = rf"[^\s{UNSPACED}]{{16}}|(\S{{1,8}})\1{{15}}"
_RUN = rf"[^\s{UNSPACED}]{{16,}}"
_REPEATED = re.compile(r"(\S{1,12}?)\1{9,}")  # as long as _MOST_REPEATED
_MIN_REPEATED = 32
_MOST_REPEATED = 12
_LONG_TEXT = 200
_OPAQUE = re.compile(r"[A-Za-z0-9_+/=-]{16,}")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})")
# From small to large, from letter to digit and back; a capital before small letters is how words are written.
_SWITCH = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]|(?<=[A-Z][A-Z])[a-z]")
_WORD = re.compile("[^\\W\\d_]+")
_WORD_OF_THREE = re.compile("[^\\W\\d_]{3}")
_UNSPACED_LETTER = f"[{UNSPACED}]"
_RUN_OF_ANY = re.compile(r"\S+")
# Sixty characters or more in which no three letters are adjacent.
_GAP = re.compile(r"(?:[^\W\d_]{0,2}+(?![^\W\d_])[\W\d_]){20}")
_LONG_WORD = re.compile("[^\\W\\d_]{40,}")
_ALPHABET = "[A-Za-z\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]+"
"""Letters of Latin, Greek and Cyrillic, in which no word is longer than German's compounds."""
_LATIN = "[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"
_VOWEL = (
    "[aeiouy\u00e0-\u00e6\u00e8-\u00ef\u00f2-\u00f6\u00f8-\u00fd\u00ff\u0101\u0103\u0105\u0113\u0115\u0117\u0119\u011b"
    "\u0129\u012b\u012d\u012f\u0131\u014d\u014f\u0151\u0153\u0169\u016b\u016d\u016f\u0171\u0173\u0177\u01a1\u01b0"
    "\u1ea0-\u1ef9]"
)
_CONSONANTS = re.compile("[b-df-hj-np-tv-xz]{11}")
_CLUSTER = re.compile("[b-df-hj-np-tv-xz]{4,}")
_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_CODE = re.compile(r"[(){}\[\];=<>$&|\\^~@#*]")
_LINK_OR_TAG = re.compile(r"://|\]\(|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>")
_MARKS_AROUND = "`\"'“”„‚‘’«»‹›()[]{}<>.,;:!?…-–—*_"
_FINAL = r"\w\W*[.!?。！？]\W*$"
_MIN_TIMES = 10
_MAX_PERIOD = 8
_MIN_CODE = 7
_MIN_MARKS = 8
_MIN_LETTERS = 3  # more than the two of a time such as 2024-05-31T10:15:30Z
_MIN_CODE_SHARE = 0.09
_NEARLY_ALL = 0.8
_FEWEST_VOWELS = 0.22
_MOST_IN_CLUSTERS = 0.3
"""Maximum share of letters between three other consonants or more; at most 0.23 in a German sentence."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a text that is no language; no white space is at its ends."""

    start: int
    """Position of its first character."""
    end: int
    """The position after the last character."""


def verbatim(text: str) -> list[Stretch]:
    """Finds the stretches of a line that are no language, in order and without overlaps.

    Args:
        text: a line. A text of several lines is searched line by line.
    """
    if len(text) < _SHORTEST:
        return []
    if "\n" in text:
        lines = re.finditer("[^\n]+", text)
        return [Stretch(line.start() + a.start, line.start() + a.end) for line in lines for a in verbatim(line[0])]
    has_long_run = max(map(len, text.split()), default=0) >= _SHORTEST  # which few lines have, and _SUSPECT needs
    found = list(_in_runs(text)) if has_long_run and compiled(_SUSPECT).search(text) else []
    if len(text) >= _MIN_RUN:
        found += _repeated_words(text)
    if len(text) >= _SHORTEST_TABLE:
        found += _wordless(text)
        if _has_too_many_consonants(_without(text, found)):
            start = len(text) - len(text.lstrip())
            found = [Stretch(start, len(text.rstrip()))]
    return _joined(text, found) if found else []


def has_words_besides(text: str, stretches: Sequence[Stretch]) -> bool:
    """Whether there is a letter outside the stretches."""
    position = 0
    for stretch in stretches:
        if _WORD.search(text, position, stretch.start):
            return True
        position = stretch.end
    return bool(_WORD.search(text, position))


# --- a run without white space ----------------------------------------------------------------------------------------


def _in_runs(text: str) -> Iterator[Stretch]:
    for match in compiled(_RUN).finditer(text):
        run, start = match[0], match.start()
        if len(run) < _NEVER_AN_ADDRESS and (_LINK_OR_TAG.search(run) or run.lower().startswith("www.")):
            continue
        repeated = [found for found in _repeated(run) if len(found[0]) >= _MIN_REPEATED]
        if repeated:
            yield from (Stretch(start + found.start(), start + found.end()) for found in repeated)
        else:
            opaque = [token for token in _OPAQUE.finditer(run) if _is_opaque(token[0])]
            if _is_no_word(run) and sum(len(token[0]) for token in opaque) < _NEARLY_ALL * len(run):
                yield Stretch(start, match.end())
            else:
                yield from (Stretch(start + token.start(), start + token.end()) for token in opaque)
    # Repetitions in the scripts that _RUN does not cover.
    for found in _repeated(text):
        if len(found[0]) >= _SHORTEST_STRETCH:
            yield Stretch(*found.span())


def _repeated(text: str) -> Iterable[re.Match[str]]:
    """Finds repetitions of at least 32 characters; comparing the text with itself rules out most long texts."""
    if len(text) > _LONG_TEXT:
        characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        if not any(_repeats(characters, period) for period in range(1, _MOST_REPEATED + 1)):
            return ()
    return _REPEATED.finditer(text)


def _repeats(characters: npt.NDArray[np.uint32], period: int) -> bool:
    """Whether sixteen consecutive characters equal those one period before them."""
    equal = characters[period:] == characters[:-period]
    for shift in (1, 2, 4, 8):
        equal = equal[shift:] & equal[:-shift]
    return bool(equal.any())


def _is_opaque(token: str) -> bool:
    """Whether letters and digits are a hash, a key or encoded bytes."""
    digits = sum(map(str.isdigit, token))
    if _UUID.fullmatch(token):
        return True
    if _HEX.fullmatch(token):
        return digits >= 3 and len(token) - digits >= 2
    length = sum(map(str.isalnum, token))
    return length >= _MIN_OPAQUE and digits >= 1 and len(_SWITCH.findall(token)) >= 0.3 * length


def _is_no_word(run: str) -> bool:
    """Whether a run as a whole is neither a word nor words joined by punctuation."""
    length, letters, marks = len(run), sum(map(str.isalpha, run)), len(compiled(_MARKS).findall(run))
    if marks >= _MIN_MARKS and marks > letters:
        return True
    digits = sum(map(str.isdigit, run))
    if length < _MIN_RUN:
        return length >= _MIN_DENSE and run.isascii() and _MIN_LETTERS <= letters < 0.45 * length
    # Other alphabets have characters within words that Python does not count as letters.
    known = letters - sum(map(len, compiled(_ALPHABET).findall(run))) < 0.1 * length
    if length >= _NEVER_A_RUN and known:
        return True
    signs = length - letters - marks - digits
    switches = len(_SWITCH.findall(run))
    if known and signs + switches >= (0.35 if length >= _LONG_RUN else 0.45) * length:
        return True
    return any(_is_odd_word(word[0]) for word in _LONG_WORD.finditer(run))


def _is_odd_word(word: str) -> bool:
    """Whether forty letters or more are no word: too long for one, or an impossible combination of letters."""
    alphabet = compiled(_ALPHABET).fullmatch(word)
    if alphabet and len(word) > _NEVER_A_WORD:
        return True
    small = word.lower()
    if len(set(small)) <= 6:
        return True
    if not alphabet or not compiled(_LATIN).match(word):
        return False
    vowels = len(compiled(_VOWEL).findall(small)) / len(small)
    return not 0.2 <= vowels <= 0.75 or bool(_CONSONANTS.search(small))


# --- several runs -----------------------------------------------------------------------------------------------------


def _repeated_words(text: str) -> Iterator[Stretch]:
    """Finds places where the same one to eight words occur ten times in a row."""
    texts = text.split()
    if len(texts) < _MIN_TIMES or len(set(texts)) > 0.8 * len(texts):
        return
    words = [match.span() for match in _RUN_OF_ANY.finditer(text)]
    for period in range(1, min(_MAX_PERIOD, len(words) // _MIN_TIMES) + 1):
        run = 0
        for place in range(period, len(words) + 1):
            if place < len(words) and texts[place] == texts[place - period]:
                run += 1
                continue
            # Repeated sentences are still sentences.
            is_long = run >= (_MIN_TIMES - 1) * period
            if is_long and not any(compiled(_FINAL).search(each) for each in texts[place - period : place]):
                start, end = words[place - run - period][0], words[place - 1][1]
                if end - start >= _MIN_RUN:
                    yield Stretch(start, end)
            run = 0


def _wordless(text: str) -> Iterator[Stretch]:
    """Finds places with hardly any words among signs, digits, single letters and code."""
    if not _GAP.search(text) and len(_CODE.findall(text)) < _MIN_CODE:
        return
    words = [match.span() for match in _RUN_OF_ANY.finditer(text)]
    kinds = [_kind(text[start:end]) for start, end in words]
    first = 0
    while first < len(words):
        behind = _behind_wordless(kinds, first)
        while first < behind and kinds[first] == "short":
            first += 1
        last = behind - 1
        while last > first and kinds[last] == "short":
            last -= 1
        if last >= first and words[last][1] - words[first][0] >= _SHORTEST_TABLE:
            stretch = Stretch(words[first][0], words[last][1])
            if _has_no_sense(text[stretch.start : stretch.end], kinds[first : last + 1]):
                yield stretch
        first = max(first + 1, behind)


def _behind_wordless(kinds: Sequence[str], first: int) -> int:
    """The first run from `first` on that is a word.

    A word between two pieces of code, such as `return`, counts as code.
    """
    place = first
    while place < len(kinds):
        if kinds[place] == "word" and not (
            place > first and kinds[place - 1] == "code" and kinds[place + 1 : place + 2] == ["code"]
        ):
            break
        place += 1
    return place


def _kind(run: str) -> str:
    """Classifies text between spaces as a word, a short word, code, or a sign (also digits and single letters)."""
    core = run.strip(_MARKS_AROUND)
    if not core.isascii() and (
        compiled(_UNSPACED_LETTER).search(core) or (_WORD.search(core) and not compiled(_LATIN).search(core))
    ):
        return "word"
    if _WORD_OF_THREE.search(core):
        return "code" if _CODE.search(core) else "word"  # brackets around a word are a sentence's
    if not core.isalpha():
        return "sign"
    return "short" if len(core) == 2 and compiled(_VOWEL).search(core.lower()) else "sign"


def _has_no_sense(content: str, kinds: Sequence[str]) -> bool:
    """Whether a stretch without plain words is no language in other respects too."""
    if kinds.count("short") > 0.5 * len(kinds) or _LINK_OR_TAG.search(content):  # as in "if it is so, do as he is"
        return False
    if "word" in kinds or "code" in kinds:
        return len(content) >= _LONG_RUN and len(_CODE.findall(content)) >= _MIN_CODE_SHARE * len(content)
    if len(content) < (_SHORTEST_STRETCH if "short" in kinds else _SHORTEST_TABLE):
        return False
    if len(re.findall(r"[,;](?!\S)", content)) > 0.5 * len(kinds):  # a list, as of "d", "f" and "g"
        return False
    # Numbers alone are not made up by a model.
    return bool(_WORD.search(content)) or not any(map(str.isdigit, content))


def _without(text: str, stretches: Sequence[Stretch]) -> str:
    """Removes stretches, which may overlap, from a text."""
    rest, position = [], 0
    for stretch in sorted(stretches, key=lambda each: each.start):
        rest.append(text[position : stretch.start])
        position = max(position, stretch.end)
    return "".join((*rest, text[position:]))


def _has_too_many_consonants(text: str) -> bool:
    """Whether the letters of a long line in Latin script are no language's: every language has vowels between them."""
    small = text.lower()
    if len(text) < _MIN_SENTENCE_LETTERS or sum(map(small.count, "aeiou")) > 0.3 * len(text):
        return False
    latin = len(compiled(_LATIN).findall(small))
    if latin < _MIN_SENTENCE_LETTERS or 2 * latin < sum(map(str.isalpha, small)):
        return False
    in_clusters = sum(map(len, _CLUSTER.findall(small)))
    return in_clusters > _MOST_IN_CLUSTERS * latin or len(compiled(_VOWEL).findall(small)) < _FEWEST_VOWELS * latin


def _joined(text: str, found: Sequence[Stretch]) -> list[Stretch]:
    """Stretches in their order, those put together between which there is no language either."""
    joined: list[Stretch] = []
    for stretch in sorted(found, key=lambda each: each.start):
        if joined and _belongs(text[joined[-1].end : stretch.start]):
            joined[-1] = Stretch(joined[-1].start, max(joined[-1].end, stretch.end))
        else:
            joined.append(stretch)
    return joined


def _belongs(between: str) -> bool:
    """Whether the text between two stretches has no letters and digits, or is a piece of code."""
    return not any(map(str.isalnum, between)) or len(_CODE.findall(between)) >= max(3, 0.1 * len(between))
