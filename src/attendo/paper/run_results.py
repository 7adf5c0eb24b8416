"""What came of one run of a study, read from its run folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch.utils.flop_counter import FlopCounterMode

from attendo.bench.machine import this_machine, versions
from attendo.checkpoint.model_folder import read_description
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.errors import ModelError
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.prepared import PreparedData
from attendo.training.position import position_of
from attendo.workflow.runs.metrics import parse_record

ResultT = TypeVar("ResultT", bound="RunFacts")


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What any run came to."""

    row: str
    seed: int
    perplexity: float
    """Of the validation set, per word piece, by the weights of the last update."""
    parameters: int
    steps: int
    target_tokens: int
    """Trained on, without padding."""
    flops: float
    """Additions and multiplications of the training's matrix products, about: those of pairs of average length."""
    seconds: float
    """Of training, validation and saving, in all sittings."""
    threads: int
    machine: str
    versions: dict[str, str]

    score: ClassVar[str]
    """The key of the score beside perplexity, such as `bleu`."""

    @property
    def minutes(self) -> float:
        """Of training, validation and saving."""
        return self.seconds / 60

    @property
    def millions(self) -> float:
        """Parameters."""
        return self.parameters / 1e6

    def to_text(self) -> str:
        """A line."""
        score = f"{self.score.upper()} {getattr(self, self.score):.2f}"
        return f"perplexity {self.perplexity:.3f}, {score}, {self.minutes:.1f} minutes"


@dataclass(frozen=True, kw_only=True)
class RunResult(RunFacts):
    """What a translator's run came to."""

    score = "bleu"
    bleu: float
    """Of the validation set, by the weights of the last update."""
    bleu_signature: str


@dataclass(frozen=True, kw_only=True)
class ParserRunResult(RunFacts):
    """What a parser's run came to."""

    score = "f1"
    f1: float
    """Of the validation set, greedily, by the weights of the last update."""
    f1_signature: str


def read_run(
    kind: type[ResultT], folder: Path, row: str, seed: int, prepared: PreparedData, *, threads: int
) -> ResultT:
    """Reads what a run that has ended came to.

    Args:
        kind: of its result: a translator's or a parser's.
        folder: the run folder.
        row: whose run it is.
        seed: its seed.
        prepared: its data.
        threads: it was trained with.

    Raises:
        ModelError: it has no checkpoint, or its last update was not validated.
        OSError: a file cannot be read.
    """
    checkpoint = Checkpoints(folder / "checkpoints", 1).latest(lambda line: None)
    if checkpoint is None:
        raise ModelError(f"{folder}: has no checkpoint; remove it, and the next start trains it anew")
    position = position_of(checkpoint.state["position"])
    description = read_description(folder / "model")
    found = [record for record in validations(folder) if record["step"] == position.step]
    if not found:
        raise ModelError(f"{folder}: its last update, {position.step}, was not validated; remove it to train it anew")
    perplexity, value = found[-1]["perplexity"], found[-1].get(kind.score)
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
    """Updates that a running run has told of."""
    try:
        content = (folder / "metrics.jsonl").read_bytes()
    except OSError:
        return 0
    return max((record["step"] for record in _records(content)), default=0)


def num_parameters(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> int:
    """Trained numbers of a model, without the memory that they would take."""
    with torch.device("meta"):
        return Transformer(config, src_vocab_size, tgt_vocab_size).num_parameters


def training_flops(
    config: ModelConfig, vocab_sizes: tuple[int, int], lengths: tuple[int, int], target_tokens: int
) -> float:
    """Additions and multiplications of the matrix products of a whole training, by pairs of average length.

    Args:
        config: the model's.
        vocab_sizes: of source and target.
        lengths: of an average source and its target, in tokens with the last one.
        target_tokens: trained on, without padding.
    """
    return target_tokens / lengths[1] * pair_flops(config, vocab_sizes, lengths)


def pair_flops(config: ModelConfig, vocab_sizes: tuple[int, int], lengths: tuple[int, int]) -> float:
    """Additions and multiplications of the matrix products of one pair's passage forward and back.

    torch's own counter counts them; products that the way back does without, such as those of a first layer's input,
    are left out.

    Args:
        config: the model's.
        vocab_sizes: of source and target.
        lengths: of source and target, in tokens with the last one.
    """
    with torch.device("meta"):
        model = Transformer(config, *vocab_sizes)
    batch = collate([[0] * lengths[0]], [[0] * lengths[1]])
    with FlopCounterMode(display=False) as counter:
        model(batch.to(torch.device("meta"))).sum().backward()
    return float(counter.get_total_flops())


def mean_lengths(prepared: PreparedData) -> tuple[int, int]:
    """Tokens of an average source and of its target, of all corpora."""
    corpora = prepared.corpora.values()
    pairs = sum(len(corpus) for corpus in corpora)
    return (
        round(sum(int(corpus.source_lengths.sum()) for corpus in corpora) / pairs),
        round(sum(int(corpus.target_lengths.sum()) for corpus in corpora) / pairs),
    )


def validations(folder: Path) -> list[dict[str, Any]]:
    """The validations in a run's log.

    Raises:
        OSError: it cannot be read.
    """
    return [record for record in _records((folder / "metrics.jsonl").read_bytes()) if record["kind"] == "valid"]


def _records(content: bytes) -> Iterator[dict[str, Any]]:
    for line in content.splitlines():
        try:
            yield parse_record(line)
        except ValueError:  # what a killed process was writing, or is
            continue
