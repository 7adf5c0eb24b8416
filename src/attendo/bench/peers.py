"""The peers of a bench, all with the same weights: CTranslate2 in every thread layout, and Hugging Face's Marian."""

import importlib.util
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from attendo.bench.systems import TimedTranslation, torch_threads
from attendo.bench.work import Sentence, Work
from attendo.decoding.backends.native_model import Dtype
from attendo.interop.ctranslate2 import EOS, UNK, save, to_spec
from attendo.interop.huggingface import padding_id, to_marian
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID

PACKAGES = {"ctranslate2": "ctranslate2", "huggingface": "transformers"}
"""The package that each peer needs."""


def missing_peers(names: Sequence[str]) -> dict[str, str]:
    """Returns the requested peers that are not installed, each with a hint on how to install it."""
    return {
        name: f'{name} is not installed: pip install "attendo[export]" (or {PACKAGES[name]} alone)'
        for name in names
        if importlib.util.find_spec(PACKAGES[name]) is None
    }


def thread_layouts(threads: int) -> list[tuple[int, int]]:
    """Returns every division of the threads into workers of equal size, as (workers, threads per worker)."""
    return [(workers, threads // workers) for workers in range(1, threads + 1) if threads % workers == 0]


class CTranslate2System:
    """CTranslate2 with one thread layout.

    Args:
        work: the model and sentences to translate.
        dtype: type of the matrix products.
        folder: a converted model of that type; it may be deleted once this object exists.
        layout: number of workers (`inter_threads`) and of threads per worker (`intra_threads`).
        device: the device to translate on.
    """

    name = "ctranslate2"

    def __init__(
        self, work: Work, dtype: Dtype, *, folder: Path, layout: tuple[int, int], device: torch.device
    ) -> None:
        import ctranslate2

        workers, threads = layout
        self._translator = ctranslate2.Translator(
            str(folder), device=device.type, compute_type=dtype, inter_threads=workers, intra_threads=threads
        )
        self.dtype: Dtype = dtype
        self.kernel = str(self._translator.compute_type)
        self._work, self._layout = work, f"{workers}x{threads}"
        self._source_tokens = _tokens(work.model.src_vocab_size)
        self._target_ids = {token: number for number, token in enumerate(_tokens(work.model.tgt_vocab_size))}

    def layout(self, sentences: int, batch: int) -> str:
        """Returns the layout that the system was made with."""
        return self._layout

    def translate(self, sources: Sequence[Sentence], *, beam: int, batch: int) -> TimedTranslation:
        """Translates; CTranslate2 itself sorts by length, forms batches and adds `</s>`."""
        tokens = [[self._source_tokens[number] for number in source[:-1]] for source in sources]
        calls = [[sentence] for sentence in tokens] if batch == 1 else [tokens]
        settings: dict[str, Any] = {
            "beam_size": beam,
            "max_batch_size": batch,
            "batch_type": "examples",
            "length_penalty": self._work.length_penalty,
            "min_decoding_length": self._work.length or 1,
            "max_decoding_length": self._work.max_len(sources),
            "max_input_length": 0,
        }
        started = time.perf_counter()
        results = [result for call in calls for result in self._translator.translate_batch(call, **settings)]
        seconds = time.perf_counter() - started
        ids = [tuple(self._target_ids[token] for token in result.hypotheses[0]) for result in results]
        return TimedTranslation(seconds=seconds, ids=ids)


def ctranslate2_systems(work: Work, dtype: Dtype, *, threads: int, device: torch.device) -> list[CTranslate2System]:
    """Makes CTranslate2 in one type and every layout; returns none if it does not have the type on this device.

    Raises:
        ModelError: CTranslate2 cannot represent the model.
    """
    import ctranslate2

    if dtype not in ctranslate2.get_supported_compute_types(device.type):
        return []
    model = work.model
    spec = to_spec(
        model,
        source_tokens=_tokens(model.src_vocab_size),
        target_tokens=_tokens(model.tgt_vocab_size),
        max_positions=work.max_positions,
    )
    layouts = thread_layouts(threads) if device.type == "cpu" else [(1, 1)]
    with TemporaryDirectory(prefix="attendo-bench-") as name:
        save(spec, Path(name), quantization=None if dtype == "float32" else dtype)
        return [CTranslate2System(work, dtype, folder=Path(name), layout=layout, device=device) for layout in layouts]


class HuggingFaceSystem:
    """Hugging Face's `generate` with a Marian model, used as its documentation says, on sentences sorted by length.

    Args:
        work: the model and sentences to translate.
        dtype: type of the weights.
        threads: number of torch's threads while it translates, set for the whole process.
        device: the device to translate on.

    Raises:
        ModelError: Marian cannot represent the model.
    """

    name = "huggingface"

    def __init__(self, work: Work, dtype: Dtype, *, threads: int, device: torch.device) -> None:
        torch_dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[dtype]
        marian = to_marian(work.model, max_positions=work.max_positions)
        self._model = marian.to(device=device, dtype=torch_dtype)
        self.dtype: Dtype = dtype
        self.kernel = f"torch {dtype}"
        self._work, self._threads, self._device = work, threads, device
        self._pad_id = padding_id(work.model)

    def layout(self, sentences: int, batch: int) -> str:
        """Returns one worker with all threads: batches run one at a time."""
        return f"1x{self._threads}"

    def translate(self, sources: Sequence[Sentence], *, beam: int, batch: int) -> TimedTranslation:
        """Translates one batch after the other, the longest sentences first."""
        order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
        batches = [order[first : first + batch] for first in range(0, len(order), batch)]
        inputs = [self._input([sources[index] for index in indices]) for indices in batches]
        settings: dict[str, Any] = {
            "num_beams": beam,
            "do_sample": False,
            "min_new_tokens": self._work.length,
            "max_new_tokens": self._work.max_len(sources),
        }
        if beam > 1:  # greedy search has no length penalty, and warns each time if given one
            settings["length_penalty"] = self._work.length_penalty
        with torch_threads(self._threads), torch.inference_mode():
            started = time.perf_counter()
            outputs = [self._model.generate(**tensors, **settings).cpu() for tensors in inputs]
            seconds = time.perf_counter() - started
        ids: list[Sentence] = [()] * len(sources)
        for indices, output in zip(batches, outputs, strict=True):
            for index, row in zip(indices, output[:, 1:].tolist(), strict=True):  # without the start token
                ids[index] = _until_end(row, {EOS_ID, self._pad_id})
        return TimedTranslation(seconds=seconds, ids=ids)

    def _input(self, sources: Sequence[Sentence]) -> dict[str, torch.Tensor]:
        """Returns ids and mask of a batch, int64 `(batch, src_len)`, with Marian's padding."""
        longest = max(map(len, sources))
        ids = torch.tensor([[*source, *[self._pad_id] * (longest - len(source))] for source in sources])
        return {"input_ids": ids.to(self._device), "attention_mask": (ids != self._pad_id).long().to(self._device)}


def huggingface_systems(work: Work, dtype: Dtype, *, threads: int, device: torch.device) -> list[HuggingFaceSystem]:
    """Makes Hugging Face's system in one type; returns none if it does not have the type.

    Raises:
        ModelError: Marian cannot represent the model.
    """
    return [] if dtype == "int8" else [HuggingFaceSystem(work, dtype, threads=threads, device=device)]


def _tokens(size: int) -> list[str]:
    """Returns a name for each id, since CTranslate2 reads and writes tokens."""
    tokens = [f"t{number}" for number in range(size)]
    tokens[EOS_ID], tokens[UNK_ID] = EOS, UNK
    return tokens


def _until_end(row: Sequence[int], ends: set[int]) -> Sentence:
    """Returns a row up to its first end token."""
    length = next((index for index, token in enumerate(row) if token in ends), len(row))
    return tuple(row[:length])
