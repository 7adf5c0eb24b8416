"""What programs expect of an engine: one text or several, settings of a call, its end, copies and other processes."""

import copy
import gc
import json
import multiprocessing
import pickle
import typing
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch

import attendo
from attendo.checkpoint.model_folder import load_model
from attendo.cli.translation_lines import json_line
from attendo.decoding.backends.native_model import NativeModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.lines.translator import Translator
from attendo.errors import AttendoError, DataError, ModelError, RecipeError
from attendo.native.library import find_kernels
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load

ONE, TWO = "one red dogs see us.", "some old kings hear them."
TEXT = f"{ONE}\r\n\n{TWO}\n"
"""Three lines and the end of the last one, of two kinds."""


@pytest.fixture(scope="module")
def engine(model_folder: Path) -> Engine:
    return load(model_folder)


# --- one text or several ----------------------------------------------------------------------------------------------


def test_a_str_is_one_text(engine: Engine) -> None:
    [expected] = engine.translate([ONE])
    found = engine.translate(ONE)
    assert found == expected
    assert str(found) == f"{found}" == found.text
    assert repr(found) == f"Translation({found.text!r}, source={ONE!r}, score={found.score:.3f})"
    assert list(engine.stream(ONE)) == [expected]
    [(aligned, alignments)] = engine.stream_aligned(ONE)
    assert aligned == expected
    assert alignments[0].source_words == tuple(ONE.split())
    assert len(repr(engine.translate("dogs " * 500))) < 250, "a repr is short"


def test_several_are_any_iterable(engine: Engine) -> None:
    expected = engine.translate([ONE, "", TWO])
    assert engine.translate(text for text in (ONE, "", TWO)) == expected
    assert engine.translate((ONE, "", TWO)) == expected
    assert engine.translate([]) == engine.translate(iter(())) == []
    assert list(engine.stream(iter([ONE, "", TWO]), window_lines=2)) == expected


def test_the_lines_of_a_text_are_translated_one_by_one(engine: Engine) -> None:
    first, second = engine.translate([ONE, TWO])
    found = engine.translate(TEXT)
    assert found.text == f"{first.text}\r\n\n{second.text}\n"
    assert found.source == TEXT
    assert found.lines == (first, *engine.translate([""]), second, *engine.translate([""]))
    assert found.log_prob == first.log_prob + second.log_prob
    [best] = found.n_best
    tokens = len(first.n_best[0].pieces) + len(second.n_best[0].pieces)
    penalty = ((5 + tokens) / 6) ** SearchConfig().length_penalty  # Wu et al. (2016), equation 14
    assert found.score == best.score == pytest.approx(found.log_prob / penalty)
    assert best.ids == (*first.n_best[0].ids, *second.n_best[0].ids)
    assert best.pieces == (*first.n_best[0].pieces, *second.n_best[0].pieces)
    assert len(best.token_log_probs) == tokens
    assert sum(best.token_log_probs) == pytest.approx(found.log_prob)
    assert found.read == f"{first.read}\r\n\n{second.read}\n"


def test_the_n_best_of_a_text_are_joined_by_rank(engine: Engine) -> None:
    first, second = engine.translate([ONE, TWO], n_best=3)
    found = engine.translate(f"{ONE}\n\n{TWO}", n_best=3)
    assert [each.text for each in found.n_best] == [
        f"{first.n_best[rank].text}\n\n{second.n_best[rank].text}" for rank in range(3)
    ]
    assert [each.log_prob for each in found.n_best] == [
        first.n_best[rank].log_prob + second.n_best[rank].log_prob for rank in range(3)
    ]


def test_texts_of_one_and_of_several_lines_come_in_their_order(engine: Engine) -> None:
    texts = [ONE, TEXT, "", TWO, "\n\n", f"{TWO}\n{ONE}"]
    expected = [engine.translate(text) for text in texts]
    assert [each.source for each in expected] == texts
    assert expected[4].text == "\n\n"
    assert engine.translate(texts) == expected
    for window_lines in (1, 2, 5):
        assert list(engine.stream(iter(texts), window_lines=window_lines)) == expected
        assert [each for each, _ in engine.stream_aligned(texts, window_lines=window_lines)] == expected


def test_a_line_read_from_a_file_has_no_end_in_its_translation(engine: Engine) -> None:
    assert engine.translate(f"{ONE}\n").text == engine.translate(f"{ONE}\r\n").text == engine.translate(ONE).text
    assert engine.translate(f"{ONE}\n").lines == ()


