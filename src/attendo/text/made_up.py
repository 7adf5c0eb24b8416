"""Names, numbers and the strings of programs, made up at random: new to every model, to be copied.

The parts of a string are drawn letter by letter and syllable by syllable, and come from no corpus.
"""

import random
import string
from collections.abc import Callable

_ONSETS = (
    "b", "br", "d", "dr", "f", "g", "gr", "h", "j", "k", "kl", "l", "m", "n", "p", "r", "s", "sch", "st", "t", "v", "w",
    "z",
)  # fmt: skip
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ei", "ou", "y", "ö", "é")
_CODAS = ("", "", "", "n", "r", "l", "s", "t", "ck", "nd", "x", "m")
_PLAIN_VOWELS = ("a", "e", "i", "o", "u", "ai", "ou", "y")
_ENDINGS = (
    "txt", "md", "py", "js", "ts", "json", "toml", "yaml", "xml", "html", "css", "csv", "log", "conf", "ini",
    "sh", "exe", "dll", "zip", "tar.gz", "png", "pdf", "cs", "cpp",
)  # fmt: skip
_FOREIGN = (
    (0x0391, 0x03A9),  # Greek
    (0x0430, 0x044F),  # Cyrillic
    (0x05D0, 0x05EA),  # Hebrew
    (0x0627, 0x064A),  # Arabic
    (0x0915, 0x0939),  # Devanagari
    (0x0E01, 0x0E2E),  # Thai
    (0x3042, 0x3093),  # Hiragana
    (0x4E00, 0x9FA0),  # Chinese characters
    (0xAC00, 0xD7A3),  # Hangul
)
"""Ranges from the first to the last letter of scripts, without gaps that contain other characters."""
_NO_LETTERS = {0x03A2, *range(0x063B, 0x0641)}


def name(rng: random.Random) -> str:
    """An invented name of one to three syllables."""
    return _syllables(rng, rng.randint(1, 3), _VOWELS).capitalize()


def number(rng: random.Random) -> str:
    """A number of one to eight digits."""
    return str(rng.randrange(10 ** rng.randint(1, 8)))


def program_string(rng: random.Random) -> str:
    """A version, an identifier, a hash, a file's name, an option or the like, or a word in another script."""
    return rng.choice(_KINDS)(rng)


def _syllables(rng: random.Random, count: int, vowels: tuple[str, ...]) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(vowels) + rng.choice(_CODAS) for _ in range(count))


def _word(rng: random.Random) -> str:
    """A word in small letters of English's alphabet."""
    return _syllables(rng, rng.randint(1, 2), _PLAIN_VOWELS)


def _words(rng: random.Random, least: int = 2, most: int = 3) -> list[str]:
    return [_word(rng) for _ in range(rng.randint(least, most))]


def _digits(rng: random.Random, least: int, most: int) -> str:
    return "".join(rng.choices(string.digits, k=rng.randint(least, most)))


def _version(rng: random.Random) -> str:
    parts = ".".join(str(rng.randrange(10 ** rng.choice((1, 1, 2)))) for _ in range(rng.randint(2, 4)))
    return rng.choice(("", "", "v")) + parts + rng.choice(("", "", "", "-beta", f"-rc{rng.randint(1, 9)}"))


def _identifier(rng: random.Random) -> str:
    words, way = _words(rng), rng.randrange(6)
    if way == 0:
        return "_".join(words)
    if way == 1:
        return words[0] + "".join(map(str.capitalize, words[1:]))
    if way == 2:
        return "".join(map(str.capitalize, words))
    if way == 3:
        return ".".join(map(str.capitalize, words))
    if way == 4:
        return "-".join(words)
    return f"{'_'.join(words)}{rng.randrange(100)}"


def _article_number(rng: random.Random) -> str:
    letters = "".join(rng.choices(string.ascii_uppercase, k=rng.randint(1, 4)))
    parts = [letters + rng.choice(("", "-")) + _digits(rng, 2, 5)]
    if rng.random() < 0.3:
        parts.append(rng.choice(string.ascii_uppercase) + _digits(rng, 0, 2))
    return "-".join(parts)


def _hash(rng: random.Random) -> str:
    return "".join(rng.choices("0123456789abcdef", k=rng.choice((7, 7, 8, 12, 40))))


def _file(rng: random.Random) -> str:
    return rng.choice(("_", "-", "")).join(_words(rng, 1, 2)) + "." + rng.choice(_ENDINGS)


def _path(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.choice("CDE") + ":\\" + "\\".join([*map(str.capitalize, _words(rng, 1, 3)), _file(rng)])
    return rng.choice(("/", "./", "~/", "")) + "/".join([*_words(rng, 1, 3), rng.choice((_file, _word))(rng)])


def _option(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return f"-{rng.choice(string.ascii_letters)}"
    option = "--" + "-".join(_words(rng, 1, 3))
    return option + rng.choice(("", "", f"={_word(rng)}", f"={rng.randrange(1000)}"))


def _variable(rng: random.Random) -> str:
    constant = "_".join(_words(rng)).upper()
    return rng.choice((constant, constant, f"${constant}", f"%{constant}%"))


def _code(rng: random.Random) -> str:
    code = rng.choice((_identifier, _option, _variable, _word))(rng)
    return f"`{code}{rng.choice(('', '', '()', f'({rng.randrange(100)})', f' = {rng.randrange(1000)}'))}`"


def _call(rng: random.Random) -> str:
    return f"{_identifier(rng)}()"


def _foreign(rng: random.Random) -> str:
    first, last = rng.choice(_FOREIGN)
    letters = (rng.randint(first, last) for _ in range(rng.randint(2, 6)))
    return "".join(chr(letter) for letter in letters if letter not in _NO_LETTERS) or chr(first)


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _version, _identifier, _identifier, _article_number, _hash, _file, _path, _option, _variable, _code, _call, _foreign
)  # fmt: skip
