"""Reading, dividing and writing a document costs what its length costs, whatever is in it.

Two counts stand for time. Steps are the lines of Python that run, with a made-up translator in place of a model: four
times the text may take at most six times the steps. What happens within one call, as in a regular expression or in the
copy of a list, is no step; for that the kinds that once were quadratic there are read at a size at which they would
take minutes. `benchmarks/document_reading.py` measures all kinds in seconds.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from tests.formats.documents import EN_DE
from tests.hostile.documents import HTML, MARKDOWN
from tests.markup.made_up import MadeUp, translations

from attendo.errors import DataError
from attendo.formats.file import Result
from attendo.formats.table import read_file
from attendo.markup.sentences import plan_of
from attendo.markup.text_types import TextRequest

KINDS = {f"{name} {kind}": make for name, kinds in (("html", HTML), ("md", MARKDOWN)) for kind, make in kinds.items()}
SIZE = 1200
MOST = 6.0
USUAL = (
    "html nested inline",
    "html many crossed",
    "html nested pre",
    "md brackets",
    "md mixed emphasis",
    "md pictures",
)


def work(kind: str, size: int) -> None:
    """Reads a document, translates its units with words in place of words, and writes it."""
    name = "page.html" if kind.startswith("html") else "page.md"
    try:
        file = read_file(KINDS[kind](size).encode(), name, EN_DE)
    except DataError:
        return
    units = [unit for unit in file.units if unit.is_translatable]
    found = translations(units, MadeUp(str.split))
    results = {unit.id: Result(texts=made.texts) for unit, made in zip(units, found, strict=True) if made.texts}
    file.write(results)


def steps(function: Callable[[], object]) -> int:
    """The lines of attendo and of its Markdown parser that a function runs."""
    count = 0

    def in_frame(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return in_frame

    def called(frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        return in_frame if "/attendo/" in name or "/markdown_it/" in name else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def check_growth(kind: str, size: int) -> None:
    # From a size on that has more tags than a sentence is read with: those are taken apart in another way.
    few, many = (steps(lambda size=length: work(kind, size)) for length in (size, 4 * size))  # type: ignore[misc]
    assert many <= MOST * few, (kind, few, many)


@pytest.mark.parametrize("kind", USUAL)
def test_four_times_the_text_takes_about_four_times_the_steps(kind: str) -> None:
    check_growth(kind, SIZE)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_of_every_kind(kind: str) -> None:
    check_growth(kind, 4 * SIZE)


@pytest.mark.parametrize(
    "kind",
    [
        "html quotes without end",
        "html short instructions",
        "html spaces",
        "md spaces",
        "md spaces in headings",
        "md spaces in links",
    ],
)
def test_what_was_quadratic_within_one_call_is_read_at_once(kind: str) -> None:
    name = "page.html" if kind.startswith("html") else "page.md"
    file = read_file(KINDS[kind](300_000).encode(), name, EN_DE)
    file.write({unit.id: Result(texts=tuple(form.source for form in unit.forms)) for unit in file.units})


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("<pre>" * 20_000 + "text" + "</pre>" * 20_000, "html"),
        ("some words\u00a0\u00a0" + "\u00a0" * 100_000 + "x", "text"),
    ],
)
def test_texts_are_divided_at_once(text: str, markup: Any) -> None:
    plan = plan_of(TextRequest(text=text, format=markup, line_ends="spaces"))
    assert plan.source == text
    assert plan.sentences
