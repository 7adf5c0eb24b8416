"""Pairs changed for training: what may change, what may not, and how often."""

import random
import re
from dataclasses import fields
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.text.augmentation import (
    Augmentation,
    AugmentationConfig,
    in_another_case,
    with_made_up_names,
    with_made_up_strings,
    with_other_digits,
    with_other_punctuation,
    with_placeholders,
    with_typos,
)

SOURCE = "Yesterday Olga's cousin showed 1066 pebbles, 17 shells and a map to Henrike."
TARGET = "Gestern zeigte Olgas Cousin Henrike 1066 Kiesel, 17 Muscheln und eine Karte."
SYMBOLS = ("⟦1⟧", "⟦2⟧", "⟦3⟧")
SEEDS = range(200)
KINDS = [kind.name for kind in fields(AugmentationConfig)]
TEXT = st.text(min_size=1).filter(lambda text: text.strip() and "\n" not in text)


def edit_distance(a: str, b: str) -> int:
    """Levenshtein's, by the textbook's table."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        previous, row[0] = row[0], i
        for j, right in enumerate(b, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]


def test_case_is_all_that_changes() -> None:
    found = {in_another_case(SOURCE, random.Random(seed)) for seed in SEEDS}
    assert {text.lower() for text in found} == {SOURCE.lower()}
    assert SOURCE.lower() in found
    assert "Yesterday Olga's Cousin Showed 1066 Pebbles, 17 Shells And A Map To Henrike." in found
    assert "yesterday Olga's cousin showed 1066 pebbles, 17 shells and a map to Henrike." in found
    assert "Yesterday Olga's cousin showed 1066 PEBBLES, 17 shells and a map to Henrike." in found


def test_punctuation_is_all_that_changes() -> None:
    source, target = 'He said: "Don\'t, please!"', "Er sagte: „Bitte nicht!“"
    found = {with_other_punctuation(source, target, random.Random(seed)) for seed in SEEDS}
    assert {re.sub(r"[\"“'’,]", "", text) for text, _ in found} == {re.sub(r"[\"“',]", "", source)}
    assert {other for _, other in found} == {target}, "its end is no final mark, and so stays"
    ends = {with_other_punctuation("Come in.", "Komm herein!", random.Random(seed)) for seed in SEEDS}
    assert ends == {
        ("Come in", "Komm herein"),
        ("Come in..", "Komm herein!!"[:-1] + "."),
        ("Come in...", "Komm herein!.."),
        ("Come in.", "Komm herein!"),
    }


def test_about_one_letter_in_twenty_slips() -> None:
    most = 1 + sum(letter.isalpha() for letter in SOURCE) // 20
    distances = [edit_distance(SOURCE, with_typos(SOURCE, random.Random(seed))) for seed in SEEDS]
    assert max(distances) <= 2 * most, "two letters that change places are two edits"
    assert sum(distance > 0 for distance in distances) > 0.95 * len(distances)
    for seed in SEEDS:
        slipped = with_typos(SOURCE, random.Random(seed))
        assert re.sub(r"[^\W\d_]", "", slipped) == re.sub(r"[^\W\d_]", "", SOURCE), "only letters slip"
    assert with_typos("17 + 4?", random.Random(1)) == "17 + 4?"
    assert with_typos("", random.Random(1)) == ""


def test_a_made_up_name_is_the_same_on_both_sides() -> None:
    pattern = "Yesterday Olga's cousin showed (\\d+) pebbles, (\\d+) shells and a map to ([^\\W\\d]+)\\."
    names = set()
    for seed in SEEDS:
        source, target = with_made_up_names(SOURCE, TARGET, random.Random(seed))
        found = re.fullmatch(pattern, source)
        assert found, source
        assert (
            target == f"Gestern zeigte Olgas Cousin {found[3]} {found[1]} Kiesel, {found[2]} Muscheln und eine Karte."
        )
        names.add(found[3])
    assert len(names) > len(SEEDS) / 2
    assert "Henrike" not in names


def test_nothing_is_made_up_where_nothing_is_shared() -> None:
    pair = ("We saw it in Venice.", "Wir sahen es in Venedig.")
    assert with_made_up_names(*pair, random.Random(1)) == pair
    twice = ("Anna likes Anna.", "Anna mag Anna.")
    assert with_made_up_names(*twice, random.Random(1)) == twice, "which of them is which, nobody knows"


def test_each_placeholder_stands_on_both_sides_once() -> None:
    used = set()
    for pair in ((SOURCE, TARGET), ("We left early.", "Wir gingen früh.")):
        for seed in SEEDS:
            source, target = with_placeholders(*pair, SYMBOLS, random.Random(seed))
            symbols = re.findall("⟦.⟧", source)
            assert sorted(symbols) == sorted(re.findall("⟦.⟧", target))
            assert len(set(symbols)) == len(symbols) >= 1
            used.update(symbols)
    assert used == set(SYMBOLS)
    assert with_placeholders(SOURCE, TARGET, (), random.Random(1)) == (SOURCE, TARGET)


def test_each_kind_comes_as_often_as_its_share_says() -> None:
    for kind in ("casing", "typos", "copies", "names", "letters", "strings", "placeholders", "same_language"):
        augment, rng = Augmentation(AugmentationConfig(**{kind: 0.25}), SYMBOLS, ("en", "de")), random.Random(7)
        changed = sum(augment(SOURCE, TARGET, rng) != (SOURCE, TARGET) for _ in range(2000))
        assert 400 < changed < 560, f"{kind}: 500 expected, five standard deviations are 97"
    off, rng = Augmentation(AugmentationConfig(), SYMBOLS), random.Random(7)
    assert all(off(SOURCE, TARGET, rng) == (SOURCE, TARGET) for _ in range(100))


def test_the_target_as_its_own_source() -> None:
    assert Augmentation(AugmentationConfig(same_language=1.0), ())(SOURCE, TARGET, random.Random(1)) == (TARGET, TARGET)


@pytest.mark.parametrize("kind", KINDS)
def test_no_side_is_changed_into_nothing(kind: str) -> None:
    # Of a full stop or a single letter nothing might be left, which would teach to write out of nothing.
    augment = Augmentation(AugmentationConfig(**{kind: 1.0}), SYMBOLS, ("de", "fr"))
    small = (".", "?!", "…", ",", '"', "a", "7", "Bo", "⟦1⟧")
    for source, target, seed in product(small, small, range(20)):
        assert all(augment(source, target, random.Random(seed)))


@given(source=TEXT, target=TEXT, kinds=st.sets(st.sampled_from(KINDS)), seed=st.integers(0, 2**32))
def test_any_text_is_changed_within_its_line(source: str, target: str, kinds: set[str], seed: int) -> None:
    augment = Augmentation(AugmentationConfig(**dict.fromkeys(kinds, 1.0)), SYMBOLS, ("en", "fr"))
    assert "\n" not in "".join(augment(source, target, random.Random(seed)))


def test_what_is_no_share_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"typos = 1.5 is not within 0 and 1; take 0.1, or 0.0; copies = -0.1 is not within"
    ):
        AugmentationConfig(typos=1.5, copies=-0.1)
    assert AugmentationConfig().is_off
    assert not any(AugmentationConfig(**{kind.name: 0.5}).is_off for kind in fields(AugmentationConfig))


def test_digits_of_a_longer_number_stay_as_many_and_in_their_places() -> None:
    source, target = "On 14.05.2023 at 17:45 it was $1,249.50.", "Am 14.05.2023 um 17:45 Uhr waren es 1.249,50 $."
    numbers = set()
    for seed in SEEDS:
        found = with_other_digits(source, target, random.Random(seed))
        ours = re.fullmatch(r"On (\d\d\.\d\d\.\d{4}) at (\d\d:\d\d) it was \$(\d),(\d{3})\.(\d\d)\.", found[0])
        theirs = re.fullmatch(r"Am (\d\d\.\d\d\.\d{4}) um (\d\d:\d\d) Uhr waren es (\d)\.(\d{3}),(\d\d) \$\.", found[1])
        assert ours, found[0]
        assert theirs, found[1]
        assert ours.groups() == theirs.groups()
        numbers.add(ours[0])
    assert len(numbers) > len(SEEDS) / 2


def test_digits_of_words_and_of_one_side_alone_stay() -> None:
    pair = ("Int32 of 7, x86_64, 2nd, 12", "Int32 von sieben, x86_64, 2., 13")
    assert with_other_digits(*pair, random.Random(1)) == pair


def test_strings_of_programs_give_way_to_made_up_ones() -> None:
    source, target = "Set my_var in /etc/app.conf (see --help).", "Setzen Sie my_var in /etc/app.conf (siehe --help)."
    seen = set()
    for seed in SEEDS:
        ours, theirs = with_made_up_strings(source, target, random.Random(seed))
        found = re.fullmatch(r"Set (.+) in (.+) \(see (.+)\)\.", ours)
        assert found, ours
        assert theirs == f"Setzen Sie {found[1]} in {found[2]} (siehe {found[3]})."
        assert {found[1], found[2], found[3]}.isdisjoint({"my_var", "/etc/app.conf", "--help"})
        seen.add(found[1])
    assert len(seen) > 0.9 * len(SEEDS)


def test_where_no_string_is_shared_one_is_put_at_an_end_of_both() -> None:
    for seed in SEEDS:
        ours, theirs = with_made_up_strings("We left early.", "Wir gingen früh.", random.Random(seed))
        before, _, behind = ours.partition("We left early")
        assert (before, behind) == (theirs.partition("Wir gingen früh")[0], theirs.partition("Wir gingen früh")[2])
        assert before or behind not in ("", ".")


def test_the_number_of_a_placeholder_is_no_number_of_the_text() -> None:
    source, target = "Henrike has 1 cat, 2 dogs and 3 mice.", "Henrike hat 1 Katze, 2 Hunde und 3 Mäuse."
    for seed in SEEDS:
        for text in with_placeholders(source, target, SYMBOLS, random.Random(seed)):
            assert not re.search("⟦[^123]|⟦.[^⟧]|[^123]⟧", text), text
    masked = ("See ⟦1⟧ there.", "Siehe ⟦1⟧ dort.")
    assert with_made_up_names(*masked, random.Random(1)) == masked
