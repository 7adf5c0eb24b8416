import json
import math
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

import attendo
from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.decoding.backends.models import decoding_model
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.lines.translator import Translator
from attendo.errors import AttendoError, DataError, ModelError, RecipeError
from attendo.workflow.engines.attention import MAX_DRAWN_TOKENS
from attendo.workflow.engines.translate import load, own_dtype

LINES = ["one red dogs see us.", "", "some old kings hear them.", "two small birds see here."]


def test_the_library_says_what_the_engine_below_says(model_folder: Path) -> None:
    engine = attendo.load(model_folder)
    loaded = load_model(model_folder)
    # The settings are the fixture's own, out of its config.json, and otherwise the defaults.
    search = SearchConfig(beam_size=3, max_len_offset=5)
    assert engine.search == search
    below = Translator(
        [decoding_model(loaded.transformer)],
        loaded.source_tokenizer,
        loaded.target_tokenizer,
        search,
        languages=(engine.source_language, engine.target_language),
    )
    expected = below.translate(LINES)
    found = engine.translate(LINES)
    assert [translation.text for translation in found] == [translation.text for translation in expected]
    assert [t.log_prob for t in found] == pytest.approx([t.log_prob for t in expected], rel=1e-4)
    assert isinstance(found[0], attendo.Translation)
    assert (engine.counts.lines, engine.counts.empty) == (4, 1)


def test_a_stream_gives_what_a_batch_gives(model_folder: Path) -> None:
    engine = load(model_folder, search={"window_lines": 2})
    assert [t.text for t in engine.stream(iter(LINES))] == [t.text for t in engine.translate(LINES)]


def test_search_settings_come_from_three_places(model_folder: Path) -> None:
    engine = load(model_folder, search={"n_best": 2}, overrides=["search.length_penalty=1"])
    assert engine.search == SearchConfig(beam_size=3, max_len_offset=5, n_best=2, length_penalty=1.0)
    assert len(engine.translate(LINES[:1])[0].n_best) == 2
    with pytest.raises(RecipeError, match=r"n_best = 9 is more than beam_size = 3 can hold"):
        load(model_folder, search={"n_best": 9})
    with pytest.raises(RecipeError, match=r"settings of search: search.beam = 2: there is no such key"):
        load(model_folder, search={"beam": 2})


def test_guards_are_settings_of_the_search(model_folder: Path, tmp_path: Path) -> None:
    assert load(model_folder).search.guards == GuardConfig()
    off = load(model_folder, search={"guards": asdict(GuardConfig.off())}, overrides=["search.guards.casing=true"])
    assert off.search.guards == replace(GuardConfig.off(), casing=True)
    with pytest.raises(RecipeError, match=r"search\.guards\.case = true: there is no such key"):
        load(model_folder, overrides=["search.guards.case=true"])
    # A model may remember them.
    own = tmp_path / "own"
    shutil.copytree(model_folder, own)
    description = json.loads((own / "config.json").read_text())
    description["search"]["guards"] = {"casing": False}
    (own / "config.json").write_text(json.dumps(description))
    assert load(own).search.guards == replace(GuardConfig(), casing=False)


def test_what_is_drawn_and_aligned_is_what_was_read_and_written(model_folder: Path) -> None:
    engine = load(model_folder, search={"guards": {"fragments": False}})
    line = "ONE RED DOGS"
    [translation] = engine.translate([line])
    drawn = engine.attention(line)
    tokenizer = load_model(model_folder).source_tokenizer
    assert translation.read == "One red dogs"
    assert list(drawn.source) == tokenizer.pieces(tokenizer.encode("One red dogs"))
    assert drawn.target == translation.n_best[0].pieces
    [(_, [found])] = engine.stream_aligned([line])
    assert found.source_pieces == drawn.source
    assert found.source_words == ("ONE", "RED", "DOGS")


def test_an_ensemble_of_one_model_twice_is_that_model(model_folder: Path) -> None:
    alone, twice = load(model_folder), load(model_folder, ensemble=[model_folder])
    for one, two in zip(alone.translate(LINES), twice.translate(LINES), strict=True):
        assert one.text == two.text
        assert one.log_prob == pytest.approx(two.log_prob, abs=1e-4)


