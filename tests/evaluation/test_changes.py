"""Each change against a pair worked by hand; what chance chooses is checked by what has to hold whatever it chose."""

import random
import re
from collections import Counter

import pytest

from attendo.evaluation import changes

SOURCE, REFERENCE = "The baker's cat sleeps in room 12.", "Die Katze des Bäckers schläft in Zimmer 12."


def chance(seed: int = 1) -> random.Random:
    return random.Random(seed)


def test_capitals() -> None:
    upper = changes.upper_cased("Große Füße?", "Big feet?", chance())
    assert (upper.source, upper.reference) == ("GROSSE FÜSSE?", "BIG FEET?")
    title = changes.title_cased('He said: "go on", twice. 3rd «time»', "", chance())
    assert title.source == 'He Said: "Go On", Twice. 3rd «Time»'
    assert changes.lower_cased("NATO met Ann.", "x", chance()).source == "nato met ann."


@pytest.mark.parametrize(
    ("source", "reference", "wanted"),
    [
        ("Go home!", "Geh heim!", "Go home"),
        ("Well ...", "Nun ...", "Well"),
        ("Really?! ", "Wirklich?", "Really"),
        ("No stop here", "Hier.", None),
        ("Here.", "Hier", None),
        ("...", "...", None),
    ],
)
def test_final_punctuation(source: str, reference: str, wanted: str | None) -> None:
    changed = changes.unpunctuated(source, reference, chance())
    assert (changed and changed.source) == wanted


def damerau(one: str, other: str) -> int:
    """Edits between two words, a swap of neighbours as one: the textbook's recursion."""
    if not one or not other:
        return len(one) + len(other)
    found = min(
        damerau(one[1:], other) + 1,
        damerau(one, other[1:]) + 1,
        damerau(one[1:], other[1:]) + (one[0] != other[0]),
    )
    if len(one) > 1 and len(other) > 1 and one[:2] == other[1::-1]:
        found = min(found, damerau(one[2:], other[2:]) + 1)
    return found


def test_a_misspelled_word_is_one_edit_away_and_keeps_its_first_letter() -> None:
    drawn = chance()
    found = Counter(changes.misspelled("Kettle", drawn) for _ in range(300))
    assert all(damerau("Kettle", word) == 1 and word[0] == "K" for word in found)
    # One of each kind: left out, doubled, swapped, the key beside.
    assert {"Kettl", "Kettlee", "Kettel", "Kettlw"} <= found.keys()


def test_typos_are_one_a_line_or_one_for_ten_letters() -> None:
    for seed in range(30):
        one = changes.with_typos("Yesterday our neighbours repaired the big clock.", "r", chance(seed), dense=False)
        many = changes.with_typos("Yesterday our neighbours repaired the big clock.", "r", chance(seed), dense=True)
        assert one is not None
        assert many is not None
        words = ["Yesterday", "our", "neighbours", "repaired", "the", "big", "clock."]
        differing = [sum(a != b for a, b in zip(words, changed.source.split(), strict=True)) for changed in (one, many)]
        assert differing == [1, 4]  # 41 letters, and four words of four letters and more
    assert changes.with_typos("Is he up?", "r", chance(), dense=True) is None


def test_emoji_numbers_and_addresses_are_put_in_and_have_to_come_out() -> None:
    end = changes.emoji_at_the_end(SOURCE, REFERENCE, chance())
    assert end.source == f"{SOURCE} {end.kept[0]}"
    assert end.reference == REFERENCE
    within = changes.with_emoji_within("Two red birds sing", "r", chance())
    assert within is not None
    words = within.source.split()
    assert words[0] == "Two"
    assert words[-1] == "sing"
    assert [word for word in words if word != within.kept[0]] == ["Two", "red", "birds", "sing"]
    assert changes.with_emoji_within("Hello you", "r", chance()) is None
    number = changes.number_at_the_end("Call me!", "r", chance())
    assert re.fullmatch(r"Call me \(\d{5}\)!", number.source)
    assert number.kept[0] in number.source
    for change in (changes.url_behind, changes.email_behind, changes.placeholders_at_the_end):
        changed = change("Call me", "r", chance())
        assert changed.source == " ".join(["Call me", *changed.kept])
    assert changes.marked_up("Call me. ", "r", chance()).source == "<b>Call me.</b>"


def test_amounts_have_the_separators_of_their_language() -> None:
    assert changes.grouped(1_234_567, 5, ".", ",") == "1.234.567,05"
    changed = changes.amount_at_the_end("It costs that.", "r", chance(), forms=((",", "."), (".", ",")))
    [wanted] = changed.kept
    swapped = wanted.translate(str.maketrans(".,", ",."))
    assert changed.source == f"It costs that {swapped}."


def test_numbers_are_replaced_where_both_sides_have_them() -> None:
    changed = changes.with_other_numbers("In 1987 we had 30 of 7, or 4.500.", "1987 hatten wir 30.", chance())
    assert changed is not None
    first, second = changed.kept
    assert (len(first), len(second)) == (4, 2)
    assert changed.source == f"In {first} we had {second} of 7, or 4.500."
    assert changed.reference == f"{first} hatten wir {second}."
    assert changes.with_other_numbers("It is 12:30, or 12 and 12.", "12", chance()) is None


def test_white_space() -> None:
    assert changes.with_double_spaces("a b c", "", chance()).source == "a  b  c"
    assert changes.with_tabs("a b c", "", chance()).source == "a\tb\tc"
    assert changes.with_spaces_around("a b", "", chance()).source == "  a b "


@pytest.mark.parametrize(
    ("language", "source", "wanted"),
    [
        ("en", "\"It's late,\" she said ('so').", "“It’s late,” she said (‘so’)."),
        ("de", '"Geht\'s?", fragte sie: "Ja."', "„Geht’s?“, fragte sie: „Ja.“"),
        ("en", "“It’s late,” she said.", '"It\'s late," she said.'),
        ("en", "Nothing here", "Nothing here"),
    ],
)
def test_quotes(language: str, source: str, wanted: str) -> None:
    assert changes.with_other_quotes(source, "", chance(), language=language).source == wanted
    assert changes.straight_quotes("„a“ «b» ‚c‘ d’") == '"a" "b" \'c\' d\''
