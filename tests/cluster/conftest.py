"""A cluster of two nodes on this machine, one of which can be killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class TwoNodes:
    """A running cluster."""

    address: str
    process: "subprocess.Popen[str]"

    def kill_one(self) -> None:
        """Kills the second node as a power cut would."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "killed\n"


@pytest.fixture
def two_nodes() -> Iterator[TwoNodes]:
    """Two nodes of a processor each."""
    pytest.importorskip("ray")
    script = Path(__file__).with_name("two_nodes.py")
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    with process:
        assert process.stdout is not None
        yield TwoNodes(process.stdout.readline().strip(), process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=120) == 0
