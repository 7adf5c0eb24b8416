"""The result of a bench as text tables and as JSON."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from attendo.bench.compare import Row
from attendo.bench.machine import Machine
from attendo.text_tables import aligned_table

COLUMNS = ("system", "type", "layout", "sentences/s", "slowest-fastest", "tokens/s", "ratio", "agreement")


@dataclass(frozen=True, kw_only=True)
class BenchReport:
    """The results of a bench, with the conditions that they depend on."""

    work: str
    """Description of the model and the sentences."""
    reference: str
    """Description of the translations that agreement is measured against."""
    threads: int
    repetitions: int
    rows: tuple[Row, ...]
    machine: Machine
    versions: dict[str, str]
    missing: tuple[str, ...]
    """The systems that are not in the table, each with the reason and a remedy."""
    complete: bool
    """False if the bench was interrupted."""

    def to_json(self) -> dict[str, Any]:
        """Returns the report as JSON values; numbers are not rounded."""
        return asdict(self)

    def to_text(self) -> str:
        """Returns a table for each beam and batch size, its rows in the order of the systems."""
        parts = [
            f"{self.work}\nthreads: {self.threads}; medians of {self.repetitions} repetitions, systems by turns",
            *(_table(beam, batch, list(rows)) for (beam, batch), rows in groupby(self.rows, _cell)),
            "\n".join(self._explanations()),
        ]
        return "\n\n".join(parts)

    def _explanations(self) -> Iterable[str]:
        if not self.complete:
            yield "interrupted: only what was done until then"
        if self.rows:
            bars = list(dict.fromkeys(row.ratio_to for row in self.rows if row.ratio_to))
            if bars:
                yield "ratio: to the best layout of ctranslate2 in the same type with the same beam and batch"
            borrowed = {row.dtype for row in self.rows if row.ratio_to and row.ratio_to.split()[1] != row.dtype}
            for dtype in sorted(borrowed):
                yield f"ratio of {dtype}: to ctranslate2's best layout in float32, for it has no {dtype} here"
            yield f"agreement: sentences with the very tokens of {self.reference}"
            kernels = dict.fromkeys((row.system, row.dtype, row.kernel) for row in self.rows)
            yield "kernels: " + "; ".join(f"{system} {dtype}: {kernel}" for system, dtype, kernel in kernels)
        yield from self.missing
        yield f"machine: {self.machine.to_text()}"
        yield "versions: " + ", ".join(f"{name} {number}" for name, number in self.versions.items())


def _cell(row: Row) -> tuple[int, int]:
    return row.beam, row.batch


def _table(beam: int, batch: int, rows: list[Row]) -> str:
    """Formats the rows of one beam and batch size."""
    batching = "one sentence at a time (latency)" if batch == 1 else f"batches of {batch}"
    title = f"beam {beam}, {batching}; {rows[0].sentences} sentences"
    return aligned_table(title, COLUMNS, [_cells(row) for row in rows], words=3)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.system,
        row.dtype,
        row.layout,
        f"{row.sentences_per_s:,.1f}",
        f"{row.slowest:,.1f}-{row.fastest:,.1f}",
        f"{row.tokens_per_s:,.0f}",
        "" if row.ratio is None else f"{row.ratio:.2f}x",
        f"{row.agreement:.0%}",
    )
