"""HTML. Expected bytes are written by hand after the HTML standard's rules for its syntax and attributes."""

import pytest
from tests.formats.documents import EN_DE, read, shown, sources, translated, write

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import Languages

PAGE = """<!DOCTYPE html>
<html lang="en-GB"><head><meta charset="utf-8"><title>A &amp; B</title>
<meta name="Description" content='About "it"'><meta name="viewport" content="width=1">
<style>p { color: red }</style><script>if (a < b) alert("No");</script></head>
<body>
<!-- a note -->
<h1>  Head </h1>
<p>Press <kbd>Ctrl</kbd> and
   <a href="/x?a=1&amp;b=2" title="Help">read <em>more</em></a>.<br>Done</p>
<ul><li>One<li>Two</ul>
<textarea placeholder="Your text">mine</textarea>
<input type="submit" value=Send> <input type="text" value="kept">
<select><optgroup label="G"><option>O</option></optgroup></select>
<button aria-label="Close">x</button> <img src="i.png" alt="A picture">
<pre>first
  second</pre><pre><code>x = 1</code></pre>
</body></html>"""


def test_texts_and_attributes_that_people_read_are_units() -> None:
    assert sources(read(PAGE, "x.html")) == [
        "A & B",
        'About "it"',
        "Head",
        'Press «<kbd>Ctrl</kbd>» and «<a href="/x?a=1&amp;b=2" title="Help">»read «<em>»more«</em>»«</a>».«<br>»Done',
        "Help",
        "One",
        "Two",
        "Your text",
        "Send",
        "G",
        "O",
        "Close",
        "x",
        "A picture",
        "first",
        "second",
    ]


def test_what_is_written_differs_in_texts_alone() -> None:
    expected = PAGE
    for old, new in [
        ('lang="en-GB"', 'lang="de"'),
        ("""'About "it"'""", """'ABOUT "IT"'"""),
        ("  Head ", "  HEAD "),
        ("Press", "PRESS"),
        ("</kbd> and\n   <a", "</kbd> AND <a"),
        ('title="Help"', 'title="HELP"'),
        ("read <em>more", "READ <em>MORE"),
        ("Done", "DONE"),
        ("<li>One<li>Two", "<li>ONE<li>TWO"),
        ("Your text", "YOUR TEXT"),
        ("value=Send", 'value="SEND"'),
        ("Close", "CLOSE"),
        (">x</button>", ">X</button>"),
        ("A picture", "A PICTURE"),
        ("first\n  second", "FIRST\n  SECOND"),
    ]:
        assert expected.count(old) == 1, old
        expected = expected.replace(old, new)
    assert translated(read(PAGE, "x.html")).decode() == expected


def test_an_attribute_goes_with_its_element_wherever_a_translation_moves_it() -> None:
    file = read('<p>See <a title="T">this</a> now</p>', "x.html")
    text, title = file.units
    before, opening, inner, closing, behind = text.source
    moved = (opening, "das", closing, "!")
    assert (before, inner, behind) == ("See ", "this", " now")
    assert write(file, {text.id: moved}) == b'<p><a title="T">das</a>!</p>'
    assert write(file, {text.id: moved, title.id: 'X "y"'}) == b'<p><a title="X &quot;y&quot;">das</a>!</p>'
    assert write(file, {title.id: "Z"}) == b'<p>See <a title="Z">this</a> now</p>'


@pytest.mark.parametrize(
    "kept",
    [
        '<p translate="no">A <b>b</b></p>',
        '<p class="x notranslate">A</p>',
        '<p lang="fr">Bonjour</p>',
        "<script>a</script><style>b</style><template><p>c</p></template>",
        "<code>x</code><svg><title>t</title></svg>",
        "<p>&nbsp; <img src=x></p>",
        "<link title=x><meta name=robots content=index>",
    ],
)
def test_what_is_no_text_to_translate_is_no_unit(kept: str) -> None:
    assert sources(read(f"<body lang=en>{kept}</body>", "x.html")) == []


def test_protected_words_within_a_sentence_are_codes() -> None:
    file = read('<p><code>ls</code> lists <span translate="no">attendo</span></p>', "x.html")
    assert sources(file) == ['«<code>ls</code>» lists «<span translate="no">attendo</span>»']


