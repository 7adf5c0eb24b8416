"""Systems like those of Table 2, their translations of a test set, and two BLEU conventions on the same output.

DIR/DIRECTION/models/NAME/   the models of the systems: last updates and averages of checkpoints
DIR/outputs/NAME.json        the translations, with the kernel, the time and a key of models and source
DIR/outputs/NAME.txt         the translations as lines, for `attendo compare` and other tools
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter
from sacrebleu.metrics.bleu import BLEU, BLEUScore

from attendo.checkpoint.checksums import CONFIG, WEIGHTS
from attendo.decoding.config import GuardConfig
from attendo.evaluation.scores import Scores, evaluate_output
from attendo.evaluation.tokenized import PAPER, moses_tokens, plain_punctuation, split_compounds
from attendo.files import sha256, write_text
from attendo.paper.declared import declared
from attendo.paper.study_folder import keep, kept
from attendo.paper.table2.plan import TestSet
from attendo.workflow.engines.translate import load
from attendo.workflow.lines import read_pairs
from attendo.workflow.preparation.prepared_data import PreparationReporter

# --- two conventions of BLEU ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Example:
    """A line that a system might write, with its reference."""

    shows: str
    language: str
    output: str
    reference: str


EXAMPLES: tuple[Example, ...] = declared("table2/examples.toml", "examples", tuple[Example, ...])
"""Examples of our own, so that any page may show them."""


@dataclass(frozen=True, kw_only=True)
class NgramCounts:
    """The n-gram counts and the BLEU of one line by one convention."""

    tokens: str
    """Tokens of the output, separated by spaces."""
    matches: tuple[int, ...]
    """Number of n-grams that the reference has too, for n from 1 to 4."""
    totals: tuple[int, ...]
    """Number of n-grams in the output, for n from 1 to 4."""
    bleu: float
    """BLEU of this line as a corpus of its own."""

    @property
    def precisions(self) -> str:
        """Matches out of totals, such as `8/9 6/8 5/7 4/6`."""
        return " ".join(f"{match}/{total}" for match, total in zip(self.matches, self.totals, strict=True))


@dataclass(frozen=True, kw_only=True)
class WorkedExample:
    """An example counted by both conventions."""

    example: Example
    sacrebleu: NgramCounts
    paper: NgramCounts


def work_out(example: Example) -> WorkedExample:
    """Counts an example's n-grams by both conventions; sacreBLEU computes both figures."""
    plain = BLEU(trg_lang=example.language)
    tokens = plain.tokenizer(example.output)
    lines = [PAPER.tokens([text], example.language)[0] for text in (example.output, example.reference)]
    return WorkedExample(
        example=example,
        sacrebleu=_counted(tokens, plain.corpus_score([example.output], [[example.reference]])),
        paper=_counted(lines[0], PAPER.metric().corpus_score([lines[0]], [[lines[1]]])),
    )


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step from one convention to the other, with the BLEU after it."""

    what: str
    bleu: float


def ladder(outputs: Sequence[str], references: Sequence[str], language: str) -> tuple[Step, ...]:
    """The steps from sacreBLEU's figure to the paper's on one output, one change at a time.

    Args:
        outputs: translations, detokenised.
        references: reference translations, detokenised.
        language: two-letter code of the language of both.
    """

    def plain(lines: Sequence[str]) -> list[str]:
        return plain_punctuation(lines, language)

    def moses(lines: Sequence[str]) -> list[str]:
        return moses_tokens(lines, language)

    changes: list[tuple[str, Callable[[Sequence[str]], list[str]]]] = [
        ("Moses tokens in place of sacreBLEU's", moses),
        ("and punctuation made plain before", lambda lines: moses(plain(lines))),
    ]
    if language == "de":
        changes.append(("and compounds split at hyphens", lambda lines: split_compounds(moses(plain(lines)))))
    first = BLEU(trg_lang=language).corpus_score(list(outputs), [list(references)])
    steps = [Step(what="sacreBLEU, detokenised", bleu=float(first.score))]
    for what, change in changes:
        score = PAPER.metric().corpus_score(change(outputs), [change(references)])
        steps.append(Step(what=what, bleu=float(score.score)))
    return tuple(steps)


def _counted(tokens: str, score: BLEUScore) -> NgramCounts:
    return NgramCounts(tokens=tokens, matches=tuple(score.counts), totals=tuple(score.totals), bleu=float(score.score))


# --- systems and their output -----------------------------------------------------------------------------------------

Kind = Literal["last", "average", "ensemble", "shipped"]

_ASKED_EVERY = 100
"""Number of lines between two calls of `should_stop`."""


@dataclass(frozen=True, kw_only=True)
class System:
    """One model or an ensemble, with a test set to translate."""

    row: str
    """The row of Table 2 that it corresponds to, or the name of a shipped model."""
    kind: Kind
    """`last`: the last update's weights; `average`: the mean of the last checkpoints; `ensemble`: several averages."""
    seed: int | None
    """Seed of its training; None for an ensemble and for a shipped model."""
    models: tuple[Path, ...]
    languages: tuple[str, str]
    test: TestSet

    @property
    def trained(self) -> str:
        """The direction and the row, such as `en-de base`, or `en-de` for a shipped model."""
        return " ".join(dict.fromkeys(("-".join(self.languages), self.row)))

    @property
    def name(self) -> str:
        """The name of its files, unique among the systems."""
        seed = "" if self.seed is None else f" seed {self.seed}"
        return f"{self.trained}{seed} {self.kind} {self.test.name}".replace(" ", "-")


