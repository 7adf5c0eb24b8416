"""An engine with a translation memory, by the model that ships: the pairs are written by hand."""

import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.memory.conftest import po, write_pairs

import attendo
from attendo.decoding.constraints.frames import Frame
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.errors import AttendoError, DataError, ModelError
from attendo.workflow.engines.engine import Engine

PAIRS = [
    ("Open the file", "Datei aufmachen"),
    ("The train leaves at 9 from platform 3.", "Der Zug fährt um 9 von Gleis 3 ab."),
    ("Where is the small red house?", "Wo steht denn das kleine rote Haus?"),
]
UNKNOWN = ["I like dogs.", "My sister has three children.", ""]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with attendo.load("en-de", threads=1) as engine:
        yield engine


@pytest.fixture
def remembering(engine: Engine, tmp_path: Path) -> Engine:
    return engine.with_aids(attendo.Aids(memory=write_pairs(tmp_path / "m.tsv", PAIRS)))


def test_texts_that_the_memory_has_are_taken_and_marked(remembering: Engine) -> None:
    found = remembering.translate(["Open the file\n", "The train leaves at 8 from platform 12."])
    assert [each.text for each in found] == ["Datei aufmachen", "Der Zug fährt um 8 von Gleis 12 ab."]
    assert [each.match and (each.match.kind, each.match.score) for each in found] == [("exact", 100), ("changed", 99)]
    assert remembering.counts.matches == {"exact": 1, "changed": 1}
    assert remembering.counts.lines == 2


def test_other_texts_are_translated_as_without_a_memory(engine: Engine, remembering: Engine) -> None:
    assert remembering.translate(UNKNOWN) == engine.translate(UNKNOWN)
    mixed = remembering.translate([UNKNOWN[0], "Open the file", *UNKNOWN[1:]])
    assert [mixed[0], *mixed[2:]] == engine.translate(UNKNOWN)
    assert list(remembering.stream(UNKNOWN)) == engine.translate(UNKNOWN)


def test_a_similar_text_is_translated_as_people_translated_the_other(engine: Engine, remembering: Engine) -> None:
    text = "Where is the small green house?"
    found = remembering.translate(text)
    assert found.match is not None
    assert (found.match.kind, found.match.score) == ("fuzzy", 85)  # 6 of 7 words, the mark being one
    assert found.text.startswith("Wo steht denn das kleine ")
    assert found.text.endswith(" Haus?")
    assert "rote" not in found.text
    assert not engine.translate(text).text.startswith("Wo steht denn")
    assert found.log_prob == pytest.approx(next(engine.score([(text, found.text)])).log_prob, abs=1e-3)


def test_the_gap_of_a_frame_is_filled_by_the_model(engine: Engine) -> None:
    frame = Frame(stretches=("Wo steht das", "Haus?"), gaps=(0, 4, 0))
    found = engine.translate("Where is the small house?", Constraints(frame=frame), forbidden_words=("kleine",))
    assert re.fullmatch(r"Wo steht das (\w+ )+Haus\?", found.text)
    assert "kleine" not in found.text.split()


def test_lines_with_constraints_do_not_use_the_memory(remembering: Engine) -> None:
    found = remembering.translate("Open the file", Constraints(target_prefix="Öffnen"))
    assert found.text.startswith("Öffnen")
    assert found.match is None


def test_several_translations_come_from_the_model_unless_the_text_is_there(remembering: Engine) -> None:
    found = remembering.translate(["Where is the small green house?", "Open the file"], n_best=2)
    assert [len(each.n_best) for each in found] == [2, 1]
    assert found[0].match is None
    assert found[1].text == "Datei aufmachen"


def test_what_is_taken_can_be_aligned_and_streamed(remembering: Engine) -> None:
    [(translation, [alignment])] = remembering.stream_aligned(["Open the file"])
    assert translation.text == "Datei aufmachen"
    assert alignment.source_words == ("Open", "the", "file")
    assert alignment.target_words == ("Datei", "aufmachen")


def test_a_server_uses_similar_texts_as_files_do(remembering: Engine) -> None:
    lines = ["I like dogs.", "Where is the small green house?", "Open the file", "Where is the small blue house?"]
    asked: list[int] = []

    def between_steps() -> frozenset[int]:
        asked.append(1)
        return frozenset()

    expected = remembering.translate(lines)
    assert [each.match and each.match.kind for each in expected] == [None, "fuzzy", "exact", "fuzzy"]
    assert remembering.translate_watched(lines, None, between_steps) == expected
    assert remembering.translate_watched(lines, None, lambda: {4}) == [*expected[:3], None]
    last = len(asked)

    def ends_at_last() -> frozenset[int]:
        asked.pop()
        if not asked:
            raise InterruptedError(last)
        return frozenset()

    with pytest.raises(InterruptedError, match=str(last)):  # within the scoring of the candidates
        remembering.translate_watched(lines, None, ends_at_last)


