"""A drafter learns with its model, or alone: what it is shown, what it costs the model, and what becomes of both."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.native.conftest import random_model
from torch import Tensor
from torch.nn import functional as F

from attendo.checkpoint.weights import load_weights, named_weights
from attendo.errors import ModelError
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.drafter import CANDIDATES, Drafter
from attendo.model.dropout import Dropout
from attendo.model.layers import DecoderLayer
from attendo.model.transformer import Transformer
from attendo.model.weights.parameters import num_weights
from attendo.training.config import TrainingConfig
from attendo.training.drafting import choose_shortlist, drafted_rows, shortlist_projection, train_drafter
from attendo.training.passes.forward import collate_for
from attendo.training.state import blank_state, export_state
from attendo.training.update import batch_loss, make_optimizer, update

SOURCE = [[5, 9, 33, 2, 17, 0], [4, 0], [8, 3, 0]]
TARGET = [[11, 12, 13, 14, 15, 0], [0], [21, 22, 0]]
CONFIG = TrainingConfig(max_steps=100, warmup_steps=1, peak_learning_rate=1e-2, label_smoothing=0.0)
SHAPES: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "odd heads": {"d_k": 6, "d_v": 10, "num_heads": 3},
    "imported": {"activation": "swish", "attention_bias": True, "output_bias": True, "start": 7},
    "additive": {"attention_function": "additive"},
}


def drafting_model(count: int = 3, **options: Any) -> Transformer:
    return random_model(draft_tokens=count, **options)


def by_hand(model: Transformer, source: list[int], target: list[int], at: int) -> Tensor:
    """What the drafter makes of the position that wrote `target[at]`, or of the start: a head, a matrix at a time."""
    drafter, last = model.drafter, model.decoder_layers[-1]
    assert isinstance(drafter, Drafter)
    assert isinstance(last, DecoderLayer)
    batch = collate([source], [target], start=model.config.start_id)
    memory = model.encode(batch.src_ids, None)
    hidden = model.decode(batch.tgt_in_ids, batch.tgt_mask, memory, None)[0, at]
    following = model.target_embedding.weight[target[at]] * model.config.d_model**0.5
    if at < 0:  # there is no state before the start, which is the zero vector
        hidden, following = torch.zeros_like(hidden), torch.zeros_like(following)
    joined = drafter.joined.weight @ torch.cat((hidden, following)) + drafter.joined.bias
    d_model, heads, d_k, d_v = (
        model.config.d_model,
        model.config.num_heads,
        model.config.key_size,
        model.config.value_size,
    )
    key, value = last.encoder_attention.key_value(memory)[0].split((heads * d_k, heads * d_v), dim=1)
    rows = []
    for place in drafter.places:
        row = F.layer_norm(place + joined, (d_model,), *_of(drafter.joined_norm.norm))
        query = drafter.attention.query(row)
        contexts = []
        for head in range(heads):
            keys, values = key[:, head * d_k : (head + 1) * d_k], value[:, head * d_v : (head + 1) * d_v]
            weights = (keys @ query[head * d_k : (head + 1) * d_k] / d_k**0.5).softmax(dim=0)
            contexts.append(weights @ values)
        row = F.layer_norm(
            row + drafter.attention.output(torch.cat(contexts)), (d_model,), *_of(drafter.attention_norm.norm)
        )
        feed_forward = drafter.feed_forward
        row = F.layer_norm(
            row + feed_forward.outer(feed_forward.inner(row).relu()), (d_model,), *_of(drafter.feed_forward_norm.norm)
        )
        rows.append(row)
    return torch.stack(rows)


def _of(norm: torch.nn.LayerNorm) -> tuple[Tensor, Tensor, float]:
    return norm.weight, norm.bias, norm.eps


def adjusted_by_hand(model: Transformer, drafted: Tensor, before: int) -> Tensor:
    """A proposal's state made to go with the token proposed before it."""
    drafter = model.drafter
    assert isinstance(drafter, Drafter)
    embedded = model.target_embedding.weight[before] * model.config.d_model**0.5
    inner = (drafter.beside.weight @ torch.cat((drafted, embedded)) + drafter.beside.bias).relu()
    return drafted + drafter.adjustment.weight @ inner + drafter.adjustment.bias


