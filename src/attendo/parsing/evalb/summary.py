"""EVALB's output to the digit: a row for each sentence, and summaries of all sentences and of the short ones."""

import math
from dataclasses import dataclass, field
from typing import Any

from attendo.parsing.evalb.brackets import ERROR, OK, SKIPPED, SentenceScore

_RULE = "=" * 76

HEAD = f"""\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
{_RULE}
"""
"""The lines above the rows, in EVALB's spelling."""


@dataclass(slots=True)
class Totals:
    """Sums over sentences, and the scores computed from them; errors and skipped sentences do not contribute."""

    num_sentences: int = 0
    num_errors: int = 0
    num_skipped: int = 0
    matched: int = 0
    gold_brackets: int = 0
    test_brackets: int = 0
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    num_complete: int = 0
    num_no_crossing: int = 0
    num_two_or_less_crossing: int = 0

    def add(self, score: SentenceScore) -> None:
        """Counts a sentence."""
        self.num_sentences += 1
        self.num_errors += score.status == ERROR
        self.num_skipped += score.status == SKIPPED
        if score.status != OK:
            return
        self.matched += score.matched
        self.gold_brackets += score.gold_brackets
        self.test_brackets += score.test_brackets
        self.crossing += score.crossing
        self.words += score.words
        self.correct_tags += score.correct_tags
        self.num_complete += score.gold_brackets == score.test_brackets == score.matched
        self.num_no_crossing += score.crossing == 0
        self.num_two_or_less_crossing += score.crossing <= 2

    @property
    def num_valid(self) -> int:
        """Number of sentences that are compared."""
        return self.num_sentences - self.num_errors - self.num_skipped

    @property
    def recall(self) -> float:
        """Recall in percent; 0 if there are no gold brackets."""
        return percent(self.matched, self.gold_brackets)

    @property
    def precision(self) -> float:
        """Precision in percent; 0 if there are no test brackets."""
        return percent(self.matched, self.test_brackets)

    @property
    def f_measure(self) -> float:
        """F-measure in percent; NaN, as in EVALB, if nothing matches."""
        return f_measure(self.precision, self.recall)

    def figures(self) -> list[tuple[str, float]]:
        """Returns the names of EVALB's scores, with their values, in its order."""
        valid = self.num_valid
        return [
            ("Bracketing Recall", self.recall),
            ("Bracketing Precision", self.precision),
            ("Bracketing FMeasure", self.f_measure),
            ("Complete match", percent(self.num_complete, valid)),
            ("Average crossing", self.crossing / valid if valid > 0 else 0.0),
            ("No crossing", percent(self.num_no_crossing, valid)),
            ("2 or less crossing", percent(self.num_two_or_less_crossing, valid)),
            ("Tagging accuracy", percent(self.correct_tags, self.words)),
        ]

    def to_text(self) -> str:
        """Returns EVALB's lines for this summary, without its title."""
        counts = [
            ("Number of sentence", self.num_sentences),
            ("Number of Error sentence", self.num_errors),
            ("Number of Skip  sentence", self.num_skipped),
            ("Number of Valid sentence", self.num_valid),
        ]
        lines = [f"{name:<25} = {value:6d}" for name, value in counts]
        lines += [f"{name:<25} = {value:6.2f}" for name, value in self.figures()]
        return "".join(f"{line}\n" for line in lines)

    def to_json(self) -> dict[str, Any]:
        """Returns the counts, and the scores without rounding; None for NaN."""
        figures = {name.lower().replace(" ", "_"): value for name, value in self.figures()}
        return {
            "sentences": self.num_sentences,
            "errors": self.num_errors,
            "skipped": self.num_skipped,
            "valid": self.num_valid,
            "matched": self.matched,
            "gold_brackets": self.gold_brackets,
            "test_brackets": self.test_brackets,
            "crossing": self.crossing,
            "words": self.words,
            "correct_tags": self.correct_tags,
            **{name: None if math.isnan(value) else value for name, value in figures.items()},
        }


@dataclass(slots=True)
class EvalbSummary:
    """EVALB's two summaries: of all sentences, and of the short ones."""

    cutoff_length: int
    """Maximum length of the short sentences, in words."""
    all: Totals = field(default_factory=Totals)
    short: Totals = field(default_factory=Totals)

    def add(self, score: SentenceScore) -> None:
        """Counts a sentence."""
        self.all.add(score)
        if score.length <= self.cutoff_length:
            self.short.add(score)

    def to_text(self) -> str:
        """Returns the text that EVALB prints below the rows."""
        total = self.all
        sums = ""
        if total.gold_brackets > 0 and total.test_brackets > 0:
            sums = (
                f"                {total.recall:6.2f} {total.precision:6.2f} {total.matched:6d} "
                f"{total.gold_brackets:5d} {total.test_brackets:5d}  {total.crossing:5d}"
            )
        sums += f"  {total.words:5d} {total.correct_tags:5d}   {percent(total.correct_tags, total.words):6.2f}"
        return (
            f"{_RULE}\n{sums}\n=== Summary ===\n\n-- All --\n{self.all.to_text()}"
            f"\n-- len<={self.cutoff_length} --\n{self.short.to_text()}"
        )


def row(score: SentenceScore) -> str:
    """Returns EVALB's line for one sentence, with the line break."""
    recall, precision = percent(score.matched, score.gold_brackets), percent(score.matched, score.test_brackets)
    tagging = percent(score.correct_tags, score.words)
    return (
        f"{score.number:4d}  {score.length:3d}    {score.status}  {recall:6.2f} {precision:6.2f}   "
        f"{score.matched:3d}    {score.gold_brackets:3d}  {score.test_brackets:3d}    {score.crossing:3d}   "
        f"{score.words:4d}  {score.correct_tags:4d}   {tagging:6.2f}\n"
    )


def percent(part: int, whole: int) -> float:
    """Returns a share in percent, in EVALB's order of operations; 0 if the whole is 0."""
    return 100.0 * part / whole if whole > 0 else 0.0


def f_measure(precision: float, recall: float) -> float:
    """Returns 2PR / (P + R); NaN if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else math.nan