def test_the_line_before_is_a_context_in_a_text_but_not_among_the_lines_of_a_server(
    engine: Engine, tmp_path: Path
) -> None:
    pairs = [("State", "Zustand"), ("Open", "Offen"), ("Verb", "Tunwort"), ("Open", "Aufmachen")]
    remembering = engine.with_aids(attendo.Aids(memory=write_pairs(tmp_path / "m.tsv", pairs)))
    lines = ["State", "Open"]
    assert [each.text for each in remembering.translate(lines)] == ["Zustand", "Offen"]
    found = remembering.translate_watched(lines, None, frozenset)
    assert [each and each.text for each in found] == ["Zustand", "Aufmachen"]


def test_cancelled_lines_of_a_server_are_those_that_are_searched(remembering: Engine) -> None:
    lines = ["I like dogs.", "Open the file", "I like cats."]
    found = remembering.translate_watched(lines, None, lambda: {1})
    assert [each and each.text for each in found] == [None, "Datei aufmachen", "Ich mag Katzen."]


def test_aids_of_a_call_take_the_place_of_those_of_the_engine(remembering: Engine, tmp_path: Path) -> None:
    text = "Open the file"
    others = attendo.Aids(memory=write_pairs(tmp_path / "others.tsv", [(text, "Akte aufschlagen")]))
    assert remembering.translate(text, aids=others).text == "Akte aufschlagen"
    assert [each.text for each in remembering.stream([text], aids=others)] == ["Akte aufschlagen"]
    assert remembering.translate(text, aids=attendo.Aids()).match is None
    term = attendo.Term(source="station", target="Haltestelle")
    glossary = attendo.Glossary(terms=(term,), source_language="en", target_language="de")
    more = replace(remembering.aids, glossary=glossary)
    found = remembering.translate([text, "Where is the station?"], aids=more)
    assert [each.text for each in found] == ["Datei aufmachen", "Wo ist die Haltestelle?"]
    assert remembering.translate(text).text == "Datei aufmachen"


def test_a_line_with_terms_is_looked_up_too(remembering: Engine) -> None:
    term = attendo.Term(source="file", target="Akte")
    glossary = attendo.Glossary(terms=(term,), source_language="en", target_language="de")
    assert remembering.translate("Open the file", Constraints(terms=glossary)).text == "Datei aufmachen"


def test_load_opens_memories_and_a_pickled_engine_has_them_again(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "m.tsv", PAIRS)
    with attendo.load("en-de", threads=1, aids=attendo.Aids(memory=path, memory_threshold=80)) as engine:
        again = pickle.loads(pickle.dumps(engine))
        assert again.memory.threshold == 80
        assert again.translate("Open the file").text == "Datei aufmachen"


def test_what_cannot_be_had_is_refused(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"none\.tmx: the translation memory cannot be read"):
        attendo.load("en-de", aids=attendo.Aids(memory=tmp_path / "none.tmx"))
    aids = attendo.Aids(memory=write_pairs(tmp_path / "m.tsv", PAIRS))
    with attendo.load("craft") as parser, pytest.raises(ModelError, match="no use for a memory"):
        parser.with_aids(aids)
    monkeypatch.setattr("attendo.workflow.extras.is_installed", lambda name: name != "rapidfuzz")
    with pytest.raises(
        AttendoError, match=r'rapidfuzz: not installed, and needed here; pip install "attendo\[memory\]"'
    ):
        attendo.load("en-de", aids=aids)


def test_a_document_has_its_memory_in_the_report(engine: Engine, tmp_path: Path) -> None:
    known = po(("state", "Open", "Offen"), ("verb", "Open", "Öffnen"), ("", "Say %s twice", "Sage zweimal %s"),
               ("", "Quit", "Ende"), ("", "Quit", "Schluss"),
               ("", "Where is the small red house?", "Wo steht denn das kleine rote Haus?"))  # fmt: skip
    (tmp_path / "known.po").write_text(known, encoding="utf-8")
    new = po(("verb", "Open", ""), ("", "Say %d twice", ""), ("", "Quit", ""), ("", "I like dogs.", ""),
             ("", "I am here. Where is the small green house?", ""))  # fmt: skip
    (tmp_path / "new.po").write_text(new, encoding="utf-8")
    done = attendo.translate_file(engine, tmp_path / "new.po", aids=attendo.Aids(memory=tmp_path / "known.po"))
    found = [(unit.target, unit.origin, unit.state, unit.match and unit.match.score) for unit in done.report.units[:4]]
    assert found == [
        (("Öffnen",), "tm", "translated", 101),
        (("Sage zweimal %d",), "changed", "fuzzy", 99),
        (("Schluss",), "tm", "fuzzy", 100),
        (("Ich mag Hunde.",), "mt", "fuzzy", None),
    ]
    assert done.report.units[4].match is not None
    assert (done.report.units[4].origin, done.report.units[4].match.score) == ("mt", 85)
    assert done.report.units[2].problems == ("the translation memory has 1 more translations of this text",)
    assert done.report.as_json()["memory"] == {"exact": 2, "changed": 1, "fuzzy": 1}


