"""Compares the values in a translation with those of its source, allowing for how each language writes them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from attendo.decoding.guards.number_words import has_number_word, small_numbers
from attendo.decoding.guards.numbers import SEPARATORS, canonical_number, localised
from attendo.decoding.guards.values import FRENCH_AT, MERIDIEM, Value, values

LOST_NUMBERS = "numbers that the translation has not: "
"""The beginning of a problem."""
_LOST_NAMES = "names and codes that the translation has not: "
NUMBER_WORDS = 12
"""Numbers up to it may be words in a source and digits in its translation."""
_DIGITS = re.compile("[0-9]+")
_BETWEEN_THOUSANDS = re.compile(r"(?<=[0-9])[.,'’\u00a0\u202f ](?=[0-9]{3}(?![0-9]))")
_NUMBER = re.compile("[0-9](?:.*[0-9])?")
_HOURS = 12
_NUMBER_BEFORE = re.compile(
    r"[0-9](?:[ \u00a0]?h(?:eures?)?(?:[ \u00a0]?[0-9]{2})?)?"
    r"(?:,|[ \u00a0](?:und|oder|bis|et|ou|à)|[ \u00a0]?[-–])[ \u00a0]?$"
)
_AT = re.compile(rf"(?<!\w)(?:{'|'.join(FRENCH_AT)})[ \u00a0]$")
_LONGEST_BEFORE = 14
# Half past three, and its like: minutes that a translation may put into words.
_MINUTE_WORDS = re.compile(
    r"(?<!\w)(?:half|quarter|past|halb|viertel|dreiviertel|nach|vor|demie?|quart|moins)(?!\w)", re.IGNORECASE
)
_CODES = frozenset(("address", "variable", "path", "environment", "option", "file", "hash", "identifier"))
"""Kinds of values that a translation has from its source only."""
_OUT_OF = re.compile(r"\s(?:out of|von|sur)\s\d")
"""What follows the first number of a ratio, such as *2 out of 5 stars*, which is no time of day."""
_SPACES_AND_HYPHENS = re.compile(r"[\s\u2010\u2011-]+")
_MERIDIEM = re.compile(MERIDIEM)
_LATE_OCLOCK = re.compile(r"(?<![\w.:,])(1[3-9]|2[0-35-9]|[3-9]\d|[1-9]\d{2}) o['’]clock(?!\w)")
_PART_OF_DAY = re.compile(
    r"(?<!\w)(?:morning|afternoon|evening|night|tonight|noon|abend|nachmittag|vormittag|morgen|nacht|mittag|früh|matin|"
    r"soir|après-midi|nuit)",
    re.IGNORECASE,
)
_VERSION_WORD = re.compile(r"(?:versions?|releases?|revision|build|update|kernel|api|schema|v)\s$", re.IGNORECASE)
_VERSION = re.compile(r"\d{1,2}\.\d{1,2}")
_OF_VERSIONS = re.compile(r"(?<![^\W_])versions?(?:en)?(?!\w)|\.NET(?!\w)", re.IGNORECASE)
_CURRENCY = re.compile(r"(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|[$€£¥])\s?$")
_NAME_BEFORE = re.compile(r"[^\W\d_](?:[^\W_]|[-.#+])*\s$")
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Comparison:
    """The values of a source that its translation kept, lost or invented."""

    lost: tuple[Value, ...] = ()
    """The source's that the translation does not have."""
    invented: tuple[Value, ...] = ()
    """The translation's that the source does not have."""

    @property
    def num_faults(self) -> int:
        """The number of values that are lost or invented."""
        return len(self.lost) + len(self.invented)

    @property
    def has_numbers(self) -> bool:
        """Whether a number is lost or invented."""
        return any(value.is_numeric for value in (*self.lost, *self.invented))

    @property
    def of_numbers(self) -> "Comparison":
        """The comparison without names and codes."""
        return Comparison(*(tuple(each for each in group if each.is_numeric) for group in (self.lost, self.invented)))

    @property
    def problems(self) -> tuple[str, ...]:
        """Describes the problems as sentences; empty if there are none."""
        found = []
        for message, group in ((LOST_NUMBERS, True), (_LOST_NAMES, False)):
            lost = ", ".join(dict.fromkeys(each.text for each in self.lost if each.is_numeric is group))
            if lost:
                found.append(message + lost)
        for message, group in (("numbers", True), ("names and codes", False)):
            written = ", ".join(dict.fromkeys(each.text for each in self.invented if each.is_numeric is group))
            if written:
                found.append(f"{message} that the source has not: {written}")
        return tuple(found)


