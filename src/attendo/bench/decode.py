"""`attendo bench decode`: decoding beside the installed peers, put together."""

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
"""Of the paper's English-German models (Section 5.1)."""
REFERENCE_SENTENCES = 64
"""Sentences that agreement is counted over."""
REFERENCE = (
    f"attendo's own model in plain torch, float32, every position computed anew at each step (the first "
    f"{REFERENCE_SENTENCES} sentences)"
)
_EFFICIENCY, _HALF_BATCH = 0.6, 20
"""For the estimate of time: what share of float32's speed the mean system reaches in large batches, and the batch at
which it has half of that; measured on one machine, and good for a forecast only."""


@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """What to compare."""

    systems: tuple[SystemName, ...]
    dtypes: tuple[Dtype, ...]
    beams: tuple[int, ...]
    batches: tuple[int, ...]
    threads: int
    repetitions: int
    sentences: int | None
    """Of a measurement; None for what each batch needs."""
    device: torch.device


class DecodeBench:
    """Systems, ready to be measured.

    Args:
        work: what they translate.
        options: what to compare.
        say: told what is being prepared.

    Raises:
        AttendoError: no system is left.
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
        """About how many seconds `measure` will take: arithmetic over the speed of a float32 product here."""
        speed = float32_speed(self._options.threads) * _EFFICIENCY
        repetitions = (self._options.repetitions + 0.3) * len(self.systems)  # 0.3: warm-ups and references
        return sum(self._operations(setting) / speed for setting in self._settings) * repetitions

    def _operations(self, setting: Setting) -> float:
        """Additions and multiplications, as if all were done at the speed of a large batch."""
        model = self._work.model
        mean = sum(map(len, self._work.sources)) / len(self._work.sources)
        one = operations(model.config, model.tgt_vocab_size, source=mean, target=mean, beam=setting.beam)
        return setting.sentences * one * (1 + _HALF_BATCH / setting.batch)

    def measure(self, progress: Callable[[float, str], None] = lambda share, label: None) -> Iterator[Measurement]:
        """Measures everything.

        Args:
            progress: told before each part which share of the work is done and what comes now.

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
        """What has been measured, with the machine and all versions."""
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
    """Every system in every type that it has.

    Returns:
        The systems, and for each that cannot be there a line with the reason.
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
    """A system in a type, in each of its layouts."""
    if name == "ctranslate2":
        return ctranslate2_systems(work, dtype, threads=options.threads, device=options.device)
    if name == "huggingface":
        return huggingface_systems(work, dtype, threads=options.threads, device=options.device)
    return [AttendoSystem(work, dtype, threads=options.threads, device=options.device)]


def reference(work: Work, beam: int) -> list[Sentence]:
    """Translations of the first sentences by the plainest means there are: see `REFERENCE`."""
    sources = take(work, min(len(work.sources), REFERENCE_SENTENCES))
    config = SearchConfig(beam_size=beam, n_best=1 if work.length is None else beam, length_penalty=work.length_penalty)
    with torch.no_grad(), fast_float32_products(torch.device("cpu")):
        step = RecomputingStep(work.model, *pad_source(sources))
        found = search(step, work.rules(sources), eos_id=EOS_ID, config=config)
    return [best(hypotheses, work.length) for hypotheses in found]


def paper_work(*, length: int, sentences: int) -> Work:
    """The paper's base model with random weights."""
    return random_work(ModelConfig(), PAPER_VOCABULARY, length=length, sentences=sentences)


def model_work(model: str, source: Path, *, length_penalty: float | None) -> Work:
    """A model folder, or a run's best model, and a file of sentences.

    Args:
        model: its path.
        source: sentences, one a line; of long ones the beginning is taken, as `attendo translate` does.
        length_penalty: alpha; None for the model's own.

    Raises:
        ModelError: there is no such model, or it is torn.
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
