"""Head ablation: BLEU of a model with one head cut, for every head of the three kinds, measured once and kept.

Cutting a head sets its columns of W_O (Section 3.2.2) to zero, so that it adds nothing to the output of the sub-layer,
as if its context vector were zero; the rest of the model is unchanged and is not retrained.

DIR/cuts/MODEL/all-heads.json                 translations of the whole model
DIR/cuts/MODEL/KIND-LAYER-HEAD.json           translations without that head, layer and head from 1
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
from attendo.paper.heads.head_attention import Head
from attendo.paper.study_folder import keep, kept
from attendo.synthetic.annotated.markup import Pair
from attendo.workflow.engines.engine import Engine
from attendo.workflow.lines import line_pairs_from
from attendo.workflow.machine.device import choose_device
from attendo.workflow.runs.validation import spread

DEV_NAMES = ("valid", "val", "dev", "newstest2013")
"""Names of a development set's files, without the language suffix; the first that exists is used."""

NUM_RESAMPLES = 20_000
"""Number of paired bootstrap resamples; enough to leave some in the tails of an interval corrected for 144 heads."""
_RESAMPLES_AT_ONCE = 1000

_NUM_ORDERS = 4
"""BLEU counts n-grams of 1 to 4 words."""


@dataclass(frozen=True, kw_only=True)
class DevSet:
    """The sentences that are translated by the whole model and with each head cut."""

    name: str
    """Description for the page: the file and its folder, or our own sentences, with the number of lines."""
    sources: tuple[str, ...]
    references: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ModelOutput:
    """The translations of a model, whole or with one head cut."""

    digest: str
    """SHA-256 of the whole model's parameters and of the sentences with their references, in hexadecimal."""
    outputs: tuple[str, ...]
    processor_s: float
    """Processor time of translating, in seconds, summed over all threads."""


@dataclass(frozen=True, kw_only=True)
class HeadAblation:
    """The effect of cutting one head."""

    head: Head
    bleu: float
    """BLEU without the head."""
    difference: float
    """BLEU without the head less BLEU of the whole model; negative if the head is missed."""
    low: float
    """Lower end of the difference's 95% interval, by bootstrap over sentences."""
    high: float
    """Upper end of that interval."""
    is_clear: bool
    """Whether the interval that is corrected for all heads (Bonferroni) excludes 0."""
    changed: int
    """Number of sentences whose translation differs from the whole model's."""


@dataclass(frozen=True, kw_only=True)
class AblationResults:
    """The effects of cutting each head of a model."""

    bleu: float
    """BLEU of the whole model."""
    signature: str
    """SacreBLEU's signature."""
    cuts: tuple[HeadAblation, ...]
    processor_s: float
    """Processor time of all translations, in seconds, including those kept from earlier sessions."""


_KEPT = TypeAdapter(ModelOutput)


def heads_of(transformer: Transformer) -> tuple[Head, ...]:
    """Returns all heads of the three kinds, in the paper's order."""
    config = transformer.config
    encoders = [index for index, layer in enumerate(transformer.encoder_layers) if isinstance(layer, EncoderLayer)]
    layers: tuple[tuple[Kind, Sequence[int]], ...] = (
        ("encoder", encoders),
        ("decoder", range(config.decoder_layers)),
        ("cross", range(config.decoder_layers)),
    )
    return tuple(
        Head(kind=kind, layer=layer, head=head)
        for kind, indices in layers
        for layer in indices
        for head in range(config.num_heads)
    )


