"""The result of `bench train` as text tables and as JSON."""

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
    """The results of a bench, with the conditions that they depend on."""

    models: dict[str, str]
    """A line of description for each model."""
    batches: dict[str, str]
    """A line of description for each kind of batches."""
    threads: int
    device: str
    repetitions: int
    rows: tuple[Row, ...]
    losses: tuple[FirstLosses, ...]
    machine: Machine
    versions: dict[str, dict[str, str]]
    """Versions of the packages in each system's environment."""
    missing: tuple[str, ...]
    """The systems that are not in the table, each with the reason and a remedy."""
    complete: bool
    """False if the bench was interrupted."""

    def to_json(self) -> dict[str, Any]:
        """Returns the report as JSON values; numbers are not rounded."""
        return asdict(self)

    def to_text(self) -> str:
        """Returns a table for each model, kind of batches and type, with explanations."""
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
            cells = [_loss_cells(first_losses) for first_losses in self.losses]
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
    """Formats rows as a table, without the last column if no peer was switched."""
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


def _loss_cells(first_losses: FirstLosses) -> tuple[str, ...]:
    return (
        first_losses.model,
        first_losses.system,
        first_losses.dtype,
        " ".join(f"{loss:.2f}" for loss in first_losses.losses),
    )
