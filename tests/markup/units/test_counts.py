"""The number that stands for a count while it is translated, and the count in its place again."""

import pytest

from attendo.markup.units.counts import with_number, with_placeholder


@pytest.mark.parametrize(
    ("source", "translation", "language", "expected"),
    [
        ("Delete %d files?", "2-Dateien löschen?", "de", "%d Dateien löschen?"),
        ("Delete %d files?", "2 Dateien löschen?", "de", "%d Dateien löschen?"),
        ("%d day trial", "2-tägige Testversion", "de", "%d-tägige Testversion"),
        ("%d way test", "2-Wege-Test", "de", "%d-Wege-Test"),
        ("%d-file limit", "2-Dateien Grenze", "de", "%d-Dateien Grenze"),
        ("Delete %d files?", "2-Fichiers", "fr", "%d-Fichiers"),
    ],
)
def test_a_hyphen_behind_the_count_is_left_out_where_german_has_none(
    source: str, translation: str, language: str, expected: str
) -> None:
    _, count = with_number((source,), ("c-format",), 2)
    assert count is not None
    assert with_placeholder((translation,), count, language) == (expected,)
