"""Memory of calls whose pieces are known, and how often something is timed."""

import gc

import pytest
import torch

from attendo.paper.table1.layers import Sizes, passage, peak_bytes, time_passes

CPU = torch.device("cpu")


def test_the_most_memory_at_a_time() -> None:
    start = torch.zeros(1000, 250)  # a million bytes

    def call() -> None:
        first = start + 1
        second = first * 2
        del first
        third = second + 1
        del second, third

    assert peak_bytes(call, CPU) == pytest.approx(2_000_000, rel=1e-3)


def test_written_weights_show_in_the_memory_and_fused_ones_do_not() -> None:
    d = 8
    small, large, fused = (
        peak_bytes(passage("self-attention", Sizes(n=n, d=d, k=3, r=3), CPU), CPU) for n in (128, 512, 1100)
    )
    square = 4 * 512**2
    assert 2 * square < large < 5 * square
    assert large > 12 * small
    assert fused < 4 * 1100**2


def test_a_passage_leaves_nothing_behind() -> None:
    call = passage("convolutional", Sizes(n=64, d=16, k=3, r=3), CPU)
    call()
    gc.collect()
    once = peak_bytes(call, CPU)
    assert once == peak_bytes(call, CPU) > 0


def test_how_often_something_is_timed() -> None:
    calls = []
    seconds = time_passes(lambda: calls.append(1), CPU, repeats=4, most_s=60)
    assert (len(seconds), len(calls)) == (4, 5)  # and one that is not counted
    assert all(each >= 0 for each in seconds)
    # Whatever the limit, two are made.
    assert len(time_passes(lambda: calls.append(1), CPU, repeats=9, most_s=0)) == 2
