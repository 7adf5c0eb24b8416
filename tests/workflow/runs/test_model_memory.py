from pathlib import Path

import pytest
import torch

from attendo.errors import RecipeError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.training.config import TrainingConfig
from attendo.workflow.runs import model_memory
from attendo.workflow.runs.model_memory import check_memory, device_memory

CPU = torch.device("cpu")


def test_main_memory_is_that_of_the_system() -> None:
    (total,) = (
        line.split()[1] for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal:")
    )
    assert device_memory(CPU) == pytest.approx(1024 * int(total), rel=0.02)


@pytest.mark.parametrize("is_distilled", [False, True])
@pytest.mark.parametrize("share", [1, 4])
def test_what_fits_to_the_byte_fits(share: int, is_distilled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = CorpusConfig(name="old", tsv="old.tsv", distilled=is_distilled)
    recipe = Recipe(
        name="mine",
        folder=Path(),
        data=DataConfig(corpora=(corpus,)),
        model=ModelConfig(d_model=8, d_ff=16, num_layers=2, num_heads=2),
        training=TrainingConfig(init_from="there"),
    )
    weights = sum(weight.numel() for weight in Transformer(recipe.model, 300, 300).parameters())
    # Weight, gradient and Adam's two means, each float32, of the model itself; the weights of its teacher, not shared.
    needed = 4 * 4 * weights // share + (4 * weights if is_distilled else 0)
    monkeypatch.setattr(model_memory, "device_memory", lambda device: needed)
    check_memory(recipe, 300, 300, CPU, share=share)
    monkeypatch.setattr(model_memory, "device_memory", lambda device: needed - 1)
    with pytest.raises(
        RecipeError, match=r"^mine: the model has 5,\d\d\d parameters, which need 0.0 GiB for weights, .*"
    ):
        check_memory(recipe, 300, 300, CPU, share=share)


def test_what_is_far_too_large_is_not_built() -> None:
    recipe = Recipe(name="mine", folder=Path(), model=ModelConfig(d_model=65536, d_ff=2**20, num_layers=1000))
    with pytest.raises(RecipeError, match=r"take smaller model.d_model, model.d_ff, model.num_layers or tokenizer.voc"):
        check_memory(recipe, 37000, 37000, CPU)
