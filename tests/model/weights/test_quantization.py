"""Int8 in plain torch against hand calculation, exact integers in numpy, and the float32 model it was made of."""

from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from attendo.model.batch import Batch, collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.model.weights import int8_rows
from attendo.model.weights.arrays import Array, ModelArrays
from attendo.model.weights.building import built
from attendo.model.weights.int8_rows import check_stored, dequantize_rows, scales_name
from attendo.model.weights.quantization import (
    Int8Linear,
    int8_products_are_fast,
    matrix_names,
    quantize_rows,
    quantized,
    to_int8,
)

VOCAB_SIZE = 19
SMALL = ModelConfig(d_model=16, d_ff=24, num_layers=2, num_heads=4, dropout=0.1)

# The two ways to multiply: the processor's int8 instructions, and float32 matrices of small integers.
WAYS = [
    pytest.param(True, marks=pytest.mark.skipif(not int8_products_are_fast(), reason="no fast int8 products")),
    False,
]


def layer_of(weight: Tensor, bias: Tensor | None, *, fast: bool) -> Int8Linear:
    layer = Int8Linear(*quantize_rows(weight), bias)
    assert layer.float_codes is None or not int8_products_are_fast() or weight.shape[1] == 1
    if not fast:
        layer.float_codes = layer.codes.float()
    return layer


def make_model(config: ModelConfig = SMALL, src_size: int = VOCAB_SIZE) -> Transformer:
    torch.manual_seed(1)
    model = Transformer(config, src_size, VOCAB_SIZE)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.eval()


def make_batch() -> Batch:
    rng = np.random.default_rng(0)
    lengths = ((5, 3), (2, 7), (4, 4))
    source = [[*rng.integers(2, VOCAB_SIZE, src - 1), 0] for src, _ in lengths]
    target = [[*rng.integers(2, VOCAB_SIZE, tgt - 1), 0] for _, tgt in lengths]
    return collate(source, target)


def test_codes_and_scales_by_hand() -> None:
    # Row 1: the largest is 2.54, so the scale is 0.02 and 0.5, -1.27 and 2.54 are 25, -63.5 and 127 of it; in float32
    # the half may fall to either side. Row 2: scale 1, and the halves 0.5, 1.5 and -2.5 go to the even neighbour.
    codes, scales = quantize_rows(torch.tensor([[0.5, -1.27, 2.54, 0.0], [0.5, 1.5, -2.5, -127.0]]))
    assert codes.dtype == torch.int8
    assert scales.tolist() == pytest.approx([0.02, 1.0])
    assert codes[0, [0, 2, 3]].tolist() == [25, 127, 0]
    assert codes[0, 1].item() in (-63, -64)
    assert codes[1].tolist() == [0, 2, -2, -127]


def test_a_product_by_hand() -> None:
    # Weights (127, 64) x 0.5 and (-127, 0) x 0.01; the input (2, -1) is (127, -64) x 2/127, its half rounded to even:
    # -63.5 to -64. 127 x 127 - 64 x 64 = 12033 and -127 x 127 = -16129.
    weight = torch.tensor([[63.5, 32.0], [-1.27, 0.0]])
    layer = layer_of(weight, torch.tensor([1.0, -1.0]), fast=False)
    expected = [12033 * 0.5 * 2 / 127 + 1, -16129 * 0.01 * 2 / 127 - 1]
    assert layer(torch.tensor([2.0, -1.0])).tolist() == pytest.approx(expected, rel=1e-6)


SPECIAL = [0.0, -0.0, 1e-45, 1e-38, 4e-37, 3e38, float("inf"), float("-inf"), float("nan")]


