"""Positional encodings against the paper's formula."""

import math

import pytest
import torch

from attendo.model.positions import SinusoidalPositions, sinusoids


def test_the_papers_formula() -> None:
    table = sinusoids(50, 8, "interleaved")
    for position in (0, 1, 7, 49):
        for i in range(4):
            angle = position / 10000 ** (2 * i / 8)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_halves_are_the_same_columns_in_another_order() -> None:
    interleaved, halves = sinusoids(9, 6, "interleaved"), sinusoids(9, 6, "halves")
    assert torch.equal(halves, interleaved[:, [0, 2, 4, 1, 3, 5]])


@pytest.mark.parametrize("k", [1, 5, 30])
def test_an_offset_is_a_linear_function(k: int) -> None:
    """Section 3.5: PE(pos + k) is a linear function of PE(pos): each pair turned by k times its frequency."""
    d_model = 16
    rotation = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        rotation[i, i] = rotation[i + 1, i + 1] = math.cos(angle)
        rotation[i, i + 1], rotation[i + 1, i] = math.sin(angle), -math.sin(angle)
    table = sinusoids(100, d_model, "interleaved").double()
    assert torch.allclose(table[:-k] @ rotation.t(), table[k:], atol=1e-5)


def test_the_table_grows_and_starts_anywhere() -> None:
    positions = SinusoidalPositions(8, "interleaved", length=4)
    assert torch.equal(positions(2, 9), sinusoids(11, 8, "interleaved")[2:])
    assert torch.equal(sinusoids(3, 8, "halves", first=5), sinusoids(8, 8, "halves")[5:])
    assert "table" not in positions.state_dict()


def test_far_positions_keep_their_digits() -> None:
    far = sinusoids(1, 4, "interleaved", first=1_000_000)[0, 0].item()
    assert far == pytest.approx(math.sin(1_000_000), abs=1e-6)
