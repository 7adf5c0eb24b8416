"""Evaluating a model on a test set: translate, score the output, and measure the perplexity of the reference."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.decoding.scoring import Perplexity, perplexity
from attendo.evaluation.scores import Scores, evaluate_output
from attendo.workflow.engines.engine import Engine


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Scores of a model on a test set."""

    scores: Scores
    """Scores of the translations."""
    perplexity: Perplexity
    """Perplexity of the references, per word piece."""
    outputs: tuple[str, ...]
    """The translations."""
    truncated: int
    """Number of source lines that were too long, so that only their beginning was translated."""
    seconds: float
    """Seconds of wall time for translating."""
    kernel: str
    """Kernels and numbers that calculated the products."""

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for JSON: `bleu`, `chrf` and `ter`, each with `score` and `signature`, and more."""
        return {
            **self.scores.to_json(),
            "perplexity": self.perplexity.per_token,
            "reference_tokens": self.perplexity.num_tokens,
            "truncated": self.truncated,
            "kernel": self.kernel,
            "translation_s": round(self.seconds, 3),
            "sentences_per_s": round(len(self.outputs) / max(self.seconds, 1e-9), 2),
        }

    def to_text(self) -> str:
        """Formats the evaluation as lines of text."""
        lines = [
            self.scores.to_text(),
            f"perplexity {self.perplexity.per_token:.3f} a word piece, {self.perplexity.num_tokens} in the reference",
            f"{len(self.outputs)} sentences translated in {self.seconds:.1f} s ({self.kernel})",
        ]
        if self.truncated:
            lines.append(f"{self.truncated} source lines were too long and cut; see search.max_source_tokens")
        return "\n".join(lines)


def evaluate(
    engine: Engine,
    sources: Sequence[str],
    references: Sequence[str],
    *,
    paper: bool = False,
    multi30k: bool = False,
    num_resamples: int = 1000,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Translates a test set and scores the output.

    Args:
        engine: the model.
        sources: the sentences.
        references: their translations, in the same order.
        paper: whether to add tokenised BLEU as in the paper, with German compounds split.
        multi30k: whether to add the tokenised, lower-cased BLEU of the Multi30k literature.
        num_resamples: number of bootstrap resamples for the confidence intervals; 0 for no intervals.
        progress: called with the number of sentences translated so far.

    Raises:
        DataError: the two sides differ in length or are empty, or a score cannot be computed.
    """
    started, truncated_before = time.monotonic(), engine.counts.truncated
    outputs = []
    for translation in engine.stream(sources):
        outputs.append(translation.text)
        if progress:
            progress(len(outputs))
    seconds = time.monotonic() - started
    scores = evaluate_output(
        outputs,
        references,
        target_language=engine.description.target_language,
        paper=paper,
        multi30k=multi30k,
        num_resamples=num_resamples,
    )
    return Evaluation(
        scores=scores,
        perplexity=perplexity(engine.score(zip(sources, references, strict=True))),
        outputs=tuple(outputs),
        truncated=engine.counts.truncated - truncated_before,
        seconds=seconds,
        kernel=engine.kernel,
    )
