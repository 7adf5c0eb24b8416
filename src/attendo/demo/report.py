"""The page that `attendo demo` names at its end: the training, the scores and the attention of the model.

The page is one file that loads nothing from the network: styles are embedded, the picture is a data: URI, and colours
are light or dark as on the reader's system.
"""

import base64
import difflib
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from attendo.evaluation.scores import Score
from attendo.files import write_text


@dataclass(frozen=True, kw_only=True)
class TrainingSummary:
    """The figures of the training."""

    steps: int
    seconds: float
    """Wall-clock time in seconds."""
    tokens_per_s: float
    """Target tokens per second, padding not counted."""
    parameters: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A held-out sentence with its translations in the phrasebook and by the model."""

    source: str
    reference: str
    translation: str


@dataclass(frozen=True, kw_only=True)
class PhrasebookSummary:
    """The numbers of pairs and templates in the phrasebook."""

    num_train: int
    num_valid: int
    num_test: int
    num_templates: int


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A command to try next, with an explanation."""

    explanation: str
    command: str


@dataclass(frozen=True, kw_only=True)
class DemoReport:
    """The content of the page."""

    training: TrainingSummary
    phrasebook: PhrasebookSummary
    scores: tuple[Score, ...]
    samples: tuple[Sample, ...]
    curves_png: bytes
    attention_html: str
    """Trusted markup, inserted into the page without escaping."""
    next_steps: tuple[NextStep, ...]


def write_report(path: Path, report: DemoReport) -> None:
    """Writes the page atomically.

    Args:
        path: the HTML file.
        report: the content of the page.

    Raises:
        OSError: the file cannot be written.
    """
    write_text(path, to_html(report))


def to_html(report: DemoReport) -> str:
    """Returns the page as text."""
    training, phrasebook, folder = report.training, report.phrasebook, files("attendo.demo")
    return Template(folder.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        style=folder.joinpath("report.css").read_text(encoding="utf-8"),
        parameters=f"{training.parameters / 1e6:.1f} M",
        steps=f"{training.steps:,}",
        duration=_duration(training.seconds),
        tokens_per_s=f"{training.tokens_per_s:,.0f}",
        num_train=f"{phrasebook.num_train:,}",
        num_valid=f"{phrasebook.num_valid:,}",
        num_test=f"{phrasebook.num_test:,}",
        num_held_out=f"{phrasebook.num_valid + phrasebook.num_test:,}",
        num_templates=phrasebook.num_templates,
        samples="".join(map(_row, report.samples)),
        scores="".join(map(_score, report.scores)),
        curves=base64.b64encode(report.curves_png).decode("ascii"),
        attention=report.attention_html,
        next_steps="".join(
            f"<li>{escape(step.explanation)}<pre><code>{escape(step.command)}</code></pre></li>\n"
            for step in report.next_steps
        ),
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _row(sample: Sample) -> str:
    translation, reference = _marked(sample.translation, sample.reference)
    verdict = (
        '<span class="quiet">the same</span>'
        if sample.translation == sample.reference
        else f'<span lang="de">{reference}</span>'
    )
    return (
        f'<tr><td data-label="English"><span>{escape(sample.source)}</span></td>'
        f'<td data-label="German"><span lang="de">{translation}</span></td>'
        f'<td data-label="Phrasebook">{verdict}</td></tr>\n'
    )


def _marked(translation: str, reference: str) -> tuple[str, str]:
    """Returns both texts, escaped, with the words that the other one lacks in mark elements."""
    translated, expected = translation.split(), reference.split()
    left: list[str] = []
    right: list[str] = []
    for kind, start, end, other_start, other_end in difflib.SequenceMatcher(None, translated, expected).get_opcodes():
        for words, parts in ((translated[start:end], left), (expected[other_start:other_end], right)):
            text = escape(" ".join(words))
            if text:
                parts.append(text if kind == "equal" else f"<mark>{text}</mark>")
    return " ".join(left), " ".join(right)


def _score(score: Score) -> str:
    interval = ""
    if score.low is not None and score.high is not None:
        low, high = min(score.low, 100), min(score.high, 100)
        interval = f"""<svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
<rect class="track" y="6" width="100" height="2"/>
<rect class="range" x="{low:.2f}" y="3" width="{max(high - low, 0.4):.2f}" height="8"/>
<rect class="point" x="{max(min(score.score, 100) - 0.3, 0):.2f}" width="0.6" height="14"/></svg>
<p>95 % interval {score.low:.1f} to {score.high:.1f}</p>
"""
    return f"""<article class="score"><h3>{escape(score.name)}</h3>
<p class="figure">{score.score:.1f}</p>
{interval}<code>{escape(score.signature)}</code></article>
"""
