"""Measurements of a trained model on texts of each length, and on single sentences at later positions.

All tests consist of the same sentences, so that only length differs between them. Where sentences are read as if other
tokens stood before them, only positions differ, neither length nor content.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch
from pydantic import TypeAdapter
from torch.nn import functional as F

from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.backends.models import decoding_model
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.lines.translator import Translator
from attendo.evaluation.scores import corpus_bleu
from attendo.model.batch import collate
from attendo.model.positions import LearnedPositions
from attendo.model.transformer import Transformer
from attendo.paper.length_extrapolation.rows import Pair, regrouped
from attendo.paper.study_folder import kept

MEASURES = "lengths.json"
"""File in a run folder with the measurements of its model."""

_MAX_TOKENS = 4096
"""Largest number of tokens in a scored batch, padding included, on its longer side."""


@dataclass(frozen=True, kw_only=True)
class LengthMeasure:
    """A model's scores on texts of one length, read from position 0 on."""

    sentences: int
    """Number of sentences in each text."""
    texts: int
    """Number of texts."""
    source_tokens: float
    """Mean number of source tokens in a text, `</s>` included."""
    target_tokens: float
    """Mean number of target tokens in a text, `</s>` included."""
    longest: int
    """Number of tokens of the longest source or target, `</s>` included."""
    log_loss: float
    """Nats per target token, without label smoothing, given the reference before the token."""
    accuracy: float
    """Share of target tokens that have the highest probability, given the reference before them."""
    bleu: float
    words: float
    """Number of words written, divided by the number of words in the references."""


@dataclass(frozen=True, kw_only=True)
class ShiftMeasure:
    """A model's scores on single sentences whose first token is at a given position."""

    first: int
    """The position of the first token, in source and target alike."""
    log_loss: float
    """Nats per target token, as in `LengthMeasure`."""
    accuracy: float
    """Share of target tokens that have the highest probability, as in `LengthMeasure`."""
    bleu: ClassVar[None] = None
    """Always None: nothing is translated."""
    words: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class RunMeasures:
    """All measurements of a run's model."""

    lengths: tuple[LengthMeasure, ...]
    shifts: tuple[ShiftMeasure, ...]
    bleu_signature: str


_KEPT = TypeAdapter(RunMeasures)


def kept_measures(run: Path) -> RunMeasures | None:
    """The measurements kept in a run folder; None if there are none, or those of another version."""
    return kept(run / MEASURES, _KEPT)


def measure(
    model_folder: Path,
    pairs: list[Pair],
    lengths: Sequence[int],
    shifts: Sequence[int],
    search: SearchConfig,
    should_stop: Callable[[], bool],
    *,
    threads: int,
) -> RunMeasures | None:
    """Measures a model at every length and position.

    Args:
        model_folder: folder of the model.
        pairs: sentences to test with.
        lengths: numbers of sentences per text.
        shifts: positions of the first token; those out of reach of learned positions are skipped.
        search: settings for translating; guards are turned off, so that the model alone is measured.
        should_stop: asked before each test.
        threads: number of threads for translating.

    Returns:
        The measurements; None if it was stopped.

    Raises:
        ModelError: the model cannot be read.
    """
    loaded = load_model(model_folder)
    measured: list[LengthMeasure] = []
    signature = ""
    for sentences in lengths:
        if should_stop():
            return None
        texts = regrouped(pairs, sentences)
        bleu, signature, words = _translate(loaded, texts, search, threads)
        measured.append(_length_measure(loaded, texts, sentences, bleu, words))
    shifted = []
    encoded = _encode(loaded, pairs)
    longest = max(len(side) for pair in encoded for side in pair)
    config = loaded.transformer.config
    for first in shifts:
        if should_stop():
            return None
        if config.positions == "learned" and first + longest > config.max_positions:
            continue
        log_loss, accuracy = teacher_forced(moved(loaded.transformer, first, longest), encoded)
        shifted.append(ShiftMeasure(first=first, log_loss=log_loss, accuracy=accuracy))
    return RunMeasures(lengths=tuple(measured), shifts=tuple(shifted), bleu_signature=signature)


def teacher_forced(
    transformer: Transformer, encoded: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> tuple[float, float]:
    """Nats per target token and the share of correctly predicted tokens, given the reference before each token.

    Args:
        transformer: model in evaluation mode.
        encoded: ids of source and target, each with its `</s>`.
    """
    order = sorted(encoded, key=lambda pair: max(map(len, pair)), reverse=True)
    log_loss, correct, tokens = 0.0, 0, 0
    with torch.no_grad():
        while order:
            size = max(1, _MAX_TOKENS // max(map(len, order[0])))
            taken, order = order[:size], order[size:]
            batch = collate([source for source, _ in taken], [target for _, target in taken])
            rows = transformer.project(batch.at_tokens(transformer.hidden(batch))).float()
            targets = batch.at_tokens(batch.tgt_ids)
            log_loss += float(F.cross_entropy(rows, targets, reduction="sum"))
            correct += int((rows.argmax(dim=1) == targets).sum())
            tokens += batch.num_tokens
    return log_loss / tokens, correct / tokens


def moved(transformer: Transformer, first: int, length: int) -> Transformer:
    """A copy of a model that reads and writes as if its first token were at another position.

    Args:
        transformer: model to copy.
        first: position of the first token of source and target.
        length: number of positions that the copy has from there on.

    Raises:
        DataError: learned positions do not reach that far.
    """
    copied = copy.deepcopy(transformer)
    for embedding in (copied.source_embedding, copied.target_embedding):
        table = LearnedPositions(copied.config.d_model, length)
        with torch.no_grad():
            table.table.copy_(embedding.positions(first, length))
        embedding.positions = table
    return copied


def _length_measure(loaded: LoadedModel, texts: list[Pair], sentences: int, bleu: float, words: float) -> LengthMeasure:
    encoded = _encode(loaded, texts)
    log_loss, accuracy = teacher_forced(loaded.transformer, encoded)
    return LengthMeasure(
        sentences=sentences,
        texts=len(texts),
        source_tokens=sum(len(source) for source, _ in encoded) / len(encoded),
        target_tokens=sum(len(target) for _, target in encoded) / len(encoded),
        longest=max(len(side) for pair in encoded for side in pair),
        log_loss=log_loss,
        accuracy=accuracy,
        bleu=bleu,
        words=words,
    )


def _translate(loaded: LoadedModel, texts: list[Pair], search: SearchConfig, threads: int) -> tuple[float, str, float]:
    """Translates texts; returns BLEU, its signature, and the words written divided by those of the references."""
    translator = Translator(
        [decoding_model(loaded.transformer)],
        loaded.source_tokenizer,
        loaded.target_tokenizer,
        replace(search, guards=GuardConfig.off()),
        threads=threads,
    )
    outputs = [translation.text for translation in translator.translate([source for source, _ in texts])]
    references = [target for _, target in texts]
    score = corpus_bleu(outputs, references, target_language=loaded.description.target_language)
    return score.score, score.signature, _num_words(outputs) / _num_words(references)


def _num_words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _encode(loaded: LoadedModel, pairs: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
    """The pairs as ids, each side with its `</s>`."""
    sources = loaded.source_tokenizer.encode_batch([source for source, _ in pairs])
    targets = loaded.target_tokenizer.encode_batch([target for _, target in pairs])
    return list(zip(sources, targets, strict=True))
