"""Table 1's operations against counts by hand, and where self-attention overtakes recurrence."""

import pytest

from attendo.model.config import EncoderLayerType
from attendo.paper.table1.layers import (
    BY_NAME,
    LAYERS,
    Operations,
    Sizes,
    count_operations,
    find_crossing,
    first_true,
    layers_that_reach,
    sub_layer,
)

N, D, K, R = 10, 6, 5, 4
SIZES = Sizes(n=N, d=D, k=K, r=R)


@pytest.mark.parametrize(
    ("name", "mixing", "projections"),
    [
        # QK^T and weights times V: a product of n x d and d x n, and one of n x n and n x d; a term is two operations.
        ("self-attention", 2 * 2 * N * N * D, 4 * 2 * N * D * D),
        # A GRU each way of width d / 2: three gates, each with a matrix for the input and one for the state.
        ("recurrent", 2 * N * 2 * 3 * (D * (D // 2) + (D // 2) ** 2), 0),
        ("convolutional", 2 * K * N * D * D, 0),
        ("dilated-convolutional", 2 * K * N * D * D, 0),
        ("separable-convolutional", 2 * K * N * D + 2 * N * D * D, 0),
        # Shorter than a block: every query is multiplied with every key.
        ("restricted-self-attention", 2 * 2 * N * N * D, 4 * 2 * N * D * D),
    ],
)
def test_operations_by_hand(name: EncoderLayerType, mixing: int, projections: int) -> None:
    assert count_operations(name, SIZES) == Operations(mixing=mixing, projections=projections)


def test_fused_attention_is_counted_too() -> None:
    # More than 2^20 weights, where torch's fused kernel takes over, which its counter does not know.
    n, d = 1100, 4
    found = count_operations("self-attention", Sizes(n=n, d=d, k=3, r=3))
    assert found == Operations(mixing=4 * n * n * d, projections=8 * n * d * d)


def test_restricted_attention_is_linear_in_n_and_within_a_block_of_r() -> None:
    short, long = (count_operations("restricted-self-attention", Sizes(n=n, d=D, k=K, r=9)) for n in (256, 1024))
    assert long.mixing == 4 * short.mixing
    # Blocks of 64 queries see 64 + 8 keys.
    assert short.mixing == 4 * 256 * (64 + 8) * D


def test_a_recurrence_in_torchs_own_words() -> None:
    # All that torch.nn.GRU's matrices multiply: each weight once a position.
    sizes = Sizes(n=7, d=8, k=3, r=3)
    layer = sub_layer("recurrent", sizes)
    weights = sum(parameter.numel() for parameter in layer.parameters() if parameter.dim() == 2)
    assert count_operations("recurrent", sizes).total == 2 * 7 * weights


def test_where_self_attention_overtakes_recurrence() -> None:
    # 4 n^2 d >= 9 n d^2 from n = 9/4 d on; with 8 n d^2 of projections from n = d/4 on.
    found = find_crossing(8)
    assert (found.alone, found.with_projections) == (18, 2)


@pytest.mark.parametrize("least", [1, 2, 3, 7, 64, 100])
def test_the_first_number_of_which_something_holds(least: int) -> None:
    assert first_true(lambda number: number >= least) == least


def test_the_papers_formulas() -> None:
    by_hand = {
        "self-attention": 600, "recurrent": 360, "convolutional": 1800, "dilated-convolutional": 1800,
        "separable-convolutional": 660, "restricted-self-attention": 240,
    }  # fmt: skip
    assert {layer.name: layer.operations(SIZES) for layer in LAYERS} == by_hand


@pytest.mark.parametrize(
    ("name", "distance", "layers"),
    [
        ("self-attention", 9, 1),
        ("recurrent", 9, 1),
        ("convolutional", 9, 5),  # two to either side
        ("separable-convolutional", 8, 4),
        ("dilated-convolutional", 12, 2),  # 2 + 10
        ("dilated-convolutional", 13, 3),
        ("restricted-self-attention", 9, 9),  # r = 4 is two behind and one ahead
    ],
)
def test_how_far_layers_see(name: EncoderLayerType, distance: int, layers: int) -> None:
    assert layers_that_reach(BY_NAME[name], SIZES, distance) == layers
