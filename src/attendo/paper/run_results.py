"""The result of one run of a study, read from its run folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from attendo.bench.flops import mean_lengths, num_parameters, training_flops
from attendo.bench.machine import this_machine, versions
from attendo.checkpoint.model_folder import read_description
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.errors import ModelError
from attendo.text.prepared import PreparedData
from attendo.training.position import position_of
from attendo.workflow.runs.metrics import parse_record

ResultT = TypeVar("ResultT", bound="RunFacts")


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """The result of a run, of a translator or a parser."""

    row: str
    seed: int
    perplexity: float
    """Perplexity of the validation set, per word piece, with the weights of the last update."""
    parameters: int
    steps: int
    target_tokens: int
    """Number of target tokens of the training, without padding."""
    flops: float
    """Approximate number of additions and multiplications in the training's matrix products: see `training_flops`."""
    seconds: float
    """Seconds of training, validation and saving, over all sessions."""
    threads: int
    machine: str
    versions: dict[str, str]

    score: ClassVar[str]
    """The key of the score beside perplexity, such as `bleu`."""

    @property
    def minutes(self) -> float:
        """Minutes of training, validation and saving."""
        return self.seconds / 60

    @property
    def millions(self) -> float:
        """Number of parameters, in millions."""
        return self.parameters / 1e6

    def to_text(self) -> str:
        """Returns perplexity, score and minutes as one line."""
        score = f"{self.score.upper()} {getattr(self, self.score):.2f}"
        return f"perplexity {self.perplexity:.3f}, {score}, {self.minutes:.1f} minutes"


@dataclass(frozen=True, kw_only=True)
class RunResult(RunFacts):
    """The result of a translator's run."""

    score = "bleu"
    bleu: float
    """BLEU of the validation set, with the weights of the last update."""
    bleu_signature: str


@dataclass(frozen=True, kw_only=True)
class ParserRunResult(RunFacts):
    """The result of a parser's run."""

    score = "f1"
    f1: float
    """F1 of the validation set, decoded greedily with the weights of the last update."""
    f1_signature: str


def read_run(
    kind: type[ResultT], folder: Path, row: str, seed: int, prepared: PreparedData, *, threads: int
) -> ResultT:
    """Reads the result of a run that has ended.

    Args:
        kind: type of the result: a translator's or a parser's.
        folder: the run folder.
        row: name of the run's row.
        seed: seed of the run.
        prepared: data of the run.
        threads: number of threads that it was trained with.

    Raises:
        ModelError: it has no checkpoint, or the validation of its last update is missing or has no number.
        OSError: a file cannot be read.
    """
    checkpoint = Checkpoints(folder / "checkpoints", 1).latest(lambda line: None)
    if checkpoint is None:
        raise ModelError(f"{folder}: has no checkpoint; remove it, and the next start trains it anew")
    position = position_of(checkpoint.state["position"])
    description = read_description(folder / "model")
    records = [record for record in validations(folder) if record["step"] == position.step]
    if not records:
        raise ModelError(f"{folder}: its last update, {position.step}, was not validated; remove it to train it anew")
    perplexity, value = records[-1]["perplexity"], records[-1].get(kind.score)
    if perplexity is None or value is None:
        raise ModelError(f"{folder}: its validation came to no number; see its metrics.jsonl")
    sizes = (description.src_vocab_size, description.tgt_vocab_size)
    signature = f"{kind.score}_signature"
    return kind(
        row=row,
        seed=seed,
        perplexity=perplexity,
        parameters=num_parameters(description.model, *sizes),
        steps=position.step,
        target_tokens=position.target_tokens,
        flops=training_flops(description.model, sizes, mean_lengths(prepared), position.target_tokens),
        seconds=position.elapsed_s,
        threads=threads,
        machine=this_machine().to_text(),
        versions=versions(),
        **{kind.score: value, signature: description.training["valid"][signature]},
    )


def steps_made(folder: Path) -> int:
    """The last update in the log of a running run; 0 without a log."""
    try:
        content = (folder / "metrics.jsonl").read_bytes()
    except OSError:
        return 0
    return max((record["step"] for record in _records(content)), default=0)


def validations(folder: Path) -> list[dict[str, Any]]:
    """Returns the validation records of a run's log.

    Raises:
        OSError: the log cannot be read.
    """
    return [record for record in _records((folder / "metrics.jsonl").read_bytes()) if record["kind"] == "valid"]


def _records(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.splitlines():
        try:
            yield parse_record(line)
        except ValueError:  # a line that a killed process left unfinished, or that is being written
            continue
