"""`attendo parse`: sentences to constituency trees."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from attendo.cli.option_groups import with_groups
from attendo.cli.options import EngineOptions, ModelArgument, QuietOption, json_number
from attendo.cli.output import check_file, destination
from attendo.cli.progress import JobProgress, done_in, notes
from attendo.destinations import find_destination
from attendo.files import write_text
from attendo.reading import printable

if TYPE_CHECKING:
    from attendo.errors import DataError
    from attendo.parsing.sentences import Sentence
    from attendo.workflow.engines.engine import Engine
    from attendo.workflow.engines.parse import Parse, ParseCounts, ParsedTree

InputKind = Literal["text", "words", "tagged", "trees"]
Format = Literal["lines", "pretty", "json", "svg"]
Write = Callable[["Parse", int], None]
"""Writes the parse of a sentence, given with its number from 1."""


@dataclass(frozen=True)
class SentenceOptions:
    """The input."""

    kind: Annotated[
        InputKind,
        typer.Option(
            "--input",
            help="Kind of input: text, to be split into words as in the Penn Treebank; words separated by spaces; "
            "tagged words such as cat/NN, whose tags are kept; or the trees of a treebank, whose words are parsed "
            "anew.",
        ),
    ] = "text"
    gold_tags: Annotated[bool, typer.Option("--gold-tags", help="With --input trees: keep the treebank's tags.")] = (
        False
    )
    gold: Annotated[
        Path | None,
        typer.Option(
            "--gold",
            metavar="FILE",
            help="With --input trees: also write the input trees here, one per line, for `attendo evalb`.",
        ),
    ] = None


@dataclass(frozen=True)
class TreeOptions:
    """The output for each sentence."""

    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="Output: one tree per line, indented trees, one JSON object per line, or drawings (-o NAME.svg).",
        ),
    ] = "lines"
    n_best: Annotated[
        int | None,
        typer.Option("--n-best", min=1, help="Number of trees per sentence, each written as LINE-NUMBER TAB TREE."),
    ] = None
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Write SCORE TAB LOG-PROBABILITY before each tree; with --n-best, after the line number."
        ),
    ] = False
    keep: Annotated[
        float | None,
        typer.Option(
            "--keep",
            metavar="SHARE",
            help="Write only this share of the trees, the ones the parser is most confident of, as a treebank for "
            "self-training; for example 0.5.",
        ),
    ] = None


@with_groups(sentences=SentenceOptions, trees=TreeOptions, engine=EngineOptions)
def parse(
    model: ModelArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Sentences, one per line. Default: standard input.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the trees here once all are complete. Default: standard output.",
        ),
    ] = None,
    *,
    sentences: SentenceOptions,
    trees: TreeOptions,
    unconstrained: Annotated[
        bool,
        typer.Option(
            "--unconstrained", help="Do not restrict the output to valid trees, as in the paper; repair invalid ones."
        ),
    ] = False,
    engine: EngineOptions,
    quiet: QuietOption = False,
) -> None:
    """Parses sentences into constituency trees, one tree per sentence, in order.

    With --keep, only the most confident trees are written, for self-training (docs/parsing.md). Empty lines stay empty.
    A sentence that cannot be parsed gives an empty line and a message with its number, and the exit status is 1.
    """
    _check_usage(sentences, trees, output)
    for written in (output, sentences.gold):
        check_file(written)
    started = time.monotonic()
    from attendo.workflow.extras import need_packages
    from attendo.workflow.input_files import check_inputs, count_lines

    if sentences.kind == "text":
        need_packages(("nltk",), "parse")
    check_inputs(models=engine.models(model), files=[file])
    num_lines = count_lines(file) if file else None
    loaded = engine.load(model, engine.search(n_best=trees.n_best), unconstrained=unconstrained)
    total = None if sentences.kind == "trees" else num_lines
    counts, parsing_s = _parse_all(loaded, (file, output), total, sentences, trees, quiet=quiet)
    for line in summary(counts, time.monotonic() - started, parsing_s, unconstrained=unconstrained):
        notes(quiet=quiet)(line)
    if counts.failed:
        raise typer.Exit(1)


def _check_usage(sentences: SentenceOptions, trees: TreeOptions, output: Path | None) -> None:
    """Refuses options that do not go together.

    Raises:
        BadParameter: there are some.
    """
    if sentences.kind != "trees" and (sentences.gold_tags or sentences.gold is not None):
        raise typer.BadParameter("goes with --input trees", param_hint="--gold" if sentences.gold else "--gold-tags")
    if trees.form == "svg" and output is None:
        raise typer.BadParameter("drawings need --output NAME.svg", param_hint="--format")
    if trees.form == "svg" and output is not None and not find_destination(output).is_file:
        raise typer.BadParameter("drawings are files; name a new or regular one", param_hint="--output")
    if trees.keep is not None and (output is None or trees.form != "lines" or (trees.n_best or 1) > 1):
        raise typer.BadParameter("needs --output FILE, and neither --format nor --n-best", param_hint="--keep")
    if trees.keep is not None and not 0 < trees.keep <= 1:
        raise typer.BadParameter("take a share above 0 up to 1, such as 0.5", param_hint="--keep")


def _parse_all(
    engine: "Engine",
    files: tuple[Path | None, Path | None],
    total: int | None,
    options: SentenceOptions,
    trees: TreeOptions,
    *,
    quiet: bool,
) -> "tuple[ParseCounts, float]":
    """Parses every sentence of a file and writes its trees; returns the counts of outcomes and the seconds it took."""
    from attendo.workflow.engines.parse import ParseCounts

    file, output = files
    unit = "tree" if options.kind == "trees" else "line"
    counts, say = ParseCounts(), notes(quiet=quiet)
    on_terminal = output is None and sys.stdout.isatty()  # the trees themselves show how far it is
    with (
        _sentences(options, file) as sentences,
        _writer(trees, output, n_best=engine.search.n_best, say=say) as write,
        JobProgress("parsing", "sentences", total, quiet=quiet or on_terminal) as progress,
    ):
        parses = engine.stream_parses(sentences)
        if file is None and sys.stdin.isatty():
            say("reading from the terminal, one sentence per line; end with Ctrl-D")
        for number, parsed in enumerate(parses, start=1):
            write(parsed, number)
            counts.add(parsed)
            if parsed.problem is not None:
                progress.say(f"{unit} {number} was not parsed: {printable(parsed.problem)}")
            progress.update(number)
    return counts, progress.seconds


def summary(counts: "ParseCounts", waited_s: float, parsing_s: float, *, unconstrained: bool = False) -> list[str]:
    """Lines that count the sentences parsed, trees repaired, and sentences skipped or failed.

    Args:
        counts: totals over all sentences.
        waited_s: seconds since the command began, including loading the model.
        parsing_s: seconds spent parsing.
        unconstrained: whether the share of invalid trees is reported even if it is zero.
    """
    lines = [done_in("parsed", counts.parsed, "sentence", waited_s, parsing_s, "parsing")]
    if counts.mended or unconstrained:
        share = counts.mended / max(counts.parsed, 1)
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in counts.faults.most_common())
        lines.append(
            f"invalid trees that were repaired: {counts.mended:,} of {counts.parsed:,} ({share:.2%})"
            f"{f'; sentences by fault: {kinds}' if kinds else ''}"
        )
    if counts.empty:
        lines.append(f"without words, and empty in the output: {counts.empty:,}")
    if counts.failed:
        lines.append(f"not parsed, and empty in the output: {counts.failed:,}")
    return lines


@contextmanager
def _sentences(options: SentenceOptions, file: Path | None) -> "Iterator[Iterator[Sentence | DataError]]":
    """The input sentences; gold trees are also written to `options.gold`, if set, as they are read."""
    from attendo.workflow.engines.parse_input import read_lines_of, read_trees, sentence_of

    if options.kind != "trees":
        yield read_lines_of(options.kind, file)
        return
    trees = read_trees(file)
    if options.gold is None:
        yield (sentence_of(tree, tags=options.gold_tags) for tree in trees)
        return
    with destination(options.gold) as stream:

        def written() -> "Iterator[Sentence | DataError]":
            for tree in trees:
                stream.write("\n" if tree is None or isinstance(tree, Exception) else f"{tree}\n")
                yield sentence_of(tree, tags=options.gold_tags)

        yield written()


@contextmanager
def _writer(options: TreeOptions, output: Path | None, *, n_best: int, say: Callable[[str], None]) -> Iterator[Write]:
    """The function that writes each parse in the chosen format, or collects the trees to keep until the end."""
    if options.keep is not None:
        from attendo.workflow.confident_trees import ConfidentTrees

        assert output is not None, "usage is checked before"
        with ConfidentTrees(output, options.keep, scores=options.scores) as trees:
            yield trees.add
            say(trees.write())
        return
    if options.form == "svg":
        assert output is not None, "usage is checked before"
        yield lambda parsed, number: write_drawings(parsed, number, output, n_best=n_best)
        return
    with destination(output) as stream:
        yield _text_writer(options.form, stream, n_best=n_best, scores=options.scores)


def _text_writer(form: Format, stream: TextIO, *, n_best: int, scores: bool) -> Write:
    def write(parsed: "Parse", number: int) -> None:
        if form == "json":
            stream.write(json_line(parsed, number, n_best=n_best))
        elif form == "pretty":
            stream.write(indented(parsed, number, headings=scores or n_best > 1))
        else:
            stream.write(tree_lines(parsed, number, n_best=n_best, scores=scores))
        stream.flush()

    return write


def tree_lines(parsed: "Parse", number: int, *, n_best: int = 1, scores: bool = False) -> str:
    """A sentence's trees, one per line, each with a line end; an otherwise empty line if there is no tree.

    Args:
        parsed: the parse of the sentence.
        number: the sentence's number, from 1.
        n_best: number of trees requested; if above 1, each line begins with the sentence's number.
        scores: whether score and log-probability precede the tree.
    """
    lines = []
    for found in parsed.n_best or (None,):
        fields = [str(number)] if n_best > 1 else []
        if scores:
            fields += ["", ""] if found is None else [f"{found.score:.6f}", f"{found.log_prob:.6f}"]
        fields.append("" if found is None else str(found.tree))
        lines.append("\t".join(fields) + "\n")
    return "".join(lines)


def indented(parsed: "Parse", number: int, *, headings: bool = False) -> str:
    """A sentence's trees, indented over several lines, each followed by an empty line; one empty line for no tree.

    Args:
        parsed: the parse of the sentence.
        number: the sentence's number, from 1.
        headings: whether number, score and log-probability precede each tree, as a treebank comment.
    """
    from attendo.parsing.writing import pretty

    parts = []
    for found in parsed.n_best:
        heading = f"# {number}: score {found.score:.6f}, log-probability {found.log_prob:.6f}\n" if headings else ""
        parts.append(f"{heading}{pretty(found.tree)}\n\n")
    return "".join(parts) or "\n"


def json_line(parsed: "Parse", number: int, *, n_best: int = 1) -> str:
    """A sentence and its best tree as a JSON object, with its line end.

    Args:
        parsed: the parse of the sentence.
        number: the sentence's number, from 1.
        n_best: number of trees requested; if above 1, all of them are under `n_best`.
    """
    found = [_json_tree(each) for each in parsed.n_best]
    best = found[0] if found else dict.fromkeys(("tree", "tags", "constituents", "score", "log_prob", "faults"))
    problem = "no words" if parsed.is_empty else parsed.problem
    document = {"number": number, "words": list(parsed.words), "problem": problem, **best}
    if n_best > 1:
        document["n_best"] = found
    # Escaped to ASCII, so that a Unicode line end such as U+2028 does not split the line in any reader.
    return json.dumps(document) + "\n"


def _json_tree(found: "ParsedTree") -> dict[str, Any]:
    from attendo.parsing.writing import to_json

    values = to_json(found.tree)
    return {
        "tree": str(found.tree),
        "tags": values["tags"],
        "constituents": values["constituents"],
        "score": json_number(found.score),
        "log_prob": json_number(found.log_prob),
        "faults": [asdict(fault) for fault in found.faults],
    }


def write_drawings(parsed: "Parse", number: int, output: Path, *, n_best: int = 1) -> None:
    """Draws a sentence's trees, one file per tree: NAME.svg of the first sentence, NAME-2.svg of the second.

    Args:
        parsed: the parse of the sentence.
        number: the sentence's number, from 1.
        output: NAME.svg.
        n_best: number of trees requested; if above 1, a second number distinguishes the trees, as in NAME-2-1.svg.
    """
    from attendo.parsing.drawing import to_svg

    name = output.name.removesuffix(".svg")
    for place, found in enumerate(parsed.n_best, start=1):
        numbers = [number, place] if n_best > 1 else [number] if number > 1 else []
        write_text(output.with_name("-".join(map(str, [name, *numbers])) + ".svg"), to_svg(found.tree))
