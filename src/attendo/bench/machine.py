"""What speed depends on: the processor and its instructions, the packages, how fast a plain product is here."""

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
"""Whose versions a table names."""
INSTRUCTIONS = (
    *("avx2", "avx512f", "avx512bw", "avx_vnni", "avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16"),
    *("asimd", "asimddp", "i8mm", "bf16", "sve"),
)
"""Of a processor's many extensions, those that matrix products use, by Linux' names."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where a bench ran."""

    processor: str
    """Its name as the system tells it."""
    cores: int
    """Those that this process may use; two threads of one core count twice."""
    instructions: tuple[str, ...]
    """Of `INSTRUCTIONS`, those it has; none where the system does not tell."""
    system: str
    python: str
    gpus: tuple[str, ...]

    def to_text(self) -> str:
        """A line."""
        parts = [f"{self.processor}, {self.cores} cores", " ".join(self.instructions), *self.gpus, self.system]
        return "; ".join([*filter(None, parts), f"Python {self.python}"])


def this_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> Machine:
    """Looks at this machine.

    Args:
        cpuinfo: Linux' description of the processor; where it is not there, what Python knows has to do.
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
    """The versions of the packages at hand, without those that are not."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def float32_speed(threads: int, *, at_least_s: float = 0.2) -> float:
    """Additions and multiplications a second of a product of the size that decoding has.

    Args:
        threads: torch's while it is measured.
        at_least_s: seconds to measure for.
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
    """The value of the first line `name : value`."""
    found = re.search(rf"^(?:{name})\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else ""
