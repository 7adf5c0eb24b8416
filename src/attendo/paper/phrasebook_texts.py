"""Location of a study's corpora; the scale `tiny` uses generated phrasebook sentences, which need no download."""

from pathlib import Path

from attendo.errors import RecipeError
from attendo.files import write_text
from attendo.paper.experiment import StudyRequest
from attendo.synthetic.phrasebook import split


def phrasebook_folder(request: StudyRequest) -> Path:
    """The folder of the corpora of the scale `tiny`."""
    return request.folder / "phrasebook"


def corpora_folder(request: StudyRequest) -> Path | None:
    """The folder of a study's corpora; None for the recipe's own folder.

    Raises:
        RecipeError: a folder is given at the scale `tiny`, which always uses the phrasebook.
    """
    if request.scale != "tiny":
        return request.data
    if request.data is not None:
        raise RecipeError("--data: the scale tiny has a phrasebook of its own; leave it out, or take --scale small")
    return phrasebook_folder(request)


def taken_from(folder: Path | None) -> list[str]:
    """The recipe override that sets the folder of the corpora; an empty list for None."""
    return [] if folder is None else [f"data.folder={folder.resolve()}"]


def write_if_tiny(request: StudyRequest, *, test: int = 10) -> None:
    """Writes the phrasebook of the scale `tiny`, unless it exists; does nothing at other scales.

    Args:
        request: options of the study.
        test: number of test pairs.

    Raises:
        OSError: the folder cannot be written to.
    """
    if request.scale == "tiny":
        write_phrasebook(phrasebook_folder(request), train=3000, valid=100, test=test)


def write_phrasebook(folder: Path, *, train: int, valid: int, test: int) -> None:
    """Writes `train.en`, `train.de` and the same files for `valid` and `test`, unless they exist.

    Args:
        folder: target folder; created if it is missing.
        train: number of training pairs.
        valid: number of validation pairs, held out.
        test: number of test pairs, held out as well.

    Raises:
        OSError: the folder cannot be written to.
    """
    if (folder / "test.de").is_file():  # the file that is written last
        return
    pairs = split(1, train, valid, test)
    for name, part in (("train", pairs.train), ("valid", pairs.valid), ("test", pairs.test)):
        write_text(folder / f"{name}.en", "".join(pair.source + "\n" for pair in part))
        write_text(folder / f"{name}.de", "".join(pair.target + "\n" for pair in part))
