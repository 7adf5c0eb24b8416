"""Pairs changed on their way into training, so that a model meets what its corpora lack.

That is other cases, slips of the keyboard, missing full stops, several sentences in a line, names nobody has heard of.
Each function takes a pair and gives one that is as right. What a corpus holds stays as it is: a pair is changed anew
each time it is met.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

_FINAL = ".!?\u2026"
_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ONSETS = (
    "b",
    "br",
    "d",
    "dr",
    "f",
    "g",
    "gr",
    "h",
    "j",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "sch",
    "st",
    "t",
    "v",
    "w",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ei", "ou", "y", "ö", "é")
_CODAS = ("", "", "", "n", "r", "l", "s", "t", "ck", "nd", "x", "m")
_LETTERS_A_SLIP = 20
MAX_JOINED = 4
"""Pairs of a line, at most, where pairs are joined."""


@dataclass(frozen=True, kw_only=True)
class AugmentationConfig:
    """Shares of the training pairs that are changed, each kind drawn for itself; 0 leaves a kind out."""

    joined: float = 0.0
    """Pairs put behind each other, two to four in a line; each pair still comes once an epoch."""
    casing: float = 0.0
    """The source in lower case, its first letter alone in lower case, in Title Case, or with a word in CAPITALS."""
    punctuation: float = 0.0
    """Both sides without their full stop, or with more than one; the source without commas or with other quotes."""
    typos: float = 0.0
    """Letters of the source swapped, lost, doubled or hit beside; about one in twenty."""
    copies: float = 0.0
    """Of the pairs that share a name or number: another one, made up, in its place on both sides."""
    placeholders: float = 0.0
    """A placeholder on both sides, for a shared name or number or at an end; needs `tokenizer.placeholders`."""
    same_language: float = 0.0
    """The target as its own source, so that text that needs no translation stays as it is."""

    def __post_init__(self) -> None:
        """Refuses what is no share, all of them at once.

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
    def is_off(self) -> bool:
        """Whether nothing is changed."""
        return self == AugmentationConfig()


class Augmentation:
    """Changes pairs as a config says.

    Args:
        config: the shares.
        placeholders: the vocabulary's; `Tokenizer.placeholders`.
    """

    def __init__(self, config: AugmentationConfig, placeholders: Sequence[str]) -> None:
        self.config = config
        # In the order they are applied: what looks for names comes before what changes the case.
        self._kinds: tuple[tuple[float, Callable[[str, str, random.Random], tuple[str, str]]], ...] = (
            (config.same_language, lambda source, target, rng: (target, target)),
            (config.copies, with_made_up_names),
            (config.placeholders, lambda source, target, rng: with_placeholders(source, target, placeholders, rng)),
            (config.punctuation, with_other_punctuation),
            (config.typos, lambda source, target, rng: (with_typos(source, rng), target)),
            (config.casing, lambda source, target, rng: (in_another_case(source, rng), target)),
        )

    def __call__(self, source: str, target: str, rng: random.Random) -> tuple[str, str]:
        """A pair as it is met this time; what would leave nothing of a side, as of a full stop alone, is not done."""
        for share, change in self._kinds:
            if share and rng.random() < share:
                changed = change(source, target, rng)
                if all(side.strip() for side in changed):
                    source, target = changed
        return source, target


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
    """The text with a slip of the keyboard in about every twentieth letter, one at least."""
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
    for shared in _shared(source, target):
        made_up = _number(rng) if shared.isdigit() else _name(rng)
        source, target = _replaced(source, shared, made_up), _replaced(target, shared, made_up)
    return source, target


def with_placeholders(source: str, target: str, symbols: Sequence[str], rng: random.Random) -> tuple[str, str]:
    """The pair with placeholders for what both sides share; where they share nothing, with one at an end of both."""
    free = rng.sample(list(symbols), len(symbols))
    shared = [word for word in _shared(source, target) if rng.random() < 0.8]
    for word, symbol in zip(shared, free, strict=False):
        source, target = _replaced(source, word, symbol), _replaced(target, word, symbol)
    if shared or not free:
        return source, target
    symbol, way = free[0], rng.random()
    if way < 0.15:
        return f"{symbol} {source}", f"{symbol} {target}"
    if way < 0.3 and source[-1:] in _FINAL and target[-1:] in _FINAL:
        return f"{source[:-1]}: {symbol}", f"{target[:-1]}: {symbol}"
    if way < 0.45 and source[-1:] in _FINAL and target[-1:] in _FINAL:
        return f"{source[:-1]} ({symbol}){source[-1]}", f"{target[:-1]} ({symbol}){target[-1]}"
    return f"{source} {symbol}", f"{target} {symbol}"


def _shared(source: str, target: str) -> list[str]:
    """Words with a capital or of digits, of three letters or a digit at least, that stand once on either side."""
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
    return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: other, text)


def _name(rng: random.Random) -> str:
    syllables = (rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.randint(1, 3)))
    return "".join(syllables).capitalize()


def _number(rng: random.Random) -> str:
    return str(rng.randrange(10 ** rng.randint(1, 6)))


def _beside(letter: str, rng: random.Random) -> str:
    """A letter beside another one on a keyboard, in the same case; the letter itself where none is known."""
    for row in _KEYBOARD:
        place = row.find(letter.lower())
        if place >= 0:
            near = rng.choice(row[max(place - 1, 0) : place] + row[place + 1 : place + 2])
            return near.upper() if letter.isupper() else near
    return letter
