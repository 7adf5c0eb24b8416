"""PE(pos + k) as a linear function of PE(pos): by trigonometry, by composition, and on tables whose map is known."""

import math

import pytest
import torch

from attendo.model.positions import sinusoids
from attendo.paper.length_extrapolation.tables import (
    LAYOUTS,
    ROUNDING,
    Layout,
    by_offset,
    closed_form,
    cosines,
    fitted,
    offset_matrix,
    rotations,
)


def test_two_columns_turn_as_a_clock_hand_does() -> None:
    # With two columns the only frequency is 1: the angle-sum identities by hand.
    found = rotations(3, 2)[0]
    expected = [[math.cos(3), math.sin(3)], [-math.sin(3), math.cos(3)]]
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-15)
    moved = found @ torch.tensor([math.sin(0.7), math.cos(0.7)], dtype=torch.float64)
    torch.testing.assert_close(
        moved, torch.tensor([math.sin(3.7), math.cos(3.7)], dtype=torch.float64), rtol=0, atol=1e-15
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_matrix_takes_every_row_of_the_models_table_further(layout: Layout) -> None:
    table = sinusoids(120, 12, layout).double()
    for offset in (1, 2, 7, 50):
        moved = table[:-offset] @ offset_matrix(offset, 12, layout).t()
        assert float((moved - table[offset:]).abs().max()) <= ROUNDING


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_matrices_turn_and_compose(layout: Layout) -> None:
    one, other, both = (offset_matrix(offset, 10, layout) for offset in (5, 8, 13))
    torch.testing.assert_close(one @ other, both, rtol=0, atol=1e-14)
    torch.testing.assert_close(one @ one.t(), torch.eye(10, dtype=torch.float64), rtol=0, atol=1e-14)
    assert int((one != 0).sum()) == 2 * 10  # two entries a row, nothing beside the turns


def test_the_matrix_is_another_one_for_another_layout() -> None:
    table = sinusoids(40, 8, "halves").double()
    wrong = table[:-3] @ offset_matrix(3, 8, "interleaved").t()
    assert float((wrong - table[3:]).abs().max()) > 0.1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_closed_form_misses_by_rounding_alone(layout: Layout) -> None:
    found = closed_form(layout, 16, 300, 200)
    assert 0 < found.largest_error <= ROUNDING
    assert (found.positions, found.offsets, found.d_model, found.layout) == (300, 200, 16, layout)


def test_every_offset_and_position_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry that is wrong shows, wherever it is."""
    from attendo.paper.length_extrapolation import tables as module

    for row in (0, 29, 49):
        table = sinusoids(50, 8, "interleaved")
        table[row, 5] += 0.25
        monkeypatch.setattr(module, "sinusoids", lambda length, d_model, layout, table=table: table[:length])
        assert closed_form("interleaved", 8, 30, 20).largest_error > 0.2, row


def test_a_table_made_by_a_linear_map_is_found_out_and_noise_is_not() -> None:
    generator = torch.Generator().manual_seed(3)
    turn = torch.linalg.qr(torch.randn(6, 6, generator=generator, dtype=torch.float64))[0]
    rows = [torch.randn(6, generator=generator, dtype=torch.float64)]
    for _ in range(79):
        rows.append(turn @ rows[-1])
    for fit in fitted(torch.stack(rows), (1, 3, 8)):
        assert fit.residual < 1e-6
    noise = torch.randn(80, 6, generator=generator, dtype=torch.float64)
    for fit in fitted(noise, (1, 3, 8)):
        assert 0.8 < fit.residual < 1.3


def test_offsets_that_leave_too_few_rows_are_passed_over() -> None:
    table = torch.randn(40, 4, generator=torch.Generator().manual_seed(1))
    assert [fit.offset for fit in fitted(table, (1, 24, 25, 100))] == [1, 24]


def test_cosines_and_their_means_by_distance() -> None:
    table = torch.tensor([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]])
    expected = torch.tensor([[1.0, 0, -1], [0, 1, 0], [-1, 0, 1]], dtype=torch.float64)
    torch.testing.assert_close(cosines(table), expected)
    assert by_offset(cosines(table)) == [1.0, 0.0, -1.0]


def test_sinusoids_are_as_alike_as_their_distance_says() -> None:
    similarity = cosines(sinusoids(60, 16, "interleaved"))
    for offset, mean in enumerate(by_offset(similarity)):
        expected = sum(math.cos(offset * 10000 ** (-2 * i / 16)) for i in range(8)) / 8
        assert mean == pytest.approx(expected, abs=1e-6)
