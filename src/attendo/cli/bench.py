"""`attendo bench`: speed on this machine, compared with other toolkits that are installed."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, get_args

import typer

from attendo.cli.option_groups import with_groups
from attendo.cli.options import JsonOption, LengthPenaltyOption, ThreadsOption
from attendo.cli.output import check_file
from attendo.cli.progress import JobProgress, note
from attendo.files import write_text

bench = typer.Typer(
    name="bench",
    help="Speed on this machine, compared with the other toolkits that are installed.",
    no_args_is_help=True,
)

SystemName = Literal["attendo", "ctranslate2", "huggingface"]
Dtype = Literal["float32", "int8", "bfloat16"]
TrainingSystem = Literal["attendo", "torch", "huggingface", "joeynmt", "opennmt", "eole"]
TrainingDtype = Literal["float32", "bfloat16"]
ModelName = Literal["base", "small"]
BatchesName = Literal["equal", "unequal"]
Switch = Literal["installed", "onednn", "mkl"]
RepetitionsOption = Annotated[int, typer.Option("--repetitions", min=1, help="Measurements per combination.")]


@dataclass(frozen=True)
class DecodingMatrix:
    """The combinations that are measured in decoding."""

    systems: Annotated[str, typer.Option("--systems", help="What to measure.")] = ",".join(get_args(SystemName))
    dtypes: Annotated[str, typer.Option("--dtypes", help="Numeric types to measure, separated by commas.")] = ",".join(
        get_args(Dtype)
    )
    beam: Annotated[str, typer.Option("--beam", help="Beam sizes, separated by commas; 1 is greedy search.")] = "1,4"
    batch: Annotated[
        str,
        typer.Option(
            "--batch", help="Sentences per batch, separated by commas; 1 measures latency, one call per sentence."
        ),
    ] = "1,32,128"
    length: Annotated[int, typer.Option("--length", min=2, help="Tokens per random sentence and per translation.")] = 25
    sentences: Annotated[
        int | None,
        typer.Option(
            "--sentences",
            min=1,
            help="Sentences per measurement. Default: one batch per thread; with batch 1, 6 sentences, or 50 with "
            "MODEL.",
        ),
    ] = None
    repetitions: RepetitionsOption = 3
    threads: ThreadsOption = None
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option("--device", help="Device to decode on.")] = "cpu"

    def lists(self) -> dict[str, Any]:
        """The comma-separated lists as the bench's arguments.

        Raises:
            BadParameter: something in them is unknown.
        """
        return {
            "systems": _choices(self.systems, get_args(SystemName), "--systems"),
            "dtypes": _choices(self.dtypes, get_args(Dtype), "--dtypes"),
            "beams": _numbers(self.beam, "--beam"),
            "batches": _numbers(self.batch, "--batch"),
        }


@bench.command()
@with_groups(matrix=DecodingMatrix)
def decode(
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL]", help="A model or run folder. Default: the paper's base model with random weights."
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--source", metavar="FILE", help="With MODEL: sentences to translate, one per line.")
    ] = None,
    *,
    matrix: DecodingMatrix,
    length_penalty: LengthPenaltyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measures decoding: attendo by numeric type, CTranslate2 by layout of threads, and Hugging Face's Marian.

    All decode the same sentences with the same weights, in turns. Nothing is installed; for a missing toolkit a line
    says how to install it.
    """
    if (model is None) != (source is None):
        raise typer.BadParameter("MODEL and --source go together", param_hint="--source")
    lists = matrix.lists()

    from attendo.workflow.input_files import check_inputs

    check_inputs(models=[] if model is None else [model], files=[source])
    from attendo.bench.compare import make_settings
    from attendo.bench.decode import DecodeBench, DecodeOptions, model_work, paper_work
    from attendo.threads import usable_cores
    from attendo.workflow.machine.device import choose_device

    options = DecodeOptions(
        **lists,
        threads=matrix.threads or usable_cores(),
        repetitions=matrix.repetitions,
        sentences=matrix.sentences,
        device=choose_device(matrix.device),
    )
    note("preparing the work")
    if model is not None and source is not None:
        work = model_work(model, source, length_penalty=length_penalty)
    else:
        settings = make_settings(options.beams, options.batches, threads=options.threads, sentences=options.sentences)
        work = paper_work(length=matrix.length, sentences=max(setting.sentences for setting in settings))
    _run(DecodeBench(work, options, note), as_json=as_json)


