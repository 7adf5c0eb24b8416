"""`attendo` as torchrun starts it, but the second process is killed when the run has its first checkpoint.

python killed_worker.py CHECKPOINTS ARGUMENT...
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

from attendo.cli.main import run


def kill_when_there(checkpoints: Path) -> None:
    """Waits for a checkpoint behind the start's, then ends this process as a machine that fails would."""
    while not list(checkpoints.glob("step-*[1-9]*")):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    if os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        threading.Thread(target=kill_when_there, args=(Path(sys.argv[1]),), daemon=True).start()
    sys.exit(run(sys.argv[2:]))
