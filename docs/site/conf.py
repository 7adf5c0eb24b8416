"""Settings of Sphinx for the documentation; `make docs` builds it into build/site.

The pages are the Markdown files of the project as they stand: README.md is the first one. This file adds what GitHub
does without: the side bar, of navigation.toml, and a page for each file of source code that a page links to.
"""

import re
import shutil
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

from attendo.version import VERSION

PROJECT = Path(__file__).parent.parent.parent
FIRST_PAGE = "README"
NAVIGATION = tomllib.loads(Path(__file__).with_name("navigation.toml").read_text(encoding="utf-8"))
SECTIONS: list[dict[str, Any]] = NAVIGATION["section"]

project = "attendo"
author = "The attendo developers"
version = release = VERSION
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = FIRST_PAGE
source_suffix = {".md": "markdown"}
_pages = {FIRST_PAGE + ".md", *(page.split("/")[0] for section in SECTIONS for page in section["pages"])}
# By name, so that Sphinx does not look for pages in virtual environments and runs.
exclude_patterns = [entry.name for entry in PROJECT.iterdir() if entry.name not in _pages] + ["docs/site"]

myst_heading_anchors = 4
myst_url_schemes = {"http": None, "https": None, "mailto": None, "code": "{{path}}#{{fragment}}"}
_SOURCE_LINK = re.compile(r"\]\((?:\.\./)*src/(?P<path>[\w./-]+\.(?:py|toml))(?:#L(?P<line>\d+))?")

default_role = "py:obj"  # `name` in a docstring links to what has that name
_CODE, _NAME = re.compile(r"(?<!`)`([^`]+)`(?!`)"), re.compile(r"[A-Za-z_][\w.]*")
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_default_options = {
    "members": True,
    "inherited-members": "tuple,dict,Exception",
    "exclude-members": "count,index",
}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "attendo"
html_copy_source = False
html_show_copyright = False


def add_navigation(app: Sphinx, document: str, source: list[str]) -> None:
    """Puts the side bar's sections below the page that they belong to."""
    for section in SECTIONS:
        if section.get("below", FIRST_PAGE + ".md") == document + ".md":
            caption = f":caption: {section['title']}\n" if "title" in section else ""
            entries = "\n".join("/" + page.removesuffix(".md") for page in section["pages"])
            source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def link_code(app: Sphinx, document: str, source: list[str]) -> None:
    """Leads links to source code, which lies outside of the site, to pages of `code_pages`."""
    up = "../" * document.count("/")

    def inside(link: re.Match[str]) -> str:
        line = f"#L-{link['line']}" if link["line"] else ""
        return f"](code:{up}code/{link['path']}.html{line}"

    source[0] = _SOURCE_LINK.sub(inside, source[0])


def literal_code(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Shows `code` in a docstring as it stands, and leaves names to `default_role`."""
    text = _CODE.sub(lambda code: code[0] if _NAME.fullmatch(code[1]) else f"``{code[1]}``", "\n".join(lines))
    lines[:] = text.split("\n")


def code_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The source files that pages link to, highlighted, each line with an anchor `L-NUMBER`."""
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    texts = [path.read_text(encoding="utf-8") for path in map(Path, map(app.env.doc2path, app.env.found_docs))]
    for path in sorted({link["path"] for text in texts for link in _SOURCE_LINK.finditer(text)}):
        code = (PROJECT / "src" / path).read_text(encoding="utf-8")
        language = "toml" if path.endswith(".toml") else "python"
        body = app.builder.highlighter.highlight_block(code, language, linenos=False, lineanchors="L")
        yield f"code/{path}", {"title": path, "body": f"<h1>{escape(path)}</h1>{body}"}, "page.html"


def copy_first_page(app: Sphinx, exception: Exception | None) -> None:
    """Makes the first page what a folder's address shows."""
    if exception is None:
        shutil.copyfile(Path(app.outdir, FIRST_PAGE + ".html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    """Connects the functions above; another navigation makes every page anew."""
    app.add_config_value("navigation", NAVIGATION, "env", dict)
    app.connect("source-read", add_navigation)
    app.connect("source-read", link_code)
    app.connect("autodoc-process-docstring", literal_code)
    app.connect("html-collect-pages", code_pages)
    app.connect("build-finished", copy_first_page)
