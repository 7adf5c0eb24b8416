"""The model whose probabilities another one learns: frozen, without dropout, next to the trained model."""

import torch

from attendo.model.transformer import Transformer
from attendo.training.passes.distillation import TeacherRows
from attendo.training.passes.forward import TrainingBatch, target_rows


class Teacher:
    """A model that is not trained.

    It is not a module, so that its weights never count as those of the trained model, whatever object holds both.

    Args:
        model: a model on the device of the trained model, of the same shape and vocabulary, and not shared: it is
            frozen here.
    """

    def __init__(self, model: Transformer) -> None:
        self._model = model.eval().requires_grad_(False)

    def rows(self, batch: TrainingBatch, dtype: torch.dtype) -> TeacherRows:
        """The teacher's output for every target token of a batch, given the preceding target tokens.

        Args:
            batch: in the form of the trained model.
            dtype: the type of the matrix products.
        """
        with torch.no_grad():
            hidden, _ = target_rows(self._model, batch, dtype)
        return TeacherRows(hidden, self._model.output_weight, self._model.output_bias)
