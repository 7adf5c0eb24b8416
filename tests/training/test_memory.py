"""That freed memory stays with the process: pages that are used again are not asked of the system anew."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
import torch
from attendo.training.memory import keep_freed_memory

torch.set_num_threads(1)
kept = keep_freed_memory() if sys.argv[1] == "keep" else False
def use():
    for _ in range(5):
        torch.ones(12_000_000)
use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
use()
print(int(kept), resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(mode: str) -> tuple[bool, int]:
    found = subprocess.run([sys.executable, "-c", PROGRAM, mode], capture_output=True, text=True, check=True)
    kept, faults = found.stdout.split()
    return kept == "1", int(faults)


def test_freed_memory_is_kept() -> None:
    kept, faults = page_faults("keep")
    if not kept:
        pytest.skip("this system's allocator cannot be told to keep memory")
    assert faults < 100
    assert page_faults("leave")[1] > 1000, "48 MB in pages are given back and asked for each time"
