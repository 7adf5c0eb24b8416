"""The conditions that speed depends on: processor, instruction sets, package versions, speed of a float32 product."""

import platform
import re
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from attendo.bench.systems import torch_threads
from attendo.model.products import fast_float32_products
from attendo.threads import usable_cores

PACKAGES = ("attendo", "torch", "numpy", "ctranslate2", "transformers")
"""Packages whose versions a report gives."""
INSTRUCTIONS = (
    *("avx2", "avx512f", "avx512bw", "avx_vnni", "avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16"),
    *("asimd", "asimddp", "i8mm", "bf16", "sve"),
)
"""The instruction sets that matrix products use, by Linux' names."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The machine on which a bench ran."""

    processor: str
    """Name of the processor, as the operating system gives it."""
    cores: int
    """Number of cores that this process may use; two hardware threads of one core count as two."""
    instructions: tuple[str, ...]
    """Those of `INSTRUCTIONS` that the processor has; empty if the operating system does not list them."""
    system: str
    python: str
    gpus: tuple[str, ...]

    def to_text(self) -> str:
        """Returns the description in one line."""
        parts = [f"{self.processor}, {self.cores} cores", " ".join(self.instructions), *self.gpus, self.system]
        return "; ".join([*filter(None, parts), f"Python {self.python}"])


def this_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> Machine:
    """Describes this machine.

    Args:
        cpuinfo: Linux' description of the processor; if the file is missing, Python's `platform` names the processor.
    """
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    flags = set(_field(text, "flags|Features").split())
    return Machine(
        processor=_field(text, "model name") or platform.processor() or platform.machine(),
        cores=usable_cores(),
        instructions=tuple(name for name in INSTRUCTIONS if name in flags),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        gpus=tuple(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())),
    )


def versions() -> dict[str, str]:
    """Returns the versions of the installed ones among `PACKAGES`."""
    numbers = {}
    for package in PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            continue
    return numbers


def float32_speed(threads: int, *, at_least_s: float = 0.2) -> float:
    """Measures the additions and multiplications per second of a matrix product as large as those of decoding.

    Args:
        threads: number of torch's threads during the measurement.
        at_least_s: minimum duration of the measurement, in seconds.
    """
    left, right = torch.ones(256, 512), torch.ones(512, 2048)
    with torch_threads(threads), fast_float32_products(torch.device("cpu")):
        torch.mm(left, right)
        products, started = 0, time.perf_counter()
        while time.perf_counter() - started < at_least_s:
            torch.mm(left, right)
            products += 1
        seconds = time.perf_counter() - started
    return products * 2.0 * left.shape[0] * right.numel() / seconds


def _field(text: str, name: str) -> str:
    """Returns the value of the first line `name : value`; empty if there is none."""
    match = re.search(rf"^(?:{name})\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return match[1].strip() if match else ""
