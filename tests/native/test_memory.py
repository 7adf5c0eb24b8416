"""Memory of the kernels: given back with the objects that have it, bounded, and running out of it."""

import gc
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.native.conftest import (
    as_ids,
    assert_same_bits,
    decode,
    each_variant,
    make_stories,
    one_variant,
    random_model,
)

from attendo.decoding.backends import native_model
from attendo.decoding.backends.native_model import NativeModel, NativeStep
from attendo.errors import ModelError
from attendo.native.library import Kernels

STATUS, TASKS = Path("/proc/self/statm"), Path("/proc/self/task")
on_linux = pytest.mark.skipif(not STATUS.exists(), reason="reads /proc")


def memory(*, resident: bool) -> int:
    """Bytes that this process has in memory, or that it could."""
    return int(STATUS.read_text().split()[1 if resident else 0]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def at_most(more: int) -> Iterator[None]:
    """No more than so many bytes can be had inside."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory(resident=False) + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def write(step: NativeStep, positions: int, *, width: int = 1) -> None:
    """Goes on from a batch's start with so many hypotheses a sentence."""
    rows = len(step.start().top_k(1)[1])
    step.select(np.arange(rows)[:, None].repeat(width, axis=1))
    for _ in range(positions):
        step.advance(as_ids([3] * rows * width)).top_k(2)


@one_variant
def test_a_model_is_gone_with_its_last_step(kernels: Kernels) -> None:
    gc.collect()
    gc.disable()  # all that is said here is without its help
    try:
        native = NativeModel(random_model(), dtype="int8", kernels=kernels)
        gone = weakref.ref(native)
        step, idle = native.step([[1, 0]]), native.step([[2, 0]])
        write(step, 3)
        write(idle, 2)
        del idle, native
        step.advance(as_ids([4]))
        assert gone() is not None
        assert np.isfinite(step.all()).all()
        del step
        assert gone() is None
    finally:
        gc.enable()


@one_variant
def test_sessions_are_used_again(kernels: Kernels) -> None:
    native = NativeModel(random_model(), dtype="int8", kernels=kernels)
    first, second = native.borrow(1), native.borrow(1)
    native.give_back(first, 1)
    assert native.borrow(2) is not first
    assert native.borrow(1) is first
    native.give_back(second, 1)
    step = native.step([[1, 0]])
    write(step, 3)
    del step
    with pytest.raises(ModelError, match="token id"):
        native.step([[40]])
    assert native.borrow(1) is second


@one_variant
def test_an_unusually_large_session_is_not_kept(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    native = NativeModel(random_model(), dtype="float32", kernels=kernels)
    session = native.borrow(1)
    native.give_back(session, 1)
    step = native.step([[1, 0]] * 3)
    write(step, 40, width=4)
    # 2 layers, a key and a value of 32 numbers at 40 positions of 4 hypotheses of 3 sentences, and the rest.
    at_least = 2 * 2 * 32 * 4 * 40 * 4 * 3
    assert at_least < session.num_bytes < 10 * at_least
    monkeypatch.setattr(native_model, "_KEPT_BYTES", at_least)
    del step
    assert native.borrow(1) is not session


@one_variant
def test_a_long_and_a_wide_batch_do_not_multiply(kernels: Kernels) -> None:
    native = NativeModel(random_model(num_layers=1, d_k=64, d_v=64), dtype="float32", kernels=kernels)
    session = native.borrow(1)
    native.give_back(session, 1)
    position = 2 * 128 * 4  # of one hypothesis: a key and a value, two heads of 64 float32
    for _ in range(2):
        write(native.step([[1, 0]]), 500)
        write(native.step([[1, 0]]), 5, width=100)
    # Room for positions is doubled from 32 on: 512 of them, or 32 of 100 hypotheses.
    assert session.num_bytes < 2 * max(512, 32 * 100) * position
    stories = make_stories((34, 3), (40, 40))
    fresh = NativeModel(random_model(num_layers=1, d_k=64, d_v=64), dtype="float32", kernels=kernels)
    for one, other in zip(decode(native.step, stories), decode(fresh.step, stories), strict=True):
        assert_same_bits(one, other)


@on_linux
@one_variant
def test_nothing_leaks(kernels: Kernels) -> None:
    model = random_model(400)

    def work(times: int) -> None:
        native = NativeModel(model, dtype="int8", kernels=kernels)
        for number in range(times):
            threads = 1 + (number % 10 == 3)
            write(native.step([[1, 0]] * (number % 5 + 1), threads=threads), number % 3, width=number % 4 + 1)
            if number % 5 == 0:
                native = NativeModel(model, dtype="int8", kernels=kernels)

    work(100)
    before = memory(resident=True)
    work(300)
    # The weights of one such model are 100 kB, and there are sixty.
    assert memory(resident=True) - before < 2**21


@on_linux
@each_variant
@pytest.mark.parametrize("megabytes", [0, 8, 30])
def test_out_of_memory_is_an_error_after_which_it_goes_on(kernels: Kernels, megabytes: int) -> None:
    native = NativeModel(random_model(), dtype="float32", kernels=kernels)
    stories = make_stories((5, 3), (40, 40))
    before = decode(native.step, stories)
    # Encoding wants some 80 MB, and what the hypotheses write another 400.
    sources = [[1] * 200] * 400
    # A megabyte more for the array of ids, which numpy makes before.
    with at_most((megabytes + 1) << 20), pytest.raises(MemoryError, match="take smaller batches"):
        write(native.step(sources), 2, width=64)
    for one, other in zip(before, decode(native.step, stories), strict=True):
        assert_same_bits(one, other)
    step = native.step([[1] * 20] * 5).start()
    wide = np.arange(5)[:, None].repeat(30_000, axis=1)
    with at_most(megabytes << 20), pytest.raises(MemoryError, match="ran out of memory"):
        step.select(wide)
    del step
    for one, other in zip(before, decode(native.step, stories), strict=True):
        assert_same_bits(one, other)


@on_linux
@one_variant
def test_where_the_system_gives_no_threads_fewer_do_the_work(kernels: Kernels) -> None:
    native = NativeModel(random_model(), dtype="float32", kernels=kernels)
    stories = make_stories((5, 3), (40, 40))
    alone = decode(native.step, stories)
    threads = len(list(TASKS.iterdir()))
    with at_most(20 << 20):  # room for two stacks of the usual 8 MB
        step = native.step([story.source for story in stories], threads=64)
        assert len(list(TASKS.iterdir())) < threads + 63
        del step
    for one, other in zip(alone, decode(lambda sources: native.step(sources, threads=64), stories), strict=True):
        assert_same_bits(one, other)


@on_linux
@one_variant
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_may_forget_an_engine(kernels: Kernels) -> None:
    """Its threads stay with the process that made them, and cannot be joined anywhere else."""
    native = NativeModel(random_model(), dtype="int8", kernels=kernels)
    story = make_stories((4,), (40, 40))[0]
    decode(partial(native.step, threads=2), [story])
    child = os.fork()
    if child == 0:
        del native
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    decode(partial(native.step, threads=2), [story])
