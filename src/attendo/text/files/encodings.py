"""Encodings of text: which names are valid, which end lines as ASCII does, and which one fits lines that are not UTF-8.

A guess is made from the alphabets of languages: of the encodings that read every line, the likely ones are those whose
characters belong to one alphabet, with small and large letters as text has them. Where several fit, all are named.
"""

import codecs
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

UTF8 = "utf-8"

_NOT_FOR_FILES = {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "mbcs", "oem"}
_TAKEN_BYTES = 1 << 16
_SAMPLE_CHARACTERS = 20_000


def encoding_problem(name: str) -> str | None:
    """Returns why a name is not an encoding of text files, or None.

    Any text encoding that Python knows is one, by any of its names: `latin-1`, `cp1252`, `koi8-r`, `gb18030`.
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    is_text = found is not None and getattr(found, "_is_text_encoding", True)
    if found is None or not is_text or found.name.replace("_", "-") in _NOT_FOR_FILES:
        return "is no encoding of text; take one such as utf-8, cp1252, koi8-r, gb18030 or utf-16"
    return None


@cache
def is_wide(encoding: str) -> bool:
    """Whether an encoding writes letters and line ends differently from ASCII: UTF-16, EBCDIC."""
    try:
        return "az AZ 09\t\r\n".encode(encoding).removeprefix(codecs.BOM_UTF8) != b"az AZ 09\t\r\n"
    except UnicodeError:
        return True


@cache
def is_utf8(encoding: str) -> bool:
    """Whether a name is one of the names of UTF-8."""
    return codecs.lookup(encoding).name == "utf-8"


class Transcoded(io.RawIOBase):
    """The content of a file in another encoding, as UTF-8.

    Half a surrogate pair becomes bytes that are not UTF-8, so that its line alone is refused.

    Raises:
        UnicodeError: while it is read: the content is not in that encoding, as where it ends within a character.
    """

    def __init__(self, raw: IO[bytes], encoding: str) -> None:
        """Takes over an open file."""
        # Lone halves can be passed on in UTF-16 and UTF-32 alone; other codecs do not know of any.
        errors = "surrogatepass" if codecs.lookup(encoding).name.startswith("utf-") else "strict"
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._text = memoryview(b"")
        self._ended = False

    def readable(self) -> bool:
        """Returns that the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills `buffer` with the next bytes; returns their number, 0 at the end."""
        while not self._text and not self._ended:
            content = self._raw.read(_TAKEN_BYTES)
            self._ended = not content
            self._text = memoryview(self._decoder.decode(content, final=self._ended).encode(UTF8, "surrogatepass"))
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._text))
        view[:count] = self._text[:count]
        self._text = self._text[count:]
        return count


@dataclass(frozen=True, kw_only=True, slots=True)
class LikelyEncodings:
    """The encodings that lines can be in which are not UTF-8."""

    likely: tuple[str, ...]
    """Encodings that read all of the lines as plausible text of some language, the likeliest first, each with a
    different result; empty if there is none."""
    same: tuple[str, ...]
    """Other encodings that read exactly the same text as the first."""


_MIXED_WORD = re.compile(r"(?P<before>[A-Za-z]?)[^\x00-\x7f]+(?P<after>[A-Za-z]?)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Alphabet:
    """The letters of some languages, and the encodings that they used to have."""

    languages: tuple[str, ...]
    encodings: tuple[str, ...]
    """The most common first."""
    score: Callable[[str], float]
    """Scores how well a text fits it, from 0 to 1."""


_MARKS = frozenset("„“”‚‘’‹›«»–—…•·°§©®™€£¢¥¡¿±×÷½¼¾²³¹ªº¶†‡‰µ´¨¬¦\xa0\xad№")
_WESTERN = ("cp1252", "latin-1", "iso8859-15", "cp850", "mac-roman")
_CENTRAL = ("cp1250", "iso8859-2", "cp852")
_CYRILLIC = ("cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866")
_COMMON_HANZI = frozenset(
    "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手"
    "這個來國們為時說過學對後會還發當開無沒兩從麼"
)


def _letters(letters: str, *, is_latin: bool = True) -> Callable[[str], float]:
    """Scores text by how many of its letters beyond ASCII are among those of an alphabet, mostly small ones.

    Letters of other scripts do not occur in one word with ASCII letters.
    """
    known = frozenset(letters + letters.upper())

    def score(text: str) -> float:
        if not is_latin:
            text = _MIXED_WORD.sub(lambda run: "\x80" if run["before"] or run["after"] else run[0], text)
        beyond = [character for character in text if character > "\x7f" and character not in _MARKS]
        if not beyond:
            # Quotation marks, dashes and the like alone, which cp1252 has where Latin-1 has control characters.
            return 0.7
        small = sum(character in known and not character.isupper() for character in beyond)
        large = sum(character in known and character.isupper() for character in beyond)
        return (small + min(large, small + 2)) / len(beyond)

    return score


def _chinese(text: str) -> float:
    beyond = [character for character in text if character > "\x7f"]
    hanzi = [character for character in beyond if "\u4e00" <= character <= "\u9fff"]
    if not hanzi:
        return 0.0
    common = sum(character in _COMMON_HANZI for character in hanzi) / len(hanzi)
    return (len(hanzi) + sum(map(_is_wide_mark, beyond))) / len(beyond) * min(1.0, common / 0.1)


def _japanese(text: str) -> float:
    beyond = [character for character in text if character > "\x7f"]
    kana = sum("\u3041" <= character <= "\u30fe" for character in beyond)
    known = sum("\u4e00" <= character <= "\u9fff" or _is_wide_mark(character) for character in beyond)
    return (kana + known) / len(beyond) * min(1.0, 3 * kana / len(beyond)) if beyond else 0.0


def _korean(text: str) -> float:
    beyond = [character for character in text if character > "\x7f"]
    hangul = sum("\uac00" <= character <= "\ud7a3" for character in beyond)
    return (hangul + sum(map(_is_wide_mark, beyond))) / len(beyond) if hangul else 0.0


def _is_wide_mark(character: str) -> bool:
    """Whether it is punctuation or a full-width letter of East Asian text."""
    is_punctuation = "\u3000" <= character <= "\u3020" and not character.isalpha()
    return is_punctuation or "\uff01" <= character <= "\uff60" or character in "·—…“”‘’《》、。・ー"


@cache
def _alphabets() -> tuple[_Alphabet, ...]:
    """Returns all alphabets; made for the first text that is not UTF-8."""
    return (
        _Alphabet(languages=("de",), encodings=_WESTERN, score=_letters("äöüßéèàâç")),
        _Alphabet(languages=("fr", "en", "it"), encodings=_WESTERN, score=_letters("àâæçéèêëîïôœùûüÿìòö")),
        _Alphabet(languages=("es", "pt", "ca", "gl"), encodings=_WESTERN, score=_letters("áéíóúüñãõâêôàçïªº")),
        _Alphabet(
            languages=("sv", "da", "no", "nb", "nn", "fi", "is", "nl"),
            encodings=_WESTERN,
            score=_letters("åäöæøéëïüáíóúýðþ"),
        ),
        _Alphabet(languages=("pl",), encodings=_CENTRAL, score=_letters("ąćęłńóśźż")),
        _Alphabet(languages=("cs", "sk"), encodings=_CENTRAL, score=_letters("áäčďéěíĺľňóôŕřšťúůýž")),
        _Alphabet(languages=("hu",), encodings=_CENTRAL, score=_letters("áéíóöőúüű")),
        _Alphabet(languages=("sl", "hr", "bs", "sr"), encodings=_CENTRAL, score=_letters("čćđšž")),
        _Alphabet(languages=("ro",), encodings=_CENTRAL, score=_letters("ăâîşţșț")),
        _Alphabet(languages=("tr", "az"), encodings=("cp1254", "iso8859-9"), score=_letters("çğıöşüâîİ")),
        _Alphabet(
            languages=("lt", "lv", "et"),
            encodings=("cp1257", "iso8859-13", "iso8859-4"),
            score=_letters("ąčęėįšųūžāēģīķļņōŗõäöü"),
        ),
        _Alphabet(
            languages=("ru", "bg", "uk", "be", "sr", "mk"),
            encodings=_CYRILLIC,
            score=_letters("абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўјљњћђџ", is_latin=False),
        ),
        _Alphabet(
            languages=("el",),
            encodings=("cp1253", "iso8859-7"),
            score=_letters("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", is_latin=False),
        ),
        _Alphabet(
            languages=("he",),
            encodings=("cp1255", "iso8859-8"),
            score=_letters("אבגדהוזחטיךכלםמןנסעףפץצקרשת", is_latin=False),
        ),
        _Alphabet(
            languages=("ar", "fa", "ur"),
            encodings=("cp1256", "iso8859-6"),
            score=_letters("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگً،؛؟ـ", is_latin=False),
        ),
        _Alphabet(languages=("zh",), encodings=("gb18030", "big5"), score=_chinese),
        _Alphabet(languages=("ja",), encodings=("cp932", "euc-jp"), score=_japanese),
        _Alphabet(languages=("ko",), encodings=("cp949", "johab"), score=_korean),
    )


_LEAST_SCORE = 0.6
# Encodings nearly as good as the best one may well be right.
_NEAR_BEST = 0.95


def likely_encodings(lines: Sequence[bytes], *, language: str = "") -> LikelyEncodings:
    """Guesses the encoding of lines, among those common in recent decades.

    Args:
        lines: the lines that are not UTF-8; more lines make the guess more reliable.
        language: the code of their language, as `de`; if known, its own encodings come first.
    """
    content = b"\n".join(lines)
    best: dict[str, float] = {}
    texts: dict[str, str] = {}
    code = language.lower().replace("_", "-").partition("-")[0]
    for alphabet in _alphabets():
        for rank, encoding in enumerate(alphabet.encodings):
            if encoding not in texts:
                texts[encoding] = _decoded(content, encoding)
            score = alphabet.score(texts[encoding][:_SAMPLE_CHARACTERS]) if texts[encoding] else 0.0
            # The language decides between equals; so does how common an encoding is.
            score += 0.2 * (score >= _LEAST_SCORE and code in alphabet.languages) - 0.001 * rank
            best[encoding] = max(best.get(encoding, 0.0), score)
    ranked = sorted(best, key=lambda encoding: -best[encoding])
    likely = [candidate for candidate in ranked if best[candidate] >= max(_LEAST_SCORE, _NEAR_BEST * best[ranked[0]])]
    if not likely:
        return LikelyEncodings(likely=(), same=())
    different = [
        candidate
        for index, candidate in enumerate(likely)
        if texts[candidate] not in [texts[other] for other in likely[:index]]
    ]
    same = [candidate for candidate in likely[1:] if texts[candidate] == texts[likely[0]]]
    return LikelyEncodings(likely=tuple(different), same=tuple(same))


def _decoded(content: bytes, encoding: str) -> str:
    """Returns the text, or an empty string if the bytes are invalid in that encoding or are control characters."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return ""
    return "" if any("\x7f" <= character <= "\x9f" for character in set(text)) else text
