"""The model against torch's own layers with the same weights, and against plain loops where torch has no such layer."""

import math
from typing import Any, Literal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from attendo.errors import DataError
from attendo.model.attention import KeysValues, fused_attention, scaled_dot_product_attention
from attendo.model.batch import Batch, collate, pad_source
from attendo.model.config import START, ModelConfig
from attendo.model.layers import DecoderLayer, EncoderLayer
from attendo.model.transformer import Transformer

SRC_SIZE, TGT_SIZE = 23, 19
SMALL = ModelConfig(d_model=16, d_ff=24, num_layers=2, num_heads=4, dropout=0.0)


def make_batch(seed: int = 0, lengths: tuple[tuple[int, int], ...] = ((5, 3), (2, 7), (4, 4))) -> Batch:
    rng = np.random.default_rng(seed)
    source = [[*rng.integers(2, 19, src - 1), 0] for src, _ in lengths]
    target = [[*rng.integers(2, 19, tgt - 1), 0] for _, tgt in lengths]
    return collate(source, target)


def make_model(config: ModelConfig = SMALL, src_size: int = TGT_SIZE, seed: int = 1) -> Transformer:
    """A model in evaluation mode, its biases and norms random too, so that a mistake in one of them shows."""
    torch.manual_seed(seed)
    model = Transformer(config, src_size, TGT_SIZE)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.copy_(torch.randn_like(parameter) * 0.3 + (1.0 if name.endswith("norm.weight") else 0.0))
    return model.eval()


def encoder_layer(model: Transformer) -> EncoderLayer:
    layer = model.encoder_layers[0]
    assert isinstance(layer, EncoderLayer)
    return layer


def decoder_layer(model: Transformer) -> DecoderLayer:
    layer = model.decoder_layers[0]
    assert isinstance(layer, DecoderLayer)
    return layer


def torch_peer(model: Any) -> Any:
    """nn.Transformer without its final norms, with the weights of one of ours."""
    config = model.config
    shape = (
        config.d_model,
        config.num_heads,
        config.d_ff,
        0.0,
        config.activation if config.activation == "relu" else F.silu,
    )
    kinds: dict[str, Any] = {"batch_first": True, "layer_norm_eps": config.layer_norm_eps}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(*shape, **kinds), config.encoder_layers, enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(*shape, **kinds), config.decoder_layers)
    peer = nn.Transformer(
        config.d_model, config.num_heads, custom_encoder=encoder, custom_decoder=decoder, batch_first=True
    )
    d = config.d_model
    with torch.no_grad():
        for parameter in peer.parameters():
            parameter.zero_()
        for theirs, ours in zip(encoder.layers, model.encoder_layers, strict=True):
            _copy_self_attention(theirs.self_attn, ours.self_attention)
            _copy_rest(theirs, ours, [("norm1", "self_attention_norm"), ("norm2", "feed_forward_norm")])
        for theirs, ours in zip(decoder.layers, model.decoder_layers, strict=True):
            _copy_self_attention(theirs.self_attn, ours.self_attention)
            across = ours.encoder_attention
            theirs.multihead_attn.in_proj_weight[:d] = across.query.weight
            theirs.multihead_attn.in_proj_weight[d:] = across.key_value.weight
            _copy(theirs.multihead_attn.out_proj, across.output)
            if across.query.bias is not None:
                theirs.multihead_attn.in_proj_bias[:d] = across.query.bias
                theirs.multihead_attn.in_proj_bias[d:] = across.key_value.bias
            norms = [
                ("norm1", "self_attention_norm"),
                ("norm2", "encoder_attention_norm"),
                ("norm3", "feed_forward_norm"),
            ]
            _copy_rest(theirs, ours, norms)
    return peer.eval()


def _copy(theirs: Any, ours: Any) -> None:
    theirs.weight.copy_(ours.weight)
    if ours.bias is not None:
        theirs.bias.copy_(ours.bias)


def _copy_self_attention(theirs: Any, ours: Any) -> None:
    theirs.in_proj_weight.copy_(ours.query_key_value.weight)
    if ours.query_key_value.bias is not None:
        theirs.in_proj_bias.copy_(ours.query_key_value.bias)
    _copy(theirs.out_proj, ours.output)


