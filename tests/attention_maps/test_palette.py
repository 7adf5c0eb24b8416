"""Colours against WCAG's formula and its published values."""

import pytest

from attendo.attention_maps.palette import head_colours, luminance


@pytest.mark.parametrize(
    ("colour", "expected"),
    # The three weights of WCAG 2.2's definition of relative luminance, and its mid grey.
    [
        ("#ffffff", 1),
        ("#000000", 0),
        ("#ff0000", 0.2126),
        ("#00ff00", 0.7152),
        ("#0000ff", 0.0722),
        ("#808080", 0.2159),
    ],
)
def test_luminance_is_that_of_wcag(colour: str, expected: float) -> None:
    assert luminance(colour) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("num_heads", [1, 8, 16, 32])
def test_heads_stand_out_from_light_and_dark_pages(num_heads: int) -> None:
    colours = head_colours(num_heads)
    assert len(set(colours)) == num_heads
    for colour in colours:
        for page in ("#ffffff", "#fbfbfa", "#14161a", "#1b1e24"):
            lighter, darker = sorted((luminance(colour), luminance(page)), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_a_head_keeps_its_colour_whatever_their_number() -> None:
    assert head_colours(32)[:10] == head_colours(10)
    assert head_colours(10)[:3] == head_colours(3)
