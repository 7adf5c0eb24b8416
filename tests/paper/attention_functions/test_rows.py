"""The study of attention functions: its measures against what is known of them, its rows, its page."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from attendo.bench.flops import pair_flops
from attendo.errors import ModelError, RecipeError
from attendo.model.batch import collate
from attendo.model.config import AttentionFunction, ModelConfig
from attendo.model.transformer import Transformer
from attendo.paper.attention_functions.measures import (
    ADDITIVE,
    FUNCTIONS,
    NUM_KEYS,
    SCALED,
    UNSCALED,
    WHOLE,
    WIDTHS,
    Cost,
    HeadMeasures,
    MeasuredHeads,
    Setting,
    Spread,
    entropy_share,
    jacobian_norm,
    measure_cost,
    measure_heads,
    measure_products,
    measure_softmax,
    spread,
)
from attendo.paper.attention_functions.rows import KEY_SIZES, Row, Run, differences, recipes, row_of, rows, summarise
from attendo.paper.attention_functions.sections import FAILS, HOLDS, OPEN, claims
from attendo.paper.attention_functions.study import ATTENTION_FUNCTIONS, MeasuredFunctions
from attendo.paper.experiment import Scale, StudyRequest
from attendo.paper.report import Picture, Report, Table
from attendo.paper.rows_study import Findings, MeasuredRun

ORDER = StudyRequest(
    scale="small",
    folder=Path("attention-functions"),
    seeds=3,
    jobs=1,
    data=None,
    command="attendo reproduce attention-functions --scale small --seeds 3",
)


def test_the_footnotes_variance() -> None:
    found = measure_products("tiny")
    assert {one.d_k for one in found} == set(WIDTHS) == {2**power for power in range(11)}
    for one in found:
        # Intervals of 95%: some miss, none by much.
        assert one.mean.half_width is not None
        assert abs(one.mean.mean) <= 3 * one.mean.half_width
        assert one.variance.half_width is not None
        assert abs(one.variance.mean - one.d_k) <= max(3 * one.variance.half_width, 1e-9)
        assert one.variance.half_width < 0.2 * one.d_k
    # Products of signs with d_k 1 are signs, and their squares 1 without any chance.
    [certain] = [one for one in found if one.distribution == "signs" and one.d_k == 1]
    assert (certain.variance.mean, certain.variance.half_width) == (1.0, 0.0)


def test_the_scale_keeps_the_softmax_where_it_is() -> None:
    found = measure_softmax("tiny")
    first, last = found[0], found[-1]
    assert first.scaled == first.unscaled, "with d_k 1 the scale is 1"
    assert last.unscaled.largest.mean > 0.85 > 0.2 > last.scaled.largest.mean
    assert last.unscaled.entropy.mean < 0.1 < 0.8 < last.scaled.entropy.mean < 1
    assert last.unscaled.jacobian_median.mean < 0.1 * last.scaled.jacobian_median.mean
    unscaled = [one.unscaled.entropy.mean for one in found]
    assert unscaled == sorted(unscaled, reverse=True)


def test_the_norm_of_a_softmaxs_derivative_is_autograds() -> None:
    logits = torch.randn(7, 5, dtype=torch.float64) * 3
    for row in logits:
        jacobian: Any = torch.autograd.functional.jacobian(lambda x: x.softmax(0), row)  # type: ignore[no-untyped-call]
        assert float(jacobian_norm(row.softmax(0))) == pytest.approx(float(jacobian.norm()), abs=1e-12)
    assert float(jacobian_norm(torch.tensor([1.0, 0.0, 0.0]))) == 0.0
    # Of n equal weights the derivative is I/n - 1/n^2, whose norm is sqrt(n - 1) / n.
    assert float(jacobian_norm(torch.full((4,), 0.25))) == pytest.approx(math.sqrt(3) / 4)


def test_the_derivative_by_the_query_is_autograds() -> None:
    from attendo.paper.attention_functions.measures import _replicate

    query, keys = torch.randn(3, 4), torch.randn(6, 4)
    norms = []
    for row in query.double():
        jacobian: Any = torch.autograd.functional.jacobian(  # type: ignore[no-untyped-call]
            lambda x: (keys.double() @ x * 0.5).softmax(0), row
        )
        norms.append(float(jacobian.norm()))
    assert _replicate(query, keys, 0.5)[4] == pytest.approx(sum(norms) / 3, rel=1e-5)


def test_entropy_as_a_share() -> None:
    assert float(entropy_share(torch.full((NUM_KEYS,), 1 / NUM_KEYS))) == pytest.approx(1.0)
    assert float(entropy_share(torch.tensor([0.0, 1.0]))) == 0.0
    half = torch.tensor([0.5, 0.5, 0.0, 0.0])
    assert float(entropy_share(half)) == pytest.approx(0.5)


@torch.no_grad()
@pytest.mark.parametrize("function", FUNCTIONS)
def test_heads_are_measured_by_their_logits(function: AttentionFunction) -> None:
    torch.manual_seed(1)
    config = ModelConfig(d_model=8, d_ff=8, num_layers=1, num_heads=2, d_k=3, attention_function=function)
    model = Transformer(config, 20, 20)
    pairs = [([5, 6, 7, 0], [8, 9, 0]), ([4, 0], [0])]
    found = measure_heads(model, pairs)
    expected: list[tuple[float, float]] = []
    for source, target in pairs:
        batch = collate([source], [target])
        layer: Any = model.encoder_layers[0]
        query, seen = layer.self_attention.project(model.source_embedding(batch.src_ids))
        if function == ADDITIVE:
            logits = (
                (query[:, :, :, None] + seen.keys[:, :, None]).tanh()
                * layer.self_attention.additive.weight[:, None, None]
            ).sum(-1)
        else:
            logits = query @ seen.keys.transpose(2, 3) * (3**-0.5 if function == SCALED else 1.0)
        weights = model.attention(batch)
        assert torch.allclose(logits.softmax(-1), weights.encoder[0])
        expected += [(float(row.var()), float(row.softmax(-1).max())) for row in logits.flatten(0, 2)]
        for found_weights in (
            weights.encoder_decoder,
            *(weights.decoder[..., n - 1 : n, :n] for n in range(2, len(target) + 1)),
        ):
            expected += [(float(row.log().var()), float(row.max())) for row in found_weights.flatten(0, 3)]
    assert found.variance == pytest.approx(sum(variance for variance, _ in expected) / len(expected))
    assert found.largest == pytest.approx(sum(largest for _, largest in expected) / len(expected))
    with pytest.raises(ModelError, match="two tokens or more"):
        measure_heads(model, [])


def test_costs_are_ratios_to_the_scaled_function() -> None:
    found = measure_cost("tiny", Setting(n=32, d_k=16), torch.device("cpu"))
    assert found.ratios.keys() == {UNSCALED, ADDITIVE}
    assert all(0 < each.low <= each.median <= each.high for each in found.ratios.values())
    # The hidden layer is 2 x 4 x 32 x 32 x 16 numbers of 4 bytes, and its gradient is as large.
    hidden = 2 * 4 * 32 * 32 * 16 * 4
    assert found.bytes[WHOLE] >= 2 * hidden
    assert found.bytes[SCALED] < hidden / 2
    assert found.bytes[SCALED] <= found.bytes[ADDITIVE] < found.bytes[WHOLE]


def test_a_spread_by_hand() -> None:
    assert spread([1.0, 2.0, 3.0, 4.0, 5.0]) == Spread(low=2.0, median=3.0, high=4.0)


def test_products_of_additive_attention_are_counted() -> None:
    config = ModelConfig(d_model=64, d_ff=64, num_heads=2, num_layers=1)
    scaled = pair_flops(config, (100, 100), (10, 10))
    additive = pair_flops(replace(config, attention_function=ADDITIVE), (100, 100), (10, 10))
    # Forward both have 2 n^2 d_k h; back, products of scores have two such and additive attention one, for v: of three
    # attentions, n = 10, d_k = 32, h = 2.
    assert scaled - additive == 3 * 2 * 10**2 * 32 * 2


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_rows_differ_in_function_and_width_alone(scale: Scale, tmp_path: Path) -> None:
    found = recipes(replace(ORDER, scale=scale, folder=tmp_path))
    assert list(found) == list(rows(scale))
    assert len(found) == 3 * len(KEY_SIZES[scale])
    plain = []
    for row, recipe in found.items():
        assert (recipe.model.attention_function, recipe.model.key_size) == (row.function, row.d_k)
        assert recipe.name == f"attention-functions-{scale}-{row.name}"
        plain.append(replace(recipe, name="", model=replace(recipe.model, d_k=1, attention_function=SCALED)))
    assert all(each == plain[0] for each in plain)
    assert plain[0].training.average_last == 1 or scale == "paper"


def test_the_tiny_scale_has_its_own_text(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="--data: the scale tiny has a phrasebook of its own"):
        recipes(replace(ORDER, scale="tiny", folder=tmp_path, data=tmp_path))


@pytest.fixture
def runs(make_result: Any) -> list[Run]:
    """Three seeds of six rows: alike with d_k 4; with 64 unscaled is 2 behind scaled and 1 behind additive."""
    behind = {(UNSCALED, 64): 2.0, (ADDITIVE, 64): 1.0}
    shifts = {(UNSCALED, 4): (0.3, -0.3, 0.0), (ADDITIVE, 4): (-0.2, 0.2, 0.1)}
    found = []
    for seed in (1, 2, 3):
        for d_k in (4, 64):
            for function in FUNCTIONS:
                row = Row(function=function, d_k=d_k)
                shift = shifts.get((function, d_k), (0.0, 0.01, -0.01))[seed - 1]
                result = make_result(row.name, seed, 40 + seed + behind.get((function, d_k), 0.0) + shift, 5.0)
                heads = HeadMeasures(variance=float(d_k), entropy=0.5, largest=0.5, jacobian=0.1)
                found.append(MeasuredRun(result=result, measured=MeasuredHeads(new=heads, trained=heads)))
    return found


COSTS = (
    Cost(
        setting=Setting(n=64, d_k=4),
        scaled_s=0.001,
        ratios={UNSCALED: Spread(low=0.9, median=1.0, high=1.1), ADDITIVE: Spread(low=3.0, median=4.0, high=5.0)},
        bytes={SCALED: 1000, UNSCALED: 1000, ADDITIVE: 1500, WHOLE: 9000},
    ),
    Cost(
        setting=Setting(n=64, d_k=64),
        scaled_s=0.002,
        ratios={UNSCALED: Spread(low=0.9, median=1.0, high=1.1), ADDITIVE: Spread(low=20.0, median=25.0, high=30.0)},
        bytes={SCALED: 1000, UNSCALED: 1000, ADDITIVE: 2000, WHOLE: 99000},
    ),
)


def test_differences_are_paired_by_seed(runs: list[Run]) -> None:
    found = {(one.d_k, one.function, one.other): one for one in differences(runs[:-1])}
    assert len(found) == 6
    assert found[64, UNSCALED, SCALED].perplexity.mean == pytest.approx(2.0)
    assert found[64, UNSCALED, SCALED].perplexity.count == 3
    assert found[64, ADDITIVE, SCALED].perplexity.count == 2, "the third seed has no additive run yet"
    assert found[4, UNSCALED, ADDITIVE].perplexity.mean == pytest.approx((0.5 - 0.5 - 0.1) / 3)
    summaries = summarise(runs)
    assert [(one.row.d_k, one.row.function) for one in summaries] == [(d, f) for d in (4, 64) for f in FUNCTIONS]
    assert summaries[0].perplexity.mean == pytest.approx(42.0)


def test_verdicts_on_the_papers_sentences(runs: list[Run]) -> None:
    told = claims(differences(runs), COSTS, (4, 64))
    assert [claim.verdict for claim in told] == [OPEN, HOLDS, HOLDS, HOLDS, HOLDS]
    assert told[1].found.startswith("unscaled less additive: perplexity +1.00 (+1.00 to ")
    assert "4.0 to 25.0 times" in told[3].found
    assert "needs 9.0 to 99.0 times" in told[4].found

    def swapped(run: Run) -> Run:
        row = row_of(run.result.row)
        other = {UNSCALED: SCALED, SCALED: UNSCALED}.get(row.function, row.function)
        return replace(run, result=replace(run.result, row=Row(function=other, d_k=row.d_k).name))

    told = claims(differences([swapped(run) for run in runs]), (), (4, 64))
    assert [claim.verdict for claim in told] == [OPEN, FAILS, FAILS]
    assert claims((), (), (4, 64)) == ()
    one_seed = claims(differences([run for run in runs if run.result.seed == 1]), (), (4, 64))
    assert {claim.verdict for claim in one_seed} == {OPEN}


@pytest.fixture(scope="module")
def functions() -> MeasuredFunctions:
    return MeasuredFunctions(
        scale="small",
        products=measure_products("tiny"),
        softmax=measure_softmax("tiny"),
        costs=COSTS,
        machine="a processor",
    )


def report_of(functions: MeasuredFunctions, runs: list[Run], failures: tuple[str, ...] = ()) -> Report:
    """The page of some of 27 runs."""
    found = ATTENTION_FUNCTIONS.report(
        Findings(
            request=ORDER,
            recipes={row.name: recipe for row, recipe in recipes(ORDER).items()},
            begun=functions,
            runs=tuple(runs),
            num_runs=27,
            failures=failures,
        )
    )
    assert found is not None
    return found


def test_the_page(functions: MeasuredFunctions, runs: list[Run]) -> None:
    report = report_of(functions, runs)
    text = report.to_text()
    assert "This study is in progress: 18 of 27 runs are done." in text
    tables = {
        block.caption: block for section in report.sections for block in section.blocks if isinstance(block, Table)
    }
    [quality] = [table for caption, table in tables.items() if caption.startswith("Mean over seeds")]
    assert quality.rows[4][:2] == ("unscaled", "64")
    assert quality.rows[4][4] == "44.00 ± 2.47"  # 43.00, 44.01, 44.99: 4.303 times 0.995 / sqrt(3)
    [paired] = [table for caption, table in tables.items() if caption.startswith("Differences")]
    assert ("unscaled - scaled", "64", "+2.00 (+2.00 to +2.00)", "+0.00 (+0.00 to +0.00)") in paired.rows
    pictures = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
    assert [picture.name for picture in pictures] == ["variance.png", "quality.png", "cost.png"]
    for picture in pictures:
        assert min(Image.open(io.BytesIO(picture.png)).size) > 300
        assert picture.alt
    data = json.loads(json.dumps(report.data))
    assert (data["runs_done"], len(data["products"]), len(data["rows"]), len(data["costs"])) == (18, 22, 6, 2)
    assert data["claims"][1]["verdict"] == HOLDS
    assert report.to_html().count("<img") == 3


def test_the_page_before_any_run_is_done(functions: MeasuredFunctions) -> None:
    report = report_of(functions, [], failures=("a-run: it broke",))
    assert "Trained, by d_k" not in [section.title for section in report.sections]
    assert "Failed: a-run: it broke" in report.to_text()
    assert "additive takes 4.0 to 25.0 times" in report.to_text()
