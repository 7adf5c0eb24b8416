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
    style = files("attendo.demo").joinpath("report.css").read_text(encoding="utf-8")
    sections = (_note(report.phrasebook), _samples(report.samples), _scores(report), _curves(report.curves_png))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>attendo demo: a Transformer trained on a phrasebook</title>
<style>
{style}</style>
</head>
<body>
{_header(report.training)}
<main>
{"".join(sections)}{_attention(report.attention_html)}{_next_steps(report.next_steps)}</main>
</body>
</html>
"""


def _header(training: TrainingSummary) -> str:
    facts = (
        ("Parameters", f"{training.parameters / 1e6:.1f} M"),
        ("Training steps", f"{training.steps:,}"),
        ("Training time", _duration(training.seconds)),
        ("Target tokens a second", f"{training.tokens_per_s:,.0f}"),
    )
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>\n" for name, value in facts)
    return f"""<header>
<h1>A Transformer, trained from nothing on this machine</h1>
<p class="quiet">English to German, with the model of <cite>Attention Is All You Need</cite>. Below are its
translations of sentences it never saw, its scores, how it learnt, and where it looks while it translates.</p>
<dl class="facts">
{cells}</dl>
</header>"""


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _note(phrasebook: PhrasebookSummary) -> str:
    held_out = phrasebook.num_valid + phrasebook.num_test
    return f"""<section aria-labelledby="text">
<h2 id="text">The text is a phrasebook</h2>
<div class="note">
<p>attendo wrote the text itself: {phrasebook.num_train:,} pairs to train on, {phrasebook.num_valid:,} to validate on
and {phrasebook.num_test:,} to test on, from {phrasebook.num_templates} hand-written templates and a small lexicon with
real German agreement and word order. No combination of template and content words of the {held_out:,} held-out pairs
occurs in training, so a right translation was composed, not remembered.</p>
<p><strong>The scores say nothing about real text.</strong> They show that the whole path works, from two texts to
translations of known quality. Sentences outside the phrasebook will not be translated well; for that, train on your own
text (see <a href="#next">what to do next</a>).</p>
</div>
</section>
"""


def _samples(samples: tuple[Sample, ...]) -> str:
    rows = "".join(map(_row, samples))
    return f"""<section aria-labelledby="samples">
<h2 id="samples">Translations of unseen sentences</h2>
<div class="scroll"><table>
<caption>Where the translation differs from the phrasebook's own, the words that differ are marked; it need not
be wrong.</caption>
<thead><tr><th scope="col">English</th><th scope="col">The model's German</th>
<th scope="col">Phrasebook</th></tr></thead>
<tbody>
{rows}</tbody>
</table></div>
</section>
"""


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


def _scores(report: DemoReport) -> str:
    cards = "".join(map(_score, report.scores))
    return f"""<section aria-labelledby="scores">
<h2 id="scores">Scores on the {report.phrasebook.num_test:,} held-out test sentences</h2>
<p class="quiet">With sacreBLEU's signature, so that they can be repeated, and the 95 % bootstrap interval. BLEU and
chrF: higher is better; TER, the share of edits: lower is better.</p>
<div class="scores">
{cards}</div>
</section>
"""


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


def _curves(png: bytes) -> str:
    encoded = base64.b64encode(png).decode("ascii")
    return f"""<section aria-labelledby="curves">
<h2 id="curves">How it learnt</h2>
<figure><img src="data:image/png;base64,{encoded}" alt="Learning curves: loss and BLEU over the training steps">
<figcaption>The loss of the training batches and of the validation pairs, and the BLEU of real decoding.</figcaption>
</figure>
</section>
"""


def _attention(markup: str) -> str:
    return f"""<section aria-labelledby="attention">
<h2 id="attention">Where it looks</h2>
<p class="quiet">Attention of every head while one unseen sentence is translated: the stronger a cell's colour,
the more of the word in its column goes into the word in its row.</p>
<div class="attention" tabindex="0" role="region" aria-label="Attention maps">
{markup}
</div>
</section>
"""


def _next_steps(steps: tuple[NextStep, ...]) -> str:
    items = "".join(
        f"<li>{escape(step.explanation)}<pre><code>{escape(step.command)}</code></pre></li>\n" for step in steps
    )
    return f"""<section aria-labelledby="next">
<h2 id="next">What to do next</h2>
<ol class="steps">
{items}</ol>
</section>
"""
