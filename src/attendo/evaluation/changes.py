"""Changes of one sentence pair, on plain strings, that make it look like text as people type it."""

import random
import re
from dataclasses import dataclass

MIN_TYPO_LETTERS = 4
"""Minimum number of letters of a word that gets a typo; in a shorter one a typo easily makes another word."""
LETTERS_PER_TYPO = 10
"""Number of letters per typo in a line with many typos."""

EMOJI = (
    "\U0001f600",  # a face
    "\U0001f389",
    "\U0001f44d\U0001f3fd",  # a thumb with the tone of its skin
    "\u2764\ufe0f",  # a heart, and the selector that colours it
    "\U0001f469\u200d\U0001f4bb",  # a woman and a computer, joined into one
    "\U0001f1eb\U0001f1ee",  # a flag: two letters
)
"""Emoji, one for each way of encoding them."""

_FINAL = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]+$")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD_START = re.compile(r"(?<!\S)([^\w\s]*)([^\W\d_])")
_NUMBER = re.compile(r"(?<![\w.,:/-])\d{2,}(?![\w]|[.,:/-]\d)")
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    letter: row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
    for row in _KEYBOARD
    for place, letter in enumerate(row)
}
_STRAIGHT = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"') | dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
)
_CURLY = {"de": ("\u201e", "\u201c", "\u201a", "\u2018")}
"""Opening and closing, double and single quotes of languages whose quotes differ from English."""


@dataclass(frozen=True, kw_only=True)
class ChangedPair:
    """A pair to which a change was applied."""

    source: str
    reference: str
    """The reference for the translation of the changed source."""
    kept: tuple[str, ...] = ()
    """Strings that the translation must contain exactly, in this order."""


