"""The kernels of training against plain torch in float64, and their dropout against its hash in numpy."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attendo.model.attention import EncoderDecoderAttention, MultiHeadAttention, SelfAttention
from attendo.model.config import ModelConfig
from attendo.model.layers import AddAndNorm
from attendo.training.passes.functions import Rows, Spans, add_and_norm, attention, embed, linear
from attendo.training.passes.kernels import TrainingKernels, training_kernels
from attendo.training.passes.loss import PlainKernels

LANES = {"avx512amx": 16, "avx512bf16": 16, "avx512vnni": 16, "avx2": 8}
LANES |= {"neoni8mm": 4, "neondot": 4, "neon": 4, "portable": 4}
FLOAT32, BFLOAT16 = 3e-6, 2e-2
"""Largest errors, relative to the largest entry."""


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(7)


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal numbers that a product in `dtype` would see as they are."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator).to(dtype)


def assert_close(found: Tensor | None, expected: Tensor | None, tolerance: float) -> None:
    assert found is not None
    assert expected is not None
    error = (found.double() - expected.double()).abs().max() / expected.double().abs().max()
    assert error < tolerance, float(error)


def leaf(values: Tensor) -> Tensor:
    return values.detach().clone().requires_grad_()


def factors(seed: int, rows: int, width: int, p: float, lanes: int) -> Tensor:
    """What dropout multiplies with: the hash that `training_rows.h` describes, from its description."""
    kept = round((1 - p) * 65536)
    blocks = -(-width // (2 * lanes))
    found: npt.NDArray[np.float64] = np.zeros((rows, blocks, 2, lanes))
    for row in range(rows):
        number = ((row * blocks + np.arange(blocks))[:, None] * lanes + np.arange(lanes)).astype(np.uint32)
        x = number ^ np.uint32(seed & 0xFFFFFFFF)
        x ^= x >> np.uint32(16)
        x *= np.uint32(0x7FEB352D)
        x ^= np.uint32(seed >> 32)
        x ^= x >> np.uint32(15)
        x *= np.uint32(0x846CA68B)
        x ^= x >> np.uint32(16)
        found[row, :, 0], found[row, :, 1] = (x & np.uint32(0xFFFF)) < kept, (x >> np.uint32(16)) < kept
    return torch.from_numpy(found.reshape(rows, -1)[:, :width] * 65536 / kept)


def next_seed() -> int:
    """The seed that the kernels are about to draw."""
    state = torch.get_rng_state()
    seed = int(torch.empty((), dtype=torch.int64).random_())
    torch.set_rng_state(state)
    return seed


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, FLOAT32), (torch.bfloat16, BFLOAT16)])
@pytest.mark.parametrize(("width", "p"), [(16, 0.0), (48, 0.25), (512, 0.1)])
def test_add_and_norm(kernels: TrainingKernels, dtype: torch.dtype, tolerance: float, width: int, p: float) -> None:
    config = ModelConfig(d_model=width, num_heads=1, dropout=p)
    layer = AddAndNorm(config).train()
    with torch.no_grad():
        layer.norm.weight.copy_(1 + 0.3 * drawn(width, seed=1))
        layer.norm.bias.copy_(drawn(width, seed=2))
    residual, output = leaf(3 * drawn(75, width, seed=3)), leaf(drawn(75, width, seed=4, dtype=dtype))
    kept = factors(next_seed(), 75, width, p, LANES[kernels.kernels.variant]) if p else torch.ones(75, width)
    found = add_and_norm(kernels, Rows(residual, residual.to(dtype)), output, layer)
    weights = [drawn(75, width, seed=5), drawn(75, width, seed=6, dtype=dtype)]
    ((found.exact * weights[0]).sum() + (found.low.float() * weights[1].float()).sum()).backward()  # type: ignore[no-untyped-call]

    plain = [leaf(values.double()) for values in (residual, output, layer.norm.weight, layer.norm.bias)]
    normed = F.layer_norm(plain[0] + plain[1] * kept, (width,), plain[2], plain[3], config.layer_norm_eps)
    (normed * (weights[0].double() + weights[1].double())).sum().backward()  # type: ignore[no-untyped-call]
    assert_close(found.exact, normed, FLOAT32)
    assert_close(found.low, normed, tolerance)
    assert found.low.dtype == dtype
    ours = (residual.grad, output.grad, layer.norm.weight.grad, layer.norm.bias.grad)
    for own, its in zip(ours, plain, strict=True):
        assert_close(own, its.grad, tolerance)


def test_one_of_both_gradients_may_be_missing(kernels: TrainingKernels) -> None:
    layer = AddAndNorm(ModelConfig(d_model=32, num_heads=1, dropout=0.0))
    residual = leaf(drawn(9, 32))
    for low in (False, True):
        residual.grad = None
        found = add_and_norm(kernels, Rows(residual, residual.bfloat16()), torch.zeros(9, 32).bfloat16(), layer)
        weights = drawn(9, 32, seed=1, dtype=torch.bfloat16)
        ((found.low if low else found.exact) * weights).float().sum().backward()  # type: ignore[no-untyped-call]
        plain = leaf(residual.double())
        (F.layer_norm(plain, (32,)) * weights.double()).sum().backward()  # type: ignore[no-untyped-call]
        assert_close(residual.grad, plain.grad, 1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, FLOAT32), (torch.bfloat16, BFLOAT16)])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_linear(kernels: TrainingKernels, dtype: torch.dtype, tolerance: float, relu: bool, has_bias: bool) -> None:
    layer = nn.Linear(48, 80, bias=has_bias)
    rows = leaf(drawn(70, 48, seed=1, dtype=dtype))
    output = linear(kernels, rows, layer, relu=relu)
    weights = drawn(70, 80, seed=2, dtype=dtype)
    output.backward(weights)  # type: ignore[no-untyped-call]

    # bfloat16 has the weights rounded, but not their gradients.
    plain = [leaf(values.to(dtype).double()) for values in (rows, *layer.parameters())]
    expected = F.linear(*plain)
    (expected.relu() if relu else expected).backward(weights.double())  # type: ignore[no-untyped-call]
    assert_close(output, expected.relu() if relu else expected, tolerance)
    for own, its in zip((rows, *layer.parameters()), plain, strict=True):
        assert_close(own.grad, its.grad, tolerance)


@pytest.mark.parametrize("shape", [(16, 16), (48, 80), (112, 64), (1536, 512)])
def test_turned(kernels: TrainingKernels, shape: tuple[int, int]) -> None:
    weight = drawn(*shape)
    for dtype in (torch.float32, torch.bfloat16):
        low, turned = kernels.turned(weight, dtype)
        assert torch.equal(low, weight.to(dtype))
        assert torch.equal(turned, weight.to(dtype).t())


def spans(lengths: list[int]) -> Spans:
    return Spans(torch.tensor([0, *np.cumsum(lengths)], dtype=torch.int32), max(lengths))


def plain_attention(query: Tensor, key: Tensor, value: Tensor, kept: Tensor, causal: bool) -> Tensor:
    """One head, in any type: Equation 1."""
    logits = query @ key.T / math.sqrt(query.shape[1])
    if causal:
        logits = logits.masked_fill(torch.ones_like(logits).tril() == 0, -math.inf)
    return (logits.softmax(dim=1) * kept) @ value


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, FLOAT32), (torch.bfloat16, BFLOAT16)])
@pytest.mark.parametrize("p", [0.0, 0.3])
@pytest.mark.parametrize(("d_k", "d_v"), [(64, 64), (16, 48), (80, 32)])
@pytest.mark.parametrize("other_side", [False, True])
def test_attention(
    kernels: TrainingKernels, dtype: torch.dtype, tolerance: float, p: float, d_k: int, d_v: int, other_side: bool
) -> None:
    heads, queries = 3, [1, 7, 25, 40]
    keys = [5, 33, 1, 16] if other_side else queries
    made: type[MultiHeadAttention] = EncoderDecoderAttention if other_side else SelfAttention
    layer = made(ModelConfig(d_model=32, num_heads=heads, d_k=d_k, d_v=d_v, attention_dropout=p)).train()
    beside = heads * (d_k + d_v)
    query = leaf(drawn(sum(queries), heads * d_k + (0 if other_side else beside), seed=1, dtype=dtype))
    memory = leaf(drawn(sum(keys), beside, seed=2, dtype=dtype)) if other_side else None
    lanes = LANES[kernels.kernels.variant]
    kept = factors(next_seed(), heads * sum(queries), max(keys), p, lanes) if p else torch.ones(1, 1)
    context = attention(kernels, layer, query, memory, spans(queries), spans(keys), causal=not other_side)
    weights = drawn(sum(queries), heads * d_v, seed=3, dtype=dtype)
    context.backward(weights)  # type: ignore[no-untyped-call]

    plain_query, plain_memory = leaf(query.double()), None if memory is None else leaf(memory.double())
    key_value = plain_query[:, heads * d_k :] if plain_memory is None else plain_memory
    expected = []
    for head in range(heads):
        q = torch.split(plain_query[:, head * d_k : (head + 1) * d_k], queries)
        k = torch.split(key_value[:, head * d_k : (head + 1) * d_k], keys)
        v = torch.split(key_value[:, heads * d_k :][:, head * d_v : (head + 1) * d_v], keys)
        own = []
        for sentence, (length, seen) in enumerate(zip(queries, keys, strict=True)):
            first = head * sum(queries) + sum(queries[:sentence])
            its = kept[first : first + length, :seen] if p else kept
            own.append(plain_attention(q[sentence], k[sentence], v[sentence], its, not other_side))
        expected.append(torch.cat(own))
    together = torch.cat(expected, dim=1)
    together.backward(weights.double())  # type: ignore[no-untyped-call]
    assert_close(context, together, tolerance)
    assert_close(query.grad, plain_query.grad, tolerance)
    if memory is not None and plain_memory is not None:
        assert_close(memory.grad, plain_memory.grad, tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, FLOAT32), (torch.bfloat16, BFLOAT16)])
@pytest.mark.parametrize("p", [0.0, 0.2])
def test_embed(kernels: TrainingKernels, dtype: torch.dtype, tolerance: float, p: float) -> None:
    weight, table = leaf(drawn(11, 80, seed=1)), drawn(6, 80, seed=2)
    ids, positions = torch.tensor([-1, 3, 3, 10, -1, 0, 3]), torch.tensor([0, 1, 2, 3, 0, 1, 5])
    kept = factors(next_seed(), 7, 80, p, LANES[kernels.kernels.variant]) if p else torch.ones(7, 80)
    found = embed(kernels, weight, ids, positions, table, p, dtype)
    exact, low = drawn(7, 80, seed=3), drawn(7, 80, seed=4, dtype=dtype)
    ((found.exact * exact).sum() + (found.low * low).float().sum()).backward()  # type: ignore[no-untyped-call]

    plain = leaf(weight.double())
    looked_up = plain[ids.clamp(min=0)] * math.sqrt(80) * (ids >= 0)[:, None]
    expected = (looked_up + table[positions]) * kept
    (expected * (exact.double() + low.double())).sum().backward()  # type: ignore[no-untyped-call]
    assert_close(found.exact, expected, FLOAT32)
    assert_close(found.low, expected, tolerance)
    assert_close(weight.grad, plain.grad, 1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, BFLOAT16)])
@pytest.mark.parametrize("vocab_size", [3, 16, 37, 1000])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("has_bias", [False, True])
def test_softmax_gradient(
    kernels: TrainingKernels, dtype: torch.dtype, tolerance: float, vocab_size: int, smoothing: float, has_bias: bool
) -> None:
    logits = 5 * drawn(21, vocab_size, dtype=dtype)
    bias = drawn(vocab_size, seed=1) if has_bias else None
    targets = torch.randint(vocab_size, (21,), generator=torch.Generator().manual_seed(2))
    plain = leaf(logits.double())
    loss = F.cross_entropy(plain if bias is None else plain + bias, targets, label_smoothing=smoothing, reduction="sum")
    loss.backward()  # type: ignore[no-untyped-call]
    own = kernels.softmax_gradient(logits.clone(), bias, targets, smoothing, needs_grad=True)
    for found in (own, PlainKernels().softmax_gradient(logits.clone(), bias, targets, smoothing, needs_grad=True)):
        assert float(found[0]) == pytest.approx(float(loss.detach()), rel=1e-5)
        assert_close(found[2], plain.grad, tolerance)
    likelihood = F.cross_entropy(logits.double() if bias is None else logits.double() + bias, targets, reduction="sum")
    assert float(own[1]) == pytest.approx(float(likelihood), rel=1e-5)
    kept = logits.clone()
    alone = kernels.softmax_gradient(kept, bias, targets, smoothing, needs_grad=False)
    assert [float(value) for value in alone[:2]] == [float(value) for value in own[:2]]
    assert torch.equal(kept, logits), "without a gradient nothing is written"


@pytest.mark.parametrize("size", [1, 15, 16, 65537])
def test_add(kernels: TrainingKernels, size: int) -> None:
    total, addend = drawn(size, seed=1), drawn(size, seed=2, dtype=torch.bfloat16)
    expected = total + addend.float()
    kernels.add(total, addend)
    assert torch.equal(total, expected)


def test_dropout_drops_its_share_everywhere(kernels: TrainingKernels) -> None:
    """Rows, columns and neighbours: none is dropped more often, nor together with another, than chance has it."""
    torch.manual_seed(5)
    rows, width, p = 4000, 96, 0.1
    found = embed(
        kernels, torch.zeros(1, width), torch.full((rows,), -1), torch.zeros(rows, dtype=torch.int64),
        torch.ones(1, width), p, torch.float32,
    ).exact  # fmt: skip
    dropped = (found == 0).double()
    assert found.max() == pytest.approx(65536 / round(0.9 * 65536))
    sigma = math.sqrt(p * (1 - p))
    assert abs(dropped.mean() - p) < 4 * sigma / math.sqrt(rows * width)
    assert (dropped.mean(dim=0) - p).abs().max() < 5 * sigma / math.sqrt(rows)
    assert (dropped.mean(dim=1) - p).abs().max() < 6 * sigma / math.sqrt(width)
    together: list[tuple[Tensor, Tensor]] = [
        (dropped[:, 1:], dropped[:, :-1]),
        (dropped[1:], dropped[:-1]),
        (dropped[:, 48:], dropped[:, :48]),
        (dropped[1:, 16:], dropped[:-1, :-16]),
    ]
    for one, other in together:
        assert abs((one * other).mean() - p * p) < 5 * p / math.sqrt(one.numel())


def with_threads(threads: int, work: Callable[[], list[Tensor]]) -> list[Tensor]:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        torch.manual_seed(3)
        return work()
    finally:
        torch.set_num_threads(before)


def test_results_do_not_depend_on_the_threads(kernels: TrainingKernels) -> None:
    layer = AddAndNorm(ModelConfig(d_model=64, num_heads=1, dropout=0.2)).train()
    own = SelfAttention(ModelConfig(d_model=64, num_heads=2, attention_dropout=0.1)).train()

    def work() -> list[Tensor]:
        nn.Module.zero_grad(layer)
        weight, hidden = leaf(drawn(30, 64)), leaf(drawn(90, 192, seed=1))
        ids = torch.arange(90) % 30
        rows = embed(kernels, weight, ids, torch.arange(90) % 7, drawn(7, 64, seed=2), 0.1, torch.float32)
        lengths = spans([20, 30, 40])
        context = attention(kernels, own, hidden, None, lengths, lengths, causal=True)
        normed = add_and_norm(kernels, rows, context, layer).exact
        (normed * drawn(90, 64, seed=3)).sum().backward()  # type: ignore[no-untyped-call]
        grads = [weight.grad, hidden.grad, layer.norm.weight.grad, layer.norm.bias.grad]
        return [normed.detach(), *(grad.clone() for grad in grads if grad is not None)]

    alone = with_threads(1, work)
    assert len(alone) == 5
    for threads in (2, 3):
        for one, other in zip(alone, with_threads(threads, work), strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize(
    "misfit",
    [
        {"d_model": 20},
        {"d_ff": 100},
        {"attention_function": "additive"},
        {"encoder_layer": "convolutional"},
        {"decoder_layer": "restricted-self-attention"},
    ],
)
def test_models_that_the_kernels_cannot_train_are_left_to_torch(misfit: dict[str, int]) -> None:
    config = ModelConfig(**{"d_model": 64, "num_heads": 4, **misfit})  # type: ignore[arg-type]
    assert training_kernels(config, torch.device("cpu")) is None


def test_a_gpu_is_left_to_torch() -> None:
    assert training_kernels(ModelConfig(), torch.device("cuda")) is None
