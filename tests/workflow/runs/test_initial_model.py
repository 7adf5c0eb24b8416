"""Fine-tuning: what a recipe takes over from a model, and what it must not contradict."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.checkpoint.model_folder import ModelDescription, load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.errors import ModelError, RecipeError
from attendo.files import sha256
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import open_prepared
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.training.hooks import Ending
from attendo.training.meter import StepMetrics
from attendo.workflow.preparation.prepared_data import prepare_if_missing, prepared_folder
from attendo.workflow.runs.initial_model import initial_facts, with_initial_model
from attendo.workflow.runs.run_folder import resume_run, start_run
from attendo.workflow.runs.run_model import load_initial_weights
from attendo.workflow.runs.train import TrainingRun

SHAPE = ModelConfig(d_model=16, d_ff=32, num_layers=2, num_heads=2)
"""That of `model_folder` in tests/conftest.py."""


class Silent:
    """Hears how a run goes, and keeps what was said."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.validated_steps: list[tuple[int, bool]] = []
        self.steps = 0

    def message(self, text: str) -> None:
        self.messages.append(text)

    def preparing(self, progress: Any) -> None:
        """Says nothing."""

    def training(self, metrics: StepMetrics, max_steps: int) -> None:
        self.steps = metrics.step

    def validated(self, position: Any, validation: Any, is_best: bool) -> None:
        self.validated_steps.append((position.step, is_best))


@pytest.fixture
def tuning(tmp_path: Path, corpus: Any) -> Path:
    """A recipe, `tuned.toml`, that says of the model nothing but its name, which is to be set."""
    path = tmp_path / "tuned.toml"
    path.write_text(
        f"[data]\nfolder = '{corpus.source.parent}'\n"
        "[[data.corpora]]\nname = 'mine'\nsource = 'source.txt'\ntarget = 'target.txt'\n"
        "[data.valid]\nsource = 'source.txt'\ntarget = 'target.txt'\n"
        "[training]\nmax_steps = 4\nmax_tokens = 300\nwarmup_steps = 2\npeak_learning_rate = 1e-4\n"
        "checkpoint_steps = 2\neval_steps = 2\n[search]\nmax_len_offset = 0\n",
        encoding="utf-8",
    )
    return path


def resolved(path: Path, model: Path, *settings: str) -> Recipe:
    return with_initial_model(load_recipe(str(path), [f"training.init_from={model}", *settings]))


def test_without_a_model_nothing_changes(tuning: Path) -> None:
    recipe = load_recipe(str(tuning))
    assert with_initial_model(recipe) is recipe
    assert initial_facts(recipe) == {}


def test_what_is_left_out_is_as_the_model_has_it(tuning: Path, model_folder: Path) -> None:
    recipe = resolved(tuning, model_folder, "model.dropout=0.3", "tokenizer.bpe_dropout=0.1")
    assert recipe.model == replace(SHAPE, dropout=0.3)
    assert recipe.tokenizer == TokenizerConfig(vocab_size=300, bpe_dropout=0.1)
    assert recipe.data is not None
    assert (recipe.data.source_language, recipe.data.target_language) == ("en", "de")
    assert recipe.training.init_from == str(model_folder.resolve())
    assert (recipe.search.beam_size, recipe.search.max_len_offset) == (3, 0)  # the model's 3; 0 is the recipe's own
    resolved_twice = with_initial_model(recipe)
    assert resolved_twice == recipe


@pytest.mark.parametrize(
    "agreeing",
    [
        ["model.d_model=16", "model.num_layers=2", "tokenizer.vocab_size=300"],
        ["model.num_encoder_layers=2", "model.d_model=16", "model.num_heads=2", "model.d_k=8"],
    ],
)
def test_what_agrees_may_be_said(tuning: Path, model_folder: Path, agreeing: list[str]) -> None:
    assert resolved(tuning, model_folder, *agreeing) == resolved(tuning, model_folder)


def test_self_attention_may_be_restricted(tuning: Path, model_folder: Path) -> None:
    settings = [f'model.{stack}_layer="restricted-self-attention"' for stack in ("encoder", "decoder")]
    recipe = resolved(tuning, model_folder, *settings, "model.window=7")
    whole = resolved(tuning, model_folder)
    assert recipe.model == replace(
        whole.model,
        encoder_layer="restricted-self-attention",
        decoder_layer="restricted-self-attention",
        window=7,
    )