def compared(source: str, target: str, languages: tuple[str, str], *, in_words: bool = True) -> Comparison:
    """Compares the values of a source with those of its translation.

    A date may be written in parts, and number words of the source may be digits in the translation. If the number
    format of one of the languages is not known, numbers are compared by their digits, with any separator between
    thousands.

    Args:
        source: the text.
        target: its translation.
        languages: both languages as ISO 639-1 codes; empty if not known.
        in_words: whether a number of the source may be a word in its translation; ordinals and full hours always may.
    """
    ours, theirs = values(source, languages[0]), values(target, languages[1])
    if not ours and not theirs:
        return Comparison()
    times = Counter(value.text for value in ours)
    lost = [value for value in ours if not value.is_numeric and target.count(value.text) < times[value.text]]
    numbers = [value for value in ours if value.is_numeric]
    target_values = [value for value in theirs if value.is_numeric or value.kind == "version"]
    if numbers:
        lost += _lost_numbers(numbers, target_values, (source, target), languages, in_words)
    invented = [*_invented(ours, target_values, source, languages[0]), *_invented_codes(source, theirs)]
    return Comparison(tuple(lost), tuple(invented))


def _lost_numbers(
    ours: Sequence[Value], theirs: Sequence[Value], texts: tuple[str, str], languages: tuple[str, str], in_words: bool
) -> list[Value]:
    """The numbers, dates and times of a source that its translation lacks; `texts` are source and translation."""
    source, target = texts
    target_forms = Counter(form for value in theirs for form in _forms(value))
    times = Counter(form for value in theirs if value.kind == "time" for form in _forms(value))
    lost = []
    for value in ours:
        is_in_full = languages[1] == "en" and _is_of_a_day(value, source)
        forms = _forms(value, either_half=_is_ambiguous(value, target), in_full=is_in_full)
        no_times = times if _OUT_OF.match(source, value.end) else Counter[str]()
        form = next((form for form in forms if target_forms[form] > no_times[form]), None)
        if form is None:
            lost.append(value)
        else:
            target_forms[form] -= 1
    if not lost:
        return []
    # Written in another way: in words, or a date as a day and a year.
    words, known = small_numbers(target, languages[1]), all(language in SEPARATORS for language in languages)
    parts = Counter(_parts(target, joined=not known))
    return [
        value
        for value in lost
        if not ((in_words or _may_be_words(value)) and _takes_words(value, words, target))
        and not _has_parts(value, parts, known)
    ]


def _forms(value: Value, *, either_half: bool = False, in_full: bool = False) -> tuple[str, ...]:
    """The canonical forms that a value may have in another language.

    Args:
        value: the value.
        either_half: whether a time may be in the other half of the day.
        in_full: whether an hour after noon must not be written alone, as in English ("at 15").
    """
    if value.kind != "time":
        number = value.canonical
        is_decade = value.kind == "number" and len(number) == 4 and value.text != number and not number.endswith("00")
        return tuple(dict.fromkeys((number, value.text) + ((number[2:],) if is_decade else ())))
    hours, *others = value.canonical.split(":")
    hour = int(hours) % _HOURS
    both = [hour, hour + _HOURS] if either_half else [int(hours)]
    found = [":".join((f"{each:02d}", *others)) for each in both]
    if others == ["00"] and ":00" not in value.text:
        found += [form for each in both if each <= _HOURS or not in_full for form in (str(each), f"{each:02d}")]
    return tuple(dict.fromkeys(found))


def _is_ambiguous(value: Value, target: str) -> bool:
    """Whether a time does not show its half of the day, or the translation expresses that in words."""
    hour = int(_DIGITS.findall(value.text)[0]) if value.kind == "time" else 0
    says_itself = has_meridiem(value) or hour > _HOURS
    return not says_itself or _PART_OF_DAY.search(target) is not None


