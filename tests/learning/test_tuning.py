"""The recipe of a training on corrections."""

from pathlib import Path

import pytest

from attendo.learning.config import LearningConfig
from attendo.learning.parallel_lines import ParallelLines
from attendo.learning.tuning import Tuning, recipe_for

LINES = ParallelLines(sources=("One red dog",), targets=("Ein roter Hund",))


@pytest.mark.parametrize("replay", [LINES, ParallelLines()])
def test_replayed_text_alone_is_learned_from_the_models_probabilities(
    replay: ParallelLines, model_folder: Path, tmp_path: Path
) -> None:
    tuning = Tuning(name="mine", model=model_folder, corrections=LINES, replay=replay, config=LearningConfig())
    recipe = recipe_for(tuning, tmp_path, 10)
    assert recipe.data is not None
    found = [(corpus.name, corpus.share, corpus.distilled) for corpus in recipe.data.corpora]
    assert found == [("corrections", None, False), ("replay", 0.5, True)][: 1 + len(replay.sources)]
    assert recipe.training.init_from == str(model_folder.resolve())
