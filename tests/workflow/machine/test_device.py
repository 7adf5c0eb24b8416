import pytest
import torch

from attendo.errors import AttendoError
from attendo.workflow.machine.device import choose_device


def test_cpu_is_always_there() -> None:
    assert choose_device("cpu") == torch.device("cpu")


def test_auto_takes_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for there, device in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        monkeypatch.setattr(torch.cuda, "device_count", lambda there=there: int(there))
        assert choose_device("auto").type == device


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(AttendoError, match='device = "cuda", but torch sees no GPU here; take "auto" or "cpu"'):
        choose_device("cuda")


def test_each_process_of_a_machine_has_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [choose_device("auto", number) for number in (0, 1)] == [torch.device("cuda", 0), torch.device("cuda", 1)]
    with pytest.raises(AttendoError, match=r"process 3 of this machine has no GPU: torch sees 2 here"):
        choose_device("auto", 2)
    assert choose_device("cpu", 2) == torch.device("cpu")
