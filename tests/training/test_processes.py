"""A process that is alone; what several agree on is tested where they are started (`test_replica`, `cli`)."""

import os

import pytest

from attendo.errors import AttendoError
from attendo.training.processes import Processes, connected, is_loss_of_process


def test_alone_everything_is_its_own() -> None:
    alone = Processes()
    assert alone.is_main
    assert alone.largest(1.0, True) == [1.0, True]
    assert alone.sums(2.0) == [2.0]
    assert alone.of_main([3.0]) == [3.0]
    assert alone.main_first("work", lambda: "done") == "done"
    assert alone.is_first_to_fail()


def test_torchrun_with_one_process_is_alone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "2")
    for launch, name in (("none", ""), ("job-17", "job-17")):
        monkeypatch.setenv("TORCHELASTIC_RUN_ID", launch)
        with connected() as processes:
            assert processes == Processes(restarts=2, launch=name)


def test_a_half_set_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    with pytest.raises(AttendoError, match=r"WORLD_SIZE is 2, but RANK and MASTER_PORT not set; start with torchrun"):
        connected().__enter__()
    assert "RANK" not in os.environ


def test_errors_of_gloo_are_told_from_others() -> None:
    assert is_loss_of_process(
        RuntimeError("[/pytorch/third_party/gloo/transport/tcp/pair.cc] Connection closed by peer")
    )
    assert not is_loss_of_process(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_loss_of_process(ValueError("gloo"))
