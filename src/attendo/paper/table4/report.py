"""The page of a Table 4 study: ours beside the paper's, what each change brings, and what it took."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from attendo.paper.experiment import Order
from attendo.paper.page_parts import each, seeds_of, versions_of
from attendo.paper.report import Block, Paragraph, Picture, Report, Section, Shell, Table
from attendo.paper.run_results import ParserRunResult
from attendo.paper.table4.comparison import Cell, Change, cells, changes
from attendo.paper.table4.evaluation import UNCONSTRAINED, TestResult
from attendo.paper.table4.picture import f1_png
from attendo.paper.table4.printed import ROWS
from attendo.paper.table4.rows import Plan
from attendo.paper.table4.training import Trained

_LABELS = 12
_GIVEN = {"words": "words alone", "gold-tags": "words and gold tags"}


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that a page tells of."""

    plan: Plan
    trained: Trained | None
    """None where parsers from elsewhere were tested."""
    tested: tuple[TestResult, ...]
    """At least one."""
    failures: tuple[str, ...]


def table4_report(order: Order, findings: Findings) -> Report:
    """Makes the page of what is done."""
    found, compared = cells(findings.tested), changes(findings.plan.rows, findings.tested)
    runs = findings.trained.results if findings.trained else ()
    sections = [_table(found, findings.plan), *([_changes(compared)] if compared else []), _malformed(found)]
    sections += [_labels(found), _evalb(found)]
    sections += [_cost(runs)] if runs else []
    sections += [_how(order, findings)]
    return Report(
        title="Table 4: English constituency parsing",
        introduction=_introduction(order, findings),
        sections=tuple(sections),
        data={
            "table": "table4",
            "scale": order.scale,
            "command": order.command,
            "failures": list(findings.failures),
            "missing": list(findings.plan.missing),
            "rows": [cell.to_json() for cell in found],
            "changes": [one.to_json() for one in compared],
            "paper": [asdict(row) for row in ROWS],
            "tested": [asdict(one) for one in findings.tested],
            "runs": [asdict(one) for one in runs],
        },
    )


def _introduction(order: Order, findings: Findings) -> tuple[str, ...]:
    tests = "; ".join(f"{bank.name} is {bank.what}" for bank in findings.plan.banks)
    parts = []
    if findings.trained is None:
        parts.append(f"Parsers that were trained elsewhere, on the treebanks at hand: {tests}.")
    else:
        parts.append(
            f"Parsers trained here at the scale '{order.scale}' with {seeds_of(order)}, each on the treebanks that its "
            f"name tells, and tested on sentences that it has not seen: {tests}."
        )
    parts.append(
        "F1 is EVALB's by COLLINS.prm, where nothing else is said, with every sentence counted: one whose parse EVALB "
        "cannot compare counts as a parse in which nothing is found. Gold trees are as the treebank has them, but for "
        "traces and functional tags."
    )
    if order.scale != "paper":
        parts.append(
            "The paper's figures are of section 23 of the Penn Treebank, by parsers trained on the 39,832 trees of "
            "sections 2 to 21, which are licensed. These test sets and training sets are others and smaller: the "
            "lines below stand beside the paper's, and are not to be held against them."
        )
    if order.scale == "tiny":
        parts.append("This scale shows that the study works. Its treebank is invented, and says nothing of English.")
    parts += [f"Left out: {line}." for line in findings.plan.missing]
    return *parts, *(f"Failed: {failure}" for failure in findings.failures)


def _table(found: Sequence[Cell], plan: Plan) -> Section:
    rows = tuple(
        (
            cell.name,
            _GIVEN[cell.members[0].given],
            cell.members[0].order,
            cell.test,
            f"{cell.members[0].sentences:,}",
            cell.f1.to_text(),
            f"{cell.mean('evalb'):.2f}",
        )
        for cell in found
    )
    blocks: list[Block] = [
        Table(
            caption="F1 in percent, mean over seeds and half of the 95% interval; EVALB's own leaves failures out",
            columns=("here", "reads", "order", "tested on", "sentences", "F1", "EVALB's F"),
            rows=rows,
            words=4,
        ),
        Table(
            caption="The paper's Table 4: F1 on WSJ section 23",
            columns=("parser", "training", "F1"),
            rows=tuple((row.parser, row.training, f"{row.f1:.1f}") for row in ROWS),
            words=2,
        ),
        Picture(
            name="f1.png",
            png=f1_png(found),
            alt="F1 of the parsers trained here by test set, above those that the paper prints",
            caption="Above: here, mean and 95% interval where there are several seeds. Below: the paper's table, its "
            "Transformers as diamonds.",
        ),
    ]
    return Section(title="The table", blocks=tuple(blocks))


