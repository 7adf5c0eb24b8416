"""`attendo reproduce figure2`: one head and all heads, drawn from what a model's attention does, beside the paper."""

import time
from collections.abc import Callable

from attendo.diagrams.attention import attention_of
from attendo.diagrams.attention_layout import draw_attention
from attendo.paper.drawn.comparison import comparison_table, rows_data, verdict
from attendo.paper.drawn.model import BASE, drawn_model
from attendo.paper.drawn.page import Drawn, forecast_drawn, reproduce_drawn
from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.figure2.equality import Equality, measured_equality
from attendo.paper.figure2.statements import one_head, statements
from attendo.paper.report import Report
from attendo.plots.subject import find_subject

UNIT = "pictures"
"""Of its progress."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Draws the figure anew, and works Equation 1 out again on random numbers, with `order.seeds` seeds.

    Args:
        order: how it is wanted; its processes have nothing to do here.
        reporter: who is told.
        should_stop: asked once, before the work of a second.

    Raises:
        AttendoError: data is given, which nothing here reads; or another process is at this folder.
        OSError: the folder cannot be written to.
    """
    return reproduce_drawn(order, reporter, should_stop, "figure2", _drawn)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What will be drawn.

    Raises:
        AttendoError: data is given, which nothing here reads.
    """
    return forecast_drawn(order, reporter, "figure2", "attention")


def _drawn(order: Order) -> Drawn:
    started = time.process_time()
    subject = drawn_model(order)
    structure = attention_of(subject.config, f"Attention: {subject.name}")
    rows = statements(structure, subject.config)
    equality = measured_equality(subject.config, order.seeds)
    return Drawn(
        name="attention",
        title="Figure 2: attention in one head and in all, drawn from what a model does",
        introduction=(
            "The paper's Figure 2 has scaled dot-product attention at the left and multi-head attention at the right. "
            "This one is drawn from the operations that an attention layer of attendo runs, in their order.",
            f"Drawn is the self-attention of {subject.name}.",
        ),
        caption="One head at the left, all heads at the right, from below. Boxes behind each other are there once a "
        "head.",
        structure=structure,
        diagram=draw_attention(structure),
        tables=(comparison_table(rows, "The paper's statements, and the same found in this model"),),
        findings=(verdict(rows, "this model"), *_of_base(order), *_on_the_order(one_head(structure), equality)),
        how=(
            "An attention layer was made without numbers, on torch's meta device, and read a padded batch in training. "
            "Each operation was noted, with where its input came from. W_Q, W_K and W_V are one matrix, for one "
            "product; the picture has them apart, as its output is cut into three. A graphics card runs the same "
            "function as one operation of torch, which keeps no weights.",
            f"Equation 1 was worked out again in float64, in the paper's order, for {order.seeds} seeds: the largest "
            f"difference is {equality.equation:.1e} for the function alone, and {equality.heads:.1e} for all heads, "
            "one after the other with matrices of their own, side by side, times W_O. Float32 has about seven digits, "
            "and the numbers are near 1.",
        ),
        other_models="attendo draw multi-head RECIPE -o attention.svg",
        data={
            "figure": "figure2",
            "model": subject.name,
            "parameters": structure.parameters,
            "equality": equality.to_json(),
            "statements": rows_data(rows),
        },
        processor_s=time.process_time() - started,
    )


def _on_the_order(steps: list[str], equality: Equality) -> tuple[str, ...]:
    if "Scale" not in steps or steps.index("Scale") > steps.index("MatMul"):
        return ()
    return (
        "The order of two steps differs: attendo multiplies the queries by the scale, before the products, where the "
        "paper's figure multiplies the products. (s Q) K^T = s (Q K^T), and there are fewer numbers to multiply; the "
        f"largest difference found is {equality.equation:.1e}, which is rounding.",
    )


def _of_base(order: Order) -> tuple[str, ...]:
    """The same of the paper's base model, where another one is drawn."""
    if order.scale == "paper":
        return ()
    config = find_subject(BASE).config
    told = verdict(statements(attention_of(config, BASE), config), f"the recipe {BASE}, the paper's base model")
    return (f"{told} The scale 'paper' draws it.",)
