"""ICU messages; the syntax is that of ICU's documentation of MessageFormat and of apostrophes in patterns."""

import pytest
from tests.markup.made_up import translated, translations, unit

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
