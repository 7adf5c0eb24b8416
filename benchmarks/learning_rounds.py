"""What rounds of corrections gain on their field and cost elsewhere: `attendo learn` on pairs of a corpus.

    python benchmarks/learning_rounds.py MODEL --corpus TRAIN.en TRAIN.de --test DEV.en DEV.de --old VALID.en VALID.de
        -o DIR [--rounds 4] [--pairs 500] [--replay FILE] [--general FILE [FILE]] [--all-so-far] [--shuffle] [--json]

Each round learns from the next pairs, or with `--all-so-far` from all up to there, and starts from the last accepted
model. `--shuffle` gives each source another one's target: poison, which the gate has to refuse. All by the commands;
an interrupted run goes on with the same command.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ATTENDO = [sys.executable, "-m", "attendo"]


def main() -> int:
    args = parse_arguments()
    folder: Path = args.output
    folder.mkdir(parents=True, exist_ok=True)
    pairs = list(zip(*(path.read_text(encoding="utf-8").split("\n")[:-1] for path in args.corpus), strict=True))
    model, rows = args.model, [row(0, args.model, "the model", 0.0, args)]
    print(shown(rows[-1]), flush=True)
    for number in range(1, args.rounds + 1):
        first = 0 if args.all_so_far else (number - 1) * args.pairs
        corrections = write_round(folder / f"round-{number}.tsv", pairs[first : number * args.pairs], args)
        output, started = folder / f"model-{number}", time.monotonic()
        outcome = learn(model, corrections, output, args)
        model = str(output) if outcome == "accepted" else model
        rows.append(row(number, model, outcome, time.monotonic() - started, args))
        print(shown(rows[-1]), flush=True)
        (folder / "rounds.json").write_text(json.dumps(rows, indent=2), encoding="utf-8")
    if args.json:
        print(json.dumps(rows, indent=2))
    return 0


def write_round(path: Path, pairs: Sequence[tuple[str, str]], args: argparse.Namespace) -> Path:
    """The pairs of a round as a file of corrections."""
    targets = [target for _, target in pairs]
    if args.shuffle:
        random.Random(1).shuffle(targets)
    lines = (f"{source}\t{target}" for (source, _), target in zip(pairs, targets, strict=True))
    path.write_text("source\ttarget\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def learn(model: str, corrections: Path, output: Path, args: argparse.Namespace) -> str:
    """Runs a round; gives its outcome."""
    given = ["learn", model, "--corrections", corrections, "-o", output, "--json"]
    for option, files in (("--replay", args.replay), ("--general", args.general)):
        given += [part for path in files or () for part in (option, path)]
    given += [part for setting in args.set for part in ("--set", setting)]
    report = json.loads(attendo(*given, statuses=(0, 3, 4)))
    for check in report["verdict"]["checks"]:
        interval = "" if check["low"] is None else f" ({check['low']:+.2f} to {check['high']:+.2f})"
        print(f"    {check['name']}: {check['before']:.2f} to {check['after']:.2f}{interval}", flush=True)
    for each in report["verdict"]["by_domain"]:
        interval = f"{each['low']:+.2f} to {each['high']:+.2f}"
        print(f"      {each['name']}: {each['before']:.2f} to {each['after']:.2f} ({interval})", flush=True)
    if report["selection"] is not None:
        print(f"    share of the fine-tuned weights: {report['selection']['chosen']['share']:g}", flush=True)
    print(f"    {report['verdict']['outcome']}: {report['verdict']['reason']}", flush=True)
    return str(report["verdict"]["outcome"])


def row(number: int, model: str, outcome: str, seconds: float, args: argparse.Namespace) -> dict[str, Any]:
    """The model's scores after a round; TER is the share of words that a translator would still have to edit."""
    field, old = (
        json.loads(attendo("evaluate", model, "--source", files[0], "--reference", files[1], "--json"))
        for files in (args.test, args.old)
    )
    return {
        "round": number, "outcome": outcome, "minutes": seconds / 60,
        "new": field["bleu"]["score"], "edits": field["ter"]["score"], "old": old["bleu"]["score"],
    }  # fmt: skip


def shown(row: dict[str, Any]) -> str:
    return (
        f"round {row['round']}: {row['outcome']}, {row['minutes']:.1f} minutes; BLEU on the field {row['new']:.2f} "
        f"(TER {row['edits']:.2f}), on old text {row['old']:.2f}"
    )


def attendo(*arguments: Any, statuses: Sequence[int] = (0,)) -> str:
    """Runs a command and gives what it prints."""
    finished = subprocess.run(
        [*ATTENDO, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False
    )  # fmt: skip
    if finished.returncode not in statuses:
        raise SystemExit(finished.returncode)
    return finished.stdout


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model folder, a run or a shipped model")
    for name, text in (("corpus", "the corrections"), ("test", "text of their field"), ("old", "other text")):
        parser.add_argument(f"--{name}", type=Path, nargs=2, required=True, metavar=("SOURCE", "TARGET"), help=text)
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder for models and reports")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=500, help="of a round")
    parser.add_argument("--replay", nargs="+", help="as attendo learn has it")
    parser.add_argument("--general", nargs="+", help="as attendo learn has it")
    parser.add_argument("--all-so-far", action="store_true", help="learn from all pairs of earlier rounds again")
    parser.add_argument("--shuffle", action="store_true", help="poison: targets of other sources")
    parser.add_argument("--set", action="append", default=[], metavar="learning.KEY=VALUE")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
