"""What docs/memory.md has to run runs, in its order, on files written by hand."""

import re
from pathlib import Path

import pytest
from tests.memory.conftest import po
from tests.memory.test_opening import TMX
from tests.test_docs import PROJECT, arguments, commands

from attendo.cli.main import run

PAGE = PROJECT / "docs" / "memory.md"


def test_the_commands_and_the_python_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "locale").mkdir()
    files = {
        "product.tmx": TMX,
        "old.po": po(("", "Open the file", "Datei aufmachen")),
        "locale/de.po": po(("", "Open the file", "Datei aufmachen")),
        "new.po": po(("", "Open the file", "")),
        "text.txt": "I like dogs.\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    lines = commands(PAGE)
    assert len(lines) == 4
    for line in lines:
        assert run(arguments(line)) == 0, capsys.readouterr().err
    assert '"text": "Datei aufmachen"' in capsys.readouterr().out
    assert "Datei aufmachen" in (tmp_path / "de.po").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(block, "memory.md", "exec"), {})
    assert "Counter({'exact': 1})" in capsys.readouterr().out
