"""Markup and codes in the text of a unit: what the model reads of them, and where they are in the translation."""

import pytest
from tests.markup.made_up import MadeUp, backwards, translated

from attendo.formats.contents import Code, Content, codes
from attendo.formats.file import Languages
from attendo.formats.table import read_file
from attendo.markup.units.code_halves import half_of


def read_and_written(source: str | Content) -> tuple[list[str], str]:
    """What the model reads of a text, and the translation."""
    made_up = MadeUp()
    written = translated(source, made_up=made_up)
    return [line for batch in made_up.batches for line in batch], written


def xliff_source(source: str) -> Content:
    text = (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" '
        f'target-language="de" original="x" datatype="x"><body><trans-unit id="1"><source>{source}</source>'
        "</trans-unit></body></file></xliff>"
    )
    [unit] = read_file(text.encode(), "x.xlf", Languages(target="de")).units
    return unit.source


# What Angular's `ng extract-i18n` writes for "<strong>", "<a>" and `@if`, and lit-localize for "<b>".
STRONG = (
    '<x id="START_TAG_STRONG" ctype="x-strong" equiv-text="&lt;strong&gt;"/>',
    '<x id="CLOSE_TAG_STRONG" ctype="x-strong" equiv-text="&lt;/strong&gt;"/>',
)
LINK = '<x id="START_LINK_1" equiv-text="&lt;a href=&quot;a&gt;b&quot;&gt;"/>', '<x id="CLOSE_LINK"/>'
IF = (
    '<x id="START_BLOCK_IF" equiv-text="@if (a) {"/>',
    '<x id="CLOSE_BLOCK_IF" equiv-text="}"/>',
    '<x id="START_BLOCK_ELSE" equiv-text="@else {"/>',
    '<x id="CLOSE_BLOCK_ELSE" equiv-text="}"/>',
)
B = '<x id="0" equiv-text="&lt;b class=&quot;c&quot;&gt;"/>', '<x id="1" equiv-text="&lt;/b&gt;"/>'
PH = '<ph id="1">&lt;i&gt;</ph>', '<ph id="2">&lt;/i&gt;</ph>'


@pytest.mark.parametrize(("start", "end"), [STRONG, LINK, B, PH])
def test_codes_that_stand_for_tags_go_around_their_words(start: str, end: str) -> None:
    source = xliff_source(f"Are {start}you{end} ready")
    assert [half_of(code)[0] for code in codes(source)] == ["open", "close"]
    assert read_and_written(source) == (["Are you ready"], f"ARE {start}YOU{end} READY")
    assert translated(source, made_up=MadeUp(backwards)) == f"READY {start}YOU{end} ARE"


@pytest.mark.parametrize(
    "raw",
    [
        '<x id="INTERPOLATION" equiv-text="{{ name }}"/>',
        '<x id="0" equiv-text="&lt;img src=&quot;a&quot;&gt;"/>',
        '<x id="0" equiv-text="&lt;b/&gt;"/>',
        '<ph id="1">&lt;b&gt;Save&lt;/b&gt;</ph>',
    ],
)
def test_other_codes_are_words(raw: str) -> None:
    source = xliff_source(f"Ask {raw} now")
    assert half_of(codes(source)[0])[0] == "single"
    assert read_and_written(source) == (["Ask \u27e61\u27e7 now"], f"ASK {raw} NOW")


def test_half_of_a_pair_without_the_other_is_a_word() -> None:
    assert read_and_written(xliff_source(f"Ask {B[0]} now"))[0] == ["Ask \u27e61\u27e7 now"]


def test_an_empty_pair_of_codes_is_a_word() -> None:
    value = '<x id="START_TAG_GF_VALUE"/><x id="CLOSE_TAG_GF_VALUE"/>'
    source = xliff_source(f"You get {STRONG[0]}{value}{STRONG[1]} now")
    assert read_and_written(source) == (["You get \u27e61\u27e7 now"], f"YOU GET {STRONG[0]}{value}{STRONG[1]} NOW")


@pytest.mark.parametrize("link", ["[[*URL*|{}]]", "[[https://example.org/a_b|{}]]", "[{}](./a.md)"])
def test_a_link_goes_around_its_words(link: str) -> None:
    source = f"Please {link.format('view it')} now"
    assert read_and_written(source) == (["Please view it now"], f"PLEASE {link.format('VIEW IT')} NOW")


def test_branches_of_a_template_are_sentences_of_their_own() -> None:
    source = xliff_source(f"{IF[0]} Change it {IF[1]}{IF[2]} Leave it {IF[3]}")
    read, written = read_and_written(source)
    assert read == ["Change it", "Leave it"]
    assert written == f"{IF[0]} CHANGE IT {IF[1]}{IF[2]} LEAVE IT {IF[3]}"


