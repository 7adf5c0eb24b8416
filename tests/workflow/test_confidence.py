"""Confidence in a model folder: learned, kept under checksums, read where it is of these very weights."""

import json
import shutil
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from attendo.checkpoint.checksums import CHECKSUMS, CONFIDENCE, verify_folder, write_checksums
from attendo.checkpoint.finding import shipped_models
from attendo.checkpoint.model_folder import load_model
from attendo.errors import DataError, ModelError
from attendo.workflow.confidence import TestSet, calibrate, check, load_confidence, read_calibration
from attendo.workflow.confidence_report import report
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load


@pytest.fixture(scope="module")
def engine(model_folder: Path) -> Engine:
    return load(model_folder, search={"beam_size": 1})


@pytest.fixture(scope="module")
def known(engine: Engine, corpus: Any) -> tuple[list[str], list[str], list[bool]]:
    """Sentences with references that the model meets, or does not, as was drawn for each: so the truth is known."""
    sources = [source for source, _ in corpus.pairs][:150]
    outputs = [translation.text for translation in engine.translate(sources)]
    close = [len(output.strip()) > 0 and place % 3 != 0 for place, output in enumerate(outputs)]
    return sources, [output if near else "♜" * 9 for output, near in zip(outputs, close, strict=True)], close


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "mine"))


@pytest.fixture(scope="module")
def calibrated(
    model_folder: Path,
    engine: Engine,
    known: tuple[list[str], list[str], list[bool]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = Path(shutil.copytree(model_folder, tmp_path_factory.mktemp("calibrated") / "mine"))
    calibrate(engine, folder, [TestSet("mine", known[0], known[1])])
    return folder


def test_a_folder_without_has_none(model_folder: Path) -> None:
    assert load_confidence(model_folder) is None


def test_it_is_kept_and_the_folder_stays_whole(
    engine: Engine, calibrated: Path, known: tuple[list[str], list[str], list[bool]]
) -> None:
    sources, _, close = known
    assert verify_folder(calibrated) == []
    load_model(calibrated)
    calibration = read_calibration(calibrated)
    assert calibration is not None
    [measured] = calibration.measured
    assert measured.name == "mine"
    assert measured.learned_from
    assert measured.confidence.sentences == len(sources)
    assert measured.confidence.share == pytest.approx(sum(close) / len(close))
    assert measured.people is None, "no sentence has two references"
    learned = load_confidence(calibrated)
    assert learned == calibration.learned
    [translation] = engine.translate(sources[:1])
    sure = learned(translation, translation.n_best[0])
    assert sure is not None
    assert 0 < sure < 1


def test_equal_sources_are_one_sentence_with_several_references(
    engine: Engine, folder: Path, known: tuple[list[str], list[str], list[bool]]
) -> None:
    sources, references, close = known
    doubled = TestSet("twice", [*sources, *sources], [*references, *(["♞" * 9] * len(sources))])
    twice = calibrate(engine, folder, [doubled])
    [measured] = twice.measured
    assert measured.confidence.sentences == len(sources)
    assert measured.confidence.share == pytest.approx(sum(close) / len(close)), "the nearest reference counts"
    assert measured.people_sentences == len(sources)
    assert measured.people == 0


def test_other_sets_are_measured_and_nothing_is_learned_of_them(
    engine: Engine, calibrated: Path, tmp_path: Path, known: tuple[list[str], list[str], list[bool]]
) -> None:
    folder = Path(shutil.copytree(calibrated, tmp_path / "mine"))
    before = read_calibration(folder)
    assert before is not None
    check(engine, folder, [TestSet("other", known[0][:20], known[1][:20])])
    after = check(engine, folder, [TestSet("other", known[0][:30], known[1][:30])])
    assert after.learned == before.learned
    assert [(each.name, each.learned_from, each.confidence.sentences) for each in after.measured] == [
        ("mine", True, 150),
        ("other", False, 30),
    ]
    assert read_calibration(folder) == after
    assert verify_folder(folder) == []
    with pytest.raises(DataError, match="--name 'mine' is a test set that was learned from"):
        check(engine, folder, [TestSet("mine", known[0], known[1])])
    told = report(after.measured[1], after.close)
    assert "other (not learned from;" in told
    assert "30 different sentences" in told


def test_several_sets_are_learned_from_at_once_and_measured_each_by_itself(
    engine: Engine, folder: Path, known: tuple[list[str], list[str], list[bool]]
) -> None:
    sources, references, close = known
    progress: list[int] = []
    sets = [TestSet("large", sources[:120], references[:120]), TestSet("small", sources[100:], references[100:])]
    found = calibrate(engine, folder, sets, progress=progress.append)
    assert [(each.name, each.learned_from, each.confidence.sentences) for each in found.measured] == [
        ("large", True, 120),
        ("small", True, 30),
    ]
    assert found.measured[1].confidence.share == pytest.approx(sum(close[120:]) / 30), "others are the first set's"
    assert progress == list(range(1, 151))
    assert found.learned.source_language == engine.source_language
    further = [TestSet("c", sources[:20], references[:20]), TestSet("d", sources[:30], references[:30])]
    after = check(engine, folder, further)
    assert [each.name for each in after.measured] == ["large", "small", "c", "d"]
    with pytest.raises(DataError, match="--name 'small' is a test set that was learned from"):
        check(engine, folder, [TestSet("small", sources, references)])


def test_what_was_learned_of_other_weights_is_not_read(
    calibrated: Path, model_folders: tuple[Path, ...], tmp_path: Path
) -> None:
    other = Path(shutil.copytree(model_folders[1], tmp_path / "other"))
    shutil.copy(calibrated / CONFIDENCE, other)
    write_checksums(other)
    assert read_calibration(other) is None


def test_what_was_written_halfway_is_not_read(calibrated: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(calibrated, tmp_path / "mine"))
    checksums = json.loads((folder / CHECKSUMS).read_text())
    del checksums[CONFIDENCE]
    (folder / CHECKSUMS).write_text(json.dumps(checksums))
    assert load_confidence(folder) is None
    assert verify_folder(folder) == [], "as a folder is between the steps of writing it"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "format_version is 2, this attendo reads 1; calibrate again"),
        ({"learned": {"bias": 1.0}}, "learned.log_ratio: Field required"),
        ({"close": "much"}, "close: Input should be a valid number"),
        ({"further": 1}, "further: Unexpected keyword argument"),
    ],
)
def test_a_file_that_is_none_of_ours(change: dict[str, object], message: str, calibrated: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(calibrated, tmp_path / "mine"))
    content = json.loads((folder / CONFIDENCE).read_text())
    (folder / CONFIDENCE).write_text(json.dumps(content | change))
    with pytest.raises(ModelError, match="it was changed or is torn"):
        load_confidence(folder)
    write_checksums(folder)
    with pytest.raises(ModelError, match=message):
        load_confidence(folder)


