"""Joining a Ray cluster, and leaving it as it was."""

import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from attendo.errors import AttendoError
from attendo.threads import usable_cores
from attendo.workflow.extras import need_packages

LOCAL = "local"
"""The address of a cluster of this machine alone, which lives as long as the connection."""

_STORE_BYTES = 256 << 20  # of a local cluster's object store: tasks and results are small, text lies in files
_PATIENCE_S = 10.0
_WAY_OUT = (
    "start one with ray start --head, and on every other machine ray start --address=HOST:6379, "
    "or take --ray local for this machine alone"
)


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Joins a cluster for a block; leaves it, and ends what was started for the block, however the block ends.

    In the block standard output is closed to all, for Ray's threads print there what goes on in the cluster; its logs
    have it too. SIGTERM is handled as it was before.

    Args:
        address: `auto` for the cluster that this machine belongs to, `HOST:PORT` of its head, or `local`.

    Raises:
        AttendoError: Ray is not installed, or there is no such cluster.
    """
    need_packages(["ray", "pyarrow", "pandas"], "ray")
    _check_address(address)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read where a cluster is started: nothing is reported to anyone
    if address == LOCAL:
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's own is that of work behind other work
    import ray
    import ray.data

    # What Ray Data says of itself; its errors reach us as exceptions. It has set its level when it was imported.
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        temporary = _temporary_folder() if address == LOCAL else None
        try:
            _start(address, temporary)
            yield
        finally:
            ray.shutdown()
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)


def _start(address: str, temporary: Path | None) -> None:
    import ray

    settings: dict[str, Any] = {"address": address, "log_to_driver": False, "logging_level": logging.ERROR}
    if temporary is not None:
        settings |= {
            "num_cpus": usable_cores(),
            "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
            "_temp_dir": str(temporary),
        }
    try:
        with _same_sigterm(), _without_native_messages():
            ray.init(**settings)
    except (OSError, RuntimeError, ValueError) as error:  # nobody there; another version of Ray or Python
        reason = str(error).strip().split("\n")[0].rstrip(".:")
        raise AttendoError(f"--ray {address}: {reason}; {_WAY_OUT}") from error


def _check_address(address: str) -> None:
    """Refuses an address that nobody answers at; Ray itself would try for some minutes."""
    if address in ("auto", LOCAL):
        return
    if "://" in address:
        raise AttendoError(
            f"--ray {address}: a Ray client connection is not enough, because files are also read and written here; "
            "run the command on a machine of the cluster, "
            "with --ray auto"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise AttendoError(
            f"--ray {address}: is not an address; take auto, local, or the HOST:PORT of ray start --head"
        )
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE_S).close()
    except (OSError, OverflowError) as error:
        raise AttendoError(f"--ray {address}: no answer from there ({error}); {_WAY_OUT}") from error


def _temporary_folder() -> Path:
    """Where a local cluster keeps its sockets, whose paths may have some 100 characters, and its logs."""
    return Path(tempfile.mkdtemp(prefix="attendo-", dir="/tmp" if Path("/tmp").is_dir() else None))


@contextmanager
def _without_native_messages() -> Iterator[None]:
    """Keeps Ray's compiled part, in this process, from writing to standard error; what goes wrong is raised as well.

    It takes its level from the environment when it is started, and says so however high that is.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@contextmanager
def _same_sigterm() -> Iterator[None]:
    """Keeps how SIGTERM is handled; Ray would end the process with another exit status than the rest of attendo."""
    if threading.current_thread() is not threading.main_thread():  # where neither we nor Ray can change it
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit as ending:
        raise SystemExit(128 + signal.SIGTERM if ending.code == signal.SIGTERM else ending.code) from ending
    finally:
        signal.signal(signal.SIGTERM, handler)
