"""One of several processes that go on with a run; `test_sharded.py` says from where.

python sharded_worker.py CHECKPOINTS SHARDING FIRST_STEP LAST_STEP
"""

import sys
from pathlib import Path

import torch

from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import named_weights
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.training.batches import Pairs
from attendo.training.config import TrainingConfig
from attendo.training.loader import share
from attendo.training.passes.forward import collate_for
from attendo.training.processes import Processes, connected
from attendo.training.replica import Replica, replica_of
from attendo.training.state import blank_state, export_state
from attendo.training.update import make_optimizer, update

PAIRS = Pairs(
    source=[[4, 9, 3, 0], [7, 0], [5, 11, 18, 6, 2, 3, 0], [8, 8, 0], [16, 2, 12, 10, 0]],
    target=[[6, 2, 0], [15, 4, 9, 0], [18, 3, 3, 7, 0], [10, 0], [2, 14, 5, 11, 8, 12, 0]],
)
SHAPE = ModelConfig(d_model=8, d_ff=12, num_layers=1, num_heads=2, dropout=0.0)
VOCAB_SIZE = 19  # which neither 2 nor 4 divides


def train(folder: Path, sharding: str, first_step: int, last_step: int, processes: Processes) -> Transformer:
    """Goes on from the newest checkpoint, makes updates up to a step, and saves."""
    config = TrainingConfig(sharding="full" if sharding == "full" else "none", warmup_steps=1000)
    checkpoints = Checkpoints(folder, keep=5)
    torch.manual_seed(3)
    model = Transformer(SHAPE, VOCAB_SIZE, VOCAB_SIZE).train()
    replica: Replica | None = None
    if processes.size > 1:
        replica = replica_of(model, config, processes, torch.device("cpu"))
    optimizer = make_optimizer(model, config)
    newest = checkpoints.latest()
    if newest is not None:
        assert newest.state == {"step": first_step - 1}
        newest.read(named_weights(model))
        newest.read(blank_state(model, optimizer))
    own = share(PAIRS, processes.rank, processes.size)
    num_tokens = sum(map(len, PAIRS.target))
    for step in range(first_step, last_step + 1):
        pieces = own.pieces(None, collate_for(model))
        update(model, optimizer, pieces, num_tokens, step, config, None if replica is None else replica.accumulate)
    state, weights, training = {"step": last_step}, named_weights(model), export_state(model, optimizer)
    if processes.saving is None:
        checkpoints.save(last_step, regular=True, state=state, weights=weights, training=training)
        return model
    saving = checkpoints.start_saving(
        last_step, regular=True, state=state, weights=weights, training=training, group=processes.saving
    )
    with torch.no_grad():  # the checkpoint holds what was so when it was begun
        for parameter in model.parameters():
            parameter.zero_()
    saving.wait()
    return model


def main() -> None:
    """Trains as the arguments say."""
    torch.set_num_threads(1)
    folder, sharding, first_step, last_step = sys.argv[1:]
    with connected() as processes:
        train(Path(folder), sharding, int(first_step), int(last_step), processes)


if __name__ == "__main__":
    main()
