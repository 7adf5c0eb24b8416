"""Table 4's study: the printed rows, the plan by what is there, means and differences by hand, and the page."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.paper.experiment import StudyRequest
from attendo.paper.report import write_report
from attendo.paper.table4.evaluation import PRINTED, LabelFigures, TestResult, cells, changes
from attendo.paper.table4.report import Findings, table4_report
from attendo.paper.table4.rows import BANKS, ROWS, invented_trees, make_plan, recipes_of, self_trained, write_invented
from attendo.parsing.treebank import read_treebank

RESULT = TestResult(
    system="craft-seed-1",
    row="craft",
    seed=1,
    test="craft",
    parameters="collins",
    weights=("0" * 64,),
    given="words",
    order="in-order",
    beam_size=4,
    length_penalty=0.0,
    sentences=2780,
    f1=80.0,
    recall=79.0,
    precision=81.0,
    evalb=81.5,
    evalb_short=83.0,
    failed=7,
    complete=20.0,
    tagging=96.0,
    malformed=0.125,
    f1_unconstrained=78.0,
    f1_constrained=80.5,
    num_unconstrained=500,
    sentences_per_s=12.0,
    kernel="native",
    labels=(LabelFigures(label="NP", gold=100, recall=85.0, precision=86.0, f1=85.5),),
)


def result(row: str, seed: int | None, test: str, f1: float, *, models: int = 1) -> TestResult:
    return replace(
        RESULT, system=f"{row}-{seed}", row=row, seed=seed, test=test, f1=f1, weights=tuple(map(str, range(models)))
    )


TESTED = (
    result("craft", 1, "craft", 80.0),
    result("craft", 2, "craft", 81.0),
    result("craft", 3, "craft", 82.0),
    result("craft", None, "craft", 84.0, models=3),
    result("craft", 1, "wsj-sample", 55.0),
    result("craft-gold-tags", 1, "craft", 85.0),
    result("craft-gold-tags", 2, "craft", 85.0),
    result("craft-gold-tags", 3, "craft", 88.0),
    result("craft-top-down", 1, "craft", 79.0),
)


def request_of(folder: Path, scale: str = "small", **more: object) -> StudyRequest:
    settings = {"scale": scale, "seeds": 3, "jobs": 1, "data": folder, "command": "attendo reproduce table4"} | more
    return StudyRequest(folder=folder / "study", **settings)  # type: ignore[arg-type]


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    """Folders as the treebanks of the scale small have them, QuestionBank missing."""
    for name in ("craft/train.ptb", "craft/dev.ptb", "wsj_sample/train.mrg", "wsj_sample/dev.mrg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("(S (NP (NN a)) (VP (VB b)))\n")
    return tmp_path


def test_the_printed_table() -> None:
    # Table 4 of the paper, its two own rows and the ends of the others.
    assert len(PRINTED) == 12
    assert [(row.training.split(",")[0], row.f1) for row in PRINTED if row.is_transformer] == [
        ("WSJ only", 91.3),
        ("semi-supervised", 92.7),
    ]
    assert (PRINTED[0].f1, PRINTED[3].f1, PRINTED[-1].f1, PRINTED[-2].f1) == (88.3, 91.7, 93.3, 93.0)


def test_rows_are_those_whose_treebanks_are_there(treebanks: Path) -> None:
    plan = make_plan(request_of(treebanks))
    assert [row.name for row in plan.rows] == [
        "craft", "craft-gold-tags", "craft-top-down", "craft-bottom-up", "wsj-sample", "wsj-sample-gold-tags"
    ]  # fmt: skip
    assert [bank.name for bank in plan.banks] == ["craft", "wsj-sample"]
    told = "\n".join(plan.missing)
    assert f"{treebanks / 'questionbank'} is not there" in told
    assert "the row all is left out for lack of questionbank" in told
    assert "the row wsj-sample-self-trained is left out for lack of news_pool_en-de/train.en" in told
    for row in plan.rows:
        recipe = plan.recipes[row.name]
        assert recipe.data is not None
        folder = treebanks / ("craft" if row.name.startswith("craft") else "wsj_sample")
        assert (Path(recipe.data.folder), recipe.name) == (folder, f"table4-small-{row.name}")
        assert recipe.training.max_minutes is None, "updates end a run, however many share the processor"
        assert all(path.is_file() for corpus in recipe.data.corpora for path in corpus.paths(folder))
    assert plan.recipes["craft-gold-tags"].parsing != plan.recipes["craft"].parsing
    parsing = plan.recipes["craft-bottom-up"].parsing
    assert parsing is not None
    assert parsing.order == "bottom-up"


def test_what_a_row_has_learned_from_is_no_test(treebanks: Path) -> None:
    (treebanks / "questionbank").mkdir()
    (treebanks / "questionbank" / "train.ptb").write_text("(SQ (VB b))\n")
    plan = make_plan(request_of(treebanks))
    by_name = {row.name: row for row in plan.rows}
    assert [bank.name for bank in plan.tests_of(by_name["craft"])] == ["craft", "wsj-sample", "questionbank"]
    assert [bank.name for bank in plan.tests_of(by_name["all"])] == ["craft", "wsj-sample"]
    assert len(plan.tests_of(None)) == 3


def test_a_folder_without_treebanks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has none of the treebanks craft, wsj_sample, questionbank; --data"):
        make_plan(request_of(tmp_path))
    with pytest.raises(DataError, match="of its own"):
        make_plan(request_of(tmp_path, "tiny"))


def test_every_row_has_a_recipe_and_what_it_is_held_against(tmp_path: Path) -> None:
    for scale, rows in ROWS.items():
        names = [row.name for row in rows]
        recipes = recipes_of(request_of(tmp_path, scale, data=None if scale == "tiny" else tmp_path))
        assert list(recipes) == names
        for row in rows:
            assert row.against is None or row.against in names
            assert (row.against is None) == (not row.what)
            assert set(row.treebanks) <= {bank.name for bank in BANKS[scale]}
    [row] = [row for row in ROWS["small"] if row.raw is not None]
    recipe = self_trained(recipes_of(request_of(tmp_path))[row.name], tmp_path / "automatic.trees")
    assert recipe.data is not None
    assert [(corpus.name, corpus.share) for corpus in recipe.data.corpora] == [("wsj-sample", None), ("automatic", 0.5)]


def test_means_and_intervals_by_hand() -> None:
    found = {(cell.name, cell.test): cell.f1 for cell in cells(TESTED)}
    assert list(found) == [
        ("craft", "craft"),
        ("craft, ensemble", "craft"),
        ("craft", "wsj-sample"),
        ("craft-gold-tags", "craft"),
        ("craft-top-down", "craft"),
    ]
    craft = found["craft", "craft"]
    # 80, 81, 82: their mean, and Student's t of two degrees of freedom, 4.303, by 1 / sqrt(3).
    assert (craft.mean, craft.count) == (81.0, 3)
    assert craft.half_width == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert found["craft, ensemble", "craft"].half_width is None


def test_differences_are_paired_by_seed() -> None:
    found = changes(ROWS["small"], TESTED)
    assert [(one.row.name, one.test) for one in found] == [("craft-gold-tags", "craft"), ("craft-top-down", "craft")]
    tags, top_down = found
    # 5, 4 and 6; and -1 of a single seed.
    assert tags.difference.mean == 5.0
    assert tags.difference.half_width == pytest.approx(4.3027 / 3**0.5, rel=1e-4)
    assert tags.verdict == "helps"
    assert (top_down.difference.mean, top_down.verdict) == (-1.0, "one seed: significance unknown")


def test_the_page_has_ours_beside_the_papers(treebanks: Path) -> None:
    request = request_of(treebanks)
    report = table4_report(
        request, Findings(plan=make_plan(request), trained=None, tested=TESTED, failures=("x: lost",))
    )
    write_report(request.folder, report)
    text = " ".join(report.to_text().split())
    for wanted in (
        "craft words alone in-order craft 2,780 81.00 ± 2.48",
        "Transformer (4 layers) WSJ only, discriminative 91.3",
        "Failed: x: lost",
        "questionbank is not there",
        "craft craft 500 12.50% 78.00 80.50",
        "craft-gold-tags reads the treebank's tags craft craft helps",
    ):
        assert wanted in text, wanted
    found = json.loads((request.folder / "result.json").read_text())
    assert found["rows"][0]["f1"]["mean"] == 81.0
    assert found["changes"][0]["difference"]["mean"] == 5.0
    assert len(found["paper"]) == 12
    assert (request.folder / "f1.png").read_bytes().startswith(b"\x89PNG")
    assert "f1.png" in (request.folder / "index.md").read_text()


def test_an_invented_treebank(tmp_path: Path) -> None:
    write_invented(tmp_path, train=50, valid=10, test=10, raw=20)
    parts = {name: read_treebank([tmp_path / f"{name}.trees"]) for name in ("train", "valid", "test")}
    assert [len(part.trees) for part in parts.values()] == [50, 10, 10]
    assert not any(part.problems for part in parts.values())
    sentences = [" ".join(tree.words) for part in parts.values() for tree in part.trees]
    raw = (tmp_path / "raw.txt").read_text().splitlines()
    assert len({*sentences, *raw}) == 90, "none twice"
    for part in parts.values():
        for tree in part.trees:
            assert tree.label == "S"
            assert tree.tags[-1] == "."
            for node in tree.constituents():
                assert len(node.children) > 1 or node.children[0].is_word, "no chain that the grammar would not write"
    before = (tmp_path / "train.trees").read_text()
    write_invented(tmp_path, train=5, valid=5, test=5, raw=5)
    assert (tmp_path / "train.trees").read_text() == before, "what is there stays"
    assert invented_trees(5, seed=3) == invented_trees(5, seed=3) != invented_trees(5, seed=4)
