"""`attendo translate --memory` and `attendo memory`, as users call them."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.memory.conftest import po

KNOWN = po(("", "Open the file", "Datei aufmachen"), ("", "Go to page 3", "Gehe zu Seite 3"))


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "known.po"
    path.write_text(KNOWN, encoding="utf-8")
    return path


def test_lines(attendo: Command, known: Path, tmp_path: Path) -> None:
    text, output = tmp_path / "text.txt", tmp_path / "out.txt"
    text.write_text("Open the file\nGo to page 8\nI like dogs.\n", encoding="utf-8")
    finished = attendo("translate", "en-de", text, "-o", output, "--memory", known)
    assert output.read_text(encoding="utf-8") == "Datei aufmachen\nGehe zu Seite 8\nIch mag Hunde.\n"
    assert "read 2 pairs of translation memory, 2 different; the index is kept as" in finished.err
    assert "memory: 1 as they were, 1 with their numbers changed, 0 close\n" in finished.err


def test_json_of_lines_and_nothing_of_it_without_a_memory(attendo: Command, known: Path) -> None:
    finished = attendo("translate", "en-de", "--memory", known, "--json", stdin=b"Open the file\nI like dogs.\n")
    first, second = map(json.loads, finished.out.splitlines())
    assert first["text"] == "Datei aufmachen"
    expected = {"kind": "exact", "score": 100, "source": "Open the file", "target": "Datei aufmachen", "others": 0}
    assert first["match"] == expected
    assert "match" not in second


def test_a_file_of_a_known_format(attendo: Command, known: Path, tmp_path: Path) -> None:
    new, output, report = (tmp_path / name for name in ("new.po", "de.po", "report.json"))
    new.write_text(po(("", "Open the file", ""), ("", "Go to page 5", "")), encoding="utf-8")
    finished = attendo("translate", "en-de", new, "-o", output, "--memory", known, "--report", report)
    assert 'msgid "Open the file"\nmsgstr "Datei aufmachen"' in output.read_text(encoding="utf-8")
    assert '#, fuzzy\nmsgid "Go to page 5"\nmsgstr "Gehe zu Seite 5"' in output.read_text(encoding="utf-8")
    assert "memory: 1 as they were, 1 with their numbers changed, 0 close\n" in finished.err
    kinds = [unit["match"]["kind"] for unit in json.loads(report.read_text(encoding="utf-8"))["units"]]
    assert kinds == ["exact", "changed"]


def test_an_index_is_built_and_looked_up(attendo: Command, known: Path, tmp_path: Path) -> None:
    index = tmp_path / "product.memory"
    built = attendo("memory", "build", index, known, "--from", "en", "--to", "de")
    assert (built.status, built.err) == (0, f"read 2 pairs of translation memory, 2 different; wrote {index}\n")
    found = attendo("memory", "search", "Go to page 77", index, "--from", "en", "--to", "de")
    assert json.loads(found.out)["text"] == "Gehe zu Seite 77"
    assert attendo("memory", "search", "Something else", index, "--from", "en", "--to", "de").out == "null\n"


def test_what_does_not_go_together_is_refused(attendo: Command, known: Path, tmp_path: Path) -> None:
    finished = attendo("translate", "en-de", "--memory", tmp_path / "none.tmx", stdin=b"a\n")
    assert finished.status == 1
    assert "none.tmx: the translation memory cannot be read" in finished.err
    (tmp_path / "text.txt").write_text("a\n", encoding="utf-8")
    finished = attendo(
        "translate", "en-de", tmp_path / "text.txt", "-o", tmp_path / "o", "--memory", known, "--ray", "local"
    )
    assert finished.status == 2
    assert "does not work on a cluster" in finished.err


def test_what_a_file_offers_is_used_and_counted(attendo: Command, tmp_path: Path) -> None:
    unit = """<trans-unit id="1"><source>Open the file</source>
    <alt-trans match-quality="100"><target>Datei aufmachen</target></alt-trans></trans-unit>"""
    head = '<xliff version="1.2"><file source-language="en" target-language="de" original="a"><body>'
    (tmp_path / "a.xlf").write_text(f"{head}{unit}</body></file></xliff>", encoding="utf-8")
    finished = attendo("translate", "en-de", tmp_path / "a.xlf", "-o", tmp_path / "b.xlf")
    assert "memory: 1 as they were, 0 with their numbers changed, 0 close\n" in finished.err
    written = (tmp_path / "b.xlf").read_text(encoding="utf-8")
    assert 'state="translated" state-qualifier="exact-match">Datei aufmachen</target>' in written
