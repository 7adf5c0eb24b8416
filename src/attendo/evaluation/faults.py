"""Faults of translations that are visible without a reference: empty output, copies, loops, implausible lengths."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

COPY_WORDS = 3
"""Minimum number of words in a source for an equal translation to count as a copy; shorter ones may be names."""
LOOP_TIMES = 3
"""Number of consecutive occurrences from which an n-gram of words, of any length n, is a loop."""
LETTER_LOOP_TIMES = 5
"""Number of consecutive occurrences from which a group of one to eight letters within a word is a loop."""
MAX_LENGTH_RATIO = 2.0
"""Maximum ratio of a translation's number of characters to the expected one, or of the expected one to the
translation's; beyond it the translation is too long, or too short."""
LENGTH_FLOOR = 20
"""Minimum number of characters that either side of that ratio counts as; in short lines larger ratios are normal."""
MAX_WORDS_OF_ONE = 4
"""Maximum number of words in a good translation of a single word."""

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
"""Definitions of the faults, for people."""


@dataclass(frozen=True, kw_only=True)
class Faults:
    """Number of translations with each fault; one translation can have several."""

    lines: int
    """Number of sources that are not blank; blank ones are not checked."""
    empty: int
    comparable: int
    """Number of sources that could be copied: they have at least `COPY_WORDS` words and differ from their reference."""
    copied: int
    """Number of `comparable` translations that copy their source."""
    looping: int
    too_long: int
    too_short: int
    """Number of translations that are too short, without the empty ones."""


@dataclass(frozen=True, kw_only=True)
class OneWord:
    """Results for sources of a single word."""

    words: int
    good: int
    """Number of translations of 1 to `MAX_WORDS_OF_ONE` words."""
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
        expected_ratio: expected number of characters in a translation per character of its source.
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
    """Counts the lengths of translations of single words."""
    lengths = [len(output.split()) for output in outputs]
    return OneWord(
        words=len(lengths),
        good=sum(1 <= length <= MAX_WORDS_OF_ONE for length in lengths),
        empty=lengths.count(0),
        too_long=sum(length > MAX_WORDS_OF_ONE for length in lengths),
    )


def is_copy(source: str, output: str) -> bool:
    """Returns whether a translation consists of its source's words in their order, ignoring case."""
    words = _words(source)
    return bool(words) and words == _words(output)


def loops(text: str) -> bool:
    """Returns whether words occur `LOOP_TIMES` times in a row, or letters in a word `LETTER_LOOP_TIMES` times."""
    if _LETTER_LOOP.search(text):
        return True
    words = _words(text)
    for length in range(1, len(words) // LOOP_TIMES + 1):
        run = 0  # number of consecutive words that equal the word `length` words earlier
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
