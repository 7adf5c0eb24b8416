"""The two conventions of BLEU on the same output: where they come apart, on worked examples and step by step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU, BLEUScore

from attendo.evaluation.tokenized import PAPER, moses_tokens, plain_punctuation, split_compounds


@dataclass(frozen=True, kw_only=True)
class Example:
    """A line as a system might write it, and its reference."""

    shows: str
    language: str
    output: str
    reference: str


EXAMPLES = (
    Example(
        shows="a compound with a hyphen",
        language="de",
        output="Die neue U-Bahn-Haltestelle liegt direkt am Marktplatz.",
        reference="Die neue U-Bahn-Station liegt direkt am Marktplatz.",
    ),
    Example(
        shows="quotation marks of another shape",
        language="de",
        output='Sie rief: "Wir sehen uns morgen am Bahnhof!"',
        reference="Sie rief: „Wir sehen uns morgen am Bahnhof!“",
    ),
    Example(
        shows="an elision",
        language="fr",
        output="L'hôtel n'était pas loin de la gare.",
        reference="L'hôtel n'est pas loin de la gare.",
    ),
    Example(
        shows="neither",
        language="de",
        output="Der Zug nach Bremen fährt um acht Uhr ab.",
        reference="Der Zug nach Bremen fährt um neun Uhr ab.",
    ),
)
"""Ours, so that they may stand on any page."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What one convention makes of one line."""

    tokens: str
    """Of the output, with a space between."""
    matches: tuple[int, ...]
    """N-grams of 1 to 4 tokens that the reference has too."""
    totals: tuple[int, ...]
    """N-grams of the output."""
    bleu: float
    """Of this line alone, as if it were a corpus."""

    @property
    def precisions(self) -> str:
        """Matches of totals, as `8/9 6/8 5/7 4/6`."""
        return " ".join(f"{match}/{total}" for match, total in zip(self.matches, self.totals, strict=True))


@dataclass(frozen=True, kw_only=True)
class Worked:
    """An example under both conventions."""

    example: Example
    sacrebleu: Counted
    paper: Counted


def worked(example: Example) -> Worked:
    """Counts an example's n-grams by both conventions; both figures are sacreBLEU's own arithmetic."""
    plain = BLEU(trg_lang=example.language)
    tokens = plain.tokenizer(example.output)
    lines = [PAPER.tokens([text], example.language)[0] for text in (example.output, example.reference)]
    return Worked(
        example=example,
        sacrebleu=_counted(tokens, plain.corpus_score([example.output], [[example.reference]])),
        paper=_counted(lines[0], PAPER.metric().corpus_score([lines[0]], [[lines[1]]])),
    )


@dataclass(frozen=True, kw_only=True)
class Step:
    """A figure on the way from one convention to the other."""

    what: str
    bleu: float


def ladder(outputs: Sequence[str], references: Sequence[str], language: str) -> tuple[Step, ...]:
    """From sacreBLEU's figure to the paper's on one output, a change at a time.

    Args:
        outputs: translations, detokenised.
        references: what they should have been, likewise.
        language: two-letter code of both.
    """

    def plain(lines: Sequence[str]) -> list[str]:
        return plain_punctuation(lines, language)

    def moses(lines: Sequence[str]) -> list[str]:
        return moses_tokens(lines, language)

    changes: list[tuple[str, Callable[[Sequence[str]], list[str]]]] = [
        ("Moses tokens in place of sacreBLEU's", moses),
        ("and punctuation made plain before", lambda lines: moses(plain(lines))),
    ]
    if language == "de":
        changes.append(("and compounds split at hyphens", lambda lines: split_compounds(moses(plain(lines)))))
    first = BLEU(trg_lang=language).corpus_score(list(outputs), [list(references)])
    steps = [Step(what="sacreBLEU, detokenised", bleu=float(first.score))]
    for what, change in changes:
        found = PAPER.metric().corpus_score(change(outputs), [change(references)])
        steps.append(Step(what=what, bleu=float(found.score)))
    return tuple(steps)


def _counted(tokens: str, score: BLEUScore) -> Counted:
    return Counted(tokens=tokens, matches=tuple(score.counts), totals=tuple(score.totals), bleu=float(score.score))
