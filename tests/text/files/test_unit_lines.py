"""Units written as lines come back as they were, on one line each."""

from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.text.files.formats import MAX_LINE_BYTES, HeldLines, RawPair
from attendo.text.files.unit_lines import read_unit_lines, unit_line


def back(pairs: list[RawPair]) -> Iterator[RawPair]:
    lines = b"".join(unit_line(pair) for pair in pairs).split(b"\n")
    assert lines.pop() == b""
    return read_unit_lines(HeldLines(Path("units"), lines, first_line=1))


SIDES = st.binary(max_size=20).map(lambda side: side.translate(None, b"\t\r\n"))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.builds(
            RawPair,
            line=st.integers(1, 1 << 40),
            source=SIDES,
            target=SIDES,
            fault=st.none() | st.sampled_from(["state", "no_json"]),
        )
    )
)
def test_every_pair_comes_back(pairs: list[RawPair]) -> None:
    assert list(back(pairs)) == pairs


def test_breaks_within_a_side_become_blanks() -> None:
    (found,) = back([RawPair(line=7, source=b"a\tb\nc", target=None, fault="untranslated")])
    assert found == RawPair(line=7, source=b"a b c", target=b"", fault="untranslated")


def test_a_pair_that_is_too_long_for_a_line_says_so() -> None:
    (found,) = back([RawPair(line=1, source=b"a" * MAX_LINE_BYTES, target=b"b")])
    assert (found.fault, found.target) == ("too_long", b"b")
    assert found.source == b"a" * 1000
