"""Evaluations in a model card: a section for each test set, written by `attendo evaluate --card`."""

import re
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from attendo.checkpoint.checksums import CARD
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import replace_card
from attendo.decoding.config import SearchConfig
from attendo.errors import DataError, ModelError
from attendo.evaluation.contrastive import Contrast
from attendo.evaluation.kept import KeptReport
from attendo.evaluation.robustness import Robustness
from attendo.evaluation.robustness_tables import robustness_markdown
from attendo.evaluation.scores import Score
from attendo.workflow.evaluation.evaluate import Evaluation

EVALUATIONS_START = "<!-- attendo evaluate --card writes below -->"
"""The place of the first section in a card written by training."""
_END = "<!-- end of evaluation -->"
_CONTRAST = (
    "How often it prefers the reference to the same with one error: a negation flipped, a number or a name changed, "
    "a word left out."
)
_SPEED_SETTINGS = {"max_batch_tokens", "max_batch_sentences", "window_lines"}
"""Search settings that change no output."""


def check_section_name(name: str) -> None:
    """Rejects text that cannot be the heading of a section.

    Raises:
        DataError: it is empty, long, or has characters that mean something in Markdown.
    """
    if not re.fullmatch(r"[\w .,:()/+]([\w .,:()/+-]{0,78}[\w .,:()/+])?", name) or "--" in name or not name.strip():
        raise DataError(
            f"--card {name!r}: take the test set's name, 1 to 80 letters, digits, spaces and . , : ( ) / + -"
        )


def evaluation_section(
    name: str,
    evaluation: Evaluation,
    *,
    search: SearchConfig,
    version: str,
    kept: KeptReport | None = None,
    contrast: Contrast | None = None,
    robustness: Robustness | None = None,
) -> str:
    """Writes the card's section on an evaluation, as Markdown.

    Args:
        name: the name of the test set.
        evaluation: scores and perplexity.
        search: the search settings of the translation.
        version: the version of attendo.
        kept: the values that are kept, if counted.
        contrast: the preferences between right and wrong translations, if measured.
        robustness: the robustness, if measured.
    """
    scores = evaluation.scores
    lines = [
        f"{scores.num_sentences:,} sentences, by attendo {version} on {evaluation.kernel}, {settings_text(search)}.",
        "",
        "| figure | | 95% |",
        "|---|---|---|",
        *(f"| {score.name} | {score.score:.2f} | {_interval(score)} |" for score in scores.figures),
        f"| perplexity of the reference, a word piece | {evaluation.perplexity.per_token:.3f} | |",
        "",
        "| figure | signature |",
        "|---|---|",
        *(f"| {score.name} | {_cell(score.signature)} |" for score in scores.figures),
    ]
    if kept is not None:
        lines += ["", f"#### Values kept on {name}", "", *kept.to_markdown()]
    if contrast is not None:
        lines += ["", f"#### Right or wrong on {name}", "", _CONTRAST, "", *contrast.to_markdown()]
    if robustness is not None:
        lines += ["", f"#### Robustness on {name}", "", robustness_markdown(robustness)]
    return section_text(name, lines)


def section_text(name: str, lines: Sequence[str]) -> str:
    """A test set's section, as Markdown.

    Args:
        name: the name of the test set.
        lines: below its heading.
    """
    return "\n".join([_start(name), f"### {name}", "", *lines, "", _END])


def with_section(card: str, name: str, section: str) -> str:
    """A card with a test set's section: replacing an older one of that name, or after the others."""
    older = re.search(re.escape(_start(name)) + r".*?" + re.escape(_END), card, flags=re.DOTALL)
    if older:
        return card[: older.start()] + section + card[older.end() :]
    if _END in card:
        place = card.rindex(_END) + len(_END)
        return f"{card[:place]}\n\n{section}{card[place:]}"
    if EVALUATIONS_START in card:
        place = card.index(EVALUATIONS_START) + len(EVALUATIONS_START)
        return f"{card[:place]}\n\n{section}{card[place:]}"
    return (
        f"{card.rstrip()}\n\n## Scores\n\n{section}\n"  # a card that training did not write, such as an imported one's
    )


def write_to_card(model: str, name: str, section: str) -> Path:
    """Writes a section into the card of a model folder.

    Args:
        model: a model or run folder, or the name of a shipped model.
        name: the name of the test set.
        section: the result of `evaluation_section`.

    Returns:
        The card.

    Raises:
        ModelError: there is no such model, or its card cannot be read.
        OSError: the folder cannot be written to.
    """
    folder = find_model(model)
    try:
        card = (folder / CARD).read_text(encoding="utf-8")
    except FileNotFoundError:
        card = ""
    except ValueError as error:
        raise ModelError(f"{folder / CARD}: cannot be read ({error}); copy it again, or remove it") from error
    replace_card(folder, with_section(card, name, section))
    return folder / CARD


def _start(name: str) -> str:
    return f"<!-- evaluation: {name} -->"


def settings_text(search: SearchConfig) -> str:
    """The beam size, and other settings that differ from the defaults and change outputs."""
    settings = {"beam_size": search.beam_size, "length_penalty": search.length_penalty}
    return ", ".join(f"{key} {value}" for key, value in (settings | _changed(search, SearchConfig())).items())


def _changed(section: Any, default: Any, prefix: str = "") -> dict[str, Any]:
    """The keys of a section that differ from the default, including those of nested tables."""
    found: dict[str, Any] = {}
    for key, value in vars(section).items():
        if is_dataclass(value):
            found |= _changed(value, getattr(default, key), f"{prefix}{key}.")
        elif value != getattr(default, key) and key not in _SPEED_SETTINGS:
            found[f"{prefix}{key}"] = value
    return found


def _interval(score: Score) -> str:
    return "" if score.low is None else f"{score.low:.2f} to {score.high:.2f}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
