"""Training costs: the paper's estimate (time x GPUs x FLOP/s that each sustains) and FLOPs counted in products."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter

from attendo.bench.flops import mean_lengths, training_flops
from attendo.bench.machine import this_machine
from attendo.bench.systems import torch_threads
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.errors import ModelError, RecipeError
from attendo.files import write_json
from attendo.model.products import fast_float32_products
from attendo.paper.declared import declared
from attendo.paper.run_results import RunResult
from attendo.paper.study_folder import kept
from attendo.recipe import Recipe
from attendo.text.prepared import open_prepared
from attendo.training.position import position_of
from attendo.workflow.machine.device import choose_device
from attendo.workflow.machine.number_type import with_number_type
from attendo.workflow.runs.run_folder import resume_run

# --- the cost model ---------------------------------------------------------------------------------------------------

DAY_S = 86_400.0

PAPER_TFLOPS: Mapping[str, float] = {"K80": 2.8, "K40": 3.7, "M40": 6.0, "P100": 9.5}
"""TFLOPS in single precision that the paper assumes a GPU to sustain (footnote to Section 6.1)."""

SUSTAINED_SHARE = 0.35
"""Share of the data sheet's TFLOPS that training a Transformer is assumed to sustain; this was not measured."""

_SIDE = 1024
_WINDOWS = 5


@dataclass(frozen=True, kw_only=True)
class PaperGpu:
    """One of the paper's GPUs, with the cores and clocks that determine its peak in single precision."""

    name: str
    cores: int
    base_mhz: int
    boost_mhz: int
    note: str = ""

    def peak_tflops(self, mhz: int) -> float:
        """The peak at a clock, in TFLOPS: two operations, an addition and a multiplication, per core and cycle."""
        return 2 * self.cores * mhz / 1e6

    @property
    def tflops(self) -> Mapping[str, float]:
        """The peaks at the base and the boost clock, and the speed that the paper assumes, in TFLOPS."""
        base, boost = self.peak_tflops(self.base_mhz), self.peak_tflops(self.boost_mhz)
        return {"base": base, "boost": boost, "paper": PAPER_TFLOPS[self.name]}


PAPER_GPUS: tuple[PaperGpu, ...] = declared("table2/gpus.toml", "paper", tuple[PaperGpu, ...])
"""The paper's GPUs, with the cores and clocks that the vendor states."""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A present-day GPU with its vendor's own figures, in TFLOPS, without sparsity."""

    name: str
    float32: float
    """TFLOPS in float32 without tensor cores."""
    half: float
    """Dense TFLOPS of the tensor cores, accumulating in float32."""
    half_dtype: str
    """The 16-bit type of that figure: `bfloat16`, or `float16` for GPUs without bfloat16."""
    source: str
    """The source of the figures, such as `data sheet, SXM2`."""

    @property
    def sustained(self) -> float:
        """TFLOPS that a training is assumed to sustain."""
        return SUSTAINED_SHARE * self.half


TODAYS_GPUS: tuple[Gpu, ...] = declared("table2/gpus.toml", "today", tuple[Gpu, ...])


@dataclass(frozen=True, kw_only=True)
class SustainedRate:
    """The speed that a device is taken to sustain, and where that figure comes from."""

    flops: float
    """Floating-point operations per second."""
    what: str
    """Description for reports: `P100: the paper's 9.5 TFLOPS`, or the measurement."""


def training_cost(seconds: float, devices: int, sustained_flops: float) -> float:
    """The paper's estimate of the FLOPs of a training (Section 6.1): time x GPUs x the FLOP/s that each sustains.

    Args:
        seconds: duration of the training.
        devices: number of devices that train in parallel.
        sustained_flops: floating-point operations per second that one device sustains.
    """
    return seconds * devices * sustained_flops


def gpu_days(cost: float, gpu: str) -> float:
    """The days on one of the paper's GPUs that a printed cost corresponds to: the inverse of the estimate."""
    return cost / (PAPER_TFLOPS[gpu] * 1e12 * DAY_S)


