"""Table 3: its rows and printed figures, its recipes at full size, and the same rows scaled down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

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


BASE = Row(name="base", group="", perplexity=4.92, bleu=25.8, millions=65)
ROWS = (
    BASE,
    Row(name="a-h1", group="A", changes={"num_heads": 1}, perplexity=5.29, bleu=24.9),
    Row(name="a-h4", group="A", changes={"num_heads": 4}, perplexity=5.00, bleu=25.5),
    Row(name="a-h16", group="A", changes={"num_heads": 16}, perplexity=4.91, bleu=25.8),
    Row(name="a-h32", group="A", changes={"num_heads": 32}, perplexity=5.01, bleu=25.4),
    Row(name="b-dk16", group="B", changes={"d_k": 16}, perplexity=5.16, bleu=25.1, millions=58),
    Row(name="b-dk32", group="B", changes={"d_k": 32}, perplexity=5.01, bleu=25.4, millions=60),
    Row(name="c-n2", group="C", changes={"num_layers": 2}, perplexity=6.11, bleu=23.7, millions=36),
    Row(name="c-n4", group="C", changes={"num_layers": 4}, perplexity=5.19, bleu=25.3, millions=50),
    Row(name="c-n8", group="C", changes={"num_layers": 8}, perplexity=4.88, bleu=25.5, millions=80),
    Row(name="c-d256", group="C", changes={"d_model": 256}, perplexity=5.75, bleu=24.5, millions=28),
    Row(name="c-d1024", group="C", changes={"d_model": 1024}, perplexity=4.66, bleu=26.0, millions=168),
    Row(name="c-ff1024", group="C", changes={"d_ff": 1024}, perplexity=5.12, bleu=25.4, millions=53),
    Row(name="c-ff4096", group="C", changes={"d_ff": 4096}, perplexity=4.75, bleu=26.2, millions=90),
    Row(name="d-p0.0", group="D", changes={"dropout": 0.0}, perplexity=5.77, bleu=24.6),
    Row(name="d-p0.2", group="D", changes={"dropout": 0.2}, perplexity=4.95, bleu=25.5),
    Row(name="d-ls0.0", group="D", changes={"label_smoothing": 0.0}, perplexity=4.67, bleu=25.3),
    Row(name="d-ls0.2", group="D", changes={"label_smoothing": 0.2}, perplexity=5.47, bleu=25.7),
    Row(name="e-learned", group="E", changes={"positions": "learned"}, perplexity=4.92, bleu=25.7),
    Row(
        name="big",
        group="big",
        changes={"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3},
        perplexity=4.33,
        bleu=26.4,
        millions=213,
    ),
)
"""In the paper's order. That `big` trains three times as long, its recipe says."""
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
