"""Android's resources. Expected bytes are written by hand after the guide to string resources of Android."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import Code, Content, codes, joined, plain
from attendo.formats.file import File, Languages, Result, result
from attendo.formats.table import read_file


def resources(body: str) -> str:
    xliff = 'xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2"'
    return f'<?xml version="1.0" encoding="utf-8"?>\r\n<resources {xliff}>\r\n{body}\r\n</resources>'


def read(body: str, target: str = "de") -> File:
    return read_file(resources(body).encode(), "values/strings.xml", Languages(target=target))


def write(body: str, texts: dict[str, str | Content]) -> str:
    results = {name: Result(texts=((text,) if isinstance(text, str) else text,)) for name, text in texts.items()}
    out = read(body).write(results).decode()
    assert out.startswith(resources("")[:40])
    return out.partition(">\r\n<")[2].partition(">\r\n")[2].removesuffix("\r\n</resources>")


_TAG_IN_CDATA = r"""<![CDATA[\"B\" <a href="u">l\'A</a>]]>"""
_ESCAPED_TAG = r"<![CDATA[<a href=\"u\">B</a>]]>"


@pytest.mark.parametrize(
    ("raw", "source", "target", "expected"),
    [
        # case 27
        (r"Don\'t say \"hi\" \@ %1$s", 'Don\'t say "hi" @ %1$s', 'L\'un "x" %1$s', r"L\'un \"x\" %1$s"),
        (r"5\u00A0MB", "5\u00a0MB", "6\u00a0GB", r"6\u00A0GB"),
        (r"a\nb\tc \\ \u0041", "a\nb\tc \\ A", "x\ny\tz \\", r"x\ny\tz \\"),
        ("\"  quoted  'x'  \"", "  quoted  'x'  ", "  in  'y'  ", "\"  in  'y'  \""),
        ("\r\n   much\r\n   space  \r\n", "much space", " edge  two ", r"\u0020edge \u0020two\u0020"),
        ("plain", "plain", "@home ?", r"\@home ?"),
        ("<![CDATA[<b>it\\'s</b>]]>", "<b>it's</b>", "<b>l'or</b>", "<![CDATA[<b>l\\'or</b>]]>"),
        ("&lt;b>A&amp;B", "<b>A&B", "<i>", "&lt;i>"),
        # The marks around attributes stay as they are written, which aapt drops and Html.fromHtml does not need.
        ('<![CDATA[<a href="u">A</a>]]>', '<a href="u">A</a>', '"B" <a href="u">l\'A</a>', _TAG_IN_CDATA),
        (r"<![CDATA[<a href=\"u\">A</a>]]>", '<a href="u">A</a>', '<a href="u">B</a>', _ESCAPED_TAG),
        ('&lt;a href="u"&gt;A', '<a href="u">A', '<a href="u">B', '&lt;a href="u"&gt;B'),
    ],
)
def test_values_are_read_and_written_with_their_escapes(raw: str, source: str, target: str, expected: str) -> None:
    (unit,) = read(f'  <string name="a">{raw}</string>').units
    assert plain(unit.source) == source
    assert write(f'  <string name="a">{raw}</string>', {"a": target}) == f'  <string name="a">{expected}</string>'


def test_apostrophes_within_tags_are_escaped_and_protected_elements_kept() -> None:
    body = '<string name="a">See <b>it</b>: <xliff:g id="n" example="3">%d</xliff:g> x</string>'
    (unit,) = read(body).units
    assert plain(unit.source) == "See it:  x"
    parts = joined([part if isinstance(part, Code) else "l'a " for part in unit.source])
    assert len(codes(unit.source)) == 3
    expected = r'<string name="a">l\'a <b>l\'a </b>l\'a <xliff:g id="n" example="3">%d</xliff:g>l\'a\u0020</string>'
    assert write(body, {"a": parts}) == expected


def test_references_and_fixed_strings_are_not_translated() -> None:
    body = (  # case 28
        '<string name="a">@string/app_name</string>\r\n<string name="b" translatable="false">B</string>\r\n'
        '<string name="c">?attr/x</string>\r\n<string name="d"> </string>\r\n<!-- note -->\r\n'
        '<string-array name="e"><item>One</item><item>@string/two</item></string-array>\r\n<color name="f">#fff</color>'
    )
    units = read(body).units
    assert [(unit.id, unit.is_translatable) for unit in units] == [
        ("a", False),
        ("b", False),
        ("c", False),
        ("d", False),
        ("e/0", True),
        ("e/1", False),
    ]
    assert units[4].notes == ("note",)
    assert write(body, {"e/0": "Eins"}) == body.replace("One", "Eins")


PLURALS = (
    '  <plurals name="n">\r\n    <item quantity="one">%d file</item>\r\n'
    '    <item quantity="other">%d files</item>\r\n  </plurals>'
)


def test_plural_items_of_the_target_language_are_added() -> None:
    file = read(PLURALS, "pl")
    (unit,) = file.units
    assert [(form.name, form.sample, plain(form.source)) for form in unit.forms] == [
        ("one", 1, "%d file"),
        ("few", 2, "%d files"),
        ("many", 5, "%d files"),
        ("other", 5, "%d files"),
    ]
    out = file.write({"n": result("%d plik", "%d pliki", "%d plików", "%d pliku")}).decode()
    assert out == resources(
        '  <plurals name="n">\r\n    <item quantity="one">%d plik</item>\r\n    <item quantity="other">%d pliku</item>'
        '\r\n    <item quantity="few">%d pliki</item>\r\n    <item quantity="many">%d plików</item>\r\n  </plurals>'
    )


def test_plural_items_that_the_target_language_lacks_are_removed() -> None:
    out = read(PLURALS, "ja").write({"n": result("%d 件")}).decode()
    assert out == resources('  <plurals name="n">\r\n    <item quantity="other">%d 件</item>\r\n  </plurals>')


def test_an_empty_array_and_other_xml() -> None:
    assert read('<plurals name="n"/>').units[0].is_translatable is False
    with pytest.raises(DataError, match="these are not Android resources: the outermost element is <a>"):
        read_file(b"<a/>", "strings.xml")
