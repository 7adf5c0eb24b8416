"""`attendo parse`: a sentence in, a tree out, in order."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from attendo.cli.options import (
    BeamSizeOption,
    DeviceOption,
    DtypeOption,
    EnsembleOption,
    LengthPenaltyOption,
    ModelArgument,
    QuietOption,
    SetSearchOption,
    ThreadsOption,
    json_number,
    search_changes,
)
from attendo.cli.output import check_file, destination
from attendo.cli.progress import JobProgress, done_in, notes
from attendo.destinations import find_destination
from attendo.files import write_text
from attendo.reading import printable

if TYPE_CHECKING:
    from attendo.errors import DataError
    from attendo.workflow.parse import Parse, ParseCounts, ParsedTree
    from attendo.workflow.parse_input import Sentence

InputKind = Literal["text", "words", "tagged", "trees"]
Format = Literal["lines", "pretty", "json", "svg"]
Write = Callable[["Parse", int], None]
"""Writes what came of a sentence, with its number from 1."""


def parse(
    model: ModelArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Sentences, one a line; standard input where left out.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, when all is parsed.")
    ] = None,
    kind: Annotated[
        InputKind,
        typer.Option(
            "--input",
            help="Text, split into words as the Penn Treebank does; words, spaces between; tagged words, as cat/NN, "
            "which keep their tags; or a treebank's trees, whose words are parsed again.",
        ),
    ] = "text",
    gold_tags: Annotated[
        bool, typer.Option("--gold-tags", help="With --input trees: the words keep the treebank's tags.")
    ] = False,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="With --input trees: write those for `attendo evalb`, one a line."),
    ] = None,
    form: Annotated[
        Format,
        typer.Option("--format", help="A tree a line; indented; a JSON object a line; or drawings -o NAME.svg."),
    ] = "lines",
    n_best: Annotated[
        int | None,
        typer.Option("--n-best", min=1, help="So many trees a sentence, each written as number-of-the-line TAB tree."),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Write score TAB log-probability TAB tree; behind the number, with --n-best."),
    ] = False,
    keep: Annotated[
        float | None,
        typer.Option(
            "--keep",
            metavar="SHARE",
            help="Write a treebank to learn from: of all trees the share that the parser was surest of, such as 0.5.",
        ),
    ] = None,
    unconstrained: Annotated[
        bool,
        typer.Option(
            "--unconstrained", help="Let the model write what it likes, as the paper does, and mend what is no tree."
        ),
    ] = False,
    beam_size: BeamSizeOption = None,
    length_penalty: LengthPenaltyOption = None,
    dtype: DtypeOption = None,
    ensemble: EnsembleOption = None,
    settings: SetSearchOption = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    quiet: QuietOption = False,
) -> None:
    """Parses sentences into constituency trees, a sentence in, a tree out, in order.

    With --keep the parser's surest trees alone are written, for self-training (docs/parsing.md).
    An empty line stays one. What cannot be parsed becomes an empty line too, is told of by its number, and makes the
    exit status 1.
    """
    if kind != "trees" and (gold_tags or gold is not None):
        raise typer.BadParameter("goes with --input trees", param_hint="--gold" if gold else "--gold-tags")
    if form == "svg" and output is None:
        raise typer.BadParameter("drawings need --output NAME.svg", param_hint="--format")
    if form == "svg" and output is not None and not find_destination(output).is_file:
        raise typer.BadParameter("drawings are files; name a new or regular one", param_hint="--output")
    if keep is not None and (output is None or form != "lines" or (n_best or 1) > 1):
        raise typer.BadParameter("needs --output FILE, and neither --format nor --n-best", param_hint="--keep")
    if keep is not None and not 0 < keep <= 1:
        raise typer.BadParameter("take a share above 0 up to 1, such as 0.5", param_hint="--keep")
    for written in (output, gold):
        check_file(written)
    started = time.monotonic()
    from attendo.workflow.extras import need_packages
    from attendo.workflow.input_files import check_inputs, count_lines

    if kind == "text":
        need_packages(("nltk",), "parse")
    check_inputs(models=(model, *(ensemble or ())), files=[file])
    num_lines = count_lines(file) if file else None
    from attendo.workflow.parse import ParseCounts
    from attendo.workflow.translate import load

    say = notes(quiet=quiet)
    engine = load(
        model,
        ensemble=ensemble or (),
        search=search_changes(beam_size=beam_size, length_penalty=length_penalty, n_best=n_best),
        overrides=settings or (),
        parsing={"constrained": False} if unconstrained else None,
        dtype=dtype,
        device=device,
        threads=threads,
    )
    unit, total = ("tree", None) if kind == "trees" else ("line", num_lines)
    counts = ParseCounts()
    with (
        _sentences(kind, file, gold_tags=gold_tags, gold=gold) as sentences,
        _writer(form, output, n_best=engine.search.n_best, scores=scores, keep=keep, say=say) as write,
        JobProgress("parsing", "sentences", total, quiet=quiet or (output is None and sys.stdout.isatty())) as progress,
    ):
        parses = engine.stream_parses(sentences)
        if file is None and sys.stdin.isatty():
            say("reading from the terminal, a sentence a line; end with Ctrl-D")
        for number, parsed in enumerate(parses, start=1):
            write(parsed, number)
            counts.add(parsed)
            if parsed.problem is not None:
                progress.say(f"{unit} {number} is not parsed: {printable(parsed.problem)}")
            progress.update(number)
    for line in summary(counts, time.monotonic() - started, progress.seconds, unconstrained=unconstrained):
        say(line)
    if counts.failed:
        raise typer.Exit(1)


def summary(counts: "ParseCounts", waited_s: float, parsing_s: float, *, unconstrained: bool = False) -> list[str]:
    """What was done, what was mended, and what could not be done.

    Args:
        counts: of all sentences.
        waited_s: seconds since the command began, with loading the model.
        parsing_s: seconds of the parsing.
        unconstrained: whether the share of outputs that were no tree is told even if it is zero.
    """
    lines = [done_in("parsed", counts.parsed, "sentence", waited_s, parsing_s, "parsing")]
    if counts.mended or unconstrained:
        share = counts.mended / max(counts.parsed, 1)
        kinds = ", ".join(f"{kind} {number:,}" for kind, number in counts.faults.most_common())
        lines.append(
            f"outputs that were no tree and were mended: {counts.mended:,} of {counts.parsed:,} ({share:.2%})"
            f"{f'; sentences by fault: {kinds}' if kinds else ''}"
        )
    if counts.empty:
        lines.append(f"without words, and empty in the output: {counts.empty:,}")
    if counts.failed:
        lines.append(f"not parsed, and empty in the output: {counts.failed:,}")
    return lines


@contextmanager
def _sentences(
    kind: InputKind, file: Path | None, *, gold_tags: bool, gold: Path | None
) -> "Iterator[Iterator[Sentence | DataError]]":
    """The input; of trees, what of them goes to the file of gold trees as they are read."""
    from attendo.workflow.parse_input import read_lines_of, read_trees, sentence_of

    if kind != "trees":
        yield read_lines_of(kind, file)
        return
    trees = read_trees(file)
    if gold is None:
        yield (sentence_of(tree, tags=gold_tags) for tree in trees)
        return
    with destination(gold) as stream:

        def written() -> "Iterator[Sentence | DataError]":
            for tree in trees:
                stream.write("\n" if tree is None or isinstance(tree, Exception) else f"{tree}\n")
                yield sentence_of(tree, tags=gold_tags)

        yield written()


@contextmanager
def _writer(
    form: Format, output: Path | None, *, n_best: int, scores: bool, keep: float | None, say: Callable[[str], None]
) -> Iterator[Write]:
    """What writes each parse in a format, or in the end those that are kept."""
    if keep is not None:
        from attendo.workflow.confident_trees import ConfidentTrees

        assert output is not None, "usage is checked before"
        with ConfidentTrees(output, keep, scores=scores) as trees:
            yield trees.add
            say(trees.write())
        return
    if form == "svg":
        assert output is not None, "usage is checked before"
        yield lambda parsed, number: write_drawings(parsed, number, output, n_best=n_best)
        return
    with destination(output) as stream:
        yield _text_writer(form, stream, n_best=n_best, scores=scores)


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
    """A sentence's trees, one a line, each with a line end; one line without a tree where there is none.

    Args:
        parsed: what came of the sentence.
        number: of the sentence, from 1.
        n_best: how many were asked for; for more than 1 each line begins with the number.
        scores: whether score and log-probability stand before the tree.
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
    """A sentence's trees over several lines, an empty line behind each; one empty line where there is none.

    Args:
        parsed: what came of the sentence.
        number: of the sentence, from 1.
        headings: whether number, score and log-probability stand above each, as a comment of treebanks.
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
        parsed: what came of the sentence.
        number: of the sentence, from 1.
        n_best: how many were asked for; for more than 1 all of them are under `n_best`.
    """
    found = [_json_tree(each) for each in parsed.n_best]
    best = found[0] if found else dict.fromkeys(("tree", "tags", "constituents", "score", "log_prob", "faults"))
    problem = "no words" if parsed.is_empty else parsed.problem
    document = {"number": number, "words": list(parsed.words), "problem": problem, **best}
    if n_best > 1:
        document["n_best"] = found
    # Escaped to ASCII: a line end of Unicode, such as U+2028, stays within its line whoever reads it.
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
    """Draws a sentence's trees, a file each: NAME.svg of the first sentence, NAME-2.svg of the second.

    Args:
        parsed: what came of the sentence.
        number: of the sentence, from 1.
        output: NAME.svg.
        n_best: how many were asked for; for more than 1 a second number says which tree it is, as NAME-2-1.svg.
    """
    from attendo.parsing.drawing import to_svg

    name = output.name.removesuffix(".svg")
    for place, found in enumerate(parsed.n_best, start=1):
        numbers = [number, place] if n_best > 1 else [number] if number > 1 else []
        write_text(output.with_name("-".join(map(str, [name, *numbers])) + ".svg"), to_svg(found.tree))