def _may_be_words(value: Value) -> bool:
    """Whether a value is usually written in words: an ordinal, or a full hour."""
    return not value.text.isdigit() and ":" not in value.text


def _takes_words(value: Value, words: Counter[str], target: str) -> bool:
    """Whether a translation has the words for a number or a time; these are then used up."""
    if value.kind == "number":
        number = value.canonical
    elif value.kind == "time":
        hours, minutes, *_ = value.canonical.split(":")
        if minutes != "00" and not _MINUTE_WORDS.search(target):
            return False
        if minutes != "00":
            return True
        number = next((each for each in (str(int(hours) % _HOURS), str(int(hours))) if words[each] > 0), "")
    else:
        return False
    if words[number] <= 0:
        return False
    words[number] -= 1
    return True


def _has_parts(value: Value, parts: Counter[str], known: bool) -> bool:
    """Whether a translation has each of the numbers that a date, a telephone number or the like consists of.

    A number is a single part, checked this way only if the number format of one of the languages is not known.
    """
    if value.kind == "time" or (known and value.kind == "number"):
        return False
    wanted = Counter(_parts(value.text, joined=value.kind == "number"))
    return all(parts[part] >= times for part, times in wanted.items())


def _parts(text: str, *, joined: bool) -> list[str]:
    """Finds all runs of digits of a text without leading zeros; if `joined`, numbers in groups of thousands are one."""
    return [part.lstrip("0") or "0" for part in _DIGITS.findall(_BETWEEN_THOUSANDS.sub("", text) if joined else text)]


def _invented(ours: Sequence[Value], theirs: Sequence[Value], source: str, language: str) -> list[Value]:
    """Numbers of a translation that its source has neither in digits nor, as far as known, in words."""
    if not theirs:
        return []
    known = {form for value in ours for form in _forms(value, either_half=True)} | {value.text for value in ours}
    parts, found = set(_parts(source, joined=False)), []
    for value in theirs:
        its_parts = _parts(value.text, joined=False)
        is_small = len(its_parts) == 1 and len(its_parts[0]) <= 2 and int(its_parts[0]) <= NUMBER_WORDS
        if not is_small and not known.intersection(_forms(value)) and not parts.issuperset(its_parts):
            found.append(value)
    return found if found and not has_number_word(source, language) else []


def _invented_codes(source: str, theirs: Sequence[Value]) -> list[Value]:
    """Identifiers and the like of a translation that its source does not have, not even in parts (*Java Script*)."""
    codes = [value for value in theirs if value.kind in _CODES and value.text not in source]
    letters = _joined(source) if codes else ""
    return [value for value in codes if _joined(value.text) not in letters]


def _joined(text: str) -> str:
    """A text in small letters without spaces and hyphens."""
    return _SPACES_AND_HYPHENS.sub("", text.casefold())


def possible_numbers(source: str, languages: tuple[str, str]) -> frozenset[str]:
    """Lists the numbers that a translation may contain: those of its source, as the target language writes them.

    Dates, times and versions count as single numbers, times also with the hours of both clocks.

    Args:
        source: the text as the model reads it.
        languages: source and target, as ISO 639-1 codes; empty if not known.
    """
    found = {number for number, times in small_numbers(source, languages[0]).items() if times}
    for value in values(source, languages[0]):
        if value.kind == "number":
            found.update(match[0] for match in _NUMBER.finditer(target_form(value, source, languages)))
            found.update(form for form in _forms(value) if form.isdigit() and len(form) == 2)
            continue
        parts = _DIGITS.findall(value.text)
        if value.kind == "time" and parts:
            hour = int(parts[0]) % _HOURS
            parts += [str(hour), str(hour + _HOURS)]
        found.update(form for part in parts for form in (part, part.lstrip("0") or "0"))
    return frozenset(found)


# --- how the target language writes a value ---------------------------------------------------------------------------