def test_what_cannot_be_learned_from_changes_nothing(
    engine: Engine, folder: Path, known: tuple[list[str], list[str], list[bool]]
) -> None:
    sources, references, _ = known
    for sets, close, message in [
        ([TestSet("few", sources[:50], references[:50])], 50, "50 different sentences are too few"),
        ([TestSet("a -- b", sources, references)], 50, "take the test set's name"),
        ([TestSet("far", sources, references)], 101.0, "chrF2 goes from 0 to 100"),
        (
            [TestSet("a", sources, references)] * 2,
            50,
            "--name 'a' is given twice; give each test set a name of its own",
        ),
        ([TestSet("a", sources, references), TestSet("b", sources, references)], 50, "b: no sentence that is not in a"),
    ]:
        with pytest.raises(DataError, match=message):
            calibrate(engine, folder, sets, close=close)
    with pytest.raises(ModelError, match="not calibrated yet, so there is nothing to check"):
        check(engine, folder, [TestSet("other", sources, references)])
    assert not (folder / CONFIDENCE).exists()
    assert verify_folder(folder) == []


@pytest.mark.parametrize(
    ("name", "least_ranking", "within_5_points"),
    [
        ("en-de", 0.69, ("Tatoeba valid", "User interfaces valid", "Software documentation valid")),
        ("de-en", 0.68, ("Tatoeba valid", "Software documentation valid")),
        ("en-fr", 0.68, ("Tatoeba valid", "User interfaces valid", "Software documentation valid")),
        ("fr-en", 0.66, ("User interfaces valid", "Software documentation valid")),
    ],
)
def test_the_shipped_translators_know_how_sure_they_are(
    shipped: dict[str, Path], name: str, least_ranking: float, within_5_points: tuple[str, ...]
) -> None:
    calibration = read_calibration(shipped[name])
    assert calibration is not None
    others = {each.name: each.confidence for each in calibration.measured if not each.learned_from}
    assert len(others) >= 4
    for measured in calibration.measured:
        assert measured.confidence.ranking is not None
        assert measured.confidence.ranking > least_ranking
        if name == "en-de" and not measured.learned_from:
            assert measured.confidence.error < measured.token_probability.error
    pairs = [(each.confidence.error, each.token_probability.error) for each in calibration.measured]
    assert fmean(error for error, _ in pairs) < 0.6 * fmean(error for _, error in pairs)
    tokens = [each.token_probability.error for each in calibration.measured if not each.learned_from]
    assert fmean(each.error for each in others.values()) < 0.6 * fmean(tokens)
    assert [title for title in within_5_points if others[title].error > 0.05] == []
    for title in ("Tatoeba valid", "User interfaces valid", "Software documentation valid"):
        assert others[title].error <= 0.1


@pytest.fixture
def shipped() -> dict[str, Path]:
    return shipped_models()
