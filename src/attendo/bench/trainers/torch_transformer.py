"""torch's own `nn.Transformer`, with the paper's embeddings, positional encoding and shared matrix around it."""

import math
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attendo.bench.trainers.padding import PaddedBatch, pad
from attendo.bench.trainers.serving import ADAM_BETAS, ADAM_EPSILON, Job, PairBatch, serve


class TorchTransformer(nn.Module):
    """Embeddings, `nn.Transformer` and the projection before the softmax.

    Args:
        job: the model's shape; the matrix has one row more than the vocabulary, for the start token and the padding.
    """

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.embedding = nn.Embedding(job.vocab_size + 1, job.d_model)
        nn.init.normal_(self.embedding.weight, std=job.d_model**-0.5)
        self.transformer = nn.Transformer(
            job.d_model, job.num_heads, job.num_layers, job.num_layers, job.d_ff, job.dropout, batch_first=True
        )
        self.dropout = nn.Dropout(job.dropout)
        self.register_buffer("positions", sinusoids(job.max_len, job.d_model), persistent=False)
        causal = nn.Transformer.generate_square_subsequent_mask(job.max_len)
        self.register_buffer("causal", causal, persistent=False)

    def forward(self, batch: PaddedBatch, pad_id: int) -> Tensor:
        """Returns the logits, `(batch, tgt_len, vocab_size + 1)`."""
        # Without padding there is no mask, so that torch takes a faster attention.
        padding = batch.src == pad_id if batch.src_is_padded else None
        length = batch.tgt_in.shape[1]
        hidden = self.transformer(
            self._embed(batch.src),
            self._embed(batch.tgt_in),
            tgt_mask=cast(Tensor, self.causal)[:length, :length],
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return F.linear(hidden, self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        embedded = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return cast(Tensor, self.dropout(embedded + cast(Tensor, self.positions)[: ids.shape[1]]))


class TorchTrainer:
    """A plain training step as in torch's tutorials, made faster by fused Adam and autocast.

    Args:
        job: the model to train and how.
    """

    package = "torch"

    def __init__(self, job: Job) -> None:
        self._job = job
        self.model = TorchTransformer(job).to(job.device).train()
        self._optimizer = torch.optim.Adam(
            self.model.parameters(), lr=0.0, betas=ADAM_BETAS, eps=ADAM_EPSILON, fused=True
        )
        self.num_parameters = sum(parameter.numel() for parameter in self.model.parameters())

    def prepare(self, batch: PairBatch) -> PaddedBatch:
        """Pads a batch with the first id after the vocabulary, both as padding and as start token."""
        size = self._job.vocab_size
        return pad(batch, pad_id=size, start_id=size, device=self._job.device)

    def step(self, batch: PaddedBatch, learning_rate: float, number: int) -> Tensor:
        """Makes an update: forward pass, backward pass and Adam."""
        is_bfloat16 = self._job.dtype == "bfloat16"
        with torch.autocast(self._job.device, torch.bfloat16, enabled=is_bfloat16):
            logits = self.model(batch, self._job.vocab_size)
            loss = smoothed_loss(logits, batch.tgt_out, pad_id=self._job.vocab_size, eps=self._job.label_smoothing)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.step()
        return loss.detach()


def smoothed_loss(logits: Tensor, targets: Tensor, *, pad_id: int, eps: float) -> Tensor:
    """Returns the mean over target tokens of torch's cross-entropy with label smoothing, in float32."""
    flat = logits.view(-1, logits.shape[-1]).float()
    return F.cross_entropy(flat, targets.reshape(-1), ignore_index=pad_id, label_smoothing=eps)


def sinusoids(length: int, d_model: int) -> Tensor:
    """Returns the paper's table of positional encodings (Section 3.5), `(length, d_model)`."""
    positions = torch.arange(length)[:, None]
    rates = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000.0) / d_model))
    table = torch.zeros(length, d_model)
    table[:, 0::2], table[:, 1::2] = torch.sin(positions * rates), torch.cos(positions * rates)
    return table


if __name__ == "__main__":
    serve(TorchTrainer)
