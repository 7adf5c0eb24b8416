"""Systems of Table 2's kind, one model or several, and what they make of a test set; kept on disk, made once.

DIR/models/NAME/          the averages of checkpoints that the systems are made of
DIR/outputs/NAME.json     the translations, and what they were made of and by
DIR/outputs/NAME.txt      the same as lines, for `attendo compare` and others
"""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from attendo.checkpoint.checksums import CONFIG, WEIGHTS
from attendo.decoding.config import GuardConfig
from attendo.evaluation.scores import Scores, evaluate_output
from attendo.files import sha256, write_text
from attendo.paper.kept import keep, kept
from attendo.paper.table2.plan import TestSet
from attendo.workflow.lines import read_pairs
from attendo.workflow.preparation import PreparationReporter
from attendo.workflow.translate import load

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
