"""What the paper states of a figure beside what was found in the model."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from attendo.paper.report import Table


@dataclass(frozen=True, kw_only=True)
class Row:
    """One statement."""

    what: str
    paper: str
    here: str

    @property
    def agrees(self) -> bool:
        """Whether the model is as the paper's."""
        return self.paper == self.here


def comparison_table(rows: Sequence[Row], caption: str) -> Table:
    """The statements as a table."""
    return Table(
        caption=caption,
        columns=("", "the paper", "here", "the same"),
        rows=tuple((row.what, row.paper, row.here, "yes" if row.agrees else "no") for row in rows),
        words=4,
    )


def rows_data(rows: Sequence[Row]) -> list[dict[str, str | bool]]:
    """The statements for JSON."""
    return [{**asdict(row), "agrees": row.agrees} for row in rows]


def verdict(rows: Sequence[Row], model: str) -> str:
    """How many statements hold, and which do not.

    Args:
        rows: the statements.
        model: what they are of, as `this model`.
    """
    others = [row.what for row in rows if not row.agrees]
    if not others:
        return f"All {len(rows)} statements of the paper hold for {model}."
    held = f"{len(rows) - len(others)} of {len(rows)} statements of the paper hold for {model}."
    return f"{held} What differs: {'; '.join(others)}."
