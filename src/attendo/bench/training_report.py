"""What `bench train` found, as a table to read and as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from attendo.bench.machine import Machine
from attendo.bench.training_compare import OURS, SWITCHES, FirstLosses, Row
from attendo.text_tables import aligned_table

COLUMNS = ("system", "type", "products", "tokens/s", "slowest-fastest", "ratio", "ratio (switched)")


@dataclass(frozen=True, kw_only=True)
class TrainingReport:
    """All that a bench found, with what it depends on."""

    models: dict[str, str]
    """A line on each model."""
    batches: dict[str, str]
    """A line on each kind of batches."""
    threads: int
    device: str
    repetitions: int
    rows: tuple[Row, ...]
    losses: tuple[FirstLosses, ...]
    machine: Machine
    versions: dict[str, dict[str, str]]
    """Of the packages of each system's own environment."""
    missing: tuple[str, ...]
    """What is not in the table, each with the reason and the way out."""
    complete: bool
    """False where it was interrupted."""

    def to_json(self) -> dict[str, Any]:
        """For machines; numbers are not rounded."""
        return asdict(self)

    def to_text(self) -> str:
        """A table for each model, kind of batches and type, and what explains it."""
        head = [
            "updates: forward, backward and Adam, label smoothing 0.1, dropout 0.1; target tokens/s without padding",
            f"threads: {self.threads}, on {self.device}; medians of {self.repetitions} repetitions, systems by turns, "
            "each in a process of its own",
            *(f"{name}: {line}" for name, line in (*self.models.items(), *self.batches.items())),
        ]
        parts = ["\n".join(head)]
        for (model, batches, dtype), rows in groupby(self.rows, _cell):
            title = f"{model}, {batches} batches, {dtype}"
            parts.append(_table(title, list(rows)))
        if self.losses:
            columns = ("first losses", "system", "type", "nats a target token")
            cells = [_loss_cells(one) for one in self.losses]
            parts.append(aligned_table("what each system's first updates cost", columns, cells, words=4))
        return "\n\n".join([*parts, "\n".join(self._explanations())])

    def _explanations(self) -> Iterable[str]:
        if not self.complete:
            yield "interrupted: only what was done until then"
        if any(row.ratio for row in self.rows):
            yield "ratio: to the best peer as installed, in the same type, on the same batches"
        if any(row.ratio_switched for row in self.rows):
            yield "ratio (switched): to the best peer whose float32 products were switched to a faster library"
        yield from self.missing
        yield f"machine: {self.machine.to_text()}"
        for system, packages in self.versions.items():
            yield f"{system}: " + ", ".join(f"{name} {number}" for name, number in packages.items())


def _cell(row: Row) -> tuple[str, str, str]:
    return row.model, row.batches, row.dtype


def _table(title: str, rows: Sequence[Row]) -> str:
    """Without the last column where no peer was switched."""
    columns = COLUMNS if any(row.ratio_switched for row in rows) else COLUMNS[:-1]
    cells = [_cells(row)[: len(columns)] for row in rows]
    return aligned_table(title, columns, cells, words=3)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.system,
        row.dtype,
        "" if row.system == OURS else SWITCHES[row.switch],
        f"{row.tokens_per_s:,.0f}",
        f"{row.slowest:,.0f}-{row.fastest:,.0f}",
        "" if row.ratio is None else f"{row.ratio:.2f}x",
        "" if row.ratio_switched is None else f"{row.ratio_switched:.2f}x",
    )


def _loss_cells(one: FirstLosses) -> tuple[str, ...]:
    return one.model, one.system, one.dtype, " ".join(f"{loss:.2f}" for loss in one.losses)
