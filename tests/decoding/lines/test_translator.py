"""Equalities: alone and in any batch, streamed and at once, searched and scored, with a tiny random Transformer."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.decoding.backends.models import decoding_model
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.backends.torch_model import TorchModel
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.lines.translator import Translator
from attendo.decoding.scoring import perplexity
from attendo.errors import DataError, ModelError
from attendo.model.transformer import Transformer
from attendo.native.library import find_kernels
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig

MakeModel = Callable[..., Transformer]


def random_lines(count: int, seed: int = 0) -> list[str]:
    drawn = random.Random(seed)
    return ["".join(drawn.choices("abcdefgh ", k=drawn.randint(1, 14))) + "." for _ in range(count)]


@pytest.fixture(params=["torch", "native", "native int8"])
def make_translator(
    make_model: MakeModel, letters: Subwords, request: pytest.FixtureRequest
) -> Callable[..., Translator]:
    """Makes translators, on plain torch and on the native kernels."""
    if "native" in request.param and find_kernels().kernels is None:
        pytest.skip("no native kernels")

    def make(*models: Transformer, **settings: Any) -> Translator:
        # A model that has learned nothing loops; what guards do about it is in test_guarded.py.
        defaults: dict[str, Any] = {"max_len_offset": 8, "max_batch_sentences": 5, "guards": GuardConfig.off()}
        config = SearchConfig(**(defaults | settings))
        dtype: Dtype = "int8" if "int8" in request.param else "float32"
        ready = [
            decoding_model(model, dtype=dtype, native="native" in request.param) for model in models or (make_model(),)
        ]
        return Translator(ready, letters, letters, config, threads=2)

    return make


@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_line_alone_and_in_any_batch_is_the_same(make_translator: Callable[..., Translator], beam_size: int) -> None:
    translator = make_translator(beam_size=beam_size, n_best=beam_size)
    lines = random_lines(17)
    together = translator.translate(lines)
    assert [translation.source for translation in together] == lines
    assert len({len(translation.text) for translation in together}) > 3, "lengths should vary for this to mean much"
    in_another_order = list(reversed(translator.translate(lines[::-1])))
    alone = [translator.translate([line])[0] for line in lines]
    for translation, *others in zip(together, in_another_order, alone, strict=True):
        for other in others:
            assert [each.ids for each in other.n_best] == [each.ids for each in translation.n_best]
            assert [each.text for each in other.n_best] == [each.text for each in translation.n_best]
            assert other.score == pytest.approx(translation.score, abs=1e-5)


def test_a_translation_says_what_it_is_made_of(make_translator: Callable[..., Translator]) -> None:
    [translation] = make_translator(n_best=3).translate(["abc d."])
    best = translation.n_best[0]
    assert (translation.text, translation.score, translation.log_prob) == (best.text, best.score, best.log_prob)
    assert [each.score for each in translation.n_best] == sorted((e.score for e in translation.n_best), reverse=True)
    assert len({each.ids for each in translation.n_best}) == 3
    for each in translation.n_best:
        assert len(each.token_log_probs) == len(each.pieces) == len(each.ids) + 1
        assert "".join(each.pieces) == each.text.replace(" ", "\u2581") + "</s>"
        assert each.log_prob == pytest.approx(sum(each.token_log_probs))
        assert each.score == pytest.approx(each.log_prob / ((5 + len(each.ids) + 1) / 6) ** 0.6)


@pytest.mark.parametrize("line", ["", " ", "\t \u3000\n"])
def test_white_space_becomes_an_empty_translation(make_translator: Callable[..., Translator], line: str) -> None:
    translator = make_translator()
    first, empty, last = translator.translate(["abc", line, "de"])
    assert (empty.text, empty.score, empty.log_prob, empty.source) == ("", 0.0, 0.0, line)
    assert [each.text for each in empty.n_best] == [""]
    assert [first, last] == translator.translate(["abc", "de"])
    assert translator.translate([line])[0].text == ""
    assert translator.translate([]) == []


def test_a_line_end_is_no_text(make_translator: Callable[..., Translator]) -> None:
    translator = make_translator()
    assert translator.translate(["abc\r\n"])[0].text == translator.translate(["abc"])[0].text


def test_an_output_is_at_most_so_much_longer_than_its_source(
    make_translator: Callable[..., Translator], make_model: MakeModel
) -> None:
    translator = make_translator(make_model(end=-100.0), max_len_offset=3)
    translations = translator.translate(["a", "abcdef", "abc"])
    assert [len(translation.text) for translation in translations] == [4, 9, 6]
    assert not any(translation.n_best[0].finished for translation in translations)
    assert translator.counts.unfinished == 3


def test_a_line_too_long_is_cut_and_said_to_be(make_translator: Callable[..., Translator]) -> None:
    translator = make_translator(max_source_tokens=10)
    fitting, cut, megabyte = translator.translate(["abcdefghij", "abcdefghij.", "abcdefghij" + "k" * 1_000_000])
    assert [each.source_truncated for each in (fitting, cut, megabyte)] == [False, True, True]
    assert cut.text == megabyte.text == fitting.text
    assert translator.counts.truncated == 2


def test_learned_positions_bound_both_sides(make_translator: Callable[..., Translator], make_model: MakeModel) -> None:
    translator = make_translator(make_model(end=-100.0, positions="learned", max_positions=12))
    fitting, cut = translator.translate(["abcdefghijk", "abcdefghijkl"])
    assert [fitting.source_truncated, cut.source_truncated] == [False, True]
    # Positions: the start and eleven tokens, after which only `</s>` may follow.
    assert len(fitting.text) == len(cut.text) == 11
    [score] = translator.score_pairs([("abcdefghijkl" * 3, "abcdefghijkl" * 3)])
    assert score.truncated
    assert score.num_tokens == 12


def test_what_was_done_is_counted(make_translator: Callable[..., Translator]) -> None:
    translator = make_translator()
    translations = translator.translate(["abc", "", "de"])
    assert (translator.counts.lines, translator.counts.empty, translator.counts.truncated) == (3, 1, 0)
    assert translator.counts.source_tokens == 4 + 3
    assert translator.counts.target_tokens == len(translations[0].text) + 1 + len(translations[2].text) + 1


def test_streaming_gives_the_same_in_order(make_translator: Callable[..., Translator]) -> None:
    lines = random_lines(11)
    lines[4] = ""
    expected = [translation.text for translation in make_translator().translate(lines)]
    for window_lines in (1, 4, 100):
        translator = make_translator(window_lines=window_lines)
        assert [translation.text for translation in translator.stream(iter(lines))] == expected


def test_lines_before_an_error_are_translated(make_translator: Callable[..., Translator]) -> None:
    def lines() -> Iterator[str]:
        yield from ("abc", "de", "f")
        raise DataError("line 4 is not UTF-8")

    arriving = make_translator(window_lines=2).stream(lines(), pause_s=30.0)
    assert [next(arriving).source for _ in range(3)] == ["abc", "de", "f"]
    with pytest.raises(DataError, match="line 4"):
        next(arriving)


def test_a_found_translation_scores_what_the_search_said(
    make_translator: Callable[..., Translator], make_model: MakeModel
) -> None:
    for models in ((make_model(1),), (make_model(1), make_model(2))):
        translator = make_translator(*models)
        translations = translator.translate(random_lines(9))
        scores = translator.score_pairs([(each.source, each.text) for each in translations])
        for translation, score in zip(translations, scores, strict=True):
            assert score.log_prob == pytest.approx(translation.log_prob, abs=1e-4)
            assert list(score.token_log_probs) == pytest.approx(translation.n_best[0].token_log_probs, abs=1e-4)
            assert score.pieces == translation.n_best[0].pieces
        assert perplexity(scores).num_tokens == translator.counts.target_tokens


def test_scores_come_in_order_whatever_the_batches(make_translator: Callable[..., Translator]) -> None:
    pairs = list(zip(random_lines(13), random_lines(13, seed=1), strict=True))
    pairs[3] = ("", "")
    translator = make_translator(window_lines=4)
    together = translator.score_pairs(pairs)
    alone = [translator.score_pairs([pair])[0] for pair in pairs]
    streamed = list(translator.stream_scores(iter(pairs)))
    for others in (alone, streamed):
        assert [each.log_prob for each in others] == pytest.approx([each.log_prob for each in together], abs=1e-4)
    assert [each.num_tokens for each in together] == [len(target) + 1 for _, target in pairs]
    assert translator.score_pairs([]) == []


def test_a_model_in_training_is_left_in_training(
    make_translator: Callable[..., Translator], make_model: MakeModel
) -> None:
    model = make_model(dropout=0.5)
    expected = make_translator(model).translate(["abc d."])
    model.train()
    assert make_translator(model).translate(["abc d."]) == expected
    assert all(module.training for module in model.modules())


def test_models_and_tokenizers_have_to_fit(make_model: MakeModel, letters: Subwords) -> None:
    with pytest.raises(ModelError, match="no model to translate with"):
        Translator([], letters, letters, SearchConfig())
    with pytest.raises(ModelError, match="the model has a source vocabulary of 99, but the source tokenizer has"):
        Translator([decoding_model(make_model(vocab_size=99))], letters, letters, SearchConfig())
    with pytest.raises(ModelError, match="model 2 of the ensemble has a source vocabulary of 99"):
        Translator(
            [decoding_model(make_model()), decoding_model(make_model(vocab_size=99))], letters, letters, SearchConfig()
        )


def test_with_subwords_of_sentencepiece(make_model: MakeModel, tmp_path: Path) -> None:
    drawn = random.Random(3)
    words = ["red", "green", "house", "tree", "walks", "sleeps", "the", "a", "under", "Haus", "Bäume", "grün"]
    sentences = [" ".join(drawn.choices(words, k=6)) for _ in range(200)]
    tokenizer = learn_tokenizer(sentences, TokenizerConfig(vocab_size=300), tmp_path / "source.spm")
    assert isinstance(tokenizer, Tokenizer)
    model = make_model(vocab_size=tokenizer.vocab_size)
    translator = Translator(
        [decoding_model(model)],
        tokenizer,
        tokenizer,
        SearchConfig(max_len_offset=5, max_source_tokens=40, guards=GuardConfig.off()),
    )
    plain, typed, foreign, long = translator.translate(
        ["the red house", "</s> <unk>", "日本語 \u2581", "Bäume " * 200_000]
    )
    assert [each.source_truncated for each in (plain, typed, foreign, long)] == [False, False, False, True]
    assert all(isinstance(each.text, str) and each.score < 0 for each in (plain, typed, foreign, long))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_gpu_gives_what_the_cpu_gives(make_model: MakeModel, letters: Subwords, beam_size: int) -> None:
    lines = random_lines(17)
    config = SearchConfig(beam_size=beam_size, max_len_offset=8)
    on_cpu, on_gpu = decoding_model(make_model(), native=False), decoding_model(make_model().cuda())
    assert isinstance(on_gpu, TorchModel)
    assert on_gpu.device.type == "cuda"
    expected = Translator([on_cpu], letters, letters, config).translate(lines)
    translator = Translator([on_gpu], letters, letters, config)
    found = translator.translate(lines)
    assert [each.text for each in found] == [each.text for each in expected]
    assert [each.score for each in found] == pytest.approx([each.score for each in expected], abs=1e-4)
    pairs = [(each.source, each.text) for each in found]
    scores = [each.log_prob for each in translator.score_pairs(pairs)]
    assert scores == pytest.approx([each.log_prob for each in expected], abs=1e-3)