def test_an_ensemble_is_the_mean_of_probabilities(model_folders: tuple[Path, Path, Path]) -> None:
    pair = (LINES[0], LINES[2])
    first, second, both = (
        next(iter(load(model, ensemble=others).score([pair])))
        for model, others in ((model_folders[0], []), (model_folders[1], []), (model_folders[0], [model_folders[1]]))
    )
    expected = [
        math.log((math.exp(a) + math.exp(b)) / 2)
        for a, b in zip(first.token_log_probs, second.token_log_probs, strict=True)
    ]
    assert both.token_log_probs == pytest.approx(expected, abs=1e-4)


def test_an_ensemble_needs_one_vocabulary(model_folders: tuple[Path, Path, Path]) -> None:
    with pytest.raises(ModelError, match=rf"^{model_folders[2]}: its source vocabulary is not that of"):
        load(model_folders[0], ensemble=[model_folders[2]])


def test_scores_come_in_the_pairs_order_whatever_the_window(model_folder: Path) -> None:
    pairs = [(LINES[0], "x"), (LINES[2], "a longer one of many tokens"), ("", ""), (LINES[3], "yes.")]
    together = list(load(model_folder).score(pairs))
    by_window = list(load(model_folder, search={"window_lines": 1}).score(iter(pairs)))
    assert [s.log_prob for s in by_window] == pytest.approx([s.log_prob for s in together], abs=1e-4)
    assert len({round(score.log_prob, 3) for score in together}) == 4


def test_constraints_come_through(model_folder: Path) -> None:
    engine = load(model_folder, search={"beam_size": 8, "max_len_offset": 10})
    constraints = [
        attendo.Constraints(target_prefix="su ees "),
        attendo.Constraints(target_prefix="x"),
        attendo.Constraints(forced_words=("sgnik", "meht")),
        attendo.Constraints(),
    ]
    found = engine.translate(LINES, constraints)
    assert found[0].text.startswith("su ees ")
    assert found[1].text == ""
    assert "sgnik" in found[2].text
    assert "meht" in found[2].text
    assert [each.text for each in engine.stream(iter(LINES), iter(constraints))] == [each.text for each in found]


@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16"])
def test_translations_are_aligned_with_their_pieces(model_folder: Path, dtype: Dtype) -> None:
    engine = load(model_folder, search={"n_best": 2, "window_lines": 3}, dtype=dtype)
    translations = list(engine.stream(iter(LINES)))
    together = list(engine.stream_aligned(iter(LINES)))
    assert [translation for translation, _ in together] == translations
    for translation, alignments in together:
        assert len(alignments) == len(translation.n_best)
        for candidate, alignment in zip(translation.n_best, alignments, strict=True):
            assert isinstance(alignment, attendo.Alignment)
            assert alignment.target_pieces == (candidate.pieces or ("</s>",))
            [again] = engine.align([(translation.source, candidate.ids)])
            assert again.weights == pytest.approx(alignment.weights, abs=1e-6)
            assert alignment.source_words == tuple(translation.source.split())
            assert all(source < len(alignment.source_words) for source, _ in alignment.links)


def test_alignment_is_the_attention_that_is_drawn(model_folder: Path) -> None:
    for layer, settings in ((0, {}), (1, {"alignment_layer": 2})):
        engine = load(model_folder, search=settings)
        [alignment] = engine.align([(LINES[0], LINES[2])])
        drawn = engine.attention(LINES[0], LINES[2])
        assert (alignment.source_pieces, alignment.target_pieces) == (drawn.source, drawn.target)
        assert alignment.weights == pytest.approx(drawn.cross[layer].mean(axis=0), abs=1e-6)
    search = {"alignment_layer": 1, "alignment_head": 2, "alignment_step": "reads"}
    [alignment] = load(model_folder, search=search).align([(LINES[0], LINES[2])])
    assert alignment.weights[:-1] == pytest.approx(drawn.cross[0, 1, 1:], abs=1e-6)
    with pytest.raises(ModelError, match=r"search.alignment_layer = 3, but the decoder has 2 layers"):
        load(model_folder, search={"alignment_layer": 3})


def test_attention_has_every_head_of_every_layer(model_folder: Path) -> None:
    weights = load(model_folder).attention(LINES[0], LINES[2])
    src_len, tgt_len = len(weights.source), len(weights.target)
    assert weights.source[-1] == weights.target[-1] == "</s>"
    # The fixture's model has two layers of two heads.
    assert weights.encoder is not None
    assert weights.encoder.shape == (2, 2, src_len, src_len)
    assert weights.decoder.shape == (2, 2, tgt_len, tgt_len)
    assert weights.cross.shape == (2, 2, tgt_len, src_len)
    assert weights.cross.sum(axis=-1) == pytest.approx(1.0, abs=1e-5)


