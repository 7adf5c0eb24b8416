"""What a long text costs with self-attention restricted to a window, and with that over all positions.

    python benchmarks/long_inputs.py [--lengths 1024 2048 ...] [--window 128] [--limit-gib 8] [--json FILE]

Per length and kind, four things are measured: reading a source (the encoder, forward), the same forward and back, that
where the attention weights are written out as in the paper's formula, which is what attention dropout needs, and an
update with a pair that is so long on both sides (forward, backward, Adam). Each runs in a process of its own whose
address space is limited, so that what asks for more is told as such and harms nobody. Time is the processor's, which a
busy machine does not lengthen much; memory is the largest resident set less what the process has before. A kind that
has failed or has taken longer than `--most-s` is not tried with a longer text.
"""

import argparse
import json
import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.training.config import TrainingConfig
from attendo.training.passes.forward import collate_for
from attendo.training.update import make_optimizer, update

KINDS = ("restricted", "full")
WORK = ("read", "encoder", "written-out", "update")
VOCAB_SIZE = 500


def main() -> None:
    """Measures all and prints a row each."""
    arguments = parse_arguments()
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for work in arguments.work:
        for kind in arguments.kinds:
            for length in arguments.lengths:
                row = {"work": work, "kind": kind, "length": length} | in_its_own_process(kind, work, length, arguments)
                rows.append(row)
                print(told(row), flush=True)
                if "failed" in row or row["seconds"] > arguments.most_s:
                    break
    if arguments.json:
        arguments.json.write_text(json.dumps({"window": arguments.window, "rows": rows}, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[1024 * 2**i for i in range(6)])
    parser.add_argument("--work", nargs="+", choices=WORK, default=WORK)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--window", type=int, default=128)
    parser.add_argument("--limit-gib", type=float, default=8.0)
    parser.add_argument("--most-s", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def in_its_own_process(kind: str, work: str, length: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """What `measure` finds, or why it does not; in a child, whose memory is its own."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=send_measure, args=(theirs, kind, work, length, arguments.window, arguments.limit_gib)
    )
    child.start()
    theirs.close()
    try:
        found: dict[str, Any] = ours.recv()
    finally:
        child.join()
    return found


def send_measure(theirs: Connection, kind: str, work: str, length: int, window: int, limit_gib: float) -> None:
    """Measures within so much memory, and sends what it finds."""
    limit = int(limit_gib * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        theirs.send(measure(kind, work, length, window))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "can't allocate memory" not in str(error):
            raise
        theirs.send({"failed": f"needs more than {limit_gib:g} GiB"})


def measure(kind: str, work: str, length: int, window: int) -> dict[str, float]:
    """Seconds of the processor and GiB of memory of one piece of work."""
    torch.manual_seed(1)
    model = make_model(kind, window, dropped=0.1 if work == "written-out" else 0.0)
    ids = torch.randint(2, VOCAB_SIZE, (2, length)).tolist()
    config = TrainingConfig(max_tokens=length)
    optimizer, collate = make_optimizer(model, config), collate_for(model)
    update(model, optimizer, [collate([[5, 0]], [[6, 0]])], 2, 1, config)  # what comes once
    before, started = peak_bytes(), time.process_time()
    if work == "update":
        batch = collate(ids[:1], ids[1:])
        update(model, optimizer, [batch], batch.num_tokens, 2, config)
    else:
        with torch.set_grad_enabled(work != "read"):
            memory = model.encode(torch.tensor(ids[:1]), None)
        if work != "read":
            torch.autograd.backward(memory.sum())
    return {"seconds": time.process_time() - started, "gib": (peak_bytes() - before) / 2**30}


def make_model(kind: str, window: int, *, dropped: float) -> Transformer:
    """A small model; the kinds have the same weights."""
    restricted = kind == "restricted"
    config = ModelConfig(
        d_model=64,
        d_ff=128,
        num_layers=2,
        num_heads=2,
        dropout=0.0,
        attention_dropout=dropped,
        encoder_layer="restricted-self-attention" if restricted else "self-attention",
        decoder_layer="restricted-self-attention" if restricted else "self-attention",
        window=window,
    )
    return Transformer(config, VOCAB_SIZE, VOCAB_SIZE).train()


def peak_bytes() -> int:
    """The largest resident set so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def told(row: dict[str, Any]) -> str:
    """A row for people."""
    what = f"{row['work']:<11} {row['kind']:<10} {row['length']:>7}"
    if "failed" in row:
        return f"{what}  {row['failed']}"
    return f"{what}  {row['seconds']:8.2f} s  {row['gib']:6.2f} GiB"


if __name__ == "__main__":
    main()
