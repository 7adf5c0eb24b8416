"""`attendo translate` and `attendo check` of files that people translate, with the model that ships."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from docx import Document
from tests.cli.conftest import Command

import attendo as library
from attendo.workflow.documents import translation
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import Decoding
from attendo.workflow.translation.part_files import PartsFolder

HEADER = (
    'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
)
PO = (
    HEADER
    + "".join(
        f"\n{flags}msgid {source}\nmsgstr {target}\n"
        for flags, source, target in (
            ("#, c-format\n", '"The file \\"%s\\" has %d lines.\\n"', '""'),
            ("", '"&Open the window..."', '""'),
            ("", '"The house is <b>small</b>."', '""'),
            ("", '"The dog"', '"Der Köter"'),
            ("#, fuzzy\n", '"The cat"', '"Der Kater"'),
        )
    )
    + '\n#, c-format\nmsgid "%d dog"\nmsgid_plural "%d dogs"\nmsgstr[0] ""\nmsgstr[1] ""\n'
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with library.load("en-de", threads=1) as engine:
        yield engine


@pytest.fixture
def loaded(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine in place of the one that each command would load."""
    monkeypatch.setattr(Decoding, "load", lambda *_, **__: engine)
    return engine


def entry(text: str, source: str) -> str:
    """The entry of a PO file that a source stands in."""
    return next(one for one in text.split("\n\n") if source in one)


def test_a_po_file_as_a_user_has_it_translated(tmp_path: Path) -> None:
    path, output = tmp_path / "app.po", tmp_path / "de.po"
    path.write_text(PO, encoding="utf-8")
    command = [sys.executable, "-m", "attendo", "translate", "en-de", str(path), "-o", str(output), "--threads", "1"]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    read, *_, wrote = finished.stderr.splitlines()
    counts = "6 messages: 1 translated before, 1 to be reviewed, 4 to translate"
    assert read == f"read {path}: gettext, en to de, {counts}"
    assert wrote == f"wrote {output}: 4 marked for review"
    text = output.read_text(encoding="utf-8")
    for kept in ("The dog", "The cat"):
        assert entry(text, kept) == entry(PO, kept)
    lines = entry(text, "The file").partition("msgstr")[2]
    assert (lines.count("%s"), lines.count("%d"), lines.count("\\n")) == (1, 1, 1)
    assert entry(text, "&Open").partition("msgstr")[2].count("&") == 1
    assert all(tag in entry(text, "small").partition("msgstr")[2] for tag in ("<b>", "</b>"))
    one, many = entry(text, "%d dogs").split("msgstr[1]")
    assert many.strip() not in ("", '""')
    assert many.count("%d") == one.partition("msgstr[0]")[2].count("%d") == 1
    if msgfmt := shutil.which("msgfmt"):
        unmarked = text.replace("#, fuzzy, ", "#, ").replace("#, fuzzy\n", "")
        output.write_text(unmarked, encoding="utf-8")
        checked = subprocess.run([msgfmt, "-c", "--check-accelerators=&", "-o", "/dev/null", str(output)], check=False)
        assert checked.returncode == 0


def test_without_an_output_the_file_goes_to_standard_output(attendo: Command, loaded: Engine, tmp_path: Path) -> None:
    path = tmp_path / "en.json"
    path.write_text('{"a": "The dog sleeps."}\n')
    finished = attendo("translate", "en-de", path)
    assert finished.out.encode() == library.translate_file(loaded, path).content
    assert json.loads(finished.out)["a"] != "The dog sleeps."


def test_in_place(attendo: Command, loaded: Engine, tmp_path: Path) -> None:
    path = tmp_path / "de.po"
    path.write_text(PO, encoding="utf-8")
    assert attendo("translate", "en-de", path, "-o", path).status == 0
    text = path.read_text(encoding="utf-8")
    again = attendo("translate", "en-de", path, "-o", path)
    assert again.status == 0
    assert "0 to translate" in again.err
    assert path.read_text(encoding="utf-8") == text


