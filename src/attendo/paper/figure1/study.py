"""`attendo reproduce figure1`: the architecture, drawn from what a model does, beside what the paper states."""

import time
from collections.abc import Callable

from attendo.diagrams.architecture import architecture, steps_of, structure_from, without_numbers
from attendo.diagrams.architecture_layout import draw_architecture
from attendo.paper.drawn.comparison import comparison_table, rows_data, verdict
from attendo.paper.drawn.model import BASE, drawn_model
from attendo.paper.drawn.page import Drawn, forecast_drawn, reproduce_drawn
from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.figure1.statements import parameters_text, statements
from attendo.paper.report import Report
from attendo.plots.subject import find_subject

UNIT = "pictures"
"""Of its progress."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Draws the figure anew; nothing depends on chance.

    Args:
        order: how it is wanted; its seeds and processes have nothing to do here.
        reporter: who is told.
        should_stop: asked once, before the work of a second.

    Raises:
        AttendoError: data is given, which nothing here reads; or another process is at this folder.
        OSError: the folder cannot be written to.
    """
    return reproduce_drawn(order, reporter, should_stop, "figure1", _drawn)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What will be drawn.

    Raises:
        AttendoError: data is given, which nothing here reads.
    """
    return forecast_drawn(order, reporter, "figure1", "architecture")


def _drawn(order: Order) -> Drawn:
    started = time.process_time()
    subject = drawn_model(order)
    model = without_numbers(subject.config, subject.src_vocab_size, subject.tgt_vocab_size)
    steps = steps_of(model)
    structure = structure_from(steps, model, f"The Transformer: {subject.name}")
    diagram = draw_architecture(structure)
    rows = statements(structure, subject.config)
    residual = sum(edge.role == "residual" for edge in structure.edges)
    return Drawn(
        name="architecture",
        title="Figure 1: the Transformer, drawn from what a model does",
        introduction=(
            "The paper draws its architecture once, by hand. This figure is drawn from a model: whatever a recipe says "
            "of layer types, norms, positions or shared matrices is in it, because it is what the model does.",
            f"Drawn is {subject.note}.",
        ),
        caption=(
            "The encoder at the left, the decoder at the right, from below. Layers that do the same are drawn once; "
            "'n × m parameters' are m in each of n layers."
        ),
        structure=structure,
        diagram=diagram,
        tables=(comparison_table(rows, "The paper's statements on its base model, and the same found in this one"),),
        findings=(verdict(rows, "this model"), *_of_base(order), parameters_text(structure)),
        how=(
            "The model was made without numbers, on torch's meta device, and read two pairs of sentences. Each module "
            "that ran and each addition was noted, with where its input came from: "
            f"{len(steps):,} steps. The softmax is no part of the model: search and loss apply it to the logits.",
            f"The blocks' parameters add up to {structure.parameters:,}; the model's own count is "
            f"{model.num_parameters:,}. {residual} residual connections are drawn, one around each sub-layer of each "
            "kind of layer.",
        ),
        other_models="attendo draw architecture RECIPE -o architecture.svg",
        data={
            "figure": "figure1",
            "model": subject.name,
            "parameters": model.num_parameters,
            "steps": len(steps),
            "statements": rows_data(rows),
        },
        processor_s=time.process_time() - started,
    )


def _of_base(order: Order) -> tuple[str, ...]:
    """The same of the paper's base model, where another one is drawn."""
    if order.scale == "paper":
        return ()
    base = find_subject(BASE)
    structure = architecture(base.config, base.src_vocab_size, base.tgt_vocab_size, base.name)
    told = verdict(statements(structure, base.config), f"the recipe {BASE}, the paper's base model")
    return (f"{told} The scale 'paper' draws it.",)