@dataclass(frozen=True, kw_only=True)
class SystemOutput:
    """A system's translations of its test set, with their scores."""

    system: System
    outputs: tuple[str, ...]
    references: tuple[str, ...]
    scores: Scores
    """sacreBLEU's BLEU, chrF and TER; and as `paper` BLEU by the paper's convention."""
    kernel: str
    """The implementation that translated and its number type."""
    seconds: float
    """Duration of the translation in seconds."""

    @property
    def told(self) -> str:
        """The system in words, such as `en-de base, seed 1, average`."""
        seed = [] if self.system.seed is None else [f"seed {self.system.seed}"]
        return ", ".join([self.system.trained, *seed, self.system.kind])


@dataclass(frozen=True, kw_only=True)
class _Output:
    """The content of `outputs/NAME.json`."""

    key: str
    """Checksum of the models' configurations and weights and of the source; a new key means translating anew."""
    kernel: str
    seconds: float
    lines: tuple[str, ...]


_OUTPUT = TypeAdapter(_Output)


def translate(
    system: System, folder: Path, num_resamples: int, reporter: PreparationReporter, should_stop: Callable[[], bool]
) -> SystemOutput | None:
    """Translates a system's test set without guards, with the search settings of its first model, and scores it.

    Translations that the same models have made before are read from the folder.

    Args:
        system: system that translates.
        folder: folder of the outputs.
        num_resamples: number of resamples for the confidence intervals.
        reporter: receives a message when translating begins.
        should_stop: asked now and then.

    Returns:
        The translations and their scores; None if it was stopped.

    Raises:
        AttendoError: a model or the test set cannot be read.
        OSError: the folder cannot be written to.
    """
    source, target = system.languages
    sources, references = read_pairs(system.test.path(source), system.test.path(target))
    path, key = folder / f"{system.name}.json", _key(system)
    known = kept(path, _OUTPUT)
    if known is None or known.key != key:
        reporter.message(f"{system.name}: translating {len(sources):,} lines")
        first, *others = system.models
        engine = load(first, ensemble=others, search={"guards": asdict(GuardConfig.off())})
        started = time.monotonic()
        lines: list[str] = []
        for translation in engine.stream(sources):
            lines.append(translation.text)
            if len(lines) % _ASKED_EVERY == 0 and should_stop():
                return None
        seconds = time.monotonic() - started
        known = _Output(key=key, kernel=engine.kernel, seconds=seconds, lines=tuple(lines))
        write_text(folder / f"{system.name}.txt", "".join(f"{_one_line(line)}\n" for line in lines))
        keep(path, known)
    scores = evaluate_output(known.lines, references, target_language=target, paper=True, num_resamples=num_resamples)
    return SystemOutput(
        system=system,
        outputs=known.lines,
        references=tuple(references),
        scores=scores,
        kernel=known.kernel,
        seconds=known.seconds,
    )


def _one_line(text: str) -> str:
    """A translation without the line breaks that a byte-level model can write."""
    return " ".join(text.splitlines())


def _key(system: System) -> str:
    models = [[sha256(model / name) for name in (CONFIG, WEIGHTS)] for model in system.models]
    parts = [models, sha256(system.test.path(system.languages[0]))]
    return hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()
