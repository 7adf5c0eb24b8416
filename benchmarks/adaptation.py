"""What fine-tuning gains on a new field and costs on the old one, with shares of old data replayed.

    python benchmarks/adaptation.py MODEL --new TRAIN.en TRAIN.de --new-test TEST.en TEST.de
        --old TRAIN.en TRAIN.de --old-test TEST.en TEST.de -o DIR [--shares 0 0.25 0.5] [--passes 3] [--json]

All by the commands; the recipe is the shipped `fine-tuning`. Each share reads the new data equally often, so that more
replay means more steps. The last pairs of the new training data are held out for validation; the tests are translated
once, at the end. Each fine-tuned model is compared with MODEL, and each one with replay with the one without, by
`attendo compare`: paired bootstrap and paired approximate randomisation. Commands and their time are printed as they
run; after an interruption the same command goes on, and the time is then that of the last sitting.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ATTENDO = [sys.executable, "-m", "attendo"]
WARMUP_STEPS = 100
VALIDATIONS = 5


@dataclass(frozen=True, kw_only=True)
class Field:
    """Text of one field: what is trained on, and what is translated at the end."""

    name: str
    train: tuple[Path, Path]
    test: tuple[Path, Path]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How one output stands to another on a test set."""

    test: str
    baseline: str
    baseline_bleu: float
    bleu: float
    baseline_chrf: float
    chrf: float
    p_bleu: float
    """The larger p-value of the two paired tests, for BLEU."""
    p_chrf: float
    signature: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One share of replay."""

    share: float
    steps: int
    seconds: float
    """Of training, validation included."""
    against_model: tuple[Difference, ...]
    against_no_replay: tuple[Difference, ...]
    """Empty for the one without replay, and where that was not asked for."""


def main() -> int:
    args = parse_arguments()
    folder: Path = args.output
    folder.mkdir(parents=True, exist_ok=True)
    new = held_out(Field(name="new", train=tuple(args.new), test=tuple(args.new_test)), args, folder)
    old = Field(name="old", train=tuple(args.old), test=tuple(args.old_test))
    tests = (new, old)
    for field in tests:
        translate(args.model, field, output(folder, "model", field))
    rows: list[Row] = []
    for share in sorted(args.shares):
        steps, seconds = fine_tune(args, folder, new, old, share)
        for field in tests:
            translate(str(run_folder(folder, share)), field, output(folder, label(share), field))
        replays = rows and not rows[0].share
        rows.append(Row(
            share=share, steps=steps, seconds=seconds,
            against_model=tuple(compare(folder, "model", label(share), field) for field in tests),
            against_no_replay=tuple(compare(folder, label(0.0), label(share), field) for field in tests if replays),
        ))  # fmt: skip
        (folder / "adaptation.json").write_text(json.dumps([asdict(row) for row in rows], indent=2), encoding="utf-8")
    print(json.dumps([asdict(row) for row in rows], indent=2) if args.json else table(rows))
    return 0


def held_out(field: Field, args: argparse.Namespace, folder: Path) -> Field:
    """The field with the last pairs of its training data put aside: `valid.*` in a folder, the rest `train.*`."""
    paths = []
    for side, path in zip(("source", "target"), field.train, strict=True):
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        train, valid = lines[: -args.valid_lines], lines[-args.valid_lines :]
        if args.new_lines:
            train = train[: args.new_lines]
        for name, part in (("train", train), ("valid", valid)):
            (folder / f"{name}.{side}").write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
        paths.append(folder / f"train.{side}")
    return Field(name=field.name, train=(paths[0], paths[1]), test=field.test)


def fine_tune(args: argparse.Namespace, folder: Path, new: Field, old: Field, share: float) -> tuple[int, float]:
    """Trains with one share of replay; gives the steps and the seconds it took."""
    settings = [
        f"training.init_from={Path(args.model).resolve() if Path(args.model).exists() else args.model}",
        f"data.corpora.new.source={new.train[0].resolve()}", f"data.corpora.new.target={new.train[1].resolve()}",
        f"data.corpora.old.source={old.train[0].resolve()}", f"data.corpora.old.target={old.train[1].resolve()}",
        f"data.corpora.old.share={share}",
        f"data.valid.source={(folder / 'valid.source').resolve()}",
        f"data.valid.target={(folder / 'valid.target').resolve()}",
        f"training.max_tokens={args.max_tokens}", f"training.peak_learning_rate={args.learning_rate}",
        *args.set,
    ]  # fmt: skip
    prepared = ["--prepared", folder / "prepared"]
    attendo("prepare", "fine-tuning", "-o", folder / "prepared", *in_sets(settings))
    estimate = json.loads(attendo("train", "fine-tuning", *prepared, *in_sets(settings), "--dry-run", "--json"))
    steps = max(round(args.passes * estimate["batches_per_epoch"]), VALIDATIONS)
    every, warmup = steps // VALIDATIONS, min(WARMUP_STEPS, steps // 4)
    settings += [
        f"training.max_steps={steps}", f"training.warmup_steps={max(warmup, 1)}",
        f"training.cooldown_steps={round(0.7 * steps)}", f"training.checkpoint_steps={max(every // 2, 1)}",
        f"training.eval_steps={every}",
    ]  # fmt: skip
    started = time.monotonic()
    run = run_folder(folder, share)
    if (run / "recipe.toml").exists():
        attendo("train", "--resume", "-o", run)
    else:
        attendo("train", "fine-tuning", "-o", run, *prepared, *in_sets(settings))
    return steps, time.monotonic() - started


def translate(model: str, field: Field, path: Path) -> None:
    # In float32 also where the model is stored in int8, so that nothing but training makes the difference.
    attendo("translate", model, field.test[0], "--dtype", "float32", "-o", path)


def compare(folder: Path, baseline: str, other: str, field: Field) -> Difference:
    """One output against another on a field's test."""
    paths = output(folder, baseline, field), output(folder, other, field)
    found = json.loads(attendo("compare", *paths, "--reference", field.test[1], "--json"))

    def p_value(metric: str) -> float:
        return max(float(found[metric][test]["p_value"]) for test in ("paired_bootstrap", "paired_randomization"))

    return Difference(
        test=field.name,
        baseline=baseline,
        baseline_bleu=found["bleu"]["a"]["score"],
        bleu=found["bleu"]["b"]["score"],
        baseline_chrf=found["chrf"]["a"]["score"],
        chrf=found["chrf"]["b"]["score"],
        p_bleu=p_value("bleu"),
        p_chrf=p_value("chrf"),
        signature=found["bleu"]["paired_bootstrap"]["signature"],
    )


