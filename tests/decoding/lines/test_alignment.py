"""Expected values: `Transformer.attention`, which computes all layers; words split by Python; links by hand."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.checkpoint.model_folder import load_model
from attendo.decoding.backends.models import decoding_model
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.lines.alignment import Words, alignment, attention_batch, links, words_of
from attendo.decoding.lines.translator import Translator
from attendo.errors import DataError, ModelError
from attendo.model.batch import collate
from attendo.model.transformer import Transformer
from attendo.text.subwords.tokenization import Tokenizer

MakeModel = Callable[..., Transformer]
S = "\u2581"
SOURCE = [[5, 6, 7, 8, 0], [9, 0], [4, 5, 0]]
TARGET = [[6, 0], [7, 8, 9, 3, 4, 0], [0]]


@pytest.mark.parametrize(("layer", "meant"), [(None, 2), (1, 1), (2, 2), (3, 3)])
def test_weights_are_those_of_one_layer_as_the_model_has_them(
    make_model: MakeModel, layer: int | None, meant: int
) -> None:
    model = make_model(num_layers=3)
    found = attention_batch([decoding_model(model)], SOURCE, TARGET, layer=layer)
    for weights, source, target in zip(found, SOURCE, TARGET, strict=True):
        with torch.no_grad():
            every = model.attention(collate([source], [target], start=model.config.start_id)).encoder_decoder
        assert weights.shape == (len(target), len(source))
        assert weights == pytest.approx(every[meant - 1, 0].mean(dim=0).numpy(), abs=1e-6)


@pytest.mark.parametrize("head", [1, 2])
def test_weights_are_those_of_one_head_where_one_is_named(make_model: MakeModel, head: int) -> None:
    model = make_model(num_layers=3)
    found = attention_batch([decoding_model(model)], SOURCE, TARGET, layer=1, head=head)
    for weights, source, target in zip(found, SOURCE, TARGET, strict=True):
        with torch.no_grad():
            every = model.attention(collate([source], [target], start=model.config.start_id)).encoder_decoder
        assert weights == pytest.approx(every[0, 0, head - 1].numpy(), abs=1e-6)


def test_a_token_is_read_a_step_after_it_is_written(make_model: MakeModel) -> None:
    models = [decoding_model(make_model())]
    writing = attention_batch(models, SOURCE, TARGET, layer=1)
    for read, written in zip(attention_batch(models, SOURCE, TARGET, layer=1, step="reads"), writing, strict=True):
        assert (read[:-1] == written[1:]).all()
        assert (read[-1] == written[-1]).all()  # nothing reads </s>


def test_one_decoder_layer_is_the_one(make_model: MakeModel) -> None:
    models = [decoding_model(make_model(num_layers=1))]
    for one, other in zip(
        attention_batch(models, SOURCE, TARGET), attention_batch(models, SOURCE, TARGET, layer=1), strict=True
    ):
        assert (one == other).all()


@pytest.mark.parametrize("dtype", ["float32", "int8", "bfloat16"])
@pytest.mark.parametrize("native", [True, False])
def test_rows_sum_to_one_whatever_the_batch(make_model: MakeModel, dtype: str, native: bool) -> None:
    model = decoding_model(make_model(), dtype=dtype, native=native)  # type: ignore[arg-type]
    together = attention_batch([model], SOURCE, TARGET)
    rounding = 0.02 if dtype == "bfloat16" else 1e-6
    for weights, source, target in zip(together, SOURCE, TARGET, strict=True):
        assert weights.dtype == np.float32
        assert weights.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
        [alone] = attention_batch([model], [source], [target])
        assert weights == pytest.approx(alone, abs=rounding)


def test_an_ensemble_has_the_mean(make_model: MakeModel) -> None:
    one, two = decoding_model(make_model(1)), decoding_model(make_model(2, num_layers=4))
    both = attention_batch([one, two], SOURCE, TARGET)
    for mean, *each in zip(
        both, attention_batch([one], SOURCE, TARGET), attention_batch([two], SOURCE, TARGET), strict=True
    ):
        assert mean == pytest.approx((each[0] + each[1]) / 2, abs=1e-6)


def test_a_model_in_training_aligns_without_dropout(make_model: MakeModel) -> None:
    model = make_model(dropout=0.5)
    expected = attention_batch([decoding_model(model)], SOURCE, TARGET)
    found = attention_batch([decoding_model(model.train())], SOURCE, TARGET)
    assert all((one == other).all() for one, other in zip(found, expected, strict=True))
    assert model.training


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([], ()),
        ([S + "a", "b", S + "c"], ((0, 1), (2,))),
        (["a", S, "<0xE2>", S, S + "b"], ((0,), (1, 2), (3, 4))),
        ([S, S, "a", S], ((0, 1, 2),)),
        ([S + S, S], ()),
        ([S + "a", S + S, S + "b", S], ((0,), (1, 2))),
    ],
)
def test_pieces_that_begin_with_a_space_begin_words(pieces: list[str], words: Words) -> None:
    assert words_of(pieces) == words


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.sampled_from([*"ones red.,ä日", " ", "\u2581", "\t"]), max_size=30))
def test_words_are_what_stands_between_spaces(tokenizer_of_pairs: Tokenizer, text: str) -> None:
    pieces = tokenizer_of_pairs.pieces(tokenizer_of_pairs.encode(text))
    found = alignment(pieces, ["</s>"], np.ones((1, len(pieces)), dtype=np.float32))
    assert found.source_words == tuple(word for word in text.split(" ") if word)


@pytest.fixture(scope="module")
def tokenizer_of_pairs(model_folder: Path) -> Tokenizer:
    return load_model(model_folder).source_tokenizer


def test_links_by_hand() -> None:
    source, target = [S + "old", S + "hou", "se", "</s>"], [S + "Haus", S + "al", "tes", "</s>"]
    weights = np.array(
        [
            [0.30, 0.20, 0.20, 0.30],  # "Haus": 0.30 to "old", 0.40 to "house", whose pieces are both looked at
            [0.10, 0.15, 0.15, 0.60],  # "al": 0.10 and 0.30; </s>, looked at most, is no word
            [0.60, 0.10, 0.10, 0.20],  # "tes": 0.60 and 0.20; together 0.70 and 0.50
            [0.00, 0.00, 0.00, 1.00],
        ],
        dtype=np.float32,
    )
    found = alignment(source, target, weights)
    assert found.links == ((1, 0), (0, 1))
    assert found.pharaoh == "1-0 0-1"
    assert (found.source_words, found.target_words) == (("old", "house"), ("Haus", "altes"))
    assert not found.truncated
    assert links(weights, (), ((0,),)) == ()
    # Equal weights: the first source word.
    assert links(np.full((1, 3), 1 / 3, dtype=np.float32), ((0,), (1,), (2,)), ((0,),)) == ((0, 0),)


@pytest.fixture
def translator(make_model: MakeModel, letters: Subwords) -> Translator:
    return Translator([decoding_model(make_model())], letters, letters, SearchConfig(max_batch_sentences=3))


def test_text_and_ids_align_alike_in_order(translator: Translator, letters: Subwords) -> None:
    pairs = [("abc d", "e fg"), ("a", "b c d e"), ("", ""), ("x", ""), ("", "x"), ("ab cd ef", "a b c")]
    by_text = translator.align(pairs)
    by_ids = translator.align([(source, letters.encode_batch([target])[0][:-1]) for source, target in pairs])
    for one, other, (source, target) in zip(by_text, by_ids, pairs, strict=True):
        assert (one.weights == other.weights).all()
        assert one.links == other.links
        assert [number for _, number in one.links] == list(range(len(target.split()) if source else 0))
        assert one.weights.shape == (len(one.target_pieces), len(one.source_pieces))
        [alone] = translator.align([(source, target)])
        assert one.weights == pytest.approx(alone.weights, abs=1e-6)
        assert one.links == alone.links
    assert translator.align([]) == []


def test_what_is_too_long_is_cut(make_model: MakeModel, letters: Subwords) -> None:
    config = SearchConfig(max_source_tokens=4, max_len_offset=2)
    translator = Translator([decoding_model(make_model())], letters, letters, config)
    found = translator.align([("abcde", "a"), ("abcd", "abcdefg"), ("abcd", [3] * 7), ("abcd", [3] * 6)])
    assert [each.truncated for each in found] == [True, True, True, False]
    assert [each.weights.shape for each in found] == [(2, 5), (7, 5), (7, 5), (7, 5)]


@pytest.mark.parametrize("ids", [[3, 99], [-1], [3, 0]])
def test_ids_that_are_none_are_refused(translator: Translator, ids: list[int]) -> None:
    with pytest.raises(DataError, match=rf"the translation of pair 2 holds the id {ids[-1]}; ids are 1 to"):
        translator.align([("a", "b"), ("a", ids)])


def test_a_layer_that_is_not_there_is_refused(make_model: MakeModel, letters: Subwords) -> None:
    models = [decoding_model(make_model(num_layers=3)), decoding_model(make_model())]
    with pytest.raises(ModelError, match=r"search.alignment_layer = 3, but the decoder has 2 layers; take 1 to 2"):
        Translator(models, letters, letters, SearchConfig(alignment_layer=3))
    with pytest.raises(ValueError, match="alignment_layer = 0 is too small; take 1 or more"):
        SearchConfig(alignment_layer=0)


def test_a_head_that_is_not_there_is_refused(make_model: MakeModel, letters: Subwords) -> None:
    models = [decoding_model(make_model())]
    num_heads = models[0].config.num_heads
    with pytest.raises(ModelError, match=rf"search.alignment_head = 9, but a layer has {num_heads} heads; take 1 to"):
        Translator(models, letters, letters, SearchConfig(alignment_head=9))
    with pytest.raises(ValueError, match="alignment_head = 0 is too small; take 1 or more"):
        SearchConfig(alignment_head=0)
