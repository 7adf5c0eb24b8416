"""Systems of Table 2's kind and what they make of a test set, once; two conventions of BLEU on the same output.

DIR/models/NAME/          the averages of checkpoints that the systems are made of
DIR/outputs/NAME.json     the translations, and what they were made of and by
DIR/outputs/NAME.txt      the same as lines, for `attendo compare` and others
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
    """A line as a system might write it, and its reference."""

    shows: str
    language: str
    output: str
    reference: str


EXAMPLES: tuple[Example, ...] = declared("table2/examples.toml", "examples", tuple[Example, ...])
"""Ours, so that they may stand on any page."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What one convention makes of one line."""

    tokens: str
    """Of the output, with a space between."""
    matches: tuple[int, ...]
    """N-grams of 1 to 4 tokens that the reference has too."""
    totals: tuple[int, ...]
    """N-grams of the output."""
    bleu: float
    """Of this line alone, as if it were a corpus."""

    @property
    def precisions(self) -> str:
        """Matches of totals, as `8/9 6/8 5/7 4/6`."""
        return " ".join(f"{match}/{total}" for match, total in zip(self.matches, self.totals, strict=True))


@dataclass(frozen=True, kw_only=True)
class Worked:
    """An example under both conventions."""

    example: Example
    sacrebleu: Counted
    paper: Counted


def worked(example: Example) -> Worked:
    """Counts an example's n-grams by both conventions; both figures are sacreBLEU's own arithmetic."""
    plain = BLEU(trg_lang=example.language)
    tokens = plain.tokenizer(example.output)
    lines = [PAPER.tokens([text], example.language)[0] for text in (example.output, example.reference)]
    return Worked(
        example=example,
        sacrebleu=_counted(tokens, plain.corpus_score([example.output], [[example.reference]])),
        paper=_counted(lines[0], PAPER.metric().corpus_score([lines[0]], [[lines[1]]])),
    )


@dataclass(frozen=True, kw_only=True)
class Step:
    """A figure on the way from one convention to the other."""

    what: str
    bleu: float


def ladder(outputs: Sequence[str], references: Sequence[str], language: str) -> tuple[Step, ...]:
    """From sacreBLEU's figure to the paper's on one output, a change at a time.

    Args:
        outputs: translations, detokenised.
        references: what they should have been, likewise.
        language: two-letter code of both.
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
        found = PAPER.metric().corpus_score(change(outputs), [change(references)])
        steps.append(Step(what=what, bleu=float(found.score)))
    return tuple(steps)


def _counted(tokens: str, score: BLEUScore) -> Counted:
    return Counted(tokens=tokens, matches=tuple(score.counts), totals=tuple(score.totals), bleu=float(score.score))


# --- systems and their output -----------------------------------------------------------------------------------------

Kind = Literal["last", "average", "ensemble", "shipped"]

_ASKED_EVERY = 100


@dataclass(frozen=True, kw_only=True)
class System:
    """One model, or several that are searched together, with a test set to translate."""

    row: str
    """That of Table 2 it is a counterpart of, or the name of a shipped model."""
    kind: Kind
    """`last`: the last update's weights; `average`: the mean of the last checkpoints; `ensemble`: several averages."""
    seed: int | None
    """Of its training; None of several, or where it is not known."""
    models: tuple[Path, ...]
    languages: tuple[str, str]
    test: TestSet

    @property
    def trained(self) -> str:
        """What was trained, such as `en-de base`, or `en-de` for a shipped model."""
        return " ".join(dict.fromkeys(("-".join(self.languages), self.row)))

    @property
    def name(self) -> str:
        """That of its files: no two have one."""
        seed = "" if self.seed is None else f" seed {self.seed}"
        return f"{self.trained}{seed} {self.kind} {self.test.name}".replace(" ", "-")


@dataclass(frozen=True, kw_only=True)
class Translated:
    """A system's translations of its test set."""

    system: System
    outputs: tuple[str, ...]
    references: tuple[str, ...]
    scores: Scores
    """BLEU by sacreBLEU and, as `paper`, tokenised with split compounds; chrF and TER besides."""
    kernel: str
    """What was calculated on and in."""
    seconds: float
    """Of translating."""

    @property
    def told(self) -> str:
        """The system in words, such as `en-de base, seed 1, average`."""
        seed = [] if self.system.seed is None else [f"seed {self.system.seed}"]
        return ", ".join([self.system.trained, *seed, self.system.kind])


@dataclass(frozen=True, kw_only=True)
class _Kept:
    """What `outputs/NAME.json` holds."""

    key: str
    """Of the models, the settings and the source: other ones, other translations."""
    kernel: str
    seconds: float
    lines: tuple[str, ...]


_KEPT = TypeAdapter(_Kept)


def translate(
    system: System, folder: Path, num_resamples: int, reporter: PreparationReporter, should_stop: Callable[[], bool]
) -> Translated | None:
    """Translates a system's test set, without guards, as the recipe of its model searches, and scores it.

    What was translated before by the same models is read.

    Args:
        system: what translates.
        folder: of outputs.
        num_resamples: behind the confidence intervals.
        reporter: who is told.
        should_stop: asked now and then.

    Returns:
        The translations; None where it was to stop.

    Raises:
        AttendoError: a model or the test set cannot be read.
        OSError: the folder cannot be written to.
    """
    source, target = system.languages
    sources, references = read_pairs(system.test.path(source), system.test.path(target))
    path, key = folder / f"{system.name}.json", _key(system)
    known = kept(path, _KEPT)
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
        known = _Kept(key=key, kernel=engine.kernel, seconds=seconds, lines=tuple(lines))
        write_text(folder / f"{system.name}.txt", "".join(f"{_one_line(line)}\n" for line in lines))
        keep(path, known)
    scores = evaluate_output(known.lines, references, target_language=target, paper=True, num_resamples=num_resamples)
    return Translated(
        system=system,
        outputs=known.lines,
        references=tuple(references),
        scores=scores,
        kernel=known.kernel,
        seconds=known.seconds,
    )


def _one_line(text: str) -> str:
    """A translation without the line breaks that a model of bytes can write."""
    return " ".join(text.splitlines())


def _key(system: System) -> str:
    models = [[sha256(model / name) for name in (CONFIG, WEIGHTS)] for model in system.models]
    parts = [models, sha256(system.test.path(system.languages[0]))]
    return hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()
