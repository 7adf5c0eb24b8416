"""onnxruntime against our forward, every option that the model has."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interop.conftest import greedy

from attendo.decoding.backends.models import decoding_model
from attendo.errors import ModelError
from attendo.interop.huggingface import start_id
from attendo.interop.onnx import DECODER, DECODER_WITH_PAST, ENCODER, write_graphs
from attendo.interop.onnx_runtime import OnnxRuntime
from attendo.interop.parity import AttendoRuntime, compare
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

SOURCES = [[5, 9, 30, 7, 0], [2, 33, 0], [11, 0], [4, 4, 8, 20, 31, 6, 0]]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"positions": "halves", "activation": "swish", "attention_bias": True, "output_bias": True},
    {
        "positions": "learned",
        "max_positions": 60,
        "layer_norm_eps": 1e-3,
        "shared_embeddings": "target",
        "src_size": 43,
    },
    {"d_k": 5, "d_v": 3, "shared_embeddings": "none", "src_size": 45, "tgt_size": 41, "start": 4},
    {"d_k": 5, "attention_function": "dot-product"},
    {"d_k": 5, "d_v": 3, "attention_function": "additive", "attention_bias": True},
]


def runtime(model: Transformer, folder: Path) -> OnnxRuntime:
    write_graphs(model, folder)
    return OnnxRuntime(folder, start_id=start_id(model), tgt_vocab_size=model.tgt_vocab_size, threads=1)


@pytest.mark.parametrize("options", OPTIONS)
def test_it_says_the_same(model: Callable[..., Transformer], options: Any, tmp_path: Path) -> None:
    ours = model(**options)
    here = AttendoRuntime(decoding_model(ours, native=False), threads=1, version="")
    found = compare(here, runtime(ours, tmp_path), SOURCES)
    assert found.max_difference < 1e-4
    assert found.identical == len(SOURCES)
    assert max(map(len, found.our_outputs)) > 5  # so that the cache was put to use


def test_each_step_is_our_forward(model: Callable[..., Transformer], tmp_path: Path) -> None:
    ours = model(output_bias=True)
    assert ours.output_bias is not None
    ours.output_bias.data[0] = -1e4  # `greedy` never ends
    written = runtime(ours, tmp_path).greedy(SOURCES, 6)
    assert written == [greedy(ours, source, 6)[0] for source in SOURCES]


def test_names_and_axes_are_those_of_hugging_face(model: Callable[..., Transformer], tmp_path: Path) -> None:
    write_graphs(model(), tmp_path)
    layers = [
        f"{number}.{side}.{what}" for number in range(3) for side in ("decoder", "encoder") for what in ("key", "value")
    ]
    own = [name for name in layers if "decoder" in name]
    expected = {
        ENCODER: (["input_ids", "attention_mask"], ["last_hidden_state"]),
        DECODER: (
            ["encoder_attention_mask", "input_ids", "encoder_hidden_states"],
            ["logits", *(f"present.{name}" for name in layers)],
        ),
        DECODER_WITH_PAST: (
            ["encoder_attention_mask", "input_ids", *(f"past_key_values.{name}" for name in layers)],
            ["logits", *(f"present.{name}" for name in own)],
        ),
    }
    for name, (inputs, outputs) in expected.items():
        session = onnxruntime.InferenceSession(str(tmp_path / name), providers=["CPUExecutionProvider"])
        assert [value.name for value in session.get_inputs()] == inputs
        assert [value.name for value in session.get_outputs()] == outputs


def test_other_layers_are_refused(tmp_path: Path) -> None:
    config = ModelConfig(
        d_model=16,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        encoder_layer="recurrent",
        decoder_layer="restricted-self-attention",
    )
    model = Transformer(config, 10, 10)
    with pytest.raises(
        ModelError,
        match=r'encoder_layer = "recurrent" and decoder_layer = "restricted-self-attention": only self-attention',
    ):
        write_graphs(model, tmp_path)
