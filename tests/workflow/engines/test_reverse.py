"""A reverse model: the choice among candidates against one worked out from the scores of both models."""

import json
import pickle
import shutil
from pathlib import Path

import pytest

from attendo.checkpoint.checksums import CONFIG, replace_file
from attendo.decoding.config import GuardConfig
from attendo.decoding.search_settings import SearchSettings
from attendo.errors import ModelError, RecipeError
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import Decoding, load
from attendo.workflow.evaluation.contrast import measure_contrast, pairs_for

LINES = ["one red dogs see us.", "some old kings hear them.", "the king sees.", "old dogs."]
ALPHA = 0.8
SEARCH = {"beam_size": 4, "length_penalty": ALPHA, "guards": dict.fromkeys(vars(GuardConfig.off()), False)}


@pytest.fixture(scope="module")
def reverse_folder(model_folders: tuple[Path, Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that says that it translates in the opposite direction."""
    folder = tmp_path_factory.mktemp("reverse") / "model"
    shutil.copytree(model_folders[1], folder)
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    config["source_language"], config["target_language"] = config["target_language"], config["source_language"]
    replace_file(folder, CONFIG, json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def engine(model_folder: Path, reverse_folder: Path) -> Engine:
    return load(model_folder, search=SEARCH, reverse=reverse_folder)


def expected(model_folder: Path, reverse_folder: Path, weight: float, completeness: float = 0.0) -> list[list[str]]:
    """The candidates of each line by the sum of both scores, those cut at the longest length last."""
    alpha = ALPHA + completeness
    plain, back = load(model_folder, search=SEARCH), load(reverse_folder)
    found = []
    for line in LINES:
        ranked = []
        for candidate in plain.translate(line, n_best=4).n_best:
            (score,) = back.score([(candidate.text, line)])
            total = candidate.log_prob / ((5 + len(candidate.token_log_probs)) / 6) ** alpha
            total += weight * sum(score.token_log_probs) / ((5 + len(score.token_log_probs)) / 6) ** alpha
            ranked.append((not candidate.finished, -total, candidate.text))
        found.append([text for _, _, text in sorted(ranked)])
    return found


@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_candidates_are_ranked_by_both_scores(
    engine: Engine, model_folder: Path, reverse_folder: Path, weight: float
) -> None:
    best = expected(model_folder, reverse_folder, weight)
    found = engine.translate(LINES, reverse_weight=weight)
    assert [each.text for each in found] == [texts[0] for texts in best]
    assert all(len(each.n_best) == 1 for each in found)
    several = engine.translate(LINES, reverse_weight=weight, n_best=3)
    assert [[candidate.text for candidate in each.n_best] for each in several] == [texts[:3] for texts in best]


@pytest.mark.parametrize("completeness", [0.5, 4.0])
def test_completeness_is_added_to_the_length_penalty_of_both_scores(
    engine: Engine, model_folder: Path, reverse_folder: Path, completeness: float
) -> None:
    best = expected(model_folder, reverse_folder, 0.0, completeness)
    plain = load(model_folder, search=SEARCH)
    for alone in (plain.with_search(completeness=completeness), engine.with_search(reverse_weight=0.0)):
        found = alone.translate(LINES, completeness=completeness)
        assert [each.text for each in found] == [texts[0] for texts in best]
        several = alone.translate(LINES, completeness=completeness, n_best=3)
        assert [[candidate.text for candidate in each.n_best] for each in several] == [texts[:3] for texts in best]
    both = engine.translate(LINES, completeness=completeness)
    assert [each.text for each in both] == [
        texts[0] for texts in expected(model_folder, reverse_folder, 0.5, completeness)
    ]


def test_a_large_weight_changes_a_translation(engine: Engine) -> None:
    assert engine.translate(LINES, reverse_weight=100.0) != engine.translate(LINES, reverse_weight=0.0)


@pytest.mark.parametrize(
    "search",
    [{"reverse_weight": 0.0}, {"beam_size": 1}, {"sampling": True, "seed": 3}],
    ids=["weight", "greedy", "sampled"],
)
def test_where_there_is_nothing_to_choose_from_it_changes_nothing(
    engine: Engine, model_folder: Path, search: SearchSettings
) -> None:
    assert engine.translate(LINES, **search) == load(model_folder, search=SEARCH).translate(LINES, **search)


def test_copies_and_other_processes_have_it_too(engine: Engine, reverse_folder: Path) -> None:
    found = engine.translate(LINES, reverse_weight=3.0)
    assert engine.with_search(reverse_weight=3.0).translate(LINES) == found
    assert pickle.loads(pickle.dumps(engine)).translate(LINES, reverse_weight=3.0) == found
    decoding = Decoding(model=str(engine.folder), search=SEARCH, reverse=str(reverse_folder))
    assert decoding.load("cpu").translate(LINES, reverse_weight=3.0) == found
    assert decoding.elsewhere().names == decoding.names == (str(engine.folder), str(reverse_folder))


@pytest.mark.parametrize("completeness", [0.0, 1.6])
def test_preferences_count_both(engine: Engine, reverse_folder: Path, completeness: float) -> None:
    engine = engine.with_search(completeness=completeness)
    pairs = pairs_for(engine, LINES, LINES)
    back = load(reverse_folder)
    preferred = 0
    for pair in pairs:
        totals = []
        for text in (pair.right, pair.wrong):
            total = 0.0
            for each, one in ((engine, (pair.source, text)), (back, (text, pair.source))):
                (score,) = each.score([one])
                weight = 1.0 if each is engine else 0.5
                penalty = ((5 + len(score.token_log_probs)) / 6) ** (ALPHA + completeness)
                total += weight * sum(score.token_log_probs) / penalty
            totals.append(total)
        preferred += totals[0] > totals[1]
    assert pairs
    assert sum(each.preferred for each in measure_contrast(engine, pairs).preferred.values()) == preferred


def test_another_direction_is_refused(model_folder: Path, reverse_folder: Path) -> None:
    with pytest.raises(ModelError, match=r"the reverse model of .* has to translate from"):
        load(model_folder, reverse=model_folder)
    with pytest.raises(ModelError, match="a reverse model is for translation"):
        load(model_folder, reverse="craft")
    with pytest.raises(RecipeError, match="reverse_weight = -1"):
        load(model_folder, reverse=reverse_folder, search={"reverse_weight": -1.0})
