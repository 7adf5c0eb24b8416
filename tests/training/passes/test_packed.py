"""Packed rows against the padded forward pass: the same loss and gradients, by kernels and by torch alone."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attendo.model.batch import Batch, collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.training.passes.forward import collate_for, target_rows
from attendo.training.passes.kernels import TrainingKernels
from attendo.training.passes.loss import token_loss
from attendo.training.passes.packed import PackedBatch, pack, packed_hidden

SHAPE: dict[str, Any] = {"d_model": 64, "d_ff": 96, "num_layers": 2, "num_heads": 2, "dropout": 0.0}
VARIATIONS: list[dict[str, Any]] = [
    {},
    {"num_heads": 4, "d_k": 16, "d_v": 32, "attention_bias": True},
    {"activation": "swish", "positions": "halves", "start": 3, "output_bias": True},
    {"shared_embeddings": "none", "num_encoder_layers": 1, "num_decoder_layers": 3},
    {"shared_embeddings": "target"},
    {"num_heads": 16},
    {"attention_function": "dot-product", "num_heads": 2, "d_k": 16},
    {"d_k": 8, "d_v": 24, "attention_bias": True},
    {"positions": "learned", "max_positions": 35},
    {"next_word": True},
    {"next_word": True, "parser_stack": True},
]


def make_model(**options: Any) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(ModelConfig(**(SHAPE | options)), 50, 50).train()
    with torch.no_grad():
        for name, values in model.named_parameters():
            if "norm" in name or name.endswith("bias"):
                values.add_(0.2 * torch.randn_like(values))
    if model.next_word is not None:
        model.next_word.know(torch.arange(50) % 3 == 1, torch.arange(50) % 2 == 1)
    if model.parser_stack is not None:
        model.parser_stack.know(torch.tensor([(0, 1, 2, 1, 4, 1, 3, 1)[number % 8] for number in range(50)]))
    return model


def make_pairs() -> tuple[list[list[int]], list[list[int]]]:
    rng = np.random.default_rng(1)
    lengths = [(5, 4), (1, 2), (17, 21), (33, 35), (8, 1)]
    source, target = ([[*rng.integers(2, 50, pair[side] - 1).tolist(), 0] for pair in lengths] for side in (0, 1))
    return source, target


def test_pack_by_hand() -> None:
    batch = pack([[5, 0], [6, 7, 0]], [[8, 9, 0], [0]])
    assert batch.source.ids.tolist() == [5, 0, 6, 7, 0, -1, -1, -1]
    assert batch.source.positions.tolist() == [0, 1, 0, 1, 2, 0, 0, 0]
    assert batch.source.spans.starts.tolist() == [0, 2, 5, 8]
    assert batch.source.spans.longest == 3
    assert batch.target.ids.tolist() == [-1, 8, 9, -1, -1, -1, -1, -1]
    assert batch.target.spans.starts.tolist() == [0, 3, 4, 8]
    assert batch.target.spans.longest == 4
    assert batch.tgt_ids.tolist() == [8, 9, 0, 0]
    assert batch.num_tokens == 4
    assert pack([[5, 0]], [[8, 0]], start=3).target.ids[:3].tolist() == [3, 8, -1]


@pytest.mark.parametrize(
    ("tokens", "rows"), [(1, 8), (8, 16), (1023, 1024), (1024, 1040), (2048, 2080), (25000, 25088)]
)
def test_there_are_few_different_numbers_of_rows(tokens: int, rows: int) -> None:
    batch = pack([[5] * tokens], [[6] * tokens])
    assert len(batch.source.ids) == len(batch.target.ids) == rows
    assert batch.num_tokens == tokens


def gradients(model: Transformer) -> dict[str, Tensor]:
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    return found


@pytest.mark.parametrize("variation", VARIATIONS, ids=str)
def test_packed_rows_are_the_padded_ones(kernels: TrainingKernels, variation: dict[str, Any]) -> None:
    model, (source, target) = make_model(**variation), make_pairs()
    padded = collate(source, target, start=model.config.start_id)
    hidden, targets = model.hidden(padded)[padded.tgt_tokens], padded.tgt_ids[padded.tgt_tokens]
    expected = token_loss(hidden, model.output_weight, model.output_bias, targets, 0.1)
    expected.smoothed.backward()  # type: ignore[no-untyped-call]
    plain = gradients(model)

    packed = pack(source, target, start=model.config.start_id)
    rows = packed_hidden(model, packed, kernels, torch.float32)
    assert torch.equal(packed.tgt_ids, targets)
    assert packed.num_tokens == padded.num_tokens
    assert torch.allclose(rows[: packed.num_tokens], hidden, atol=1e-5)
    found = token_loss(rows, model.output_weight, model.output_bias, packed.tgt_ids, 0.1, kernels)
    found.smoothed.backward()  # type: ignore[no-untyped-call]
    assert found.smoothed.item() == pytest.approx(expected.smoothed.item(), rel=1e-6)
    assert found.log_loss.item() == pytest.approx(expected.log_loss.item(), rel=1e-6)
    own = gradients(model)
    assert own.keys() == plain.keys() == dict(model.named_parameters()).keys()
    for name, gradient in plain.items():
        assert (own[name] - gradient).norm() <= 1e-5 * gradient.norm(), name


def test_a_learned_table_need_not_reach_over_the_filling(kernels: TrainingKernels) -> None:
    model = make_model(positions="learned", max_positions=2)
    batch = pack([[5, 0], [6, 0]], [[7, 0], [8, 0]])
    assert batch.source.spans.longest > 2
    assert packed_hidden(model, batch, kernels, torch.float32).isfinite().all()


def test_bfloat16_is_as_near_as_torchs_own(kernels: TrainingKernels) -> None:
    """The errors of bfloat16 products, of the kernels' path and of torch's autocast, against float32."""
    model, (source, target) = make_model(), make_pairs()
    found = []
    for batch, dtype in (
        (collate(source, target), torch.float32),
        (collate(source, target), torch.bfloat16),
        (pack(source, target), torch.bfloat16),
    ):
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            if isinstance(batch, PackedBatch):
                rows, targets = packed_hidden(model, batch, kernels, dtype), batch.tgt_ids
            else:
                rows, targets = model.hidden(batch)[batch.tgt_tokens].to(dtype), batch.tgt_ids[batch.tgt_tokens]
        loss = token_loss(rows, model.output_weight, None, targets, 0.1, kernels)
        loss.smoothed.backward()  # type: ignore[no-untyped-call]
        found.append((loss.smoothed.item(), gradients(model)))
    exact, autocast, packed = found
    assert packed[0] == pytest.approx(exact[0], rel=2e-3)
    ours, theirs = (
        sum(float((its[1][name] - gradient).square().sum()) for name, gradient in exact[1].items())
        for its in (packed, autocast)
    )
    assert 0 < ours < 1.5 * theirs


def test_neighbours_change_nothing(kernels: TrainingKernels) -> None:
    model, (source, target) = make_model(), make_pairs()
    rows, lengths = packed_hidden(model, pack(source, target), kernels, torch.float32), [*map(len, target)]
    for i, expected in enumerate(torch.split(rows[: sum(lengths)], lengths)):
        alone = packed_hidden(model, pack([source[i]], [target[i]]), kernels, torch.float32)[: lengths[i]]
        assert torch.allclose(alone, expected, atol=2e-6)


def test_dropout_follows_torchs_seed(kernels: TrainingKernels) -> None:
    model, (source, target) = make_model(dropout=0.3, attention_dropout=0.2, activation_dropout=0.1), make_pairs()
    batch, found = pack(source, target), []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(packed_hidden(model, batch, kernels, torch.float32))
    assert torch.equal(found[0], found[1])
    assert not torch.allclose(found[0], found[2], atol=0.1)
    model.eval()
    assert torch.allclose(
        packed_hidden(model, batch, kernels, torch.float32)[: batch.num_tokens],
        make_model().eval().hidden(collate(source, target))[collate(source, target).tgt_tokens],
        atol=1e-5,
    )


def test_each_model_gets_its_kind_of_batch(kernels: TrainingKernels, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = make_pairs()
    for model, kind in ((make_model(), PackedBatch), (make_model(attention_function="additive"), Batch)):
        monkeypatch.setattr(
            "attendo.training.passes.forward.training_kernels",
            lambda config, device: None if config.attention_function == "additive" else kernels,
        )
        batch = collate_for(model)(source, target)
        assert isinstance(batch, kind)
        rows, targets = target_rows(model, batch, torch.bfloat16)
        assert rows.dtype == torch.bfloat16
        assert rows.shape[1] == 64
        assert len(rows) == batch.num_tokens if kind is Batch else len(rows) >= batch.num_tokens
        assert targets.tolist() == [i for row in target for i in row]
