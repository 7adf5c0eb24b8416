"""`attendo bench decode`: decoding compared with the installed peers, assembled from the parts in this folder."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from attendo.bench.compare import (
    LATENCY_SENTENCES,
    NATURAL_LATENCY_SENTENCES,
    Measurement,
    Setting,
    make_rows,
    make_settings,
    measure,
)
from attendo.bench.machine import float32_speed, this_machine, versions
from attendo.bench.peers import ctranslate2_systems, huggingface_systems, missing_peers
from attendo.bench.report import BenchReport
from attendo.bench.systems import AttendoSystem, System, best
from attendo.bench.work import Sentence, Work, operations, random_work, take, text_work
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import load_model
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.backends.steps import RecomputingStep
from attendo.decoding.config import SearchConfig
from attendo.decoding.searches.search import search
from attendo.errors import AttendoError, ModelError
from attendo.model.batch import pad_source
from attendo.model.config import ModelConfig
from attendo.model.products import fast_float32_products
from attendo.text.subwords.tokenization import EOS_ID
from attendo.workflow.engines.translate import search_settings
from attendo.workflow.lines import lines_from

SystemName = Literal["attendo", "ctranslate2", "huggingface"]

PAPER_VOCABULARY = 37_000
"""Size of the joint vocabulary of the paper's English-German models (Section 5.1)."""
REFERENCE_SENTENCES = 64
"""Number of sentences over which agreement is measured."""
REFERENCE = (
    f"attendo's own model in plain torch, float32, every position computed anew at each step (the first "
    f"{REFERENCE_SENTENCES} sentences)"
)
_EFFICIENCY, _HALF_BATCH = 0.6, 20
"""For the time estimate: the share of a float32 product's speed that the average system reaches in large batches, and
the batch size at which it reaches half of that share; measured on one machine, and good for a forecast only."""


@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """The systems and settings to compare."""

    systems: tuple[SystemName, ...]
    dtypes: tuple[Dtype, ...]
    beams: tuple[int, ...]
    batches: tuple[int, ...]
    threads: int
    repetitions: int
    sentences: int | None
    """Number of sentences in a measurement; None to derive it from the batch size."""
    device: torch.device


class DecodeBench:
    """The systems of a comparison, ready to be measured.

    Args:
        work: the model and sentences to translate.
        options: the systems and settings to compare.
        say: called with a description of each preparation.

    Raises:
        AttendoError: no system can be measured.
    """

    def __init__(self, work: Work, options: DecodeOptions, say: Callable[[str], None] = lambda text: None) -> None:
        self._work, self._options = work, options
        self._settings = make_settings(
            options.beams,
            options.batches,
            threads=options.threads,
            sentences=options.sentences,
            one_by_one=NATURAL_LATENCY_SENTENCES if work.length is None else LATENCY_SENTENCES,
        )
        self.systems, self.missing = make_systems(work, options, say)
        if not self.systems:
            raise AttendoError("; ".join(self.missing) or "no system to measure")
        self._measurements: list[Measurement] = []

    def estimate_s(self) -> float:
        """Estimates the seconds that `measure` will take, from the speed of a float32 product on this machine."""
        speed = float32_speed(self._options.threads) * _EFFICIENCY
        repetitions = (self._options.repetitions + 0.3) * len(self.systems)  # 0.3: warm-ups and references
        return sum(self._operations(setting) / speed for setting in self._settings) * repetitions

    def _operations(self, setting: Setting) -> float:
        """Returns the additions and multiplications that would take as long as this setting in large batches."""
        model = self._work.model
        mean = sum(map(len, self._work.sources)) / len(self._work.sources)
        per_sentence = operations(model.config, model.tgt_vocab_size, source=mean, target=mean, beam=setting.beam)
        return setting.sentences * per_sentence * (1 + _HALF_BATCH / setting.batch)

    def measure(self, progress: Callable[[float, str], None] = lambda share, label: None) -> Iterator[Measurement]:
        """Measures everything.

        Args:
            progress: called before each part with the share of the work that is done and a label for the part.

        Yields:
            Each measurement as it is made.
        """
        weights = {setting: self._operations(setting) for setting in self._settings}
        per_setting = self._options.repetitions * len(self.systems)
        total, done = sum(weights.values()) * per_setting, 0.0
        measurements = measure(
            self.systems,
            self._work,
            self._settings,
            repetitions=self._options.repetitions,
            reference=lambda beam: reference(self._work, beam),
            progress=lambda label: progress(done / total, label),
        )
        for measurement in measurements:
            done += weights[measurement.setting]
            yield measurement

    def report(self, measurements: Sequence[Measurement], *, complete: bool) -> BenchReport:
        """Returns a report of the measurements, with the machine and all versions."""
        return BenchReport(
            work=self._work.description,
            reference=REFERENCE,
            threads=self._options.threads,
            repetitions=self._options.repetitions,
            rows=tuple(make_rows(measurements)),
            machine=this_machine(),
            versions=versions(),
            missing=tuple(self.missing),
            complete=complete,
        )


