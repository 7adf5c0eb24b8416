"""What a head is worth: BLEU of a model that has it cut, for every head of the three kinds, measured once and kept.

A cut head's columns of W_O (Section 3.2.2) are zero, so that it adds nothing to the sub-layer, as if the context that
it found were zero; all else of the model stays. Nothing is trained again.

DIR/cuts/MODEL/all-heads.json                 what the whole model writes
DIR/cuts/MODEL/KIND-LAYER-HEAD.json           what it writes without that head
"""

import copy
import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import TypeAdapter
from sacrebleu.metrics.bleu import BLEU

from attendo.attention_maps.weights import Kind
from attendo.checkpoint.model_folder import LoadedModel
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.errors import DataError, ModelError
from attendo.evaluation.scores import metrics
from attendo.model.attention import MultiHeadAttention
from attendo.model.layers import DecoderLayer, EncoderLayer
from attendo.model.transformer import Transformer
from attendo.paper.heads.looks import Head
from attendo.paper.heads.markup import Pair
from attendo.paper.study_folder import keep, kept
from attendo.workflow.engines.engine import Engine
from attendo.workflow.lines import line_pairs_from
from attendo.workflow.machine.device import choose_device
from attendo.workflow.runs.validation import spread

DEV_NAMES = ("valid", "val", "dev", "newstest2013")
"""Of a development set's files, with the language behind a point; the first that is there is taken."""

NUM_RESAMPLES = 20_000
"""Of the paired bootstrap: some are left in the tails of an interval that is corrected for 144 heads, too."""
_RESAMPLES_AT_ONCE = 1000

_NUM_ORDERS = 4
"""BLEU counts n-grams of 1 to 4 words."""


@dataclass(frozen=True, kw_only=True)
class DevSet:
    """Sentences that are translated with each head cut."""

    name: str
    """For people."""
    sources: tuple[str, ...]
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a model writes, with or without a head."""

    digest: str
    """Of the model and the sentences."""
    outputs: tuple[str, ...]
    processor_s: float
    """That it took, of all threads together."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """What cutting one head does."""

    head: Head
    bleu: float
    """Without it."""
    difference: float
    """To the whole model: negative where it is missed."""
    low: float
    """Of the 95% interval of the difference, by sentences drawn again."""
    high: float
    is_clear: bool
    """Whether the interval that is corrected for all heads (Bonferroni) excludes 0."""
    changed: int
    """Sentences that come out differently."""


@dataclass(frozen=True, kw_only=True)
class Cuts:
    """What came of all heads of a model."""

    bleu: float
    """Of the whole model."""
    signature: str
    cuts: tuple[Cut, ...]
    processor_s: float
    """Of all translating, whenever it was done."""


_KEPT = TypeAdapter(Written)


def heads_of(transformer: Transformer) -> tuple[Head, ...]:
    """All heads of the three kinds, in the paper's order."""
    config = transformer.config
    encoders = [place for place, layer in enumerate(transformer.encoder_layers) if isinstance(layer, EncoderLayer)]
    layers: tuple[tuple[Kind, Sequence[int]], ...] = (
        ("encoder", encoders),
        ("decoder", range(config.decoder_layers)),
        ("cross", range(config.decoder_layers)),
    )
    return tuple(
        Head(kind=kind, layer=layer, head=head)
        for kind, places in layers
        for layer in places
        for head in range(config.num_heads)
    )


def without(model: LoadedModel, head: Head) -> LoadedModel:
    """A copy of a model with a head cut: its columns of W_O are zero.

    Args:
        model: stays as it is.
        head: of one of its layers that attend.
    """
    transformer = copy.deepcopy(model.transformer)
    attention = attention_of(transformer, head)
    first = head.head * attention.d_v
    with torch.no_grad():
        attention.output.weight[:, first : first + attention.d_v] = 0
    arrays = transformer.arrays()
    assert arrays is not None, "a model is read in float32 on the processor"
    return replace(model, arrays=arrays)


