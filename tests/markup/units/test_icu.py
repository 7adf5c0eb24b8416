"""ICU messages; the syntax is that of ICU's documentation of MessageFormat and of apostrophes in patterns."""

import pytest
from tests.markup.made_up import MadeUp, translated, translations, unit

from attendo.errors import DataError
from attendo.markup.units.icu import parse_icu, written_icu

ICU = "icu-message-format"


@pytest.mark.parametrize(
    "text",
    [
        "Hello {name}",
        "{n, plural, =0 {none} one {# item} other {# items}}",
        "{g, select, male {He} other {They}} liked {name}''s post",
        "{n, plural, offset:1 one {{g, select, other {a}}} other {b}}",
        "{d, date, ::yMMMd} at {t, time, short}",
    ],
)
def test_what_is_parsed_is_written_as_it_was(text: str) -> None:
    assert written_icu(parse_icu(text), doubles_apostrophes="''" in text) == text


def test_quotes_are_resolved() -> None:
    assert parse_icu("'{'literal'}' it''s {n, plural, other {'#' #}}")[0] == "{literal} it's "


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{n", "an argument that does not end at character"),
        ("{}", "an argument without a name"),
        ("a } b", "a closing brace without an opening one at character 3"),
        ("{n, plural, one {a}}", "no branch 'other' of n"),
        ("{n, plural, other {a}", "branches of n that do not end"),
        ("{a, select, other {" * 12, "too many branches within branches"),
        ("{n, plural, other {a", "a branch other that does not end"),
    ],
)
def test_what_is_no_message(text: str, said: str) -> None:
    with pytest.raises(DataError, match="the ICU message has") as caught:
        parse_icu(text)
    assert said in str(caught.value)


def test_branches_are_those_of_the_target_language() -> None:
    text = "{n, plural, =0 {none} one {# item} other {# items}}"
    expected = "{n, plural, =0 {NONE} one {# ITEM} few {# ITEMS} many {# ITEMS} other {# ITEMS}}"
    assert translated(text, ICU, target="pl") == expected


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        # Exact cases stand beside the categories of the same number, and come first; both are kept.
        (
            "{n, plural, =0 {none} =1 {one item} one {# item} other {# items}}",
            "de",
            "{n, plural, =0 {NONE} =1 {ONE ITEM} one {# ITEM} other {# ITEMS}}",
        ),
        # German's `one` is of 1 alone, which `=1` takes: as Angular writes its messages, no `one` is added.
        (
            "{n, plural, =0 {none} =1 {one item} other {# items}}",
            "de",
            "{n, plural, =0 {NONE} =1 {ONE ITEM} other {# ITEMS}}",
        ),
        # French's `one` is of 0 and 1.5 too (CLDR): it is made of the singular, with its number.
        (
            "{n, plural, =1 {One item} other {# items}}",
            "fr",
            "{n, plural, =1 {ONE ITEM} one {# ITEM} many {# ITEMS} other {# ITEMS}}",
        ),
        (
            "{n, plural, one {An item} other {# items}}",
            "fr",
            "{n, plural, one {# ITEM} many {# ITEMS} other {# ITEMS}}",
        ),
        # Russian's `one` is of 21 too.
        (
            "{n, plural, one {The item} other {# items}}",
            "ru",
            "{n, plural, one {# ITEMS} few {# ITEMS} many {# ITEMS} other {# ITEMS}}",
        ),
        # An argument shows the number as `#` does.
        (
            "{count, plural, =1{1 item} other{{count} items}}",
            "fr",
            "{count, plural, =1 {1 ITEM} one {{count} ITEM} many {{count} ITEMS} other {{count} ITEMS}}",
        ),
        # With an offset, `#` of `=2` is 1, and it is `=2` that `one` is beside.
        (
            "{n, plural, offset:1 =0 {nobody} =1 {you} one {you and # other} other {you and # others}}",
            "de",
            "{n, plural, offset:1 =0 {NOBODY} =1 {YOU} one {YOU AND # OTHER} other {YOU AND # OTHERS}}",
        ),
        # Dart's libraries take `zero` and `two` for these numbers in every language.
        (
            "{n, plural, zero {none} one {# item} two {a pair} other {# items}}",
            "de",
            "{n, plural, zero {NONE} one {# ITEM} two {A PAIR} other {# ITEMS}}",
        ),
        # A number that no integer type holds is a key like another.
        (
            "{n, plural, =" + "9" * 5_000 + " {all #} other {#}}",
            "de",
            "{n, plural, =" + "9" * 5_000 + " {ALL #} one {#} other {#}}",
        ),
    ],
)
def test_exact_cases_and_categories_of_the_same_number(text: str, target: str, expected: str) -> None:
    assert translated(text, ICU, target=target) == expected


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("{n, plural, =1 {# file} one {# file} other {# files}}", "de", {"1 file", "2 files"}),
        ("{n, plural, one {{n} file} other {{n} files}}", "fr", {"1 file", "2 files"}),
        ("{n, plural, offset:1 =2 {you and # friend} other {#}}", "de", {"you and 1 friend"}),
        ("{n, selectordinal, one {#st try} two {#nd try} few {#rd try} other {#th try}}", "fr", {"1st try", "4th try"}),
    ],
)
def test_each_branch_is_translated_with_a_number_that_takes_it(text: str, target: str, expected: set[str]) -> None:
    made_up = MadeUp()
    translated(text, ICU, made_up=made_up, target=target)
    assert {line for batch in made_up.batches for line in batch} == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("de", "{n, selectordinal, other {#. VERSUCH}}"),  # CLDR: `other` alone
        ("fr", "{n, selectordinal, one {ESSAI #er} other {ESSAI #e}}"),
    ],
)
def test_ordinals_have_the_categories_of_the_target_language(target: str, expected: str) -> None:
    words = {
        "de": {"4th try": ["4.", "VERSUCH"]},
        "fr": {"1st try": ["ESSAI", "1er"], "4th try": ["ESSAI", "4e"]},
    }[target]
    text = "{n, selectordinal, one {#st try} two {#nd try} few {#rd try} other {#th try}}"
    assert translated(text, ICU, made_up=MadeUp(words.__getitem__), target=target) == expected


def test_a_branch_is_translated_with_all_that_stands_around_it() -> None:
    found = translated("{g, select, male {He} other {They}} liked {name}''s post.", ICU)
    assert found == "{g, select, male {HE LIKED {name}''S POST.} other {THEY LIKED {name}''S POST.}}"


def test_a_number_sign_stays_that_of_its_own_plural() -> None:
    found = translated("{a, plural, one {# file} other {# files}} in {b, plural, one {# box} other {# boxes}}", ICU)
    assert "other {{a, number} FILES IN # BOXES}" in found


def test_a_plural_within_a_choice() -> None:
    text = "{g, select, a {{n, plural, one {# dog} other {# dogs}}} other {none}}"
    assert translated(text, ICU) == "{g, select, a {{n, plural, one {# DOG} other {# DOGS}}} other {NONE}}"


def test_literal_braces_and_single_apostrophes_stay() -> None:
    assert translated("'{'literal'}' {x} isn't", ICU) == "'{'literal'}' {x} ISN'T"


def test_a_source_that_is_no_message_is_left_as_it_was() -> None:
    [found] = translations([unit("{n, plural, one {a}}", ICU)])
    assert found.is_kept
    assert found.problems == ("the ICU message has no branch 'other' of n at character 21",)
