"""`attendo data`: public corpora by name."""

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from attendo.cli.options import ForceIntoOption, QuietOption
from attendo.cli.output import check_folder, note_kept
from attendo.cli.progress import JobProgress, notes

if TYPE_CHECKING:
    from attendo.workflow.datasets.catalogue import Dataset
    from attendo.workflow.datasets.download import Progress
    from attendo.workflow.datasets.get import PlannedText, UnpackedText

data = typer.Typer(name="data", help="Public corpora by name.", no_args_is_help=True)


@data.callback()
def corpora() -> None:
    """Keeps `data` a group of commands although it has only one."""


@data.command()
def get(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of the dataset; --list prints the names.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder to write. Default: a folder of that name in the current one."
        ),
    ] = None,
    mirror: Annotated[
        str | None,
        typer.Option(
            "--mirror", metavar="URL", help="Download from this mirror, which has each archive as URL/HOST/PATH."
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the datasets and exit.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be downloaded, without downloading it.")
    ] = False,
    force: ForceIntoOption = False,
    quiet: QuietOption = False,
) -> None:
    """Downloads a public corpus, verifies, unpacks and counts it; its files get the names that the recipes use.

    An interrupted download continues when the command is run again; complete files are only verified.
    """
    from attendo.workflow.datasets.catalogue import DATASETS, find_dataset
    from attendo.workflow.datasets.get import check_folder as check_dataset_folder
    from attendo.workflow.datasets.get import get as get_dataset
    from attendo.workflow.datasets.get import plan
    from attendo.workflow.datasets.origins import locate

    if list_:
        print("\n\n".join(_described(dataset) for dataset in DATASETS.values()))
        return
    if name is None:
        raise typer.BadParameter("give the name of a dataset, or --list", param_hint="NAME")
    dataset = find_dataset(name)
    folder = output or Path(name)
    if not dry_run:
        check_folder(folder)
        check_dataset_folder(dataset, folder, force=force)
        note_kept(folder, force=force)
    say = notes(quiet=quiet)
    say("asking mtdata where the corpora are; the first time, it builds its index, which takes a minute")
    texts = locate(dataset)
    if dry_run:
        print("\n".join(_planned(text, folder) for text in plan(texts, folder, mirror)))
        return
    with _Stages(quiet=quiet) as stages:
        done = get_dataset(dataset, texts, folder, mirror=mirror, force=force, progress=stages.update)
    print(_account(done))
    say(f"{folder}: complete; ATTRIBUTION.md has its origin and licence; archives/ can be deleted")


class _Stages:
    """A progress bar for each archive while it is fetched, unpacked or verified."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._stage = ""
        self._bar: JobProgress | None = None

    def update(self, progress: "Progress") -> None:
        """Tells how far the job is."""
        total = None if progress.total_bytes is None else progress.total_bytes / 1e6
        if self._bar is None or progress.stage != self._stage:
            self.__exit__(None, None, None)
            self._stage = progress.stage
            first = progress.first_bytes / 1e6
            size = f", {total:,.0f} MB" if total else ""
            notes(quiet=self._quiet)(f"{progress.stage}{size}{f', from {first:,.0f} MB on' if first else ''}")
            self._bar = JobProgress(progress.stage, "MB", total, first=first, quiet=self._quiet).__enter__()
        self._bar.update(progress.done_bytes / 1e6, total=total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, traceback)


def _described(dataset: "Dataset") -> str:
    """A dataset and its parts, for `--list`."""
    lines = [f"{dataset.name}: {dataset.title}"]
    lines += [f"  {text.name:<22} {text.pairs:>10,} pairs  {text.title}" for text in dataset.texts]
    return "\n".join(lines)


def _planned(text: "PlannedText", folder: Path) -> str:
    """The planned work for one text, for `--dry-run`."""
    name, archive = text.located.name, text.located.archive
    if text.unpacked:
        return f"{folder / name}.*: there; will be verified"
    size = f", {archive.bytes / 1e6:,.0f} MB" if archive.bytes else ""
    known = f"{text.checksum.algorithm} known" if text.checksum else "checksum recorded at the first download"
    source = "there already" if text.archive_there else f"from {text.url}"
    members = " and ".join(text.located.members)
    return f"{folder / name}.*: {members} of {archive.file_name}, {source}{size}, {known}"


def _account(texts: "tuple[UnpackedText, ...]") -> str:
    """The lines and bytes of each text, as a table."""
    rows = [("text", "pairs", "source MB", "target MB")]
    rows += [
        (t.name, f"{t.source.lines:,}", f"{t.source.bytes / 1e6:,.1f}", f"{t.target.bytes / 1e6:,.1f}") for t in texts
    ]
    training = [text for text in texts if text.name.startswith("train.")]
    rows.append(("all of train.*", f"{sum(text.source.lines for text in training):,}", "", ""))
    return "\n".join(
        f"{name:<22} {pairs:>12} {source:>11} {target:>11}".rstrip() for name, pairs, source, target in rows
    )
