"""An engine with a translation memory, by the model that ships: the pairs are written by hand."""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.memory.conftest import memory_of, po, write_pairs

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
    return engine.with_memory(memory_of(tmp_path / "m.tsv", PAIRS))


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


def test_cancelled_lines_of_a_server_are_those_that_are_searched(remembering: Engine) -> None:
    lines = ["I like dogs.", "Open the file", "I like cats."]
    found = remembering.translate_watched(lines, None, lambda: {1})
    assert [each and each.text for each in found] == [None, "Datei aufmachen", "Ich mag Katzen."]


def test_load_opens_memories_and_a_pickled_engine_has_them_again(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "m.tsv", PAIRS)
    with attendo.load("en-de", threads=1, memory=path, memory_threshold=80) as engine:
        again = pickle.loads(pickle.dumps(engine))
        assert again.memory.threshold == 80
        assert again.translate("Open the file").text == "Datei aufmachen"


def test_what_cannot_be_had_is_refused(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"none\.tmx: the translation memory cannot be read"):
        attendo.load("en-de", memory=tmp_path / "none.tmx")
    memory = memory_of(tmp_path / "m.tsv", PAIRS)
    with attendo.load("craft") as parser, pytest.raises(ModelError, match="no use for a memory"):
        parser.with_memory(memory)
    monkeypatch.setattr("attendo.workflow.extras.is_installed", lambda name: name != "rapidfuzz")
    with pytest.raises(
        AttendoError, match=r'rapidfuzz: not installed, and needed here; pip install "attendo\[memory\]"'
    ):
        attendo.load("en-de", memory=tmp_path / "m.tsv")


def test_a_document_has_its_memory_in_the_report(engine: Engine, tmp_path: Path) -> None:
    known = po(("state", "Open", "Offen"), ("verb", "Open", "Öffnen"), ("", "Say %s twice", "Sage zweimal %s"),
               ("", "Quit", "Ende"), ("", "Quit", "Schluss"),
               ("", "Where is the small red house?", "Wo steht denn das kleine rote Haus?"))  # fmt: skip
    (tmp_path / "known.po").write_text(known, encoding="utf-8")
    new = po(("verb", "Open", ""), ("", "Say %d twice", ""), ("", "Quit", ""), ("", "I like dogs.", ""),
             ("", "I am here. Where is the small green house?", ""))  # fmt: skip
    (tmp_path / "new.po").write_text(new, encoding="utf-8")
    done = attendo.translate_file(engine, tmp_path / "new.po", memory=tmp_path / "known.po")
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
    done = attendo.translate_file(engine, tmp_path / "new.xlf", memory=[tmp_path / "known.xlf"])
    expected = 'state="translated" state-qualifier="exact-match">Jetzt <g id="9">Sichern</g> drücken</target>'
    assert expected in done.content.decode()


def test_plural_forms_are_taken_together(engine: Engine, tmp_path: Path) -> None:
    head = po() + '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    entry = 'msgid "%d dog"\nmsgid_plural "%d dogs"\nmsgstr[0] "{}"\nmsgstr[1] "{}"\n'
    (tmp_path / "known.po").write_text(head + entry.format("%d Köter", "%d Köter-Meute"), encoding="utf-8")
    (tmp_path / "new.po").write_text(head + entry.format("", ""), encoding="utf-8")
    done = attendo.translate_file(engine, tmp_path / "new.po", memory=tmp_path / "known.po")
    assert done.report.units[0].target == ("%d Köter", "%d Köter-Meute")
