"""What trainings cost: by the paper's estimate, time by GPUs by what each sustains, and counted from their products."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter

from attendo.bench.machine import this_machine
from attendo.bench.systems import torch_threads
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.errors import ModelError, RecipeError
from attendo.files import write_json
from attendo.model.products import fast_float32_products
from attendo.paper.declared import declared
from attendo.paper.run_results import RunResult, mean_lengths, training_flops
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
"""What the paper takes a GPU to sustain in single precision (footnote to Section 6.1)."""

SUSTAINED_SHARE = 0.35
"""Of a data sheet's figure that a training of the Transformer is taken to sustain: an assumption, no measurement."""

_SIDE = 1024
_WINDOWS = 5


@dataclass(frozen=True, kw_only=True)
class Clocked:
    """One of the paper's GPUs, by its cores and clocks: what its peak in single precision comes to."""

    name: str
    cores: int
    base_mhz: int
    boost_mhz: int
    note: str = ""

    def peak_tflops(self, mhz: int) -> float:
        """Two operations, an addition and a multiplication, a core and cycle; in 1e12 a second."""
        return 2 * self.cores * mhz / 1e6

    @property
    def tflops(self) -> Mapping[str, float]:
        """The peak at either clock, and what the paper takes it to sustain."""
        base, boost = self.peak_tflops(self.base_mhz), self.peak_tflops(self.boost_mhz)
        return {"base": base, "boost": boost, "paper": PAPER_TFLOPS[self.name]}


PAPER_GPUS: tuple[Clocked, ...] = declared("table2/gpus.toml", "paper", tuple[Clocked, ...])
"""Cores and clocks are the vendor's."""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU of today with its vendor's own figures, in TFLOPS, sparsity left out."""

    name: str
    float32: float
    """Without tensor cores."""
    half: float
    """Of the tensor cores, dense, summed up in float32."""
    half_dtype: str
    """What these multiply: `bfloat16`, or `float16` where there is no other."""
    source: str
    """What the figures stand in."""

    @property
    def sustained(self) -> float:
        """TFLOPS that a training is taken to sustain."""
        return SUSTAINED_SHARE * self.half


TODAYS_GPUS: tuple[Gpu, ...] = declared("table2/gpus.toml", "today", tuple[Gpu, ...])


@dataclass(frozen=True, kw_only=True)
class Sustained:
    """What a device is taken to sustain, and why."""

    flops: float
    """A second."""
    what: str
    """For people: `P100, the paper's 9.5 TFLOPS`, or what was measured."""


def training_cost(seconds: float, devices: int, sustained_flops: float) -> float:
    """The paper's estimate of the FLOPs of a training (Section 6.1): time, by GPUs, by what one of them sustains.

    Args:
        seconds: of training.
        devices: that trained side by side.
        sustained_flops: a second, of one of them.
    """
    return seconds * devices * sustained_flops


def gpu_days(cost: float, gpu: str) -> float:
    """The days on one of the paper's GPUs that a printed cost comes to: the estimate, the other way round."""
    return cost / (PAPER_TFLOPS[gpu] * 1e12 * DAY_S)


def named_gpu(name: str) -> Sustained:
    """What a GPU of either list is taken to sustain.

    Raises:
        RecipeError: it is on neither list.
    """
    for known, tflops in PAPER_TFLOPS.items():
        if known.lower() == name.lower():
            return Sustained(flops=tflops * 1e12, what=f"{known}: the paper's {tflops} TFLOPS")
    for gpu in TODAYS_GPUS:
        if gpu.name.lower() == name.lower():
            return Sustained(
                flops=gpu.sustained * 1e12,
                what=f"{gpu.name}: {SUSTAINED_SHARE:.0%} assumed of {gpu.half:g} TFLOPS in {gpu.half_dtype}",
            )
    known_names = ", ".join([*PAPER_TFLOPS, *(gpu.name for gpu in TODAYS_GPUS)])
    raise RecipeError(f"{name}: what this GPU sustains is not known; take one of {known_names}")


def measured_flops(dtype: torch.dtype, device: torch.device, threads: int, *, window_s: float = 0.2) -> float:
    """Additions and multiplications a second of a product of two 1024 x 1024 matrices: what this device can sustain.

    The best of a few windows, by the processor's own time: whatever else the machine does takes away, and nothing adds.

    Args:
        dtype: of both matrices.
        device: where they are.
        threads: of the processor, while it is measured.
        window_s: seconds of each window.
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
    """Seconds that the device has worked for this process: of a processor, not those in which it did other work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        return time.perf_counter()
    return time.process_time() / threads