def test_a_folder_to_names_as_each_format_has_them(attendo: Command, loaded: Engine, tmp_path: Path) -> None:
    files = {
        "res/values/strings.xml": '<resources><string name="a">The dog</string></resources>',
        "res/values-fr/strings.xml": '<resources><string name="a">Le chien</string></resources>',
        "en.lproj/Localizable.strings": '"a" = "The dog";\n',
        "web/en.json": '{"a": "The dog"}',
        "po/messages.po": HEADER + '\nmsgid "The dog"\nmsgstr ""\n',
    }
    for name, text in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    finished = attendo(
        "translate", "en-de", tmp_path / "in", "-o", tmp_path / "out", "--to", "de-AT", "--report", tmp_path / "r"
    )
    assert finished.status == 0, finished.err
    written = {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()
    }
    names = {
        "res/values-de-rAT/strings.xml",
        "de-AT.lproj/Localizable.strings",
        "web/de-AT.json",
        "po/messages.de_AT.po",
    }
    assert written == names
    assert [one["translated"] for one in json.loads((tmp_path / "r").read_text())] == [1, 1, 1, 1]


def test_the_time_of_each_of_several_files_is_its_own(
    attendo: Command, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: object, **__: object) -> Engine:
        time.sleep(0.5)  # which belongs to the first file alone
        return engine

    monkeypatch.setattr(Decoding, "load", load)
    for number in range(4):
        (tmp_path / f"{number}.json").write_text('{"a": "The dog"}')
    began = time.monotonic()
    finished = attendo("translate", "en-de", *sorted(tmp_path.glob("*.json")), "-o", tmp_path / "out", "--to", "de")
    took = time.monotonic() - began
    seconds = [float(number) for number in re.findall(r"translated 1 message in ([\d.]+) s", finished.err)]
    assert len(seconds) == 4, finished.err
    assert sum(seconds) <= took + 0.1


XLIFF = (
    '<xliff version="1.2"><file source-language="en" target-language="de"><body><trans-unit id="1" maxwidth="2" '
    'size-unit="char"><source>The old house</source></trans-unit></body></file></xliff>'
)


@pytest.mark.parametrize(("check", "status"), [("error", 1), ("warn", 0), ("off", 0)])
def test_a_check_that_fails(attendo: Command, loaded: Engine, tmp_path: Path, check: str, status: int) -> None:
    path, output = tmp_path / "x.xlf", tmp_path / "out.xlf"
    path.write_text(XLIFF)
    finished = attendo("translate", "en-de", path, "-o", output, "--check", check)
    assert finished.status == status
    assert "</target>" in output.read_text(encoding="utf-8")
    said = "checks: 0 of 1 without a finding; max-length 1; --report FILE lists them"
    assert (said in finished.err) == (check != "off")


def test_documents_of_one_language(attendo: Command, loaded: Engine, tmp_path: Path) -> None:
    page, guide, letter = (tmp_path / name for name in ("page.html", "guide.md", "letter.docx"))
    page.write_text('<p>The <b>red</b> house is old.</p><script>var a = "x";</script>', encoding="utf-8")
    guide.write_text("# The dog\n\nThe [house](https://a.example/b) is *old*.\n\n```sh\nls\n```\n", encoding="utf-8")
    made = Document()
    paragraph = made.add_paragraph("The ")
    paragraph.add_run("red").bold = True
    paragraph.add_run(" house is old.")
    made.save(str(letter))
    found = {path: path.with_name(f"out{path.suffix}") for path in (page, guide, letter)}
    for path, output in found.items():
        ran = attendo("translate", "en-de", path, "-o", output)
        assert ran.status == 0
        assert f"wrote {output}: this format has no marks for review" in ran.err
    text = found[page].read_text(encoding="utf-8")
    assert text.startswith("<p>")
    assert "<b>rote</b> Haus" in text
    assert text.endswith('</p><script>var a = "x";</script>')
    text = found[guide].read_text(encoding="utf-8")
    assert text.startswith("# Der Hund\n\n")
    assert text.endswith("\n\n```sh\nls\n```\n")
    assert "[Haus](https://a.example/b)" in text
    [paragraph] = Document(str(found[letter])).paragraphs
    assert [run.text for run in paragraph.runs if run.bold] == ["rote"]
    assert "Haus" in paragraph.text
    refused = attendo("check", found[guide])
    assert refused.status == 1
    assert f"{found[guide]}: a markdown file has its texts in one language" in refused.err
    assert "translate --check error" in refused.err