def test_each_line_counts(model_folder: Path) -> None:
    engine = load(model_folder)
    engine.translate(TEXT)
    assert (engine.counts.lines, engine.counts.empty) == (4, 2)


def test_the_json_of_a_text_of_several_lines(engine: Engine) -> None:
    [(translation, alignments)] = engine.stream_aligned(f"{ONE}\n{TWO}")
    found = json.loads(json_line(translation, alignments=alignments))
    assert (found["source"], found["text"]) == (f"{ONE}\n{TWO}", translation.text)
    assert len(found["tokens"]) == len(found["token_log_probs"])
    assert found["source_words"] == [*ONE.split(), *TWO.split()]


def test_a_text_is_aligned_line_by_line(engine: Engine) -> None:
    first, second = engine.translate([ONE, TWO])
    one, other = ([alignment] for [alignment] in engine.align_translations([first, second]))
    [translation] = engine.translate([f"{ONE}\n{TWO}"])
    [[joined]] = engine.align_translations([translation])
    rows, columns = one[0].weights.shape
    assert joined.weights[:rows, :columns] == pytest.approx(one[0].weights, abs=1e-6)
    assert joined.weights[rows:, columns:] == pytest.approx(other[0].weights, abs=1e-6)
    assert not joined.weights[:rows, columns:].any()
    assert not joined.weights[rows:, :columns].any()
    assert joined.source_pieces == one[0].source_pieces + other[0].source_pieces
    words = len(one[0].source_words), len(one[0].target_words)
    assert joined.links == one[0].links + tuple((s + words[0], t + words[1]) for s, t in other[0].links)
    [again, single] = engine.align([(f"{ONE}\n{TWO}", "su ees\nmeht raeh"), (ONE, "su ees")])
    assert again.target_words == ("su", "ees", "meht", "raeh")
    assert again.weights[: len(single.target_pieces), : len(single.source_pieces)] == pytest.approx(
        single.weights, abs=1e-6
    )


def test_a_pair_of_texts_is_scored_line_by_line(engine: Engine) -> None:
    one, other, both = engine.score([(ONE, "su ees"), (TWO, "meht"), (f"{ONE}\n{TWO}", "su ees\r\nmeht")])
    assert both.log_prob == pytest.approx(one.log_prob + other.log_prob, abs=1e-4)
    assert both.pieces == one.pieces + other.pieces
    [whole] = engine.score([(f"{ONE}\n{TWO}", "su ees meht")])
    assert whole.num_tokens < both.num_tokens, "one </s>: the sides have not equally many lines"


def test_lines_that_hold_a_line_feed_are_not_divided_where_asked(engine: Engine) -> None:
    [found] = engine.translate_lines([f"{ONE}\n{TWO}"])
    assert found.lines == ()
    assert found.text == engine.translate(f"{ONE} {TWO}").text


