"""What attendo and JoeyNMT come to in the same time: BLEU on a validation set over minutes of training, Multi30k en-de.

    python benchmarks/quality_joeynmt.py DATA --joeynmt VENV/bin/python -o DIR [--minutes 30] [--side-by-side]
        [--checkpoint-steps 120] [--average-last 10] [--points 12] [--beam-size 1]
        [--onednn] [--joeynmt-set KEY=VALUE]... [--set KEY=VALUE]...

DATA holds `train` and `val`, `.en` and `.de`. attendo trains by its shipped recipe `multi30k-en-de`; JoeyNMT, whose
Python is named, trains a model of the same layers, widths, heads and dropout by the same warm-up, peak learning rate
and tokens a batch, on the same pieces: attendo's SentencePiece model is given to both. What differs is JoeyNMT's own:
pre-norm, which its benchmarks have and which needs no other start; float32, for it knows nothing else on a CPU; no
fall of the learning rate at the end. `--joeynmt-set training.batch_size=8192` changes its configuration, `--onednn`
gives its float32 products the library that attendo uses, `--set` changes attendo's recipe.

Each trains for `--minutes` of wall time, from the start of its command to the signal that ends it: one after the other
on all cores, or with `--side-by-side` at the same time on half of the cores each. Neither validates meanwhile (JoeyNMT
cannot save a checkpoint without, so its validation set is one line); both save a checkpoint every so many updates.
Afterwards, out of that time, each one's checkpoints are averaged alike, the last `--average-last` of a point,
translate the validation set by their own program with the same beam, and are scored by the same sacreBLEU. DIR gets
`quality.json` and `quality.png`.

A training that is interrupted starts again with the same command; what is trained, and each point that is scored,
stays.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import matplotlib
import sentencepiece

from attendo.evaluation.scores import corpus_bleu
from attendo.model.products import is_exact
from attendo.recipe import Recipe, load_recipe

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ATTENDO = [sys.executable, "-m", "attendo"]
RECIPE = "multi30k-en-de"
EVER = 1_000_000
"""More than a run has: of steps between validations, of checkpoints that are kept."""
GRACE_S = 120
ONEDNN = (
    "import runpy, sys, torch; torch.backends.mkldnn.matmul.fp32_precision = 'bf16'; "
    "sys.argv[0] = 'joeynmt'; runpy.run_module('joeynmt', run_name='__main__', alter_sys=True)"
)
AVERAGE = (
    "import sys, torch; *paths, output = sys.argv[1:]; "
    "states = [torch.load(path, map_location='cpu', weights_only=False)['model_state'] for path in paths]; "
    "mean = {name: sum(state[name].double() for state in states).div(len(states)).to(value.dtype) "
    "if value.is_floating_point() else value for name, value in states[0].items()}; "
    "torch.save({'model_state': mean}, output)"
)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One system at one moment."""

    system: str
    minutes: float
    """From the start of the training command to the checkpoint."""
    steps: int
    averaged: int
    """Checkpoints."""
    bleu: float
    signature: str


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A checkpoint."""

    path: Path
    steps: int
    minutes: float


@dataclass(frozen=True, kw_only=True)
class Training:
    """A training: how it is started, and what it leaves."""

    system: str
    command: list[str]
    folder: Path
    checkpoint_steps: int

    def checkpoints(self) -> list[Path]:
        """Those that were saved every so many updates, in their order."""
        pattern = "checkpoints/step-*[0-9]" if self.system == "attendo" else "*[0-9].ckpt"
        paths = [path for path in self.folder.glob(pattern) if steps_of(path) % self.checkpoint_steps == 0]
        return sorted(paths, key=steps_of)


def main() -> int:
    args = parse_arguments()
    folder: Path = args.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    settings = [
        f"data.folder={args.data.resolve()}", f"training.checkpoint_steps={args.checkpoint_steps}",
        f"training.eval_steps={EVER}", f"training.average_last={EVER}", *args.set,
    ]  # fmt: skip
    sets = [part for setting in settings for part in ("--set", setting)]
    prepared = folder / "prepared"
    run([*ATTENDO, "prepare", RECIPE, "-o", str(prepared), *sets])
    recipe = load_recipe(RECIPE, settings)
    trainings = [
        Training(
            system="attendo",
            command=[*ATTENDO, "train", RECIPE, "--prepared", str(prepared), "-o", str(folder / "attendo"), *sets],
            folder=folder / "attendo",
            checkpoint_steps=args.checkpoint_steps,
        ),
        Training(
            system="joeynmt",
            command=[*joeynmt(args), "train", str(write_joeynmt(args, folder, recipe)), "--skip-test"],
            folder=folder / "joeynmt",
            checkpoint_steps=args.checkpoint_steps,
        ),
    ]
    groups = [trainings] if args.side_by_side else [[one] for one in trainings]
    for group in groups:
        train_together(group, 60 * args.minutes)
    points = []
    for training in trainings:
        checkpoints = saved(training)
        for chosen in spread(checkpoints, args.points):
            earlier = [one for one in checkpoints if one.steps <= chosen.steps][-args.average_last :]
            points.append(score(args, folder, training, earlier, recipe))
    write_report(args, folder, points)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--joeynmt", required=True, metavar="PYTHON", help="of an environment that has JoeyNMT")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--side-by-side", action="store_true")
    parser.add_argument("--beam-size", type=int, default=1)
    parser.add_argument("--checkpoint-steps", type=int, default=120)
    parser.add_argument("--average-last", type=int, default=10)
    parser.add_argument("--points", type=int, default=12)
    parser.add_argument("--onednn", action="store_true")
    parser.add_argument("--joeynmt-set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    if args.onednn and not is_exact():
        parser.error("--onednn: on this processor oneDNN's products are less exact than float32")
    return args


def train_together(trainings: Sequence[Training], seconds: float) -> None:
    """Trains side by side on an equal part of the cores each, and ends all after so many seconds."""
    started = [training for training in trainings if not (training.folder / "trained.json").is_file()]
    cores = sorted(os.sched_getaffinity(0))
    share = len(cores) // len(trainings)
    processes = []
    for number, training in enumerate(started):
        shutil.rmtree(training.folder, ignore_errors=True)
        print("+", " ".join(training.command), file=sys.stderr, flush=True)
        # A child has the cores that its parent has when it is born.
        os.sched_setaffinity(0, cores[number * share : (number + 1) * share])
        environment = {**os.environ, "OMP_NUM_THREADS": str(share), "MKL_NUM_THREADS": str(share)}
        log = training.folder.with_suffix(".log").open("w")
        began = time.time()
        processes.append((
            training, began, subprocess.Popen(training.command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        ))  # fmt: skip
    os.sched_setaffinity(0, cores)
    for training, began, process in processes:
        try:
            process.wait(max(0.0, began + seconds - time.time()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # both save and end
            process.wait(GRACE_S)
        if not training.checkpoints():
            raise SystemExit(f"{training.system} has saved no checkpoint; see {training.folder.with_suffix('.log')}")
        content = {"began": began, "seconds": seconds, "command": training.command}
        (training.folder / "trained.json").write_text(json.dumps(content, indent=2), encoding="utf-8")


def steps_of(path: Path) -> int:
    return int(path.stem.removeprefix("step-"))


def saved(training: Training) -> list[Saved]:
    """The checkpoints of a training that has ended, with the minutes after which each was written."""
    began = json.loads((training.folder / "trained.json").read_text(encoding="utf-8"))["began"]
    return [
        Saved(path=path, steps=steps_of(path), minutes=(written_at(path) - began) / 60)
        for path in training.checkpoints()
    ]


def written_at(path: Path) -> float:
    return (path / "state.json" if path.is_dir() else path).stat().st_mtime


def spread(checkpoints: Sequence[Saved], count: int) -> list[Saved]:
    """So many checkpoints at about equal distances of time, the last one among them."""
    end = checkpoints[-1].minutes
    wanted = [end * (number + 1) / count for number in range(count)]
    nearest = {min(checkpoints, key=lambda one: abs(one.minutes - moment)).steps for moment in wanted}
    return [one for one in checkpoints if one.steps in nearest]


def score(
    args: argparse.Namespace, folder: Path, training: Training, checkpoints: Sequence[Saved], recipe: Recipe
) -> Point:
    """Averages checkpoints, translates the validation set and counts BLEU; a point that is known is not made again."""
    last = checkpoints[-1]
    name = f"{last.steps}-average{len(checkpoints)}-beam{args.beam_size}"
    here = folder / "points" / training.system / name
    if (here / "point.json").is_file():
        return Point(**json.loads((here / "point.json").read_text(encoding="utf-8")))
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir(parents=True)
    translate = translate_attendo if training.system == "attendo" else translate_joeynmt
    translate(args, here, training, checkpoints, recipe)
    hypotheses = (here / "val.de").read_text(encoding="utf-8").split("\n")[:-1]
    references = (args.data / "val.de").read_text(encoding="utf-8").split("\n")[:-1]
    bleu = corpus_bleu(hypotheses, references, target_language="de")
    point = Point(
        system=training.system,
        minutes=last.minutes,
        steps=last.steps,
        averaged=len(checkpoints),
        bleu=bleu.score,
        signature=bleu.signature,
    )
    (here / "point.json").write_text(json.dumps(asdict(point), indent=2), encoding="utf-8")
    print(f"{point.system} {point.minutes:.1f} minutes, {point.steps} steps: BLEU {point.bleu:.2f}", file=sys.stderr)
    return point


def translate_attendo(
    args: argparse.Namespace, here: Path, training: Training, checkpoints: Sequence[Saved], recipe: Recipe
) -> None:
    """By the commands; a run that has these checkpoints alone is what `attendo average` takes the mean of."""
    part = here / "run"
    (part / "checkpoints").mkdir(parents=True)
    for name in ("recipe.toml", "run.json"):
        shutil.copyfile(training.folder / name, part / name)
    for one in checkpoints:
        (part / "checkpoints" / one.path.name).symlink_to(one.path)
    run([*ATTENDO, "average", str(part), "--last", str(len(checkpoints)), "-o", str(here / "model")])
    run([
        *ATTENDO, "translate", str(here / "model"), str(args.data / "val.en"), "-o", str(here / "val.de"),
        "--beam-size", str(args.beam_size), "--no-guards",
    ])  # fmt: skip


def translate_joeynmt(
    args: argparse.Namespace, here: Path, training: Training, checkpoints: Sequence[Saved], recipe: Recipe
) -> None:
    """By JoeyNMT's `test` on the mean of its checkpoints' weights."""
    run([args.joeynmt, "-c", AVERAGE, *(str(one.path) for one in checkpoints), str(here / "mean.ckpt")])
    config = joeynmt_config(args, here.parents[2], recipe)
    config["data"] |= {"train": None, "dev": None, "test": str(args.data.resolve() / "val")}
    config["model_dir"] = str(here)
    config["testing"] |= {"load_model": str(here / "mean.ckpt"), "beam_size": args.beam_size}
    config["testing"] |= {"beam_alpha": recipe.search.length_penalty}
    (here / "config.yaml").write_text(json.dumps(config, indent=2), encoding="utf-8")
    run([*joeynmt(args), "test", str(here / "config.yaml"), "-o", str(here / "out")])
    (here / "out.test").rename(here / "val.de")
    (here / "mean.ckpt").unlink()


def joeynmt(args: argparse.Namespace) -> list[str]:
    return [args.joeynmt, "-c", ONEDNN] if args.onednn else [args.joeynmt, "-m", "joeynmt"]


def write_joeynmt(args: argparse.Namespace, folder: Path, recipe: Recipe) -> Path:
    """JoeyNMT's configuration, the vocabulary of attendo's pieces and a validation set of one line."""
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "prepared" / "source.spm"))
    pieces = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
    (folder / "pieces.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    for language in ("en", "de"):
        with (args.data / f"val.{language}").open(encoding="utf-8") as lines:
            (folder / f"one.{language}").write_text(next(lines), encoding="utf-8")
    path = folder / "joeynmt.yaml"
    # JSON is YAML.
    path.write_text(json.dumps(joeynmt_config(args, folder, recipe), indent=2), encoding="utf-8")
    return path


def joeynmt_config(args: argparse.Namespace, folder: Path, recipe: Recipe) -> dict[str, Any]:
    """A model and a regime as close to the recipe as JoeyNMT comes."""
    model, training = recipe.model, recipe.training
    stack = {
        "type": "transformer",
        "num_heads": model.num_heads,
        "embeddings": {"embedding_dim": model.d_model, "scale": True, "dropout": model.dropout},
        "hidden_size": model.d_model,
        "ff_size": model.d_ff,
        "dropout": model.dropout,
        "layer_norm": "pre",
    }
    side = {
        "max_length": -1,
        "level": "bpe",
        "voc_file": str(folder / "pieces.txt"),
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": str(folder / "prepared" / "source.spm"), "pretokenizer": "none"},
    }
    symbols = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}
    special: dict[str, str | int] = {f"{name}_token": token for name, token in symbols.items()}
    special |= {f"{name}_id": number for number, name in enumerate(symbols)}
    config: dict[str, Any] = {
        "name": "multi30k-en-de",
        "joeynmt_version": "2.3.0",
        "model_dir": str(folder / "joeynmt"),
        "use_cuda": False,
        "random_seed": training.seed,
        "data": {
            "train": str(args.data.resolve() / "train"),
            "dev": str(folder / "one"),
            "dataset_type": "plain",
            "src": {"lang": "en", **side},
            "trg": {"lang": "de", **side},
            "special_symbols": special,
        },
        "training": {
            "optimizer": "adam",
            "adam_betas": [training.adam_beta1, training.adam_beta2],
            "normalization": "tokens",
            "scheduling": "noam",
            "learning_rate": 0.0,
            "learning_rate_factor": training.learning_rate_factor,
            "learning_rate_warmup": training.warmup_steps,
            "learning_rate_min": 0.0,
            "label_smoothing": training.label_smoothing,
            "batch_type": "token",
            "batch_size": training.max_tokens,
            "epochs": EVER,
            "validation_freq": args.checkpoint_steps,
            "logging_freq": args.checkpoint_steps,
            "early_stopping_metric": "loss",
            "keep_best_ckpts": -1,
            "print_valid_sents": [0],
            "shuffle": True,
        },
        "testing": {"beam_size": 1, "batch_type": "token", "batch_size": training.max_tokens, "max_output_length": 100},
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "bias_initializer": "zeros",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": {"num_layers": model.encoder_layers, **stack},
            "decoder": {"num_layers": model.decoder_layers, **stack},
        },
    }
    for change in args.joeynmt_set:
        key, _, value = change.partition("=")
        section, *inner, last = key.split(".")
        place = config[section]
        for name in inner:
            place = place[name]
        place[last] = json.loads(value)
    return config


def write_report(args: argparse.Namespace, folder: Path, points: Sequence[Point]) -> None:
    """The figures as JSON and as a picture."""
    settings = {name: value for name, value in vars(args).items() if name not in ("data", "output", "joeynmt")}
    content = {"settings": settings, "points": [asdict(point) for point in points]}
    (folder / "quality.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for system, label in (("attendo", "attendo"), ("joeynmt", "JoeyNMT")):
        own = [point for point in points if point.system == system]
        axes.plot([point.minutes for point in own], [point.bleu for point in own], marker="o", label=label)
    axes.set(xlabel="minutes of training", ylabel="BLEU on val", ylim=(0, None), xlim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(folder / "quality.png", dpi=150)
    for point in points:
        print(f"{point.system:<8} {point.minutes:6.1f} min {point.steps:>6} steps  BLEU {point.bleu:5.2f}")
    print(f"BLEU|{points[-1].signature}")


def run(command: Sequence[str]) -> None:
    print("+", " ".join(command), file=sys.stderr, flush=True)
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main())