@dataclass(frozen=True)
class TrainingMatrix:
    """The combinations that are measured in training."""

    models: Annotated[
        str,
        typer.Option(
            "--models",
            help="Models to train, separated by commas: the paper's base model, and one an eighth of its size.",
        ),
    ] = ",".join(get_args(ModelName))
    systems: Annotated[str, typer.Option("--systems", help="What to measure.")] = ",".join(get_args(TrainingSystem))
    dtypes: Annotated[str, typer.Option("--dtypes", help="Numeric types to measure, separated by commas.")] = ",".join(
        get_args(TrainingDtype)
    )
    batches: Annotated[
        str,
        typer.Option(
            "--batches",
            help="Batches to measure, separated by commas: sentences of 25 tokens, and sentences of unequal length.",
        ),
    ] = ",".join(get_args(BatchesName))
    switches: Annotated[
        str,
        typer.Option(
            "--switches",
            help="Library for the float32 matrix products of the other toolkits: as installed, oneDNN, or MKL set to "
            "treat the CPU as an Intel one.",
        ),
    ] = "installed,onednn"
    python: Annotated[
        list[str] | None,
        typer.Option(
            "--python",
            metavar="SYSTEM=PATH",
            help="Python interpreter of a toolkit that is installed in another environment; may be repeated.",
        ),
    ] = None
    repetitions: RepetitionsOption = 3
    threads: ThreadsOption = None
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option("--device", help="Device to train on.")] = "cpu"

    def lists(self) -> dict[str, Any]:
        """The comma-separated lists and the Pythons as the bench's arguments.

        Raises:
            BadParameter: something in them is unknown.
        """
        return {
            "systems": _choices(self.systems, get_args(TrainingSystem), "--systems"),
            "models": _choices(self.models, get_args(ModelName), "--models"),
            "dtypes": _choices(self.dtypes, get_args(TrainingDtype), "--dtypes"),
            "batches": _choices(self.batches, get_args(BatchesName), "--batches"),
            "switches": _choices(self.switches, get_args(Switch), "--switches"),
            "pythons": _pythons(self.python or []),
        }


@bench.command()
@with_groups({"source": "batches", "target": "source"}, matrix=TrainingMatrix)
def train(
    *,
    matrix: TrainingMatrix,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source", metavar="FILE", help="With --target: real sentences for the batches of unequal length."
        ),
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--target", metavar="FILE", help="Translations of these sentences.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write the results to this file as JSON.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measures training: full updates of attendo, torch, Hugging Face, JoeyNMT, OpenNMT-py and eole.

    All train the same model on the same batches in separate processes, in turns. Nothing is installed; for a missing
    toolkit a line says how to get it.
    """
    if (source is None) != (target is None):
        raise typer.BadParameter("--source and --target go together", param_hint="--source")
    lists = matrix.lists()
    check_file(output)

    from attendo.workflow.input_files import check_inputs

    check_inputs(files=(source, target))
    from attendo.bench.training import TrainBench, TrainOptions
    from attendo.bench.training_work import corpus_pairs
    from attendo.threads import usable_cores
    from attendo.workflow.machine.device import choose_device

    options = TrainOptions(
        **lists,
        repetitions=matrix.repetitions,
        threads=matrix.threads or usable_cores(),
        device="cuda" if choose_device(matrix.device).type == "cuda" else "cpu",
    )
    corpus = None
    if source is not None and target is not None:
        note(f"reading {source} and {target}")
        corpus = corpus_pairs(source, target)
    _run(TrainBench(options, corpus), output, as_json=as_json)


def _about(seconds: float) -> str:
    """A forecast in words."""
    minutes = seconds / 60
    return f"about {f'{minutes:.0f} minutes' if minutes >= 2 else 'a minute'}"


def _pythons(texts: list[str]) -> dict[Any, str]:
    """The Pythons of some peers, by their names."""
    found = {}
    peers = [name for name in get_args(TrainingSystem) if name != "attendo"]
    for text in texts:
        name, _, path = text.partition("=")
        if name not in peers or not path:
            raise typer.BadParameter(
                f"{text!r} is not SYSTEM=PATH with one of {', '.join(peers)}", param_hint="--python"
            )
        found[name] = path
    return found


class _Report(Protocol):
    def to_json(self) -> dict[str, Any]: ...

    def to_text(self) -> str: ...


class _Bench(Protocol):
    """Systems that are ready to be measured."""

    @property
    def systems(self) -> Sequence[object]: ...

    @property
    def missing(self) -> Sequence[str]: ...

    def estimate_s(self) -> float: ...

    def measure(self, progress: Callable[[float, str], None]) -> Iterator[Any]: ...

    def report(self, measurements: Sequence[Any], *, complete: bool) -> _Report: ...


def _run(ready: _Bench, output: Path | None = None, *, as_json: bool) -> None:
    """Measures, prints and writes; after a signal, what was measured until then."""
    for line in ready.missing:
        note(line)
    note(f"{len(ready.systems)} systems; this takes {_about(ready.estimate_s())}")
    done = []
    ending: BaseException | None = None
    try:
        with JobProgress("measuring", "%", 100) as progress:
            for measurement in ready.measure(lambda share, label: progress.update(100 * share, note=label)):
                done.append(measurement)
    except (KeyboardInterrupt, SystemExit) as signal_or_exit:  # SIGTERM arrives as SystemExit
        ending = signal_or_exit
    report = ready.report(done, complete=ending is None)
    text = json.dumps(report.to_json(), indent=2, ensure_ascii=False)
    if output is not None:
        write_text(output, text + "\n")
    print(text if as_json else report.to_text(), flush=True)
    if ending is not None:
        raise ending


def _choices(text: str, known: tuple[str, ...], option: str) -> tuple[Any, ...]:
    """The distinct choices in a comma-separated list."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in known:
            raise typer.BadParameter(f"{word!r} is not one of {', '.join(known)}", param_hint=option)
    return words


def _numbers(text: str, option: str) -> tuple[int, ...]:
    """The distinct whole numbers in a comma-separated list."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if not word.isdecimal() or int(word) < 1:
            raise typer.BadParameter(f"{word!r} is not a whole number from 1 on", param_hint=option)
    return tuple(map(int, words))
