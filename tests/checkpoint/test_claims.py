"""What a model claims, counted and compared before it is built."""

import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from attendo.checkpoint.claims import check_claim, claim_problems, not_finite, read_header
from attendo.errors import ModelError
from attendo.model.config import AttentionFunction, DecoderLayerType, EncoderLayerType, ModelConfig
from attendo.model.transformer import Transformer
from attendo.model.weights.parameters import num_weights, parameter_shapes

SHAPES = (
    st.builds(
        ModelConfig,
        d_model=st.sampled_from([4, 8, 12]),
        d_ff=st.integers(1, 9),
        num_layers=st.integers(1, 2),
        num_encoder_layers=st.none() | st.integers(1, 3),
        num_decoder_layers=st.none() | st.integers(1, 3),
        encoder_layer=st.sampled_from(get_args(EncoderLayerType)),
        decoder_layer=st.sampled_from(get_args(DecoderLayerType)),
        kernel_size=st.sampled_from([1, 3, 5]),
        window=st.integers(1, 4),
        num_heads=st.sampled_from([1, 2, 4]),
        d_k=st.none() | st.integers(1, 5),
        d_v=st.none() | st.integers(1, 5),
        attention_function=st.sampled_from(get_args(AttentionFunction)),
        positions=st.sampled_from(["interleaved", "halves", "learned"]),
        max_positions=st.integers(1, 5),
        attention_bias=st.booleans(),
        output_bias=st.booleans(),
        shared_embeddings=st.sampled_from(["all", "target", "none"]),
        next_word=st.just(False),
    )
    | st.builds(
        ModelConfig,
        d_model=st.just(8),
        d_ff=st.just(4),
        num_layers=st.just(1),
        num_heads=st.just(2),
        next_word=st.just(True),
        parser_stack=st.booleans(),
    )
    | st.builds(
        ModelConfig,
        d_model=st.just(8),
        d_ff=st.just(4),
        num_layers=st.just(1),
        num_heads=st.just(2),
        d_k=st.integers(1, 5),
        attention_bias=st.booleans(),
        attention_function=st.sampled_from(get_args(AttentionFunction)),
        draft_tokens=st.integers(1, 3),
        draft_vocabulary=st.integers(1, 12),
    )
)


@settings(max_examples=150, deadline=None)
@given(config=SHAPES, src_size=st.integers(2, 9), tgt_size=st.integers(2, 9))
def test_weights_are_counted_as_torch_counts_them(config: ModelConfig, src_size: int, tgt_size: int) -> None:
    src_size = tgt_size if config.shared_embeddings == "all" else src_size
    with torch.device("meta"):
        built = Transformer(config, src_size, tgt_size)
    assert num_weights(config, src_size, tgt_size) == sum(weight.numel() for weight in built.parameters())
    shapes = {name: tuple(weight.shape) for name, weight in built.named_parameters()}
    assert parameter_shapes(config, src_size, tgt_size) == shapes


@pytest.mark.parametrize(
    ("config", "sizes", "message"),
    [
        (ModelConfig(), (-5, 300), "src_vocab_size = -5 is no vocabulary"),
        (ModelConfig(), (300, 1), "tgt_vocab_size = 1 is no vocabulary"),
        (ModelConfig(start=300), (300, 300), "model.start = 300 is not an id of the 300"),
        (ModelConfig(), (10**12, 10**12), "claims more weights than any file holds"),
        (ModelConfig(), (10**30, 10**30), "claims more weights than any file holds"),
    ],
)
def test_what_no_model_can_be(config: ModelConfig, sizes: tuple[int, int], message: str) -> None:
    assert any(message in problem for problem in claim_problems(config, *sizes))


def test_the_papers_models_can_be() -> None:
    for config in (ModelConfig(), ModelConfig(d_model=1024, d_ff=4096, num_heads=16, start=36_999)):
        assert claim_problems(config, 37_000, 37_000) == []


TENSORS = {
    "a": torch.arange(6, dtype=torch.float32).view(2, 3),
    "b": torch.tensor(1.0),
    "c": torch.ones(5, dtype=torch.int8),
    "d": torch.ones(3, dtype=torch.bfloat16),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_file(TENSORS, tmp_path / "x.safetensors")
    return tmp_path / "x.safetensors"


def test_a_header_is_what_safetensors_reads(path: Path) -> None:
    found, expected = read_header(path), load_file(path)
    assert {name: (claim.shape, f"torch.{claim.dtype}") for name, claim in found.items()} == {
        name: (tuple(value.shape), str(value.dtype)) for name, value in expected.items()
    }
    content = path.read_bytes()
    for name, claim in found.items():
        its_bytes = expected[name].reshape(-1).view(torch.uint8).numpy().tobytes()
        assert content[claim.start : claim.start + claim.nbytes] == its_bytes


def test_a_claim_of_far_more_than_the_file_has(path: Path) -> None:
    check_claim(path, 20)
    with pytest.raises(
        ModelError, match=r"x\.safetensors: holds 39 bytes, but config\.json describes a model of 1,000 w"
    ):
        check_claim(path, 1000)


def rewritten(path: Path, change: Any, claimed: int | None = None) -> None:
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes((claimed or len(text)).to_bytes(8, "little") + text + content[8 + length :])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: header["a"].update(dtype="F4"), "a is in F4, which is none of"),
        (lambda header: header["a"].update(shape=[10**12]), "does not fill its bytes"),
        (lambda header: header["a"].update(shape=[0, 10**12]), "does not fill its bytes"),
        (
            lambda header: header.update(e={"dtype": "F32", "shape": [0, 2**62, 2**62], "data_offsets": [0, 0]}),
            "does not fill its bytes",
        ),
        (lambda header: header["a"].update(shape=[-2, -3]), "has an invalid entry for a"),
        (lambda header: header["a"].update(shape=[1] * 9 + [6]), "has an invalid entry for a"),
        (lambda header: header["a"].update(data_offsets=[0, 2**40]), "does not fill its bytes"),
        (lambda header: header.update(a=7), "has an invalid entry for a"),
        (lambda header: header.update(e=header["a"]), "overlap or leave gaps"),
        (lambda header: header.pop("b"), "overlap or leave gaps|claims .* bytes of tensors"),
        (lambda header: header.update({"x\x1b[2J": header.pop("a")}), "has a tensor with an invalid name"),
        (lambda header: header.update({"x" * 301: header.pop("a")}), "has a tensor with an invalid name"),
    ],
)
def test_a_header_that_does_not_fit_its_file(path: Path, change: Any, message: str) -> None:
    rewritten(path, change)
    with pytest.raises(ModelError, match=rf"x\.safetensors: cannot be read \(.*({message})"):
        read_header(path)


@pytest.mark.parametrize("claimed", [2**63, 2**40, 10**6])
def test_a_header_that_claims_terabytes(path: Path, claimed: int) -> None:
    rewritten(path, lambda header: None, claimed)
    with pytest.raises(ModelError, match=rf"its header alone claims {claimed:,}"):
        read_header(path)


def test_a_header_longer_than_any(path: Path) -> None:
    text = b"{" + b" " * (9 << 20) + b"}"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(ModelError, match="far more than the names of its weights need"):
        read_header(path)


def test_numbers_that_are_none_are_found() -> None:
    nan, inf = float("nan"), float("inf")
    tensors = {"good": [3e38, -3e38], "none": [1, nan], "infinite": [1, inf], "minus": [-inf, 0], "empty": []}
    assert not_finite({name: np.array(value, dtype=np.float32) for name, value in tensors.items()}) == [
        "none",
        "infinite",
        "minus",
    ]
