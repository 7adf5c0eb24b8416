"""How a trained model reads texts of each length, and the same short texts at positions far from the first.

Texts of all tests are the same sentences, so that what differs between tests is length; where a text is read as if
other tokens stood before it, only positions differ, neither length nor content.
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
"""In a run folder: what was measured of its model."""

_MAX_TOKENS = 4096
"""Of a batch that is scored."""


@dataclass(frozen=True, kw_only=True)
class LengthMeasure:
    """Texts of one length, read from the first position on."""

    sentences: int
    """Of each text."""
    texts: int
    source_tokens: float
    """Of a text with its `</s>`, on average."""
    target_tokens: float
    """Likewise."""
    longest: int
    """Tokens of the longest side of all."""
    log_loss: float
    """Nats a target token, without smoothing, the reference before it given."""
    accuracy: float
    """Share of target tokens that have the highest probability, the reference before them given."""
    bleu: float
    words: float
    """Words written by those of the references."""


@dataclass(frozen=True, kw_only=True)
class ShiftMeasure:
    """Single sentences, their first token at another position than the first."""

    first: int
    """The position of the first token, in source and target alike."""
    log_loss: float
    """As in `LengthMeasure`."""
    accuracy: float
    """Likewise."""
    bleu: ClassVar[None] = None
    """Nothing is translated."""
    words: ClassVar[None] = None


@dataclass(frozen=True, kw_only=True)
class RunMeasures:
    """What was measured of a run's model."""

    lengths: tuple[LengthMeasure, ...]
    shifts: tuple[ShiftMeasure, ...]
    bleu_signature: str


_KEPT = TypeAdapter(RunMeasures)


def kept_measures(run: Path) -> RunMeasures | None:
    """What was measured of a run before; None where nothing was, or by another version."""
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
    """Measures a model.

    Args:
        model_folder: the model.
        pairs: the sentences to test with.
        lengths: in sentences a text.
        shifts: positions of the first token; those that learned positions do not reach are left out.
        search: how to translate; without guards, since it is the model that is measured.
        should_stop: asked between tests.
        threads: to translate with.

    Returns:
        What was found; None where it was to stop.

    Raises:
        ModelError: the model cannot be read.
    """
    loaded = load_model(model_folder)
    found: list[LengthMeasure] = []
    signature = ""
    for sentences in lengths:
        if should_stop():
            return None
        texts = regrouped(pairs, sentences)
        bleu, signature, words = _translated(loaded, texts, search, threads)
        found.append(_length_measure(loaded, texts, sentences, bleu, words))
    shifted = []
    encoded = _encoded(loaded, pairs)
    longest = max(len(side) for pair in encoded for side in pair)
    config = loaded.transformer.config
    for first in shifts:
        if should_stop():
            return None
        if config.positions == "learned" and first + longest > config.max_positions:
            continue
        log_loss, accuracy = teacher_forced(moved(loaded.transformer, first, longest), encoded)
        shifted.append(ShiftMeasure(first=first, log_loss=log_loss, accuracy=accuracy))
    return RunMeasures(lengths=tuple(found), shifts=tuple(shifted), bleu_signature=signature)


def teacher_forced(
    transformer: Transformer, encoded: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> tuple[float, float]:
    """Nats a target token and the share of tokens that are foretold, the reference before each given.

    Args:
        transformer: in evaluation mode.
        encoded: ids of source and target, each with its `</s>`.
    """
    order = sorted(encoded, key=lambda pair: max(map(len, pair)), reverse=True)
    log_loss, right, tokens = 0.0, 0, 0
    with torch.no_grad():
        while order:
            size = max(1, _MAX_TOKENS // max(map(len, order[0])))
            taken, order = order[:size], order[size:]
            batch = collate([source for source, _ in taken], [target for _, target in taken])
            rows = transformer.project(batch.at_tokens(transformer.hidden(batch))).float()
            targets = batch.at_tokens(batch.tgt_ids)
            log_loss += float(F.cross_entropy(rows, targets, reduction="sum"))
            right += int((rows.argmax(dim=1) == targets).sum())
            tokens += batch.num_tokens
    return log_loss / tokens, right / tokens


def moved(transformer: Transformer, first: int, length: int) -> Transformer:
    """A copy of a model that reads and writes as if its first token were at another position.

    Args:
        transformer: the model.
        first: the position of the first token of source and target.
        length: tokens that it has to reach.

    Raises:
        DataError: learned positions do not reach so far.
    """
    copied = copy.deepcopy(transformer)
    for embedding in (copied.source_embedding, copied.target_embedding):
        table = LearnedPositions(copied.config.d_model, length)
        with torch.no_grad():
            table.table.copy_(embedding.positions(first, length))
        embedding.positions = table
    return copied


def _length_measure(loaded: LoadedModel, texts: list[Pair], sentences: int, bleu: float, words: float) -> LengthMeasure:
    encoded = _encoded(loaded, texts)
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


def _translated(loaded: LoadedModel, texts: list[Pair], search: SearchConfig, threads: int) -> tuple[float, str, float]:
    """BLEU, its signature, and the words written by those of the references."""
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


def _encoded(loaded: LoadedModel, pairs: Sequence[Pair]) -> list[tuple[list[int], list[int]]]:
    """The pairs as ids, each side with its `</s>`."""
    sources = loaded.source_tokenizer.encode_batch([source for source, _ in pairs])
    targets = loaded.target_tokenizer.encode_batch([target for _, target in pairs])
    return list(zip(sources, targets, strict=True))