def named_gpu(name: str) -> SustainedRate:
    """The speed that a GPU of `PAPER_TFLOPS` or `TODAYS_GPUS` is taken to sustain; case does not matter.

    Raises:
        RecipeError: the name is on neither list.
    """
    for known, tflops in PAPER_TFLOPS.items():
        if known.lower() == name.lower():
            return SustainedRate(flops=tflops * 1e12, what=f"{known}: the paper's {tflops} TFLOPS")
    for gpu in TODAYS_GPUS:
        if gpu.name.lower() == name.lower():
            return SustainedRate(
                flops=gpu.sustained * 1e12,
                what=f"{gpu.name}: {SUSTAINED_SHARE:.0%} assumed of {gpu.half:g} TFLOPS in {gpu.half_dtype}",
            )
    known_names = ", ".join([*PAPER_TFLOPS, *(gpu.name for gpu in TODAYS_GPUS)])
    raise RecipeError(f"{name}: what this GPU sustains is not known; take one of {known_names}")


def measured_flops(dtype: torch.dtype, device: torch.device, threads: int, *, window_s: float = 0.2) -> float:
    """The speed that a device sustains: additions and multiplications per second in products of 1024 x 1024 matrices.

    Returns the best of a few windows, since other work on the machine can only slow a window down.

    Args:
        dtype: type of both matrices.
        device: device that multiplies them.
        threads: processor threads to use.
        window_s: duration of each window in seconds.
    """
    left, right = (torch.ones(_SIDE, _SIDE, dtype=dtype, device=device) for _ in range(2))
    best = 0.0
    with torch_threads(threads), fast_float32_products(device):
        torch.mm(left, right)
        for _ in range(_WINDOWS):
            products, started = 0, _clock(device, threads)
            while _clock(device, threads) - started < window_s:
                torch.mm(left, right)
                products += 1
            best = max(best, products * 2.0 * _SIDE**3 / (_clock(device, threads) - started))
    return best


