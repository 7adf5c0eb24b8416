"""`attendo translate`: a line in, a line out, in order."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from attendo.cli.options import (
    BeamSizeOption,
    DtypeOption,
    EnsembleOption,
    JsonLinesOption,
    LengthPenaltyOption,
    ModelArgument,
    NoGuardsOption,
    SetSearchOption,
    ThreadsOption,
    guard_changes,
    json_number,
    search_changes,
)
from attendo.cli.output import destination
from attendo.cli.progress import JobProgress, note

if TYPE_CHECKING:
    from attendo.cluster.part_translation import Decoding, Output
    from attendo.decoding.alignment import Alignment
    from attendo.decoding.translation import Candidate, Counts, Translation
    from attendo.decoding.wishes import Wishes
    from attendo.workflow.text_parts import TextFiles
    from attendo.workflow.translate import Engine


def translate(
    model: ModelArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Text, a sentence a line; standard input where left out.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, when all is translated.")
    ] = None,
    beam_size: BeamSizeOption = None,
    length_penalty: LengthPenaltyOption = None,
    dtype: DtypeOption = None,
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best", min=1, help="So many translations a line, each written as number-of-the-line TAB translation."
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Write score TAB log-probability TAB translation; behind the number, with --n-best."
        ),
    ] = False,
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment", help="Write word links, as 0-0 1-2 (source-target), TAB translation; behind the scores."
        ),
    ] = False,
    target_prefix: Annotated[
        Path | None,
        typer.Option("--target-prefix", metavar="FILE", help="What each translation begins with, one a line."),
    ] = None,
    forced_words: Annotated[
        Path | None,
        typer.Option("--forced-words", metavar="FILE", help="What each translation holds, one line each, TAB between."),
    ] = None,
    no_guards: NoGuardsOption = False,
    as_json: JsonLinesOption = False,
    ensemble: EnsembleOption = None,
    settings: SetSearchOption = None,
    threads: ThreadsOption = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Translate FILE on a Ray cluster (auto, HOST:PORT, or local for this machine); see docs/clusters.md.",
        ),
    ] = None,
) -> None:
    """Translates text, a line in, a line out, in order.

    Sampling, diverse n best, forbidden words and more are settings of the search: see docs/translating.md.
    """
    search = {
        **search_changes(beam_size=beam_size, length_penalty=length_penalty, n_best=n_best),
        **guard_changes(no_guards),
    }
    written = WrittenLines(as_json=as_json, scores=scores)
    if ray is not None:
        from attendo.cluster.part_translation import Decoding, Output
        from attendo.workflow.text_parts import TextFiles

        if file is None or output is None or file.is_fifo():
            raise typer.BadParameter("on a cluster, FILE and --output are files", param_hint="--ray")
        names = tuple(ensemble or ())
        _translate_on_cluster(
            Decoding(model=model, ensemble=names, search=search, overrides=tuple(settings or ()), dtype=dtype),
            TextFiles(source=file, target_prefixes=target_prefix, forced_words=forced_words),
            output,
            Output(format=written, settings=asdict(written), alignment=alignment),
            address=ray,
            threads=threads,
        )
        return
    from attendo.workflow.lines import count_lines, lines_from, with_wishes
    from attendo.workflow.translate import load

    # Before the model is read, so that a missing file is told at once.
    total = count_lines(file) if file else None
    lines, wishes = with_wishes(lines_from(file), target_prefix, forced_words)
    engine = load(model, ensemble=ensemble or (), search=search, overrides=settings or (), dtype=dtype, threads=threads)
    if file is None and sys.stdin.isatty():
        note("reading from the terminal, a sentence a line; end with Ctrl-D")
    quiet = output is None and sys.stdout.isatty()  # the translations themselves show how far it is
    with destination(output) as stream, JobProgress("translating", "lines", total, quiet=quiet) as progress:
        n_best = engine.search.n_best
        translated = _translated(engine, lines, wishes, alignment=alignment)
        for number, (translation, alignments) in enumerate(translated, start=1):
            stream.write(written(translation, number, alignments, n_best=n_best))
            stream.flush()
            progress.update(number)
    for line in summary(engine.counts, progress.seconds):
        note(line)


@dataclass(frozen=True, kw_only=True)
class WrittenLines:
    """What is written of a line's translations, on one machine and on a cluster."""

    as_json: bool
    """A JSON object a line, in place of text."""
    scores: bool
    """Of text: score and log-probability too."""

    def __call__(
        self, translation: "Translation", number: int, alignments: "Sequence[Alignment]", *, n_best: int
    ) -> str:
        """Gives it, each line with its end; for the arguments see `format_translation`."""
        if self.as_json:
            return json_line(translation, n_best=n_best, alignments=alignments)
        return format_translation(translation, number, n_best=n_best, scores=self.scores, alignments=alignments)


