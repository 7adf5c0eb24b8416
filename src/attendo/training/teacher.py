"""The model whose probabilities another one learns: frozen, without dropout, beside the model that is trained."""

import torch

from attendo.model.transformer import Transformer
from attendo.training.passes.distillation import TeacherRows
from attendo.training.passes.forward import TrainingBatch, target_rows


class Teacher:
    """A model that is not trained.

    It is no module, so that the model that is trained does not count its weights among its own, whatever holds both.

    Args:
        model: on the device of the model that is trained, of the same shape and vocabulary, and nobody else's: it is
            frozen here.
    """

    def __init__(self, model: Transformer) -> None:
        self._model = model.eval().requires_grad_(False)

    def rows(self, batch: TrainingBatch, dtype: torch.dtype) -> TeacherRows:
        """What it computes for every target token of a batch, given the target's tokens before it.

        Args:
            batch: as the model that is trained takes it.
            dtype: the type of the matrix products.
        """
        with torch.no_grad():
            hidden, _ = target_rows(self._model, batch, dtype)
        return TeacherRows(hidden, self._model.output_weight, self._model.output_bias)
