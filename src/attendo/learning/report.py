"""The report of a round of learning, for people, for programs and for the card of the new model."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from attendo.learning.gate import Verdict
from attendo.workflow.cards.card_evaluations import section_text, with_section

SECTION = "Corrections"
"""Heading of the section in a card."""


@dataclass(frozen=True, kw_only=True)
class LearningReport:
    """The result of a round, without any text of the corrections."""

    model: str | None
    """Path of the new model; None if no model was accepted."""
    ancestor: str
    """Name of the model that learned."""
    ancestor_sha256: str
    """SHA-256 of the ancestor's weights file."""
    corrections: int
    """Number of pairs that could be learned from."""
    files: tuple[Mapping[str, Any], ...]
    """The files with their counts."""
    trainings: int
    replay: str
    """Names and sizes of the replayed texts."""
    general: str
    """Name of the general set."""
    selection: Mapping[str, Any] | None
    """The shares that were tried for the new model; None if nothing was trained."""
    confidence: str
    """The outcome of recalibrating the confidence, in a sentence or two; empty if there was no recalibration."""
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        """Returns the report as a dictionary for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Returns the report that `to_json` returned as a dictionary.

        Raises:
            TypeError: the content is not a report.
        """
        verdict = Verdict.from_json(content["verdict"])
        return cls(**{**content, "files": tuple(content["files"]), "verdict": verdict})

    def to_text(self) -> str:
        """Returns the files, the shares that were tried, the conditions of the gate and the outcome as text."""
        lines = [f"{self.ancestor}: {self.corrections:,} corrections"]
        lines += [f"  {file['name']}: {file['used']:,} used{_dropped(file['dropped'])}" for file in self.files]
        if self.selection is not None:
            lines += [
                f"  share {option['share']:g}: perplexity of corrections {option['corrections']:.3f}, of general text "
                f"{option['general']:.3f}"
                for option in (self.selection["before"], *self.selection["candidates"])
            ]
            lines.append(f"  taken: share {self.selection['chosen']['share']:g}, replay: {self.replay}")
        end = [self.confidence] * bool(self.confidence)
        return "\n".join([*lines, "", self.verdict.to_text(), *end])


def card_section(report: LearningReport) -> str:
    """Returns the section about corrections in the card of the new model, as Markdown."""
    files = [
        f"| {str(file['name']).replace('|', ' ')} | {file['used']:,} | {_dropped(file['dropped'])[2:] or 'none'} |"
        for file in report.files
    ]
    share = report.selection["chosen"]["share"] if report.selection is not None else 0.0
    lines = [
        f"Learned from {report.corrections:,} corrections. Ancestor: {report.ancestor}, weights SHA-256 "
        f"{report.ancestor_sha256}.",
        f"Replayed: {report.replay}. The weights are {share:g} of the fine-tuned ones and {1 - share:g} of the "
        "ancestor's.",
        "",
        "| file | used | left out |",
        "|---|---|---|",
        *files,
        "",
        f"General set: {report.general}.",
        "",
        *report.verdict.to_markdown(),
        *(["", report.confidence] if report.confidence else []),
    ]
    return section_text(SECTION, lines)


def with_learning(card: str, section: str) -> str:
    """Returns a card with the section of this round."""
    return with_section(card, SECTION, section)


def _dropped(counts: Mapping[str, int]) -> str:
    return "".join(f", {number:,} {reason}" for reason, number in counts.items() if number)
