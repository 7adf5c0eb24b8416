"""Runs a model's ONNX graphs in onnxruntime, with the ids of an attendo model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from attendo.interop.onnx import DECODER, DECODER_WITH_PAST, ENCODER
from attendo.model.batch import pad
from attendo.text.subwords.tokenization import EOS_ID

Arrays = dict[str, npt.NDArray[Any]]


class OnnxRuntime:
    """onnxruntime as an `interop.parity.Runtime`, which takes and returns ids.

    Args:
        folder: a folder from `interop.onnx.write_graphs`.
        start_id: id of the decoder's first input; that of the padding token if the model starts with the zero vector.
        tgt_vocab_size: number of target ids without the padding token.
        threads: number of processor threads.
    """

    def __init__(self, folder: Path, *, start_id: int, tgt_vocab_size: int, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._encoder, self._decoder, self._with_past = (
            onnxruntime.InferenceSession(str(folder / name), options, providers=["CPUExecutionProvider"])
            for name in (ENCODER, DECODER, DECODER_WITH_PAST)
        )
        self.name = f"onnxruntime {onnxruntime.__version__} (float32)"
        self._start_id, self._tgt_vocab_size = start_id, tgt_vocab_size

    def token_log_probs(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Scores all target positions at once, with the decoder without a past; see `Runtime`."""
        tgt_ids, tokens = (array.numpy() for array in pad(targets))
        shifted = np.concatenate((np.full_like(tgt_ids[:, :1], self._start_id), tgt_ids[:, :-1]), axis=1)
        logits = _run(self._decoder, self._first_inputs(sources, shifted))["logits"][:, :, : self._tgt_vocab_size]
        log_probs = torch.from_numpy(logits).log_softmax(-1).gather(2, torch.from_numpy(tgt_ids)[:, :, None])
        return [row[kept].tolist() for row, kept in zip(log_probs.squeeze(2), tokens, strict=True)]

    def greedy(self, sources: Sequence[Sequence[int]], max_len: int) -> list[list[int]]:
        """Translates step by step, the first without a past and the others with keys and values; see `Runtime`."""
        inputs = self._first_inputs(sources, np.full((len(sources), 1), self._start_id, dtype=np.int64))
        mask = inputs["encoder_attention_mask"]
        results = _run(self._decoder, inputs)
        cache = {name: value for name, value in results.items() if name != "logits"}
        rows: list[list[int]] = [[] for _ in sources]
        open_rows = set(range(len(sources)))
        while open_rows:
            chosen = results["logits"][:, -1].argmax(-1)
            for row in sorted(open_rows):
                if chosen[row] == EOS_ID or len(rows[row]) == max_len:
                    open_rows.discard(row)
                else:
                    rows[row].append(int(chosen[row]))
            past = {name.replace("present", "past_key_values"): value for name, value in cache.items()}
            inputs = {"encoder_attention_mask": mask, "input_ids": chosen[:, None].astype(np.int64), **past}
            results = _run(self._with_past, inputs)
            cache |= {name: value for name, value in results.items() if name != "logits"}
        return rows

    def _first_inputs(self, sources: Sequence[Sequence[int]], tgt_in_ids: npt.NDArray[np.int64]) -> Arrays:
        src_ids, tokens = (array.numpy() for array in pad(sources))
        mask = tokens.astype(np.int64)
        memory = _run(self._encoder, {"input_ids": src_ids, "attention_mask": mask})["last_hidden_state"]
        return {"input_ids": tgt_in_ids, "encoder_hidden_states": memory, "encoder_attention_mask": mask}


def _run(session: Any, inputs: Arrays) -> Arrays:
    """Runs a session and returns its outputs by name."""
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))
