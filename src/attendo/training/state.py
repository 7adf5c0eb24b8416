"""A run's state besides its position and weights: Adam's moments, as tensors.

Dropout has no state: its random numbers follow from the seed and the step (`training.loop`).
"""

import torch
from torch import Tensor

from attendo.checkpoint.run_checkpoints import TRAINING_PREFIX
from attendo.model.transformer import Transformer


def export_state(model: Transformer, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state by the names of the model's parameters; empty before the first update.

    Returns:
        The tensors themselves, not copies; for a sharded model, this process' part of each.
    """
    names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    return {
        f"{TRAINING_PREFIX}{key}.{names[parameter]}": value
        for parameter, values in optimizer.state.items()
        for key, value in values.items()
    }


def blank_state(model: Transformer, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Gives a new optimiser a state of zeros, into which a saved state can be read.

    Args:
        model: the model on its device, already sharded if required.
        optimizer: an optimiser from `make_optimizer`, without a state.

    Returns:
        As `export_state`.
    """
    for parameter in (parameter for group in optimizer.param_groups for parameter in group["params"]):
        optimizer.state[parameter] = {
            "step": torch.zeros((), device=parameter.device),
            "exp_avg": torch.zeros_like(parameter, requires_grad=False),
            "exp_avg_sq": torch.zeros_like(parameter, requires_grad=False),
        }
    return export_state(model, optimizer)