def _changes(found: Sequence[Change]) -> Section:
    rows = tuple(
        (
            one.row.name,
            one.row.what,
            one.row.against or "",
            one.test,
            one.verdict,
            f"{one.difference.mean:+.2f}",
            "" if one.difference.low is None else f"{one.difference.low:+.2f}",
            "" if one.difference.high is None else f"{one.difference.high:+.2f}",
        )
        for one in found
    )
    table = Table(
        caption="Difference in F1 to the row that it is held against, paired by seed, with its 95% interval",
        columns=("row", "change", "against", "tested on", "verdict", "F1", "from", "to"),
        rows=rows,
        words=5,
    )
    note = (
        "The paper's own change of this kind, automatic trees beside those of people, brought 91.3 to 92.7. 'Not told "
        "apart' means that so few seeds cannot say, not that there is no effect."
    )
    return Section(title="What each change brings", blocks=(table, Paragraph(text=note)))


def _malformed(found: Sequence[Cell]) -> Section:
    rows = tuple(
        (
            cell.name,
            cell.test,
            f"{cell.members[0].num_unconstrained:,}",
            f"{cell.mean('malformed'):.2%}",
            f"{cell.mean('f1_unconstrained'):.2f}",
            f"{cell.mean('f1_constrained'):.2f}",
        )
        for cell in found
    )
    table = Table(
        caption="Outputs that are no tree over the words, where nothing is forbidden; and F1 of the same sentences",
        columns=("row", "tested on", "sentences", "malformed", "F1, mended", "F1, only trees"),
        rows=rows,
        words=2,
    )
    note = (
        f"Of up to {UNCONSTRAINED} sentences of each test set. The paper's search forbids nothing, and the paper does "
        "not say how many of its outputs are no trees; Vinyals et al. (2015) tell 1.5% of section 22 for an LSTM. All "
        "other figures of this page are of the search that writes nothing but trees."
    )
    return Section(title="Malformed outputs", blocks=(table, Paragraph(text=note)))


def _labels(found: Sequence[Cell]) -> Section:
    best = max(found, key=lambda cell: cell.f1.mean)
    one = max(best.members, key=lambda member: member.f1)
    rows = tuple(
        (label.label, f"{label.gold:,}", f"{label.recall:.2f}", f"{label.precision:.2f}", f"{label.f1:.2f}")
        for label in one.labels[:_LABELS]
    )
    table = Table(
        caption=f"{one.system} on {one.test}: the most frequent labels, in percent",
        columns=("label", "in the treebank", "recall", "precision", "F1"),
        rows=rows,
        words=1,
    )
    return Section(title="By label", blocks=(table,))


def _evalb(found: Sequence[Cell]) -> Section:
    rows = tuple(
        (
            cell.name,
            cell.test,
            f"{cell.mean('recall'):.2f}",
            f"{cell.mean('precision'):.2f}",
            f"{cell.mean('evalb_short'):.2f}",
            f"{cell.mean('complete'):.2f}",
            f"{cell.mean('tagging'):.2f}",
            f"{cell.mean('failed'):.1f}",
            f"{cell.mean('sentences_per_s'):,.1f}",
        )
        for cell in found
    )
    table = Table(
        caption="Means over seeds; recall, precision, complete and tags with every sentence counted",
        columns=("row", "tested on", "recall", "precision", "EVALB F <= 40", "complete", "tags", "failed", "a second"),
        rows=rows,
        words=2,
    )
    note = (
        "EVALB does not compare a sentence where a word is punctuation by its tag in one tree alone: these are "
        "'failed'. A parser that is given the treebank's tags has none such. Sentences a second are of parsing a test "
        f"set on {each(one.kernel for cell in found for one in cell.members)}."
    )
    return Section(title="All figures", blocks=(table, Paragraph(text=note)))


def _cost(results: Sequence[ParserRunResult]) -> Section:
    rows = []
    for row in dict.fromkeys(result.row for result in results):
        of_row = [result for result in results if result.row == row]
        rows.append(
            (
                row,
                str(len(of_row)),
                f"{of_row[0].parameters / 1e6:.2f}",
                f"{fmean(result.seconds for result in of_row) / 60:.1f}",
                f"{fmean(result.target_tokens for result in of_row):,.0f}",
                f"{fmean(result.flops for result in of_row):.2e}",
                f"{fmean(result.f1 for result in of_row):.2f}",
            )
        )
    table = Table(
        caption="Means a run; the last column is the greedy F1 of its last validation",
        columns=("row", "runs", "params, 1e6", "minutes", "symbols", "FLOPs", "validation F1"),
        rows=tuple(rows),
        words=1,
    )
    total = (
        f"In all {len(results)} runs, {sum(result.seconds for result in results) / 3600:.2f} hours, each with so many "
        f"processor threads: {each(result.threads for result in results)}. "
        f"Machine: {each(result.machine for result in results)}."
    )
    return Section(title="Cost", blocks=(Paragraph(text=total), table))


def _how(order: Order, findings: Findings) -> Section:
    searched = each(f"beam {one.beam_size}, alpha {one.length_penalty:g}" for one in findings.tested)
    blocks: list[Block] = [Shell(lines=(order.command,)), Paragraph(text=f"Search: {searched}.")]
    if findings.trained is not None:
        blocks += [Paragraph(text=f"{name}: {line}") for name, line in findings.trained.kept.items()]
        blocks.append(Paragraph(text=f"Versions: {versions_of(findings.trained.results)}"))
    return Section(title="How to repeat it", blocks=tuple(blocks))
