"""`attendo bench train`: training compared with the installed peers, assembled from the parts in this folder."""

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from attendo.bench.machine import float32_speed, this_machine
from attendo.bench.mkl_switch import mkl_environment
from attendo.bench.processes import TrainerError, TrainerProcess
from attendo.bench.trainers.serving import Job
from attendo.bench.training_compare import (
    OURS,
    SWITCHES,
    Contender,
    Measurement,
    Switch,
    first_losses,
    make_rows,
    measure,
)
from attendo.bench.training_report import TrainingReport
from attendo.bench.training_work import (
    LONGEST,
    SHAPES,
    BatchesName,
    ModelName,
    ModelShape,
    SentencePairs,
    TrainingWork,
    equal_work,
    made_up_pairs,
    unequal_work,
)
from attendo.errors import AttendoError
from attendo.model.products import is_exact
from attendo.threads import OPENMP_SETTINGS, chooses_waiting

TrainingSystem = Literal["attendo", "torch", "huggingface", "joeynmt", "opennmt", "eole"]
TrainingDtype = Literal["float32", "bfloat16"]


@dataclass(frozen=True, kw_only=True)
class Package:
    """The names of a system's modules and package."""

    module: str
    """Name of the trainer's module in `bench.trainers`."""
    imported: str
    """Name of the module that must be importable."""
    installed: str
    """Name of the package for pip."""


PACKAGES: dict[TrainingSystem, Package] = {
    "attendo": Package(module="own", imported="attendo", installed="attendo"),
    "torch": Package(module="torch_transformer", imported="torch", installed="torch"),
    "huggingface": Package(module="huggingface", imported="transformers", installed="transformers"),
    "joeynmt": Package(module="joeynmt", imported="joeynmt", installed="joeynmt"),
    "opennmt": Package(module="opennmt", imported="onmt", installed="OpenNMT-py"),
    "eole": Package(module="eole", imported="eole", installed="eole"),
}

DROPOUT = LABEL_SMOOTHING = 0.1
SHOWN_LOSSES = 8
_EFFICIENCY: dict[TrainingDtype, float] = {"float32": 0.33, "bfloat16": 0.8}
"""For the time estimate: the share of the speed of a float32 product that the average system reaches; measured on one
machine, and good for a forecast only."""
_START_S = 8.0
"""For the time estimate: seconds to import a system and build its model."""


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The systems and settings to compare."""

    models: tuple[ModelName, ...]
    systems: tuple[TrainingSystem, ...]
    dtypes: tuple[TrainingDtype, ...]
    batches: tuple[BatchesName, ...]
    switches: tuple[Switch, ...]
    """Settings of the peers' float32 products on a CPU; attendo always runs as installed."""
    pythons: Mapping[TrainingSystem, str]
    """The Python of another environment, for peers that are not to run in this one."""
    repetitions: int
    threads: int
    device: Literal["cpu", "cuda"]


