"""Hugging Face's MarianMTModel, the Transformer of OPUS-MT, as `transformers` builds it, with fused attention."""

import torch
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from attendo.bench.trainers.padding import PaddedBatch, pad
from attendo.bench.trainers.serving import ADAM_BETAS, ADAM_EPSILON, Job, PairBatch, serve
from attendo.bench.trainers.torch_transformer import smoothed_loss


class HuggingFaceTrainer:
    """Marian's forward pass with torch's cross-entropy, which is faster than the `LabelSmoother` of `transformers`.

    Args:
        job: the model to train and how.
    """

    package = "transformers"

    def __init__(self, job: Job) -> None:
        self._job = job
        config = MarianConfig(
            vocab_size=job.vocab_size + 1,
            d_model=job.d_model,
            encoder_layers=job.num_layers,
            decoder_layers=job.num_layers,
            encoder_attention_heads=job.num_heads,
            decoder_attention_heads=job.num_heads,
            encoder_ffn_dim=job.d_ff,
            decoder_ffn_dim=job.d_ff,
            dropout=job.dropout,
            activation_function="relu",
            scale_embedding=True,
            share_encoder_decoder_embeddings=True,
            max_position_embeddings=job.max_len,
            eos_token_id=0,
            pad_token_id=job.vocab_size,
            decoder_start_token_id=job.vocab_size,
            use_cache=False,
        )
        self.model = MarianMTModel(config).to(job.device).train()
        self._optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=0.0, betas=ADAM_BETAS, eps=ADAM_EPSILON, weight_decay=0.0, fused=True
        )
        self.num_parameters = sum(parameter.numel() for parameter in self.model.parameters())

    def prepare(self, batch: PairBatch) -> PaddedBatch:
        """Pads a batch with the id that Marian uses both as padding and as start token."""
        size = self._job.vocab_size
        return pad(batch, pad_id=size, start_id=size, device=self._job.device)

    def step(self, batch: PaddedBatch, learning_rate: float, number: int) -> Tensor:
        """Makes an update: forward pass, backward pass and Adam."""
        pad_id = self._job.vocab_size
        mask = (batch.src != pad_id).long() if batch.src_is_padded else None
        with torch.autocast(self._job.device, torch.bfloat16, enabled=self._job.dtype == "bfloat16"):
            logits = self.model(input_ids=batch.src, attention_mask=mask, decoder_input_ids=batch.tgt_in).logits
            loss = smoothed_loss(logits, batch.tgt_out, pad_id=pad_id, eps=self._job.label_smoothing)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.step()
        return loss.detach()


if __name__ == "__main__":
    serve(HuggingFaceTrainer)