def test_interrupted_work_goes_on(
    attendo: Command, loaded: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, whole, output = tmp_path / "x.po", tmp_path / "whole.po", tmp_path / "out.po"
    path.write_text(PO, encoding="utf-8")
    assert attendo("translate", "en-de", path, "-o", whole).status == 0
    monkeypatch.setattr(translation, "_PART_UNITS", 2)
    write = PartsFolder.write

    def once(folder: PartsFolder, number: int, *more: object) -> None:
        if number == 1:
            raise KeyboardInterrupt
        write(folder, number, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(PartsFolder, "write", once)
    finished = attendo("translate", "en-de", path, "-o", output)
    assert finished.status != 0
    assert "what is translated so far is kept in" in finished.err
    assert not output.exists()
    monkeypatch.setattr(PartsFolder, "write", write)
    finished = attendo("translate", "en-de", path, "-o", output)
    assert "going on: 2 of 4 messages are there already" in finished.err
    assert output.read_bytes() == whole.read_bytes()
    assert not PartsFolder.beside(output).path.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("x.po --n-best 2", "value for --n-best: is for"),
        ("x.po --json", "value for --json: is for"),
        ("x.txt --to de", "value for --to: is for"),
        ("x.txt --mark none", "value for --mark: is for"),
        ("--format po", "standard input is text"),
    ],
)
def test_options_of_the_other_kind_of_file(attendo: Command, tmp_path: Path, options: str, said: str) -> None:
    (tmp_path / "x.po").write_text(PO, encoding="utf-8")
    (tmp_path / "x.txt").write_text("a\n")
    arguments = [tmp_path / part if part.startswith("x.") else part for part in options.split()]
    finished = attendo("translate", "en-de", *arguments)
    assert finished.status == 2
    assert said in " ".join(finished.err.split())


def test_what_cannot_be_written(attendo: Command, tmp_path: Path) -> None:
    for name in ("a/x.po", "b/x.po"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(PO, encoding="utf-8")
    (tmp_path / "x.txt").write_text("a\n")
    two = (tmp_path / "a/x.po", tmp_path / "b/x.po")
    finished = attendo("translate", "en-de", *two, "-o", tmp_path / "out")
    assert (finished.status, "would be written to" in finished.err) == (1, True)
    finished = attendo("translate", "en-de", *two, "-o", tmp_path / "x.txt")
    assert finished.err == f"attendo: error: {tmp_path / 'x.txt'}: is a file; several files are written into a folder\n"
    finished = attendo("translate", "en-de", two[0], tmp_path / "x.txt")
    assert "x.txt: plain text is translated one file at a time" in finished.err


def test_checking(attendo: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.po"
    path.write_text(
        HEADER + '\n#, c-format\nmsgid "%d of %s."\nmsgstr "%d"\n\nmsgid "a"\nmsgstr "b"\n', encoding="utf-8"
    )
    finished = attendo("check", path)
    assert finished.status == 1
    assert finished.out.splitlines() == [
        f"{path}:9: error: placeholders: the translation lacks %s",
        f"{path}:9: warning: end_stop: only one of source and translation ends with a full stop",
    ]
    assert finished.err == f"checked {path}: 1 of 2 messages without a finding, 1 with errors, 0 untranslated\n"
    [unit] = json.loads(attendo("check", path, "--json").out)["units"]
    assert [one["check"] for one in unit["findings"]] == ["placeholders", "end_stop"]
    path.write_text(HEADER + '\nmsgid "a"\nmsgstr "b"\n', encoding="utf-8")
    assert attendo("check", path, "-q").status == 0


def test_from_python_with_an_engine_in_a_notebook(loaded: Engine, tmp_path: Path) -> None:
    path, output = tmp_path / "en.json", tmp_path / "de.json"
    path.write_text('{"a": "The dog"}')

    async def cell() -> None:
        found = library.translate_file(loaded, path, output)
        assert output.read_bytes() == found.content
        assert [unit.origin for unit in found.report.units] == ["mt"]

    asyncio.run(cell())
