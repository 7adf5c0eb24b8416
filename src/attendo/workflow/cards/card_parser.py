"""Evaluations of a parser in its model card, written by `attendo evaluate --trees --card`."""

from attendo.decoding.config import SearchConfig
from attendo.workflow.cards.card_evaluations import section_text, settings_text
from attendo.workflow.evaluation.evaluate_parser import ParserEvaluation

_LABELS = 12


def parser_section(
    name: str, evaluation: ParserEvaluation, *, search: SearchConfig, parameters: str, version: str
) -> str:
    """Writes the card's section on a parser's evaluation, as Markdown.

    Args:
        name: the name of the treebank.
        evaluation: the figures.
        search: the search settings of the parsing.
        parameters: the EVALB parameters.
        version: the version of attendo.
    """
    every, summary = evaluation.scores.every_sentence, evaluation.scores.summary
    given = {"words": "from words alone", "gold-tags": "from words with the treebank's tags"}[evaluation.given]
    rows = [
        ("every sentence, a failed one as recall 0", every.num_counted, every.recall, every.precision, every.f1),
        ("EVALB, all", summary.all.num_valid, summary.all.recall, summary.all.precision, summary.all.f_measure),
        (
            f"EVALB, up to {summary.cutoff_length} words",
            summary.short.num_valid,
            summary.short.recall,
            summary.short.precision,
            summary.short.f_measure,
        ),
    ]
    labels = every.labels()[:_LABELS]
    malformed = (
        "The search writes nothing but trees."
        if evaluation.constrained
        else f"Of the outputs {evaluation.malformed:.2%} were no tree and were mended."
    )
    return section_text(
        name,
        [
            f"{len(evaluation.parses):,} sentences {given}, by attendo {version} on {evaluation.kernel}, "
            f"{settings_text(search)}; EVALB's rules with {parameters}. {malformed}",
            "",
            "| figure | sentences | recall | precision | F1 |",
            "|---|---|---|---|---|",
            *(f"| {kind} | {count:,} | {r:.2f} | {p:.2f} | {f1:.2f} |" for kind, count, r, p, f1 in rows),
            "",
            f"Complete match {dict(every.figures())['Complete match']:.2f} %, tags "
            f"{dict(every.figures())['Tagging accuracy']:.2f} %. EVALB leaves {evaluation.failures.num} sentences out.",
            "",
            "| label | in the treebank | recall | precision | F1 |",
            "|---|---|---|---|---|",
            *(
                f"| {label.label} | {label.gold:,} | {label.recall:.2f} | {label.precision:.2f} | {label.f1:.2f} |"
                for label in labels
            ),
        ],
    )
