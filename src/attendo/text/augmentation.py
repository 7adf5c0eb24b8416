"""Augmentation: changes pairs during training, so that a model learns phenomena that its corpora lack.

These are other cases, typing errors, missing full stops, several sentences in a line, and unknown names. Each function
takes a pair and returns one that is equally correct. The corpus itself is unchanged: a pair is changed again each time
it occurs.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from attendo.text.made_up import name, number, program_string
from attendo.text.proper_names import ProperNames, letter_line, proper_names, with_other_names

_FINAL = ".!?\u2026"
# Not the number inside a placeholder, ⟦1⟧.
_WORD = re.compile(r"(?<!⟦)\w+(?:[-'’]\w+)*")
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_LETTERS_A_SLIP = 20
# Digits that are not part of a word, and the separators within a number, date or time.
_DIGITS = re.compile(r"(?<![\w⟦])\d+(?!\w)")
_BETWEEN_DIGITS = ".,:/'’-\u00a0\u202f"
# The characters around a string in a sentence, and those that mark program strings: signs and digits within it, or
# capitals.
_BEFORE_STRING, _BEHIND_STRING = "(\"'“„«‘", ".,;:!?\"'”“»…"
_OF_A_PROGRAM = re.compile(r"[_/\\$%@=<>#~^|&{}`]|[^\W\d_]\d|\w[.:+-]\w|\w\(|^--?\w|[^\W\d_A-Z][A-Z]")
MAX_JOINED = 4
"""Pairs of a line, at most, where pairs are joined."""

_Kind = tuple[float, Callable[[str, str, random.Random], tuple[str, str]]]
"""A share, and the function that changes a pair."""


@dataclass(frozen=True, kw_only=True)
class AugmentationConfig:
    """Shares of the training pairs that are changed, each kind drawn for itself; 0 leaves a kind out."""

    joined: float = 0.0
    """Share of pairs that are concatenated, two to four per line; each pair still occurs once per epoch."""
    casing: float = 0.0
    """Share of pairs whose source is lower-cased, has only its first letter lower-cased, is in Title Case, or has a
    word in CAPITALS."""
    punctuation: float = 0.0
    """Share of pairs without their final full stop or with several, or with a source without commas or with other
    quotation marks."""
    typos: float = 0.0
    """Share of pairs with typing errors in the source: letters swapped, dropped, doubled or replaced by a neighbouring
    key, about one in twenty."""
    copies: float = 0.0
    """Share of the pairs with a common name or number in which it is replaced on both sides by a made-up one."""
    names: float = 0.0
    """Share of pairs in which people and cities that both sides name get other names; for English, German and
    French."""
    letters: float = 0.0
    """Share of pairs that give way to a line of a letter with made-up names, or stand behind one: a salutation, a
    closing, an introduction; for English, German and French."""
    strings: float = 0.0
    """Share of pairs that get a made-up program string (version, identifier, hash, file name, option, code) or a word
    in another script on both sides, in place of a string they share or else at an end."""
    placeholders: float = 0.0
    """Share of pairs that get a placeholder on both sides, for a shared name or number or at an end; needs
    `tokenizer.placeholders`."""
    same_language: float = 0.0
    """Share of pairs whose source is replaced by their target, so that text that needs no translation stays as it
    is."""

    def __post_init__(self) -> None:
        """Rejects invalid shares, all of them at once.

        Raises:
            ValueError: a share is not within 0 and 1.
        """
        shares = {kind.name: getattr(self, kind.name) for kind in fields(self)}
        wrong = [
            f"{kind} = {share} is not within 0 and 1; take 0.1, or 0.0"
            for kind, share in shares.items()
            if not 0 <= share <= 1
        ]
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def needs_names(self) -> bool:
        """Whether tables of names in both languages are required."""
        return bool(self.names or self.letters)

    @property
    def is_off(self) -> bool:
        """Whether no pair is changed."""
        return self == AugmentationConfig()


class Augmentation:
    """Changes pairs according to a config.

    Args:
        config: the shares.
        placeholders: the vocabulary's placeholders, from `Tokenizer.placeholders`.
        languages: the codes of source and target, for names in them; `und`, undetermined, if no names are needed.

    Raises:
        ValueError: names are needed, and there are none for these languages.
    """

    def __init__(
        self, config: AugmentationConfig, placeholders: Sequence[str], languages: tuple[str, str] = ("und", "und")
    ) -> None:
        self.config = config
        # In the order of application: changes that look for names come before changes of case.
        self._kinds: tuple[_Kind, ...] = (
            (config.same_language, lambda source, target, rng: (target, target)),
            *(_with_names(config, proper_names(*languages)) if config.needs_names else ()),
            (config.copies, with_made_up_names),
            (config.strings, with_made_up_strings),
            (config.placeholders, lambda source, target, rng: with_placeholders(source, target, placeholders, rng)),
            (config.punctuation, with_other_punctuation),
            (config.typos, lambda source, target, rng: (with_typos(source, rng), target)),
            (config.casing, lambda source, target, rng: (in_another_case(source, rng), target)),
        )

    def __call__(self, source: str, target: str, rng: random.Random) -> tuple[str, str]:
        """Changes a pair for one occurrence; a change that would empty a side, such as a lone full stop, is skipped."""
        for share, change in self._kinds:
            if share and rng.random() < share:
                changed = change(source, target, rng)
                if all(side.strip() for side in changed):
                    source, target = changed
        return source, target


def _with_names(config: AugmentationConfig, names: ProperNames) -> list[_Kind]:
    """The changes that use the tables of names."""
    return [
        (config.names, lambda source, target, rng: with_other_names(source, target, names, rng)),
        (config.letters, lambda source, target, rng: with_letter_line(source, target, names, rng)),
    ]


def in_another_case(text: str, rng: random.Random) -> str:
    """The text in lower case (half the time), in Title Case, with a small first letter, or with a word in capitals."""
    way = rng.random()
    if way < 0.5:
        return text.lower()
    if way < 0.7:
        return _WORD.sub(lambda word: word[0][:1].upper() + word[0][1:], text)
    if way < 0.85:
        return text[:1].lower() + text[1:]
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = rng.choice(words)
    return text[: word.start()] + word[0].upper() + text[word.end() :]


def with_other_punctuation(source: str, target: str, rng: random.Random) -> tuple[str, str]:
    """The pair without its final marks (most often) or with more of them; the source without commas or other quotes."""
    way = rng.random()
    both_end = source[-1:] in _FINAL and target[-1:] in _FINAL
    if way < 0.65 and both_end:
        return source.rstrip(_FINAL), target.rstrip(_FINAL)
    if way < 0.75 and both_end:
        more = source[-1] * rng.randint(1, 2)
        return source + more, target + more
    if way < 0.88:
        return source.replace(",", ""), target
    return source.replace("'", "’").replace('"', "“") if "'" in source else source.replace('"', ""), target


def with_typos(text: str, rng: random.Random) -> str:
    """The text with a typing error in about every twentieth letter, at least one."""
    letters = list(text)
    places = [place for place, letter in enumerate(letters) if letter.isalpha()]
    for _ in range(rng.randint(1, 1 + len(places) // _LETTERS_A_SLIP) if places else 0):
        place = rng.choice(places)
        letter, way = letters[place], rng.randrange(4)
        if way == 0:
            letters[place] = ""
        elif way == 1:
            letters[place] = letter * 2
        elif way == 2 and place + 1 < len(letters) and letters[place + 1].isalpha():
            letters[place], letters[place + 1] = letters[place + 1], letter
        else:
            letters[place] = _beside(letter, rng)
    return "".join(letters)


def with_made_up_names(source: str, target: str, rng: random.Random) -> tuple[str, str]:
    """The pair with another name or number wherever both sides share one."""
    source, target = with_other_digits(source, target, rng)
    for shared in _shared(source, target):
        if not shared.isdigit():
            made_up = name(rng)
            source, target = _replaced(source, shared, made_up), _replaced(target, shared, made_up)
    return source, target


def with_letter_line(source: str, target: str, names: ProperNames, rng: random.Random) -> tuple[str, str]:
    """A line of a letter in place of the pair or, half the time if the pair is a sentence, before it."""
    line = letter_line(names, rng)
    if all(side[-1:] in _FINAL for side in line) and rng.random() < 0.5:
        return f"{line[0]} {source}", f"{line[1]} {target}"
    return line


def with_other_digits(source: str, target: str, rng: random.Random) -> tuple[str, str]:
    """The pair with other digits wherever both sides have the same ones, once each.

    A separate number may change its length. Digits of a longer number, date or time are replaced by equally many, so
    that their separators stay valid on both sides: 1,249.50 and 1.249,50 become 3,807.14 and 3.807,14.
    """
    ours, theirs = Counter(_DIGITS.findall(source)), Counter(_DIGITS.findall(target))
    shared = [digits for digits, count in ours.items() if count == 1 and theirs[digits] == 1]
    parts = {match[0] for side in (source, target) for match in _DIGITS.finditer(side) if _is_part(side, match)}
    others = {digits: _as_many(digits, rng) if digits in parts else number(rng) for digits in shared}

    def other(match: re.Match[str]) -> str:
        return others.get(match[0], match[0])

    return _DIGITS.sub(other, source), _DIGITS.sub(other, target)


def with_made_up_strings(source: str, target: str, rng: random.Random) -> tuple[str, str]:
    """The pair with made-up strings in place of shared program strings; if there are none, one is added.

    The added string is at one end of both sides.
    """
    shared = _shared_strings(source, target)
    for string in shared:
        made_up = program_string(rng)
        source, target = source.replace(string, made_up, 1), target.replace(string, made_up, 1)
    return (source, target) if shared else _with_at_an_end(source, target, program_string(rng), rng)


def with_placeholders(source: str, target: str, symbols: Sequence[str], rng: random.Random) -> tuple[str, str]:
    """The pair with placeholders for strings that both sides share; if there are none, one is added at an end."""
    free = rng.sample(list(symbols), len(symbols))
    chosen = [string for string in _shared_strings(source, target) if rng.random() < 0.8][: len(free)]
    for string in chosen:
        symbol = free.pop()
        source, target = source.replace(string, symbol, 1), target.replace(string, symbol, 1)
    for word in _shared(source, target):
        if free and rng.random() < 0.8:
            symbol = free.pop()
            chosen.append(word)
            source, target = _replaced(source, word, symbol), _replaced(target, word, symbol)
    return (source, target) if chosen or not free else _with_at_an_end(source, target, free[0], rng)


def _with_at_an_end(source: str, target: str, string: str, rng: random.Random) -> tuple[str, str]:
    """Adds a string to both sides, at the beginning or at the end, bare, in brackets or after a colon."""
    way = rng.random()
    if way < 0.15:
        return f"{string} {source}", f"{string} {target}"
    if way < 0.3 and source[-1:] in _FINAL and target[-1:] in _FINAL:
        return f"{source[:-1]}: {string}", f"{target[:-1]}: {string}"
    if way < 0.45 and source[-1:] in _FINAL and target[-1:] in _FINAL:
        return f"{source[:-1]} ({string}){source[-1]}", f"{target[:-1]} ({string}){target[-1]}"
    return f"{source} {string}", f"{target} {string}"


def _is_part(text: str, digits: re.Match[str]) -> bool:
    """Whether digits are part of a longer number, date or time."""
    start, end = digits.span()
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    return (len(before) == 2 and before[1] in _BETWEEN_DIGITS and before[0].isdigit()) or (
        len(behind) == 2 and behind[0] in _BETWEEN_DIGITS and behind[1].isdigit()
    )


def _as_many(digits: str, rng: random.Random) -> str:
    """Returns the same number of other digits; the first is 0 only if it was, or if it is alone."""
    first = (
        "0" if digits[0] == "0" and len(digits) > 1 else rng.choice("0123456789" if len(digits) == 1 else "123456789")
    )
    return first + "".join(rng.choices("0123456789", k=len(digits) - 1))


def _shared_strings(source: str, target: str) -> list[str]:
    """Words, between white space, that occur once on each side and look like program strings."""
    found = []
    for word in source.split():
        string = word.lstrip(_BEFORE_STRING).rstrip(_BEHIND_STRING)
        if string.endswith(")") and "(" not in string:
            string = string[:-1].rstrip(_BEHIND_STRING)
        if len(string) > 1 and _OF_A_PROGRAM.search(string) and source.count(string) == target.count(string) == 1:
            found.append(string)
    return found


def _shared(source: str, target: str) -> list[str]:
    """Words with a capital or digits, of at least three letters or a digit, that occur once on each side."""
    theirs = [word[0] for word in _WORD.finditer(target)]
    ours = [word[0] for word in _WORD.finditer(source)]
    return [
        word
        for word in ours
        if (word.isdigit() or (len(word) > 2 and word[0].isupper()))
        and ours.count(word) == 1
        and theirs.count(word) == 1
    ]


def _replaced(text: str, word: str, other: str) -> str:
    return re.sub(rf"(?<![\w⟦]){re.escape(word)}(?!\w)", lambda _: other, text)


def _beside(letter: str, rng: random.Random) -> str:
    """A neighbouring letter on a keyboard, in the same case; the letter itself if none is known."""
    for row in _KEYBOARD:
        place = row.find(letter.lower())
        if place >= 0:
            near = rng.choice(row[max(place - 1, 0) : place] + row[place + 1 : place + 2])
            return near.upper() if letter.isupper() else near
    return letter