@pytest.mark.parametrize(
    ("raw", "source", "target", "expected"),
    [  # case 39
        ("&amp; &lt;b&gt; &#169;&nbsp;x", "& <b> ©\u00a0x", "<i> & ©\u00a0é", "&lt;i&gt; &amp; &#169;&nbsp;é"),
        ("R&D &eacute; x", "R&D é x", "é & R", "&eacute; &amp; R"),
        ("x &copy 2 &unknown", "x © 2 &unknown", "&unknown", "&amp;unknown"),
        ("a", "a", "b ]]> \x01 <", "b ]]&gt; \ufffd &lt;"),
        ("1 < 2", "1 < 2", "2 > 1", "2 > 1"),
    ],
)
def test_characters_are_read_and_written_as_the_page_spells_them(
    raw: str, source: str, target: str, expected: str
) -> None:
    file = read(f"<p>{raw}</p>", "x.html")
    assert plain(file.units[0].source) == source
    assert write(file, {"1": target}).decode() == f"<p>{expected}</p>"


def test_an_entity_that_html_does_not_define_is_a_code() -> None:
    assert sources(read("<p>a &custom; b</p>", "x.html")) == ["a «&custom;» b"]


@pytest.mark.parametrize(
    ("head", "encoding", "written"),
    [
        (b"<meta charset=iso-8859-1>", "cp1252", "x &#26085; é”".encode("cp1252")),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">',
            "koi8-r",
            b"x &#26085; &#233;&#8221;",
        ),
        (b"<meta charset=x-user-defined>", "cp1252", "x &#26085; é”".encode("cp1252")),
        (b"\xef\xbb\xbf", "utf-8", "x 日 é”".encode()),
        (b"", "cp1252", "x &#26085; é”".encode("cp1252")),
    ],
)
def test_the_encoding_is_kept_and_what_it_lacks_becomes_a_reference(head: bytes, encoding: str, written: bytes) -> None:
    body = "я".encode(encoding) if encoding == "koi8-r" else "é".encode(encoding)
    data = head + b"<p>" + body + b"</p>"
    file = read(data, "x.html")
    assert file.write({}) == data
    assert write(file, {"1": "x 日 é”"}) == head + b"<p>" + written + b"</p>"


def test_inner_declarations_of_the_source_language_change_with_it() -> None:
    file = read("<html lang=en><meta http-equiv=content-language content='en'><p>A <i lang=en>b</i></p>", "x.html")
    assert file.declared.source == "en"
    out = translated(file).decode()
    assert out == '<html lang="de"><meta http-equiv=content-language content=\'de\'><p>A <i lang="de">B</i></p>'
    unknown = read("<html lang=en><p>A</p>", "x.html", Languages())
    assert translated(unknown).decode() == "<html lang=en><p>A</p>"


@pytest.mark.parametrize(
    "broken",
    [
        "<p>a <b>b <i>c</b> d",
        "<p>a < b <",
        "<p>a <!-- never closed",
        "<p title='it",
        "<script>never closed <p>",
        "</p></div>a</span>",
        "<a title=it's>b isn't</a>",
        "<" * 3_000,
        "<a b='" * 3_000,
        "<!--" * 3_000,
        "<b>" * 3_000 + "x",
    ],
)
def test_broken_markup_is_read_as_it_is(broken: str) -> None:
    file = read(broken, "x.html")
    assert file.write({}).decode() == broken
    read(translated(file), "x.html")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<?a><p>A</p>", ["A"]),  # HTML ends it at the first >
        ("<?a><p>A</p><?b x > y ?><p>B</p>", ["B"]),  # XML at the first ?>, which comes before long
        (f"<?a><p>A</p>{' ' * 200_000}<?b?><p>B</p>", ["A", "B"]),
        ('<p>A</p>B <a title=">"', ["A", 'B «<a title=">»"']),  # no > ends the tag but the quoted one
    ],
)
def test_instructions_and_quotation_marks_that_are_not_closed(page: str, expected: list[str]) -> None:
    assert sources(read(page, "x.html")) == expected


def test_xhtml_has_elements_without_content() -> None:
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script src="x"/><p>A</p></html>'
    assert sources(read(page, "x.xhtml")) == ["A"]
    assert sources(read(page.partition("?>")[2].replace(" xmlns", " x"), "x.html")) == []


def test_entity_declarations_are_refused() -> None:
    with pytest.raises(DataError, match=r"x\.html: line 2 declares an entity, which is not read"):
        read('<!DOCTYPE html [\n<!ENTITY a "b">]><p>&a;</p>', "x.html")


def test_codes_at_the_edges_of_a_text_stay_outside_of_it() -> None:
    file = read("<div><a href=x><b>All</b></a></div><p><img src=i> Text<br></p>", "x.html", EN_DE)
    assert [shown(unit.source) for unit in file.units] == ["All", "Text"]
