"""A run's state beside its position and weights: Adam's moments and the random generators, as tensors."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attendo.errors import ModelError
from attendo.model.transformer import Transformer

_GENERATOR, _CUDA_GENERATOR = "generator.cpu", "generator.cuda"


def export_state(model: Transformer, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state by the names of the model's parameters, and the generators' states (uint8)."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    state = {
        f"adam.{key}.{names[parameter]}": value
        for parameter, values in optimizer.state.items()
        for key, value in values.items()
    }
    state[_GENERATOR] = torch.get_rng_state()
    if model.output_weight.is_cuda:
        state[_CUDA_GENERATOR] = torch.cuda.get_rng_state(model.output_weight.device)
    return state


def import_state(model: Transformer, optimizer: torch.optim.Optimizer, state: Mapping[str, Tensor], where: str) -> None:
    """Puts back what `export_state` gave.

    Args:
        model: with its weights, on its device.
        optimizer: new.
        state: the tensors.
        where: their file, for messages.

    Raises:
        ModelError: a tensor is missing or of another shape.
    """
    if any(key.startswith("adam.") for key in state):  # none before the first update
        for name, parameter in model.named_parameters():
            optimizer.state[parameter] = _moments(state, name, parameter, where)
    if _GENERATOR not in state:
        raise ModelError(f"{where}: the generator's state is missing; start anew in another folder")
    torch.set_rng_state(state[_GENERATOR])
    if _CUDA_GENERATOR in state and model.output_weight.is_cuda:
        torch.cuda.set_rng_state(state[_CUDA_GENERATOR], model.output_weight.device)


def _moments(state: Mapping[str, Tensor], name: str, parameter: Tensor, where: str) -> dict[str, Tensor]:
    keys = ("step", "exp_avg", "exp_avg_sq")
    found = {key: state[f"adam.{key}.{name}"] for key in keys if f"adam.{key}.{name}" in state}
    if len(found) < len(keys) or found["exp_avg"].shape != parameter.shape:
        raise ModelError(f"{where}: no fitting optimiser state for {name}; start anew in another folder")
    return {key: value.clone().to(parameter.device) for key, value in found.items()}
