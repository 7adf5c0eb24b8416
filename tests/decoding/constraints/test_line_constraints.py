"""Constraints as text: the expected ids are the tokenizer's own; texts are looked through as any reader would."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.constraints.line_constraints import Constraints, LineRules, paired
from attendo.decoding.constraints.words import Spelling
from attendo.decoding.lines.translator import Translator
from attendo.errors import DataError
from attendo.model.transformer import Transformer
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import BYTE_IDS, EOS_ID, UNK_ID, Tokenizer, TokenizerConfig

MakeModel = Callable[..., Transformer]
WORDS = ["das", "alte", "Haus", "Hausboot", "steht", "am", "grünen", "See", "und", "Bäume", "schlafen", "nie"]
LINES = ["the old house", "a boat by the lake", "trees", "the house and the boat"]
SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"beam_size": 1},
    "beam": {"beam_size": 5, "n_best": 3},
    "groups": {"beam_size": 4, "beam_groups": 2, "n_best": 2},
    "sampling": {"sampling": True, "n_best": 3, "beam_size": 1},
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    drawn = random.Random(3)
    sentences = [" ".join(drawn.choices(WORDS, k=6)) for _ in range(200)]
    return learn_tokenizer(sentences, TokenizerConfig(vocab_size=320), tmp_path_factory.mktemp("spm") / "s.spm")


@pytest.fixture(params=SEARCHES)
def make_translator(
    make_model: MakeModel, tokenizer: Tokenizer, request: pytest.FixtureRequest
) -> Callable[..., Translator]:
    """Makes translators for each search; what they write is words, of a model that knows nothing."""

    def make(**settings: Any) -> Translator:
        # Without guards, which find fault with what a model writes that knows nothing.
        defaults: dict[str, Any] = {"max_len_offset": 12, "guards": GuardConfig.off()}
        config = SearchConfig(**(defaults | SEARCHES[request.param] | settings))
        return Translator([wordy(make_model, tokenizer)], tokenizer, tokenizer, config, threads=2)

    return make


def wordy(make_model: MakeModel, tokenizer: Tokenizer) -> DecodingModel:
    """A model of random weights that never chooses single bytes."""
    model = make_model(vocab_size=tokenizer.vocab_size, end=3.0)
    assert model.output_bias is not None
    with torch.no_grad():
        model.output_bias[UNK_ID : BYTE_IDS.stop] = -50.0
    return decoding_model(model)


@pytest.mark.parametrize(
    "prefix", ["das", "das alte Haus", "Das Hau", "das ", "das alte  ", " das", "日本 (", "\u2581x", "ä\tb "]
)
def test_a_translation_begins_with_its_prefix_to_the_letter(
    make_translator: Callable[..., Translator], tokenizer: Tokenizer, prefix: str
) -> None:
    translations = make_translator().translate(LINES, [Constraints(target_prefix=prefix)] * len(LINES))
    given = tuple(tokenizer.encode(prefix.removesuffix(" "))[:-1])
    for translation in translations:
        for candidate in translation.n_best:
            assert candidate.text.startswith(prefix)
            if prefix.endswith(" "):
                assert candidate.ids[: len(given)] == given
                [following] = tokenizer.pieces(candidate.ids[len(given) : len(given) + 1])
                assert following.startswith("\u2581")


def test_the_last_word_is_written_in_the_pieces_that_the_model_likes(
    make_model: MakeModel, tokenizer: Tokenizer
) -> None:
    model = make_model(vocab_size=tokenizer.vocab_size)
    piece = "\u2581Hausboot"
    [liked] = [token for token in range(tokenizer.vocab_size) if tokenizer.pieces([token]) == [piece]]
    assert model.output_bias is not None
    with torch.no_grad():
        model.output_bias[liked] = 30.0
    translator = Translator([decoding_model(model)], tokenizer, tokenizer, SearchConfig(beam_size=2, max_len=8))
    for prefix in ("das Hau", "das Haus", "das Hausboot", "das H"):
        [found] = translator.translate(["a"], [Constraints(target_prefix=prefix)])
        assert found.n_best[0].pieces[:2] == ("\u2581das", piece)
        assert found.text.startswith(prefix)
    [found] = translator.translate(["a"], [Constraints(target_prefix="das Haus ")])
    assert found.text.startswith("das Haus ")
    # Where its bytes might not fit as tokens, the tokenizer's own pieces are taken.
    tight = Translator([decoding_model(model)], tokenizer, tokenizer, SearchConfig(max_len=4))
    given = tokenizer.encode("das Hau")[:-1]
    [found] = tight.translate(["a"], [Constraints(target_prefix="das Hau")])
    assert list(found.n_best[0].ids[: len(given)]) == given


def test_the_pieces_that_begin_a_text() -> None:
    class Listed:
        """Has some pieces."""

        vocab_size = 9

        def encode_batch(self, texts: Any) -> list[list[int]]:
            raise NotImplementedError

        def pieces(self, ids: Any) -> list[str]:
            every = ["</s>", "<unk>", "\u2581a", "\u2581ab", "\u2581abc", "\u2581b", "\u2581", "ab", "<0x20>"]
            return [every[i] for i in ids]

    # "▁a", "▁ab" and "▁" begin " ab" or are all of it, "▁abc" goes on behind it, and the byte is a space.
    assert Spelling(Listed()).beginning(b" ab") == {2, 3, 4, 6, 8}
    assert Spelling(Listed()).beginning(b"ab") == {7}
    assert Spelling(Listed()).beginning(b"x") == set()


def test_a_prefix_of_white_space_is_none(make_translator: Callable[..., Translator]) -> None:
    translator = make_translator()
    assert translator.translate(LINES, [Constraints(target_prefix=" ")] * 4) == translator.translate(LINES)


def test_each_line_has_its_own_constraints(make_translator: Callable[..., Translator]) -> None:
    translator = make_translator(beam_size=8)
    free = translator.translate(LINES)
    constraints = [
        Constraints(),
        Constraints(forced_words=("Haus", "am See")),
        Constraints(),
        Constraints(target_prefix="und "),
    ]
    found = translator.translate(LINES, constraints)
    assert [found[0], found[2]] == [free[0], free[2]]
    for candidate in found[1].n_best:
        assert "Haus" in candidate.text
        assert "am See" in candidate.text
    assert all(candidate.text.startswith("und ") for candidate in found[3].n_best)


def test_forbidden_words_are_left_out(make_translator: Callable[..., Translator]) -> None:
    translator = make_translator(min_len=4)
    before = translator.translate(LINES)

    words = {word for each in before for word in each.text.split()[:1]}
    assert words
    of_all = make_translator(min_len=4, forbidden_words=tuple(words)).translate(LINES)
    of_each = translator.translate(LINES, [Constraints(forbidden_words=tuple(words))] * 4)
    assert of_all == of_each
    for translation in of_all:
        for candidate in translation.n_best:
            assert not words & set(candidate.text.split())
    only_first = translator.translate(LINES, [Constraints(forbidden_words=tuple(words)), *[Constraints()] * 3])
    # Not the scores: in plain torch their last bits hang on what else is in a batch.
    expected = [of_each[0], *before[1:]]
    assert [[each.ids for each in one.n_best] for one in only_first] == [
        [each.ids for each in one.n_best] for one in expected
    ]


def test_white_space_stays_empty_whatever_the_constraints(make_translator: Callable[..., Translator]) -> None:
    [empty] = make_translator().translate([" "], [Constraints(target_prefix="das", forced_words=("Haus",))])
    assert (empty.text, empty.score) == ("", 0.0)


def test_a_stream_with_constraints_is_all_at_once(make_translator: Callable[..., Translator]) -> None:
    constraints = [
        Constraints(target_prefix="das "),
        Constraints(),
        Constraints(forced_words=("nie",)),
        Constraints(forbidden_words=("am",)),
    ]
    expected = [each.text for each in make_translator(beam_size=4).translate(LINES, constraints)]
    for window_lines in (1, 3):
        translator = make_translator(window_lines=window_lines, beam_size=4)
        assert [each.text for each in translator.stream(iter(LINES), iter(constraints))] == expected


def test_there_are_constraints_for_each_line() -> None:
    assert list(paired(["a", "b"], None)) == [("a", Constraints()), ("b", Constraints())]
    pairs = paired(["a", "b"], [Constraints(target_prefix="x")])
    assert next(pairs) == ("a", Constraints(target_prefix="x"))
    with pytest.raises(DataError, match=r"there are constraints for 1 lines, but more to translate"):
        next(pairs)
    with pytest.raises(DataError, match=r"there are 1 lines to translate, but constraints for more"):
        list(paired(["a"], [Constraints()] * 2))


def test_what_cannot_be_fulfilled_names_the_line(make_translator: Callable[..., Translator]) -> None:
    translator = make_translator(forbidden_words=("Boot",), max_len=9, no_repeat_ngram=2)
    for constraints, problem in [
        (Constraints(target_prefix="das Boot am"), "the target prefix 'das Boot am' has a forbidden word in it"),
        (Constraints(forced_words=("das Boot",)), "the forced word 'das Boot' has a forbidden word in it; drop one"),
        (Constraints(forced_words=("am",), forbidden_words=("am",)), "the forced word 'am' has a forbidden word in it"),
        (Constraints(forced_words=(" ",)), "the forced word ' ' has no letter; leave it out"),
        (Constraints(forbidden_words=("",)), "the forbidden word '' has no letter; leave it out"),
        (
            Constraints(target_prefix="das alte Haus am See " * 3),
            "the forced prefix has 1?[0-9]+ tokens, but the transl",
        ),
        (Constraints(forced_words=("das am das am",)), "repeats 2 tokens, which no_repeat_ngram = 2 forbids"),
    ]:
        with pytest.raises(DataError, match=rf"^line 3: .*{problem}"):
            translator.translate(LINES, [Constraints(), Constraints(), constraints, Constraints()])
        arriving = translator.stream(["", "  ", *LINES[2:]], [Constraints(), Constraints(), constraints, Constraints()])
        with pytest.raises(DataError, match=rf"^line 3: .*{problem}"):
            list(arriving)


def test_a_string_is_no_list_of_words() -> None:
    with pytest.raises(DataError, match=r"forced_words = 'Haus' is one string; write \('Haus',\)"):
        Constraints(forced_words="Haus")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"forbidden_words = 'Haus' is one string"):
        Constraints(forbidden_words="Haus")  # type: ignore[arg-type]


def test_what_the_vocabulary_cannot_spell_is_refused() -> None:
    class Few:
        """Knows the word "a" and nothing else."""

        vocab_size = 3

        def encode_batch(self, texts: Any) -> list[list[int]]:
            return [[*(2 if word == "a" else UNK_ID for word in text.split()), EOS_ID] for text in texts]

        def pieces(self, ids: Any) -> list[str]:
            return [["</s>", "<unk>", "\u2581a"][i] for i in ids]

    rules = LineRules(Few(), SearchConfig())
    assert rules.of(7, 3, Constraints(target_prefix="a a ")).prefix == (2, 2)
    with pytest.raises(DataError, match="line 7: the target prefix 'a x' cannot be spelled with the model's vocab"):
        rules.of(7, 3, Constraints(target_prefix="a x"))


def test_words_of_all_lines_are_read_once(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    init = Spelling.__init__

    def counted(spelling: Spelling, vocabulary: Any) -> None:
        made.append(vocabulary)
        init(spelling, vocabulary)

    monkeypatch.setattr(Spelling, "__init__", counted)
    rules = LineRules(tokenizer, SearchConfig())
    rules.of(1, 3, Constraints(forced_words=("Haus",)))
    assert not made
    rules = LineRules(tokenizer, SearchConfig(forbidden_words=("am",)))
    of_lines = [rules.of(number, 3, Constraints(forbidden_words=("Haus",), target_prefix="das ")) for number in (1, 2)]
    assert made == [tokenizer]
    assert of_lines[0].constraints[:2] == of_lines[1].constraints[:2]
    assert [each.seed for each in of_lines] == [1, 2]


def test_samples_do_not_hang_on_windows_threads_or_batches(make_model: MakeModel, tokenizer: Tokenizer) -> None:
    model = wordy(make_model, tokenizer)
    lines = [*LINES, "", *LINES]

    def texts(threads: int, **settings: Any) -> list[list[str]]:
        config = SearchConfig(sampling=True, n_best=2, max_len_offset=8, seed=5, **settings)
        translator = Translator([model], tokenizer, tokenizer, config, threads=threads)
        found = translator.stream(iter(lines)) if "window_lines" in settings else translator.translate(lines)
        return [[candidate.text for candidate in each.n_best] for each in found]

    expected = texts(1)
    assert expected[:4] != expected[5:], "the same line again is another draw"
    assert texts(3, max_batch_sentences=2) == texts(2, max_batch_sentences=1) == expected
    assert texts(1, window_lines=2) == texts(2, window_lines=7, max_batch_sentences=3) == expected
