"""Controls of the writing direction: isolates in pairs, marks with what they stand beside (case 36)."""

import pytest
from tests.markup.made_up import MadeUp, backwards, translated

FSI, LRI, PDI, LRM, RLM = "\u2068", "\u2066", "\u2069", "\u200e", "\u200f"


@pytest.mark.parametrize(
    ("source", "flags", "expected"),
    [
        (f"opened {FSI}%s{PDI} now", "c-format", f"OPENED {FSI}%s{PDI} NOW"),
        (f"{LRM}%d{LRM} files", "c-format", f"{LRM}%d{LRM} FILES"),
        (f"size {LRI}-5{PDI} there", "", f"SIZE {LRI}-5{PDI} THERE"),
        (f"the {LRI}good old{PDI} file", "", f"THE {LRI}GOOD OLD{PDI} FILE"),
        (f"{RLM}end", "", f"{RLM}END"),
        (f"not closed {LRI}here", "", f"NOT CLOSED {LRI}HERE"),
    ],
)
def test_controls_come_back_as_they_were(source: str, flags: str, expected: str) -> None:
    assert translated(source, *flags.split()) == expected


def test_a_numbered_placeholder_keeps_its_isolates() -> None:
    found = translated(f"{FSI}%s{PDI} deleted {FSI}%d{PDI}", "c-format", made_up=MadeUp(backwards))
    assert found == f"{FSI}%2$d{PDI} DELETED {FSI}%1$s{PDI}"