def _clock(device: torch.device, threads: int) -> float:
    """A clock in seconds: on a GPU, wall time once its queue is empty; otherwise this process's CPU time per thread."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        return time.perf_counter()
    return time.process_time() / threads


MEASURED = "sustained.json"

_DEVICES = re.compile(r"(?P<run>.+)=(?P<count>[1-9]\d{0,5})x(?P<gpu>[A-Za-z][A-Za-z0-9-]*)")


# --- the cost of runs -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TrainingCost:
    """The time, the devices and the FLOPs of one training."""

    run: str
    seconds: float
    """Wall time of all sessions, validation and saving included."""
    devices: int
    """Number of devices that trained in parallel."""
    sustained: SustainedRate | None
    """The speed that one device sustains; None if the run was trained on a machine that was not measured."""
    counted: float
    """FLOPs of the matrix products in forward and backward passes."""

    @property
    def device(self) -> str:
        """The speed that one device sustains in words, or `not measured`."""
        return self.sustained.what if self.sustained else "not measured"

    @property
    def minutes(self) -> float:
        """Wall time in minutes."""
        return self.seconds / 60

    @property
    def estimated(self) -> float | None:
        """The paper's estimate in FLOPs; None where the machine was not measured."""
        return training_cost(self.seconds, self.devices, self.sustained.flops) if self.sustained else None

    @property
    def utilisation(self) -> float | None:
        """Counted FLOPs as a share of the estimate, that is, of what the devices would sustain; None without one."""
        return self.counted / self.estimated if self.estimated else None

    def to_json(self) -> dict[str, Any]:
        """The fields, the estimate and the utilisation, for `result.json`."""
        return {**asdict(self), "estimated": self.estimated, "utilisation": self.utilisation}


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The measured speed of a device in products of large matrices."""

    machine: str
    threads: int
    dtype: str
    flops: float
    """Floating-point operations per second."""


_MEASUREMENTS = TypeAdapter(tuple[Measurement, ...])


def measure(folder: Path, recipe: Recipe, threads: int) -> Measurement:
    """Measures the speed that this machine sustains in the dtype of a recipe's products, unless that is kept.

    Args:
        folder: the study folder; its `sustained.json` keeps the measurements, those of other machines included.
        recipe: recipe that determines the device and the dtype.
        threads: processor threads of one run.

    Raises:
        OSError: the folder cannot be written to.
    """
    machine, dtype = this_machine().to_text(), with_number_type(recipe).training.dtype
    known = _kept_measurements(folder)
    for entry in known:
        if (entry.machine, entry.threads, entry.dtype) == (machine, threads, dtype):
            return entry
    measurement = Measurement(
        machine=machine,
        threads=threads,
        dtype=dtype,
        flops=measured_flops(getattr(torch, dtype), choose_device(recipe.training.device), threads),
    )
    write_json(folder / MEASURED, [asdict(entry) for entry in (*known, measurement)])
    return measurement


def study_cost(folder: Path, name: str, result: RunResult, dtype: str) -> TrainingCost:
    """The cost of one of a study's runs, by the measured speed of the machine that its result names.

    Args:
        folder: the study folder, which has `sustained.json`.
        name: name of the run in tables.
        result: result of the run.
        dtype: type of its products.
    """
    key = (result.machine, result.threads, dtype)
    measured = next(
        (entry for entry in _kept_measurements(folder) if (entry.machine, entry.threads, entry.dtype) == key), None
    )
    return TrainingCost(
        run=name,
        seconds=result.seconds,
        devices=1,
        sustained=_as_sustained(measured) if measured else None,
        counted=result.flops,
    )


def folder_cost(argument: str, measured: Callable[[Recipe], Measurement]) -> TrainingCost:
    """The cost of a run folder's training so far, from its last checkpoint.

    Args:
        argument: the folder, followed by a suffix such as `=8xP100` if it was trained on that many GPUs of that name.
        measured: measures the speed of this machine for a recipe; called if no GPUs are named, since a run folder does
            not record where it was trained.

    Raises:
        ModelError: the folder is not a run, or has no usable checkpoint.
        DataError: its prepared data is missing.
        RecipeError: the speed of the GPU is not known.
    """
    match = _DEVICES.fullmatch(argument)
    folder, count, gpu = (Path(match["run"]), int(match["count"]), match["gpu"]) if match else (Path(argument), 1, "")
    recipe, prepared_folder = resume_run(folder, [])
    checkpoint = Checkpoints(folder / "checkpoints", 1).latest(lambda line: None)
    if checkpoint is None:
        raise ModelError(f"{folder}: has no checkpoint yet, which says how long it has trained")
    try:
        position = position_of(checkpoint.state["position"])
    except (KeyError, ValueError) as error:
        raise ModelError(f"{folder}: its last checkpoint does not say how far it is ({error})") from error
    prepared = open_prepared(prepared_folder)
    sizes = (prepared.source_tokenizer.vocab_size, prepared.target_tokenizer.vocab_size)
    return TrainingCost(
        run=folder.name,
        seconds=position.elapsed_s,
        devices=count,
        sustained=named_gpu(gpu) if gpu else _as_sustained(measured(recipe), "here; its log does not say where it ran"),
        counted=training_flops(recipe.model, sizes, mean_lengths(prepared), position.target_tokens),
    )


def full_size_flops(recipe: Recipe, length: int) -> float:
    """FLOPs of the matrix products of a recipe's whole training, if all batches are full.

    Args:
        recipe: recipe of the training.
        length: mean number of tokens of a source and of its target, `</s>` included.
    """
    sizes = (recipe.tokenizer.vocab_size, recipe.tokenizer.vocab_size)
    tokens = recipe.training.max_steps * recipe.training.max_tokens
    return training_flops(recipe.model, sizes, (length, length), tokens)


def _as_sustained(measurement: Measurement, where: str = "here") -> SustainedRate:
    device = (
        "GPU"
        if torch.cuda.is_available()
        else f"{measurement.threads} processor thread{'s' * (measurement.threads > 1)}"
    )
    return SustainedRate(
        flops=measurement.flops,
        what=f"{device}: {measurement.flops / 1e12:.3f} TFLOPS in {measurement.dtype}, measured {where}",
    )


def _kept_measurements(folder: Path) -> tuple[Measurement, ...]:
    return kept(folder / MEASURED, _MEASUREMENTS) or ()
