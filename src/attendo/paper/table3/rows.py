"""Table 3: its rows and printed figures, its recipes at full size, and the same rows scaled down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from attendo.paper.declared import declared
from attendo.recipe import Recipe, load_recipe

PERPLEXITY_UNIT, BLEU_UNIT = 0.01, 0.1
"""The last digits of the printed figures."""

_PAPER_BASE = {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_k": 64}
"""The base row's sizes, which a change of the paper's is a multiple of."""

Value = int | float | str


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row as it is printed."""

    name: str
    """That of its recipe: `table3/NAME`."""
    group: str
    """The letter it stands under; empty for the first row."""
    changes: Mapping[str, Value] = field(default_factory=dict)
    """Keys of a recipe's `model` section that differ from the base row's, with the paper's values; and
    `label_smoothing`, of the section `training`."""
    perplexity: float
    """Per word piece, on newstest2013."""
    bleu: float
    """On newstest2013."""
    millions: int | None = None
    """Parameters; None where the paper leaves that out."""


ROWS: tuple[Row, ...] = declared("table3/rows.toml", "rows", tuple[Row, ...])
"""In the paper's order. That `big` trains three times as long, its recipe says."""
BASE = ROWS[0]
BY_NAME = {row.name: row for row in ROWS}


def full_size(row: Row, overrides: Sequence[str] = ()) -> Recipe:
    """A row's shipped recipe: WMT 2014, 100,000 updates of 25,000 tokens, 300,000 for `big`.

    Args:
        row: the row.
        overrides: as for `load_recipe`.

    Raises:
        RecipeError: an override cannot be meant.
    """
    return load_recipe(f"table3/{row.name}", overrides)


def scaled_down(row: Row, scale: str, overrides: Sequence[str] = ()) -> Recipe:
    """A row with the base row of a smaller study: the paper's change by the same factor, the same budget.

    What is no size (dropout, label smoothing, positions) is the paper's own value.

    Args:
        row: the row.
        scale: the shipped recipe `table3/SCALE` is the base row.
        overrides: as for `load_recipe`; the row's own changes come behind them.

    Raises:
        RecipeError: an override cannot be meant.
    """
    base = load_recipe(f"table3/{scale}", overrides)
    changes = [setting(key, scaled(key, value, base)) for key, value in row.changes.items()]
    return load_recipe(f"table3/{scale}", [f"name=table3-{scale}-{row.name}", *overrides, *changes])


def scaled(key: str, value: Value, base: Recipe) -> Value:
    """A changed value of the paper's, by the same factor on a smaller base row; itself where it is no size."""
    if key not in _PAPER_BASE:
        return value
    size = Fraction(value) / _PAPER_BASE[key] * _sizes(base)[key]
    assert size.denominator == 1, f"{key}: {size} is no whole number; take a base row that the factors divide"
    return int(size)


def _sizes(base: Recipe) -> dict[str, int]:
    shape = base.model
    return {
        "d_model": shape.d_model,
        "d_ff": shape.d_ff,
        "num_layers": shape.num_layers,
        "num_heads": shape.num_heads,
        "d_k": shape.key_size,
    }


def setting(key: str, value: Value) -> str:
    """A change as `--set` has it."""
    section = "training" if key == "label_smoothing" else "model"
    return f"{section}.{key}={value}"


_SYMBOLS = {
    "num_heads": "h", "d_k": "d_k", "num_layers": "N", "d_model": "d_model", "d_ff": "d_ff",
    "dropout": "P_drop", "label_smoothing": "eps_ls",
}  # fmt: skip


def described(row: Row, base: Recipe | None = None) -> str:
    """A row's change in the paper's symbols, such as `h 4, d_k = d_v 128`.

    Args:
        row: the row.
        base: the base row of a smaller study; None for the paper's.
    """
    values = {key: value if base is None else scaled(key, value, base) for key, value in row.changes.items()}
    parts = [f"{_SYMBOLS[key]} {value}" for key, value in values.items() if key in _SYMBOLS]
    sizes = _PAPER_BASE if base is None else _sizes(base)
    width = int(values.get("d_model", sizes["d_model"])) // int(values.get("num_heads", sizes["num_heads"]))
    if "d_k" not in values and width != sizes["d_k"]:
        parts.append(f"d_k = d_v {width}")
    if "positions" in values:
        parts.append("learned positions")
    return ", ".join(parts)
