"""PO files as pairs: each message and each plural form is one."""

from collections.abc import Iterator
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.file import Languages
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.whole_files import read_whole
from attendo.formats.po import read_po
from attendo.text.files.formats import RawPair


def read_po_pairs(path: Path, selection: Selection) -> Iterator[RawPair]:
    """Yields the pairs of a PO file, in its own encoding, without obsolete messages and credits.

    Args:
        path: the file, which is read into memory.
        selection: the wanted pairs; the target language is that of the header's field Language.

    Raises:
        DataError: the file is not a PO file, or is too large.
    """
    data = read_whole(path)
    try:
        file = read_po(data, Languages())
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    is_other = selection.has_other_language(None, file.declared.target)
    line, last = 1, 0
    for unit in file.units:
        if not unit.is_translatable:
            continue  # the names of translators
        position = max(last, min(span.start for span in unit.spans))  # where its flags, or else its keywords begin
        line += file.text.text.count("\n", last, position)
        last = position
        for form in unit.forms:
            yield selection.pair(
                line, form.source, form.target or (), unit.state, is_other_language=is_other, context=unit.context
            )
