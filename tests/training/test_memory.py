"""That freed memory stays with the process while it trains, by what glibc says of itself (mallinfo2)."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, json, torch
from attendo.training.memory import kept_memory

FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]
libc = ctypes.CDLL(None)
if not hasattr(libc, "mallinfo2"):
    print("null")
    raise SystemExit
libc.mallinfo2.restype = Info

def growth():
    "Bytes in maps of their own while a tensor of 48 MB is there, and in the heap when it is gone."
    before = libc.mallinfo2()
    tensor = torch.ones(12_000_000)
    mapped = libc.mallinfo2().hblkhd - before.hblkhd
    del tensor
    return mapped, libc.mallinfo2().arena - before.arena

found = [growth()]
with kept_memory() as kept:
    found.append(growth())
found.append(growth())
print(json.dumps([kept, *found]))
"""


def test_freed_memory_is_kept_within_the_block() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    if found is None or not found[0]:
        pytest.skip("this system's allocator cannot be told to keep memory, or does not tell")
    before, within, behind = found[1:]
    size = 48_000_000
    assert before[0] >= size, "such a tensor has a map of its own, which goes when it goes"
    assert within[0] == 0
    assert within[1] >= size, "it comes from the heap, which stays as large"
    assert behind[0] >= size


def test_nothing_is_kept_where_address_space_is_limited() -> None:
    """In one piece it could not be given back, and smaller pieces of an update would find no room either."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 40, resource.RLIM_INFINITY))\n"
    done = subprocess.run([sys.executable, "-c", limit + PROGRAM], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    if found is None:
        pytest.skip("the allocator is not glibc's")
    kept, before, within, _ = found
    assert not kept
    assert within[0] >= before[0] >= 48_000_000, "a tensor has a map of its own, within the block too"
