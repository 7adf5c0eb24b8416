"""The grids, the test set's files, real searches on a model of random weights, and what is kept of them."""

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sacrebleu import corpus_bleu

from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.errors import DataError, ModelError
from attendo.paper.experiment import StudyRequest
from attendo.paper.search_settings.decoding import (
    DecodedSet,
    Models,
    decode,
    decode_once,
    differing,
    reference_log_probs,
    without_outputs,
)
from attendo.paper.search_settings.rows import (
    GREEDY,
    GRIDS,
    PAPER,
    SETS,
    Sentences,
    SetName,
    Setting,
    by_set,
    read_test_set,
    recipe,
)
from attendo.paper.search_settings.study import Decoding
from attendo.recipe import load_recipe
from attendo.workflow.engines.translate import load


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_a_grid_has_everything_once(scale: Any) -> None:
    grid = GRIDS[scale]
    assert (PAPER.beam, PAPER.alpha, PAPER.offset, PAPER.average) == (4, 0.6, 50, 5)  # Section 6.1
    assert max(Counter(by_set(grid)).values()) == 1
    dev, test = grid.settings("dev"), grid.settings("test")
    assert dev[0] == test[0] == PAPER
    assert set(test) < set(dev)
    assert {each.offset for each in test} == {50}, "what is reported on is not searched for limits"
    for average in (1, 5):
        assert set(grid.map(average)) <= set(test)
        cells = [(each.beam, each.alpha) for each in grid.map(average)]
        assert len(cells) == 1 + (len(grid.beams) - 1) * len(grid.alphas)  # greedy search has one alpha
    for average in grid.averages:
        assert {replace(PAPER, average=average), replace(GREEDY, average=average)} <= set(test)
    assert len({each.name for each in dev}) == len(dev), "each has a file of its own"


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_a_recipe_keeps_what_is_averaged(scale: Any) -> None:
    found = recipe(scale, Path("/nowhere"))
    assert found.training.average_last == max(GRIDS[scale].averages)
    assert found.training.cooldown_steps == 0, "the paper's learning rate has no cool-down"
    assert found.data is not None
    assert Path(found.data.folder) == Path("/nowhere")
    steps, every = found.training.max_steps, found.training.checkpoint_steps
    assert every is None or steps / every >= 2 * max(GRIDS[scale].averages)


def test_at_full_size_it_is_the_base_model() -> None:
    base, found = load_recipe("base"), recipe("paper", None)
    assert found.training == replace(base.training, average_last=20)
    assert (found.model, found.search, found.data) == (base.model, base.search, base.data)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "test_2016_flickr.en", tmp_path / "test_2016_flickr.de"


def test_the_test_set_lies_beside_the_corpora(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    for path, text in zip(sides, ("One.\nTwo.\n", "Eins.\nZwei.\n"), strict=True):
        path.write_text(text, encoding="utf-8")
    found = read_test_set(recipe("small", tmp_path), "small")
    assert found == Sentences(name="test_2016_flickr", sources=("One.", "Two."), references=("Eins.", "Zwei."))


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        ((b"One.\n", None), r"test_2016_flickr\.de: not found.*--data"),
        ((None, None), r"flickr\.en and .*flickr\.de: not found"),
        ((b"One.\nTwo.\n", b"Eins.\n"), "flickr"),
        ((b"", b""), r"flickr\.de: has no line"),
        ((b"One.\n", b" \n"), r"flickr\.de: has no line"),
        ((b"One.\n", b"\xff\n"), "UTF-8"),
    ],
)
def test_a_bad_test_set_is_told(
    tmp_path: Path, sides: tuple[Path, Path], contents: tuple[bytes | None, bytes | None], told: str
) -> None:
    for path, content in zip(sides, contents, strict=True):
        if content is not None:
            path.write_bytes(content)
    with pytest.raises(DataError, match=told):
        read_test_set(recipe("small", tmp_path), "small")


SENTENCES = Sentences(
    name="birds",
    sources=("one red dogs see us.", "some old kings hear them.", "two small men.", "birds"),
    references=("su ees sgod der eno.", "meht raeh sgnik dlo emos.", "nem llams owt.", "sdrib"),
)


@pytest.fixture
def model(model_folder: Path) -> LoadedModel:
    """Of random weights, a little surer of what it says."""
    loaded = load_model(model_folder)
    with torch.no_grad():
        loaded.transformer.output_weight.mul_(3)
    return loaded


def never() -> bool:
    return False


def found_by(model: LoadedModel, setting: Setting) -> DecodedSet:
    found = decode(model, setting, SENTENCES, never)
    assert found is not None
    return found


def test_the_figures_are_sacrebleus_and_the_models(model: LoadedModel, model_folder: Path) -> None:
    setting = Setting(average=5, beam=3, alpha=0.4, offset=7)
    found = found_by(model, setting)
    theirs = corpus_bleu(found.outputs, [SENTENCES.references])
    assert found.bleu == pytest.approx(theirs.score)
    assert found.length_ratio == pytest.approx(theirs.sys_len / theirs.ref_len)
    assert (found.setting, len(found.outputs), len(found.log_probs)) == (setting, 4, 4)
    assert found.log_prob == pytest.approx(sum(found.log_probs) / 4)
    assert found.seconds > 0
    assert found.processor_ms == pytest.approx(1000 * found.processor_s / 4)
    assert "outputs" not in without_outputs(found)
    # The references' log-probabilities are those of `attendo score`.
    unchanged = load(model_folder)
    scores = [score.log_prob for score in unchanged.score(zip(SENTENCES.sources, SENTENCES.references, strict=True))]
    kept = reference_log_probs(model_folder.parent / "scores.json", lambda: load_model(model_folder), SENTENCES)
    assert kept == pytest.approx(scores)


