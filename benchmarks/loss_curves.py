"""Whether faster arithmetic learns the same: training by plain torch in float32, by the kernels, and in bfloat16.

    python benchmarks/loss_curves.py RECIPE --prepared FOLDER -o DIR [--steps 1000] [--dropout P] [--set key=value ...]

Three runs of `attendo train` with equal data, order of batches and initial weights: plain torch in float32
(ATTENDO_KERNELS=plain), the native kernels in float32, and in bfloat16. With --dropout 0 nothing is left to chance and
the float32 runs differ by rounding alone; otherwise plain torch draws other elements to drop than the kernels do. It
prints the mean training loss over windows of steps and the validation perplexities, and draws both, as DIR/curves.png.
After an interruption the same command goes on.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RUNS = {
    "float32, plain torch": ("float32", "plain"),
    "float32, kernels": ("float32", ""),
    "bfloat16, kernels": ("bfloat16", ""),
}
WINDOWS = 10


def train(options: argparse.Namespace, name: str) -> list[dict[str, Any]]:
    """One run, or what is left of it; gives its metrics."""
    dtype, kernels = RUNS[name]
    folder = options.output / name.replace(", ", "-").replace(" ", "-")
    settings = [f"training.max_steps={options.steps}", f"training.dtype={dtype}", *options.set]
    settings += ["training.log_steps=10", "training.checkpoint_steps=200", "training.eval_bleu=false"]
    if options.dropout is not None:
        settings.append(f"model.dropout={options.dropout}")
    command = [sys.executable, "-m", "attendo", "train", options.recipe, "-o", str(folder)]
    command += ["--prepared", str(options.prepared)]
    command += ["--resume"] if (folder / "recipe.toml").exists() else []
    for setting in settings:
        command += ["--set", setting]
    print(name, file=sys.stderr, flush=True)
    subprocess.run(command, check=True, env=os.environ | {"ATTENDO_KERNELS": kernels})
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def windows(metrics: list[dict[str, Any]], steps: int) -> list[float]:
    """Mean training loss, without smoothing, of equal parts of the run."""
    parts: list[list[float]] = [[] for _ in range(WINDOWS)]
    for line in metrics:
        if line["kind"] == "train":
            parts[min(WINDOWS - 1, (line["step"] - 1) * WINDOWS // steps)].append(line["log_loss"])
    return [sum(part) / len(part) if part else math.nan for part in parts]


def draw(found: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Training loss, and how far each run is from the first."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    losses, differences = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    first = next(iter(found))
    plain = {line["step"]: line["log_loss"] for line in found[first] if line["kind"] == "train"}
    for name, metrics in found.items():
        training = [line for line in metrics if line["kind"] == "train" and line["step"] in plain]
        steps = [line["step"] for line in training]
        losses.plot(steps, [line["log_loss"] for line in training], label=name, linewidth=1)
        differences.plot(steps, [line["log_loss"] - plain[line["step"]] for line in training], linewidth=1)
    losses.set_ylabel("training loss, nats a token")
    losses.legend()
    differences.set_ylabel(f"less that of\n{first}")
    differences.set_xlabel("step")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--prepared", type=Path, required=True, help="from `attendo prepare RECIPE -o FOLDER`")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--dropout", type=float)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    found = {name: train(options, name) for name in RUNS}
    draw(found, options.output / "curves.png")
    means = {name: windows(metrics, options.steps) for name, metrics in found.items()}
    print("up to step".ljust(14) + "".join(name.rjust(24) for name in RUNS))
    for part in range(WINDOWS):
        cells = "".join(f"{means[name][part]:24.4f}" for name in RUNS)
        print(f"{options.steps * (part + 1) // WINDOWS:<14}{cells}")
    valid = {name: [line for line in metrics if line["kind"] == "valid"] for name, metrics in found.items()}
    for lines in zip(*valid.values(), strict=True):
        cells = "".join(f"{line['perplexity']:24.4f}" for line in lines)
        print(f"valid {lines[0]['step']:<8}{cells}")


if __name__ == "__main__":
    main()