@pytest.mark.parametrize(
    "setting", ["model.encoder_layer=recurrent", "model.kernel_size=5", "model.attention_function=additive"]
)
def test_what_other_weights_belong_to_is_a_contradiction(tuning: Path, model_folder: Path, setting: str) -> None:
    with pytest.raises(RecipeError, match=setting.replace("=", " = ")):
        resolved(tuning, model_folder, setting)


def test_every_contradiction_is_told_at_once(tuning: Path, model_folder: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        resolved(
            tuning, model_folder,
            "model.d_model=512", "model.num_encoder_layers=4", "tokenizer.type=unigram", "tokenizer.vocab_size=8000",
        )  # fmt: skip
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1].split(",")[0] for line in lines] == [
        "model.d_model = 512",  # the default, but written
        "model.num_encoder_layers = 4",
        "tokenizer.type = unigram",
        "tokenizer.vocab_size = 8000",
    ]
    assert lines[0] == (
        f"tuned: model.d_model = 512, but training.init_from keeps the model's: {model_folder} has 16; leave the key "
        "out, or train a model from scratch"
    )


def test_two_unigram_vocabularies_are_known_as_such(tuning: Path, tmp_path: Path, corpus: Any) -> None:
    config = TokenizerConfig(type="unigram", vocab_size=280)
    sides = [
        learn_tokenizer([pair[side] for pair in corpus.pairs], config, tmp_path / f"{side}.spm") for side in (0, 1)
    ]
    shape = replace(SHAPE, shared_embeddings="none")
    description = ModelDescription(src_vocab_size=280, tgt_vocab_size=280, model=shape, search={}, training={})
    weights = named_weights(Transformer(shape, 280, 280))
    save_model(tmp_path / "two", description, weights, sides[0], sides[1], "")
    recipe = resolved(tuning, tmp_path / "two")
    assert (recipe.tokenizer.type, recipe.tokenizer.joint, recipe.model.shared_embeddings) == ("unigram", False, "none")


def test_a_model_is_looked_for_from_the_recipes_folder_first(
    tuning: Path, model_folders: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "model").symlink_to(model_folders[0])
    monkeypatch.chdir(tmp_path / "here")
    assert resolved(tuning, Path("model")).training.init_from == str(model_folders[0].resolve())
    (tmp_path / "model").symlink_to(model_folders[1])
    assert resolved(tuning, Path("model")).training.init_from == str(model_folders[1].resolve())
    with pytest.raises(ModelError, match="no-such: no such model or run folder"):
        resolved(tuning, Path("no-such"))


def test_a_longer_text_than_the_positions_reach_is_refused(tuning: Path, tmp_path: Path, model_folder: Path) -> None:
    shape = replace(SHAPE, positions="learned", max_positions=64)
    tokenizer = load_model(model_folder).source_tokenizer
    description = ModelDescription(src_vocab_size=300, tgt_vocab_size=300, model=shape, search={}, training={})
    save_model(tmp_path / "m", description, named_weights(Transformer(shape, 300, 300)), tokenizer, tokenizer, "")
    with pytest.raises(RecipeError, match=r"tuned: data\.cleaning\.max_tokens = 1024 is more than .*= 64"):
        resolved(tuning, tmp_path / "m")
    assert resolved(tuning, tmp_path / "m", "data.cleaning.max_tokens=64").model == shape


def train(recipe: Recipe, run: Path, prepared: Path, stop_after: int | None = None) -> tuple[Silent, Any]:
    reporter = Silent()
    if not run.exists():
        prepare_if_missing(recipe, prepared, reporter)
        start_run(recipe, run, prepared)
    loaded, data = resume_run(run, [])
    training = TrainingRun(loaded, run, open_prepared(data), reporter)
    return reporter, training.train(lambda: stop_after is not None and reporter.steps >= stop_after)


