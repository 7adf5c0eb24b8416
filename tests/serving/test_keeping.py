"""Maintenance of a running server."""

import gc
import time
import weakref
from pathlib import Path

import pytest
from tests.serving.live import PATIENCE_S, live

from attendo.decoding.backends.native_model import NativeModel
from attendo.native.library import available_kernels


class Cycle:
    """What only Python's collector finds once nobody knows it."""

    def __init__(self) -> None:
        self.itself = self


def test_an_idle_server_collects_what_lives_long(model_folder: Path) -> None:
    gc.disable()  # else Python might do it
    try:
        with live([f"en-de={model_folder}"], "models.watch_seconds=0.1"):
            cycle = Cycle()
            known = weakref.ref(cycle)
            for _ in range(2):
                gc.collect(1)  # so that it counts as living long
            del cycle
            gc.collect(1)
            assert known() is not None
            end = time.monotonic() + PATIENCE_S
            while known() is not None:
                assert time.monotonic() < end
                time.sleep(0.01)
    finally:
        gc.enable()


@pytest.mark.skipif(not available_kernels(), reason="this processor or this build has no native kernels")
def test_an_idle_server_frees_what_batches_have_used(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    free_unused = NativeModel.free_unused

    def counted(model: NativeModel, most: int) -> int:
        freed.append(free_unused(model, most))
        return freed[-1]

    monkeypatch.setattr("attendo.serving.keeping._UNUSED_BYTES", 0)
    monkeypatch.setattr(NativeModel, "free_unused", counted)
    with live([f"en-de={model_folder}"], "models.watch_seconds=0.1") as server:
        first = server.translate("a b")
        end = time.monotonic() + PATIENCE_S
        while not any(freed):
            assert time.monotonic() < end
            time.sleep(0.01)
        again = server.translate("a b")
    assert first.status == again.status == 200
    assert {**again.json, "seconds": 0.0} == {**first.json, "seconds": 0.0}