def attention_of(transformer: Transformer, head: Head) -> MultiHeadAttention:
    """The attention that a head is one of."""
    if head.kind == "encoder":
        layer = transformer.encoder_layers[head.layer]
        assert isinstance(layer, EncoderLayer), "it has heads"
        return layer.self_attention
    decoder_layer = transformer.decoder_layers[head.layer]
    assert isinstance(decoder_layer, DecoderLayer)
    return decoder_layer.self_attention if head.kind == "decoder" else decoder_layer.encoder_attention


class Cutting:
    """All that is translated of one model; what is kept is read.

    Args:
        folder: of this model.
        model: whole.
        dev: what is translated, greedily.
        should_stop: asked every few hundred sentences.
    """

    def __init__(self, folder: Path, model: LoadedModel, dev: DevSet, should_stop: Callable[[], bool]) -> None:
        self._folder, self._model, self._dev, self._should_stop = folder, model, dev, should_stop
        self._digest = _digest(model, dev)

    def whole(self) -> Written | None:
        """What the whole model writes; None where it was to stop."""
        return self._once(self._folder / "all-heads.json", lambda: self._model)

    def cut(self, head: Head) -> Written | None:
        """What it writes without a head; None where it was to stop."""
        name = f"{head.kind}-{head.layer + 1}-{head.head + 1}.json"
        return self._once(self._folder / name, lambda: without(self._model, head))

    def _once(self, path: Path, model: Callable[[], LoadedModel]) -> Written | None:
        found = kept(path, _KEPT)
        if found is None:
            started = time.process_time()
            outputs = _translate(model(), self._dev.sources, self._should_stop)
            if outputs is None:
                return None
            written = Written(digest=self._digest, outputs=outputs, processor_s=time.process_time() - started)
            keep(path, written)
            return written
        if found.digest != self._digest:
            raise ModelError(f"{path}: is of another model or other sentences; name another folder with -o")
        return found


def compare_cuts(dev: DevSet, target_language: str, whole: Written, cut: Sequence[tuple[Head, Written]]) -> Cuts:
    """BLEU without each head, beside the whole model's.

    Args:
        dev: what was translated.
        target_language: chooses BLEU's tokeniser.
        whole: what the whole model has written.
        cut: heads, and what it has written without each.
    """
    metric, by_sentence = metrics(target_language)["bleu"], metrics(target_language)["bleu"]
    assert isinstance(metric, BLEU)
    assert isinstance(by_sentence, BLEU)
    by_sentence.effective_order = True  # which changes no count, and quiets a warning
    counts = np.array(
        [_counts(by_sentence, each.outputs, dev.references) for each in (whole, *(written for _, written in cut))]
    )
    bleu = bleu_of(counts.sum(axis=1))
    drawn = _resampled(counts)
    differences, narrow = drawn[1:] - drawn[0], 0.025 / len(cut)
    low, high, lowest, highest = np.quantile(differences, (0.025, 0.975, narrow, 1 - narrow), axis=1)
    metric.corpus_score(list(whole.outputs), [list(dev.references)])  # which fills in the signature
    return Cuts(
        bleu=float(bleu[0]),
        signature=str(metric.get_signature()),
        cuts=tuple(
            Cut(
                head=head,
                bleu=float(bleu[place + 1]),
                difference=float(bleu[place + 1] - bleu[0]),
                low=float(low[place]),
                high=float(high[place]),
                is_clear=bool(lowest[place] > 0 or highest[place] < 0),
                changed=sum(one != other for one, other in zip(written.outputs, whole.outputs, strict=True)),
            )
            for place, (head, written) in enumerate(cut)
        ),
        processor_s=whole.processor_s + sum(written.processor_s for _, written in cut),
    )


