"""Shapes that cannot be built are refused with the way out."""

import re
from typing import Any

import pytest

from attendo.model.config import START, ModelConfig


def test_defaults_are_the_base_model() -> None:
    base = ModelConfig()
    assert (base.d_model, base.d_ff, base.num_layers, base.num_heads, base.dropout) == (512, 2048, 6, 8, 0.1)
    assert (base.key_size, base.value_size, base.encoder_layers, base.decoder_layers) == (64, 64, 6, 6)
    assert base.start_id == START
    assert ModelConfig(start=7).start_id == 7


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_heads": 7}, "num_heads = 7 does not divide d_model = 512; take one of 1, 2, 4, 8, 16"),
        ({"num_heads": 0}, "num_heads = 0 is too small; take 1 or more"),
        ({"num_layers": 0}, "num_layers = 0 is too small"),
        ({"dropout": 1.0}, "dropout = 1.0 is no probability below 1"),
        ({"attention_dropout": -0.1}, "attention_dropout = -0.1 is no probability"),
        ({"d_model": 513, "num_heads": 3, "d_k": 9, "d_v": 9}, "d_model = 513 is odd"),
        ({"start": -3}, "start = -3 is no token id"),
        ({"layer_norm_eps": 0.0}, "layer_norm_eps = 0.0 is not above 0"),
        ({"layer_norm_eps": float("inf")}, "layer_norm_eps = inf is not above 0 and at most 1; take 1e-5"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps = nan is not above 0"),
        ({"d_model": 65538}, "d_model = 65538 is too large; take 65536 or less"),
        ({"d_ff": 2**62}, "d_ff = 4611686018427387904 is too large; take 1048576 or less"),
        ({"num_decoder_layers": 10**9}, "num_decoder_layers = 1000000000 is too large; take 1000 or less"),
        (
            {"kernel_size": 4},
            "kernel_size = 4 is even, but a convolution sees as many positions behind as ahead; take 5",
        ),
        ({"kernel_size": -1}, "kernel_size = -1 is too small; take 1 or more"),
        ({"window": 0}, "window = 0 is too small; take 1 or more"),
        ({"window": 2**20 + 1}, "window = 1048577 is too large; take 1048576 or less"),
        (
            {"encoder_layer": "recurrent", "d_model": 7, "num_heads": 7, "positions": "learned"},
            "d_model = 7 is odd, but a recurrence each way takes half of it; take an even one",
        ),
        (
            {"encoder_layer": "dilated-convolutional", "num_layers": 13},
            "13 dilated layers of kernel_size = 3 see more than 1,048,576 positions; take 12 or fewer",
        ),
        (
            {"encoder_layer": "dilated-convolutional", "kernel_size": 1025},
            "6 dilated layers of kernel_size = 1025 see more than 1,048,576 positions; take 1 or fewer",
        ),
    ],
)
def test_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ModelConfig(**wrong)


def test_all_problems_at_once() -> None:
    with pytest.raises(ValueError, match=r"d_ff = 0.*dropout = 2"):
        ModelConfig(d_ff=0, dropout=2)


def test_a_width_below_zero_has_no_divisors() -> None:
    with pytest.raises(ValueError, match=r"^d_model = -6 is too small; take 1 or more$"):
        ModelConfig(d_model=-6)


def test_what_convolutions_do_not_have_is_not_limited_by_them() -> None:
    assert ModelConfig(num_layers=1000).encoder_layers == 1000
    assert ModelConfig(encoder_layer="dilated-convolutional", kernel_size=1, num_layers=1000).encoder_layers == 1000
    assert 3**12 <= 2**20 < 3**13
    assert ModelConfig(encoder_layer="dilated-convolutional", num_layers=12).encoder_layers == 12


def test_free_head_sizes_need_no_division() -> None:
    assert ModelConfig(num_heads=7, d_k=10, d_v=11).key_size == 10
