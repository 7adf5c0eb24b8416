"""Languages by prefix, as BCP 47 and RFC 4647 have it, and the text of contents with codes."""

import pytest

from attendo.formats.contents import Code, Content
from attendo.formats.pairs.selection import Selection, content_text, is_variant, without_codes


@pytest.mark.parametrize(
    ("language", "wanted", "expected"),
    [
        ("de", "de", True),
        ("DE-at", "de", True),
        ("de_AT", "de-AT", True),
        ("sr@Latn", "sr-Latn", True),
        ("zh-Hant-TW", "zh-Hant", True),
        ("de", "de-AT", False),
        ("de-CH", "de-AT", False),
        ("deu", "de", False),
        ("", "de", False),
    ],
)
def test_a_code_stands_for_those_that_begin_with_it(language: str, wanted: str, expected: bool) -> None:
    assert is_variant(language, wanted) is expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["Press ", None, " now"], "Press now"),
        (["Press ", None, "now"], "Press now"),
        (["a", None, "b"], "ab"),
        ([None, " a"], "a"),
        ([" a ", None], " a "),
        (["a ", None, None, "  b"], "a  b"),
        ([], ""),
    ],
)
def test_a_code_between_two_blanks_takes_one_along(parts: list[str | None], expected: str) -> None:
    assert without_codes(parts) == expected


def test_protected_text_stays_and_other_codes_do_not() -> None:
    content: Content = (
        "Open ",
        Code(id="1", raw='<mrk mtype="protected">Foto &amp; <x id="2"/>Co</mrk>'),
        " ",
        Code(id="3", raw='<ph id="3">{0}</ph>'),
        " now",
    )
    assert content_text(content) == "Open Foto & Co now"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["id", "en", "de"], (1, 2)),
        (["de-AT", "EN_us"], (1, 0)),
        (["de-AT", "de", "en"], (2, 1)),
        (["Target", "Source"], (1, 0)),
        (["en", "translation"], (0, 1)),
        (["en", "fr"], None),
        (["text"], None),
        ([], None),
    ],
)
def test_columns_are_found_by_language_or_use(names: list[str], expected: tuple[int, int] | None) -> None:
    assert Selection(source_language="en", target_language="de").sides_of(names) == expected
