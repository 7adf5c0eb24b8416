"""Checks whether a model or a whole run is as it was written, for `attendo info --verify`."""

from dataclasses import dataclass
from pathlib import Path

from attendo.checkpoint.checksums import CHECKSUMS, CONFIG, verify_folder
from attendo.checkpoint.finding import find_model, is_run


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of comparing every file of a model or a run."""

    checked: tuple[Path, ...]
    """The checked items: folders with all their files, and single files."""
    problems: tuple[str, ...]
    """Files that are damaged, missing or changed, one per line."""
    remarks: tuple[str, ...]
    """Files that nothing reads, a line each: drafts of a killed or running process, and damaged checkpoints that were
    set aside."""


def verify(name: str) -> Verification:
    """Compares every file of a model, or of a run and its prepared data, with the recorded facts.

    No model is loaded, so that a damaged or manipulated folder is reported as such.

    Args:
        name: a model folder, a run folder or a shipped model.

    Raises:
        ModelError: there is no such folder.
    """
    path = Path(name)
    if is_run(path):
        from attendo.workflow.runs.run_verification import verify_run

        checked, faults, remarks = verify_run(path)
        return Verification(checked=tuple(checked), problems=tuple(faults), remarks=tuple(remarks))
    folders = [each for each in (path, path / "model") if any((each / file).is_file() for file in (CONFIG, CHECKSUMS))]
    folders = folders or [find_model(name)]
    problems = [problem for folder in folders for problem in verify_folder(folder)]
    return Verification(checked=tuple(folders), problems=tuple(problems), remarks=())
