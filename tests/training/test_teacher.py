"""Batches of distilled and other lines: what they lose by both passes, against a formulation in torch alone."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.model.batch import Batch, DistilledTokens, collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.training.batches import Pairs
from attendo.training.config import TrainingConfig
from attendo.training.passes.forward import Collate, collate_for
from attendo.training.passes.packed import PackedBatch
from attendo.training.teacher import Teacher
from attendo.training.update import batch_loss, make_optimizer, update

CONFIG = TrainingConfig(warmup_steps=10, label_smoothing=0.1)
DISTILLED = [True, False, True, True, False]


def make_model(seed: int = 2, dropout: float = 0.0) -> Transformer:
    torch.manual_seed(seed)
    shape = ModelConfig(d_model=32, d_ff=64, num_layers=2, num_heads=4, dropout=dropout, output_bias=True)
    return Transformer(shape, 40, 40).train()


def make_pairs(distilled: list[bool]) -> Pairs:
    rng = np.random.default_rng(4)
    source = [[*rng.integers(2, 40, size).tolist(), 0] for size in (5, 3, 7, 2, 6)]
    target = [[*rng.integers(2, 40, size).tolist(), 0] for size in (4, 6, 2, 3, 7)]
    return Pairs(source=source, target=target, distilled=distilled)


def whole(pairs: Pairs, collate: Collate) -> Batch | PackedBatch:
    [batch] = pairs.pieces(None, collate)
    return batch


def plain_loss(student: Transformer, teacher: Transformer, pairs: Pairs) -> Tensor:
    """The loss of each line by itself, added up."""
    total = torch.zeros(())
    for source, target, is_distilled in zip(pairs.source, pairs.target, pairs.distilled, strict=True):
        line = collate([source], [target])
        logits = student(line)[0]
        if is_distilled:
            with torch.no_grad():
                wanted = teacher(line)[0].softmax(dim=1)
            total = total + (wanted * (wanted.log() - logits.log_softmax(dim=1))).sum()
        else:
            total = total + F.cross_entropy(logits, torch.tensor(target), label_smoothing=0.1, reduction="sum")
    return total


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("distilled", [DISTILLED, [True] * 5])
def test_both_kinds_of_lines_in_one_batch(packed: bool, distilled: list[bool]) -> None:
    student, other, pairs = make_model(), make_model(seed=3), make_pairs(distilled)
    expected = plain_loss(student, other, pairs)
    parameters = list(student.parameters())
    their_grads = torch.autograd.grad(expected, parameters)
    batch = whole(pairs, collate_for(student) if packed else collate)
    if packed and not isinstance(batch, PackedBatch):
        pytest.skip("there are no kernels here")
    found = batch_loss(student, batch, "float32", 0.1, Teacher(other))
    assert found.smoothed.item() == pytest.approx(expected.item(), rel=1e-5)
    assert found.num_tokens == sum(map(len, pairs.target))
    for mine, theirs in zip(torch.autograd.grad(found.smoothed, parameters), their_grads, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_untouched_student_has_nothing_to_learn(packed: bool, dtype: str) -> None:
    student = make_model()
    batch = whole(make_pairs([True] * 5), collate_for(student) if packed else collate)
    found = batch_loss(student, batch, dtype, 0.1, Teacher(copy.deepcopy(student)))
    assert found.smoothed.item() == pytest.approx(0.0, abs=1e-5)
    for gradient in torch.autograd.grad(found.smoothed, list(student.parameters())):
        assert gradient.abs().max().item() < 1e-5


def test_the_teacher_has_no_dropout_and_learns_nothing() -> None:
    student = make_model(dropout=0.3)
    other = copy.deepcopy(student)
    weights = [parameter.clone() for parameter in other.parameters()]
    teacher = Teacher(other)
    batch = whole(make_pairs(DISTILLED), collate_for(student))
    rows = [teacher.rows(batch, torch.float32).hidden for _ in range(2)]
    assert torch.equal(*rows)
    optimizer = make_optimizer(student, CONFIG)
    for step in (1, 2):
        update(student, optimizer, [batch], batch.num_tokens, step, CONFIG, None, teacher)
    assert student.training
    assert all(parameter.grad is None for parameter in other.parameters())
    assert all(torch.equal(now, before) for now, before in zip(other.parameters(), weights, strict=True))


@pytest.mark.parametrize("packed", [False, True])
def test_a_teacher_changes_nothing_where_no_line_is_distilled(packed: bool) -> None:
    """Not a bit: in weights after two updates, with dropout."""
    ends = []
    for teacher in (None, Teacher(make_model(seed=3))):
        model = make_model(dropout=0.2)
        batch = whole(make_pairs([False] * 5 if teacher else []), collate_for(model) if packed else collate)
        assert batch.distilled is None
        optimizer = make_optimizer(model, CONFIG)
        for step in (1, 2):
            torch.manual_seed(step)
            update(model, optimizer, [batch], batch.num_tokens, step, CONFIG, None, teacher)
        ends.append(list(model.parameters()))
    assert all(torch.equal(one, other) for one, other in zip(*ends, strict=True))


@pytest.mark.parametrize("max_tokens", [1, 8, 16])
def test_pieces_of_a_batch_have_the_whole_batchs_gradient(max_tokens: int) -> None:
    student, teacher, pairs = make_model(), Teacher(make_model(seed=3)), make_pairs(DISTILLED)
    grads = []
    for pieces in ([whole(pairs, collate)], list(pairs.pieces(max_tokens, collate))):
        student.zero_grad()
        for piece in pieces:
            batch_loss(student, piece, "float32", 0.1, teacher).smoothed.backward()  # type: ignore[no-untyped-call]
        grads.append([parameter.grad.clone() for parameter in student.parameters() if parameter.grad is not None])
    for one, many in zip(*grads, strict=True):
        assert torch.allclose(one, many, atol=1e-5)


def test_tokens_are_marked_by_their_lines() -> None:
    pairs = Pairs(source=[[5, 0]] * 3, target=[[6, 7, 0], [8, 0], [9, 6, 0]], distilled=[False, True, False])
    for marked in (whole(pairs, collate), *pairs.of_rows([2, 1]).pieces(None, collate)):
        assert marked.distilled is not None
    tokens = whole(pairs, collate).distilled
    assert tokens is not None
    assert tokens.distilled.tolist() == [3, 4]
    assert tokens.others.tolist() == [0, 1, 2, 5, 6, 7]
    kinds = [piece.distilled is not None for piece in pairs.pieces(1, collate)]
    assert kinds == [False, True, False]


def test_a_batch_takes_its_marks_to_another_device() -> None:
    batch = replace(collate([[5, 0]], [[6, 0]]), distilled=DistilledTokens.of(np.array([True, False])))
    moved = batch.to(torch.device("meta")).distilled
    assert moved is not None
    assert {moved.distilled.device.type, moved.others.device.type} == {"meta"}
