"""Verifies the files of a run and its prepared data; needs torch to read checkpoints."""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from attendo.checkpoint.checksums import verify_folder
from attendo.checkpoint.run_checkpoints import Checkpoints, checkpoint_problems
from attendo.errors import AttendoError
from attendo.text.prepared import open_prepared
from attendo.workflow.runs.metrics import parse_record
from attendo.workflow.runs.run_folder import changes, check_prepared, prepared_data, resume_run

_DRAFT = re.compile(r"\.(tmp|old)-.+")
_NEEDED = ("recipe.toml", "run.json", "metrics.jsonl")
_PNG = b"\x89PNG\r\n\x1a\n"


def verify_run(run: Path) -> tuple[list[Path], list[str], list[str]]:
    """Compares every file of a run, and of its prepared data, with the recorded facts.

    Returns:
        The checked files, the problems, and the files that nothing reads; see `verification.Verification`.
    """
    checked: list[Path] = []
    problems: list[str] = []

    def check(path: Path, found: Iterable[str]) -> None:
        own_problems = list(found)
        if path.exists():
            checked.append(path)
        if path.exists() or path.name in _NEEDED:  # a checkpoint that a training run has just pruned is no problem
            problems.extend(own_problems)

    recipe = None
    for path in (run / "recipe.toml", run / "run.json"):
        check(path, [] if path.is_file() else [f"{path}: missing, so that the run cannot go on"])
    if not problems:
        try:
            recipe, _ = resume_run(run, [])
        except AttendoError as error:
            problems += str(error).splitlines()
    for folder in sorted(run.glob("checkpoints/step-*")):
        check(folder, checkpoint_problems(folder))
    check(run / "model", verify_folder(run / "model"))
    log_steps = None if recipe is None or changes(run) else recipe.training.log_steps
    check(run / "metrics.jsonl", _metrics_problems(run, log_steps))
    check(run / "curves.png", _png_problems(run / "curves.png"))
    if (run / "run.json").is_file():
        try:
            prepared = prepared_data(run)
        except AttendoError as error:
            problems += str(error).splitlines()
        else:
            check(prepared, _errors_of(lambda: open_prepared(prepared, verify=True)))
            problems += _errors_of(lambda: check_prepared(run))
    return checked, list(dict.fromkeys(problems)), list(_remarks(run))


def _errors_of(read: Callable[[], object]) -> Iterator[str]:
    """Lists the errors of reading something, one per line."""
    try:
        read()
    except AttendoError as error:
        yield from str(error).splitlines()


def _remarks(run: Path) -> Iterator[str]:
    for folder in (run, run / "checkpoints", *sorted(run.glob("checkpoints/step-*"))):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if _DRAFT.fullmatch(path.name):
                yield f"{path}: a draft; it goes when the run goes on, if no process is at work on it"
            elif path.name.startswith("torn-step-"):
                yield f"{path}: a torn checkpoint, set aside; nothing reads it, and it goes as newer ones come"
    content = _bytes(run / "metrics.jsonl")
    if content and not content.endswith(b"\n"):
        yield f"{run / 'metrics.jsonl'}: ends in half a line; it goes when the run goes on, if no process is at work"


def _metrics_problems(run: Path, log_steps: int | None) -> Iterator[str]:
    """Lists complete lines that cannot be read, and lines missing before a checkpoint.

    Half a line at the end is left by a kill, and is no problem.

    Args:
        run: the run folder.
        log_steps: number of steps between lines; None if that changed during the run.
    """
    path, bad, logged = run / "metrics.jsonl", [], 0
    for number, line in enumerate((_bytes(path) or b"").split(b"\n")[:-1], start=1):
        try:
            record = parse_record(line)
            logged = max(logged, record["step"] if record["kind"] == "train" else 0)
        except ValueError:
            bad.append(number)
    if bad:
        shown = ", ".join(map(str, bad[:10])) + (f" and {len(bad) - 10} more" if len(bad) > 10 else "")
        yield f"{path}: no metrics in line {shown}; going on with the run leaves them out"
    last = max(Checkpoints(run / "checkpoints", keep=2).steps(), default=0)
    if log_steps is not None and logged < (expected := last - last % log_steps):
        yield f"{path}: ends with step {logged}, though a checkpoint of step {last} knew one of {expected}; it was cut"


def _png_problems(path: Path) -> Iterator[str]:
    """Checks the checksums of a PNG's chunks and its last chunk."""
    content = _bytes(path)
    at, kind = len(_PNG), b""
    if content is None or not content.startswith(_PNG):
        yield f"{path}: is no PNG; remove it, it is drawn anew"
        return
    while kind != b"IEND":
        size, kind = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8]
        end = at + 8 + size
        if len(content) < end + 4 or zlib.crc32(content[at + 4 : end]) != int.from_bytes(content[end : end + 4], "big"):
            yield f"{path}: is torn; remove it, it is drawn anew"
            return
        at = end + 4


def _bytes(path: Path) -> bytes | None:
    """Reads a file; None if it is not a regular file or cannot be read."""
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None
