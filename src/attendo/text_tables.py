"""Tables as text: aligned for a terminal, or in Markdown."""

from collections.abc import Sequence


def aligned_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> str:
    """A table with a title, its columns' names and the rows.

    Args:
        title: the first line.
        columns: their names.
        rows: the cells of each row, one per column.
        words: number of left-aligned columns of words on the left; the others are numbers.
    """
    return "\n".join([title, *(f"  {line.rstrip()}" for line in aligned([columns, *rows], words=words))])


def aligned(rows: Sequence[Sequence[str]], *, words: int) -> list[str]:
    """Rows of cells as lines, each column as wide as its widest cell.

    Args:
        rows: at least one, all with equally many cells.
        words: number of left-aligned columns of words on the left; the others are numbers.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines of a table in Markdown.

    Args:
        rows: the names of the columns, then any number of rows, all with equally many cells.
    """
    header, *body = rows
    # Escaped: `<` could begin a tag, and a bar would end the cell.
    cells = [[cell.replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in body]
    return [
        f"| {' | '.join(header)} |",
        "|" + "---|" * len(header),
        *(f"| {' | '.join(row)} |" for row in cells),
    ]