def test_attention_of_the_own_translation(model_folder: Path) -> None:
    engine = load(model_folder)
    tokenizer = load_model(model_folder).target_tokenizer
    ids = engine.translate([LINES[0]])[0].n_best[0].ids
    assert engine.attention(LINES[0]).target == (*tokenizer.pieces(ids), "</s>")


@pytest.mark.parametrize(("source", "target"), [("", "x"), ("x", ""), ("x " * MAX_DRAWN_TOKENS, "x")])
def test_attention_refuses_what_cannot_be_drawn(model_folder: Path, source: str, target: str) -> None:
    with pytest.raises(DataError, match=r"^the (source|target) has \d+ tokens; 1 to 255 can be drawn"):
        load(model_folder).attention(source, target)


def test_bfloat16_stays_near(model_folder: Path) -> None:
    pairs = [(LINES[0], LINES[2])]
    exact = next(iter(load(model_folder).score(pairs)))
    rough = next(iter(load(model_folder, dtype="bfloat16").score(pairs)))
    # bfloat16 keeps 8 bits of a number: an error of some hundredths a token.
    assert rough.log_prob == pytest.approx(exact.log_prob, rel=0.05)
    assert rough.log_prob != exact.log_prob


def test_what_is_not_there_is_refused(model_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"int8 is for processors, not for meta; take bfloat16"):
        decoding_model(load_model(model_folder).transformer, dtype="int8", device=torch.device("meta"))
    if not torch.cuda.is_available():
        with pytest.raises(AttendoError, match=r'device = "cuda", but torch sees no GPU here'):
            load(model_folder, device="cuda")
    with pytest.raises(RecipeError, match=r"threads = 0 is too small"):
        load(model_folder, threads=0)
    with pytest.raises(ModelError, match=r"nowhere: no such model or run folder"):
        load(tmp_path / "nowhere")


@pytest.fixture
def shipped(model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model in int8 where the package has its own."""
    loaded = load_model(model_folder)
    description = replace(loaded.description, dtype="int8")
    folder = tmp_path / "package" / "xx-yy"
    sides = (loaded.source_tokenizer, loaded.target_tokenizer)
    save_model(folder, description, named_weights(loaded.transformer), *sides, "# Random\n")
    monkeypatch.setattr("attendo.checkpoint.finding.SHIPPED", folder.parent)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_shipped_model_translates_by_its_name_in_its_own_dtype(shipped: Path, model_folder: Path) -> None:
    by_name, by_path = attendo.load("xx-yy").translate(LINES), attendo.load(shipped).translate(LINES)
    assert by_name == by_path == attendo.load(model_folder, dtype="int8").translate(LINES)
    exact = attendo.load("xx-yy", dtype="float32").translate(LINES)
    assert exact[0].log_prob != by_name[0].log_prob
    assert exact[0].log_prob == pytest.approx(by_name[0].log_prob, rel=0.1)
    attendo.load("xx-yy", dtype="bfloat16").translate(LINES)


def test_the_dtype_that_nobody_asked_for(shipped: Path, model_folder: Path) -> None:
    int8, float32 = load_model(shipped), load_model(model_folder)
    cpu, elsewhere = torch.device("cpu"), torch.device("meta")
    assert own_dtype([int8], cpu) == own_dtype([int8, int8], cpu) == "int8"
    assert own_dtype([float32], cpu) == own_dtype([int8, float32], cpu) == own_dtype([int8], elsewhere) == "float32"


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"beam_size": "many"}, r"config\.json: search: beam_size: "),
        ({"beam_size": 1.5}, r"config\.json: search: beam_size: "),
        ({"forbidden_words": [1]}, r"config\.json: search: forbidden_words\.0: "),
        ({"guards": {"spaces": {}}}, r"config\.json: search: guards\.spaces: "),
        ({"beam": 4}, r"config\.json: search: 'beam' is no setting"),
        ({"max_len_offset": 10**9}, r"config\.json: search: .*max_len_offset = 1000000000 is too large"),
        ({"beam_size": 5000}, r"config\.json: search: beam_size = 5000 is too large"),
    ],
)
def test_a_models_own_settings_that_cannot_be_meant(
    model_folder: Path, tmp_path: Path, search: dict[str, object], message: str
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(model_folder, copy)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"search": search}))
    with pytest.raises(ModelError, match=message):
        load(copy)