@pytest.mark.parametrize(
    ("parts", "read", "expected"),
    [
        (("bright ", "<x/>", "or not"), "bright \u27e61\u27e7 or not", "BRIGHT <x/>OR NOT"),
        (("open", "<x/>", "the file"), "open \u27e61\u27e7 the file", "OPEN<x/>THE FILE"),
        (("open", "<x/>", " it"), "open \u27e61\u27e7 it", "OPEN<x/> IT"),
        (("(", "<x/>", ") is 5"), "(\u27e61\u27e7) is 5", "(<x/>) IS 5"),
    ],
)
def test_a_code_is_read_with_a_space_beside_letters(parts: tuple[str, ...], read: str, expected: str) -> None:
    source = tuple(Code(id="1", raw=part) if part == "<x/>" else part for part in parts)
    assert read_and_written(source) == ([read], expected)


@pytest.mark.parametrize(
    ("source", "read", "expected"),
    [
        ("one<br>two", ["one two"], "ONE<br>TWO"),
        ("one <br/>two", ["one two"], "ONE <br/>TWO"),
        ("<b>A title</b><br />and a text", ["A title and a text"], "<b>A TITLE</b><br />AND A TEXT"),
        ("All done.<br/>Go on.", ["All done.", "Go on."], "ALL DONE.<br/>GO ON."),
        ("A title<br/><br/>and a text", ["A title", "and a text"], "A TITLE<br/><br/>AND A TEXT"),
        ("<b>A title<br> <br>a text</b>", ["A title", "a text"], "<b>A TITLE<br> <br>A TEXT</b>"),
        ("All:<br />· one<br>· the other", ["All:", "one", "the other"], "ALL:<br />· ONE<br>· THE OTHER"),
        ("the end<br>", ["the end"], "THE END<br>"),
    ],
)
def test_a_line_break_separates_words(source: str, read: list[str], expected: str) -> None:
    assert read_and_written(source) == (read, expected)


@pytest.mark.parametrize(
    ("source", "read", "expected"),
    [
        ("<p>The one</p><p>The other</p>", ["The one", "The other"], "<p>THE ONE</p><p>THE OTHER</p>"),
        ("All: <ul><li>a pear</li></ul>", ["All:", "a pear"], "ALL: <ul><li>A PEAR</li></ul>"),
        ("<h2>News</h2>It is <b>here</b>", ["News", "It is here"], "<h2>NEWS</h2>IT IS <b>HERE</b>"),
        ("<private> is a <param>", ["is a"], "<private> IS A <param>"),
    ],
)
def test_blocks_of_html_are_translated_one_by_one(source: str, read: list[str], expected: str) -> None:
    assert read_and_written(source) == (read, expected)


@pytest.mark.parametrize("name", ["code", "kbd", "samp", "var", "tt"])
def test_code_in_a_string_is_kept(name: str) -> None:
    inline = f"<{name}>git push</{name}>"
    assert read_and_written(f"Run {inline} now") == (["Run \u27e61\u27e7 now"], f"RUN {inline} NOW")
    halves = Code(id="1", raw=f"<{name}>", kind="open"), Code(id="1", raw=f"</{name}>", kind="close")
    assert translated(("Run ", halves[0], "git push", halves[1], " now")) == f"RUN {inline} NOW"


def test_an_element_with_marks_alone_stays_beside_its_word() -> None:
    required = '<span class="required">*</span>'
    read, written = read_and_written(f"A <u>good</u>{required} source")
    assert (read, written) == (["A good source"], f"A <u>GOOD</u>{required} SOURCE")
    found = translated(f"A <u>good</u>{required} source", made_up=MadeUp(backwards))
    assert found == f"SOURCE <u>GOOD</u>{required} A"


@pytest.mark.parametrize("attributes", ["{href}", "%(attributes)s", "%s", "%1$s", 'class="a" {more}', "{{ link }}"])
def test_a_tag_whose_attributes_a_program_puts_in_is_a_tag(attributes: str) -> None:
    source = f"See <a {attributes}>the page</a> now"
    for flag in ("c-format", "python-format", "python-brace-format"):
        assert translated(source, flag) == f"SEE <a {attributes}>THE PAGE</a> NOW"
        assert translated(source, flag, made_up=MadeUp(backwards)) == f"NOW <a {attributes}>PAGE THE</a> SEE"


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("Click the big\n\t\t\tred button", ["Click the big red button"]),
        ("  -l, --list     print the names\n                 of all", ["print the names of all"]),
        ("one\ttwo", ["one", "two"]),
        ("one     two", ["one", "two"]),
        ("Name the file\nand press Return", ["Name the file and press Return"]),
        (
            "Name all of these files\nand press Return\nto save it.",
            ["Name all of these files and press Return", "to save it."],
        ),
        ("Frame size\nmin - 16\nmax - 65535", ["Frame size", "min - 16", "max - 65535"]),
    ],
)
def test_lines_that_are_wrapped_are_one_sentence(source: str, read: list[str]) -> None:
    found = read_and_written(source)
    assert found[0] == read
    assert found[1].split() == [word if word.startswith("-") else word.upper() for word in source.split()]


def test_a_tag_whose_words_are_gone_goes_around_another_word() -> None:
    made_up = MadeUp(lambda line: ["mit", "kleinem", ")", ",", "nicht"])
    assert translated("with a small <b>f</b>), not", made_up=made_up) == "mit <b>kleinem</b> ) , nicht"
