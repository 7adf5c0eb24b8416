"""What training gains from more processes on this machine: non-padding target tokens/s of a whole update, by layout.

    python benchmarks/scaling.py [--model small] [--dtype float32] [--layouts 1x2 2x1 2x1:full] [--json FILE]

A layout is PROCESSES x THREADS, and `:full` for a sharded model (FSDP2) in place of copies (DDP). Every layout makes
the same updates, of so many tokens for all its processes together, through the public path of training: forward,
backward, the sum over processes, Adam. Each run has processes of its own, started by torchrun; the layouts take turns,
so that a machine that slows down slows all, and the table has medians with the slowest and the fastest run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from attendo.model.config import ModelConfig
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.training.batches import Pairs
from attendo.training.config import TrainingConfig
from attendo.training.loader import share
from attendo.training.passes.forward import collate_for
from attendo.training.processes import Processes, connected
from attendo.training.replica import replica_of
from attendo.training.update import make_optimizer, update
from attendo.workflow.machine.device import choose_device

MODELS = {
    "small": (ModelConfig(d_model=256, d_ff=1024, num_layers=3, num_heads=4), 8_000),
    "base": (ModelConfig(), 37_000),
}
LENGTH = 25
"""Tokens of a sentence, with its `</s>`."""


def main() -> None:
    """Measures every layout by turns and prints the table; under torchrun, one run of one layout."""
    arguments = parse_arguments()
    if "WORLD_SIZE" in os.environ:
        measure(arguments)
        return
    rates: dict[str, list[float]] = {layout: [] for layout in arguments.layouts}
    for repetition in range(arguments.repetitions):
        for layout in arguments.layouts:
            rates[layout].append(run_layout(layout, arguments))
            print(f"{repetition + 1}: {layout}: {rates[layout][-1]:,.0f} tokens/s", file=sys.stderr, flush=True)
    rows = [
        {
            "model": arguments.model,
            "dtype": arguments.dtype,
            "layout": layout,
            "tokens_per_update": arguments.tokens,
            "tokens_per_s": statistics.median(found),
            "slowest": min(found),
            "fastest": max(found),
        }
        for layout, found in rates.items()
    ]
    first = rows[0]["tokens_per_s"]
    print(f"{'layout':<12}{'tokens/s':>10}{'slowest-fastest':>18}{'of the first':>14}")
    for row in rows:
        spread = f"{row['slowest']:,.0f}-{row['fastest']:,.0f}"
        print(f"{row['layout']:<12}{row['tokens_per_s']:>10,.0f}{spread:>18}{row['tokens_per_s'] / first:>14.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="small")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--device", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--layouts", nargs="+", default=["1x2", "2x1", "2x1:full"])
    parser.add_argument("--tokens", type=int, default=4_100, help="target tokens of an update, over all processes")
    parser.add_argument("--updates", type=int, default=10, help="updates that are timed")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json", type=Path, help="where the rows go too")
    parser.add_argument("--layout", help=argparse.SUPPRESS)  # of one run
    return parser.parse_args()


def run_layout(layout: str, arguments: argparse.Namespace) -> float:
    """Target tokens/s of a layout, in processes of its own."""
    processes, threads = layout.partition(":")[0].split("x")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", processes, __file__]
    passed = [f"--{key}={getattr(arguments, key)}" for key in ("model", "dtype", "device", "tokens", "updates")]
    finished = subprocess.run(
        [sys.executable, *launch, *passed, f"--layout={layout}"],
        env={**os.environ, "OMP_NUM_THREADS": threads},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return float(finished.stdout)


def measure(arguments: argparse.Namespace) -> None:
    """Makes the updates of one layout, as one of its processes; the first one prints the rate."""
    shape, vocab_size = MODELS[arguments.model]
    sharding, threads = arguments.layout.partition(":")[2], arguments.layout.partition(":")[0].split("x")[1]
    torch.set_num_threads(int(threads))
    config = TrainingConfig(dtype=arguments.dtype, sharding="full" if sharding == "full" else "none")
    with connected() as processes:
        device = choose_device(arguments.device, processes.local_rank)
        torch.manual_seed(1)
        model = Transformer(shape, vocab_size, vocab_size).train()
        replica = None
        if processes.size > 1:
            replica = replica_of(model, config, processes, device)
        else:
            model.to(device)
        optimizer = make_optimizer(model, config)
        pairs = made_up_pairs(vocab_size, arguments.tokens // LENGTH)
        own, collate = share(pairs, processes.rank, processes.size), collate_for(model)
        num_tokens = sum(map(len, pairs.target))
        started = 0.0
        for step in range(1, arguments.updates + 4):
            if step == 4:  # the first ones ask for memory and find out how to group the sums
                started = synchronised(processes, device)
            with fast_float32_products(device):
                pieces = own.pieces(config.max_tokens_at_once, collate)
                update(
                    model, optimizer, pieces, num_tokens, step, config, None if replica is None else replica.accumulate
                )
        seconds = synchronised(processes, device) - started
        if processes.is_main:
            print(arguments.updates * num_tokens / seconds)


def made_up_pairs(vocab_size: int, number: int) -> Pairs:
    """Sentences of equal length and random words, the same in all processes."""
    ids = torch.randint(2, vocab_size, (2, number, LENGTH), generator=torch.Generator().manual_seed(0))
    ids[:, :, -1] = 0
    return Pairs(source=list(ids[0].numpy()), target=list(ids[1].numpy()))


def synchronised(processes: Processes, device: torch.device) -> float:
    """The time when all processes have come here and done what they were asked for, in seconds."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    processes.largest(0.0)
    return time.perf_counter()


if __name__ == "__main__":
    main()