@settings(deadline=None, max_examples=200)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 4),
    columns=st.integers(1, 70),
    size=st.floats(1e-38, 1e37),
    special=st.none() | st.sampled_from(SPECIAL),
)
def test_numpy_and_torch_write_the_same_codes(
    seed: int, rows: int, columns: int, size: float, special: float | None
) -> None:
    weight = np.random.default_rng(seed).normal(0, size, (rows, columns)).astype(np.float32)
    if special is not None:
        weight[0] = special
    codes, scales = int8_rows.quantize_rows(weight)
    expected_codes, expected_scales = quantize_rows(torch.from_numpy(weight))
    np.testing.assert_array_equal(scales, expected_scales.numpy())
    finite = np.isfinite(weight).all(axis=1)  # a code for what is no number is any
    np.testing.assert_array_equal(codes[finite], expected_codes.numpy()[finite])


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32), st.integers(0, 4), st.integers(1, 70), st.floats(1e-30, 1e30))
def test_no_weight_is_off_by_more_than_half_a_scale(seed: int, rows: int, columns: int, size: float) -> None:
    weight = torch.from_numpy(np.random.default_rng(seed).normal(0, size, (rows, columns)).astype(np.float32))
    codes, scales = quantize_rows(weight)
    error = (weight.double() - codes.double() * scales.double()[:, None]).abs()
    assert bool((error <= scales.double()[:, None] * (0.5 + 1e-4)).all())  # 1e-4: float32's own rounding, 127 x 2^-22
    assert bool((codes.int().abs().amax(dim=1) == 127).all())


def test_rows_of_zeros_and_of_next_to_nothing() -> None:
    codes, scales = quantize_rows(torch.tensor([[0.0, 0.0], [1e-40, -1e-42]]))
    assert scales.tolist() == [1.0, 1.0]
    assert not codes.any()
    layer = layer_of(torch.ones(3, 2), torch.tensor([1.0, 2.0, 3.0]), fast=False)
    assert layer(torch.zeros(1, 2)).tolist() == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize("fast", WAYS)
@pytest.mark.parametrize("columns", [1, 7, 13, 512, 1040, 1041, 2048, 4099])
@pytest.mark.parametrize("rows", [0, 1, 3, 32, 128])
def test_products_are_exact(rows: int, columns: int, fast: bool) -> None:
    rng = np.random.default_rng(columns)
    # The first weights and inputs are as large as can be, so that their sums are too.
    left = np.concatenate((np.full((1, columns), -127), rng.integers(-127, 128, (rows, columns))))[:rows]
    right = np.concatenate((np.full((2, columns), [[127], [-127]]), rng.integers(-127, 128, (9, columns))))
    left[:, 0], right[:, 0] = 127, 127  # so that both scales are 1, and codes are what they were
    layer = layer_of(torch.from_numpy(right).float(), None, fast=fast)
    found = layer(torch.from_numpy(left).float())
    expected = left.astype(np.int64) @ right.astype(np.int64).T
    assert np.array_equal(found.numpy(), expected.astype(np.float32))


def test_both_ways_give_the_same_bits() -> None:
    if not int8_products_are_fast():
        pytest.skip("no fast int8 products")
    torch.manual_seed(0)
    weight, bias, hidden = torch.randn(30, 2048), torch.randn(30), torch.randn(2, 9, 2048)
    assert torch.equal(layer_of(weight, bias, fast=True)(hidden), layer_of(weight, bias, fast=False)(hidden))


@pytest.mark.parametrize("fast", WAYS)
def test_a_row_does_not_depend_on_the_others(fast: bool) -> None:
    torch.manual_seed(0)
    layer = layer_of(torch.randn(37, 24), torch.randn(37), fast=fast)
    hidden = torch.randn(33, 24) * torch.logspace(-3, 3, 33)[:, None]
    together = layer(hidden)
    for row in range(33):
        assert torch.equal(layer(hidden[row : row + 1]), together[row : row + 1])
    assert torch.equal(layer(hidden[5:16].view(11, 1, 24))[:, 0], together[5:16])
    for stride in (0, 1, 5):  # of the only row, which means nothing
        assert torch.equal(layer(hidden.as_strided((1, 24), (stride, 1))), together[:1])
    columns = hidden.t().contiguous().t()
    assert torch.equal(layer(columns), together)
    assert torch.equal(layer(columns[:1]), together[:1])