def without(model: LoadedModel, head: Head) -> LoadedModel:
    """Returns a copy of a model with a head cut: its columns of W_O are zero.

    Args:
        model: the whole model, which is not changed.
        head: a head of one of its attention layers.
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
    """Returns the attention that a head belongs to."""
    if head.kind == "encoder":
        layer = transformer.encoder_layers[head.layer]
        assert isinstance(layer, EncoderLayer), "it has heads"
        return layer.self_attention
    decoder_layer = transformer.decoder_layers[head.layer]
    assert isinstance(decoder_layer, DecoderLayer)
    return decoder_layer.self_attention if head.kind == "decoder" else decoder_layer.encoder_attention


class AblationRunner:
    """The translations of one model, whole and with each head cut; those kept in files are read.

    Args:
        folder: the folder for the translations of this model.
        model: the whole model.
        dev: the sentences, which are translated greedily.
        should_stop: asked every few hundred sentences.
    """

    def __init__(self, folder: Path, model: LoadedModel, dev: DevSet, should_stop: Callable[[], bool]) -> None:
        self._folder, self._model, self._dev, self._should_stop = folder, model, dev, should_stop
        self._digest = _digest(model, dev)

    def whole(self) -> ModelOutput | None:
        """Returns the translations of the whole model; None if stopped."""
        return self._read_or_translate(self._folder / "all-heads.json", lambda: self._model)

    def cut(self, head: Head) -> ModelOutput | None:
        """Returns the translations without a head; None if stopped."""
        name = f"{head.kind}-{head.layer + 1}-{head.head + 1}.json"
        return self._read_or_translate(self._folder / name, lambda: without(self._model, head))

    def _read_or_translate(self, path: Path, model: Callable[[], LoadedModel]) -> ModelOutput | None:
        known = kept(path, _KEPT)
        if known is None:
            started = time.process_time()
            outputs = _translate(model(), self._dev.sources, self._should_stop)
            if outputs is None:
                return None
            written = ModelOutput(digest=self._digest, outputs=outputs, processor_s=time.process_time() - started)
            keep(path, written)
            return written
        if known.digest != self._digest:
            raise ModelError(f"{path}: is of another model or other sentences; name another folder with -o")
        return known


def compare_cuts(
    dev: DevSet, target_language: str, whole: ModelOutput, cut: Sequence[tuple[Head, ModelOutput]]
) -> AblationResults:
    """Compares BLEU without each head to BLEU of the whole model.

    Args:
        dev: the sentences that were translated.
        target_language: chooses BLEU's tokeniser.
        whole: the translations of the whole model.
        cut: the heads, each with the translations without it.
    """
    metric, by_sentence = metrics(target_language)["bleu"], metrics(target_language)["bleu"]
    assert isinstance(metric, BLEU)
    assert isinstance(by_sentence, BLEU)
    by_sentence.effective_order = True  # changes no count, but silences a warning
    counts = np.array(
        [_counts(by_sentence, system.outputs, dev.references) for system in (whole, *(written for _, written in cut))]
    )
    bleu = bleu_of(counts.sum(axis=1))
    drawn = _resampled(counts)
    differences, narrow = drawn[1:] - drawn[0], 0.025 / len(cut)
    low, high, lowest, highest = np.quantile(differences, (0.025, 0.975, narrow, 1 - narrow), axis=1)
    metric.corpus_score(list(whole.outputs), [list(dev.references)])  # fills in the signature
    return AblationResults(
        bleu=float(bleu[0]),
        signature=str(metric.get_signature()),
        cuts=tuple(
            HeadAblation(
                head=head,
                bleu=float(bleu[index + 1]),
                difference=float(bleu[index + 1] - bleu[0]),
                low=float(low[index]),
                high=float(high[index]),
                is_clear=bool(lowest[index] > 0 or highest[index] < 0),
                changed=sum(one != other for one, other in zip(written.outputs, whole.outputs, strict=True)),
            )
            for index, (head, written) in enumerate(cut)
        ),
        processor_s=whole.processor_s + sum(written.processor_s for _, written in cut),
    )


def _resampled(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """BLEU on bootstrap resamples of the sentences; the resamples are the same for all systems.

    Args:
        counts: `(systems, sentences, 10)`.

    Returns:
        `(systems, NUM_RESAMPLES)`.
    """
    generator, length = np.random.default_rng(1), counts.shape[1]
    # Products of doubles are fast, and exact for counts.
    doubles = counts.astype(np.float64)
    scores = []
    for _ in range(NUM_RESAMPLES // _RESAMPLES_AT_ONCE):
        repeats = generator.multinomial(length, np.full(length, 1 / length), size=_RESAMPLES_AT_ONCE).astype(np.float64)
        scores.append(bleu_of(repeats @ doubles))
    return np.concatenate(scores, axis=1)


def _translate(model: LoadedModel, sources: Sequence[str], should_stop: Callable[[], bool]) -> tuple[str, ...] | None:
    """Translates greedily, in float32 and without guards, so that only the model is measured; None if stopped."""
    search = SearchConfig(beam_size=1, guards=GuardConfig.off())
    engine = Engine([model], search, dtype="float32", device=choose_device("auto"))
    outputs: list[str] = []
    for translation in engine.stream(sources):
        outputs.append(translation.text)
        if len(outputs) % search.window_lines == 0 and should_stop():
            return None
    return tuple(outputs)


def _counts(metric: BLEU, outputs: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
    """Counts matching and all n-grams by length, then the words of output and reference: `(sentences, 10)`."""
    rows = []
    for output, reference in zip(outputs, references, strict=True):
        score = metric.sentence_score(output, [reference])
        rows.append([*score.counts, *score.totals, score.sys_len, score.ref_len])
    return np.array(rows, dtype=np.int64)


def bleu_of(sums: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Corpus BLEU from summed counts, vectorised, with sacreBLEU's exponential smoothing.

    Args:
        sums: `(..., 10)`: matching n-grams by length (1 to 4), all n-grams by length, the length of the output, and
            that of the reference.

    Returns:
        BLEU from 0 to 100, `(...)`.
    """
    matches, total = sums[..., :_NUM_ORDERS], sums[..., _NUM_ORDERS : 2 * _NUM_ORDERS]
    length, reference_length = sums[..., -2], sums[..., -1]
    halvings = np.cumsum(matches == 0, axis=-1)
    smoothed = np.where(matches == 0, 0.5**halvings, matches)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(smoothed / total).mean(axis=-1)
        brevity = np.minimum(0.0, 1 - reference_length / length)
        scores = 100 * np.exp(logs + brevity)
    bleu: NDArray[np.float64] = np.where((matches.sum(axis=-1) == 0) | (total == 0).any(axis=-1), 0.0, scores)
    return bleu