def _resampled(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """BLEU of sentences drawn again, the same for all systems.

    Args:
        counts: `(systems, sentences, 10)`.

    Returns:
        `(systems, NUM_RESAMPLES)`.
    """
    generator, length = np.random.default_rng(1), counts.shape[1]
    # Products of doubles are fast, and exact for counts.
    sides = counts.astype(np.float64)
    found = []
    for _ in range(NUM_RESAMPLES // _RESAMPLES_AT_ONCE):
        times = generator.multinomial(length, np.full(length, 1 / length), size=_RESAMPLES_AT_ONCE).astype(np.float64)
        found.append(bleu_of(times @ sides))
    return np.concatenate(found, axis=1)


def _translate(model: LoadedModel, sources: Sequence[str], should_stop: Callable[[], bool]) -> tuple[str, ...] | None:
    """Greedily, in float32 and without guards: it is the model that is measured."""
    search = SearchConfig(beam_size=1, guards=GuardConfig.off())
    engine = Engine([model], search, dtype="float32", device=choose_device("auto"))
    outputs: list[str] = []
    for translation in engine.stream(sources):
        outputs.append(translation.text)
        if len(outputs) % search.window_lines == 0 and should_stop():
            return None
    return tuple(outputs)


def _counts(metric: BLEU, outputs: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
    """Of each sentence right and all n-grams by length, then both lengths: `(sentences, 10)`."""
    rows = []
    for output, reference in zip(outputs, references, strict=True):
        score = metric.sentence_score(output, [reference])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return np.array(rows, dtype=np.int64)


def bleu_of(sums: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Corpus BLEU of summed counts as sacreBLEU has it, of many at once: its exponential smoothing.

    Args:
        sums: `(..., 10)`: right n-grams by length, all n-grams by length, the length of what is written, and of the
            reference.

    Returns:
        `(...)`, 0 to 100.
    """
    right, total = sums[..., :_NUM_ORDERS], sums[..., _NUM_ORDERS : 2 * _NUM_ORDERS]
    written, reference = sums[..., -2], sums[..., -1]
    halvings = np.cumsum(right == 0, axis=-1)
    smoothed = np.where(right == 0, 0.5**halvings, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(smoothed / total).mean(axis=-1)
        brevity = np.minimum(0.0, 1 - reference / written)
        scores = 100 * np.exp(logs + brevity)
    found: NDArray[np.float64] = np.where((right.sum(axis=-1) == 0) | (total == 0).any(axis=-1), 0.0, scores)
    return found


def _digest(model: LoadedModel, dev: DevSet) -> str:
    found = hashlib.sha256()
    for name, parameter in model.transformer.named_parameters():
        found.update(name.encode())
        found.update(parameter.detach().cpu().numpy().tobytes())
    for text in (*dev.sources, *dev.references):
        found.update(text.encode("utf-8", errors="surrogatepass") + b"\n")
    return found.hexdigest()


# --- what is translated -----------------------------------------------------------------------------------------------


def dev_set(folder: Path, source_language: str, target_language: str, most: int) -> DevSet:
    """Reads a development set, or some of it: lines at even distances, so that any order of its lines is all the same.

    Args:
        folder: of the files.
        source_language: `en` or `de`.
        target_language: the other.
        most: sentences.

    Raises:
        DataError: there is none, a file is broken, or its two sides differ in length.
        OSError: a file cannot be read.
    """
    for name in DEV_NAMES:
        source, target = (folder / f"{name}.{language}" for language in (source_language, target_language))
        if source.is_file() and target.is_file():
            pairs = [pair for pair in line_pairs_from(source, target) if pair[0].strip() and pair[1].strip()]
            if not pairs:
                raise DataError(f"{source}: has no line with a translation")
            taken = [pairs[number] for number in spread(len(pairs), most)]
            return DevSet(
                name=f"{name}.{source_language} of {folder.name} ({len(taken):,} of {len(pairs):,} lines)",
                sources=tuple(pair[0] for pair in taken),
                references=tuple(pair[1] for pair in taken),
            )
    wanted = ", ".join(f"{name}.{source_language} and {name}.{target_language}" for name in DEV_NAMES)
    raise DataError(f"{folder}: no development set; --data takes a folder with one of {wanted}")


def own_sentences(pairs: Iterable[Pair], source_language: str, most: int) -> DevSet:
    """Held-out sentences of our own.

    Args:
        pairs: of both halves.
        source_language: `en` or `de`.
        most: sentences.
    """
    held_out = [pair.sides(source_language) for pair in pairs if pair.held_out]
    taken = [held_out[number] for number in spread(len(held_out), most)]
    return DevSet(
        name=f"our own sentences ({len(taken):,} of {len(held_out):,} that are held out)",
        sources=tuple(source.text for source, _ in taken),
        references=tuple(target.text for _, target in taken),
    )