def test_training_starts_from_the_model(tuning: Path, model_folder: Path, tmp_path: Path) -> None:
    recipe = resolved(tuning, model_folder, "model.dropout=0.0")
    prepare_if_missing(recipe, tmp_path / "ready", Silent())
    start_run(recipe, tmp_path / "run", tmp_path / "ready")
    assert (tmp_path / "ready" / "source.spm").read_bytes() == (model_folder / "source.spm").read_bytes()
    loaded, data = resume_run(tmp_path / "run", [])
    started = named_weights(TrainingRun(loaded, tmp_path / "run", open_prepared(data), Silent()).model)
    theirs = named_weights(load_model(model_folder).transformer)
    assert started.keys() == theirs.keys()
    assert all(torch.equal(started[name], theirs[name]) for name in theirs)
    report = json.loads((tmp_path / "ready" / "report.json").read_text(encoding="utf-8"))
    assert report["vocabulary_from"] == str(model_folder.resolve())


def test_another_language_is_told(tuning: Path, model_folder: Path, tmp_path: Path) -> None:
    reporter, _ = train(resolved(tuning, model_folder), tmp_path / "run", tmp_path / "ready")
    assert f"fine-tuning {model_folder.resolve()}" in reporter.messages
    recipe = resolved(tuning, model_folder, "data.target_language=nl")
    reporter, _ = train(recipe, tmp_path / "dutch", tmp_path / "ready too")
    assert f"fine-tuning {model_folder.resolve()}, which is en-de and no en-nl" in reporter.messages


def test_an_interrupted_run_is_the_uninterrupted_one(tuning: Path, model_folder: Path, tmp_path: Path) -> None:
    recipe = resolved(tuning, model_folder)
    reporter, outcome = train(recipe, tmp_path / "whole", tmp_path / "ready")
    assert outcome.ending is Ending.STEPS
    assert reporter.validated_steps[0] == (0, True), "the model is validated before its first step"
    assert [step for step, _ in reporter.validated_steps] == [0, 2, 4]
    _, outcome = train(recipe, tmp_path / "parts", tmp_path / "ready", stop_after=3)
    assert (outcome.ending, outcome.position.step) == (Ending.INTERRUPTED, 3)
    reporter, outcome = train(recipe, tmp_path / "parts", tmp_path / "ready")
    assert [step for step, _ in reporter.validated_steps] == [4], "a run that goes on does not begin again"
    ends = [tmp_path / run / "checkpoints" / "step-00000004" / "weights.safetensors" for run in ("whole", "parts")]
    assert ends[0].read_bytes() == ends[1].read_bytes()


def test_a_run_goes_on_when_its_first_model_is_gone(tuning: Path, model_folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in model_folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    recipe = resolved(tuning, copy)
    train(recipe, tmp_path / "run", tmp_path / "ready", stop_after=3)
    for file in copy.iterdir():
        file.unlink()
    _, outcome = train(recipe, tmp_path / "run", tmp_path / "ready")
    assert outcome.ending is Ending.STEPS
    # The model knows what it came from: the folder's name and the weights' checksum, taken before they were gone.
    description = load_model(tmp_path / "run" / "model").description
    assert description.training["init_from"] == {
        "model": "copy",
        "weights_sha256": sha256(model_folder / "model.safetensors"),
        "training": {
            "recipe": "random",
            "steps": 0,
            "valid": {"perplexity": 12.5, "bleu": 3.25, "bleu_signature": "nrefs:1|case:mixed"},
        },
    }


def distilled(path: Path, model: Path) -> Recipe:
    """A recipe with a second corpus, which is learned from the model's probabilities."""
    text = path.read_text(encoding="utf-8")
    second = "[[data.corpora]]\nname = 'old'\nsource = 'source.txt'\ntarget = 'target.txt'\ndistilled = true\n"
    path.write_text(text.replace("[data.valid]", f"{second}[data.valid]"), encoding="utf-8")
    return resolved(path, model, "data.cleaning.drop_duplicates=false", "training.eval_steps=none")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], r"mine\.distilled = true learns from the model that training\.init_from names; name one there, or leave"),
        (
            ["training.init_from=there", "model.draft_tokens=4"],
            r"mine\.distilled = true and model\.draft_tokens = 4 do not go together, .*; leave one of them out",
        ),
    ],
)
def test_who_has_no_teacher(tuning: Path, settings: list[str], message: str) -> None:
    with pytest.raises(RecipeError, match=rf"^--set: data\.corpora\.{message}"):
        load_recipe(str(tuning), ["data.corpora.mine.distilled=true", *settings])


