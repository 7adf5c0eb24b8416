"""Products of rows with a packed weight against numpy: all variants, and AMX's loop on a model of its instructions.

A small library is compiled for each (`products.cpp`); the model (`amx_model.h`) is plain C++, so that the loop is tried
on every processor. Those for aarch64 are programs that run under emulation.
"""

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from tests.native.emulation import MISSING, PROCESSORS, EmulatedProducts

from attendo.decoding.step import FloatArray
from attendo.native.build import COMPILE_FLAGS, HERE, find_compiler, variants
from attendo.native.library import PRECISIONS, available_kernels

MODEL = "amx_model"
FLAGS = {variant.name: variant.flags for variant in variants()} | {MODEL: ("-DATTENDO_AMX_MODEL",)}
EMULATED = {f"emulated {variant}": variant for variant in PROCESSORS}

SHAPES = [(16, 5), (48, 33), (64, 32), (80, 130), (512, 40)]
"""Inputs and outputs: multiples of 16, of a tile register's 64 bytes, and of a panel's 32 outputs, and not."""
COUNTS = (*range(1, 71), 130, 600)
"""Numbers of rows; of 600 with 512 inputs those of int8 pass in two stretches, and those of bfloat16 in three."""
FEW = (*range(1, 18), 41)
"""Of floats where the processor is emulated, since that takes a thousand times as long."""

Array = npt.NDArray[np.float32 | np.int8]


@dataclass(frozen=True)
class Product:
    """Multiplies rows with a weight."""

    compute: Callable[[Sequence[int], Sequence[Array | None], FloatArray], None]
    """`product` of `products.cpp`: its integers, its arrays, and the one that is filled."""
    rounding: dict[str, float]
    """By precision: how much an addition may change a sum by rounding it, as a fraction of it."""
    counts: Sequence[int] = COUNTS
    """Numbers of rows of floats to try."""

    def __call__(
        self,
        precision: Literal["float32", "bfloat16", "int8"],
        rows: FloatArray,
        weights: Array,
        *,
        scales: FloatArray | None = None,
        bias: FloatArray | None = None,
        relu: bool = False,
        threads: int = 1,
    ) -> FloatArray:
        """`(count, inputs)` and `(outputs, inputs)` give `(count, outputs)`."""
        out = np.empty((len(rows), len(weights)), dtype=np.float32)
        floats, codes = (None, weights) if precision == "int8" else (weights, None)
        arrays = [None if each is None else np.ascontiguousarray(each) for each in (rows, floats, codes, scales, bias)]
        sizes = (PRECISIONS.index(precision), *rows.shape, len(weights), threads, int(relu))
        self.compute(sizes, arrays, out)
        return out


def in_process(variant: str, folder: Path) -> Callable[[Sequence[int], Sequence[Array | None], FloatArray], None]:
    """A variant's products as a library, compiled in a folder."""
    compiler = find_compiler(os.environ)
    if compiler is None:
        pytest.skip("no C++ compiler")
    if variant not in (MODEL, *(kernels.variant for kernels in available_kernels())):
        pytest.skip("this processor or this build does not have them")
    made, here = folder / "products.so", Path(__file__).parent
    flags = (
        *COMPILE_FLAGS,
        "-O2",
        "-Werror",
        *FLAGS[variant],
        f"-DATTENDO_VARIANT={variant}",
        f"-I{HERE}",
        f"-I{here}",
    )
    subprocess.run([*compiler, *flags, "-shared", str(here / "products.cpp"), "-o", str(made)], check=True)
    call = ctypes.CDLL(str(made)).product

    def compute(sizes: Sequence[int], arrays: Sequence[Array | None], out: FloatArray) -> None:
        call(*sizes, *(None if array is None else ctypes.c_void_p(array.ctypes.data) for array in (*arrays, out)))

    return compute


