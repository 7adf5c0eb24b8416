"""Tables of a terminal, which all benches print."""

from collections.abc import Sequence


def aligned_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """A title, then the rows below their columns' names.

    Args:
        title: the first line.
        columns: their names.
        rows: cells of each, one a column.
        words: so many columns at the left hold words and stand to the left, the others numbers.
    """
    lines = [columns, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(columns))]
    return "\n".join([title, *(_aligned(line, widths, words) for line in lines)])


def _aligned(cells: Sequence[str], widths: Sequence[int], words: int) -> str:
    padded = [
        cell.ljust(width) if column < words else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  " + "  ".join(padded).rstrip()
