"""What localisation files have that breaks programs: cases of which no format's own tests have the whole way.

The translator puts words in capitals, or writes what a test says; what is no word has to be as it was.
"""

import json
from pathlib import Path

import pytest
from tests.markup.made_up import MadeUp, backwards, translated
from tests.workflow.documents.test_documents import HEADER, done, written

from attendo.errors import DataError
from attendo.markup.units.directives import directives
from attendo.workflow.documents.opening import open_document
from attendo.workflow.documents.settings import DocumentSettings


def writing(text: str) -> MadeUp:
    """A translator that always writes the same."""
    return MadeUp(lambda line: [text])


@pytest.mark.parametrize(
    ("placeholder", "flag"),
    [
        ("%(name)s", "python-format"), ("%-5.2f", "c-format"), ("%1$'d", "c-format"), ("%@", "objc-format"),
        ("%#@n@", "objc-format"), ("%{x}", "ruby-format"), ("${a.b}", ""), ("$(X)", ""), (":name", "laravel-format"),
        ("{0!r:>{width}}", "python-brace-format"), ("{{count}}", ""), ("%1", "qt-format"), ("%L1", "qt-format"),
    ],
)  # fmt: skip
def test_each_kind_of_placeholder_is_there_once_wherever_it_moves(placeholder: str, flag: str) -> None:
    text = f"the dog {placeholder} sleeps"  # case 16
    assert directives(text, [flag]) or placeholder == "$(X)"
    for made_up in (MadeUp(), MadeUp(backwards)):
        assert translated(text, *filter(None, [flag]), made_up=made_up).count(placeholder) == 1


def test_per_cent_signs_begin_no_placeholder_that_the_source_has_not() -> None:
    # Case 14: a space behind the sign would make "% v" of it.
    assert translated("100%% of %s", "c-format", made_up=MadeUp(backwards)) in ("%s OF 100%%", "100%% OF %s")


def test_python_placeholders_without_names_keep_their_order() -> None:
    # Case 15: Python has no numbers for them.
    found = translated("%s deleted %d of %s", "python-format", made_up=MadeUp(backwards))
    assert [one.raw for one in directives(found, ["python-format"])] == ["%s", "%d", "%s"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("5\u00a0MB of \u202f10\u202f%", "5\u00a0MB OF \u202f10\u202f%"),
        ("a non\u2011breaking hy\u00adphen", "A NON\u2011BREAKING HY\u00adPHEN"),
        ("the 👩\u200d💻 and ⚠️ work", "THE 👩\u200d💻 AND ⚠️ WORK"),
        ("cafe\u0301 is open", "CAFE\u0301 IS OPEN"),
    ],
)
def test_spaces_and_signs_of_unicode_stay(source: str, expected: str) -> None:
    assert translated(source) == expected  # cases 37, 38


def test_joiners_within_words_are_left_to_the_translator() -> None:
    persian = "می\u200cخواهم"  # case 38
    assert translated("I want", made_up=writing(persian), target="fa") == persian


def test_french_has_its_spaces(tmp_path: Path) -> None:
    found = json.loads(written(tmp_path / "en.json", '{"a": "Really?", "b": "Note: x"}', target="fr"))
    assert found == {"a": "REALLY\u202f?", "b": "NOTE\u00a0: X"}  # case 37


def test_the_end_of_a_cdata_section_is_divided(tmp_path: Path) -> None:
    # Case 39.
    text = '<resources><string name="a"><![CDATA[red]]></string><string name="b">blue</string></resources>'
    found = written(tmp_path / "strings.xml", text, made_up=writing("a]]>b"))  # type: ignore[arg-type]
    assert "<![CDATA[a]]]]><![CDATA[>b]]>" in found
    assert ">a]]&gt;b<" in found


def test_a_control_character_of_the_translator_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "x.po"  # case 39
    path.write_text(HEADER + 'msgid "red"\nmsgstr ""\n', encoding="utf-8")
    found = done(path, made_up=writing("ro\x01t"))
    assert found.content == path.read_bytes()
    assert found.report.num_left == 1
    assert "control-characters" in found.report.units[0].problems[0]


@pytest.mark.parametrize("name", ["x.po", "x.xlf", "strings.xml", "x.json", "x.srt", "x.tmx", "x.ts", "x.docx"])
def test_an_empty_file_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")  # case 40
    with pytest.raises(DataError, match=name):
        open_document(tmp_path / name, DocumentSettings(), source="en", target="de")


@pytest.mark.parametrize("source", ["%s", "…", "   ", "42", "1.5 %", "&amp;", "%d / %d", "→", "12:30"])
def test_what_has_no_words_is_copied(tmp_path: Path, source: str) -> None:
    text = HEADER + f'#, c-format\nmsgid "{source}"\nmsgstr ""\n'  # case 40
    found = written(tmp_path / "x.po", text, DocumentSettings(mark="none"))
    assert found == HEADER + f'#, c-format\nmsgid "{source}"\nmsgstr "{source}"\n'


def test_a_long_message_is_translated_whole(tmp_path: Path) -> None:
    sentence = "The red dog sleeps. "  # case 40
    text = HEADER + f'msgid "{sentence * 1000}"\nmsgstr ""\n'
    found = written(tmp_path / "x.po", text)
    assert found.count("THE RED DOG SLEEPS.") == 1000


def test_source_and_target_in_one_language_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.po"  # case 40
    path.write_text(HEADER.replace("de_AT", "en") + 'msgid "red"\nmsgstr ""\n')
    with pytest.raises(DataError, match="target language is en, not de"):
        open_document(path, DocumentSettings(), source="en", target="de")
