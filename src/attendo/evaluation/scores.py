"""BLEU, chrF and TER of an output by sacreBLEU, each with its signature and confidence interval."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF, CHRFScore
from sacrebleu.metrics.ter import TER

from attendo.errors import DataError
from attendo.evaluation.tokenized import MULTI30K, PAPER, Convention

BleuTokenizer = Literal["13a", "intl", "char", "zh", "ja-mecab", "ko-mecab", "none"]
"""Those of sacreBLEU's tokenisers that need no download."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """One metric's figure for a whole output.

    Attributes:
        name: the printed name: `BLEU`, `chrF2`, `TER`, or that of a convention of `evaluation.tokenized`.
        score: 0 to 100 for BLEU and chrF, where higher is better; TER, where lower is better, may exceed 100.
        signature: sacreBLEU's signature, with all that is needed to reproduce the figure.
        low: lower end of the 95% bootstrap interval, which sacreBLEU gives as a mean and half a width (so that on a
            handful of sentences it may exceed 100); None if it was not requested.
        high: upper end of that interval.
        recipe: preparation of the text before it was scored; empty if there was none.
    """

    name: str
    score: float
    signature: str
    low: float | None = None
    high: float | None = None
    recipe: str = ""

    def to_json(self) -> dict[str, str | float | None]:
        """Returns the figure as `--json` prints it."""
        figure: dict[str, str | float | None] = {
            "score": self.score,
            "signature": self.signature,
            "low": self.low,
            "high": self.high,
        }
        if self.recipe:
            figure |= {"name": self.name, "recipe": self.recipe}
        return figure


@dataclass(frozen=True, kw_only=True)
class Scores:
    """All figures for one output; `paper` and `multi30k` are None unless requested."""

    num_sentences: int
    bleu: Score
    chrf: Score
    ter: Score
    paper: Score | None = None
    multi30k: Score | None = None

    @property
    def figures(self) -> tuple[Score, ...]:
        """The figures that were computed, in the order of reports."""
        optional = [score for score in (self.paper, self.multi30k) if score is not None]
        return (self.bleu, self.chrf, self.ter, *optional)

    def to_json(self) -> dict[str, object]:
        """Returns a dictionary for `json.dumps`: `num_sentences`, `bleu`, `chrf`, `ter` and any tokenised figures."""
        figures: dict[str, object] = {
            "num_sentences": self.num_sentences,
            "bleu": self.bleu.to_json(),
            "chrf": self.chrf.to_json(),
            "ter": self.ter.to_json(),
        }
        if self.paper is not None:
            figures["bleu_tokenized"] = self.paper.to_json()
        if self.multi30k is not None:
            figures["bleu_tok_lc_multi30k"] = self.multi30k.to_json()
        return figures

    def to_text(self) -> str:
        """Returns a few lines of text: each figure with its interval, followed by its signature."""
        lines = []
        for score in self.figures:
            interval = "" if score.low is None else f"  [{score.low:.2f}, {score.high:.2f}] 95%"
            lines.append(f"{score.name:<6} {score.score:6.2f}{interval}")
            lines.append(f"       {score.signature}")
            if score.recipe:
                lines.append(f"       {score.recipe}")
        return "\n".join(lines)


def evaluate_output(
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str = "",
    bleu_tokenizer: BleuTokenizer | None = None,
    num_resamples: int = 1000,
    paper: bool = False,
    multi30k: bool = False,
) -> Scores:
    """Scores an output against one reference per line.

    Args:
        outputs: translations, detokenised, one per sentence.
        references: their reference translations, in the same order.
        target_language: two-letter code; chooses BLEU's tokeniser (Chinese, Japanese and Korean have their own) and
            the Moses rules of the tokenised figures.
        bleu_tokenizer: overrides that choice.
        num_resamples: number of bootstrap resamples for the confidence intervals; 0 for no intervals. sacreBLEU keeps
            all resamples in memory: about 70 KB per sentence for the default 1000.
        paper: whether to add the tokenised BLEU of the paper's time, with German compounds split.
        multi30k: whether to add the tokenised, lower-cased BLEU of the Multi30k literature.

    Raises:
        DataError: the two sides differ in length or are empty; BLEU's tokeniser needs a package that is not installed;
            a tokenised figure was requested without a language; `num_resamples` is 1 or negative.
    """
    check_parallel({"output": outputs, "reference": references})
    if num_resamples < 0 or num_resamples == 1:
        raise DataError(f"num_resamples = {num_resamples}: take 0 for no interval, or 2 and more (usually 1000)")
    if (paper or multi30k) and not target_language:
        raise DataError("tokenised BLEU needs the code of the target language, to choose its Moses rules")
    score = partial(_score, outputs=outputs, references=references, num_resamples=num_resamples)
    tokenized_score = partial(
        _tokenized_score,
        language=target_language,
        outputs=outputs,
        references=references,
        num_resamples=num_resamples,
    )
    bleu = _bleu_metric(target_language, bleu_tokenizer)
    return Scores(
        num_sentences=len(outputs),
        bleu=score(bleu, "BLEU"),
        chrf=score(_Chrf(), "chrF2"),
        ter=score(TER(), "TER"),
        paper=tokenized_score(PAPER) if paper else None,
        multi30k=tokenized_score(MULTI30K) if multi30k else None,
    )


def corpus_bleu(
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str = "",
    bleu_tokenizer: BleuTokenizer | None = None,
    lowercase: bool = False,
) -> Score:
    """Returns BLEU alone, without an interval, as for validation during training.

    Args:
        outputs: translations, detokenised, one per sentence.
        references: their reference translations, in the same order.
        target_language: two-letter code; chooses BLEU's tokeniser.
        bleu_tokenizer: overrides that choice.
        lowercase: whether to ignore case; the signature states it.

    Raises:
        DataError: the two sides differ in length or are empty, or BLEU's tokeniser needs a package that is not
            installed.
    """
    check_parallel({"output": outputs, "reference": references})
    metric = _bleu_metric(target_language, bleu_tokenizer, lowercase=lowercase)
    return _score(metric, "BLEU", outputs=outputs, references=references, num_resamples=0)


def corpus_chrf(outputs: Sequence[str], references: Sequence[str]) -> Score:
    """Returns chrF alone, without an interval.

    Raises:
        DataError: the two sides differ in length or are empty.
    """
    check_parallel({"output": outputs, "reference": references})
    return _score(_Chrf(), "chrF2", outputs=outputs, references=references, num_resamples=0)


def check_parallel(sides: Mapping[str, Sequence[str]]) -> None:
    """Refuses texts that cannot be scored against each other.

    Args:
        sides: the lines of each text by its name in messages; the reference comes last.

    Raises:
        DataError: a text has no lines, or another number of lines than the reference; the message names all such texts.
    """
    *_, (reference_name, reference) = sides.items()
    empty = [name for name, lines in sides.items() if not lines]
    if empty:
        raise DataError(f"{' and '.join(empty)}: no line at all, so nothing to score; check the file's path and size")
    problems = [
        f"{name} has {len(lines)} lines, {reference_name} has {len(reference)}"
        for name, lines in sides.items()
        if len(lines) != len(reference)
    ]
    if problems:
        raise DataError("; ".join(problems) + "; scoring needs one line for each line of the reference, in its order")


def metrics(target_language: str = "", bleu_tokenizer: BleuTokenizer | None = None) -> dict[str, Metric]:
    """Returns new sacreBLEU metrics by attendo's names, configured as in `evaluate_output`."""
    return {"bleu": _bleu_metric(target_language, bleu_tokenizer), "chrf": _Chrf(), "ter": TER()}


