"""The attention functions of Section 3.2.1 against plain loops and torch's own, in layers and in whole models."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.test_transformer import decoder_layer, encoder_layer, make_batch, make_model
from torch import Tensor
from torch.nn import functional as F

from attendo.model import additive
from attendo.model.additive import AdditiveLogits
from attendo.model.attention import KeysValues, additive_attention, fused_attention, scaled_dot_product_attention
from attendo.model.batch import collate
from attendo.model.config import AttentionFunction, ModelConfig
from attendo.model.weights.parameters import num_weights
from attendo.model.weights.quantization import matrix_names, quantized

OTHERS: tuple[AttentionFunction, ...] = ("dot-product", "additive")
SHAPE: dict[str, Any] = {"d_model": 16, "d_ff": 24, "num_layers": 2, "num_heads": 4, "d_k": 3, "d_v": 5, "dropout": 0.0}


def plain_logits(function: AttentionFunction, q: list[float], k: list[float], v: list[float]) -> float:
    """One query and one key, number by number."""
    if function == "additive":
        return sum(w * math.tanh(a + b) for w, a, b in zip(v, q, k, strict=True))
    product = sum(a * b for a, b in zip(q, k, strict=True))
    return product if function == "dot-product" else product / math.sqrt(len(q))


@pytest.mark.parametrize("function", ["scaled-dot-product", *OTHERS])
def test_self_attention_equals_plain_loops(function: AttentionFunction) -> None:
    config = ModelConfig(
        d_model=6, d_ff=8, num_layers=1, num_heads=3, d_k=2, d_v=5, attention_bias=True, attention_function=function
    )
    attention: Any = encoder_layer(make_model(config)).self_attention
    x = torch.randn(2, 4, 6)
    mask = torch.tensor([[True, True, True, True], [True, True, False, False]])
    vectors = [[0.0] * 2] * 3 if attention.additive is None else attention.additive.weight.tolist()
    projected = x @ attention.query_key_value.weight.t() + attention.query_key_value.bias
    found = torch.zeros(2, 4, 15)
    for sentence in range(2):
        for head in range(3):
            q = projected[sentence, :, head * 2 : head * 2 + 2].tolist()
            k = projected[sentence, :, 6 + head * 2 : 6 + head * 2 + 2].tolist()
            value = projected[sentence, :, 12 + head * 5 : 12 + head * 5 + 5]
            for t in range(4):
                seen = [s for s in range(4) if mask[sentence, s]]
                exps = {s: math.exp(plain_logits(function, q[t], k[s], vectors[head])) for s in seen}
                for s in seen:
                    found[sentence, t, head * 5 : head * 5 + 5] += exps[s] / sum(exps.values()) * value[s]
    expected = found @ attention.output.weight.t() + attention.output.bias
    assert torch.allclose(attention(x, mask[:, None, None]), expected, atol=1e-5)


def test_unscaled_self_attention_equals_torchs_layer() -> None:
    # torch's layer scales; queries that are sqrt(d_k) times as large take that back.
    config = ModelConfig(d_model=16, d_ff=8, num_layers=1, num_heads=4, attention_function="dot-product")
    attention: Any = encoder_layer(make_model(config)).self_attention
    peer = torch.nn.MultiheadAttention(16, 4, bias=False, batch_first=True)
    with torch.no_grad():
        peer.in_proj_weight.copy_(attention.query_key_value.weight)
        peer.in_proj_weight[:16] *= 2.0  # the root of d_k = 4
        peer.out_proj.weight.copy_(attention.output.weight)
    x = torch.randn(3, 5, 16)
    mask = torch.arange(5) < torch.tensor([[5], [2], [4]])
    expected, weights = peer(x, x, x, key_padding_mask=~mask, average_attn_weights=False)
    assert torch.allclose(attention(x, mask[:, None, None]), expected, atol=1e-5)
    assert torch.allclose(attention.weights(*attention.project(x), mask[:, None, None]), weights, atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_the_unscaled_function_is_torchs_with_the_scale_1(masked: bool) -> None:
    query, key, value = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
    mask = torch.rand(2, 1, 5, 7) < 0.6 if masked else None
    if mask is not None:
        mask[..., 0] = True  # each query must see something
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
    ours = scaled_dot_product_attention(query, key, value, mask, scale=1.0).context
    assert torch.allclose(ours, expected, atol=1e-5)
    assert torch.allclose(fused_attention(query, KeysValues(key, value), mask, 0.0, scale=1.0), expected, atol=1e-5)


def test_encoder_decoder_attention_adds_across_the_sides() -> None:
    model = make_model(ModelConfig(**SHAPE, attention_function="additive"))
    attention: Any = decoder_layer(model).encoder_attention
    hidden, memory = torch.randn(2, 3, 16), torch.randn(2, 6, 16)
    q = (hidden @ attention.query.weight.t()).view(2, 3, 4, 3)
    k = (memory @ attention.key_value.weight[:12].t()).view(2, 6, 4, 3)
    value = (memory @ attention.key_value.weight[12:].t()).view(2, 6, 4, 5)
    logits = torch.einsum(
        "bthsd,hd->bhts", (q[..., None, :] + k.transpose(1, 2)[:, None]).tanh(), attention.additive.weight
    )
    context = torch.einsum("bhts,bshv->bthv", logits.softmax(-1), value).flatten(2)
    found = attention(hidden, attention.look_at(memory), None)
    assert torch.allclose(found, context @ attention.output.weight.t(), atol=1e-5)


def straight(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """All at once, with torch's tanh and torch's gradients."""
    return ((query[:, :, :, None] + key[:, :, None]).tanh() * weight[:, None, None]).sum(-1)


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.tuples(*(st.integers(1, 5) for _ in range(5))), part=st.sampled_from([1, 30, 1 << 18]), big=st.booleans()
)
def test_additive_logits_and_gradients_are_the_straight_ones(
    sizes: tuple[int, int, int, int, int], part: int, big: bool
) -> None:
    batch, heads, tgt_len, src_len, d_k = sizes
    generator = torch.Generator().manual_seed(sum(sizes))

    def draw(*shape: int) -> Tensor:
        drawn = torch.randn(shape, generator=generator, dtype=torch.float64) * (30 if big else 1)
        return drawn.requires_grad_()

    query, key = draw(batch, heads, tgt_len, d_k), draw(batch, heads, src_len, d_k)
    layer = AdditiveLogits(heads, d_k).double()
    towards = draw(batch, heads, tgt_len, src_len)
    inputs = (query, key, layer.weight)
    before = additive._PART
    additive._PART = part
    try:
        found = layer(query, key)
        found_grads = torch.autograd.grad(found, inputs, towards)
    finally:
        additive._PART = before
    expected = straight(*inputs)
    assert torch.allclose(found, expected, atol=1e-11)
    for one, other in zip(found_grads, torch.autograd.grad(expected, inputs, towards), strict=True):
        assert torch.allclose(one, other, atol=1e-9)


def test_additive_gradients_are_those_of_differences() -> None:
    torch.manual_seed(1)
    query, key = (torch.randn(2, 3, length, 4, dtype=torch.float64, requires_grad=True) for length in (3, 5))
    value, layer = torch.randn(2, 3, 5, 2, dtype=torch.float64, requires_grad=True), AdditiveLogits(3, 4).double()
    mask = torch.tensor([True, False, True, True, True])

    def context(query: Tensor, key: Tensor, value: Tensor, weight: Tensor) -> Tensor:
        return additive_attention(query, key, value, layer, mask).context

    assert torch.autograd.gradcheck(context, (query, key, value, layer.weight))


def test_additive_attention_by_hand() -> None:
    # v = 2, d_k = 1: logits 2 tanh(1) and 2 tanh(0) = 0.
    layer = AdditiveLogits(1, 1)
    torch.nn.init.constant_(layer.weight, 2.0)
    query, key = torch.tensor([[[[0.5]]]]), torch.tensor([[[[0.5], [-0.5]]]])
    first = 1 / (1 + math.exp(-2 * math.tanh(1.0)))
    attended = additive_attention(query, key, torch.tensor([[[[10.0], [20.0]]]]), layer, None)
    assert attended.weights.flatten().tolist() == pytest.approx([first, 1 - first])
    assert attended.context.item() == pytest.approx(10 * first + 20 * (1 - first))


def test_the_hidden_layer_is_not_kept() -> None:
    query, key = (torch.randn(2, 2, 100, 8, requires_grad=True) for _ in range(2))
    sizes: list[int] = []

    def note(tensor: Tensor) -> Tensor:
        sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        AdditiveLogits(2, 8)(query, key)
    assert max(sizes) == query.numel()


def test_bfloat16_is_near_float32() -> None:
    layer = AdditiveLogits(2, 8)
    query, key = torch.randn(2, 2, 5, 8), torch.randn(2, 2, 6, 8)
    with torch.autocast("cpu", torch.bfloat16):
        low = layer(query.bfloat16(), key.bfloat16())
    assert low.dtype == torch.float32
    assert torch.allclose(low, layer(query, key), atol=0.1)
    assert torch.allclose(low, layer(query.bfloat16().float(), key.bfloat16().float()), atol=1e-5)


@pytest.mark.parametrize("function", OTHERS)
def test_padding_changes_nothing(function: AttentionFunction) -> None:
    model = make_model(ModelConfig(**SHAPE, attention_function=function))
    together = make_batch()
    logits = model(together)
    for row, (src_len, tgt_len) in enumerate(((5, 3), (2, 7), (4, 4))):
        alone = collate([together.src_ids[row, :src_len].tolist()], [together.tgt_ids[row, :tgt_len].tolist()])
        assert torch.allclose(model(alone)[0], logits[row, :tgt_len], atol=1e-5)


@pytest.mark.parametrize("function", OTHERS)
def test_steps_with_a_cache_equal_the_whole_target_at_once(function: AttentionFunction) -> None:
    model, batch = make_model(ModelConfig(**SHAPE, attention_function=function)), make_batch()
    expected = model(batch)
    cache = model.start_cache(model.encode(batch.src_ids, batch.src_mask), batch.src_mask)
    twice = torch.arange(3).repeat_interleave(2)
    cache = cache.select(twice, 2)
    for position in range(batch.tgt_ids.shape[1]):
        logits, cache = model.step(batch.tgt_in_ids[twice, position], cache)
        assert torch.allclose(logits, expected[twice, position], atol=1e-5)


@pytest.mark.parametrize("function", OTHERS)
def test_a_window_wider_than_the_text_restricts_nothing(function: AttentionFunction) -> None:
    whole = make_model(ModelConfig(**SHAPE, attention_function=function))
    kind: Any = {"encoder_layer": "restricted-self-attention", "decoder_layer": "restricted-self-attention"}
    restricted = make_model(ModelConfig(**SHAPE, **kind, window=20, attention_function=function), seed=2)
    restricted.load_state_dict(whole.state_dict())
    batch = make_batch()
    assert torch.allclose(restricted(batch), whole(batch), atol=1e-5)


@pytest.mark.parametrize("function", OTHERS)
def test_attention_weights_are_those_the_layers_use(function: AttentionFunction) -> None:
    model, batch = make_model(ModelConfig(**SHAPE, attention_function=function)), make_batch()
    weights, attention = model.attention(batch), encoder_layer(model).self_attention
    assert weights.encoder.shape == (2, 3, 4, 5, 5)
    query, seen = attention.project(model.source_embedding(batch.src_ids))
    context = torch.matmul(weights.encoder[0], seen.values).transpose(1, 2).flatten(2)
    expected = attention(model.source_embedding(batch.src_ids), batch.src_mask)
    assert torch.allclose(attention.output(context), expected, atol=1e-5)
    # They are another function's: the same model, scaled, looks elsewhere.
    scaled = scaled_dot_product_attention(query, seen.keys, seen.values, batch.src_mask).weights
    assert not torch.allclose(scaled, weights.encoder[0], atol=1e-2)


@pytest.mark.parametrize("function", OTHERS)
def test_weights_are_counted(function: AttentionFunction) -> None:
    config = ModelConfig(**SHAPE, attention_function=function)
    model = make_model(config)
    assert num_weights(config, 19, 19) == model.num_parameters
    # 2 encoder layers with one attention, 2 decoder layers with two, 4 heads with a vector of 3 each.
    extra = 6 * 4 * 3 if function == "additive" else 0
    assert model.num_parameters - make_model(ModelConfig(**SHAPE)).num_parameters == extra


def test_new_vectors_give_logits_of_about_one() -> None:
    # As scaled dot products do: at the start the function should not decide how sharp attention is.
    config = ModelConfig(d_model=64, d_ff=8, num_layers=1, num_heads=4, attention_function="additive")
    torch.manual_seed(3)
    attention: Any = encoder_layer(make_model(config)).self_attention
    query, seen = attention.project(torch.randn(4, 50, 64))
    assert 0.5 < attention.additive(query, seen.keys).std() < 1.5


@pytest.mark.parametrize("function", OTHERS)
def test_int8_keeps_the_vectors_and_is_near(function: AttentionFunction) -> None:
    model, batch = make_model(ModelConfig(**SHAPE, attention_function=function)), make_batch()
    assert not [name for name in matrix_names(model) if "additive" in name]
    low = quantized(model)
    exact, found = model(batch).log_softmax(-1), low(batch).log_softmax(-1)
    assert (exact - found).abs().mean() < 0.1
    assert not torch.equal(exact, found)
