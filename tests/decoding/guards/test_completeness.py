"""Lengths at which something is probably missing; the shares were calculated by hand."""

import pytest

from attendo.decoding.guards.completeness import length_problem

LEFT_OUT, ADDED = "something may have been left out", "something may have been added"


@pytest.mark.parametrize(
    ("source", "target", "languages", "expected"),
    [
        # (63 + 5) / (95 + 5) / 1.15 is 59 %, (58 + 5) / 100 / 1.15 is 55 % (54.8).
        (95, 63, ("en", "de"), None),
        (95, 58, ("en", "de"), f"the translation has 55% of the usual length; {LEFT_OUT}"),
        (95, 224, ("en", "de"), None),
        (95, 230, ("en", "de"), f"the translation has 204% of the usual length; {ADDED}"),
        (95, 42, ("de", "en"), f"the translation has 55% of the usual length; {LEFT_OUT}"),
        (95, 58, ("de", "en"), None),
        (95, 0, ("en", "xx"), None),
        (39, 0, ("en", "de"), None),
        (45, 0, ("en", "fr"), f"the translation has 9% of the usual length; {LEFT_OUT}"),
    ],
)
def test_what_is_said_of_a_length(source: int, target: int, languages: tuple[str, str], expected: str | None) -> None:
    assert length_problem("x" * source, "y" * target, languages) == expected
