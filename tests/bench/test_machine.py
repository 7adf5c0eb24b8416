"""What Linux writes of two processors, and what is at hand here."""

from importlib.metadata import version
from pathlib import Path

import pytest

from attendo.bench.machine import float32_speed, this_machine, versions

X86 = """processor\t: 0
model name\t: AMD EPYC 9B45
flags\t\t: fpu sse2 avx2 avx512f avx512_vnni amx
bogomips\t: 5192.24

processor\t: 1
model name\t: another
flags\t\t: fpu
"""
ARM = "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd asimddp i8mm\n"


@pytest.mark.parametrize(
    ("cpuinfo", "name", "instructions"),
    [(X86, "AMD EPYC 9B45", ("avx2", "avx512f", "avx512_vnni")), (ARM, None, ("asimd", "asimddp", "i8mm"))],
)
def test_the_processor(cpuinfo: str, name: str | None, instructions: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    machine = this_machine(tmp_path / "cpuinfo")
    assert machine.instructions == instructions
    assert machine.processor == name or (name is None and machine.processor)
    assert machine.processor in machine.to_text()


def test_a_system_that_tells_nothing(tmp_path: Path) -> None:
    machine = this_machine(tmp_path / "nowhere")
    assert machine.processor
    assert machine.instructions == ()


def test_versions_are_the_packages_own() -> None:
    found = versions()
    assert found["torch"] == version("torch")
    assert found["attendo"] == version("attendo")


def test_the_speed_of_a_product_is_a_number() -> None:
    assert float32_speed(1, at_least_s=0.001) > 1e6