def target_form(value: Value, source: str, languages: tuple[str, str]) -> str:
    """A value as the target language writes it: 1,500.25 is 1.500,25 in German, 4th is 4., 3:30 p.m. is 15:30 Uhr.

    Args:
        value: a value of the source.
        source: the text; the words before a number identify versions.
        languages: source and target, as ISO 639-1 codes; empty if not known.
    """
    language = languages[1]
    if value.kind == "time":
        return _time_in(value, language, twelve_hours=_is_of_a_day(value, source))
    if value.kind != "number":
        return value.text
    if not value.text.isdigit() and value.canonical.isdigit() and value.text.startswith(value.canonical):
        return _with_ending(value, language)
    is_name = is_version(source, value.start, value.text, languages[0])
    return value.text if is_name else localised(value.text, *languages)


def with_usual_hours(text: str, language: str) -> str:
    """Replaces hours as no one writes them: 17 o'clock becomes 5 pm, and 48 o'clock 48 hours; *6 Uhr Uhr* is 6 Uhr.

    Args:
        text: the translation.
        language: its ISO 639-1 code.
    """
    if language == "de":  # a placeholder has its own Uhr
        return text.replace(" Uhr Uhr", " Uhr")

    def otherwise(hour: re.Match[str]) -> str:
        number = int(hour[1])
        return f"{number - _HOURS} pm" if number < 2 * _HOURS else f"{number} hours"

    return _LATE_OCLOCK.sub(otherwise, text) if language == "en" else text


def has_meridiem(value: Value) -> bool:
    """Whether a time has "a.m." or "p.m."."""
    return value.kind == "time" and _MERIDIEM.search(value.text) is not None


def is_version(text: str, start: int, number: str, language: str) -> bool:
    """Whether a number is a version, as in "with Python 3.11" or "version 2.0".

    It is one after a capitalised word in the sentence, or anywhere in a sentence about versions. In German any noun is
    capitalised; but German numbers have decimal commas, and a point occurs only in versions and dates.

    Args:
        text: the text around the number.
        start: the number's first character.
        number: the number as written.
        language: the text's, as an ISO 639-1 code.
    """
    before = text[max(0, start - _LONGEST_NAME) : start]
    if "," in number or text.isupper() or canonical_number(number, language).isdigit():
        return False
    if _VERSION_WORD.search(before) or (_VERSION.fullmatch(number) and _OF_VERSIONS.search(text)):
        return True
    if _CURRENCY.search(before):
        return False
    found = _NAME_BEFORE.search(before)
    return bool(found and found[0][0].isupper() and text[: start - len(found[0])].strip())


def _with_ending(value: Value, language: str) -> str:
    """An ordinal or a decade with the ending of the target language."""
    number, ending = value.canonical, value.text[len(value.canonical) :]
    if ending in ("s", "er", "ern") and len(number) in (2, 4) and number.endswith("0"):
        return number + {"en": "s", "de": "er"}.get(language, "")
    endings = {"de": ".", "fr": "er" if number == "1" else "e", "en": _english_ending(int(number))}
    return number + endings.get(language, ending)


def _english_ending(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _is_of_a_day(value: Value, source: str) -> bool:
    """Whether a time is a single time of day, not the end of a range (*von 19 bis 20 Uhr*) or a duration (*15 h*)."""
    before = max(0, value.start - _LONGEST_BEFORE)
    if _NUMBER_BEFORE.search(source, before, value.start):
        return False
    return "h" not in value.text or _AT.search(source, before, value.start) is not None


def _time_in(value: Value, language: str, *, twelve_hours: bool) -> str:
    """A time as a language writes it; English with "pm" where it may."""
    hours, minutes, *seconds = value.canonical.split(":")
    if seconds or language not in ("de", "en", "fr"):
        return value.text
    if ":" in value.text and value.text[-1].isdigit():
        return value.text
    if language == "en" and twelve_hours and _HOURS < int(hours) < 2 * _HOURS:
        return f"{int(hours) - _HOURS}:{minutes} pm" if minutes != "00" else f"{int(hours) - _HOURS} pm"
    if language == "en":
        return f"{int(hours)}:{minutes}"
    if language == "fr":
        return f"{int(hours)} h {minutes}" if minutes != "00" else f"{int(hours)} h"
    return f"{int(hours)}:{minutes} Uhr" if minutes != "00" else f"{int(hours)} Uhr"
