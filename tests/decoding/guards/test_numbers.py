"""How languages write numbers: expected values are CLDR's conventions, written out by hand."""

import pytest

from attendo.decoding.guards.numbers import localised


@pytest.mark.parametrize(
    ("number", "source", "target", "expected"),
    [
        ("1,500.25", "en", "de", "1.500,25"),
        ("1.500,25", "de", "en", "1,500.25"),
        ("3.5", "en", "de", "3,5"),
        ("3,5", "de", "en", "3.5"),
        ("12,345,678", "en", "de", "12.345.678"),
        ("12,345,678.9", "en", "fr", "12\u202f345\u202f678,9"),
        ("12\u202f345,5", "fr", "en", "12,345.5"),
        ("12\u00a0345", "fr", "de", "12.345"),
        ("1.500", "de", "en", "1,500"),  # of German these are thousands
        ("1.500", "en", "de", "1,500"),  # and of English decimals
        ("1234567", "en", "de", "1234567"),
        ("12345.5", "en", "de", "12345,5"),
        # What the source language does not write stays: dates, versions, lists.
        ("12.10.2031", "de", "en", "12.10.2031"),
        ("12.10", "de", "en", "12.10"),
        ("1,2,3", "en", "de", "1,2,3"),
        ("2031-05-17", "en", "de", "2031-05-17"),
        ("3.11.2", "en", "de", "3.11.2"),
        # So does everything where a language's way is not known, or there is no other.
        ("1,500.25", "en", "xx", "1,500.25"),
        ("1,500.25", "", "de", "1,500.25"),
        ("1,500.25", "en", "en", "1,500.25"),
        ("1.500,25", "de", "nl", "1.500,25"),
    ],
)
def test_a_number_as_another_language_writes_it(number: str, source: str, target: str, expected: str) -> None:
    assert localised(number, source, target) == expected