@pytest.mark.parametrize("fast", WAYS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_a_number_stays_none(bad: float, fast: bool) -> None:
    layer = layer_of(torch.ones(3, 4), torch.zeros(3), fast=fast)
    found = layer(torch.tensor([[1.0, bad, 0.0, 2.0], [1.0, 1.0, 1.0, 1.0]]))
    assert not found[0].isfinite().any()
    assert torch.allclose(found[1], torch.tensor([4.0, 4.0, 4.0]))
    broken = layer_of(torch.tensor([[1.0, bad], [1.0, 1.0]]), None, fast=fast)
    assert broken(torch.ones(1, 2)).isfinite().tolist() == [[False, True]]


def dequantised(model: Transformer) -> Transformer:
    """The float32 model whose matrices are what the codes stand for, so that only the input's codes are left to err."""
    copy = make_model(model.config, model.src_vocab_size)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2 and "positions" not in name:
                codes, scales = quantize_rows(parameter)
                copy.get_parameter(name).copy_(codes * scales[:, None])
    return copy


@pytest.mark.parametrize("shared", ["all", "target", "none"])
@pytest.mark.parametrize("bias", [False, True])
def test_logits_are_near_the_float_models(shared: Literal["all", "target", "none"], bias: bool) -> None:
    config = ModelConfig(
        d_model=16, d_ff=24, num_encoder_layers=3, num_decoder_layers=2, num_heads=4, shared_embeddings=shared,
        attention_bias=bias, output_bias=bias, positions="learned" if bias else "interleaved",
    )  # fmt: skip
    model = make_model(config, VOCAB_SIZE if shared == "all" else 23)
    batch = make_batch()
    with torch.no_grad():
        expected, found = model(batch), quantized(model)(batch)
        same_weights = dequantised(model)(batch)
    spread = expected.std()
    assert (found - expected).abs().max() < 0.1 * spread
    assert (found - same_weights).abs().max() < 0.1 * spread
    assert not torch.equal(found, expected)


def test_an_embedding_is_the_codes_times_the_scale() -> None:
    model = make_model()
    codes, scales = quantize_rows(model.output_weight.detach())
    ids = torch.tensor([[3, 18, -1]])
    expected = codes[[3, 18]].float() * scales[[3, 18], None] * 4.0  # sqrt(d_model)
    embedding = quantized(model).target_embedding
    found = embedding(ids)[0]
    assert torch.equal(found[2], embedding.positions(2, 1)[0])  # the start: the zero vector
    assert torch.equal(found[:2], expected + embedding.positions(0, 2))


def test_cached_decoding_is_the_same() -> None:
    model, batch = quantized(make_model()), make_batch()
    memory = model.encode(batch.src_ids, batch.src_mask)
    cache = model.start_cache(memory, batch.src_mask)
    expected = model(batch)
    for position in range(batch.tgt_in_ids.shape[1]):
        logits, cache = model.step(batch.tgt_in_ids[:, position], cache)
        # A last digit of an attention's sum can move an input's code, by 1/127 of the row's largest.
        assert torch.allclose(logits, expected[:, position], atol=0.05 * float(expected.std()))


def test_the_copy_holds_no_float_matrix_and_leaves_the_model_alone() -> None:
    model: Any = make_model()
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    state = torch.random.get_rng_state()
    copy: Any = quantized(model.train())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not copy.training
    assert not any(isinstance(module, nn.Linear) for module in copy.modules())
    assert all(parameter.dim() == 1 and not parameter.requires_grad for parameter in copy.parameters())
    assert copy.source_embedding.codes is copy.output.codes
    assert copy.device == model.device == torch.device("cpu")
    with torch.no_grad():
        for parameter in copy.parameters():
            parameter.zero_()
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())
    assert all(parameter.requires_grad for parameter in model.parameters())


