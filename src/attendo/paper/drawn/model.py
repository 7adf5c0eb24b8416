"""Which model Figures 1 and 2 are drawn of."""

from attendo.checkpoint.finding import shipped_models
from attendo.errors import DataError, ModelError
from attendo.paper.experiment import Order
from attendo.plots.subject import Subject, find_subject

BASE = "base"
"""The recipe of the paper's base model."""
_RECIPES = {"tiny": "tiny", "paper": BASE}
_SHIPPED = "en-de"


def drawn_model(order: Order) -> Subject:
    """The paper's base model at the scale `paper`, the shipped English-German one at `small`, a recipe's at `tiny`.

    Raises:
        ModelError: the shipped model is missing.
    """
    if order.scale != "small":
        return find_subject(_RECIPES[order.scale])
    folder = shipped_models().get(_SHIPPED)
    if folder is None:
        raise ModelError(f"{_SHIPPED}: does not come with this attendo; take --scale paper")
    return find_subject(str(folder))


def check_no_data(order: Order, name: str) -> None:
    """Refuses corpora, which no drawing reads.

    Raises:
        DataError: there are some.
    """
    if order.data is not None:
        raise DataError(f"--data: {name} draws a model and reads no corpora; leave it out")
