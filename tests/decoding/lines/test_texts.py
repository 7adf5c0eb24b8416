from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.lines.alignment import Alignment
from attendo.decoding.lines.texts import by_line, joined_alignment, pair_lines, text_lines
from attendo.errors import DataError


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one", ("one",)),
        ("", ("",)),
        ("one\n", ("one\n",)),
        ("one\r\n", ("one\r\n",)),
        ("\n", ("\n",)),
        ("one\ntwo", ("one", "two")),
        ("one\r\n\ntwo\n", ("one", "", "two", "")),
        ("\n\n", ("", "", "")),
        ("one\rtwo\u2028three", ("one\rtwo\u2028three",)),
    ],
)
def test_a_text_is_divided_at_lf_and_cr_lf(text: str, lines: tuple[str, ...]) -> None:
    found = text_lines(text)
    assert found.lines == lines
    assert found.joined(found.lines) == text


@given(st.text(alphabet="a \r\n\u2028"))
def test_lines_joined_are_the_text(text: str) -> None:
    found = text_lines(text)
    assert found.joined(found.lines) == text
    if len(found.lines) > 1:
        assert list(found.lines) == [line.removesuffix("\r") for line in text.split("\n")[:-1]] + [text.split("\n")[-1]]


def test_pairs_are_divided_where_both_sides_have_as_many_lines() -> None:
    assert pair_lines(("a\nb", "c\r\nd")) == [("a", "c"), ("b", "d")]
    assert pair_lines(("a\nb", "c")) == [("a\nb", "c")]
    assert pair_lines(("a\n", "c\n")) == [("a\n", "c\n")]
    ids: tuple[str, str | tuple[int, ...]] = ("a\nb", (3, 4))
    assert pair_lines(ids) == [("a\nb", (3, 4))]


def test_results_come_as_soon_as_an_items_lines_are_done() -> None:
    read = []

    def items() -> Iterator[str]:
        for item in ("a", "b c", "d"):
            read.append(item)
            yield item

    found = by_line(items(), lambda item: (item, item.split()), lambda parts: (part.upper() for part in parts))
    assert next(found) == ("a", ["A"])
    assert read == ["a"]
    assert list(found) == [("b c", ["B", "C"]), ("d", ["D"])]


def test_an_alignment_that_would_fill_the_memory_is_refused() -> None:
    size = 10_000
    line = Alignment(
        source_pieces=("a",) * size,
        target_pieces=("b",) * size,
        weights=np.broadcast_to(np.float32(0), (size, size)),
        source_words=(),
        target_words=(),
        links=(),
    )
    assert joined_alignment([line]) is line
    with pytest.raises(
        DataError, match=r"^a text of 2 lines has 20,000 pieces and its translation 20,000, too many to"
    ):
        joined_alignment([line, line])
