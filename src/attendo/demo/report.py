"""The page that `attendo demo` names at its end: what was trained, how well, and what it looks like inside.

One file without anything from the network: styles inside, the picture as a data: URI, light or dark as the reader's
system is.
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
    """What the training was, in numbers."""

    steps: int
    seconds: float
    """Wall time."""
    tokens_per_s: float
    """Target tokens a second, padding not counted."""
    parameters: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A held-out sentence, its translation in the phrasebook and the model's."""

    source: str
    reference: str
    translation: str


@dataclass(frozen=True, kw_only=True)
class PhrasebookSummary:
    """What the text was: numbers of pairs and of templates."""

    num_train: int
    num_valid: int
    num_test: int
    num_templates: int


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A command to go on with and what it does."""

    explanation: str
    command: str


@dataclass(frozen=True, kw_only=True)
class DemoReport:
    """All that the page shows."""

    training: TrainingSummary
    phrasebook: PhrasebookSummary
    scores: tuple[Score, ...]
    samples: tuple[Sample, ...]
    curves_png: bytes
    attention_html: str
    """Markup of our own, put into the page as it is."""
    next_steps: tuple[NextStep, ...]


def write_report(path: Path, report: DemoReport) -> None:
    """Writes the page, whole or not at all.

    Args:
        path: the HTML file.
        report: what it shows.

    Raises:
        OSError: the file cannot be written.
    """
    write_text(path, to_html(report))


def to_html(report: DemoReport) -> str:
    """The page as text."""
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
    """Both texts, escaped, with the words that the other has not in mark elements."""
    ours, theirs = translation.split(), reference.split()
    left: list[str] = []
    right: list[str] = []
    for kind, start, end, other_start, other_end in difflib.SequenceMatcher(None, ours, theirs).get_opcodes():
        for words, into in ((ours[start:end], left), (theirs[other_start:other_end], right)):
            text = escape(" ".join(words))
            if text:
                into.append(text if kind == "equal" else f"<mark>{text}</mark>")
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
