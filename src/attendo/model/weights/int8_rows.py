"""Rows of numbers as int8 codes with a scale each, in numpy, bit for bit equal to `model.weights.quantization`."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
Codes = npt.NDArray[np.int8]

LARGEST = 127
"""Largest code; -128 is not used, so that codes are symmetric."""


def quantize_rows(weight: FloatArray) -> tuple[Codes, FloatArray]:
    """Writes each row as codes times a scale: scale = max |row| / 127, code = round(row * (127 / max |row|)).

    Halves are rounded to even. A row of zeros has the scale 1 and codes 0, and so has one whose numbers are all below
    4e-37, where 127 / max |row| is infinite. A row that has a NaN has the scale NaN, so that it stays one.

    Args:
        weight: `(rows, columns)`, with at least one column.

    Returns:
        The codes, int8 `(rows, columns)`, and the scales, float32 `(rows,)`.
    """
    largest = np.abs(weight).max(axis=1)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        inverse = np.float32(LARGEST) / largest
        vanishing = np.isinf(inverse)
        scales = np.where(vanishing, np.float32(1), largest / np.float32(LARGEST))
        inverse[vanishing] = 0
        codes = np.rint(weight * inverse[:, None]).astype(np.int8)
    return codes, scales


def dequantize_rows(codes: Codes, scales: FloatArray) -> FloatArray:
    """The matrix that codes and scales represent, float32 `(rows, columns)`.

    For results of `quantize_rows`, quantising it again gives the same codes and scales, bit for bit (from 4e-37 to
    3e38). For the numbers whose quotient by 127 rounds to the scale s are in an interval around 127 s. The row's
    largest value was one of them, so the float32 number nearest to 127 s, which is what code 127 becomes here, is one
    too. The other values, divided by their scale again, differ from their codes by at most about 2^-16.

    Args:
        codes: int8 `(rows, columns)`.
        scales: float32 `(rows,)`.
    """
    return codes.astype(np.float32) * scales[:, None]


def scales_name(name: str) -> str:
    """Names the scales of the matrix `name` in a file."""
    return f"{name}.scales"


def check_stored(stored: Mapping[str, npt.NDArray[Any]], names: Iterable[str]) -> None:
    """Rejects codes and scales that cannot represent weights.

    Args:
        stored: the tensors by name, codes int8 `(rows, columns)` and scales float32 `(rows,)` among them.
        names: the names of the matrices.

    Raises:
        ValueError: a scale is not above 0 or makes infinite numbers, or a code is -128, which is not used.
    """
    for name in names:
        codes, scales = stored[name], stored[scales_name(name)]
        with np.errstate(over="ignore", invalid="ignore"):
            are_scales = (scales > 0) & np.isfinite(scales * np.float32(LARGEST))
        if not are_scales.all():
            raise ValueError(f"{scales_name(name)} has scales that are not finite numbers above 0")
        if codes.min() < -LARGEST:
            raise ValueError(f"{name} has codes below -{LARGEST}")
