# mypy: disable-error-code=import-not-found
"""JoeyNMT: its model, batches, loss and optimizer, and the training step of its `TrainManager`."""

from types import SimpleNamespace

import torch
from joeynmt.batch import Batch
from joeynmt.builders import build_optimizer
from joeynmt.model import build_model
from joeynmt.vocabulary import Vocabulary
from torch import Tensor

from attendo.bench.trainers.padding import pad
from attendo.bench.trainers.serving import ADAM_BETAS, Job, PairBatch, serve, smoothing_entropy

UNK, PAD, BOS, EOS = range(4)
SHIFT = EOS
"""The offset added to every id, since JoeyNMT's own symbols come first, with `</s>` as the last of them."""


class JoeyNMTTrainer:
    """JoeyNMT's Transformer with normalisation after each sub-layer, as in the paper, and all embeddings shared.

    Args:
        job: the model to train and how.

    Raises:
        RuntimeError: bfloat16 is requested.
    """

    package = "joeynmt"

    def __init__(self, job: Job) -> None:
        if job.dtype != "float32":
            raise RuntimeError(f"JoeyNMT has no {job.dtype}: on a CPU it trains in float32, on a GPU in float16")
        self._job = job
        vocabulary = make_vocabulary(job.vocab_size)
        stack = {
            "type": "transformer",
            "num_layers": job.num_layers,
            "num_heads": job.num_heads,
            "embeddings": {"embedding_dim": job.d_model, "scale": True, "dropout": job.dropout},
            "hidden_size": job.d_model,
            "ff_size": job.d_ff,
            "dropout": job.dropout,
            "layer_norm": "post",
        }
        config = {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": dict(stack),
            "decoder": dict(stack),
        }
        self.model = build_model(config, src_vocab=vocabulary, trg_vocab=vocabulary).to(job.device).train()
        self.model.loss_function = ("crossentropy", job.label_smoothing)
        settings = {"optimizer": "adam", "adam_betas": ADAM_BETAS, "learning_rate": 0.0}
        self._optimizer = build_optimizer(settings, parameters=self.model.parameters())
        self._entropy = smoothing_entropy(job.label_smoothing, len(vocabulary) - 2)
        self.num_parameters = sum(parameter.numel() for parameter in self.model.parameters())

    def prepare(self, batch: PairBatch) -> Batch:
        """Converts a batch to JoeyNMT's format, with its masks."""
        shifted = PairBatch(
            source=[[i + SHIFT for i in row] for row in batch.source],
            # JoeyNMT splits the target into input and output itself.
            target=[[BOS, *(i + SHIFT for i in row)] for row in batch.target],
        )
        padded = pad(shifted, pad_id=PAD, start_id=BOS, device="cpu")
        return Batch(
            src=padded.src,
            src_length=padded.src_lengths,
            src_prompt_mask=None,
            trg=padded.tgt_out,
            trg_prompt_mask=None,
            indices=torch.arange(len(padded.src)),
            device=torch.device(self._job.device),
            pad_index=PAD,
            eos_index=EOS,
        )

    def step(self, batch: Batch, learning_rate: float, number: int) -> Tensor:
        """Makes an update as `TrainManager` does, without its log."""
        batch.sort_by_src_length()
        loss, _, _, _ = self.model(return_type="loss", **vars(batch))
        mean = batch.normalize(loss, normalization="tokens")
        mean.backward()
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        self._optimizer.step()
        self.model.zero_grad()
        # JoeyNMT minimises KL divergence; adding the entropy gives cross-entropy.
        detached: Tensor = mean.detach() + self._entropy
        return detached


def make_vocabulary(size: int) -> Vocabulary:
    """Returns a vocabulary of JoeyNMT's symbols, then a token for each id except `</s>`."""
    symbols = SimpleNamespace(
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        sep_token=None,
        unk_id=UNK,
        pad_id=PAD,
        bos_id=BOS,
        eos_id=EOS,
        lang_tags=[],
    )
    vocabulary = Vocabulary([], symbols)
    # Vocabulary's own method searches a list for each token it adds, which takes minutes.
    vocabulary._itos += [f"t{number}" for number in range(1, size)]
    vocabulary._stoi = {token: number for number, token in enumerate(vocabulary._itos)}
    return vocabulary


if __name__ == "__main__":
    serve(JoeyNMTTrainer)
