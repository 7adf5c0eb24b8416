# mypy: disable-error-code=import-not-found
"""OpenNMT-py: its model, loss, statistics and optimizer, and the training step of its `Trainer`."""

from __future__ import annotations

import argparse

import pyonmttok
import torch
from onmt.constants import DefaultTokens
from onmt.model_builder import build_model
from onmt.opts import train_opts
from onmt.utils.loss import LossCompute
from onmt.utils.optimizers import Optimizer
from onmt.utils.parse import ArgumentParser
from torch import Tensor

from attendo.bench.trainers.padding import pad
from attendo.bench.trainers.serving import ADAM_BETAS, Job, PairBatch, serve

UNK, PAD, BOS, EOS = range(4)
SHIFT = EOS
"""The offset added to every id, since OpenNMT's own symbols come first, with `</s>` as the last of them."""


class OpenNMTTrainer:
    """OpenNMT-py's Transformer, which normalises before each sub-layer, with all embeddings shared.

    Args:
        job: the model to train and how.

    Raises:
        RuntimeError: bfloat16 is requested.
    """

    package = "OpenNMT-py"

    def __init__(self, job: Job) -> None:
        if job.dtype != "float32":
            raise RuntimeError(f"OpenNMT-py has no {job.dtype}: it trains in float32, or on a GPU in float16")
        self._job = job
        options = make_options(job)
        symbols = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
        tokens = [f"t{number}" for number in range(1, job.vocab_size)]
        vocabulary = pyonmttok.build_vocab_from_tokens(tokens, special_tokens=symbols)
        vocabularies = {"src": vocabulary, "tgt": vocabulary, "decoder_start_token": DefaultTokens.BOS}
        device_number = 0 if job.device == "cuda" else -1
        self.model = build_model(options, options, vocabularies, None, device_number).train()
        self._loss = LossCompute.from_opts(options, self.model, vocabulary)
        self._optimizer = Optimizer.from_opt(self.model, options)
        self.num_parameters = sum(parameter.numel() for parameter in self.model.parameters())

    def prepare(self, batch: PairBatch) -> dict[str, Tensor]:
        """Converts a batch to OpenNMT's format, whose last axis is for word features."""
        shifted = PairBatch(
            source=[[i + SHIFT for i in row] for row in batch.source],
            # OpenNMT splits the target into input and output itself.
            target=[[BOS, *(i + SHIFT for i in row)] for row in batch.target],
        )
        padded = pad(shifted, pad_id=PAD, start_id=BOS, device=self._job.device)
        return {
            "src": padded.src[:, :, None],
            "srclen": padded.src_lengths,
            "tgt": padded.tgt_out[:, :, None],
            "num_tokens": torch.tensor(batch.num_tokens),
        }

    def step(self, batch: dict[str, Tensor], learning_rate: float, number: int) -> Tensor:
        """Makes an update as `Trainer` does, without its statistics."""
        self._optimizer._learning_rate = learning_rate
        self._optimizer.zero_grad(set_to_none=True)
        output, attentions = self.model(batch["src"], batch["tgt"], batch["srclen"], bptt=False, with_align=False)
        loss, _ = self._loss(batch, output, attentions, trunc_start=0, trunc_size=batch["tgt"].size(1))
        mean: Tensor = loss / int(batch["num_tokens"])
        self._optimizer.backward(mean)
        self._optimizer.step()
        return mean.detach()


def make_options(job: Job) -> argparse.Namespace:
    """Returns the options of `onmt_train`."""
    parser = ArgumentParser(conflict_handler="resolve")
    train_opts(parser)
    values = {
        "data": "{}",
        "src_vocab": "unused",
        "tgt_vocab": "unused",
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "layers": job.num_layers,
        "hidden_size": job.d_model,
        "word_vec_size": job.d_model,
        "transformer_ff": job.d_ff,
        "heads": job.num_heads,
        "dropout": job.dropout,
        "attention_dropout": 0.0,
        "label_smoothing": job.label_smoothing,
        "param_init": 0.0,
        "optim": "adam",
        "adam_beta1": ADAM_BETAS[0],
        "adam_beta2": ADAM_BETAS[1],
        "learning_rate": 0.0,
        "decay_method": "none",
        "max_grad_norm": 0.0,
    }
    switches = ["position_encoding", "share_vocab", "share_embeddings", "share_decoder_embeddings"]
    if job.device == "cuda":
        switches.append("gpu_ranks=0")
    arguments = [f"--{name}={value}" for name, value in values.items()]
    options: argparse.Namespace = parser.parse_args(
        [*arguments, "--param_init_glorot", *(f"--{name}" for name in switches)]
    )
    ArgumentParser.update_model_opts(options)
    return options


if __name__ == "__main__":
    serve(OpenNMTTrainer)
