"""Access keys as texts of their own (case 35): a letter of the label, as Mozilla's guide for localisers has it."""

from pathlib import Path

import pytest
from tests.workflow.documents.test_documents import written

from attendo.markup.units.access_keys import access_key


@pytest.mark.parametrize(
    ("source", "label", "expected"),
    [
        ("S", "Speichern", "S"),
        ("s", "Speichern", "S"),
        ("S", "Als Datei", "s"),
        ("O", "Eigene Datei", "E"),
        ("F", "ファイル", "F"),
        ("x", "", "x"),
    ],
)
def test_the_key_is_a_letter_of_the_label(source: str, label: str, expected: str) -> None:
    assert access_key(source, label) == expected


def test_keys_of_fluent_follow_their_labels(tmp_path: Path) -> None:
    text = (
        "save =\n    .label = quick red dog\n    .accesskey = V\nopen = Open it\n    .accesskey = n\n    .key = O\n"
        "alone =\n    .accesskey = x\n"
    )
    found = written(tmp_path / "x.ftl", text)
    assert ".label = QUICK RED DOG\n    .accesskey = Q\n" in found
    assert "open = OPEN IT\n    .accesskey = N\n    .key = O\n" in found


def test_keys_of_properties_follow_their_labels(tmp_path: Path) -> None:
    text = "a.label=good dog\na.accesskey=d\nb=Old cat\nb.accesskey=w\n"
    assert written(tmp_path / "x.properties", text) == "a.label=GOOD DOG\na.accesskey=D\nb=OLD CAT\nb.accesskey=O\n"
