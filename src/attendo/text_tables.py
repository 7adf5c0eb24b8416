"""Tables of a terminal."""

from collections.abc import Sequence


def aligned_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """A title, then the rows below their columns' names.

    Args:
        title: the first line.
        columns: their names.
        rows: cells of each, one a column.
        words: so many columns at the left hold words and stand to the left, the others numbers.
    """
    return "\n".join([title, *(f"  {line.rstrip()}" for line in aligned([columns, *rows], words=words))])


def aligned(rows: Sequence[Sequence[str]], *, words: int) -> list[str]:
    """Rows of cells as lines, each column as wide as its widest cell.

    Args:
        rows: at least one, all with as many cells.
        words: so many columns at the left hold words and stand to the left, the others numbers.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