def test_codes_of_xliff_come_with_the_memory_and_states_say_so(engine: Engine, tmp_path: Path) -> None:
    head = (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" '
        'target-language="de" datatype="plaintext"><body>'
    )
    unit = '<trans-unit id="{}"><source>Press <g id="{}">{}</g> now</source>{}</trans-unit>'
    known = unit.format(1, 7, "save", '<target>Jetzt <g id="7">Sichern</g> drücken</target>')
    (tmp_path / "known.xlf").write_text(f"{head}{known}</body></file></xliff>", encoding="utf-8")
    new = unit.format(5, 9, "save", "")
    (tmp_path / "new.xlf").write_text(f"{head}{new}</body></file></xliff>", encoding="utf-8")
    done = attendo.translate_file(engine, tmp_path / "new.xlf", aids=attendo.Aids(memory=[tmp_path / "known.xlf"]))
    expected = 'state="translated" state-qualifier="exact-match">Jetzt <g id="9">Sichern</g> drücken</target>'
    assert expected in done.content.decode()


ALTERNATIVES = """<xliff version="1.2"><file original="a" source-language="en" target-language="de"><body>
<trans-unit id="1"><source>Open</source>
 <alt-trans match-quality="100"><source>Open</source><target>Offen</target></alt-trans></trans-unit>
<trans-unit id="2"><source>Open</source>
 <alt-trans match-quality="100"><source>Open</source><target>Aufmachen</target></alt-trans></trans-unit>
<trans-unit id="3"><source>Where is the small green house?</source>
 <alt-trans><source>Where is the small red house?</source>
 <target>Wo steht denn das kleine rote Haus?</target></alt-trans></trans-unit>
<trans-unit id="4"><source>I like dogs.</source>
 <alt-trans origin="MT"><source>I like dogs.</source><target>Hunde ich mag.</target></alt-trans></trans-unit>
<trans-unit id="5"><source>Open</source><target>Auf</target></trans-unit>
</body></file></xliff>"""


def test_what_a_file_offers_is_a_memory_for_its_units(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_text(ALTERNATIVES, encoding="utf-8")
    done = attendo.translate_file(engine, tmp_path / "a.xlf", tmp_path / "b.xlf")
    first, second, third, fourth, fifth = done.report.units
    assert [(unit.target, unit.origin, unit.state) for unit in (first, second, fourth, fifth)] == [
        (("Offen",), "tm", "translated"),
        (("Aufmachen",), "tm", "translated"),
        (("Ich mag Hunde.",), "mt", "fuzzy"),
        (("Auf",), "file", "translated"),
    ]
    assert third.match is not None
    assert (third.origin, third.match.kind, third.match.score) == ("mt", "fuzzy", 85)
    assert third.target[0].startswith("Wo steht denn das kleine ")
    assert done.report.as_json()["memory"] == {"exact": 2, "fuzzy": 1}
    written = done.content.decode()
    assert '<target state="translated" state-qualifier="exact-match">Offen</target>' in written
    assert written.count("<alt-trans") == 4  # they stay
    assert engine.memory is None


def test_a_memory_and_what_a_file_offers_go_together(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_text(ALTERNATIVES, encoding="utf-8")
    known = write_pairs(tmp_path / "known.tsv", [("I like dogs.", "Hunde sind mir lieb.")])
    done = attendo.translate_file(engine, tmp_path / "a.xlf", aids=attendo.Aids(memory=known))
    assert [unit.target[0] for unit in done.report.units[:4:3]] == ["Offen", "Hunde sind mir lieb."]


def test_plural_forms_are_taken_together(engine: Engine, tmp_path: Path) -> None:
    head = po() + '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    entry = 'msgid "%d dog"\nmsgid_plural "%d dogs"\nmsgstr[0] "{}"\nmsgstr[1] "{}"\n'
    (tmp_path / "known.po").write_text(head + entry.format("%d Köter", "%d Köter-Meute"), encoding="utf-8")
    (tmp_path / "new.po").write_text(head + entry.format("", ""), encoding="utf-8")
    done = attendo.translate_file(engine, tmp_path / "new.po", aids=attendo.Aids(memory=tmp_path / "known.po"))
    assert done.report.units[0].target == ("%d Köter", "%d Köter-Meute")