def same_again(weight: Tensor) -> bool:
    codes, scales = quantize_rows(weight)
    again = quantize_rows(torch.from_numpy(dequantize_rows(codes.numpy(), scales.numpy())))
    return torch.equal(again[0], codes) and torch.equal(again[1].view(torch.int32), scales.view(torch.int32))


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32), st.integers(0, 6), st.integers(1, 70), st.floats(1e-38, 1e37))
def test_what_was_int8_is_quantised_to_itself(seed: int, rows: int, columns: int, size: float) -> None:
    weight = torch.from_numpy(np.random.default_rng(seed).normal(0, size, (rows, columns)).astype(np.float32))
    assert same_again(weight)


@pytest.mark.parametrize("exponent", [0, 6, 127, 254])
def test_every_scale_is_found_again(exponent: int) -> None:
    # A third of all float32 numbers from 2^(exponent - 127) to twice that, each the largest of its row. The numbers of
    # exponent 0 are subnormal and vanish; those of 6 are the first of which none does, and their scales are subnormal.
    bits = torch.arange(0, 1 << 23, 3, dtype=torch.int32) + (exponent << 23)
    assert same_again(bits.view(torch.float32)[:, None])


def test_the_matrices_of_a_model() -> None:
    config = ModelConfig(
        d_model=8,
        d_ff=12,
        num_layers=1,
        num_heads=2,
        positions="learned",
        max_positions=9,
        attention_bias=True,
        output_bias=True,
        shared_embeddings="target",
    )
    # Listed by hand: two embeddings, of which the target's is the projection, four linear layers of the encoder's and
    # six of the decoder's; positions are looked up and added, and stay as they are.
    attention = ("query_key_value", "output")
    across = ("query", "key_value", "output")
    expected = {"source_embedding.weight", "output_weight"}
    for stack in ("encoder", "decoder"):
        expected |= {f"{stack}_layers.0.self_attention.{part}.weight" for part in attention}
        expected |= {f"{stack}_layers.0.feed_forward.{part}.weight" for part in ("inner", "outer")}
    expected |= {f"decoder_layers.0.encoder_attention.{part}.weight" for part in across}
    assert set(matrix_names(make_model(config, src_size=23))) == expected


@pytest.mark.parametrize("shared", ["all", "target", "none"])
def test_a_model_out_of_its_codes_is_the_same_in_int8(shared: Literal["all", "target", "none"]) -> None:
    model = make_model(ModelConfig(d_model=16, d_ff=24, num_layers=2, num_heads=4, shared_embeddings=shared))
    expected = quantized(model)(make_batch())
    names = matrix_names(model)
    stored = to_int8({name: value.detach() for name, value in model.named_parameters()}, names)
    assert {stored[name].dtype for name in names} == {torch.int8}
    assert {value.dtype for name, value in stored.items() if name not in names} == {torch.float32}
    sizes = (model.src_vocab_size, model.tgt_vocab_size)
    arrays = ModelArrays(model.config, *sizes, {name: value.numpy() for name, value in stored.items()})
    assert torch.equal(quantized(built(arrays))(make_batch()), expected)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf"), torch.finfo(torch.float32).max])
def test_what_is_not_finite_is_not_stored(number: float) -> None:
    with pytest.raises(ValueError, match=r"w has numbers that are not finite"):
        to_int8({"w": torch.tensor([[1.0, 2.0], [number, 3.0]])}, ["w"])


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), 0.0, -0.5, 3e38])
def test_scales_that_are_none(scale: float) -> None:
    stored: dict[str, Array] = {
        "w": np.ones((2, 3), dtype=np.int8),
        scales_name("w"): np.array([1.0, scale], dtype=np.float32),
    }
    with pytest.raises(ValueError, match=r"w\.scales has scales that are not finite numbers above 0"):
        check_stored(stored, ["w"])


def test_minus_128_is_no_code() -> None:
    stored: dict[str, Array] = {
        "w": np.array([[1, -128]], dtype=np.int8),
        scales_name("w"): np.ones(1, dtype=np.float32),
    }
    with pytest.raises(ValueError, match="w has codes below -127"):
        check_stored(stored, ["w"])
