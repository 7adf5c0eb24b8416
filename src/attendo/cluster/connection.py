"""Joins and leaves a Ray cluster without side effects on the process."""

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
"""Address that stands for a cluster of this machine alone, which exists as long as the connection."""

_STORE_BYTES = 256 << 20  # size of a local cluster's object store; tasks and results are small, text lies in files
_PATIENCE_S = 10.0
_WAY_OUT = (
    "start one with ray start --head, and on every other machine ray start --address=HOST:6379, "
    "or take --ray local for this machine alone"
)


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Joins a cluster for a block; afterwards leaves it, and stops a cluster that was started for the block.

    Within the block nothing can write to standard output, as Ray's threads print messages of the cluster there, which
    its logs have too. SIGTERM is handled as before.

    Args:
        address: `auto` for the cluster that this machine belongs to, `HOST:PORT` of its head, or `local`.

    Raises:
        AttendoError: Ray is not installed, or there is no such cluster.
    """
    need_packages(["ray", "pyarrow", "pandas"], "ray")
    _check_address(address)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read when a cluster is started; turns off usage reports
    if address == LOCAL:
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's default is that of background work
    import ray
    import ray.data

    # Ray Data sets its log level on import; its errors are raised as exceptions too.
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
    except (OSError, RuntimeError, ValueError) as error:  # no cluster there; another version of Ray or Python
        reason = str(error).strip().split("\n")[0].rstrip(".:")
        raise AttendoError(f"--ray {address}: {reason}; {_WAY_OUT}") from error


def _check_address(address: str) -> None:
    """Refuses an address that does not answer; Ray itself would keep trying for some minutes."""
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
    """Creates a folder for a local cluster's logs and sockets; a socket's path may have at most some 100 characters."""
    return Path(tempfile.mkdtemp(prefix="attendo-", dir="/tmp" if Path("/tmp").is_dir() else None))


@contextmanager
def _without_native_messages() -> Iterator[None]:
    """Keeps Ray's compiled part, in this process, from writing to standard error; its errors are raised as well.

    It takes its log level from the environment when it starts, and reports that at any level.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    sys.stderr.flush()
    stderr_copy = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(stderr_copy, 2)
        os.close(stderr_copy)


@contextmanager
def _same_sigterm() -> Iterator[None]:
    """Restores the handling of SIGTERM, as Ray would exit with another status than the rest of attendo."""
    if threading.current_thread() is not threading.main_thread():  # other threads cannot change signal handlers
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit as ending:
        raise SystemExit(128 + signal.SIGTERM if ending.code == signal.SIGTERM else ending.code) from ending
    finally:
        signal.signal(signal.SIGTERM, handler)