class _ClusterReporter:
    """Says on standard error how translating on a cluster goes; a context manager."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._progress: JobProgress | None = None
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the first line was translated, or since the start."""
        return time.monotonic() - self._started

    def message(self, text: str) -> None:
        """Prints a line."""
        if self._progress is None:
            note(text)
        else:
            self._progress.say(text)

    def started(self, done: int, total: int) -> None:
        """Begins to show how far it is."""
        if done:
            self.message(f"going on: {done:,} of {total:,} lines are there already")
        self._started = time.monotonic()
        self._progress = self._stack.enter_context(JobProgress("translating", "lines", total, first=done))
        self._progress.update(done)

    def translated(self, done: int) -> None:
        """Shows how far it is."""
        if self._progress is not None:
            self._progress.update(done)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()


def _translate_on_cluster(
    decoding: "Decoding", files: "TextFiles", destination: Path, output: "Output", *, address: str, threads: int | None
) -> None:
    """Translates a file on a cluster and says what was done."""
    from attendo.cluster.translation import translate_on_cluster

    with _ClusterReporter() as reporter:
        finished = translate_on_cluster(
            decoding, files, destination, output, address=address, threads=threads, reporter=reporter
        )
    for line in summary(finished.counts, reporter.seconds, lines_now=finished.lines_now):
        note(line)
    if len(finished.kernels) > 1:
        shares = ", ".join(f"{kernel} {lines:,}" for kernel, lines in finished.kernels.most_common())
        note(f"the machines are of several kinds, whose scores may differ in the last digits; lines: {shares}")


def _translated(
    engine: "Engine", lines: Iterator[str], wishes: "Iterator[Wishes] | None", *, alignment: bool
) -> "Iterator[tuple[Translation, tuple[Alignment, ...]]]":
    """Translations, each with the alignments of its n best where they are wanted."""
    if alignment:
        return engine.stream_aligned(lines, wishes)
    return ((translation, ()) for translation in engine.stream(lines, wishes))


def format_translation(
    translation: "Translation",
    number: int,
    *,
    n_best: int = 1,
    scores: bool = False,
    alignments: "Sequence[Alignment]" = (),
) -> str:
    """One line's translations as they are printed, each with a line end.

    Args:
        translation: the line and what became of it.
        number: the line's, from 1.
        n_best: how many were asked for; for more than 1 each line begins with the number.
        scores: whether score and log-probability are printed too.
        alignments: one for each translation, whose links are printed; none for none.
    """
    lines = []
    for place, candidate in enumerate(translation.n_best[:n_best]):
        fields = [str(number)] if n_best > 1 else []
        if scores:
            fields += [f"{candidate.score:.6f}", f"{candidate.log_prob:.6f}"]
        if alignments:
            fields.append(alignments[place].pharaoh)
        # Bytes may spell a line end, and line n of the output must stay the translation of line n of the input.
        fields.append(candidate.text.replace("\r", " ").replace("\n", " "))
        lines.append("\t".join(fields) + "\n")
    return "".join(lines)


def json_line(translation: "Translation", *, n_best: int = 1, alignments: "Sequence[Alignment]" = ()) -> str:
    """One line and its best translation as a JSON object, with its line end.

    Args:
        translation: the line and what became of it.
        n_best: how many were asked for; for more than 1 all of them are under `n_best`.
        alignments: one for each translation; none for none.
    """
    candidates = [
        _json_candidate(candidate, alignments[place] if alignments else None)
        for place, candidate in enumerate(translation.n_best)
    ]
    document = {
        "source": translation.source,
        "source_truncated": translation.source_truncated,
        "guards": translation.guards,
        "read": translation.read,
        **candidates[0],
    }
    if n_best > 1:
        document["n_best"] = candidates
    # Escaped to ASCII: a line end of Unicode, such as U+2028, stays within its line whoever reads it.
    return json.dumps(document) + "\n"


def _json_candidate(candidate: "Candidate", alignment: "Alignment | None") -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": candidate.text,
        "score": json_number(candidate.score),
        "log_prob": json_number(candidate.log_prob),
        "finished": candidate.finished,
        "tokens": candidate.pieces,
        "token_log_probs": [json_number(log_prob) for log_prob in candidate.token_log_probs],
    }
    if alignment is not None:
        found["alignment"] = alignment.links
        found["source_words"], found["target_words"] = alignment.source_words, alignment.target_words
    return found


def summary(counts: "Counts", seconds: float, *, lines_now: int | None = None) -> list[str]:
    """What was done, and what was cut.

    Args:
        counts: of all lines.
        seconds: that it took.
        lines_now: how many of them were translated in that time; left out, all.
    """
    done = counts.lines if lines_now is None else lines_now
    lines = [f"translated {done:,} lines in {seconds:.1f} s, {done / max(seconds, 1e-9):,.1f} lines/s"]
    if done < counts.lines:
        lines.append(f"{counts.lines:,} lines in all, with those of earlier starts")
    if counts.truncated:
        lines.append(
            f"{counts.truncated:,} lines were too long, and only their beginning was translated; to allow more: "
            "--set search.max_source_tokens=N"
        )
    if counts.unfinished:
        lines.append(
            f"{counts.unfinished:,} translations were ended by the length limit, or by rules that left nothing else; "
            "to allow more: --set search.max_len_offset=N, or a larger search.max_len where it is set"
        )
    if counts.guards:
        acted = ", ".join(f"{name} {number:,}" for name, number in counts.guards.most_common())
        lines.append(f"lines that guards had to do with: {acted}; to leave them out: --no-guards")
    return lines
