"""What translations keep, counted; the numbers were counted by hand."""

import pytest

from attendo.errors import DataError
from attendo.evaluation.kept import KeptOfKind, kept_report

SOURCES = ["It costs $1,249.99 in 2024.", "Set my_var to 7.", "Three dogs.", "No value here.", "Page 12 of 12"]
REFERENCES = ["2024 kostet es 1.249,99 $.", "Setzen Sie my_var auf 7.", "3 Hunde.", "Kein Wert.", "Seite 12 von 12"]


def test_the_references_keep_everything() -> None:
    report = kept_report(SOURCES, REFERENCES, REFERENCES, source_language="en", target_language="de")
    assert (report.lines, report.good_lines, report.examples) == (3, 3, ())
    assert report.kinds == {
        "identifier": KeptOfKind(wanted=1, kept=1),
        "number": KeptOfKind(wanted=5, kept=5),
    }


def test_a_full_hour_may_be_a_word_of_the_source() -> None:
    sources, references = ["At five o'clock.", "At six o'clock."], ["Um fünf.", "Um sechs."]
    outputs = ["Um 5 Uhr.", "Um 5 Uhr."]
    report = kept_report(sources, outputs, references, source_language="en", target_language="de")
    assert [(example.line, example.invented) for example in report.examples] == [(2, ("05:00",))]
    unknown = kept_report(sources, outputs, references)
    assert [example.line for example in unknown.examples] == [1, 2]


def test_what_is_lost_and_what_is_invented() -> None:
    outputs = ["Es kostet 1.249,99 $ im Jahr 204.", "Setzen Sie my_var auf 8.", "Drei Hunde.", "Kein Wert.", "Seite 12"]
    report = kept_report(SOURCES, outputs, REFERENCES, source_language="en", target_language="de")
    assert (report.lines, report.good_lines) == (3, 0)
    assert report.kinds["number"] == KeptOfKind(wanted=5, kept=2, invented=1), "8 may be a word of the source"
    assert [(example.line, example.lost, example.invented) for example in report.examples] == [
        (1, ("2024",), ("204",)),
        (2, ("7",), ()),
        (5, ("12",), ()),
    ]
    text = report.to_text().splitlines()
    assert text[0] == "kept"
    assert text[1].split() == ["values", "wanted", "kept", "%", "invented"]
    assert text[2].split() == ["identifier", "1", "1", "100.00", "0"]
    assert text[3].split() == ["number", "5", "2", "40.00", "1"]
    assert text[4] == "0 of 3 lines (0.00 %) have all that is wanted and nothing invented"
    assert text[5] == f"line 1: lost 2024; invented 204: {SOURCES[0]} | {outputs[0]}"
    assert report.to_json()["kinds"]["number"] == {"wanted": 5, "kept": 2, "invented": 1}


def test_a_set_without_values() -> None:
    report = kept_report(["Yes."], ["Ja."], ["Ja."])
    assert report.to_text().splitlines()[2:] == ["0 of 0 lines have all that is wanted and nothing invented"]


def test_unequal_sides_are_refused() -> None:
    with pytest.raises(DataError, match="output has 1 lines, reference has 2"):
        kept_report(["a", "b"], ["a"], ["a", "b"])