MEASURED = "sustained.json"

_DEVICES = re.compile(r"(?P<run>.+)=(?P<count>[1-9]\d{0,5})x(?P<gpu>[A-Za-z][A-Za-z0-9-]*)")


# --- of runs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TrainingCost:
    """What one training took."""

    run: str
    seconds: float
    """Wall time with validation and saving, in all sittings."""
    devices: int
    """That trained side by side."""
    sustained: Sustained | None
    """Of one of them; None where it was trained on a machine that was not measured."""
    counted: float
    """FLOPs of the matrix products, forward and back."""

    @property
    def device(self) -> str:
        """What one of them sustains, in words."""
        return self.sustained.what if self.sustained else "not measured"

    @property
    def minutes(self) -> float:
        """Wall time."""
        return self.seconds / 60

    @property
    def estimated(self) -> float | None:
        """The paper's estimate, in FLOPs."""
        return training_cost(self.seconds, self.devices, self.sustained.flops) if self.sustained else None

    @property
    def utilisation(self) -> float | None:
        """The share of the estimate that the products are: what the device did of what it is taken to sustain."""
        return self.counted / self.estimated if self.estimated else None

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {**asdict(self), "estimated": self.estimated, "utilisation": self.utilisation}


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What a device sustained in products of large matrices."""

    machine: str
    threads: int
    dtype: str
    flops: float
    """A second."""


_MEASUREMENTS = TypeAdapter(tuple[Measurement, ...])


def measure(folder: Path, recipe: Recipe, threads: int) -> Measurement:
    """Measures what this machine sustains in the dtype of a recipe's products, once a study folder.

    Args:
        folder: the study's; `sustained.json` keeps what was measured, of other machines too.
        recipe: of what is trained.
        threads: of the processor, for one run.

    Raises:
        OSError: the folder cannot be written to.
    """
    machine, dtype = this_machine().to_text(), with_number_type(recipe).training.dtype
    known = _known(folder)
    for one in known:
        if (one.machine, one.threads, one.dtype) == (machine, threads, dtype):
            return one
    found = Measurement(
        machine=machine,
        threads=threads,
        dtype=dtype,
        flops=measured_flops(getattr(torch, dtype), choose_device(recipe.training.device), threads),
    )
    write_json(folder / MEASURED, [asdict(one) for one in (*known, found)])
    return found


def study_cost(folder: Path, name: str, result: RunResult, dtype: str) -> TrainingCost:
    """The cost of a run of a study, on the machine that its result names.

    Args:
        folder: with `sustained.json`.
        name: what tables call the run.
        result: the run's.
        dtype: of its products.
    """
    wanted = (result.machine, result.threads, dtype)
    measured = next((one for one in _known(folder) if (one.machine, one.threads, one.dtype) == wanted), None)
    return TrainingCost(
        run=name,
        seconds=result.seconds,
        devices=1,
        sustained=_as_sustained(measured) if measured else None,
        counted=result.flops,
    )


def folder_cost(argument: str, measured: Callable[[Recipe], Measurement]) -> TrainingCost:
    """The cost of a run folder's training so far, from its own log.

    Args:
        argument: the folder; `=8xP100` behind it where it was trained on so many GPUs of that name.
        measured: what this machine sustains for a recipe; asked where no GPUs are named, for a log does not say where
            it was written.

    Raises:
        ModelError: the folder is no run, or has no checkpoint.
        DataError: its prepared data is gone.
        RecipeError: what the GPU sustains is not known.
    """
    given = _DEVICES.fullmatch(argument)
    folder, count, gpu = (Path(given["run"]), int(given["count"]), given["gpu"]) if given else (Path(argument), 1, "")
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
    """FLOPs of the products of a recipe's whole training, its batches full.

    Args:
        recipe: at full size.
        length: tokens of an average source and of its target.
    """
    sizes = (recipe.tokenizer.vocab_size, recipe.tokenizer.vocab_size)
    tokens = recipe.training.max_steps * recipe.training.max_tokens
    return training_flops(recipe.model, sizes, (length, length), tokens)


def _as_sustained(found: Measurement, where: str = "here") -> Sustained:
    device = "GPU" if torch.cuda.is_available() else f"{found.threads} processor thread{'s' * (found.threads > 1)}"
    return Sustained(
        flops=found.flops,
        what=f"{device}: {found.flops / 1e12:.3f} TFLOPS in {found.dtype}, measured {where}",
    )


def _known(folder: Path) -> tuple[Measurement, ...]:
    return kept(folder / MEASURED, _MEASUREMENTS) or ()
