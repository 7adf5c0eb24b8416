"""HTML and Markdown that nobody would have translated, by kind, for tests of what a document may cost.

`HTML[name](size)` and `MARKDOWN[name](size)` give a text of about `size` characters.
"""

from collections.abc import Callable, Mapping


def _times(piece: str) -> Callable[[int], str]:
    return lambda size: piece * (size // len(piece))


def _nested(opening: str, inner: str, closing: str) -> Callable[[int], str]:
    def text(size: int) -> str:
        count = size // (len(opening) + len(closing))
        return opening * count + inner + closing * count

    return text


HTML: Mapping[str, Callable[[int], str]] = {
    "nested": _nested("<div>", "text", "</div>"),
    "nested inline": _nested("<b>", "text", "</b>"),
    "unclosed": _times("<p><b>text "),
    "unclosed inline": _times("<i>a "),
    "closing alone": _times("</b>a "),
    "crossed": _times("<b><i>a</b></i>"),
    "angle brackets": _times("< "),
    "comments": _times("<!-- a "),
    "attributes": lambda size: f"<p {'a=b ' * (size // 4)}>text</p>",
    "quotes": _times('<a b="'),
    "declarations": _times("<!a "),
    "instructions": _times("<? a "),
    "entities": _times("&amp;a&#x41; "),
    "ampersands": _times("&"),
    "scripts": _times("<script>a"),
    "spaces": lambda size: f"<p>a{' ' * size}b</p>",
    "tables": _times("<td>a"),
    "quotes without end": lambda size: "<a b=x " * (size // 7) + 'b=">"',
    "short instructions": _times("<?a>"),
    "nested pre": _nested("<pre>", "text", "</pre>"),
    "nested titles": _nested('<b title="a b">', "text", "</b>"),
    "nested untranslated": _nested("<div translate=no>", "text", "</div>"),
    "many crossed": lambda size: "".join(
        "".join(f"<{mark}x{number}>a" for number in range(size // 14)) for mark in ("", "/")
    ),
    "tags and spaces": _times("a  <b> </b>  "),
    "links": _times('<a href="x">some link</a> '),
    "references": _times("&lt;b&gt;"),
    "unknown references": _times("&foo; "),
    "slashes": lambda size: f"<p {'/' * size}>text",
    "long names": lambda size: f"<p {'a' * size}>text",
    "table rows": _times("<tr><td>a</td><td>b</td></tr>"),
    "document types": _times("<!DOCTYPE a ["),
    "languages": _times('<span lang="fr">a</span> '),
}
MARKDOWN: Mapping[str, Callable[[int], str]] = {
    "brackets": _times("["),
    "closed brackets": _nested("[", "a", "]"),
    "links in brackets": lambda size: "[" * (size // 2) + "[a](b)" * (size // 12),
    "link starts": _times("[a]("),
    "link titles": _times('[a](b "'),
    "images": _nested("![", "a", "](b)"),
    "stars": _times("*"),
    "starred words": _times("*a "),
    "nested emphasis": _nested("*a ", "b", " a*"),
    "mixed emphasis": _times("*a _b ~~c "),
    "closing emphasis": _times("a* b_ "),
    "strong": _times("**a"),
    "backticks": _times("`"),
    "backtick runs": lambda size: " ".join("`" * (1 + number % 400) for number in range(size // 200)),
    "quotes": lambda size: ">" * size,
    "quoted lines": _times("> a\n"),
    "nested lists": lambda size: "".join(f"{' ' * number}- a\n" for number in range(int((2 * size) ** 0.5))),
    "lists": _times("- a\n"),
    "items in a line": _times("- "),
    "angle brackets": _times("<"),
    "tags": _times("<a"),
    "declarations": _times("a <!a "),
    "autolinks": _times("<a:"),
    "emoji": lambda size: ":" + "a" * size,
    "colons": _times(":a"),
    "templates": _times("{{"),
    "attributes": _times("{.a "),
    "formulas": _times("$a\\^"),
    "backslashes": _times("\\"),
    "tables": lambda size: "|a|\n|-|\n" + "|a" * (size // 2),
    "table rows": lambda size: "|a|b|\n|-|-|\n" + "|c|d|\n" * (size // 6),
    "definitions": _times("[a]: b\n"),
    "references": _times("[a][b"),
    "footnotes": _times("[^a"),
    "admonitions": lambda size: "!!! note " + " " * size + "x",
    "admonition titles": lambda size: "```{note}" + " " * size + "x\n```",
    "colon fences": _times(":::note\n"),
    "front matter": lambda size: "---\n" + "a: [b]\n" * (size // 7) + "---\n",
    "wrapped lines": _times("some words of a line that is wrapped\n"),
    "entities": _times("&amp;"),
    "hard breaks": _times("a  \n"),
    "links": _times("[a](b) "),
    "titled links": _times('[a](b "c") '),
    "spaces in links": lambda size: f"[a](b{' ' * size}c",
    "spaces": lambda size: f"a{' ' * size}b",
    "spaces in headings": lambda size: f"# a{' ' * size}b",
    "strong and starred": lambda size: "**a " * (size // 8) + "a* " * (size // 6),
    "emphasized links": _times("*[a](b)* "),
    "starred links": _times("*a [b](c) "),
    "labels": lambda size: f"[a]: b\n\n{'[' * (size // 2)}a{']' * (size // 2)}",
    "crossed tags": lambda size: (
        "a " + "".join("".join(f"<{mark}x{number}>a" for number in range(size // 14)) for mark in ("", "/"))
    ),
    "attributes of tags": lambda size: f"<a {'b ' * (size // 2)}",
    "wide tables": lambda size: "".join(cell * (size // 8) + "\n" for cell in ("|a", "|-", "|a", "|b")),
    "cells with NUL": lambda size: "|a|\n|-|\n" + "|a\0" * (size // 3),
    "indented lines": lambda size: (
        "".join("a\n" + "".join(" \t"[number >> bit & 1] for bit in range(10)) for number in range(size // 12)) + "b"
    ),
    "nested fences": lambda size: "".join(
        "`" * (3 + number) + "{note}\n" for number in reversed(range(int((2 * size) ** 0.5)))
    ),
    "nested admonitions": lambda size: (
        "".join("    " * number + "!!! note\n" for number in range(int((size / 2) ** 0.5)))
        + "    " * int((size / 2) ** 0.5)
        + "x"
    ),
    "HTML blocks": _times("<div>a\n"),
    "lazy lines": _times("- a\nb\n"),
    "code": _times("`a` b "),
    "pictures": _nested("[![", "a", "](b)](c)"),
}
