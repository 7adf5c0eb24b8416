"""What is found in an attention: its operations by the paper, its parameters by torch's count."""

from typing import Any

import pytest
import torch

from attendo.diagrams.attention import INNER, OUTER, attention_of, attention_structure, function_name
from attendo.diagrams.structure import Structure
from attendo.model.attention import SelfAttention
from attendo.model.config import ModelConfig

SIZES: dict[str, Any] = {"d_model": 16, "d_ff": 40, "num_layers": 1, "num_heads": 2, "d_k": 4, "d_v": 6}


def one_head(structure: Structure) -> list[tuple[str, tuple[str, ...]]]:
    return [(block.title, block.details) for block in structure.column(INNER) if block.kind != "input"]


def test_one_head_is_the_papers() -> None:
    # The scale stands before the products; the paper's figure has it behind them, which is the same number.
    structure = attention_of(ModelConfig(), "base")
    assert one_head(structure) == [
        ("Scale", ("by 1/√64",)), ("MatMul", ("Q Kᵀ",)), ("Mask (opt.)", ()), ("SoftMax", ()),
        ("MatMul", ("weights times V",)),
    ]  # fmt: skip
    flows = {(edge.source, edge.target) for edge in structure.edges}
    scale, product, *_, last = [block.name for block in structure.column(INNER) if block.kind != "input"]
    assert {("Q", scale), (scale, product), ("K", product), ("V", last)} <= flows
    assert ("V", product) not in flows


def test_all_heads_are_the_papers() -> None:
    structure = attention_of(ModelConfig(), "base")
    assert [block.title for block in structure.column(OUTER)] == [
        "V", "Linear", "K", "Linear", "Q", "Linear", "Scaled Dot-Product Attention", "Concat", "Linear",
    ]  # fmt: skip
    assert structure.layers[0].times == 8
    assert set(structure.layers[0].blocks) == {"linear V", "linear K", "linear Q", INNER}
    assert structure.block("linear K").details == ("512 → 64",)
    assert structure.block("concat").details == ("8 × 64 = 512",)
    assert structure.block("output").details == ("512 → 512",)


@pytest.mark.parametrize(
    ("changes", "name", "steps"),
    [
        ({}, "Scaled Dot-Product Attention", ["Scale", "MatMul", "Mask (opt.)", "SoftMax", "MatMul"]),
        (
            {"attention_function": "dot-product"},
            "Dot-Product Attention", ["MatMul", "Mask (opt.)", "SoftMax", "MatMul"],
        ),
        (
            {"attention_function": "additive", "attention_bias": True},
            "Additive Attention", ["Additive", "Mask (opt.)", "SoftMax", "MatMul"],
        ),
        (
            {"attention_dropout": 0.2},
            "Scaled Dot-Product Attention", ["Scale", "MatMul", "Mask (opt.)", "SoftMax", "Dropout", "MatMul"],
        ),
        (
            {"encoder_layer": "restricted-self-attention", "window": 6},
            "Scaled Dot-Product Attention", ["Scale", "MatMul", "Mask", "SoftMax", "MatMul"],
        ),
        (
            {"encoder_layer": "recurrent", "decoder_layer": "restricted-self-attention", "window": 6},
            "Scaled Dot-Product Attention", ["Scale", "MatMul", "Mask", "SoftMax", "MatMul"],
        ),
    ],
)  # fmt: skip
def test_each_function_has_its_own_steps_and_all_parameters(
    changes: dict[str, Any], name: str, steps: list[str]
) -> None:
    config = ModelConfig(**SIZES, **changes)
    structure = attention_of(config, "a model")
    assert [title for title, _ in one_head(structure)] == steps
    assert structure.block(INNER).title == name
    with torch.device("meta"):
        attention = SelfAttention(config)
    assert function_name(attention) == name
    assert structure.parameters == sum(parameter.numel() for parameter in attention.parameters())


def test_the_window_is_told() -> None:
    config = ModelConfig(**SIZES, encoder_layer="restricted-self-attention", window=6)
    assert ("Mask", ("3 behind, 2 ahead",)) in one_head(attention_of(config, "a model"))


def test_another_scale_is_told() -> None:
    with torch.device("meta"):
        attention = SelfAttention(ModelConfig(**SIZES))
    attention.scale = 0.3
    assert ("Scale", ("by 0.3",)) in one_head(attention_structure(attention, "a model"))


def test_looking_leaves_the_mode_as_it_was() -> None:
    with torch.device("meta"):
        attention = SelfAttention(ModelConfig(**SIZES)).eval()
    attention_structure(attention, "a model")
    assert not attention.training
