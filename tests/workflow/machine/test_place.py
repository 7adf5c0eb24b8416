"""Where to decode and with how many threads, in processes in which torch is not loaded."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import torch

from attendo.errors import AttendoError
from attendo.workflow.machine import place
from attendo.workflow.machine.place import choose_place, choose_threads


def without_torch(code: str, **environment: str) -> Any:
    """What an expression comes to in a process of its own that has not loaded torch."""
    imports = "import json, sys; from attendo.workflow.machine import place"
    code = f"{imports}; print(json.dumps([{code}, 'torch' in sys.modules]))"
    kept = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", code]
    finished = subprocess.run(command, check=True, capture_output=True, text=True, env={**kept, **environment})
    found, is_loaded = json.loads(finished.stdout)
    assert not is_loaded
    return found


def test_the_processor_is_found_without_torch() -> None:
    assert without_torch("place.choose_place('cpu')") == "cpu"
    no_driver = "setattr(place.ctypes, 'CDLL', lambda name: (_ for _ in ()).throw(OSError()))"
    if not os.path.exists("/dev/kfd"):  # noqa: PTH110
        assert without_torch(f"({no_driver}, place.choose_place('auto'))[1]") == "cpu"


def test_threads_are_the_users_or_the_cores() -> None:
    assert without_torch("place.choose_threads(3)") == 3
    assert without_torch("place.choose_threads(None)", OMP_NUM_THREADS="5,2") == 5
    cores = without_torch("[place.choose_threads(None), place.usable_cores(), place.physical_cores()]")
    assert cores[0] == min(cores[1:]) >= 1


def test_where_torch_is_loaded_it_has_as_many_and_is_asked_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_threads(2) == torch.get_num_threads() == 2
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert choose_place("auto") == choose_place("cuda") == "cuda:0"
    assert choose_place("cpu") == "cpu"


def test_a_setting_that_is_none() -> None:
    with pytest.raises(AttendoError, match=r"^device = 'gpu' is unknown; take one of auto, cpu, cuda$"):
        choose_place("gpu")


def test_a_gpu_needs_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_is_torch_loaded", lambda: False)
    monkeypatch.setattr("attendo.workflow.extras.find_spec", lambda name: None)
    assert choose_place("auto") == "cpu"
    with pytest.raises(AttendoError, match=r'^torch: not installed, and needed here; pip install "attendo\[train\]"$'):
        choose_place("cuda")