def _copy_rest(theirs: Any, ours: Any, norms: list[tuple[str, str]]) -> None:
    _copy(theirs.linear1, ours.feed_forward.inner)
    _copy(theirs.linear2, ours.feed_forward.outer)
    for their_name, our_name in norms:
        _copy(getattr(theirs, their_name), getattr(ours, our_name).norm)


def peer_logits(peer: Any, model: Transformer, batch: Batch) -> Tensor:
    """The whole model again: embeddings times sqrt(d_model), plus a table of sines, through torch's stacks."""
    d = model.config.d_model

    def embed(ids: Tensor, table: Tensor) -> Tensor:
        rows = torch.stack([torch.stack([table[i] if i >= 0 else torch.zeros(d) for i in row]) for row in ids.tolist()])
        angles = [[position / 10000 ** (2 * (i // 2) / d) for i in range(d)] for position in range(ids.shape[1])]
        sines = [[math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(row)] for row in angles]
        return rows * math.sqrt(d) + torch.tensor(sines)

    padding = None if batch.src_mask is None else ~batch.src_mask[:, 0, 0]
    assert batch.tgt_mask is not None
    hidden = peer(
        embed(batch.src_ids, model.source_embedding.weight),
        embed(batch.tgt_in_ids, model.target_embedding.weight),
        tgt_mask=~batch.tgt_mask[0, 0],
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    logits: Tensor = hidden @ model.output_weight.t() + (0 if model.output_bias is None else model.output_bias)
    return logits


@pytest.mark.parametrize("attention_bias", [False, True])
@pytest.mark.parametrize("shared", ["all", "target", "none"])
def test_logits_and_gradients_equal_torchs_layers(
    attention_bias: bool, shared: Literal["all", "target", "none"]
) -> None:
    config = ModelConfig(
        d_model=16, d_ff=24, num_encoder_layers=3, num_decoder_layers=2, num_heads=4, dropout=0.0,
        attention_bias=attention_bias, shared_embeddings=shared, output_bias=attention_bias,
    )  # fmt: skip
    model = make_model(config, TGT_SIZE if shared == "all" else SRC_SIZE)
    peer, batch = torch_peer(model), make_batch()
    stacks: Any = model
    ours, theirs = model(batch), peer_logits(peer, model, batch)
    assert torch.allclose(ours[batch.tgt_tokens], theirs[batch.tgt_tokens], atol=1e-5, rtol=0)

    embeddings = [model.source_embedding.weight, model.target_embedding.weight, model.output_weight]
    picked = [
        (layer.feed_forward.inner.weight, peer_layer.linear1.weight)
        for layer, peer_layer in zip(stacks.decoder_layers, peer.decoder.layers, strict=True)
    ]
    picked += [(layer.self_attention.query_key_value.weight, peer_layer.self_attn.in_proj_weight)
               for layer, peer_layer in zip(stacks.encoder_layers, peer.encoder.layers, strict=True)]  # fmt: skip
    unique = list({id(matrix): matrix for matrix in embeddings}.values())
    our_grads = torch.autograd.grad(loss_of(ours, batch), [*unique, *(a for a, _ in picked)])
    their_grads = torch.autograd.grad(loss_of(theirs, batch), [*unique, *(b for _, b in picked)])
    for mine, other in zip(our_grads, their_grads, strict=True):
        assert torch.allclose(mine, other, atol=1e-5, rtol=0)
        assert mine.abs().max() > 1e-4


def loss_of(logits: Tensor, batch: Batch) -> Tensor:
    return F.cross_entropy(logits[batch.tgt_tokens], batch.tgt_ids[batch.tgt_tokens])


def test_free_d_k_and_d_v_equal_plain_loops() -> None:
    config = ModelConfig(d_model=6, d_ff=8, num_layers=1, num_heads=3, d_k=2, d_v=5, dropout=0.0, attention_bias=True)
    model = make_model(config)
    attention: Any = encoder_layer(model).self_attention
    x = torch.randn(2, 4, 6)
    mask = torch.tensor([[True, True, True, True], [True, True, False, False]])
    w, b = attention.query_key_value.weight, attention.query_key_value.bias
    w_q, w_k, w_v = w[:6].view(3, 2, 6), w[6:12].view(3, 2, 6), w[12:].view(3, 5, 6)
    b_q, b_k, b_v = b[:6].view(3, 2), b[6:12].view(3, 2), b[12:].view(3, 5)
    found = torch.zeros(2, 4, 15)
    for sentence in range(2):
        for head in range(3):
            q = torch.einsum("tm,km->tk", x[sentence], w_q[head]) + b_q[head]
            k = torch.einsum("tm,km->tk", x[sentence], w_k[head]) + b_k[head]
            v = torch.einsum("tm,vm->tv", x[sentence], w_v[head]) + b_v[head]
            for t in range(4):
                exps = [math.exp((q[t] @ k[s]).item() / math.sqrt(2)) if mask[sentence, s] else 0.0 for s in range(4)]
                for s in range(4):
                    found[sentence, t, head * 5 : head * 5 + 5] += exps[s] / sum(exps) * v[s]
    expected = torch.einsum("btv,mv->btm", found, attention.output.weight) + attention.output.bias
    assert torch.allclose(attention(x, mask[:, None, None]), expected, atol=1e-5)


def test_encoder_decoder_attention_with_free_sizes_equals_torchs_function() -> None:
    config = ModelConfig(d_model=6, d_ff=8, num_layers=1, num_heads=3, d_k=4, d_v=4, dropout=0.0)
    attention: Any = decoder_layer(make_model(config)).encoder_attention
    hidden, memory = torch.randn(2, 3, 6), torch.randn(2, 5, 6)

    def split(projected: Tensor) -> Tensor:
        return projected.view(2, -1, 3, 4).transpose(1, 2)

    key, value = (split(part) for part in (memory @ attention.key_value.weight.t()).chunk(2, dim=-1))
    context = F.scaled_dot_product_attention(split(hidden @ attention.query.weight.t()), key, value)
    expected = context.transpose(1, 2).flatten(2) @ attention.output.weight.t()
    assert torch.allclose(attention(hidden, attention.look_at(memory), None), expected, atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_a_gpus_attention_is_ours(masked: bool) -> None:
    query, key, value = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 4)
    mask = torch.rand(2, 1, 5, 7) < 0.6 if masked else None
    if mask is not None:
        mask[..., 0] = True  # each query must see something
    ours = scaled_dot_product_attention(query, key, value, mask).context
    assert torch.allclose(fused_attention(query, KeysValues(key, value), mask, 0.0), ours, atol=1e-6)


def test_scaled_dot_product_attention_by_hand() -> None:
    # Two keys, d_k = 4: logits are (8, 0) / 2 = (4, 0), so the weights are 1 / (1 + e^-4) and the rest.
    query, key = torch.tensor([[[[8.0, 0, 0, 0]]]]), torch.tensor([[[[1.0, 0, 0, 0], [0, 1.0, 0, 0]]]])
    value = torch.tensor([[[[10.0], [20.0]]]])
    first = 1 / (1 + math.exp(-4))
    attended = scaled_dot_product_attention(query, key, value, None)
    assert attended.weights.flatten().tolist() == pytest.approx([first, 1 - first])
    assert attended.context.item() == pytest.approx(10 * first + 20 * (1 - first))
    hidden_first = scaled_dot_product_attention(query, key, value, torch.tensor([False, True]))
    assert hidden_first.weights.flatten().tolist() == [0.0, 1.0]
    assert hidden_first.context.item() == 20.0


@pytest.mark.parametrize(
    ("config", "vocab_size", "printed", "tolerance"),
    [
        (ModelConfig(), 37_000, 65e6, 2.6e6),
        (ModelConfig(d_model=1024, d_ff=4096, num_heads=16), 37_000, 213e6, 2.6e6),
        # Table 3: rows B and C; PAPER.md's tolerance for d_model 1024 is 4.2M, as the printed 168M is out of line.
        (ModelConfig(d_k=16), 37_000, 58e6, 2.6e6),
        (ModelConfig(d_k=32), 37_000, 60e6, 2.6e6),
        (ModelConfig(num_layers=2), 37_000, 36e6, 2.6e6),
        (ModelConfig(num_layers=8), 37_000, 80e6, 2.6e6),
        (ModelConfig(d_model=256, d_k=32, d_v=32), 37_000, 28e6, 2.6e6),
        (ModelConfig(d_model=1024, d_k=128, d_v=128), 37_000, 168e6, 4.2e6),
        (ModelConfig(d_ff=1024), 37_000, 53e6, 2.6e6),
        (ModelConfig(d_ff=4096), 37_000, 90e6, 2.6e6),
    ],
)
def test_parameter_counts_are_the_papers(
    config: ModelConfig, vocab_size: int, printed: float, tolerance: float
) -> None:
    with torch.device("meta"):
        model = Transformer(config, vocab_size, vocab_size)
    assert abs(model.num_parameters - printed) <= tolerance


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_no_position_sees_a_later_one(seed: int, changed: int) -> None:
    model, batch = make_model(), make_batch(seed, ((5, 7),))
    rng = np.random.default_rng(seed + 1)
    other_ids = batch.tgt_in_ids.clone()
    other_ids[0, changed:] = torch.from_numpy(rng.integers(2, 19, 7 - changed))
    memory = model.encode(batch.src_ids, batch.src_mask)
    before = model.decode(batch.tgt_in_ids, batch.tgt_mask, memory, None)[:, :changed]
    after = model.decode(other_ids, batch.tgt_mask, memory, None)[:, :changed]
    assert torch.equal(before, after)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 9), st.integers(0, 12))
def test_padding_changes_nothing(seed: int, src_len: int, tgt_len: int, longer: int) -> None:
    model = make_model()
    alone = make_batch(seed, ((src_len, tgt_len),))
    rng = np.random.default_rng(seed)
    source, target = alone.src_ids[0].tolist(), alone.tgt_ids[0].tolist()
    other = [*rng.integers(2, 19, src_len + longer).tolist(), 0], [*rng.integers(2, 19, tgt_len + longer).tolist(), 0]
    together = collate([source, other[0]], [target, other[1]])
    assert torch.allclose(model(alone)[0], model(together)[0, :tgt_len], atol=1e-5)


def test_what_lies_in_padded_places_does_not_matter() -> None:
    model, batch = make_model(), make_batch()
    assert batch.src_mask is not None
    filled = batch.src_ids.masked_fill(~batch.src_mask[:, 0, 0], 7)
    memory, other = model.encode(batch.src_ids, batch.src_mask), model.encode(filled, batch.src_mask)
    assert torch.equal(memory[batch.src_mask[:, 0, 0]], other[batch.src_mask[:, 0, 0]])


@pytest.mark.parametrize("positions", ["interleaved", "halves", "learned"])
def test_steps_with_a_cache_equal_the_whole_target_at_once(
    positions: Literal["interleaved", "halves", "learned"],
) -> None:
    config = ModelConfig(d_model=16, d_ff=24, num_layers=2, num_heads=4, d_k=3, d_v=5, positions=positions)
    model, batch = make_model(config), make_batch()
    expected = model(batch)
    cache = model.start_cache(model.encode(batch.src_ids, batch.src_mask), batch.src_mask)
    twice = torch.arange(3).repeat_interleave(2)
    cache = cache.select(twice, 2)
    for position in range(batch.tgt_ids.shape[1]):
        logits, cache = model.step(batch.tgt_in_ids[twice, position], cache)
        assert torch.allclose(logits, expected[twice, position], atol=1e-5)
        if position == 2:  # the middle sentence leaves, and the others' hypotheses change places
            keep = torch.tensor([1, 0, 5, 4])
            cache, twice = cache.select(keep, 2), torch.tensor([0, 0, 2, 2])


def test_the_start_is_the_zero_vector_and_not_a_token() -> None:
    model, batch = make_model(), make_batch()
    assert batch.tgt_in_ids[:, 0].tolist() == [START] * 3
    embedded = model.target_embedding(batch.tgt_in_ids)
    assert torch.allclose(embedded[:, 0], model.target_embedding.positions(0, 1)[0].expand(3, -1))


def test_a_start_token_is_embedded_like_any_other() -> None:
    model = make_model()
    batch = collate([[3, 0]], [[4, 0]], start=5)
    expected = model.target_embedding.weight[5] * 4 + model.target_embedding.positions(0, 1)[0]
    assert torch.allclose(model.target_embedding(batch.tgt_in_ids)[0, 0], expected)


def test_attention_weights_are_those_the_layers_use() -> None:
    model, batch = make_model(), make_batch()
    weights = model.attention(batch)
    assert weights.encoder.shape == (2, 3, 4, 5, 5)
    assert weights.decoder.shape == (2, 3, 4, 7, 7)
    assert weights.encoder_decoder.shape == (2, 3, 4, 7, 5)
    for found in (weights.encoder, weights.decoder, weights.encoder_decoder):
        assert torch.allclose(found.sum(dim=-1), torch.ones(()), atol=1e-5)
    assert torch.equal(weights.decoder.triu(1), torch.zeros_like(weights.decoder))
    assert weights.encoder[:, 1, :, :, 2:].abs().max() == 0  # the second source has two tokens

    # torch's own layer gives its weights too, averaged over the heads or not.
    peer = torch_peer(model)
    embedded = model.source_embedding(batch.src_ids)
    assert batch.src_mask is not None
    _, theirs = peer.encoder.layers[0].self_attn(
        embedded, embedded, embedded, key_padding_mask=~batch.src_mask[:, 0, 0], average_attn_weights=False
    )
    assert torch.allclose(weights.encoder[0], theirs, atol=1e-5)


def test_feed_forward_is_two_convolutions_of_kernel_size_1() -> None:
    """Section 3.3's other description of it."""
    feed_forward = encoder_layer(make_model()).feed_forward
    hidden = torch.randn(2, 5, 16)
    inner, outer = feed_forward.inner, feed_forward.outer
    wide = F.conv1d(hidden.transpose(1, 2), inner.weight[:, :, None], inner.bias).relu()
    expected = F.conv1d(wide, outer.weight[:, :, None], outer.bias).transpose(1, 2)
    assert torch.allclose(feed_forward(hidden), expected, atol=1e-5)


def test_one_vocabulary_for_a_shared_matrix() -> None:
    with pytest.raises(ValueError, match="one vocabulary, but the source has 23 entries and the target 19"):
        Transformer(SMALL, SRC_SIZE, TGT_SIZE)
    assert make_model(ModelConfig(d_model=16, num_heads=4, shared_embeddings="target"), SRC_SIZE).src_vocab_size == 23


def test_learned_positions_end_and_sinusoids_do_not() -> None:
    ids, mask = pad_source([[3] * 300 + [0]])
    assert make_model().encode(ids, mask).shape == (1, 301, 16)
    learned = make_model(
        ModelConfig(d_model=16, d_ff=24, num_layers=1, num_heads=4, positions="learned", max_positions=300)
    )
    with pytest.raises(DataError, match="301 tokens is longer than the 300 learned positions"):
        learned.encode(ids, mask)


def test_dropout_works_in_training_alone() -> None:
    config = ModelConfig(
        d_model=16, d_ff=24, num_layers=1, num_heads=4, dropout=0.5, attention_dropout=0.5, activation_dropout=0.5
    )
    model, batch = make_model(config), make_batch()
    assert torch.equal(model(batch), model(batch))
    model.train()
    assert not torch.equal(model(batch), model(batch))


def test_a_new_encoder_keeps_its_positions_apart() -> None:
    """Positions that are alike (cosine near 1) would leave the decoder nothing to choose from, and training stuck."""
    torch.manual_seed(0)
    model = Transformer(ModelConfig(d_model=128, d_ff=256, num_layers=4, num_heads=4), 1000, 1000).eval()
    ids, _ = pad_source([torch.randint(2, 1000, (15,)).tolist() for _ in range(20)])
    with torch.no_grad():
        memory = F.normalize(model.encode(ids, None), dim=-1)
    similarity = torch.einsum("bsd,btd->bst", memory, memory)
    assert similarity[:, ~torch.eye(15, dtype=torch.bool)].mean() < 0.5