# --- what is no text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.translate(None), r"^translate\(\) takes a text \(str\) or an iterable of texts, not None$"),
        (lambda e: e.translate(5), r"^translate\(\) takes .*, not the int 5$"),
        (lambda e: e.translate(b"one"), r"^translate\(\) takes .*, not bytes; decode it first, .*\.decode\('utf-8'\)$"),
        (lambda e: e.translate([ONE, None]), r"^translate\(\) takes texts as str, but texts\[1\] is None$"),
        (lambda e: e.translate([ONE, TWO, b"x"]), r"^translate\(\) .* but texts\[2\] is bytes; decode it first"),
        (lambda e: e.translate([1.5]), r"texts\[0\] is the float 1\.5$"),
        (lambda e: e.translate([[ONE]]), r"texts\[0\] is a list$"),
        (lambda e: e.stream(None), r"^stream\(\) takes a text .*, not None$"),
        (lambda e: list(e.stream([ONE, 7])), r"^stream\(\) takes texts as str, but texts\[1\] is the int 7$"),
        (lambda e: e.stream_aligned(bytearray(b"x")), r"^stream_aligned\(\) .*, not bytearray; decode it first"),
        (lambda e: e.score("one"), r"^score\(\) takes pairs .*, not a str; for one pair write \[\(source, target\)\]$"),
        (lambda e: list(e.score((ONE, "x"))), r"pairs\[0\] is the str 'one red.*; for one pair write \[\(source, targ"),
        (lambda e: list(e.score([(ONE, "x"), (ONE,)])), r"^score\(\) takes pairs .*, but pairs\[1\] has 1 items$"),
        (lambda e: list(e.score([(ONE, None)])), r"of texts, but the target of pairs\[0\] is None$"),
        (lambda e: list(e.score([(None, ONE)])), r"of texts, but the source of pairs\[0\] is None$"),
        (lambda e: list(e.score([(ONE, (3, 4))])), r"of texts, but the target of pairs\[0\] is a tuple$"),
        (lambda e: list(e.score([3])), r"but pairs\[0\] is the int 3$"),
        (lambda e: e.score(None), r"^score\(\) takes pairs \(source, target\) of texts, not None$"),
        (lambda e: list(e.align([(ONE, b"x")])), r"^align\(\) .* text and ids, but the target of pairs\[0\] is bytes"),
        (lambda e: e.attention(None), r"^attention\(\) takes the source as a str, not None$"),
        (lambda e: e.attention(ONE, [3]), r"^attention\(\) takes the target as a str, not a list$"),
        (lambda e: e.translate(ONE, [attendo.Constraints()]), r"constraints of one text as a Constraints, not a list$"),
        (
            lambda e: e.translate([ONE], attendo.Constraints()),
            r"for each of several texts, not one Constraints",
        ),
        (lambda e: e.translate([ONE], ["x"]), r"but constraints\[0\] is a str; where there are none, give Constraints"),
        (lambda e: e.translate([ONE], 3), r"^translate\(\) takes constraints as an iterable of .*, not the int 3$"),
        (lambda e: e.translate(ONE, beamsize=2), r"unexpected keyword argument 'beamsize'; did you mean beam_size\?$"),
        (lambda e: e.stream(ONE, nbest=2), r"^stream\(\) got an unexpected .* 'nbest'; did you mean n_best\?$"),
        (lambda e: e.score([], foo=2), r"'foo'; search settings are alignment_head, .*, window_lines$"),
    ],
)
def test_what_is_of_another_type_is_named(engine: Engine, call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(engine)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda e: e.parse(None),
            r"^parse\(\) takes a sentence \(str or Sentence\) or an iterable.*, not None$",
        ),
        (lambda e: e.parse(b"It left."), r"^parse\(\) takes .*, not bytes; decode it first"),
        (lambda e: e.parse_n_best([["it"], None]), r"^parse_n_best\(\) takes sentences as .* sentences\[1\] is None$"),
        (lambda e: e.parse([["it", 3]]), r"^parse\(\) .* but word 1 of sentences\[0\] is the int 3$"),
        (lambda e: list(e.stream_parses([b"it"])), r"^stream_parses\(\) .* but sentences\[0\] is bytes; decode it"),
        (lambda e: e.parse([["it"]], beamsize=2), r"'beamsize'; did you mean beam_size\?$"),
    ],
)
def test_what_is_no_sentence_is_named(parser_folder: Path, call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(load(parser_folder))


def test_one_sentence_has_one_tree(parser_folder: Path) -> None:
    parser = load(parser_folder)
    sentence = attendo.Sentence(words=["it", "left", "."])
    [tree] = parser.parse([["it", "left", "."]])
    assert parser.parse(sentence) == tree
    assert parser.parse_n_best(sentence).tree == tree
    assert [each.tree for each in parser.stream_parses(sentence)] == [tree]
    pytest.importorskip("nltk")
    assert parser.parse("it left.") == tree
    assert len(parser.parse_n_best("it left.", n_best=2).n_best) == 2


def test_dtypes_and_devices_that_there_are(model_folder: Path) -> None:
    with pytest.raises(ModelError, match=r"^dtype = 'int4' is unknown; take one of float32, bfloat16, int8$"):
        load(model_folder, dtype="int4")  # type: ignore[arg-type]
    with pytest.raises(AttendoError, match=r"^device = 'gpu' is unknown; take one of auto, cpu, cuda$"):
        load(model_folder, device="gpu")  # type: ignore[arg-type]


# --- settings of a call -----------------------------------------------------------------------------------------------


def test_settings_of_a_call_are_those_of_an_engine_loaded_with_them(engine: Engine, model_folder: Path) -> None:
    other = load(model_folder, search={"beam_size": 5, "n_best": 3, "length_penalty": 0.0})
    found = engine.translate([ONE, TEXT], beam_size=5, n_best=3, length_penalty=0.0)
    assert found == other.translate([ONE, TEXT])
    assert list(engine.stream([ONE, TEXT], beam_size=5, n_best=3, length_penalty=0.0)) == found
    assert found != engine.translate([ONE, TEXT])
    assert engine.search == SearchConfig(beam_size=3, max_len_offset=5), "they hold for the call alone"
    [first, second] = (next(iter(engine.align([(ONE, "su")], alignment_layer=n))) for n in (1, 2))
    assert first.weights != pytest.approx(second.weights)
    with pytest.raises(RecipeError, match=r"search.n_best = 9|n_best = 9 is more than beam_size = 3 can hold"):
        engine.translate(ONE, n_best=9)


def test_settings_of_a_call_count_into_the_engines_counts(model_folder: Path) -> None:
    engine = load(model_folder)
    engine.translate([ONE, TWO])
    engine.translate([ONE, ""], beam_size=1)
    assert (engine.counts.lines, engine.counts.empty) == (4, 1)


def test_settings_are_set_up_once(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(Translator):
        def __init__(self, *arguments: Any, **others: Any) -> None:
            super().__init__(*arguments, **others)
            made.append(self.config.beam_size)

    monkeypatch.setattr("attendo.workflow.engines.engine_base.Translator", Counted)
    engine = load(model_folder)
    for beam_size in (1, 3, 2, 1, 2, 3):
        engine.translate(ONE)
        engine.translate(ONE, beam_size=beam_size)
    assert made == [3, 1, 2]


def test_search_settings_are_the_fields_of_the_search() -> None:
    keys = typing.get_type_hints(attendo.SearchSettings)
    own = typing.get_type_hints(SearchConfig)
    assert list(keys) == [field.name for field in fields(SearchConfig)]
    looser = {"forbidden_words", "guards"}
    assert {key: keys[key] for key in keys if key not in looser} == {key: own[key] for key in own if key not in looser}
    assert attendo.SearchSettings.__required_keys__ == frozenset()


def test_guards_and_words_can_be_set_for_a_call(engine: Engine, model_folder: Path) -> None:
    assert "casing" in engine.translate("ONE RED DOGS.").guards
    assert "casing" not in engine.translate("ONE RED DOGS.", guards={"casing": False}).guards
    words = [engine.translate(ONE).text[-3:]]
    other = load(model_folder, search={"forbidden_words": words})
    assert engine.translate(ONE, forbidden_words=words) == other.translate(ONE)


def test_each_thread_has_an_engine_of_its_own(model_folder: Path) -> None:
    engine = load(model_folder)
    texts = [ONE, TWO, TEXT, "two small birds see here."] * 5
    expected = engine.translate(texts)
    engines = [engine.with_search() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda other: [other.translate(text) for text in texts], engines))
    tolerance = 0 if engine.concurrent else 1e-4  # plain torch may change the last bits with the batch
    for translations in found:
        assert [each.text for each in translations] == [each.text for each in expected]
        assert [each.score for each in translations] == pytest.approx([each.score for each in expected], rel=tolerance)


# --- constraints ------------------------------------------------------------------------------------------------------


def test_constraints_of_one_text(engine: Engine) -> None:
    constraints = attendo.Constraints(target_prefix="su ees ")
    found = engine.translate(ONE, constraints)
    assert found.text.startswith("su ees ")
    assert found == engine.translate(ONE, constraints=constraints) == engine.translate([ONE], [constraints])[0]
    assert list(engine.stream(ONE, constraints)) == [found]


def test_constraints_of_a_text_of_several_lines(engine: Engine) -> None:
    free = engine.translate(f"\n{ONE}\n{TWO}")
    found = engine.translate(f"\n{ONE}\n{TWO}", attendo.Constraints(target_prefix="su ees "))
    assert found.text.split("\n")[1].startswith("su ees ")
    assert found.lines[2] == free.lines[2]
    with pytest.raises(DataError, match=r"^text 2 has 2 lines, and forced_words = \('ees',\) does not say which one"):
        engine.translate([ONE, "a\nb"], [attendo.Constraints(), attendo.Constraints(forced_words=("ees",))])


def test_the_old_names_of_constraints_warn(engine: Engine) -> None:
    constraints = attendo.Constraints(target_prefix="su ees ")
    with pytest.warns(DeprecationWarning, match=r"attendo\.Wishes is now called attendo\.Constraints") as said:
        old = attendo.Wishes
    assert old is attendo.Constraints
    expected = engine.translate(ONE, constraints)
    old_way: Any = engine
    with pytest.warns(DeprecationWarning, match=r"^wishes is now called constraints") as also_said:
        assert old_way.translate([ONE], wishes=[constraints]) == [expected]
    assert {warning.filename for warning in (*said, *also_said)} == {__file__}
    with pytest.warns(DeprecationWarning, match=r"^wishes is now"):
        assert list(old_way.stream([ONE], wishes=iter([constraints]))) == [expected]
    with pytest.warns(DeprecationWarning, match=r"^wishes is now"):
        assert [each for each, _ in old_way.stream_aligned(ONE, wishes=constraints)] == [expected]
    with pytest.raises(TypeError, match=r"^translate\(\) got both constraints and wishes, its old name"):
        old_way.translate(ONE, constraints, wishes=constraints)


# --- what an engine is, and its end -----------------------------------------------------------------------------------


def test_an_engine_says_what_it_is(engine: Engine, model_folder: Path, parser_folder: Path) -> None:
    assert repr(engine).startswith(f"Engine({str(model_folder)!r}, en -> de, float32, ")
    assert (engine.source_language, engine.target_language) == ("en", "de")
    assert (engine.dtype, engine.device, engine.folder) == ("float32", torch.device("cpu"), model_folder)
    kernels = find_kernels().kernels
    kernel = "torch" if kernels is None else f"native {kernels.variant}"
    assert repr(load("en-de")) == f"Engine('en-de', en -> de, int8, {kernel})"
    assert f"Engine({str(parser_folder)!r}, parser, " in repr(load(parser_folder))


@pytest.fixture
def without_collector() -> Iterator[None]:
    """What is freed is freed because nothing refers to it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
def test_a_closed_engine_gives_its_memory_back(model_folder: Path) -> None:
    engine = load(model_folder)
    engine.translate([ONE, TEXT])
    engine.translate(ONE, beam_size=1)
    list(engine.stream_aligned([ONE], n_best=2))
    other = engine.with_search(beam_size=2)
    assert engine._ready is not None
    [model] = engine._ready.models
    assert isinstance(model, NativeModel)
    alive: list[weakref.ref[Any]] = [
        weakref.ref(model),
        weakref.ref(model.arrays),
        weakref.ref(model.arrays.values),
    ]
    del model
    engine.close()
    assert other.translate(ONE).text, "another engine of the same model goes on"
    assert all(each() is not None for each in alive)
    with other as same:
        assert same is other
    assert [each() for each in alive] == [None, None, None]
    assert other.counts.lines == 1
    engine.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.translate(ONE),
        lambda e: e.translate([]),
        lambda e: e.translate(ONE, beam_size=1),
        lambda e: e.stream([]),
        lambda e: e.stream_aligned([]),
        lambda e: e.score([]),
        lambda e: e.align([]),
        lambda e: e.attention(ONE),
        lambda e: e.parse(ONE),
        lambda e: e.with_search(),
        lambda e: e.__enter__(),
        lambda e: pickle.dumps(e),
        lambda e: copy.copy(e),
    ],
)
def test_a_closed_engine_says_so(model_folder: Path, call: Callable[[Any], object]) -> None:
    with load(model_folder) as engine:
        pass
    assert repr(engine) == f"Engine({str(model_folder)!r}, closed)"
    with pytest.raises(ModelError, match=r"^Engine\('.*', closed\) is closed; load the model again"):
        call(engine)


def test_a_parser_gives_its_memory_back_too(parser_folder: Path) -> None:
    parser = load(parser_folder)
    parser.parse([["it", "left", "."]])
    assert parser._ready is not None
    alive = weakref.ref(parser._ready.models[0])
    parser.close()
    gc.collect()
    assert alive() is None


def test_copies_share_the_models(engine: Engine) -> None:
    for other in (copy.copy(engine), copy.deepcopy(engine)):
        assert other is not engine
        assert other.translate(TEXT) == engine.translate(TEXT)
        assert other._ready is engine._ready


def test_another_process_gets_an_engine(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model_folder.parent)
    engine = load(model_folder.name, search={"n_best": 2}, dtype="int8", threads=1).with_search(beam_size=4)
    monkeypatch.chdir("/")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(engine.translate, (TEXT,))
    assert found == engine.translate(TEXT)
    again = pickle.loads(pickle.dumps(engine))
    assert (again.search, again.dtype, repr(again)[-20:]) == (engine.search, "int8", repr(engine)[-20:])


def test_an_engine_that_load_did_not_make_is_not_pickled(model_folder: Path) -> None:
    made = Engine([load_model(model_folder)], SearchConfig(), dtype="float32", device=torch.device("cpu"))
    with pytest.raises(TypeError, match=r"cannot be pickled, since attendo\.load did not make it; load"):
        pickle.dumps(made)
    assert copy.deepcopy(made).translate(ONE) == made.translate(ONE)
