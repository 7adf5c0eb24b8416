"""Glossaries from the command line, from Python and through files of known formats, with the shipped model."""

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import attendo
from attendo.terms.learning import with_learned_forms

Command = Callable[..., Any]
GLOSSARY = "source\ttarget\nstation\tHaltestelle\nhouse\tHaus\nTom\tTom\n"
LINES = "Where is the station?\nThe houses are old.\nI like Tom.\n"


@pytest.fixture(scope="module")
def engine() -> Iterator[attendo.Engine]:
    with attendo.load("en-de", dtype="int8", threads=1) as engine:
        yield engine


@pytest.fixture
def terms(tmp_path: Path) -> Path:
    path = tmp_path / "terms.tsv"
    path.write_text(GLOSSARY, encoding="utf-8")
    return path


def test_the_words_around_a_term_agree_with_it(engine: attendo.Engine, terms: Path) -> None:
    glossary = attendo.read_glossary(terms, source="en", target="de")
    assert str(engine.translate("Where is the station?")) == "Wo ist der Bahnhof?"
    found = engine.translate("Where is the station?", aids=attendo.Aids(glossary=glossary))
    assert found.text == "Wo ist die Haltestelle?"
    assert found.terms == (
        attendo.TermUse(source="station", target="Haltestelle", outcome="forced", form="Haltestelle"),
    )
    [shouted] = engine.translate(["WHERE IS THE STATION?"], aids=attendo.Aids(glossary=glossary))
    assert shouted.text == "WO IST DIE HALTESTELLE?"


def test_a_text_of_several_lines_has_the_terms_of_each(engine: attendo.Engine, terms: Path) -> None:
    glossary = attendo.read_glossary(terms, source="en", target="de")
    found = engine.translate("Where is the station?\nThe houses are old.", aids=attendo.Aids(glossary=glossary))
    assert [use.outcome for use in found.terms] == ["forced", "inflected"]
    assert found.text.split("\n")[0] == "Wo ist die Haltestelle?"


def test_an_engine_keeps_its_glossary(engine: attendo.Engine, terms: Path) -> None:
    glossary = attendo.read_glossary(terms, source="en", target="de")
    with_terms = engine.with_aids(attendo.Aids(glossary=glossary))
    assert str(with_terms.translate("Where is the station?")) == "Wo ist die Haltestelle?"
    assert str(engine.translate("Where is the station?")) == "Wo ist der Bahnhof?"
    again = pickle.loads(pickle.dumps(with_terms))  # our own
    assert str(again.translate("Where is the station?")) == "Wo ist die Haltestelle?"


def test_something_else_than_a_glossary(engine: attendo.Engine) -> None:
    with pytest.raises(TypeError, match=r"takes a Glossary, not a str; attendo.read_glossary\(FILE\) gives one"):
        attendo.Aids(glossary="terms.tsv")  # type: ignore[arg-type]
    for wrong in (lambda: engine.translate("a", aids="a.tsv"), lambda: engine.with_aids("a.tsv")):  # type: ignore
        with pytest.raises(TypeError, match=r"\(\) takes aids as Aids\(glossary=..., memory=...\), not a str"):
            wrong()


def test_lines(attendo: Command, terms: Path) -> None:
    finished = attendo("translate", "en-de", "--glossary", terms, "--dtype", "int8", stdin=LINES.encode())
    assert finished.status == 0
    assert finished.out.splitlines()[0] == "Wo ist die Haltestelle?"
    assert "glossary: 1 term kept, 1 inflected, 1 forced, 0 missed\n" in finished.err
    finished = attendo("translate", "en-de", "--glossary", terms, "--json", "--dtype", "int8", stdin=LINES.encode())
    found = [json.loads(line)["terms"] for line in finished.out.splitlines()]
    assert [use["outcome"] for uses in found for use in uses] == ["forced", "inflected", "kept"]


def test_a_file_goes_on_and_says_which_lines_missed_a_term(attendo: Command, terms: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text(LINES, encoding="utf-8")
    # So short a translation has no room for the term.
    options = ("--set", "search.max_len=1", "--set", "search.max_len_offset=0", "--dtype", "int8")
    finished = attendo("translate", "en-de", source, "-o", output, "--glossary", terms, *options)
    assert finished.status == 0
    assert "missed: line 1: 'station' as 'Haltestelle'\n" in finished.err
    assert len(output.read_text(encoding="utf-8").splitlines()) == 3


def test_a_catalogue(attendo: Command, terms: Path, tmp_path: Path) -> None:
    source, output, report = tmp_path / "a.po", tmp_path / "b.po", tmp_path / "report.json"
    source.write_text('msgid "Where is the <b>station</b>?"\nmsgstr ""\n\nmsgid "yes"\nmsgstr ""\n', encoding="utf-8")
    finished = attendo(
        "translate", "en-de", source, "-o", output, "--glossary", terms, "--report", report, "--dtype", "int8"
    )
    assert finished.status == 0
    assert "Haltestelle" in output.read_text(encoding="utf-8")
    assert "glossary: 0 terms kept, 0 inflected, 1 forced, 0 missed\n" in finished.err
    said = json.loads(report.read_text(encoding="utf-8"))
    assert said["terms"] == {"kept": 0, "inflected": 0, "forced": 1, "missed": 0}
    assert [use["form"] for use in said["units"][0]["terms"]] == ["Haltestelle"]


def test_translate_file(engine: attendo.Engine, terms: Path, tmp_path: Path) -> None:
    source = tmp_path / "a.po"
    source.write_text('msgid "Where is the station?"\nmsgstr ""\n', encoding="utf-8")
    glossary = attendo.read_glossary(terms, source="en", target="de")
    done = attendo.translate_file(engine, source, aids=attendo.Aids(glossary=glossary))
    assert "Wo ist die Haltestelle?" in done.content.decode()
    assert done.report.terms == {"forced": 1}


def test_bad_glossaries_are_named(attendo: Command, tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("a,b\na,c\n", encoding="utf-8")
    finished = attendo("translate", "en-de", "--glossary", path, stdin=b"")
    assert finished.status == 1
    assert f"{path}: a term is there twice" in finished.err
    path.write_text("a,b\nc,\n", encoding="utf-8")
    finished = attendo("translate", "en-de", "--glossary", path, stdin=b"")
    assert f"{path}: line 2: has no translation of 'c'; the entry is left out\n" in finished.err


def test_forms_learned_from_a_text_are_the_only_ones_that_people_write(terms: Path) -> None:
    glossary = attendo.read_glossary(terms, source="en", target="de")
    learned = with_learned_forms(glossary, ["Die H\u00e4user stehen hier, die Haltestellen dort."])
    assert [term.forms for term in learned.terms] == [("Haltestellen",), ("H\u00e4user",), ()]
