import pytest
import torch

from attendo.errors import AttendoError
from attendo.workflow.device import choose_device


def test_cpu_is_always_there() -> None:
    assert choose_device("cpu") == torch.device("cpu")


def test_auto_takes_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for there, device in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert choose_device("auto").type == device


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(AttendoError, match='device = "cuda", but torch sees no GPU here; take "auto" or "cpu"'):
        choose_device("cuda")
