"""PO files as pairs; what msgfmt would use is what counts."""

from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.formats.pairs.po_pairs import read_po_pairs
from attendo.formats.pairs.selection import Selection

EN_DE = Selection(source_language="en", target_language="de")
HEADER = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset={charset}\\n"\n"Language: {language}\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
)
MESSAGES = (
    '#: a.c:1\nmsgid "Open %s"\nmsgstr "%s öffnen"\n\n'
    '#, fuzzy, c-format\n#| msgid "Old"\nmsgid "New"\nmsgstr "Alt"\n\n'
    'msgctxt "menu"\nmsgid "Two\\n"\n"lines"\nmsgstr ""\n\n'
    'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d Datei"\nmsgstr[1] "%d Dateien"\n\n'
    '#~ msgid "Gone"\n#~ msgstr "Weg"\n'
)

Found = tuple[int, str, str, str | None]


def read(path: Path, content: bytes, selection: Selection = EN_DE) -> list[Found]:
    path.write_bytes(content)
    return [
        (pair.line, pair.source.decode(), (pair.target or b"").decode(), pair.fault)
        for pair in read_po_pairs(path, selection)
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "de.po"


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
def test_messages_are_pairs_with_their_states(file: Path, charset: str) -> None:
    content = (HEADER.format(charset=charset, language="de_AT") + MESSAGES).encode(charset)
    found = read(file, content)
    assert [row[1:] for row in found] == [
        ("Open %s", "%s öffnen", None),
        ("New", "Alt", "state"),
        ("Two lines", "", "untranslated"),
        ("%d file", "%d Datei", None),
        ("%d files", "%d Dateien", None),
    ]
    lines = content.decode(charset).split("\n")
    # The line is that of the flags, or else of the first keyword.
    begins = ['msgid "Open %s"', "#, fuzzy, c-format", 'msgctxt "menu"', 'msgid "%d file"', 'msgid "%d file"']
    assert [lines[line - 1] for line, *_ in found] == begins


def test_fuzzy_messages_count_where_they_are_wanted(file: Path) -> None:
    content = (HEADER.format(charset="utf-8", language="") + MESSAGES).encode()
    selection = Selection(source_language="en", target_language="de", states=frozenset(["fuzzy", "translated"]))
    assert [fault for *_, fault in read(file, content, selection)] == [None, None, "untranslated", None, None]


def test_a_file_in_another_language_has_no_pair(file: Path) -> None:
    content = (HEADER.format(charset="utf-8", language="fr") + MESSAGES).encode()
    assert {fault for *_, fault in read(file, content)} == {"language"}


def test_a_broken_file_is_named_with_its_line(file: Path) -> None:
    with pytest.raises(DataError, match=rf"{file}: line 2 has no string in quotes that ends"):
        read(file, b'msgid "a"\nmsgstr "b\n')
