"""One of several processes that make updates together; `test_replica.py` compares them with one process' arithmetic.

python replica_worker.py OUTPUT [layers]
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

from attendo.model.config import EncoderLayerType, ModelConfig
from attendo.model.transformer import Transformer
from attendo.training.batches import Pairs
from attendo.training.config import TrainingConfig
from attendo.training.loader import idle_piece, share
from attendo.training.passes.forward import collate_for
from attendo.training.processes import Processes, connected
from attendo.training.replica import replica_of
from attendo.training.teacher import Teacher
from attendo.training.update import make_optimizer, update

SOURCE = [[4, 9, 3, 0], [7, 0], [5, 11, 18, 6, 2, 3, 0], [8, 8, 0], [16, 2, 12, 10, 0], [3, 17, 0], [13, 0]]
TARGET = [[6, 2, 0], [15, 4, 9, 0], [18, 3, 3, 7, 0], [10, 0], [2, 14, 5, 11, 8, 12, 0], [9, 0], [17, 16, 2, 0]]
SHAPE = ModelConfig(d_model=16, d_ff=24, num_layers=2, num_heads=4, dropout=0.0)

CASES = {
    "whole": (7, None, None, 0.0),
    "pieces": (7, 8, None, 0.0),
    "fewer pairs than processes": (1, None, None, 0.0),
    "clipped": (7, 8, 0.01, 0.0),
    "distilled": (7, 8, None, 0.0),
    "read twice": (7, 8, None, 5.0),
}
"""Pairs, most tokens of a piece, longest gradient, alpha of R-Drop, which changes nothing without dropout; of the case
`distilled` every other pair is distilled."""


class Reductions(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Counts the sums over processes that are asked for in its block."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs the operation."""
        self.count += func.namespace == "c10d" and "reduce" in str(func)
        return func(*args, **(kwargs or {}))


def shape_of(encoder: EncoderLayerType) -> ModelConfig:
    """A model of another layer type, its decoder restricted too."""
    return replace(SHAPE, encoder_layer=encoder, decoder_layer="restricted-self-attention", window=3)


def make_model(shape: ModelConfig = SHAPE) -> Transformer:
    """The same in all processes."""
    torch.manual_seed(2)
    return Transformer(shape, 19, 19).train()


def make_teacher() -> Transformer:
    """Another one than `make_model`, the same in all processes."""
    torch.manual_seed(3)
    return Transformer(SHAPE, 19, 19)


def is_distilled(case: str) -> list[bool]:
    """Which pairs of a case are distilled."""
    return [case == "distilled" and number % 2 == 0 for number in range(CASES[case][0])]


def main() -> None:
    """Makes two updates in each case, with plain gradient descent, and writes what came of them."""
    torch.set_num_threads(1)
    output = Path(sys.argv[1])
    with connected() as processes:
        for sharding in ("none", "full"):
            if "layers" in sys.argv[2:]:
                for encoder in get_args(EncoderLayerType):
                    found = run_case(processes, sharding, "pieces", shape_of(encoder))
                    if processes.is_main:
                        save_file(found, output / f"{sharding} {encoder}.safetensors")
                continue
            for case in CASES:
                found = run_case(processes, sharding, case)
                if processes.is_main:
                    save_file(found, output / f"{sharding} {case}.safetensors")
            found = {"losses": torch.tensor(bfloat16_losses(processes, sharding))}
            if processes.is_main:
                save_file(found, output / f"{sharding} bfloat16.safetensors")


def run_case(processes: Processes, sharding: str, case: str, shape: ModelConfig = SHAPE) -> dict[str, Tensor]:
    """Losses, numbers of reductions, gradients of the first update and weights behind the second."""
    size, max_tokens, longest, r_drop = CASES[case]
    config = TrainingConfig(
        sharding="full" if sharding == "full" else "none", max_gradient_norm=longest, warmup_steps=10, r_drop=r_drop
    )
    model = make_model(shape)
    teacher = Teacher(make_teacher()) if any(is_distilled(case)) else None
    replica = replica_of(model, config, processes, torch.device("cpu"), teacher)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    collate = collate_for(model)
    pairs = Pairs(source=SOURCE[:size], target=TARGET[:size], distilled=is_distilled(case))
    own = share(pairs, processes.rank, processes.size)
    pieces = list(own.pieces(max_tokens, collate)) if own.source else []
    (most,) = processes.largest(max(1, len(pieces)))
    pieces += [idle_piece(collate)] * (int(most) - len(pieces))
    num_tokens = sum(map(len, TARGET[:size]))
    found: dict[str, Tensor] = {"num_pieces": torch.tensor(int(most))}
    for step in (1, 2):
        with Reductions() as reductions:  # type: ignore[no-untyped-call]
            result = update(model, optimizer, pieces, num_tokens, step, config, replica.accumulate)
        loss, tokens = processes.sums(float(result.smoothed), result.num_tokens)
        assert tokens == num_tokens
        found[f"loss.{step}"] = torch.tensor(loss / num_tokens, dtype=torch.float64)
        found[f"reductions.{step}"] = torch.tensor(reductions.count)
        if step == 1:
            for name, parameter in model.named_parameters():
                gradient = parameter.grad
                assert gradient is not None
                found[f"gradient.{name}"] = (
                    gradient.full_tensor() if isinstance(gradient, DTensor) else gradient.clone()
                )
    return found | {f"weight.{name}": value.clone() for name, value in replica.full_weights().items()}


def bfloat16_losses(processes: Processes, sharding: str) -> list[float]:
    """The mean losses of three updates with Adam and products in bfloat16."""
    config = TrainingConfig(sharding="full" if sharding == "full" else "none", dtype="bfloat16", warmup_steps=100)
    model = make_model()
    replica = replica_of(model, config, processes, torch.device("cpu"))
    optimizer = make_optimizer(model, config)
    own = share(Pairs(source=SOURCE, target=TARGET), processes.rank, processes.size)
    num_tokens = sum(map(len, TARGET))
    losses = []
    for step in (1, 2, 3):
        pieces = own.pieces(None, collate_for(model))
        result = update(model, optimizer, pieces, num_tokens, step, config, replica.accumulate)
        losses.append(processes.sums(float(result.smoothed))[0] / num_tokens)
    return losses


if __name__ == "__main__":
    main()
