"""Faults of translations that are visible without a reference: emptiness, copies, loops, odd lengths."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

COPY_WORDS = 3
"""Words of letters that a source has at least before a translation equal to it counts as a copy; names stay."""
LOOP_TIMES = 3
"""An n-gram of words that comes so often in a row is a loop, of whatever length n."""
LETTER_LOOP_TIMES = 5
"""The same of one to eight letters within a word."""
MAX_LENGTH_RATIO = 2.0
"""A translation is too long, or too short, where it has more than so many times the characters that are to be expected,
or they more than it."""
LENGTH_FLOOR = 20
"""Characters that a side counts as at least for that: short lines may well differ by more."""
MAX_WORDS_OF_ONE = 4
"""Words that the translation of a single word may have."""

_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTER_LOOP = re.compile(rf"([^\W\d_]{{1,8}}?)\1{{{LETTER_LOOP_TIMES - 1}}}")

DEFINITIONS = {
    "empty": "nothing but white space",
    "copied": (
        f"the source's words in its order, whatever their case and punctuation; of sources of {COPY_WORDS} words and "
        "more whose reference is another text"
    ),
    "looping": (
        f"words that come {LOOP_TIMES} times in a row, or letters {LETTER_LOOP_TIMES} times within a word, where the "
        "source has no such thing"
    ),
    "too_long": (
        f"more than {MAX_LENGTH_RATIO:g} times the characters to be expected, which are the source's times the "
        f"references' share of them on the whole test set; {LENGTH_FLOOR} count as the least"
    ),
    "too_short": f"less than 1/{MAX_LENGTH_RATIO:g} of them",
}
"""What each fault is, for people."""


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Number of translations with each fault; one translation can have several."""

    lines: int
    """Number of sources that are not blank; blank ones are not checked."""
    empty: int
    comparable: int
    """Sources that could be copied: `COPY_WORDS` and more, and their reference is another text."""
    copied: int
    """Number of `comparable` translations that copy their source."""
    looping: int
    too_long: int
    too_short: int
    """Empty ones are not counted here again."""


@dataclass(frozen=True, kw_only=True)
class OneWord:
    """Results for sources of a single word."""

    words: int
    good: int
    """Translations of 1 to `MAX_WORDS_OF_ONE` words."""
    empty: int
    too_long: int
    """Number of translations of more than `MAX_WORDS_OF_ONE` words."""


def faults(
    sources: Sequence[str],
    outputs: Sequence[str],
    references: Sequence[str] | None = None,
    *,
    expected_ratio: float = 1.0,
) -> Faults:
    """Counts the faults of translations.

    Args:
        sources: the translated sentences.
        outputs: their translations.
        references: the reference translations, if known; a source that equals its reference is not a copy.
        expected_ratio: characters of a translation for one of its source.
    """
    full = [line for line, source in enumerate(sources) if source.strip()]
    comparable = [line for line in full if len(_LETTERS.findall(sources[line])) >= COPY_WORDS]
    if references is not None:
        comparable = [line for line in comparable if not is_copy(sources[line], references[line])]

    def count(lines: Sequence[int], is_fault: Callable[[str, str], bool]) -> int:
        return sum(is_fault(sources[line], outputs[line]) for line in lines)

    return Faults(
        lines=len(full),
        empty=count(full, lambda source, output: not output.strip()),
        comparable=len(comparable),
        copied=count(comparable, is_copy),
        looping=count(full, lambda source, output: loops(output) and not loops(source)),
        too_long=count(full, lambda source, output: _excess(output, source, expected_ratio) > MAX_LENGTH_RATIO),
        too_short=count(
            full,
            lambda source, output: (
                bool(output.strip()) and _excess(output, source, expected_ratio) < 1 / MAX_LENGTH_RATIO
            ),
        ),
    )


def one_word(outputs: Sequence[str]) -> OneWord:
    """Counts what became of words that were translated alone."""
    lengths = [len(output.split()) for output in outputs]
    return OneWord(
        words=len(lengths),
        good=sum(1 <= length <= MAX_WORDS_OF_ONE for length in lengths),
        empty=lengths.count(0),
        too_long=sum(length > MAX_WORDS_OF_ONE for length in lengths),
    )


def is_copy(source: str, output: str) -> bool:
    """Whether a translation has its source's words, in their order and whatever their case, and no others."""
    words = _words(source)
    return bool(words) and words == _words(output)


def loops(text: str) -> bool:
    """Whether words, one or several, come `LOOP_TIMES` times in a row, or letters within a word more often still."""
    if _LETTER_LOOP.search(text):
        return True
    words = _words(text)
    for length in range(1, len(words) // LOOP_TIMES + 1):
        run = 0  # so many words in a row are those of `length` words before
        for word, earlier in zip(words[length:], words, strict=False):
            run = run + 1 if word == earlier else 0
            if run == length * (LOOP_TIMES - 1):
                return True
    return False


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _excess(output: str, source: str, expected_ratio: float) -> float:
    expected = max(len(source.strip()) * expected_ratio, LENGTH_FLOOR)
    return max(len(output.strip()), LENGTH_FLOOR) / expected
