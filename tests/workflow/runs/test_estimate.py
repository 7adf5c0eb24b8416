"""The dry run's figures against the plan itself and against counts by hand."""

from itertools import islice
from pathlib import Path

import pytest

from attendo.errors import RecipeError
from attendo.recipe import Recipe, load_recipe
from attendo.text.batching import plan_epoch
from attendo.text.prepared import PreparedData
from attendo.training.batches import Place
from attendo.workflow.preparation.prepare import prepare
from attendo.workflow.runs.estimate import MixPart, estimate
from attendo.workflow.runs.initial_model import with_initial_model
from attendo.workflow.runs.run_batches import batch_stream

STEPS = ["training.max_steps=50"]


def test_without_data_the_shape_is_known(recipe_path: Path) -> None:
    found = estimate(load_recipe(str(recipe_path), STEPS), None)
    # By hand: the vocabulary; encoder 4 d^2 + 2 d d_ff + d_ff + d + 2 norms of 2 d; decoder 8 d^2 and a third norm.
    d, d_ff = 16, 32
    layers = (4 + 8) * d * d + 2 * (2 * d * d_ff + d_ff + d) + (2 + 3) * 2 * d
    assert found.parameters == 300 * d + layers
    assert found.state_bytes == 16 * found.parameters
    assert (found.batches_per_epoch, found.padding_share, found.epochs, found.exact_vocabulary) == (
        None, None, None, False,
    )  # fmt: skip
    assert found.target_tokens_per_update == 300
    assert found.hours == pytest.approx(50 * 300 / found.target_tokens_per_s / 3600)
    counted = sum(count * shape[0] * shape[1] for _, shape, count in found.shapes)
    assert counted == 300 * d + 12 * d * d + 4 * d * d_ff


def test_with_data_the_batches_are_the_plans(recipe_path: Path, tmp_path: Path) -> None:
    recipe = load_recipe(str(recipe_path), STEPS)
    assert recipe.data is not None
    prepared = prepare(recipe.data, recipe.tokenizer, tmp_path / "ready", base_folder=tmp_path)
    found = estimate(recipe, prepared)
    pairs = prepared.corpora["mine"]
    plan = plan_epoch(pairs.source_lengths, pairs.target_lengths, max_tokens=300, seed=1, epoch=0)
    assert found.batches_per_epoch == len(plan.batches)
    assert found.epochs == pytest.approx(50 / len(plan.batches))
    assert found.padding_share == plan.padding_share
    assert found.target_tokens_per_update == pytest.approx(pairs.target_lengths.sum() / len(plan.batches))
    assert found.exact_vocabulary


def test_a_batch_in_pieces_takes_less_memory(recipe_path: Path) -> None:
    whole = estimate(load_recipe(str(recipe_path), STEPS), None)
    pieces = estimate(load_recipe(str(recipe_path), [*STEPS, "training.max_tokens_at_once=100"]), None)
    assert pieces.activation_bytes == pytest.approx(whole.activation_bytes / 3, abs=1)


def test_a_teacher_takes_memory(recipe_path: Path, model_folder: Path) -> None:
    tuned = [*STEPS, f"training.init_from={model_folder}", "model.num_layers=2"]
    plain, taught = (
        estimate(with_initial_model(load_recipe(str(recipe_path), [*tuned, *more])), None)
        for more in ([], ["data.corpora.mine.distilled=true"])
    )
    # Its weights in float32, beside weights, gradients and Adam's two means.
    assert (plain.state_bytes, taught.state_bytes) == (16 * plain.parameters, 20 * plain.parameters)
    assert taught.hours > 0


def test_the_mix_of_an_epoch(recipe_path: Path, tmp_path: Path) -> None:
    for name, first in (("source", "a"), ("target", "b")):
        (tmp_path / f"old.{name}").write_text("".join(f"{first} {number}\n" for number in range(1000)))
    old = (
        f'{{name="old", source="{tmp_path}/old.source", target="{tmp_path}/old.target", share=0.25, source_tag="<o>"}}'
    )
    mine = '{name="mine", source="source.txt", target="target.txt"}'
    recipe = load_recipe(str(recipe_path), [*STEPS, f"data.corpora=[{mine}, {old}]"])
    assert recipe.data is not None
    prepared = prepare(recipe.data, recipe.tokenizer, tmp_path / "ready", base_folder=tmp_path)
    # By hand: the corpus has 216 pairs, which are three quarters of an epoch of 288; 72 of 1,000 old ones are the rest.
    assert estimate(recipe, prepared).mix == (
        MixPart(corpus="mine", pairs=216, share=0.75, weight=1.0, source_tag=None),
        MixPart(corpus="old", pairs=72, share=0.25, weight=72 / 1000, source_tag="<o>"),
    )
    assert batch_stream(recipe, prepared).plan(0).source_tokens == sum(
        len(prepared.source_tokenizer.encode(source)) for source in prepared_epoch(recipe, prepared)
    )


def prepared_epoch(recipe: Recipe, prepared: PreparedData) -> list[str]:
    """The sources that the first epoch's batches hold."""
    batches = batch_stream(recipe, prepared).from_place(Place())
    number = len(batch_stream(recipe, prepared).plan(0).batches)
    rows = [row for _, pairs in islice(batches, number) for row in pairs.source]
    sources = [prepared.source_tokenizer.decode(row) for row in rows]
    assert sum(source.startswith("<o> a ") for source in sources) == 72
    assert len(sources) == 288
    return sources


def test_data_of_other_corpora_is_refused(recipe_path: Path, tmp_path: Path) -> None:
    recipe = load_recipe(str(recipe_path), STEPS)
    assert recipe.data is not None
    prepared = prepare(recipe.data, recipe.tokenizer, tmp_path / "ready", base_folder=tmp_path)
    other = load_recipe(str(recipe_path), ["data.corpora.mine.name=other"])
    with pytest.raises(
        RecipeError, match=r"data\.corpora has other, but .*ready was prepared from mine; a run goes on"
    ):
        estimate(other, prepared)