class _Chrf(CHRF):
    """chrF whose resampled scores are all Python floats.

    sacreBLEU's own scores are numpy's float32, but the float 0.0 if nothing matches. Python 3.11's `statistics.mean`
    refuses the mixture, so the output of a model that has hardly learnt would cause a TypeError.
    """

    def _compute_score_from_stats(self, stats: list[int]) -> CHRFScore:
        score = super()._compute_score_from_stats(stats)
        score.score = float(score.score)
        return score


def _bleu_metric(target_language: str, bleu_tokenizer: BleuTokenizer | None, *, lowercase: bool = False) -> BLEU:
    try:
        return BLEU(tokenize=bleu_tokenizer, trg_lang=target_language, lowercase=lowercase)
    except RuntimeError as error:  # the tokeniser's package is missing; sacreBLEU's message names it
        advice = " ".join(str(error).split())
        problem = f"BLEU for target language '{target_language}': {advice}"
        raise DataError(f"{problem}; or choose BLEU's tokeniser 'char'") from error


def _score(
    metric: Metric, name: str, *, outputs: Sequence[str], references: Sequence[str], num_resamples: int
) -> Score:
    result = metric.corpus_score(outputs, [references], n_bootstrap=num_resamples)
    signature = str(metric.get_signature())
    low, high = None, None
    if num_resamples:
        # sacreBLEU reports its interval only in its JSON, and leaves it out if every resample scored 0.
        content = json.loads(result.format(width=12, is_json=True, signature=signature))
        mean, half_width = content.get("confidence_mean", 0.0), content.get("confidence_var", 0.0)
        low, high = mean - half_width, mean + half_width
    return Score(name=name, score=float(result.score), signature=signature, low=low, high=high)


def _tokenized_score(
    convention: Convention,
    *,
    language: str,
    outputs: Sequence[str],
    references: Sequence[str],
    num_resamples: int,
) -> Score:
    plain = _score(
        convention.metric(),
        convention.name,
        outputs=convention.tokens(outputs, language),
        references=convention.tokens(references, language),
        num_resamples=num_resamples,
    )
    return replace(plain, signature=convention.signature(plain.signature, language), recipe=convention.recipe)