def upper_cased(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Puts both sides in capitals."""
    return ChangedPair(source=source.upper(), reference=reference.upper())


def title_cased(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Capitalises every word of the source."""
    title = _WORD_START.sub(lambda match: match[1] + match[2].upper(), source)
    return ChangedPair(source=title, reference=reference)


def lower_cased(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Puts the source in lower case."""
    return ChangedPair(source=source.lower(), reference=reference)


def unpunctuated(source: str, reference: str, chance: random.Random) -> ChangedPair | None:
    """Removes the final punctuation of the source; None unless both sides have some."""
    shorter = without_final_punctuation(source)
    if not shorter or not ends_as_a_sentence(source) or not ends_as_a_sentence(reference):
        return None
    return ChangedPair(source=shorter, reference=reference)


def ends_as_a_sentence(text: str) -> bool:
    """Returns whether a text ends with a full stop or another mark that ends a sentence."""
    return bool(_FINAL.search(text.rstrip()))


def without_final_punctuation(text: str) -> str:
    """Returns a text without the punctuation marks at its end."""
    return _FINAL.sub("", text.rstrip()).rstrip()


def with_typos(source: str, reference: str, chance: random.Random, *, dense: bool) -> ChangedPair | None:
    """Misspells one word of the source, or, if dense, one per `LETTERS_PER_TYPO` letters; None without long words."""
    words = [match for match in _LETTERS.finditer(source) if len(match[0]) >= MIN_TYPO_LETTERS]
    if not words:
        return None
    letters = sum(map(len, _LETTERS.findall(source)))
    number = max(1, round(letters / LETTERS_PER_TYPO)) if dense else 1
    for place in sorted(chance.sample(range(len(words)), min(number, len(words))), reverse=True):
        word = words[place]
        source = source[: word.start()] + misspelled(word[0], chance) + source[word.end() :]
    return ChangedPair(source=source, reference=reference)


def misspelled(word: str, chance: random.Random) -> str:
    """Returns a word with a letter left out, doubled, swapped with the next or hit one key off; never the first letter.

    Args:
        word: a word of two letters or more.
        chance: the random generator.
    """
    place = chance.randrange(1, len(word))
    before, letter, after = word[:place], word[place], word[place + 1 :]
    typos = [before + after, before + letter + letter + after]
    if after and after[0] != letter:
        typos.append(before + after[0] + letter + after[1:])
    if keys := _NEIGHBOURS.get(letter.lower()):
        missed = chance.choice(keys)
        typos.append(before + (missed.upper() if letter.isupper() else missed) + after)
    return chance.choice(typos)


def emoji_at_the_end(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Appends an emoji to the source."""
    return _behind(source, reference, chance.choice(EMOJI))


def with_emoji_within(source: str, reference: str, chance: random.Random) -> ChangedPair | None:
    """Inserts an emoji between two words of the source; None if it has fewer than three words."""
    words = source.split()
    if len(words) < 3:
        return None
    emoji = chance.choice(EMOJI)
    place = chance.randrange(1, len(words))
    return ChangedPair(source=" ".join([*words[:place], emoji, *words[place:]]), reference=reference, kept=(emoji,))


def number_at_the_end(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Inserts five digits in brackets before the source's final punctuation."""
    number = f"({chance.randrange(10_000, 100_000)})"
    return _before_the_end(source, reference, number, kept=(number,))


def amount_at_the_end(
    source: str, reference: str, chance: random.Random, *, forms: tuple[tuple[str, str], tuple[str, str]]
) -> ChangedPair:
    """Inserts an amount with thousands and decimals before the source's final punctuation.

    Args:
        source: the source sentence.
        reference: its translation.
        chance: the random generator.
        forms: separators of thousands and decimals in the source language and in the target language.
    """
    whole, cents = chance.randrange(1_000, 1_000_000), chance.randrange(100)
    source_amount, target_amount = (f"({grouped(whole, cents, *form)})" for form in forms)
    return _before_the_end(source, reference, source_amount, kept=(target_amount,))


def grouped(whole: int, cents: int, thousands: str, decimals: str) -> str:
    """Returns an amount with the given separators of thousands and decimals."""
    return f"{whole:,}".replace(",", thousands) + f"{decimals}{cents:02}"


def with_other_numbers(source: str, reference: str, chance: random.Random) -> ChangedPair | None:
    """Replaces numbers that occur once on each side, not those of one digit, which could change their noun's form."""
    source_numbers, reference_numbers = _NUMBER.findall(source), _NUMBER.findall(reference)
    others: dict[str, str] = {}
    for number in source_numbers:
        if source_numbers.count(number) == reference_numbers.count(number) == 1 and number[0] != "0":
            others[number] = str(chance.randrange(10 ** (len(number) - 1), 10 ** len(number)))
    if not others:
        return None
    source, reference = (
        _NUMBER.sub(lambda match: others.get(match[0], match[0]), side) for side in (source, reference)
    )
    return ChangedPair(source=source, reference=reference, kept=tuple(others.values()))


def url_behind(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Appends a URL to the source."""
    page = chance.choice(("docs", "help", "news/archive"))
    return _behind(source, reference, f"https://www.example.org/{page}?id={chance.randrange(100, 100_000)}&all=1")


def email_behind(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Appends an e-mail address to the source."""
    name = chance.choice(("k.lindqvist", "office", "anna_b"))
    return _behind(source, reference, f"{name}{chance.randrange(1, 1_000)}@example.com")


def placeholders_at_the_end(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Inserts placeholders as in programs before the source's final punctuation."""
    symbols = f"{{user_{chance.randrange(1, 100)}}}", f"%{chance.randrange(1, 4)}$s"
    return _before_the_end(source, reference, " ".join(symbols), kept=symbols)


def marked_up(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Encloses the source in a pair of tags."""
    return ChangedPair(source=f"<b>{source.strip()}</b>", reference=reference, kept=("<b>", "</b>"))


def as_it_is(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Returns the pair unchanged, for perturbations that only join lines."""
    return ChangedPair(source=source, reference=reference)


def with_double_spaces(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Doubles each space of the source."""
    return ChangedPair(source=source.replace(" ", "  "), reference=reference)


def with_spaces_around(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Adds two spaces before the source and one after it."""
    return ChangedPair(source=f"  {source} ", reference=reference)


def with_tabs(source: str, reference: str, chance: random.Random) -> ChangedPair:
    """Replaces each space of the source by a tab."""
    return ChangedPair(source=source.replace(" ", "\t"), reference=reference)


def with_other_quotes(source: str, reference: str, chance: random.Random, *, language: str) -> ChangedPair:
    """Replaces the source's straight quotes and apostrophes by curly ones; if it has none, curly by straight ones."""
    if '"' not in source and "'" not in source:
        return ChangedPair(source=straight_quotes(source), reference=reference)
    opening, closing, single_opening, single_closing = _CURLY.get(language, ("\u201c", "\u201d", "\u2018", "\u2019"))
    # A quote opens at the start of a line or after white space or an opening bracket; between letters it is an
    # apostrophe, which is the same character in every language.
    source = re.sub(r"""(?<![^\s(\[{'"])"(?=\S)""", opening, source).replace('"', closing)
    source = re.sub(r"(?<=\w)'(?=\w)", "\u2019", source)
    source = re.sub(rf"""(?<![^\s(\[{{{opening}])'(?=\S)""", single_opening, source).replace("'", single_closing)
    return ChangedPair(source=source, reference=reference)


def _behind(source: str, reference: str, text: str) -> ChangedPair:
    return ChangedPair(source=f"{source.rstrip()} {text}", reference=reference, kept=(text,))


def _before_the_end(source: str, reference: str, text: str, *, kept: tuple[str, ...]) -> ChangedPair:
    """Inserts a text before the final punctuation of the source."""
    source = source.rstrip()
    end = match.start() if (match := _FINAL.search(source)) else len(source)
    return ChangedPair(source=f"{source[:end]} {text}{source[end:]}".lstrip(), reference=reference, kept=kept)


def straight_quotes(text: str) -> str:
    """Returns a text with all quotes and apostrophes replaced by straight ones."""
    return text.translate(_STRAIGHT)
