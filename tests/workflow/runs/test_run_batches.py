"""How many processes rewrite a training's pairs."""

import pytest
import torch

from attendo.workflow.runs import run_batches
from attendo.workflow.runs.run_batches import num_workers


@pytest.mark.parametrize(
    ("setting", "device", "cores", "processes", "expected"),
    [
        (None, "cpu", 16, 1, 1),  # training needs the cores itself
        (3, "cpu", 16, 1, 3),
        (None, "cuda", 16, 1, 8),
        (None, "cuda", 16, 4, 3),
        (None, "cuda", 2, 1, 1),
        (None, "cuda", 2, 8, 1),
        (5, "cuda", 2, 8, 5),
    ],
)
def test_a_gpu_has_workers_as_the_cores_allow(
    setting: int | None, device: str, cores: int, processes: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_batches, "usable_cores", lambda: cores)
    assert num_workers(setting, torch.device(device), processes) == expected