def make_systems(
    work: Work, options: DecodeOptions, say: Callable[[str], None] = lambda text: None
) -> tuple[list[System], list[str]]:
    """Makes every system in every type that it has.

    Returns:
        The systems, and for each that is not available a line with the reason.
    """
    absent = missing_peers([name for name in options.systems if name != "attendo"])
    systems: list[System] = []
    missing = list(absent.values())
    for name in options.systems:
        for dtype in options.dtypes if name not in absent else ():
            say(f"preparing {name} {dtype}")
            try:
                systems += _make(name, dtype, work, options)
            except ModelError as error:
                missing.append(f"{name} {dtype} is left out: {error}")
    return systems, missing


def _make(name: SystemName, dtype: Dtype, work: Work, options: DecodeOptions) -> Sequence[System]:
    """Makes a system in one type, in each of its layouts."""
    if name == "ctranslate2":
        return ctranslate2_systems(work, dtype, threads=options.threads, device=options.device)
    if name == "huggingface":
        return huggingface_systems(work, dtype, threads=options.threads, device=options.device)
    return [AttendoSystem(work, dtype, threads=options.threads, device=options.device)]


def reference(work: Work, beam: int) -> list[Sentence]:
    """Translates the first sentences with the most straightforward implementation, see `REFERENCE`."""
    sources = take(work, min(len(work.sources), REFERENCE_SENTENCES))
    config = SearchConfig(beam_size=beam, n_best=1 if work.length is None else beam, length_penalty=work.length_penalty)
    with torch.no_grad(), fast_float32_products(torch.device("cpu")):
        step = RecomputingStep(work.model, *pad_source(sources))
        translations = search(step, work.rules(sources), eos_id=EOS_ID, config=config)
    return [best(hypotheses, work.length) for hypotheses in translations]


def paper_work(*, length: int, sentences: int) -> Work:
    """Returns the paper's base model with random weights, and random sentences."""
    return random_work(ModelConfig(), PAPER_VOCABULARY, length=length, sentences=sentences)


def model_work(model: str, source: Path, *, length_penalty: float | None) -> Work:
    """Returns a model with the sentences of a file.

    Args:
        model: path of a model folder, or of a run, whose best model is taken.
        source: a file with one sentence per line; long ones are cut, as `attendo translate` does.
        length_penalty: alpha; None for the model's own value.

    Raises:
        ModelError: there is no such model, or it is damaged.
        DataError: the file is missing or broken, or has no sentence.
    """
    loaded = load_model(find_model(model))
    changes = {} if length_penalty is None else {"length_penalty": length_penalty}
    settings = search_settings(loaded, changes, ())
    most = settings.max_source_tokens
    if loaded.description.model.positions == "learned":
        most = min(most, loaded.description.model.max_positions - 1)
    sources = loaded.source_tokenizer.encode_batch(list(lines_from(source)))
    return text_work(
        loaded.transformer,
        [ids if len(ids) <= most + 1 else [*ids[:most], EOS_ID] for ids in sources],
        name=f"{model}, {source}",
        length_penalty=settings.length_penalty,
        max_len_offset=settings.max_len_offset,
    )
