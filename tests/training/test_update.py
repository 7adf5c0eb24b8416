"""An update against torch's Adam on a plainly written loss; pieces of a batch against the whole."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.training.batches import Pairs
from attendo.training.config import TrainingConfig
from attendo.training.passes.forward import collate_for, target_rows
from attendo.training.update import batch_loss, make_optimizer, update

CONFIG = TrainingConfig(warmup_steps=10, label_smoothing=0.1)


def make_model() -> Transformer:
    torch.manual_seed(2)
    return Transformer(ModelConfig(d_model=16, d_ff=24, num_layers=2, num_heads=4, dropout=0.0), 19, 19).train()


def make_pairs() -> Pairs:
    rng = np.random.default_rng(4)
    source = [[*rng.integers(2, 19, size).tolist(), 0] for size in (5, 3, 7, 2, 6)]
    target = [[*rng.integers(2, 19, size).tolist(), 0] for size in (4, 6, 2, 3, 7)]
    return Pairs(source=source, target=target)


def test_three_updates_equal_torchs_adam() -> None:
    ours, theirs, pairs = make_model(), make_model(), make_pairs()
    batch = collate(pairs.source, pairs.target)
    mine = make_optimizer(ours, CONFIG)
    adam = torch.optim.Adam(theirs.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in (1, 2, 3):
        result = update(ours, mine, [batch], batch.num_tokens, step, CONFIG)
        logits = theirs(batch)[batch.tgt_tokens]
        expected = F.cross_entropy(logits, batch.tgt_ids[batch.tgt_tokens], label_smoothing=0.1)
        assert result.smoothed.item() / batch.num_tokens == pytest.approx(expected.item(), rel=1e-5)
        adam.zero_grad()
        expected.backward()  # type: ignore[no-untyped-call]
        for group in adam.param_groups:
            group["lr"] = 16**-0.5 * step * 10**-1.5
        adam.step()
    for (name, a), b in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(a, b, atol=2e-5), name


@pytest.mark.parametrize("max_tokens", [1, 8, 16, 1000])
def test_pieces_of_a_batch_have_the_whole_batchs_gradient(max_tokens: int) -> None:
    model, pairs = make_model(), make_pairs()
    num_tokens = sum(len(row) for row in pairs.target)
    grads = []
    for pieces in ([collate(pairs.source, pairs.target)], list(pairs.pieces(max_tokens, collate))):
        model.zero_grad()
        for piece in pieces:
            (batch_loss(model, piece, "float32", 0.1).smoothed / num_tokens).backward()  # type: ignore[no-untyped-call]
        grads.append([parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None])
    assert len(grads[0]) == len(list(model.parameters()))
    for whole, in_pieces in zip(*grads, strict=True):
        assert torch.allclose(whole, in_pieces, atol=1e-6)


def test_gradient_norm_is_limited() -> None:
    model, pairs = make_model(), make_pairs()
    batch = collate(pairs.source, pairs.target)
    config = TrainingConfig(max_gradient_norm=0.01)
    update(model, make_optimizer(model, config), [batch], batch.num_tokens, 1, config)
    norm = sum(float((p.grad**2).sum()) for p in model.parameters() if p.grad is not None) ** 0.5
    assert norm == pytest.approx(0.01, rel=1e-3)


def test_weight_decay_spares_norms_and_biases() -> None:
    model = make_model()
    config = TrainingConfig(weight_decay=0.1)
    decayed = {
        id(p) for group in make_optimizer(model, config).param_groups if group["weight_decay"] for p in group["params"]
    }
    for name, parameter in model.named_parameters():
        assert (id(parameter) in decayed) == (parameter.dim() == 2), name


def test_bfloat16_loss_is_near_float32() -> None:
    model, pairs = make_model(), make_pairs()
    batch = collate(pairs.source, pairs.target)
    exact = batch_loss(model, batch, "float32", 0.1).smoothed.item()
    assert batch_loss(copy.deepcopy(model), batch, "bfloat16", 0.1).smoothed.item() == pytest.approx(exact, rel=2e-2)


@pytest.mark.parametrize("packed", [False, True])
def test_r_drop_compares_two_passes_with_different_dropout(packed: bool) -> None:
    """The loss of batches that are computed twice, with the seeds that the two passes draw one after the other."""
    model, pairs = make_model(), make_pairs()
    model = Transformer(replace(model.config, d_model=32, d_ff=32, dropout=0.4), 19, 19).train()
    batch = (collate_for(model) if packed else collate)(pairs.source, pairs.target)
    torch.manual_seed(11)
    found = batch_loss(model, batch, "float32", 0.1, r_drop=3.0)
    torch.manual_seed(11)
    logits = [
        F.linear(target_rows(model, batch, torch.float32)[0][: batch.num_tokens], model.output_weight) for _ in range(2)
    ]
    p, q = (each.log_softmax(dim=1) for each in logits)
    right = torch.tensor([token for row in pairs.target for token in row])
    apart = F.kl_div(q, p, reduction="sum", log_target=True) + F.kl_div(p, q, reduction="sum", log_target=True)
    entropy = sum(F.cross_entropy(each, right, label_smoothing=0.1, reduction="sum") for each in logits)
    assert apart > 0.1
    assert found.num_tokens == len(right)
    assert found.smoothed.item() == pytest.approx(float((entropy / 2 + 3.0 / 4 * apart).detach()), rel=1e-5)