def table(rows: Sequence[Row]) -> str:
    """Markdown: a line for the model as it was, then one a share."""
    before = {difference.test: difference for difference in rows[0].against_model}
    lines = [
        "| replay | steps | minutes | new: BLEU | chrF2 | old: BLEU | chrF2 | old, against no replay |",
        "|---|---|---|---|---|---|---|---|",
        f"| the model | | | {before['new'].baseline_bleu:.2f} | {before['new'].baseline_chrf:.2f} "
        f"| {before['old'].baseline_bleu:.2f} | {before['old'].baseline_chrf:.2f} | |",
    ]
    for row in rows:
        by_test = {difference.test: difference for difference in row.against_model}
        cells = [f"{row.share:.0%}", f"{row.steps:,}", f"{row.seconds / 60:.1f}"]
        for test in ("new", "old"):
            found = by_test[test]
            cells.append(_cell(found.bleu, found.bleu - found.baseline_bleu, found.p_bleu))
            cells.append(_cell(found.chrf, found.chrf - found.baseline_chrf, found.p_chrf))
        replay = [difference for difference in row.against_no_replay if difference.test == "old"]
        cells.append(f"{replay[0].bleu - replay[0].baseline_bleu:+.2f} (p {replay[0].p_bleu:.4f})" if replay else "")
        lines.append("| " + " | ".join(cells) + " |")
    signature = rows[0].against_model[0].signature
    return "\n".join(
        [*lines, "", f"Differences are to the model; p is the larger of two paired tests'. BLEU|{signature}"]
    )


def _cell(score: float, difference: float, p_value: float) -> str:
    return f"{score:.2f} ({difference:+.2f}, p {p_value:.4f})"


def output(folder: Path, name: str, field: Field) -> Path:
    return folder / f"{name}.{field.name}.txt"


def run_folder(folder: Path, share: float) -> Path:
    return folder / f"run-{label(share)}"


def label(share: float) -> str:
    return f"replay-{100 * share:g}"


def in_sets(settings: Sequence[str]) -> list[str]:
    return [part for setting in settings for part in ("--set", setting)]


def attendo(*arguments: Any) -> str:
    """Runs a command, tells it and its time on standard error, and gives what it prints."""
    given = [str(argument) for argument in arguments]
    print("+ attendo " + " ".join(given), file=sys.stderr, flush=True)
    started = time.monotonic()
    finished = subprocess.run([*ATTENDO, *given], stdout=subprocess.PIPE, text=True, check=False)
    print(f"  {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
    if finished.returncode:
        raise SystemExit(finished.returncode)
    return finished.stdout


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model folder, a run or a shipped model")
    for name in ("--new", "--new-test", "--old", "--old-test"):
        parser.add_argument(name, type=Path, nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("-o", "--output", type=Path, required=True, help="a folder for runs and outputs")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.25, 0.5], help="of old pairs in an epoch")
    parser.add_argument("--passes", type=float, default=3.0, help="how often the new data is read")
    parser.add_argument("--new-lines", type=int, default=None, help="take only so many pairs of the new data")
    parser.add_argument("--valid-lines", type=int, default=500, help="pairs of the new data held out for validation")
    parser.add_argument("--max-tokens", type=int, default=2500, help="of an update")
    parser.add_argument("--learning-rate", type=float, default=2e-4, help="the highest")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="of the recipe")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
