"""Rules for dropping training pairs by their two sides: length, numbers, copies, languages."""

import re
from collections import Counter
from dataclasses import dataclass

from attendo.text.common_words import evident_language

# "Hi!" and a polite sentence may translate each other: below this length no ratio is telling.
_RATIO_FLOOR = 10
_COPY_WORDS = 4
# Separators between the digits of one number: 1,500.25 is 1.500,25 in German and 1 500,25 in French.
_BETWEEN_DIGITS = re.compile(r"(?<=\d)(?:[.,'’]|[ \u00a0\u202f](?=\d{3}(?!\d)))(?=\d)")
_NUMBER = re.compile(r"\d{2,}")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, kw_only=True)
class CleaningConfig:
    """Rules for dropping training pairs. A validation set is never cleaned."""

    max_words: int = 250
    """Maximum number of words (separated by white space) on either side."""
    max_characters: int = 2000
    """Maximum number of characters on either side; the effective limit for scripts without spaces."""
    max_tokens: int = 1024
    """Maximum number of subword tokens on either side, including `</s>`."""
    max_ratio: float = 9.0
    """Maximum ratio of the two sides' lengths in characters; a side shorter than 10 characters counts as 10."""
    numbers_agree: bool = False
    """Drop pairs whose sides contain different numbers. Numbers of a single digit are ignored, and so are the
    separators between digits: 1,500.25 agrees with 1.500,25."""
    max_copied: float = 1.0
    """Maximum share of the target's words that also occur in the source, for sides of four words or more; 1.0 for no
    limit. Nearly all words of untranslated text do."""
    check_languages: bool = False
    """Drop pairs with a side that is evidently in another language than the recipe's, judged by common words. Knows
    German, English, Spanish, French, Italian, Dutch and Portuguese."""
    drop_duplicates: bool = True
    """Drop pairs that occurred before, in any of the corpora."""
    near_duplicates: bool = False
    """Also count pairs as duplicates that differ only in case, digits, punctuation or spacing; sides of fewer than 20
    letters must be identical."""

    def __post_init__(self) -> None:
        """Rejects limits that would drop everything, and contradictory settings, all at once.

        Raises:
            ValueError: a limit is less than 1, `max_copied` is no share, or near-duplicates are to be found where
                duplicates are kept.
        """
        limits = {key: getattr(self, key) for key in ("max_words", "max_characters", "max_tokens", "max_ratio")}
        problems = [
            f"{key} = {value} is less than 1; take 1 or more" for key, value in limits.items() if not value >= 1
        ]
        if not 0.0 < self.max_copied <= 1.0:
            problems.append(
                f"max_copied = {self.max_copied} is not above 0 and at most 1; take 0.8, or 1.0 for no limit"
            )
        if self.near_duplicates and not self.drop_duplicates:
            problems.append("near_duplicates = true needs drop_duplicates = true")
        if problems:
            raise ValueError("; ".join(problems))


def pair_fault(source: str, target: str, cleaning: CleaningConfig, languages: tuple[str, str] = ("", "")) -> str | None:
    """Returns why a pair is dropped, one of `text.cleaning.DROP_REASONS`, or None.

    Args:
        source: without white space at its ends.
        target: without white space at its ends.
        cleaning: the rules for dropping pairs.
        languages: the codes of both sides, for `cleaning.check_languages`; empty where unknown.
    """
    if not source or not target:
        return "empty"
    longer, shorter = max(len(source), len(target)), min(len(source), len(target))
    if longer > cleaning.max_characters:
        return "too_long"
    # n words have 2n - 1 characters at least, so most lines need no counting.
    if longer >= 2 * cleaning.max_words and max(len(source.split()), len(target.split())) > cleaning.max_words:
        return "too_long"
    if max(longer, _RATIO_FLOOR) > cleaning.max_ratio * max(shorter, _RATIO_FLOOR):
        return "ratio"
    if cleaning.numbers_agree and not numbers_agree(source, target):
        return "numbers"
    if cleaning.max_copied < 1.0 and copied_share(source, target) > cleaning.max_copied:
        return "copied"
    if cleaning.check_languages and any(map(_is_other_language, (source, target), languages)):
        return "language"
    return None


def numbers_agree(source: str, target: str) -> bool:
    """Whether both sides have the same numbers of two digits or more, or in total the same digits.

    Small numbers may well be words on one side. Digits that are the same in another order are a date's, 12/31/2020 and
    31.12.2020.
    """
    joined = [_BETWEEN_DIGITS.sub("", side) for side in (source, target)]
    numbers = [{found.lstrip("0") for found in _NUMBER.findall(side)} for side in joined]
    ours, theirs = ({number for number in side if len(number) > 1} for side in numbers)
    return ours == theirs or Counter(_DIGIT.findall(source)) == Counter(_DIGIT.findall(target))


def copied_share(source: str, target: str) -> float:
    """Returns the share of the target's words that the source has too, ignoring case; 0 for a short side.

    A word has two letters or more; a side is short that has fewer than four words.
    """
    ours, theirs = (Counter(_WORD.findall(side.casefold())) for side in (source, target))
    if min(ours.total(), theirs.total()) < _COPY_WORDS:
        return 0.0
    return (ours & theirs).total() / theirs.total()


def _is_other_language(text: str, language: str) -> bool:
    """Whether a text is evidently in a language other than the given one; False where that is not known."""
    found = evident_language(text) if language else None
    return found is not None and found != language
