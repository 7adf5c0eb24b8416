"""What is found in a model: held against hooks on the running modules, formulas by hand, and models made for it."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from attendo.diagrams.architecture import architecture, structure_of
from attendo.diagrams.structure import Block, Structure
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

MakeModel = Callable[..., Transformer]
CHANGES: list[dict[str, Any]] = [
    {},
    {"encoder_layer": "recurrent"},
    {"encoder_layer": "convolutional", "kernel_size": 5},
    {"encoder_layer": "dilated-convolutional"},
    {"encoder_layer": "separable-convolutional"},
    {"encoder_layer": "restricted-self-attention", "decoder_layer": "restricted-self-attention", "window": 6},
    {"num_encoder_layers": 1, "num_decoder_layers": 4, "d_k": 3, "d_v": 5},
    {"attention_function": "additive", "attention_bias": True, "output_bias": True},
    {"attention_function": "dot-product", "activation": "swish", "dropout": 0.0, "attention_dropout": 0.2},
    {"positions": "learned", "max_positions": 32, "shared_embeddings": "none"},
    {"positions": "halves", "shared_embeddings": "target", "start": 0, "activation_dropout": 0.1},
    {"next_word": True, "shared_embeddings": "target"},
    {"next_word": True, "parser_stack": True, "shared_embeddings": "target"},
]


def titles(structure: Structure, column: str) -> list[str]:
    return [block.title for block in structure.column(column)]


def edges(structure: Structure, role: str) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in structure.edges if edge.role == role}


def of_kind(structure: Structure, kind: str) -> list[Block]:
    return [block for block in structure.blocks if block.kind == kind]


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: " ".join(changes) or "base")
def test_the_blocks_have_all_parameters_of_the_model_once(make_model: MakeModel, changes: dict[str, Any]) -> None:
    model = make_model(**changes)
    unique = {id(parameter): parameter.numel() for parameter in model.parameters()}
    assert structure_of(model, "a model").parameters == sum(unique.values())


def test_the_base_model_has_what_its_formulas_say() -> None:
    structure = architecture(ModelConfig(), 37_000, 37_000, "base")
    d, d_ff, n = 512, 2048, 6
    attention, feed_forward, norm = 4 * d * d, 2 * d * d_ff + d_ff + d, 2 * d
    own = {block.name: block.parameters for block in structure.blocks if block.parameters}
    assert own.pop("source_embedding") == 37_000 * d
    for name, count in own.items():
        kind = structure.block(name).kind
        assert count == n * {"attention": attention, "feed-forward": feed_forward, "norm": norm}[kind], name
    assert sum(own.values()) == n * (3 * attention + 2 * feed_forward + 5 * norm)
    assert "one matrix with Input Embedding" in structure.block("target_embedding").details
    assert "one matrix with Input Embedding" in structure.block("linear").details


def test_the_base_model_is_the_papers_figure() -> None:
    structure = architecture(ModelConfig(), 37_000, 37_000, "base")
    assert titles(structure, "encoder") == [
        "Inputs", "Input Embedding", "Positional Encoding", "+",
        "Multi-Head Attention", "Add & Norm", "Feed Forward", "Add & Norm",
    ]  # fmt: skip
    assert titles(structure, "decoder") == [
        "Outputs (shifted right)", "Output Embedding", "Positional Encoding", "+",
        "Masked Multi-Head Attention", "Add & Norm", "Multi-Head Attention", "Add & Norm", "Feed Forward", "Add & Norm",
        "Linear", "Softmax",
    ]  # fmt: skip
    assert [(layers.name, layers.times, len(layers.blocks)) for layers in structure.layers] == [
        ("encoder_layers", 6, 4), ("decoder_layers", 6, 6),
    ]  # fmt: skip
    assert edges(structure, "residual") == {
        ("source_embedding.sum", "encoder_layers.self_attention_norm"),
        ("encoder_layers.self_attention_norm", "encoder_layers.feed_forward_norm"),
        ("target_embedding.sum", "decoder_layers.self_attention_norm"),
        ("decoder_layers.self_attention_norm", "decoder_layers.encoder_attention_norm"),
        ("decoder_layers.encoder_attention_norm", "decoder_layers.feed_forward_norm"),
    }
    assert edges(structure, "memory") == {("encoder_layers.feed_forward_norm", "decoder_layers.encoder_attention")}
    assert edges(structure, "addend") == {
        ("source_embedding.positions", "source_embedding.sum"), ("target_embedding.positions", "target_embedding.sum"),
    }  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: " ".join(changes) or "base")
def test_blocks_stand_in_the_order_in_which_the_modules_run(make_model: MakeModel, changes: dict[str, Any]) -> None:
    # A model with numbers, of the same config, and torch's own hooks on each of its modules.
    model = Transformer(make_model(**changes).config, 13, 13) if "shared_embeddings" not in changes else None
    if model is None:
        model = Transformer(make_model(**changes).config, 11, 13)
    ran: list[str] = []
    for name, module in model.named_modules():
        module.register_forward_hook(lambda *_, name=name: ran.append(name))
    config = model.config
    model(collate([[5, 2, 0], [0]], [[3, 0], [4, 0]], start=config.start_id, masked=config.masks_targets))
    structure = structure_of(make_model(**changes), "a model")
    expected = []
    for stack in ("encoder_layers", "decoder_layers"):
        (layers,) = (each for each in structure.layers if each.name == stack)
        locals_ = [name.removeprefix(f"{stack}.") for name in layers.blocks]
        expected += [f"{stack}.{index}.{local}" for index in range(layers.times) for local in locals_]
    assert [name for name in ran if name in set(expected)] == expected


def test_a_norm_before_the_sub_layer_is_drawn_there(pre_norm: Transformer) -> None:
    structure = structure_of(pre_norm, "pre-norm")
    below, above = structure.layers[:2]
    assert (below.times, above.times) == (2, 1)
    assert [structure.block(name).title for name in below.blocks] == [
        "Norm", "Multi-Head Attention", "Add", "Norm", "Feed Forward", "Add",
    ]  # fmt: skip
    assert [structure.block(name).title for name in above.blocks] == [
        "Multi-Head Attention", "Add & Norm", "Feed Forward", "Add & Norm",
    ]  # fmt: skip
    norm, attention, added, _, _, second = below.blocks
    flow, residual = edges(structure, "flow"), edges(structure, "residual")
    assert {("source_embedding.sum", norm), (norm, attention), (attention, added)} <= flow
    assert {("source_embedding.sum", added), (added, second)} <= residual, "past norm and sub-layer both"
    assert not any(source == norm for source, _ in residual)
    assert edges(structure, "memory") == {("final_norm", "decoder_layers.encoder_attention")}
    assert structure.parameters == pre_norm.num_parameters


@pytest.mark.parametrize(
    ("changes", "kind", "title", "detail"),
    [
        ({"encoder_layer": "recurrent"}, "mixing", "Recurrence", "two GRUs of 8, one each way"),
        ({"encoder_layer": "convolutional", "kernel_size": 5}, "mixing", "Convolution", "kernel 5, 16 → 16"),
        ({"encoder_layer": "dilated-convolutional"}, "mixing", "Convolution", "dilation 1, 3, 9"),
        ({"encoder_layer": "separable-convolutional"}, "mixing", "Separable Convolution", "then 16 × 16"),
        (
            {"encoder_layer": "restricted-self-attention", "window": 6},
            "attention", "Multi-Head Attention", "a window of 6: 3 behind, 2 ahead",
        ),
        (
            {"decoder_layer": "restricted-self-attention", "window": 6},
            "attention", "Masked Multi-Head Attention", "a window of 6: 5 behind, 0 ahead",
        ),
        ({"attention_function": "additive"}, "attention", "Multi-Head Attention", "additive: v·tanh(q + k)"),
        ({"attention_function": "dot-product"}, "attention", "Multi-Head Attention", "dot products, not scaled"),
        ({"attention_bias": True}, "attention", "Multi-Head Attention", "with biases"),
        ({"attention_dropout": 0.2}, "attention", "Multi-Head Attention", "dropout 0.2 of weights"),
        ({"d_k": 3, "d_v": 5}, "attention", "Multi-Head Attention", "h = 2, d_k = 3, d_v = 5"),
        ({"activation": "swish"}, "feed-forward", "Feed Forward", "swish"),
        ({"activation_dropout": 0.3}, "feed-forward", "Feed Forward", "ReLU, then dropout 0.3"),
        ({"positions": "learned", "max_positions": 32}, "positions", "Positional Encoding", "32 × 16"),
        ({"positions": "halves"}, "positions", "Positional Encoding", "sines and cosines in halves"),
        ({"output_bias": True}, "linear", "Linear", "16 → 13 and a bias"),
        ({"dropout": 0.25}, "norm", "Add & Norm", "dropout 0.25"),
        ({"dropout": 0.25}, "sum", "+", "dropout 0.25"),
        ({}, "embedding", "Input Embedding", "times √16"),
    ],
)  # fmt: skip
def test_each_choice_of_a_recipe_shows(
    make_model: MakeModel, changes: dict[str, Any], kind: str, title: str, detail: str
) -> None:
    found = of_kind(structure_of(make_model(**changes), "a model"), kind)
    assert any(block.title == title and detail in block.details for block in found), [each.details for each in found]


def test_what_a_parser_is_told_stands_beside_the_sums_and_reads_the_memory(make_model: MakeModel) -> None:
    changes = {"next_word": True, "parser_stack": True, "shared_embeddings": "target"}
    plain, told = (structure_of(make_model(**more), "a model") for more in ({"shared_embeddings": "target"}, changes))
    assert titles(told, "encoder") == titles(plain, "encoder")
    assert [block.title for block in of_kind(told, "told")] == ["Next Word", "Parser Stack"]
    sums = [block for block in of_kind(told, "sum") if block.column == "decoder"]
    assert [block.details for block in sums] == [("dropout 0.1",), (), ()]  # the embedding's own, before it is told
    positions, word, stack = (
        next(edge.source for edge in told.edges if edge.role == "addend" and edge.target == block.name)
        for block in sums
    )
    assert (word, stack) == ("next_word", "parser_stack")
    assert told.block(positions).kind == "positions"
    readers = edges(told, "memory") - edges(plain, "memory")
    last = next(iter(edges(plain, "memory")))[0]
    assert readers == {(last, "next_word"), (last, "parser_stack")}
    flow = edges(told, "flow")
    assert {(sums[0].name, sums[1].name), (sums[1].name, sums[2].name)} <= flow
    assert not {pair for pair in flow if {"next_word", "parser_stack"} & set(pair)}


def test_matrices_of_their_own_are_not_called_shared(make_model: MakeModel) -> None:
    structure = structure_of(make_model(shared_embeddings="none"), "a model")
    assert not any("one matrix" in detail for block in structure.blocks for detail in block.details)
    structure = structure_of(make_model(shared_embeddings="target"), "a model")
    assert "one matrix with Output Embedding" in structure.block("linear").details
    assert structure.block("source_embedding").parameters == 11 * 16


def test_no_dropout_is_not_told(make_model: MakeModel) -> None:
    structure = structure_of(make_model(dropout=0.0), "a model")
    assert not any("dropout" in detail for block in structure.blocks for detail in block.details)


def test_another_scale_of_embeddings_is_told(make_model: MakeModel) -> None:
    model = make_model()
    model.source_embedding.scale = 1.5
    assert "times 1.5" in structure_of(model, "a model").block("source_embedding").details


def test_a_module_nobody_knows_is_drawn_by_its_class(make_model: MakeModel) -> None:
    class Gate(nn.Linear):
        pass

    model = make_model()
    with torch.device("meta"):
        for layer in model.encoder_layers:
            layer.feed_forward = Gate(16, 16)
    structure = structure_of(model, "a model")
    block = structure.block("encoder_layers.feed_forward")
    assert (block.kind, block.title, block.parameters) == ("step", "Gate", 3 * (16 * 16 + 16))


def test_looking_changes_nothing(make_model: MakeModel) -> None:
    model = make_model().eval()
    state = torch.random.get_rng_state()
    structure_of(model, "a model")
    architecture(model.config, 13, 13, "a model")
    assert not model.training
    assert torch.equal(torch.random.get_rng_state(), state)


def test_it_is_told_in_words_and_as_data(make_model: MakeModel) -> None:
    structure = structure_of(make_model(), "A small one")
    text = structure.to_text()
    assert text.startswith("A small one. Encoder, from below: Inputs; ")
    assert "3 times (Masked Multi-Head Attention (h = 2, d_k = d_v = 8), then Add & Norm (dropout 0.1, adds" in text
    data = structure.to_json()
    assert data["parameters"] == structure.parameters
    assert [block["title"] for block in data["blocks"]] == [block.title for block in structure.blocks]
