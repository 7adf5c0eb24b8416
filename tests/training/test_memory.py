"""The memory of a training process.

That freed memory is kept, glibc itself says (mallinfo2); that there is no more, the errors of torch and numpy.
"""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from attendo.training.batches import Place
from attendo.training.loader import LoadedUpdate
from attendo.training.memory import is_out_of_memory, smaller_pieces

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


def test_what_torch_and_numpy_raise_is_known() -> None:
    with pytest.raises(RuntimeError) as of_torch:
        torch.empty(2**57)
    with pytest.raises(MemoryError) as of_numpy:
        np.empty(2**57)
    assert is_out_of_memory(of_torch.value)
    assert is_out_of_memory(of_numpy.value)
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))


def test_other_errors_are_not() -> None:
    with pytest.raises(RuntimeError) as of_shapes:
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    assert not is_out_of_memory(of_shapes.value)
    assert not is_out_of_memory(OSError("not enough memory"))


@pytest.mark.parametrize(
    ("num_pairs", "longest", "before", "after"),
    [
        (10, 20, None, 100),  # 200 padded tokens at once: halved
        (10, 20, 1000, 100),  # a limit that did not bind
        (10, 20, 100, 50),
        (10, 20, 50, 25),  # pieces of 2 pairs become pieces of 1
        (10, 20, 39, None),  # pieces of 1 pair
        (1, 20, None, None),
    ],
)
def test_pieces_are_halved_down_to_a_pair(num_pairs: int, longest: int, before: int | None, after: int | None) -> None:
    loaded = LoadedUpdate(place=Place(batch=1), pieces=(), num_tokens=1, num_pairs=num_pairs, longest=longest)
    assert smaller_pieces(loaded, before) == after
