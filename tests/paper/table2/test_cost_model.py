"""The cost model against the paper's own figures, GPUs against their clocks, the benchmark under a clock of ours."""

import itertools
import time

import pytest
import torch

from attendo.errors import RecipeError
from attendo.paper.table2.costs import PAPER_GPUS, TODAYS_GPUS, gpu_days, measured_flops, named_gpu, training_cost


def test_the_papers_own_costs() -> None:
    # Section 5.2 and the footnote of 6.1: 12 hours and 3.5 days on eight P100 of 9.5 TFLOPS; Table 2: 3.3e18, 2.3e19.
    assert training_cost(12 * 3600, 8, 9.5e12) == pytest.approx(3.2832e18)
    assert training_cost(3.5 * 86400, 8, 9.5e12) == pytest.approx(2.29824e19)
    assert gpu_days(3.2832e18, "P100") == pytest.approx(4.0)  # 8 for half a day
    # Wu et al. (2016): six days on 96 K80; Table 2 has 1.4e20.
    assert gpu_days(1.4e20, "K80") == pytest.approx(6 * 96, rel=0.01)


def test_peaks_are_those_that_vendors_print() -> None:
    peaks = {gpu.name: (gpu.peak_tflops(gpu.base_mhz), gpu.peak_tflops(gpu.boost_mhz)) for gpu in PAPER_GPUS}
    # Data sheets: K80 8.73 with boost for its two processors, 5.6 without; K40 4.29 and 5.04; P100 (PCIe) 9.3 to 9.5.
    assert 2 * peaks["K80"][1] == pytest.approx(8.73, abs=0.01)
    assert 2 * peaks["K80"][0] == pytest.approx(5.6, abs=0.02)
    assert peaks["K40"][0] == pytest.approx(4.29, abs=0.01)
    assert peaks["K40"][1] == pytest.approx(5.04, abs=0.01)
    assert peaks["P100"][1] == pytest.approx(9.5, abs=0.05)


def test_dense_figures_are_below_those_with_sparsity() -> None:
    # Of the H100's data sheet: 1,979 with sparsity, which is twice the dense figure.
    by_name = {gpu.name: gpu for gpu in TODAYS_GPUS}
    assert 2 * by_name["H100"].half == pytest.approx(1979, abs=1)
    assert 2 * by_name["A100"].half == 624
    assert by_name["V100"].half_dtype == "float16"  # it has no bfloat16


def test_a_gpu_by_its_name() -> None:
    assert named_gpu("p100").flops == 9.5e12
    assert "the paper" in named_gpu("P100").what
    found = named_gpu("A100")
    assert found.flops == pytest.approx(0.35 * 312e12)
    assert "35% assumed of 312 TFLOPS in bfloat16" in found.what
    with pytest.raises(RecipeError, match=r"P1000: .* K80, K40, M40, P100, V100"):
        named_gpu("P1000")


def test_a_product_is_timed_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # Under a clock that goes on by an eighth of a second a look, a window of a quarter has one product in 3/8 s.
    clock = itertools.count(0)
    monkeypatch.setattr(time, "process_time", lambda: next(clock) / 8)
    found = measured_flops(torch.float32, torch.device("cpu"), 1, window_s=0.25)
    assert found == pytest.approx(2 * 1024**3 / 0.375)
    # Two threads work twice the time of a clock on the wall.
    found = measured_flops(torch.float32, torch.device("cpu"), 2, window_s=0.125)
    assert found == pytest.approx(2 * 2 * 1024**3 / 0.375)
