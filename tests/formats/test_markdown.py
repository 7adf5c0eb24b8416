"""Markdown. Structure is judged by markdown-it, an implementation of CommonMark, and text is written by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.formats.documents import read, sources, translated, write

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import Span
from attendo.formats.markdown_inline import read_inline

DOCUMENT = r"""---
title: "A: b"
layout: post
---
# Using *git* {#git}

Run `git push` then see
[the docs](./a.md#x "Title") or [API] or [x][api].BREAK
Next **very _nice_** line\
and ![a cat](cat.png 'Cat'), <kbd>x</kbd>, a footnote[^1] and snake_case.

> [!NOTE]
> A quote
> goes on.

1. one
   two
   - [ ] task

     inner

| A \| b | c |
|:--|--|
| `x \| y` | **d** |

```sh
echo "not translated"
```

    indented code

<!-- comment -->

<details>
<summary>More</summary>
</details>

$$
x^2
$$

[API]: http://x.y/z_(1) "The API"
[^1]: The note.

Setext
------
""".replace("BREAK", "  ")


def tokens(text: str) -> list[tuple[str, str, str]]:
    """The structure of a document: types of tokens, tags, and what code holds."""
    found = []
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        for token in [block, *(block.children or [])]:
            if token.type not in ("inline", "softbreak", "text", "html_block", "image"):
                found.append((token.type, token.tag, token.content.replace("\n", " ")))
    return found


def test_texts_are_units_and_markup_is_codes() -> None:
    assert sources(read(DOCUMENT, "x.md")) == [
        "A: b",
        "Using «*»git«*»",
        'Run «`git push`» then see «[»the docs«](./a.md#x "Title")» or «[»API«][API]» or «[»x«][api]».«  \n»'
        "Next «**»very «_»nice«_»«**» line«\\\n»and «![a cat](cat.png 'Cat')», «<kbd>»x«</kbd>», a footnote«[^1]» "
        "and snake_case.",
        "Title",
        "a cat",
        "Cat",
        "A quote goes on.",
        "one two",
        "task",
        "inner",
        "A | b",
        "c",
        "d",
        "More",
        "The API",
        "The note.",
        "Setext",
    ]


def test_the_structure_stays_and_code_keeps_its_bytes() -> None:
    out = translated(read(DOCUMENT, "x.md")).decode()
    body, new_body = DOCUMENT.partition("# Using")[2], out.partition("# USING")[2]
    assert tokens(new_body) == tokens(body)
    assert '---\ntitle: "A: B"\nlayout: post\n---\n# USING *GIT* {#git}\n' in out
    assert 'RUN `git push` THEN SEE [THE DOCS](./a.md#x "TITLE") OR [API][API] OR [X][api].  \nNEXT' in out
    assert "![A CAT](cat.png 'CAT')" in out
    assert "> [!NOTE]\n> A QUOTE GOES ON.\n" in out
    assert '[API]: http://x.y/z_(1) "THE API"\n[^1]: THE NOTE.\n' in out


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a", "1. b", "1\\. b"),
        ("a", "- b", "\\- b"),
        ("a", "# b", "\\# b"),
        ("a", "> b", "\\> b"),
        ("a", "---", "\\---"),
        ("a", "[x]: y", "\\[x]: y"),
        ("a", "b\n\nc", "b c"),
        ("a", "5 * 3 * 2, snake_case_name", "5 * 3 * 2, snake_case_name"),
        ("a", "*b* and `c`", "\\*b\\* and \\`c\\`"),
        ("a", "<b> & &amp; [x](y)", "\\<b\\> & &amp;amp; \\[x\\](y)"),
        ("a", "C:\\*x", "C:\\\\*x"),
        ("# a", "b #", "# b \\#"),
        ("- a", "+ b", "- \\+ b"),
        ("| a |\n|---|", "b | c", "| b \\| c |\n|---|"),
        ("2 \\* 3", "3 * 2", "3 \\* 2"),
        ("a&nbsp;b", "b\u00a0c", "b&nbsp;c"),
    ],
)
def test_characters_that_would_mean_something_are_escaped_and_no_others(
    source: str, target: str, expected: str
) -> None:
    file = read(source, "x.md")
    out = write(file, {"1": target}).decode()
    assert out == expected
    assert plain(read(out, "x.md").units[0].source) == " ".join(target.split("\n\n"))


def test_emphasis_keeps_white_space_outside_and_vanishes_where_it_is_empty() -> None:
    file = read("a **b** c", "x.md")
    _, opening, _, closing, _ = file.units[0].source
    assert write(file, {"1": ("x", opening, " y ", closing, "z")}) == b"x **y** z"
    assert write(file, {"1": ("x", opening, closing)}) == b"x"
    assert write(file, {"1": "x"}) == b"x"  # lost codes are put at the end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('!!! note "Title"\n    Inner\n\n    - more\n\nAfter', ["Title", "Inner", "more", "After"]),
        ("??? tip\n    Inner", ["Inner"]),
        ('=== "Tab"\n\n    Inner', ["Tab", "Inner"]),
        ("!!! That was close", ["!!! That was close"]),
        (":::{note} Title\n:class: x\nInner\n:::", ["Title", "Inner"]),
        (":::warning[Title]\nInner\n:::", ["Title", "Inner"]),
        ("::: package.module", []),
        (":::{code-block} sh\necho\n:::\nAfter", ["After"]),
        ("```{tip} Title\n:name: y\n\nInner *x*\n```", ["Title", "Inner «*»x«*»"]),
        ("```{code} sh\necho\n```", []),
        ("> [!WARNING]\n> Text", ["Text"]),
        ("Term\n:   Definition", ["Term", "Definition"]),
        ("*[HTML]: Hyper Text", ["Hyper Text"]),
        ("See {ref}`label` and {{ var }} {% if x %}y{% endif %}", None),
        ("[![Build](b.svg)](x)", ["Build"]),
        ("[a]: <b c> (t)\n[d]: e\n'u'", ["t", "u"]),
        ("<https://x.y>", []),
        ("Costs $5 and $6, not $x^2$", ["Costs $5 and $6, not «$x^2$»"]),
        ("Good :tada: 10:30 a:b", ["Good «:tada:» 10:30 a:b"]),
        ("{: .class }\nText", ["Text"]),
    ],
)
def test_blocks_and_marks_of_other_dialects(text: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = ["See «{ref}`label`» and «{{ var }}» «{% if x %}»y"]  # what ends a text stays behind it
    file = read(text, "x.md")
    assert sources(file) == expected
    assert file.write({}).decode() == text


def inline_by_commonmark(text: str) -> str:
    names = {"em": "em", "strong": "strong", "link": "a", "s": "s"}
    found = []
    for token in MarkdownIt("commonmark").parseInline(text)[0].children or []:
        name, _, half = token.type.rpartition("_")
        if name in names:
            found.append(f"<{'/' if half == 'close' else ''}{names[name]}>")
        else:
            found.append(
                {"softbreak": " ", "text": token.content, "text_special": token.content}.get(token.type, "<code>")
            )
    return "".join(found)


def inline_by_us(text: str) -> str:
    lines = []
    at = 0
    for line in text.split("\n"):
        lines.append(Span(at, at + len(line)))
        at += len(line) + 1
    names = {"*": "em", "_": "em", "**": "strong", "__": "strong", "[": "a"}
    found, opened = [], {}
    for piece in read_inline(text, lines, ()).pieces:
        code = piece.code
        if code is None:
            found.append(piece.text)
        elif code.kind == "open":
            opened[code.id] = names.get(code.raw, "")
            found.append(f"<{opened[code.id]}>" if opened[code.id] else "<code>")
        elif code.kind == "close" and opened[code.id]:
            found.append(f"</{opened[code.id]}>")
        else:
            found.append("<code>")
    return "".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "*a **b* c**", "***a** b*", "**a*", "a*b*c _d_e_ __f__", "*(*a*)*", "[a *b](c) d*", "`a *b` c*", "\\*a*",
        "[a [b](c) d](e)", "![a [b](c)](d)", '[a](b "c', "[a]", "<a> *b*", "**a\nb**", "_a_b _c", "`` a`b ``c`",
        "[a](<b c> 'd') [e](f(g)h)", "&amp; &#65;", "[![a](b)](c)", "a<!-- *b* -->c", "*a\u00a0*b*",
    ],
)  # fmt: skip
def test_emphasis_and_links_are_found_where_commonmark_has_them(text: str) -> None:
    assert inline_by_us(text) == inline_by_commonmark(text)


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from('ab *_`[]()!\\<>".,'), min_size=1, max_size=16).map(str.strip))
def test_any_marks_mean_what_they_mean_to_commonmark(text: str) -> None:
    if "[[" not in text:  # as links of wikis are written
        assert inline_by_us(text) == inline_by_commonmark(text)


def test_lines_within_quotes_and_lists_become_one() -> None:
    text = "> - a\r\n>   b  \r\n>   c\r\n"
    assert translated(read(text, "x.md")).decode() == "> - A B  \r\n>   C\r\n"


def test_front_matter_that_cannot_be_read_is_an_error_with_its_line() -> None:
    with pytest.raises(DataError, match=r"x\.md: line 3: cannot read ': b' here"):
        read("---\nx: 1\ntitle: a: b\n---\nText", "x.md")
    assert sources(read("---\nJust text\n\n---\nMore", "x.md")) == ["Just text", "More"]
    assert sources(read("+++\ntitle = 'x'\n+++\nText", "x.md")) == ["Text"]


LINES = st.lists(
    st.text(st.sampled_from("ab *_`[]()<>#-+1.>|:!&;\\\t~{}$\"'"), max_size=14),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(lines=LINES)
def test_any_text_is_read_and_its_blocks_stay(lines: list[str]) -> None:
    text = "\n".join(lines)
    file = read(text, "x.md")
    assert file.write({}).decode() == text
    unchanged = translated(file, lambda part: part)
    assert sources(read(unchanged, "x.md")) == sources(file)


@pytest.mark.parametrize(
    "piece", ["[", "![", "*a ", "`a``", "<!--", "<a ", "((", "[a](", "$a", "{{", "&a", ":::\n", "> "]
)
def test_hostile_repetitions_are_read(piece: str) -> None:
    text = piece * 2_000
    assert read(text, "x.md").write({}).decode() == text


def wrapped_at(width: int, words: int, prefix: str = "", line_end: str = "\n") -> str:
    """Words of five letters with as many on a line as the width has room for."""
    lines, line = [], prefix
    for _ in range(words):
        if len(line) + 6 > width + 1 and line != prefix:
            lines.append(line.rstrip(" "))
            line = prefix
        line += "words "
    return line_end.join([*lines, line.rstrip(" ")]) + line_end


@pytest.mark.parametrize("prefix", ["", "> "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_wrapped_paragraph_is_wrapped_at_a_like_width(prefix: str, line_end: str) -> None:
    text = wrapped_at(60, 40, prefix, line_end)
    file = read(text, "x.md")
    out = translated(file, lambda part: f"{part} {part}").decode()
    assert out == wrapped_at(max(map(len, text.splitlines())), 80, prefix, line_end)
    assert sources(read(out, "x.md")) == [" ".join(["words"] * 80)]


def test_one_line_stays_one_line_and_breaks_of_the_text_stay() -> None:
    assert translated(read("a " * 90, "x.md"), str.upper).decode().count("\n") == 0
    text = "one  \ntwo\\\nthree\n"
    assert translated(read(text, "x.md")).decode() == text.upper()


def test_no_line_begins_a_block_where_the_source_did_not() -> None:
    text = "first line that is here\nsecond line\n"
    signs = "- 1. # > + === | : <div> " * 12
    out = write(read(text, "x.md"), {"1": signs.strip()}).decode()
    assert sources(read(out, "x.md")) == [signs.strip()]


def test_links_and_code_are_not_broken() -> None:
    text = "see [the long link text](a.md 'some title') and `some code here`\nin this wrapped paragraph\n"
    out = translated(read(text, "x.md"), lambda part: part.upper() + "X" * 12).decode()
    assert "](a.md 'SOME TITLE" in out
    assert "`some code here`" in out
    assert max(map(len, out.splitlines())) <= 76


def test_pictures_in_descriptions_of_pictures_are_read_once() -> None:
    assert sources(read("![a ![b](c) d](e)", "x.md")) == ["a «![b](c)» d", "b"]
    # Each level holds all levels below it; those that are too deep stay as they are.
    file = read("![x " * 400 + "a" + "](b)" * 400, "x.md")
    assert len(file.units) < 10
    assert file.write({}) == ("![x " * 400 + "a" + "](b)" * 400).encode()
