"""Maintenance of a running server."""

import gc
import time
import weakref
from pathlib import Path

from tests.serving.live import PATIENCE_S, live


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
