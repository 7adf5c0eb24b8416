"""Reports that EVALB does not give: a summary in which every sentence counts, and recall and precision by label."""

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from attendo.parsing.evalb.brackets import OK, SentenceScore
from attendo.parsing.evalb.summary import f_measure, percent

_MAX_CONFUSIONS = 15
_NO_LABEL = "(none)"


@dataclass(frozen=True, kw_only=True)
class LabelScore:
    """The scores of one label."""

    label: str
    gold: int
    """Number of brackets with this label in the gold trees."""
    test: int
    """Number of brackets with this label in the test trees."""
    recalled: int
    """Number of these gold brackets that match; the label in the test tree may be one that counts as the same."""
    precise: int
    """Number of these test brackets that match."""

    @property
    def recall(self) -> float:
        """Recall in percent."""
        return percent(self.recalled, self.gold)

    @property
    def precision(self) -> float:
        """Precision in percent."""
        return percent(self.precise, self.test)

    @property
    def f1(self) -> float:
        """F1 in percent; 0 if nothing matches."""
        return _f1(self.precision, self.recall)


@dataclass(slots=True)
class EverySentence:
    """Sums over all sentences, in which one that EVALB does not compare counts as an empty parse.

    EVALB ignores its errors in every score, so that a parser that fails on hard sentences looks better than it is.
    Errors in the gold file are ignored here, too, but counted.
    """

    num_sentences: int = 0
    """Number of all sentences, including the following three."""
    num_failed: int = 0
    """Number of sentences not compared: the test tree is missing, malformed, or has other words."""
    num_bad_gold: int = 0
    """Number of sentences ignored because the gold tree is malformed."""
    num_without_words: int = 0
    """Number of sentences ignored because the gold tree has no words that count."""
    num_complete: int = 0
    words: int = 0
    correct_tags: int = 0
    gold: Counter[str] = field(default_factory=Counter)
    """Number of brackets by label, as in the next three fields."""
    test: Counter[str] = field(default_factory=Counter)
    recalled: Counter[str] = field(default_factory=Counter)
    precise: Counter[str] = field(default_factory=Counter)
    confused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of brackets around the same words with different labels, by label: gold, test."""

    def add(self, score: SentenceScore) -> None:
        """Counts a sentence."""
        self.num_sentences += 1
        if not score.gold_is_readable:
            self.num_bad_gold += 1
            return
        if score.gold_words == 0:
            self.num_without_words += 1
            return
        self.gold.update(score.gold_labels)
        self.words += score.gold_words
        if score.status != OK:
            self.num_failed += 1
            return
        self.num_complete += score.matched == score.gold_brackets == score.test_brackets
        self.correct_tags += score.correct_tags
        self.test.update(score.test_labels)
        self.recalled.update([gold for gold, _ in score.matched_labels])
        self.precise.update([test for _, test in score.matched_labels])
        self.confused.update(score.mislabelled)

    @property
    def num_counted(self) -> int:
        """Number of sentences that the scores are computed over."""
        return self.num_sentences - self.num_bad_gold - self.num_without_words

    @property
    def recall(self) -> float:
        """Recall in percent."""
        return percent(self.recalled.total(), self.gold.total())

    @property
    def precision(self) -> float:
        """Precision in percent, over the brackets of the compared parses."""
        return percent(self.precise.total(), self.test.total())

    @property
    def f1(self) -> float:
        """F1 in percent; 0 if nothing matches."""
        return _f1(self.precision, self.recall)

    def labels(self) -> list[LabelScore]:
        """Returns the scores of each label, the most frequent in the gold trees first."""
        names = sorted(self.gold.keys() | self.test.keys(), key=lambda label: (-self.gold[label], label))
        return [
            LabelScore(
                label=name,
                gold=self.gold[name],
                test=self.test[name],
                recalled=self.recalled[name],
                precise=self.precise[name],
            )
            for name in names
        ]

    def confusions(self) -> list[tuple[str, str, int]]:
        """Returns the label in the gold tree, the label in the test tree and the count; the most frequent first."""
        return [(gold, test, count) for (gold, test), count in sorted(self.confused.items(), key=_by_count)]

    def figures(self) -> list[tuple[str, float]]:
        """Returns the names of the scores, with their values in percent."""
        return [
            ("Bracketing Recall", self.recall),
            ("Bracketing Precision", self.precision),
            ("Bracketing FMeasure", self.f1),
            ("Complete match", percent(self.num_complete, self.num_counted)),
            ("Tagging accuracy", percent(self.correct_tags, self.words)),
        ]

    def to_text(self) -> str:
        """Returns the summary, the scores by label, and the most frequent confusions of labels."""
        counts = [
            ("Number of sentence", self.num_sentences),
            ("Number of bad gold tree", self.num_bad_gold),
            ("Number without a word", self.num_without_words),
            ("Number of failed parse", self.num_failed),
        ]
        lines = ["-- Every sentence, a failed parse as recall 0 --"]
        lines += [f"{name:<25} = {value:6d}" for name, value in counts]
        lines += [f"{name:<25} = {value:6.2f}" for name, value in self.figures()]
        return "\n".join([*lines, "", *self._label_lines(), "", *self._confusion_lines()]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Returns all scores and counts as JSON values, not rounded."""
        return {
            "sentences": self.num_sentences,
            "bad_gold": self.num_bad_gold,
            "without_words": self.num_without_words,
            "failed": self.num_failed,
            **{name.lower().replace(" ", "_"): value for name, value in self.figures()},
            "labels": {
                label.label: {
                    "gold": label.gold,
                    "test": label.test,
                    "recalled": label.recalled,
                    "precise": label.precise,
                    "recall": label.recall,
                    "precision": label.precision,
                    "f1": label.f1,
                }
                for label in self.labels()
            },
            "confusions": [{"gold": gold, "test": test, "count": count} for gold, test, count in self.confusions()],
        }

    def _label_lines(self) -> list[str]:
        labels = self.labels()
        width = max([10, *(len(label.label) for label in labels)])
        head = f"{'Label':<{width}} {'gold':>6} {'test':>6} {'match':>6} {'Recall':>7} {'Prec.':>7} {'F1':>7}"
        rows = [
            f"{label.label or _NO_LABEL:<{width}} {label.gold:6d} {label.test:6d} {label.recalled:6d} "
            f"{label.recall:7.2f} {label.precision:7.2f} {label.f1:7.2f}"
            for label in labels
        ]
        return ["-- Labels --", head, *rows]

    def _confusion_lines(self) -> list[str]:
        rows = [
            f"{count:6d}  {gold or _NO_LABEL} > {test or _NO_LABEL}"
            for gold, test, count in self.confusions()[:_MAX_CONFUSIONS]
        ]
        return ["-- The same words under another label: gold > test --", *(rows or ["  none"])]


def _f1(precision: float, recall: float) -> float:
    value = f_measure(precision, recall)
    return 0.0 if math.isnan(value) else value


def _by_count(item: tuple[tuple[str, str], int]) -> tuple[int, tuple[str, str]]:
    return -item[1], item[0]
