"""Where a study's texts are; the scale `tiny` has the phrasebook's sentences, which need none of anybody's."""

from pathlib import Path

from attendo.errors import RecipeError
from attendo.files import write_text
from attendo.paper.experiment import Order
from attendo.synthetic.phrasebook import split


def phrasebook_folder(order: Order) -> Path:
    """Where the texts of the scale `tiny` are."""
    return order.folder / "phrasebook"


def corpora_folder(order: Order) -> Path | None:
    """The folder of a study's corpora; None for the recipe's own.

    Raises:
        RecipeError: one is given where the phrasebook is the text.
    """
    if order.scale != "tiny":
        return order.data
    if order.data is not None:
        raise RecipeError("--data: the scale tiny has a phrasebook of its own; leave it out, or take --scale small")
    return phrasebook_folder(order)


def taken_from(folder: Path | None) -> list[str]:
    """The override of a recipe whose corpora are in a folder; none for its own."""
    return [] if folder is None else [f"data.folder={folder.resolve()}"]


def write_if_tiny(order: Order, *, test: int = 10) -> None:
    """Writes the phrasebook of the scale `tiny`, unless it is there.

    Args:
        order: how the study is wanted.
        test: pairs to test on, for studies that do.

    Raises:
        OSError: the folder cannot be written to.
    """
    if order.scale == "tiny":
        write_phrasebook(phrasebook_folder(order), train=3000, valid=100, test=test)


def write_phrasebook(folder: Path, *, train: int, valid: int, test: int) -> None:
    """Writes `train.en`, `train.de` and so on of `valid` and `test`, unless they are there.

    Args:
        folder: made where it is missing.
        train: pairs to train on.
        valid: pairs to validate on, held out.
        test: pairs to test on, held out too.

    Raises:
        OSError: the folder cannot be written to.
    """
    if (folder / "test.de").is_file():  # the last one
        return
    pairs = split(1, train, valid, test)
    for name, part in (("train", pairs.train), ("valid", pairs.valid), ("test", pairs.test)):
        write_text(folder / f"{name}.en", "".join(pair.source + "\n" for pair in part))
        write_text(folder / f"{name}.de", "".join(pair.target + "\n" for pair in part))