def copied(model: Path, folder: Path) -> Path:
    folder.mkdir()
    for file in model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_an_interrupted_run_with_a_teacher_is_the_uninterrupted_one(
    tuning: Path, model_folder: Path, tmp_path: Path
) -> None:
    """Which is another one than with no corpus distilled."""
    recipe = distilled(tuning, model_folder)
    train(recipe, tmp_path / "whole", tmp_path / "ready")
    _, outcome = train(recipe, tmp_path / "parts", tmp_path / "ready", stop_after=3)
    assert (outcome.ending, outcome.position.step) == (Ending.INTERRUPTED, 3)
    train(recipe, tmp_path / "parts", tmp_path / "ready")
    assert recipe.data is not None
    corpora = tuple(replace(corpus, distilled=False) for corpus in recipe.data.corpora)
    other = replace(recipe, data=replace(recipe.data, corpora=corpora))
    train(other, tmp_path / "other", tmp_path / "ready")
    whole, parts, otherwise = (
        (tmp_path / run / "checkpoints" / "step-00000004" / "weights.safetensors").read_bytes()
        for run in ("whole", "parts", "other")
    )
    assert whole == parts
    assert whole != otherwise


def test_a_run_goes_on_with_the_teacher_that_it_had(
    tuning: Path, model_folders: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    teacher = copied(model_folders[0], tmp_path / "copy")
    recipe = distilled(tuning, teacher)
    train(recipe, tmp_path / "run", tmp_path / "ready", stop_after=3)
    for file in model_folders[1].iterdir():  # of the same shape and vocabulary
        (teacher / file.name).write_bytes(file.read_bytes())
    with pytest.raises(ModelError, match=r"copy: has other weights than when the run began, .* put the model back"):
        train(recipe, tmp_path / "run", tmp_path / "ready")
    for file in teacher.iterdir():
        file.unlink()
    with pytest.raises(ModelError, match="copy"):
        train(recipe, tmp_path / "run", tmp_path / "ready")


def test_a_model_that_only_gets_worse_is_given_as_it_was(tuning: Path, model_folder: Path, tmp_path: Path) -> None:
    # So high a rate spoils any weights, and validation counts perplexity.
    settings = ("training.peak_learning_rate=1.0", "training.eval_bleu=false", "training.average_last=1",
                "training.max_loss_rise=none")  # fmt: skip
    reporter, outcome = train(resolved(tuning, model_folder, *settings), tmp_path / "run", tmp_path / "ready")
    assert reporter.validated_steps == [(0, True), (2, False), (4, False)]
    assert outcome.position.best_step == 0
    ours, theirs = (named_weights(load_model(folder).transformer) for folder in (outcome.model, model_folder))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_an_int8_model_is_tuned_from_the_numbers_its_codes_stand_for(
    tuning: Path, model_folder: Path, tmp_path: Path
) -> None:
    model = load_model(model_folder)
    description = replace(model.description, dtype="int8")
    tokenizer = model.source_tokenizer
    save_model(tmp_path / "int8", description, named_weights(model.transformer), tokenizer, tokenizer, "")
    recipe = resolved(tuning, tmp_path / "int8")
    prepared = prepare_if_missing(recipe, tmp_path / "ready", Silent())
    torch.manual_seed(9)
    started = Transformer(recipe.model, 300, 300)
    load_initial_weights(started, tmp_path / "int8", prepared)
    dequantised = named_weights(load_model(tmp_path / "int8").transformer)
    assert all(torch.equal(value, dequantised[name]) for name, value in named_weights(started).items())
    assert any(not torch.equal(value, dequantised[name]) for name, value in named_weights(model.transformer).items()), (
        "int8 loses something"
    )


def test_data_of_another_vocabulary_is_refused(
    tuning: Path, model_folders: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    recipe, other = resolved(tuning, model_folders[0]), resolved(tuning, model_folders[2])
    root = tmp_path / "prepared"
    assert prepared_folder(recipe, root) != prepared_folder(other, root)
    assert prepared_folder(recipe, root) == prepared_folder(resolved(tuning, model_folders[1]), root)
    prepared = prepare_if_missing(other, tmp_path / "ready", Silent())
    with pytest.raises(
        ModelError, match=r"needs data that is prepared for the model's own vocabulary, but .*ready has"
    ):
        load_initial_weights(Transformer(recipe.model, 300, 300), model_folders[0], prepared)