def proposals(target: list[int]) -> list[tuple[int, int]]:
    """The place of the token behind which there are proposals, -1 for the start, and how far ahead each of them is."""
    return [(at, ahead) for at in range(-1, len(target) - 1) for ahead in (1, 2, 3) if at + ahead < len(target)]


def test_every_proposal_stands_beside_the_token_that_it_should_be() -> None:
    model = drafting_model()
    found = drafted_rows(model, collate(SOURCE, TARGET), torch.float32)
    expected, tokens = [], []
    for again in (False, True):
        for source, target in zip(SOURCE, TARGET, strict=True):
            for at, ahead in proposals(target):
                one = by_hand(model, source, target, at)[ahead - 1]
                if again and ahead == 1:
                    continue
                expected.append(adjusted_by_hand(model, one, target[at + ahead - 1]) if again else one)
                tokens.append(target[at + ahead])
    assert found.places.tolist() == tokens  # all of a small vocabulary is on the shortlist
    torch.testing.assert_close(found.drafted, torch.stack(expected), atol=2e-5, rtol=0)
    batch = collate(SOURCE, TARGET)
    torch.testing.assert_close(found.hidden, batch.at_tokens(model.hidden(batch)))
    assert found.ids.tolist() == [token for target in TARGET for token in target]


@torch.no_grad()
def test_what_is_proposed_goes_with_what_was_proposed_before() -> None:
    model = drafting_model()
    drafted = torch.randn(3, 32) * 3
    best = [int(model.project(drafted[0]).argmax())]
    for state in drafted[1:]:
        logits = model.project(adjusted_by_hand(model, state, best[-1]))
        candidates = model.project(state).argsort(descending=True)[:CANDIDATES].tolist()
        best.append(max(candidates, key=lambda token: float(logits[token])))
    assert model.propose(drafted).tolist() == best


@pytest.mark.parametrize("shape", SHAPES)
def test_its_weights_are_counted(shape: str) -> None:
    model = drafting_model(5, **SHAPES[shape])
    assert num_weights(model.config, 40, 40) == model.num_parameters
    without = replace(model.config, draft_tokens=0)
    assert num_weights(without, 40, 40) == random_model(**SHAPES[shape]).num_parameters


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_but_a_drafter_that_learns_alone_changes(shape: str) -> None:
    model = drafting_model(dropout=0.3, **SHAPES[shape])
    before = {name: value.clone() for name, value in named_weights(model).items()}
    translated = model(collate(SOURCE, TARGET, start=model.config.start_id))
    train_drafter(model, alone=True)
    optimizer = make_optimizer(model, CONFIG)
    blank_state(model, optimizer)
    losses = []
    for step in range(1, 60):
        result = update(model.train(), optimizer, [collate_for(model)(SOURCE, TARGET)], 9, step, CONFIG)
        losses.append(float(result.log_loss) / result.num_tokens)
        assert result.num_tokens == sum(1 if ahead == 1 else 2 for t in TARGET for _, ahead in proposals(t))
    assert losses[-1] < 0.5 * losses[0]
    for name, value in named_weights(model).items():
        is_trained = name.startswith("drafter.") and name != "drafter.shortlist"
        assert value.equal(before[name]) != is_trained, name
    assert all(".drafter." in f".{name}" for name in export_state(model, optimizer))
    assert model.eval()(collate(SOURCE, TARGET, start=model.config.start_id)).equal(translated)


def test_both_learn_together() -> None:
    model = drafting_model()
    before = {name: value.clone() for name, value in named_weights(model).items()}
    train_drafter(model, alone=False)
    optimizer = make_optimizer(model, CONFIG)
    batch, losses = collate(SOURCE, TARGET), []
    for step in range(1, 60):
        update(model.train(), optimizer, [collate_for(model)(SOURCE, TARGET)], batch.num_tokens, step, CONFIG)
        losses.append(float(batch_loss(model.eval(), batch, "float32", 0.0).log_loss))
    assert losses[-1] < 0.5 * losses[0]
    for name, value in named_weights(model).items():
        assert value.equal(before[name]) == (name == "drafter.shortlist"), name
    # Tokens and proposals, each counting half: what torch's own cross-entropy makes of the same rows.
    rows = drafted_rows(model, batch, torch.float32)
    drafted = F.cross_entropy(F.linear(rows.drafted, *shortlist_projection(model)), rows.places, reduction="sum")
    own = F.cross_entropy(model.project(rows.hidden), rows.ids, reduction="sum")
    loss = batch_loss(model, batch, "float32", 0.0)
    torch.testing.assert_close(loss.smoothed, own + 0.5 * drafted)
    torch.testing.assert_close(loss.log_loss, own + drafted)


