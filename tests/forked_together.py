"""Runs a script in several processes that train together, forked from this one, which has imported torch once for all.

python -m tests.forked_together SIZE SCRIPT ARGUMENT...

The exit status is 0 where that of every process is; what they print comes together.
"""

import os
import runpy
import socket
import sys
import traceback
from typing import NoReturn

import torch

import attendo.training.replica  # noqa: F401  # with torch.distributed and FSDP, which take longer than torch itself


def _work(script: str, rank: int) -> NoReturn:
    """The life of a process, which ends as Python does for a script."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
    status = 1
    try:
        runpy.run_path(script, run_name="__main__")
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Starts the processes, and waits for them."""
    size, script = int(sys.argv[1]), sys.argv[2]
    sys.argv = sys.argv[2:]
    torch.set_num_threads(1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size)}
    children = []
    for rank in range(size):
        child = os.fork()
        if child == 0:
            _work(script, rank)
        children.append(child)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(int(any(statuses)))


if __name__ == "__main__":
    main()
