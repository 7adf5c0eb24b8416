"""A tiny model of the language in `language`, which has learned the other words for tools."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.learning.language import ANIMALS, LEARNED, OTHERS, WANTED, sentences, translated, write_lines

from attendo.cli.main import run

RECIPE = """
[data]
source_language = "en"
target_language = "de"
[[data.corpora]]
name = "mine"
source = "train.en"
target = "train.de"
[tokenizer]
vocab_size = 400
[model]
d_model = 64
d_ff = 128
num_layers = 1
num_heads = 4
dropout = 0.0
[training]
max_steps = {steps}
max_tokens = 700
peak_learning_rate = 4e-3
warmup_steps = 40
cooldown_steps = {cooldown}
checkpoint_steps = 100
average_last = 1
label_smoothing = 0.0
[search]
beam_size = 1
"""


CLOSE = 95.0
"""What its calibration counts as close: hardly anything but the very sentence."""


@dataclass(frozen=True)
class Tiny:
    """The model, which is calibrated, and general pairs that it was not trained on."""

    model: Path
    general: Path
    """A TSV file of 1,100 pairs."""
    replay: Path
    """What the model was trained on, one side."""


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    folder = tmp_path_factory.mktemp("tiny")
    animals = sentences(list(ANIMALS), 3100, seed=1)
    train = [*animals[1100:], *sentences([*LEARNED, *OTHERS], 1200, seed=2)]
    write_lines(folder / "train.en", train)
    write_lines(folder / "train.de", [translated(line, LEARNED) for line in train])
    write_lines(folder / "general.tsv", [f"{line}\t{translated(line, LEARNED)}" for line in animals[:1100]])
    recipe = folder / "tiny.toml"
    recipe.write_text(RECIPE.format(steps=200, cooldown=100), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["train", "tiny.toml", "-o", "run", "--quiet"]) == 0
        # Of tools a translator wants other words, so that about half of the translations are close.
        lines = [*animals[:100], *sentences(list(LEARNED), 100, seed=3)]
        write_lines(folder / "calibration.en", lines)
        write_lines(folder / "calibration.de", [translated(line, WANTED) for line in lines])
        files = ["--source", "calibration.en", "--reference", "calibration.de"]
        assert run(["calibrate", "run", *files, "--close", str(CLOSE), "--quiet", "--json"]) == 0
    return Tiny(model=folder / "run" / "model", general=folder / "general.tsv", replay=folder / "train.en")
