"""A file by the command, from Python and by a server: the same bytes and the same report, with the model that ships."""

import io
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from docx import Document
from tests.cli.conftest import Command
from tests.serving.live import PATIENCE_S, Live, live

import attendo as library
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import Decoding

PO = """# kept
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: \\n"

#, c-format
msgid "The file \\"%s\\" has %d lines.\\n"
msgstr ""

msgid "The dog"
msgstr "Der Köter"

#, fuzzy
msgid "The cat"
msgstr "Der Kater"

#, c-format
msgid "%d dog"
msgid_plural "%d dogs"
msgstr[0] ""
msgstr[1] ""

#~ msgid "gone"
#~ msgstr "weg"
"""
XLIFF = """<?xml version="1.0"?>
<xliff version="1.2"><file source-language="en-GB" target-language="de-CH" original="a"><body>
 <trans-unit id="1"><source><![CDATA[The <b>house</b> & the dog]]></source></trans-unit>
 <trans-unit id="2"><source>A dog. A cat.</source>
  <seg-source><mrk mtype="seg" mid="0">A dog.</mrk> <mrk mtype="seg" mid="1">A cat.</mrk></seg-source>
  <target><mrk mtype="seg" mid="0"/> <mrk mtype="seg" mid="1">Zwei.</mrk></target></trans-unit>
 <trans-unit id="3" approved="yes"><source>Done</source><target>Fertig</target></trans-unit>
 <trans-unit id="4" maxwidth="2" size-unit="char"><source>The old <g id="1">house</g></source></trans-unit>
</body></file></xliff>
"""
SRT = """1
00:00:01,000 --> 00:00:02,000
<i>The dog</i> sleeps.

2
00:00:03,000 --> 00:00:04,000
A cat.
"""
ANDROID = r"""<resources>
 <string name="a">It\'s <b>an old</b> house</string><string name="b" translatable="false">No</string>
 <plurals name="c"><item quantity="one">%d dog</item><item quantity="other">%d dogs</item></plurals>
</resources>"""


ANDROID_DE = r"""<resources><string name="a"/><string name="b" translatable="false">No</string>
 <plurals name="c"><item quantity="one">%d Köter</item><item quantity="other">%d Köter</item></plurals>
</resources>"""
SHORT = """# Candidates are tried where the first translation is longer than a comment allows.
msgid ""
msgstr "Language: de\\n"

#. max 26 characters
msgid "Open the window, please."
msgstr ""
"""


def letter() -> bytes:
    document, content = Document(), io.BytesIO()
    document.add_heading("The old house", 1)
    paragraph = document.add_paragraph("The ")
    paragraph.add_run("old").bold = True
    paragraph.add_run(" dog sleeps.")
    document.add_table(1, 1).cell(0, 0).text = "A cat."
    document.save(content)
    return content.getvalue()


@dataclass(frozen=True)
class Case:
    name: str
    content: bytes
    options: dict[str, str] = field(default_factory=dict)
    """As Python has them."""
    template: bytes | None = None
    """The file with the sources, where the content is its translation."""
    expected: str = ""
    """Some of the translated file."""
    longest: int | None = None
    """Characters that the file's comment allows the only translation, where the first candidate has more."""


CASES = [
    Case("app.po", PO.encode()),
    Case("app.po", PO.encode(), {"to": "de-AT", "mark": "none", "only": "all", "check": "off"}),
    Case("messages", PO.encode(), {"format": "po", "only": "fuzzy"}),
    Case("app.xlf", XLIFF.encode(), {"mark": "problems", "check": "error"}),
    Case("letter.docx", letter(), {"to": "de-AT"}),
    Case("strings.xml", ANDROID.encode()),
    Case("en.json", b'{"a": {"b": "The dog sleeps, {name}."}, "n": 1}', {"to": "de-AT"}),
    Case("strings.xml", ANDROID_DE.encode(), template=ANDROID.encode(), expected="%d Köter"),
    Case("short.po", SHORT.encode(), longest=26),
    Case("film.srt", SRT.replace("\n", "\r\n").encode()),
]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with library.load("en-de", threads=1) as engine:
        yield engine


@pytest.fixture(scope="module")
def server() -> Iterator[Live]:
    with live(["en-de"]) as running:
        yield running


def by_server(server: Live, case: Case) -> tuple[bytes, Any, Any]:
    """The translated file, its report and its state."""
    fields = {name: value for name, value in case.options.items() if name != "to"}
    sent = {"source": "en", "target": case.options.get("to", "de"), **fields}
    with httpx.Client(base_url=server.url, timeout=PATIENCE_S) as client:
        files = {"file": (case.name, case.content)}
        files |= {"template": ("strings.xml", case.template)} if case.template else {}
        state = client.post("/api/documents", data=sent, files=files).json()
        path, end = f"/api/documents/{state['id']}", time.monotonic() + PATIENCE_S
        while state["status"] in ("queued", "translating"):
            assert time.monotonic() < end
            time.sleep(0.02)
            state = client.get(path).json()
        assert state["status"] == "done", state
        return client.get(f"{path}/result").content, client.get(f"{path}/report").json(), state


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join([case.name, *case.options.values()]))
def test_a_file_is_the_same_whoever_translates_it(
    attendo: Command, engine: Engine, server: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: Case
) -> None:
    monkeypatch.setattr(Decoding, "load", lambda *_, **__: engine)
    path, output, report = tmp_path / case.name, tmp_path / "output", tmp_path / "report.json"
    path.write_bytes(case.content)
    options = [part for name, value in case.options.items() for part in (f"--{name}", value)]
    template = tmp_path / f"en-{case.name}" if case.template else None
    if case.template and template:
        template.write_bytes(case.template)
        options += ["--template", str(template)]
    finished = attendo("translate", "en-de", path, "-o", output, "--report", report, *options)
    by_command, told = output.read_bytes(), json.loads(report.read_text())
    assert finished.status == (1 if case.options.get("check") == "error" and told["failed"] else 0), finished.err

    from_python = library.translate_file(engine, path, template=template, **case.options)  # type: ignore[arg-type]
    content, report_by_server, state = by_server(server, case)
    assert content == from_python.content == by_command != case.content
    assert case.expected in content.decode("utf-8", "replace")
    if case.longest is not None:
        *_, written = re.findall('msgstr "(.+)"', content.decode())
        assert len(written) <= case.longest < len(engine.translate("Open the window, please.").text)
    reports = [told, json.loads(json.dumps(from_python.report.as_json())), report_by_server]
    for found in reports:
        assert Path(found.pop("file")).name == case.name
        found.pop("output")
    assert reports[0] == reports[1] == reports[2]
    summary = state["summary"]
    names = ("format", "translated", "left", "failed", "marked", "checks")
    assert [summary[name] for name in names] == [told[name] for name in names]
    assert summary["translated"] + summary["kept"] + summary["left"] == summary["units"] == len(told["units"])
    assert [each["problems"] for each in summary["findings"]] == [
        unit["problems"] for unit in told["units"] if unit["problems"]
    ]
    assert bool(state["message"]) == (finished.status == 1)
    assert state["target"] == told["target_language"]