@pytest.fixture(
    scope="module",
    params=["portable", "avx512vnni", "avx512amx", "neon", "neondot", "neoni8mm", MODEL, *EMULATED],
)
def product(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    variant, folder = EMULATED.get(request.param, request.param), tmp_path_factory.mktemp("products")
    # Sums are rounded to the nearest number, but for those of Arm's bfmmla, which are rounded to odd.
    rounding = {"float32": 2.0**-24, "bfloat16": 2.0 ** (-23 if variant == "neoni8mm" else -24)}
    if request.param not in EMULATED:
        yield Product(in_process(variant, folder), rounding)
        return
    if MISSING:
        pytest.skip(f"not installed: {MISSING}")
    emulated = EmulatedProducts(folder, variant)
    yield Product(emulated, rounding, FEW)
    emulated.close()


def int8_rows(rng: np.random.Generator, count: int, inputs: int) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Codes of rows, and the scale of each; a row's largest code is 127, so that quantising gives the codes again."""
    codes = rng.integers(-127, 128, size=(count, inputs))
    codes[:, 0] = 127
    return codes, (2.0 ** rng.integers(-5, 6, size=(count, 1))).astype(np.float32)


def as_bfloat16(values: npt.NDArray[np.float64]) -> FloatArray:
    """The same numbers cut off to the 8 bits that bfloat16 has of them."""
    bits = values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def assert_same_bits(found: FloatArray, expected: FloatArray) -> None:
    np.testing.assert_array_equal(found.view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize(("inputs", "outputs"), SHAPES)
def test_int8_is_exact_to_the_bit(product: Product, inputs: int, outputs: int) -> None:
    rng = np.random.default_rng(inputs)
    codes, row_scales = int8_rows(rng, max(COUNTS), inputs)
    weights = rng.integers(-127, 128, size=(outputs, inputs)).astype(np.int8)
    scales = rng.uniform(1e-3, 0.1, size=outputs).astype(np.float32)
    sums = codes @ weights.T.astype(np.int64)
    rows, expected = codes.astype(np.float32) * row_scales, sums.astype(np.float32) * (scales * row_scales)
    for count in COUNTS:
        found = product("int8", rows[:count], weights, scales=scales, threads=1 + count % 3)
        assert_same_bits(found, expected[:count])


def test_int8_sums_at_the_extremes(product: Product) -> None:
    rng = np.random.default_rng(1)
    signs = rng.choice([-127, 127], size=(40, 2048)), rng.choice([-127, 127], size=(70, 2048))
    signs[1][:40] = signs[0]  # the largest sum that there can be, and no integer of float32
    found = product("int8", signs[0].astype(np.float32), signs[1].astype(np.int8), scales=np.ones(70, np.float32))
    assert_same_bits(found, (signs[0] @ signs[1].T).astype(np.float32))


@pytest.mark.parametrize("count", [1, 7, 40])
def test_int8_with_bias_and_relu(product: Product, count: int) -> None:
    rng = np.random.default_rng(2)
    codes, row_scales = int8_rows(rng, count, 96)
    weights = rng.integers(-127, 128, size=(70, 96)).astype(np.int8)
    scales, bias = np.full(70, 2.0**-6, np.float32), rng.integers(-9, 9, size=70).astype(np.float32)
    # Powers of two: no number is rounded, whether a product and a sum are one instruction or two.
    values = (codes @ weights.T.astype(np.int64)) * (2.0**-6 * row_scales) + bias
    rows = codes.astype(np.float32) * row_scales
    for relu, expected in ((False, values), (True, np.maximum(values, 0))):
        found = product("int8", rows, weights, scales=scales, bias=bias, relu=relu)
        assert_same_bits(found, expected.astype(np.float32))


def test_rows_become_the_nearest_codes_and_of_two_the_even_one(product: Product) -> None:
    rows = (np.arange(-256, 256).clip(-254, 254) / 2).astype(np.float32).reshape(16, 32)
    rows[:, 0] = 127  # so that a code stands for 1
    found = product("int8", rows, np.eye(32, dtype=np.int8), scales=np.ones(32, np.float32))
    np.testing.assert_array_equal(found, np.rint(rows))


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
@pytest.mark.parametrize(("inputs", "outputs"), SHAPES)
def test_floats_are_near_and_a_row_does_not_depend_on_others(
    product: Product, precision: Literal["bfloat16", "float32"], inputs: int, outputs: int
) -> None:
    rng = np.random.default_rng(inputs)
    num_rows = max(product.counts)
    rows, weights = as_bfloat16(rng.normal(size=(num_rows, inputs))), as_bfloat16(rng.normal(size=(outputs, inputs)))
    bias = rng.normal(size=outputs).astype(np.float32)
    every = product(precision, rows, weights, bias=bias, threads=3)
    exact = rows.astype(np.float64) @ weights.T.astype(np.float64) + bias
    magnitudes = np.abs(rows) @ np.abs(weights.T) + np.abs(bias)
    # Each of the additions may round the magnitude that there is by then.
    assert np.all(np.abs(every - exact) <= (inputs + 1) * product.rounding[precision] * magnitudes)
    for count in product.counts:
        assert_same_bits(product(precision, rows[:count], weights, bias=bias, threads=1 + count % 3), every[:count])
    order = rng.permutation(len(rows))
    assert_same_bits(product(precision, rows[order], weights, bias=bias), every[order])


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_what_is_no_number_stays_in_its_row(product: Product, precision: Literal["bfloat16", "float32"]) -> None:
    rows, weights = np.ones((37, 48), dtype=np.float32), np.ones((40, 48), dtype=np.float32)
    rows[5, 3], rows[20, 47] = np.nan, np.inf
    found = product(precision, rows, weights)
    assert np.isnan(found[5]).all()
    assert np.isposinf(found[20]).all()
    np.testing.assert_array_equal(np.delete(found, (5, 20), axis=0), 48)
