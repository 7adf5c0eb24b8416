"""Runs Hugging Face's Marian with the ids of an attendo model, and compares its tokenizer with attendo's."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attendo.checkpoint.model_folder import LoadedModel
from attendo.interop.huggingface import EOS, PAD, UNK, quiet_transformers
from attendo.model.batch import pad
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID


class HuggingFaceRuntime:
    """Hugging Face as an `interop.parity.Runtime`, which takes and returns the ids of an attendo model.

    Args:
        folder: the folder of a `MarianMTModel`.
        source_ids: the folder's id of each of attendo's source ids, `(src_vocab_size,)`; None if they are the same.
        target_ids: the folder's id of each of attendo's target ids; None if they are the same. Log-probabilities are
            normalised over these alone, without the padding token, which Hugging Face never writes but includes.
        tgt_vocab_size: number of attendo's target ids, used if `target_ids` is None.
    """

    def __init__(
        self,
        folder: Path,
        *,
        tgt_vocab_size: int,
        source_ids: Sequence[int] | None = None,
        target_ids: Sequence[int] | None = None,
    ) -> None:
        import transformers

        with quiet_transformers():
            model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
                folder, local_files_only=True, dtype=torch.float32, trust_remote_code=False
            )
        self._model = model.eval()
        self.name = f"Hugging Face transformers {transformers.__version__} ({type(model).__name__} float32)"
        self._source_ids = None if source_ids is None else torch.tensor(source_ids)
        self._target_ids = torch.tensor(range(tgt_vocab_size) if target_ids is None else target_ids)
        self._ours = {int(their_id): number for number, their_id in enumerate(self._target_ids)}
        # Replaces the folder's settings, which would apply to what a call does not set, such as a forced </s>.
        model.generation_config = self._greedy_settings()

    @torch.no_grad()
    def token_log_probs(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Scores targets by the logits of all positions at once; see `Runtime`."""
        tgt_ids, tokens = pad(targets)
        their_ids = self._target_ids[tgt_ids]
        start = torch.full_like(their_ids[:, :1], self._model.config.decoder_start_token_id)
        logits = self._model(
            **self._inputs(sources), decoder_input_ids=torch.cat((start, their_ids[:, :-1]), dim=1)
        ).logits
        log_probs = logits[:, :, self._target_ids].log_softmax(-1).gather(2, tgt_ids[:, :, None]).squeeze(2)
        return [row[kept].tolist() for row, kept in zip(log_probs, tokens, strict=True)]

    @torch.no_grad()
    def greedy(self, sources: Sequence[Sequence[int]], max_len: int) -> list[list[int]]:
        """Translates with Hugging Face's `generate`, a beam of 1 and no limits other than `max_len`; see `Runtime`."""
        with quiet_transformers():
            outputs = self._model.generate(**self._inputs(sources), max_new_tokens=max_len)
        eos_id = int(self._target_ids[EOS_ID])
        rows = [row[1:].tolist() for row in outputs]
        return [[self._ours[number] for number in (row[: row.index(eos_id)] if eos_id in row else row)] for row in rows]

    def _inputs(self, sources: Sequence[Sequence[int]]) -> dict[str, Tensor]:
        src_ids, tokens = pad(sources)
        return {
            "input_ids": src_ids if self._source_ids is None else self._source_ids[src_ids],
            "attention_mask": tokens.long(),
        }

    def _greedy_settings(self) -> Any:
        from transformers import GenerationConfig

        config, num_logits = self._model.config, int(self._model.final_logits_bias.shape[-1])
        return GenerationConfig(
            num_beams=1,
            do_sample=False,
            eos_token_id=int(self._target_ids[EOS_ID]),
            pad_token_id=config.pad_token_id,
            decoder_start_token_id=config.decoder_start_token_id,
            suppress_tokens=[number for number in range(num_logits) if number not in self._ours] or None,
        )


def text_differences(
    folder: Path,
    model: LoadedModel,
    lines: Sequence[str],
    written: Sequence[Sequence[int]],
    *,
    source_ids: Sequence[int] | None = None,
    target_ids: Sequence[int] | None = None,
) -> list[str]:
    """Returns the texts that the folder's tokenizer treats differently from the model's.

    Args:
        folder: the folder of a `MarianTokenizer`.
        model: the model whose tokenizers are the reference.
        lines: source text to encode.
        written: target ids to decode. White space at the ends of their text is ignored, as Hugging Face strips it.
        source_ids: the folder's id of each of attendo's source ids; None if they are the same.
        target_ids: the folder's id of each of attendo's target ids; None if they are the same.

    Returns:
        The source lines with other ids and the target texts that differ, except those with an unknown character or with
        text that Hugging Face takes for a control symbol.
    """
    from transformers import AutoTokenizer

    with quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    differing = []
    for line, ids in zip(lines, model.source_tokenizer.encode_batch(lines), strict=True):
        expected_ids = [number if source_ids is None else source_ids[number] for number in ids]
        if UNK_ID not in ids and not _has_symbol(line) and expected_ids != tokenizer(line)["input_ids"]:
            differing.append(line)
    for output in written:
        text = model.target_tokenizer.decode(output)
        their_ids = [number if target_ids is None else target_ids[number] for number in output]
        if UNK_ID not in output and not _has_symbol(text) and text.strip() != tokenizer.decode(their_ids).strip():
            differing.append(text)
    return differing


def _has_symbol(text: str) -> bool:
    return text.startswith(">>") or any(symbol in text for symbol in (EOS, UNK, PAD, "\u2581"))
