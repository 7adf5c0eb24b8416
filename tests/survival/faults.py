"""Faults put into a process behind the program's back, which then trains as ever.

python faults.py FAULT ARGUMENT...  runs `attendo ARGUMENT...` with one.
"""

import resource
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from tests.survival.recipes import MARK, WORDS

from attendo.cli.main import run
from attendo.model.transformer import Transformer
from attendo.training.passes.forward import TrainingBatch
from attendo.training.update import UpdateResult, batch_loss, update
from attendo.workflow.runs.run_batches import batch_stream


def break_marked(fault: Callable[[UpdateResult, Transformer], UpdateResult]) -> None:
    """Has the updates go wrong whose batch has a target with the marked word."""
    marked: set[int] = set()

    def looked_at(recipe: Any, prepared: Any, workers: int) -> Any:
        encode = prepared.target_tokenizer.encode
        marked.update(set(encode(WORDS[MARK])) - set(encode(" ".join(WORDS[word] for word in WORDS if word != MARK))))
        return batch_stream(recipe, prepared, workers)

    def wrong(
        model: Transformer, optimizer: torch.optim.Optimizer, pieces: Iterable[TrainingBatch], *arguments: Any
    ) -> UpdateResult:
        kept = list(pieces)
        result = update(model, optimizer, kept, *arguments)
        is_marked = any(bool(torch.isin(piece.tgt_ids, torch.tensor(sorted(marked))).any()) for piece in kept)
        return fault(result, model) if is_marked else result

    patch("attendo.workflow.runs.train.batch_stream", looked_at).start()
    patch("attendo.training.loop.update", wrong).start()


def loss_is_nan(result: UpdateResult, model: Transformer) -> UpdateResult:
    """As by a product that overflows: it shows at once."""
    return result._replace(log_loss=result.log_loss * float("nan"))


def weights_are_spoiled(result: UpdateResult, model: Transformer) -> UpdateResult:
    """As by a gradient that is not finite: this loss is fine, the next one is not."""
    with torch.no_grad():
        model.output_weight[3] = float("inf")
    return result


def hold_at_most(num_tokens: int) -> None:
    """Has pieces of more target tokens run out of memory, as a GPU does: behind those before them."""

    def checked(model: Transformer, piece: TrainingBatch, *arguments: Any) -> UpdateResult:
        if piece.num_tokens > num_tokens and model.training:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return batch_loss(model, piece, *arguments)

    patch("attendo.training.update.batch_loss", checked).start()


def bound_memory(margin: int) -> None:
    """Lets the process have so many bytes of memory more than it has, as `ulimit -v` does."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    bound = pages * resource.getpagesize() + margin
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


BOUNDS = {f"{size} MiB": size << 20 for size in (2048, 1536, 1280, 1024, 896, 768)}
"""Falling; what an update of the recipe `large` takes lies within."""
FAULTS: dict[str, Callable[[], None]] = {
    **{name: partial(bound_memory, size) for name, size in BOUNDS.items()},
    "none": lambda: None,
    "small": lambda: hold_at_most(180),
    "nan": lambda: break_marked(loss_is_nan),
    "spoiled": lambda: break_marked(weights_are_spoiled),
}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    sys.exit(run(sys.argv[2:]))
