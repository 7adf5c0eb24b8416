"""Positional encodings as arrays (Section 3.5)."""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError


def sinusoids(
    length: int, d_model: int, layout: Literal["interleaved", "halves"], *, first: int = 0
) -> npt.NDArray[np.float32]:
    """The paper's table: PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same (Section 3.5).

    Args:
        length: rows.
        d_model: columns, an even number.
        layout: `interleaved` alternates sine and cosine as in the paper; `halves` has all sines first.
        first: the first row's position.

    Returns:
        float32 `(length, d_model)`. Angles are in float64: float32 would lose digits at far positions.
    """
    position = np.arange(first, first + length, dtype=np.float64)[:, None]
    frequency = np.exp(np.arange(0, d_model, 2, dtype=np.float64) * (-math.log(10000.0) / d_model))
    angle = position * frequency
    table = np.empty((length, d_model), dtype=np.float32)
    if layout == "interleaved":
        table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    else:
        table[:, : d_model // 2], table[:, d_model // 2 :] = np.sin(angle), np.cos(angle)
    return table


def too_long(positions: int, rows: int) -> DataError:
    """The error for a text that is longer than a learned table of positions.

    Args:
        positions: tokens of the text.
        rows: positions that the model has learned.
    """
    return DataError(
        f"a text of {positions} tokens is longer than the {rows} learned positions of this model "
        "(model.max_positions); split it, or train with sinusoids, which have no limit"
    )