def test_what_the_page_says_of_the_search(model: LoadedModel) -> None:
    greedy = [found_by(model, Setting(average=5, beam=1, alpha=alpha)).outputs for alpha in (0.0, 0.6, 1.2)]
    assert greedy[0] == greedy[1] == greedy[2], "alpha plays no part in greedy search"
    best = found_by(model, PAPER)
    later = found_by(model, replace(PAPER, all_of_the_beam=True))
    assert differing(best.outputs, later.outputs) == 0, "to stop early changes nothing"
    shorter = found_by(model, replace(PAPER, offset=0))
    assert shorter.tokens <= best.tokens
    assert shorter.unfinished >= best.unfinished
    # More alpha, longer translations; the most probable one is found with none.
    alphas = [found_by(model, replace(PAPER, beam=8, alpha=alpha)) for alpha in (0.0, 1.0)]
    assert alphas[0].tokens <= alphas[1].tokens
    assert alphas[0].log_prob >= alphas[1].log_prob


def test_a_setting_is_decoded_once(model: LoadedModel, tmp_path: Path) -> None:
    path = tmp_path / "decoded" / "it.json"
    loads: Iterator[LoadedModel] = iter([model])
    found = decode_once(path, lambda: next(loads), PAPER, SENTENCES, never)
    assert found is not None
    assert decode_once(path, lambda: next(loads), PAPER, SENTENCES, never) == found
    with pytest.raises(ModelError, match="another study"):
        decode_once(path, lambda: next(loads), GREEDY, SENTENCES, never)
    fewer = replace(SENTENCES, sources=SENTENCES.sources[:2], references=SENTENCES.references[:2])
    with pytest.raises(ModelError, match="another study"):
        decode_once(path, lambda: next(loads), PAPER, fewer, never)
    path.write_text("{}", encoding="utf-8")  # of another version
    again = decode_once(path, lambda: model, PAPER, SENTENCES, never)
    assert again is not None
    assert again.outputs == found.outputs


def test_what_is_to_stop_leaves_nothing(model: LoadedModel, tmp_path: Path) -> None:
    many = Sentences(name="many", sources=("birds",) * 513, references=("sdrib",) * 513)
    short = Setting(average=1, beam=1, alpha=0.0, offset=0)
    assert decode_once(tmp_path / "it.json", lambda: model, short, many, lambda: True) is None
    assert not (tmp_path / "it.json").exists()


def test_an_average_is_made_once_and_read_when_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def average(run: Path, last: int, folder: Path) -> None:
        made.append((run, last))
        folder.mkdir()
        (folder / "config.json").touch()

    monkeypatch.setattr("attendo.paper.search_settings.decoding.average", average)
    monkeypatch.setattr("attendo.paper.search_settings.decoding.load_model", lambda folder: folder.name)
    models = Models(tmp_path / "run", tmp_path / "models", 3)
    assert [str(models.load(last)) for last in (5, 5, 1, 5)] == [
        "seed-3-average-5",
        "seed-3-average-5",
        "seed-3-average-1",
        "seed-3-average-5",
    ]
    assert made == [(tmp_path / "run", 5), (tmp_path / "run", 1)]


class Notes:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)

    def preparing(self, progress: object) -> None:
        raise AssertionError

    def running(self, done: int, total: int, note: str) -> None:
        assert 0 < done <= total
        self.lines.append(note)


def test_decoding_that_is_stopped_goes_on(model_folder: Path, tmp_path: Path, make_result: Any) -> None:
    for average in GRIDS["tiny"].averages:  # as they would have been averaged
        shutil.copytree(model_folder, tmp_path / "models" / f"seed-1-average-{average}")
    request = StudyRequest(scale="tiny", folder=tmp_path, seeds=1, jobs=1, data=None, command="")
    sets: dict[SetName, Sentences] = {"dev": SENTENCES, "test": SENTENCES}
    left = iter([False] * 7)
    run = make_result("model", 1, 9.0, 20.0)
    decoding = Decoding(request, sets, Notes(), lambda: next(left, True))
    first = decoding.decode_all(run, tmp_path / "run")
    assert not decoding.is_whole(first)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("decoded/*/*/*.json")}
    assert len(times) == 7

    notes = Notes()
    decoding = Decoding(request, sets, notes, never)
    second = decoding.decode_all(run, tmp_path / "run")
    assert decoding.is_whole(second)
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert all(second.sets[which][setting] == each for which in SETS for setting, each in first.sets[which].items())
    assert len(second.reference_log_probs) == len(SENTENCES.sources)
    assert sum(line.startswith("decoding, seed 1") for line in notes.lines) == 30
    assert "on the test set" in notes.lines[-1]
    changed: dict[SetName, Sentences] = {**sets, "test": replace(SENTENCES, references=SENTENCES.sources)}
    with pytest.raises(ModelError, match=r"decoded.test\.json: .* other sentences"):
        Decoding(request, changed, notes, never)
