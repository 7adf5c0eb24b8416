# mypy: disable-error-code=import-not-found
"""eole: its model, loss, statistics and optimizer, and the training step of its `BatchProcessor`."""

from __future__ import annotations

from typing import Any

import pyonmttok
from eole.config.run import TrainConfig
from eole.models.model import get_model_class
from eole.utils.loss import LossCompute
from eole.utils.misc import get_autocast
from eole.utils.optimizers import Optimizer
from torch import Tensor

from attendo.bench.trainers.padding import pad
from attendo.bench.trainers.serving import ADAM_BETAS, ADAM_EPSILON, Job, PairBatch, serve

UNK, PAD, BOS, EOS = range(4)
SHIFT = EOS
"""The offset added to every id, since eole's own symbols come first, with `</s>` as the last of them."""
SYMBOLS = {"unk_token": "<unk>", "pad_token": "<blank>", "bos_token": "<s>", "eos_token": "</s>"}


class EoleTrainer:
    """eole's Transformer, which normalises before each sub-layer, with all embeddings shared.

    Args:
        job: the model to train and how; bfloat16 is eole's mixed precision.
    """

    package = "eole"

    def __init__(self, job: Job) -> None:
        self._job = job
        tokens = [f"t{number}" for number in range(1, job.vocab_size)]
        vocabulary = pyonmttok.build_vocab_from_tokens(tokens, special_tokens=list(SYMBOLS.values()))
        vocabularies = {"src": vocabulary, "tgt": vocabulary, "specials": SYMBOLS, "decoder_start_token": "<s>"}
        config = make_config(job)
        self.model = get_model_class(config.model).for_training(config.model, vocabularies, config.training).train()
        self._loss = LossCompute.from_config(config, self.model, vocabularies)
        self._optimizer = Optimizer.from_config(self.model, config)
        self.num_parameters = sum(parameter.numel() for parameter in self.model.parameters())

    def prepare(self, batch: PairBatch) -> dict[str, Any]:
        """Converts a batch to eole's format."""
        shifted = PairBatch(
            source=[[i + SHIFT for i in row] for row in batch.source],
            # eole splits the target into input and output itself.
            target=[[BOS, *(i + SHIFT for i in row)] for row in batch.target],
        )
        padded = pad(shifted, pad_id=PAD, start_id=BOS, device=self._job.device)
        size = len(padded.src)
        return {
            "src": padded.src,
            "srclen": padded.src_lengths,
            "tgt": padded.tgt_out,
            "images": None,
            "prefix_len": None,
            "cid": ["corpus"] * size,
            "cid_line_number": list(range(size)),
            "num_tokens": batch.num_tokens,
        }

    def step(self, batch: dict[str, Any], learning_rate: float, number: int) -> Tensor:
        """Makes an update as eole does, without its statistics."""
        self._optimizer._learning_rate = learning_rate
        with get_autocast(enabled=self._optimizer.amp):
            output = self.model(
                batch["src"], batch["tgt"], batch["srclen"], with_align=False, images=None, prefix_len=None
            )
            hidden, attentions, estimate = output
            loss, _, _ = self._loss(batch, hidden, attentions, estim=estimate, mtp_outputs=output.mtp_outputs)
        mean: Tensor = loss / batch["num_tokens"]
        self._optimizer.backward(mean)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return mean.detach()


def make_config(job: Job) -> TrainConfig:
    """Returns the configuration of `eole train`."""
    return TrainConfig(
        src_vocab="unused",
        tgt_vocab="unused",
        share_vocab=True,
        data={},
        model={
            "architecture": "transformer",
            "layers": job.num_layers,
            "hidden_size": job.d_model,
            "heads": job.num_heads,
            "transformer_ff": job.d_ff,
            "add_ffnbias": True,
            "share_embeddings": True,
            "share_decoder_embeddings": True,
            "embeddings": {"word_vec_size": job.d_model, "position_encoding_type": "SinusoidalInterleaved"},
        },
        training={
            "optim": "adam",
            "adam_beta1": ADAM_BETAS[0],
            "adam_beta2": ADAM_BETAS[1],
            "adam_eps": ADAM_EPSILON,
            "learning_rate": 0.0,
            "decay_method": "none",
            "max_grad_norm": 0.0,
            "label_smoothing": job.label_smoothing,
            "dropout": [job.dropout],
            "attention_dropout": [0.0],
            "param_init_method": "xavier_uniform",
            "compute_dtype": "bf16" if job.dtype == "bfloat16" else "fp32",
            "gpu_ranks": [0] if job.device == "cuda" else [],
        },
    )


if __name__ == "__main__":
    serve(EoleTrainer)
