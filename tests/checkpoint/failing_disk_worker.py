"""One of two processes whose disks fail; `test_sharded.py` says what has to come of it.

python failing_disk_worker.py RUN
"""

import resource
import shutil
import sys
from pathlib import Path

import torch

from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import named_weights
from attendo.errors import AttendoError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.training.config import TrainingConfig
from attendo.training.processes import Processes, connected
from attendo.training.replica import replica_of
from attendo.training.state import blank_state, export_state
from attendo.training.update import make_optimizer


class Writer:
    """Saves a model that nothing trains."""

    def __init__(self, run: Path, processes: Processes) -> None:
        config = TrainingConfig(sharding="full")
        self._model = Transformer(ModelConfig(d_model=8, d_ff=12, num_layers=1, num_heads=2), 19, 19)
        self._processes = processes
        self._replica = replica_of(self._model, config, processes, torch.device("cpu"))
        self._optimizer = make_optimizer(self._model, config)
        self._checkpoints = Checkpoints(run / "checkpoints", keep=2)

    def save(self, step: int) -> str:
        """Gives what an error says; nothing where there is none."""
        assert self._processes.saving is not None
        saving = self._checkpoints.start_saving(
            step,
            regular=step > 0,
            state={"step": step},
            weights=named_weights(self._model),
            training=export_state(self._model, self._optimizer),
            group=self._processes.saving,
        )
        try:
            saving.wait()
        except AttendoError as error:
            return str(error)
        return ""

    def start(self) -> None:
        """Gives Adam a state, as the first update does."""
        blank_state(self._model, self._optimizer)


def main() -> None:
    """Saves a step 0 without a training state, one that is whole, one on a full disk, one in a folder that is gone."""
    torch.set_num_threads(1)
    run = Path(sys.argv[1])
    with connected() as processes:
        writer = Writer(run, processes)
        assert writer.save(0) == ""
        zero = Checkpoints(run / "checkpoints", keep=2).latest()
        assert zero is not None
        assert (zero.step, zero.has_training_state) == (0, False)
        writer.start()
        assert writer.save(1) == ""
        no_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        if not processes.is_main:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, no_limit[1]))
        told = writer.save(2)
        resource.setrlimit(resource.RLIMIT_FSIZE, no_limit)
        assert f"{run / 'checkpoints' / 'step-00000002'}: the checkpoint could not be written" in told, told
        assert "process 2: [Errno 27] File too large" in told, told
        assert "\n" not in told, told
        processes.sums(0.0)
        if processes.is_main:
            latest = Checkpoints(run / "checkpoints", keep=2).latest()
            assert latest is not None
            assert latest.state == {"step": 1}
            shutil.rmtree(run)
        processes.sums(0.0)
        told = writer.save(3)
        assert f"{run}: the run folder is gone" in told, told
        processes.sums(0.0)
        assert not run.exists()


if __name__ == "__main__":
    main()
