"""attendo: the update that `attendo train` makes, on pairs in the format of the training loop."""

import numpy as np
import torch
from torch import Tensor

from attendo.bench.trainers.serving import (
    ADAM_BETAS,
    ADAM_EPSILON,
    PEAK_LEARNING_RATE,
    WARMUP_STEPS,
    Job,
    PairBatch,
    serve,
)
from attendo.model.config import ModelConfig
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.training.batches import Pairs
from attendo.training.config import TrainingConfig
from attendo.training.memory import kept_memory
from attendo.training.passes.forward import collate_for
from attendo.training.update import make_optimizer, update


class OwnTrainer:
    """attendo's training path; making batches from the pairs is part of the step.

    Args:
        job: the model to train and how.
    """

    package = "attendo"

    def __init__(self, job: Job) -> None:
        config = ModelConfig(
            d_model=job.d_model,
            d_ff=job.d_ff,
            num_layers=job.num_layers,
            num_heads=job.num_heads,
            dropout=job.dropout,
        )
        self._device = torch.device(job.device)
        self.model = Transformer(config, job.vocab_size, job.vocab_size).to(self._device).train()
        self._config = TrainingConfig(
            peak_learning_rate=PEAK_LEARNING_RATE,
            warmup_steps=WARMUP_STEPS,
            adam_beta1=ADAM_BETAS[0],
            adam_beta2=ADAM_BETAS[1],
            adam_epsilon=ADAM_EPSILON,
            label_smoothing=job.label_smoothing,
            dtype="bfloat16" if job.dtype == "bfloat16" else "float32",
        )
        self._optimizer = make_optimizer(self.model, self._config)
        self.num_parameters = self.model.num_parameters

    def prepare(self, batch: PairBatch) -> Pairs:
        """Converts a batch to int32 ids, as shards hold them."""
        source, target = ([np.array(row, dtype=np.int32) for row in rows] for rows in (batch.source, batch.target))
        return Pairs(source=source, target=target)

    def step(self, batch: Pairs, learning_rate: float, number: int) -> Tensor:
        """Makes an update; its learning rate is computed by attendo's own schedule with the same settings."""
        num_tokens = sum(len(row) for row in batch.target)
        pieces = batch.pieces(None, collate_for(self.model))
        with fast_float32_products(self._device):
            result = update(self.model, self._optimizer, pieces, num_tokens, number, self._config)
        return result.smoothed / num_tokens


if __name__ == "__main__":
    with kept_memory():
        serve(OwnTrainer)