def test_dropout_is_the_drafters_alone_where_it_learns_alone() -> None:
    model, batch = drafting_model(dropout=0.5), collate(SOURCE, TARGET)
    train_drafter(model, alone=True)
    assert model.drafter is not None
    expected = drafted_rows(model, batch, torch.float32).drafted
    model.train()
    assert not drafted_rows(model, batch, torch.float32).drafted.equal(expected)
    assert model.training
    for module in model.drafter.modules():
        if isinstance(module, Dropout):
            module.p = 0.0
    assert drafted_rows(model, batch, torch.float32).drafted.equal(expected)


def test_padding_and_other_sentences_change_no_proposal() -> None:
    model = drafting_model()
    rows = drafted_rows(model, collate(SOURCE, TARGET), torch.float32).drafted
    alone = [drafted_rows(model, collate([s], [t]), torch.float32) for s, t in zip(SOURCE, TARGET, strict=True)]
    counts = [len(proposals(target)) for target in TARGET]
    parts = [each.drafted[:count] for each, count in zip(alone, counts, strict=True)]
    parts += [each.drafted[count:] for each, count in zip(alone, counts, strict=True)]
    torch.testing.assert_close(rows, torch.cat(parts), atol=2e-5, rtol=0)


def test_sizes_that_cannot_be_are_refused() -> None:
    for count in (-1, 65):
        with pytest.raises(ValueError, match=f"draft_tokens = {count} is outside 0 to 64"):
            ModelConfig(draft_tokens=count)
    with pytest.raises(ValueError, match='needs decoder_layer = "self-attention"'):
        ModelConfig(draft_tokens=2, decoder_layer="restricted-self-attention")


def test_the_most_frequent_tokens_are_proposed() -> None:
    model = drafting_model(draft_vocabulary=4)
    counts = np.zeros(40, dtype=np.int64)
    counts[[0, 14, 15, 22, 30]] = 9, 7, 8, 7, 7
    choose_shortlist(model, counts)
    assert model.drafter is not None
    assert model.drafter.ids.tolist() == [0, 14, 15, 22]  # 30 is as frequent as 14 and 22, which come before it
    rows = drafted_rows(model, collate(SOURCE, TARGET), torch.float32)
    # By hand, of 11 12 13 14 15 0, of 0 and of 21 22 0: what is behind the start and each token within 3, of the
    # shortlist alone; then again what is 2 or 3 ahead.
    assert rows.places.tolist() == [1, 1, 2, 1, 2, 0, 2, 0, 0, 0, 3, 0, 3, 0, 0, 1, 1, 2, 2, 0, 0, 3, 0, 0]
    weight, _ = shortlist_projection(model)
    assert weight.equal(model.output_weight[[0, 14, 15, 22]])
    assert set(model.propose(torch.randn(3, 32)).tolist()) <= {0, 14, 15, 22}


@pytest.mark.parametrize("ids", [[3.0, 2.0, 5.0], [1.0, 1.0, 5.0], [0.5, 2.0, 5.0], [-1.0, 2.0, 5.0], [1.0, 2.0, 40.0]])
def test_a_shortlist_of_what_are_no_tokens_is_refused(ids: list[float]) -> None:
    model = drafting_model(draft_vocabulary=3)
    weights = named_weights(model) | {"drafter.shortlist": torch.tensor(ids)}
    with pytest.raises(ModelError, match=r"there: drafter\.shortlist is not an increasing list of ids below 40"):
        load_weights(drafting_model(draft_vocabulary=3), weights, Path("there"))
