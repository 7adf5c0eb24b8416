"""A colour for each head and a shade for each weight, the same in every picture."""

import colorsys

import numpy as np
from numpy.typing import NDArray

FIRST_COLOURS = ("#2f7fd8", "#cf6a12", "#2c9550", "#d64550", "#8f63d2", "#12939b", "#cf4f9b", "#8a8412")
"""The first heads' colours: far apart in hue, and of medium luminance, so that they suit white and black."""

NUM_SHADES = 16
"""Number of shades between the weights 0 and 1 in print; the exact weights are in the JSON."""

_LUMINANCE = 0.2
_GOLDEN_RATIO = 0.618034


def head_colours(num_heads: int) -> list[str]:
    """Returns a `#rrggbb` for each head, with a contrast above 3 to white and to a dark page (WCAG 1.4.11)."""
    # Steps of the golden ratio never return to a hue already taken, however many heads there are.
    further = [_colour_of_hue((0.08 + index * _GOLDEN_RATIO) % 1) for index in range(num_heads - len(FIRST_COLOURS))]
    return [*FIRST_COLOURS[:num_heads], *further]


def shades(weights: NDArray[np.float32]) -> NDArray[np.int64]:
    """Returns each weight's shade, 0 to `NUM_SHADES`, by its square root; otherwise one of 0.05 would look like 0."""
    indices: NDArray[np.int64] = np.rint(np.sqrt(np.clip(weights, 0, 1)) * NUM_SHADES).astype(np.int64)
    return indices


def luminance(colour: str) -> float:
    """Returns the relative luminance of `#rrggbb` as WCAG defines it, 0 to 1."""
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _colour_of_hue(hue: float) -> str:
    low, high = 0.0, 1.0
    colour = ""
    for _ in range(12):  # halving the range twelve times is finer than a step of one channel
        lightness = (low + high) / 2
        red, green, blue = colorsys.hls_to_rgb(hue, lightness, 0.7)
        colour = f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
        low, high = (lightness, high) if luminance(colour) < _LUMINANCE else (low, lightness)
    return colour