class TrainBench:
    """The systems and batches of a comparison, ready to be measured.

    Args:
        options: the systems and settings to compare.
        corpus: real sentences for the unequal batches; None for made-up ones.

    Raises:
        AttendoError: no system can be measured.
    """

    def __init__(self, options: TrainOptions, corpus: SentencePairs | None = None) -> None:
        self._options = options
        absent = missing_systems(options)
        self.systems = [name for name in options.systems if name not in absent]
        self.missing = list(absent.values())
        if not self.systems:
            raise AttendoError("; ".join(self.missing) or "no system to measure")
        self._switches = tuple(
            switch for switch in options.switches if options.device == "cpu" or switch == "installed"
        )
        if "onednn" in self._switches and not is_exact():
            self._switches = tuple(switch for switch in self._switches if switch != "onednn")
            self.missing.append(f"{SWITCHES['onednn']} are left out: here they are less exact than float32")
        self._works = {name: make_works(SHAPES[name], options.batches, corpus) for name in options.models}
        self._versions: dict[str, dict[str, str]] = {}
        self._parameters: dict[str, dict[str, int]] = {}

    def estimate_s(self) -> float:
        """Estimates the seconds that `measure` will take, from the speed of a float32 product on this machine."""
        speed = float32_speed(self._options.threads)
        seconds = 0.0
        for model, dtype in self._parts():
            turns = (self._options.repetitions + 1) * len(self._turns(dtype))
            tokens = sum(work.num_tokens for work in self._works[model])
            seconds += turns * tokens * SHAPES[model].operations_per_token / (speed * _EFFICIENCY[dtype])
            seconds += len(self.systems) * _START_S
        return seconds

    def measure(self, progress: Callable[[float, str], None] = lambda share, label: None) -> Iterator[Measurement]:
        """Measures everything, one model and type after the other, each with processes of its own.

        Args:
            progress: called before each turn with the share of the work that is done and a label for the turn.

        Yields:
            Each measurement as it is made, warm-ups included.
        """
        weights: dict[tuple[str, str, str], float] = {
            (model, work.name, dtype): work.num_tokens * SHAPES[model].operations_per_token / _EFFICIENCY[dtype]
            for model, dtype in self._parts()
            for work in self._works[model]
        }
        turns = {dtype: (self._options.repetitions + 1) * len(self._turns(dtype)) for dtype in self._options.dtypes}
        total = sum(
            weights[model, work.name, dtype] * turns[dtype]
            for model, dtype in self._parts()
            for work in self._works[model]
        )
        done = 0.0

        def report(label: str) -> None:
            progress(done / total, label)

        for model, dtype in self._parts():
            with ExitStack() as stack:
                contenders = self._start(model, dtype, stack, report)
                measurements = measure(
                    contenders,
                    SHAPES[model],
                    self._works[model],
                    repetitions=self._options.repetitions,
                    progress=report,
                    failed=self._dropped_out,
                )
                for measurement in measurements:
                    done += weights[model, measurement.batches, dtype]
                    yield measurement

    def report(self, measurements: Sequence[Measurement], *, complete: bool) -> TrainingReport:
        """Returns a report of the measurements, with the machine and all versions."""
        works: dict[str, str] = {work.name: work.description for works in self._works.values() for work in works}
        return TrainingReport(
            models={name: self._describe(SHAPES[name]) for name in self._options.models},
            batches=works,
            threads=self._options.threads,
            device=self._options.device,
            repetitions=self._options.repetitions,
            rows=tuple(make_rows(measurements)),
            losses=tuple(first_losses(measurements, SHOWN_LOSSES)),
            machine=this_machine(),
            versions=self._versions,
            missing=tuple(self.missing),
            complete=complete,
        )

    def _parts(self) -> list[tuple[ModelName, TrainingDtype]]:
        return [(model, dtype) for model in self._options.models for dtype in self._options.dtypes]

    def _turns(self, dtype: TrainingDtype) -> list[tuple[TrainingSystem, Switch]]:
        """Returns who takes turns: attendo as installed, each peer with each switch, or as installed in bfloat16."""
        as_it_is: tuple[Switch, ...] = ("installed",)
        of_peers = self._switches if dtype == "float32" else as_it_is
        return [(system, switch) for system in self.systems for switch in (as_it_is if system == OURS else of_peers)]

    def _start(
        self, model: ModelName, dtype: TrainingDtype, stack: ExitStack, progress: Callable[[str], None]
    ) -> list[Contender]:
        """Starts a process for each system, and a second one with MKL's switch, which must be set from the start."""
        processes: dict[tuple[TrainingSystem, bool], TrainerProcess | None] = {}
        contenders = []
        for system, switch in self._turns(dtype):
            key = (system, switch == "mkl")
            if key not in processes:
                progress(f"{model} {dtype}, starting {system}")
                processes[key] = self._process(system, switch, model, dtype, stack)
            process = processes[key]
            if process is not None:
                contenders.append(Contender(system=system, dtype=dtype, switch=switch, process=process))
        return contenders

    def _process(
        self, system: TrainingSystem, switch: Switch, model: ModelName, dtype: TrainingDtype, stack: ExitStack
    ) -> TrainerProcess | None:
        """Starts a process; returns None if it cannot be started, and the bench continues without it."""
        try:
            is_ours = system == "attendo" and not chooses_waiting(os.environ)
            environment = dict(OPENMP_SETTINGS) if is_ours else {}  # peers run as installed
            if switch == "mkl":
                folder = stack.enter_context(TemporaryDirectory(prefix="attendo-bench-"))
                environment |= mkl_environment(Path(folder))
            process = stack.enter_context(
                TrainerProcess(
                    PACKAGES[system].module,
                    make_job(SHAPES[model], dtype, self._options),
                    [batch for work in self._works[model] for batch in work.batches],
                    python=self._options.pythons.get(system),
                    environment=environment,
                )
            )
        except AttendoError as error:
            self.missing.append(f"{system} {dtype}{f' ({SWITCHES[switch]})' * (switch == 'mkl')} is left out: {error}")
            return None
        self._versions[system] = process.versions
        self._parameters.setdefault(model, {})[system] = process.num_parameters
        return process

    def _dropped_out(self, contender: Contender, error: TrainerError) -> None:
        self.missing.append(f"{contender.system} {contender.dtype} dropped out: {error}")

    def _describe(self, shape: ModelShape) -> str:
        counts = self._parameters.get(shape.name, {})
        parameters = ", ".join(f"{system} {count:,}" for system, count in counts.items())
        layers = f"{shape.num_layers}+{shape.num_layers} layers"
        sizes = f"{layers}, d_model {shape.d_model}, d_ff {shape.d_ff}, {shape.num_heads} heads"
        return f"{sizes}, one vocabulary of {shape.vocab_size:,}" + (f"; parameters: {parameters}" if counts else "")


def missing_systems(options: TrainOptions) -> dict[TrainingSystem, str]:
    """Returns the systems that are neither installed nor given another environment, each with a hint for either."""
    return {
        name: f"{name} is not installed here: pip install {PACKAGES[name].installed}, or name the Python of an "
        f"environment that has it: --python {name}=PATH"
        for name in options.systems
        if name not in options.pythons and importlib.util.find_spec(PACKAGES[name].imported) is None
    }


def make_works(
    shape: ModelShape, names: Sequence[BatchesName], corpus: SentencePairs | None
) -> tuple[TrainingWork, ...]:
    """Returns the requested kinds of batches for a model.

    Raises:
        DataError: the corpus has no pair that is short enough.
    """
    return tuple(
        equal_work(shape) if name == "equal" else unequal_work(shape, corpus or made_up_pairs(shape.vocab_size))
        for name in names
    )


def make_job(shape: ModelShape, dtype: TrainingDtype, options: TrainOptions) -> Job:
    """Returns the job for a trainer's process."""
    return Job(
        d_model=shape.d_model,
        d_ff=shape.d_ff,
        num_layers=shape.num_layers,
        num_heads=shape.num_heads,
        vocab_size=shape.vocab_size,
        dropout=DROPOUT,
        label_smoothing=LABEL_SMOOTHING,
        dtype=dtype,
        threads=options.threads,
        device=options.device,
        seed=1,
        max_len=LONGEST,
    )