def _digest(model: LoadedModel, dev: DevSet) -> str:
    digest = hashlib.sha256()
    for name, parameter in model.transformer.named_parameters():
        digest.update(name.encode())
        digest.update(parameter.detach().cpu().numpy().tobytes())
    for text in (*dev.sources, *dev.references):
        digest.update(text.encode("utf-8", errors="surrogatepass") + b"\n")
    return digest.hexdigest()


# --- the development set ----------------------------------------------------------------------------------------------


def dev_set(folder: Path, source_language: str, target_language: str, most: int) -> DevSet:
    """Reads a development set, or evenly spaced lines of it, so that a sorted file gives a fair sample too.

    Args:
        folder: the folder of its files.
        source_language: `en` or `de`.
        target_language: the other one.
        most: largest number of sentences.

    Raises:
        DataError: there is no development set or no translated line in it, a file is broken, or its two sides differ in
            length.
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
    expected = ", ".join(f"{name}.{source_language} and {name}.{target_language}" for name in DEV_NAMES)
    raise DataError(f"{folder}: no development set; --data takes a folder with one of {expected}")


def own_sentences(pairs: Iterable[Pair], source_language: str, most: int) -> DevSet:
    """Returns our own held-out sentences as a development set, evenly spaced if there are too many.

    Args:
        pairs: sentences of both halves.
        source_language: `en` or `de`.
        most: largest number of sentences.
    """
    held_out = [pair.sides(source_language) for pair in pairs if pair.held_out]
    taken = [held_out[number] for number in spread(len(held_out), most)]
    return DevSet(
        name=f"our own sentences ({len(taken):,} of {len(held_out):,} that are held out)",
        sources=tuple(source.text for source, _ in taken),
        references=tuple(target.text for _, target in taken),
    )
