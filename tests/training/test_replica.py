"""Several real processes make the update that one would: losses, gradients, weights; copied (DDP) and sharded (FSDP2).

What is expected comes from torch's own `cross_entropy` over the whole batch, in this one process.
"""

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import get_args

import pytest
import torch
from safetensors.torch import load_file
from tests.training.replica_worker import CASES, SHAPE, SOURCE, TARGET, is_distilled, make_model, make_teacher, shape_of
from torch import Tensor
from torch.nn import functional as F

from attendo.model.batch import collate
from attendo.model.config import EncoderLayerType, ModelConfig
from attendo.training.config import TrainingConfig
from attendo.training.passes.forward import collate_for
from attendo.training.update import batch_loss, make_optimizer


@pytest.fixture(scope="module", params=[2, pytest.param(4, marks=pytest.mark.slow)])
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_together: Callable[..., None]
) -> Path:
    """What so many processes found in each case."""
    output = tmp_path_factory.mktemp("found")
    run_together(request.param, Path(__file__).with_name("replica_worker.py"), output)
    return output


def expected(case: str, shape: ModelConfig = SHAPE) -> dict[str, Tensor]:
    """Two steps of gradient descent, written out."""
    size, _, longest, _ = CASES[case]
    model, batch = make_model(shape), collate(SOURCE[:size], TARGET[:size])
    distilled = torch.tensor(is_distilled(case)).repeat_interleave(torch.tensor([len(row) for row in TARGET[:size]]))
    taught = make_teacher().eval()(batch)[batch.tgt_tokens].softmax(dim=1).detach()
    values: dict[str, Tensor] = {}
    for step in (1, 2):
        model.zero_grad()
        logits, right = model(batch)[batch.tgt_tokens], batch.tgt_ids[batch.tgt_tokens]
        losses = F.cross_entropy(logits, right, label_smoothing=0.1, reduction="none")
        loss = torch.where(distilled, F.kl_div(logits.log_softmax(dim=1), taught, reduction="none").sum(dim=1), losses)
        loss = loss.mean()
        loss.backward()  # type: ignore[no-untyped-call]
        values[f"loss.{step}"] = loss.detach()
        gradients = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}
        norm = math.sqrt(sum(float((gradient.double() ** 2).sum()) for gradient in gradients.values()))
        factor = 1.0 if longest is None else longest / norm
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if step == 1:
                    values[f"gradient.{name}"] = factor * gradients[name]
                parameter.sub_(16**-0.5 * step * 10**-1.5 * factor * gradients[name])
    return values | {f"weight.{name}": parameter.detach() for name, parameter in model.named_parameters()}


@pytest.mark.parametrize("sharding", ["none", "full"])
@pytest.mark.parametrize("case", CASES)
def test_many_processes_make_the_update_of_one(found: Path, sharding: str, case: str) -> None:
    theirs, plain = load_file(found / f"{sharding} {case}.safetensors"), expected(case)
    for name, value in plain.items():
        difference = (theirs[name].double() - value.double()).norm() / value.double().norm()
        assert difference < 1e-5, name


@pytest.mark.slow
def test_so_they_do_with_every_layer_type(tmp_path: Path, run_together: Callable[..., None]) -> None:
    run_together(2, Path(__file__).with_name("replica_worker.py"), tmp_path, "layers")
    for sharding, encoder in product(("none", "full"), get_args(EncoderLayerType)):
        theirs = load_file(tmp_path / f"{sharding} {encoder}.safetensors")
        for name, value in expected("pieces", shape_of(encoder)).items():
            difference = (theirs[name].double() - value.double()).norm() / value.double().norm().clamp(min=1e-30)
            assert difference < 1e-5, f"{sharding} {encoder} {name}"


@pytest.mark.parametrize("sharding", ["none", "full"])
def test_pieces_are_summed_once_an_update(found: Path, sharding: str) -> None:
    whole, pieces = (load_file(found / f"{sharding} {case}.safetensors") for case in ("whole", "pieces"))
    assert (int(whole["num_pieces"]), int(pieces["num_pieces"]) > 1) == (1, True)
    # The second update: in the first one DDP may still be finding out how to group its sums.
    assert int(pieces["reductions.2"]) == int(whole["reductions.2"]) > 0


@pytest.mark.parametrize("sharding", ["none", "full"])
def test_bfloat16_is_near_one_process(found: Path, sharding: str) -> None:
    config = TrainingConfig(dtype="bfloat16", warmup_steps=100)
    model = make_model()
    optimizer = make_optimizer(model, config)
    batch = collate_for(model)(SOURCE, TARGET)
    losses = load_file(found / f"{sharding} bfloat16.safetensors")["losses"]
    for step, theirs in enumerate(losses.tolist(), start=1):
        model.zero_grad()
        loss = batch_loss(model, batch, "bfloat16", 0.1).smoothed / batch.num_tokens
        loss.backward()  # type: ignore[no-untyped-call]
        for group in optimizer.param_groups:
            group["lr"] = 16**-0.5 * step * 100**-1.5
        optimizer.step()
        assert theirs == pytest.approx(loss.item(), rel=1e-2)
