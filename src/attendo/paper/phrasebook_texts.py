"""The phrasebook's sentences as corpora in a folder: the text of the scale `tiny`, which needs none of anybody's."""

from pathlib import Path

from attendo.demo.phrasebook import split
from attendo.files import write_text


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
