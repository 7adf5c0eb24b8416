import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attendo.errors import DataError, ModelError
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import BYTE_IDS, EOS_ID, UNK_ID, Tokenizer, TokenizerConfig

SYLLABLES = ["ka", "lo", "mi", "nu", "re", "so", "tä", "wü", "ße", "zi"]


def sentences(number: int = 400, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(150)]
    return [" ".join(rng.choices(words, k=rng.randint(1, 9))) + "." for _ in range(number)]


# What could teach the vocabulary something that is not text.
NASTY = ["</s> <unk> <s> <0x41> <0xE2>"] * 30 + ["a \u2581b\u2581 \u2581"] * 30 + ["tab\tand\0nul", "\u2585", "", "  "]


@pytest.fixture(scope="module", params=[("bpe", 0), ("unigram", 0), ("bpe", 3)], ids=["bpe", "unigram", "placeholders"])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    kind, placeholders = request.param
    config = TokenizerConfig(type=kind, vocab_size=400, placeholders=placeholders)
    return learn_tokenizer(sentences() + NASTY, config, tmp_path_factory.mktemp("spm") / "source.spm")


ALL_OF_UNICODE = st.text(st.characters(exclude_categories=["Cs"]))
TYPED = ["</s>", "<unk>", "<s>", "<pad>", "<0x41>", "<0xE2><0x96><0x81>", "⟦1⟧", "⟦3", "ka", "wü", "e\u0301", "\r\n"]
CHARACTERS = " \u2581\t\n\r\0\u2028\u00a0\u3000\ufeff\ufffd\u2585\u2047\U0010ffff\U0010fffe"
SPECIAL = st.sampled_from([*TYPED, *CHARACTERS])


@settings(max_examples=500, deadline=None)
@given(text=st.one_of(ALL_OF_UNICODE, st.lists(st.one_of(SPECIAL, ALL_OF_UNICODE)).map("".join)))
@example(text="")
@example(text=" ")
@example(text="\u2581")
@example(text=" \u2581 \u2581\U0010ffff\u2581\U0010fffe ")
@example(text="\u2581\U0010ffff\U000e0001\u2581")
def test_decoding_gives_the_text_back(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode(ids[:-1]) == text
    assert tokenizer.encode_batch([text, "a", text]) == [ids, tokenizer.encode("a"), ids]
    assert ids[-1] == EOS_ID
    assert EOS_ID not in ids[:-1]
    assert UNK_ID not in ids


@settings(max_examples=100, deadline=None)
@given(text=st.lists(st.one_of(SPECIAL, ALL_OF_UNICODE)).map("".join), seed=st.integers(0, 2**70))
def test_a_sampled_segmentation_decodes_to_the_same_text(tokenizer: Tokenizer, text: str, seed: int) -> None:
    (ids,) = tokenizer.encode_sampled([text], 0.3, seed)
    assert tokenizer.decode(ids) == text
    assert ids.count(EOS_ID) == 1
    assert UNK_ID not in ids


def test_every_single_character_comes_back(tokenizer: Tokenizer) -> None:
    # Eight at a time, to be quick; all but the surrogates.
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    texts = ["a".join(map(chr, codes[start : start + 8])) for start in range(0, len(codes), 8)]
    for start in range(0, len(texts), 4096):
        batch = texts[start : start + 4096]
        assert [tokenizer.decode(ids) for ids in tokenizer.encode_batch(batch)] == batch


@pytest.mark.parametrize("typed", ["</s>", "<unk>", "<s>", "<0x41>", "a</s>b", "</s></s>"])
def test_a_control_symbol_typed_is_text(tokenizer: Tokenizer, typed: str) -> None:
    ids = tokenizer.encode(typed)
    assert len(ids) > 3  # spelled by letters or bytes, not one symbol
    assert tokenizer.decode(ids) == typed
    assert not {EOS_ID, UNK_ID} & set(ids[:-1])


def test_what_the_vocabulary_lacks_is_spelled_in_utf8_bytes(tokenizer: Tokenizer) -> None:
    # RFC 3629, section 7: U+65E5 is E6 97 A5.
    assert tokenizer.pieces(tokenizer.encode("a\u65e5"))[-4:] == ["<0xE6>", "<0x97>", "<0xA5>", "</s>"]
    # U+2581 is what SentencePiece writes for a space; its bytes are E2 96 81.
    assert tokenizer.pieces(tokenizer.encode("a\u2581"))[-4:] == ["<0xE2>", "<0x96>", "<0x81>", "</s>"]


def test_bytes_that_make_no_character_are_shown_as_replaced(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode([tokenizer.byte_ids[0xE6], tokenizer.byte_ids[0x97]]) == "\ufffd\ufffd"


def test_the_ids_are_as_decided(tokenizer: Tokenizer) -> None:
    assert tokenizer.vocab_size == 400
    placeholders = len(tokenizer.placeholders)
    assert tokenizer.pieces(range(2 + placeholders)) == ["</s>", "<unk>", *tokenizer.placeholders]
    assert tokenizer.byte_ids == tuple(byte + placeholders for byte in BYTE_IDS)
    assert tokenizer.pieces([tokenizer.byte_ids[0], tokenizer.byte_ids[255]]) == ["<0x00>", "<0xFF>"]
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    assert not {"<s>", "<pad>"} & set(pieces)
    assert len(set(pieces)) == 400
    assert tokenizer.encode("") == [EOS_ID]
    assert tokenizer.decode([]) == tokenizer.decode([0]) == tokenizer.decode([0, 0]) == ""
    ids = tokenizer.encode("ka lo")
    assert tokenizer.decode(np.array(ids, dtype=np.uint16)) == "ka lo"


def test_the_file_is_a_plain_sentencepiece_model(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "copy.spm")
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "copy.spm"))
    text = "ka lowü  tä."
    assert [*processor.encode(text), processor.eos_id()] == tokenizer.encode(text)
    assert Tokenizer.load(tmp_path / "copy.spm").encode(text) == tokenizer.encode(text)


def test_sampling_is_seeded_and_varies(tokenizer: Tokenizer) -> None:
    texts = sentences(50)
    usual = tokenizer.encode_batch(texts)
    first = tokenizer.encode_sampled(texts, 0.3, seed=5)
    assert tokenizer.encode_sampled(texts, 0.3, seed=5) == first
    assert tokenizer.encode_sampled(texts, 0.3, seed=6) != first
    assert sum(map(len, first)) > sum(map(len, usual))
    assert tokenizer.encode_batch(texts) == usual
    for edge in (2**32 - 1, 2**32, 2**64):
        assert tokenizer.encode_sampled(texts, 0.3, edge) == tokenizer.encode_sampled(texts, 0.3, edge)
    assert tokenizer.encode_sampled([], 0.3, seed=1) == []


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_learning_is_reproducible(tmp_path: Path, kind: str) -> None:
    config = TokenizerConfig(type=kind, vocab_size=360)  # type: ignore[arg-type]
    first = learn_tokenizer(sentences(), config, tmp_path / "a.spm")
    second = learn_tokenizer(sentences(), config, tmp_path / "b.spm")
    assert first.serialized == second.serialized == (tmp_path / "a.spm").read_bytes()


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_too_large_a_vocabulary_is_refused_with_the_largest_possible(tmp_path: Path, kind: str) -> None:
    config = TokenizerConfig(type=kind, vocab_size=30000)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"vocab_size = 30000: the text is too small .*set it to \d+ or less") as raised:
        learn_tokenizer(sentences(), config, tmp_path / "a.spm")
    largest = int(str(raised.value).split("set it to ")[1].split()[0])
    fitting = TokenizerConfig(type=kind, vocab_size=largest)  # type: ignore[arg-type]
    assert learn_tokenizer(sentences(), fitting, tmp_path / "a.spm").vocab_size == largest


def test_too_small_a_vocabulary_is_refused(tmp_path: Path) -> None:
    config = TokenizerConfig(vocab_size=260)
    with pytest.raises(DataError, match=r"vocab_size = 260: the text's characters alone need \d+; set it to more"):
        learn_tokenizer(sentences(), config, tmp_path / "a.spm")
    assert not (tmp_path / "a.spm").exists()


def test_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no text to learn the vocabulary from"):
        learn_tokenizer([], TokenizerConfig(), tmp_path / "a.spm")


@pytest.mark.parametrize("error", [DataError("line 7"), KeyboardInterrupt()])
def test_an_error_while_reading_the_text_comes_through_as_it_is(tmp_path: Path, error: BaseException) -> None:
    def broken() -> object:
        yield from sentences(10)
        raise error

    with pytest.raises(type(error)) as raised:
        learn_tokenizer(broken(), TokenizerConfig(vocab_size=300), tmp_path / "a.spm")  # type: ignore[arg-type]
    assert raised.value is error


def test_half_a_surrogate_pair_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(DataError, match=r"'a\\ud800b' is not text: character 2 is half of a surrogate pair"):
        tokenizer.encode("a\ud800b")


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.spm: cannot be read"):
        Tokenizer.load(tmp_path / "none.spm")
    (tmp_path / "a.spm").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"a\.spm: this is not a SentencePiece model"):
        Tokenizer.load(tmp_path / "a.spm")


def test_a_model_with_other_ids_is_refused(tmp_path: Path) -> None:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences()), model_prefix=str(tmp_path / "other"), vocab_size=60, minloglevel=2
    )
    with pytest.raises(ModelError, match=r"has </s> as id 2 and <unk> as id 0, expected 0 and 1; learn it with"):
        Tokenizer.load(tmp_path / "other.model")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("vocab_size", 258),
        ("character_coverage", 1.5),
        ("sample_pairs", 0),
        ("bpe_dropout", 1.0),
        ("bpe_dropout", -0.1),
    ],
)
def test_impossible_settings_are_refused(key: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{key} = {value}"):
        TokenizerConfig(**{key: value})  # type: ignore[arg-type]


def test_placeholders_are_pieces_of_their_own(tmp_path: Path) -> None:
    config = TokenizerConfig(vocab_size=300, placeholders=3)
    found = learn_tokenizer(["a long walk by the river"] * 20, config, tmp_path / "source.spm")
    assert found.placeholders == ("⟦1⟧", "⟦2⟧", "⟦3⟧")
    for text, symbols in (("see ⟦2⟧.", ["⟦2⟧"]), ("⟦3⟧⟦1⟧", ["⟦3⟧", "⟦1⟧"]), ("(⟦1⟧) and ⟦4⟧", ["⟦1⟧"])):
        ids = found.encode(text)
        assert found.decode(ids) == text
        assert [piece for piece in found.pieces(ids) if piece in found.placeholders] == symbols


def test_a_vocabulary_has_no_placeholders_unless_asked(tmp_path: Path) -> None:
    config = TokenizerConfig(vocab_size=280)
    found = learn_tokenizer(["see ⟦1⟧, by ⟦1⟧"] * 20, config, tmp_path / "source.spm")
    assert found.placeholders == ()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"placeholders": 9}, "placeholders = 9 is not within 0 and 8; take one of these"),
        ({"placeholders": -1}, "placeholders = -1 is not within 0 and 8"),
        ({"vocab_size": 258}, "vocab_size = 258: 258 are </s>, <unk> and bytes; take 300 or more"),
        ({"vocab_size": 2**40}, "vocab_size = 1099511627776 is too large; take 10000000 or less"),
        ({"character_coverage": float("nan")}, "character_coverage = nan is not within 0.9 and 1.0; take 0.9999"),
        ({"sample_pairs": 0}, "sample_pairs = 0 is less than 1; take 500000, or 1 or more"),
        ({"bpe_dropout": 1.0}, "bpe_dropout = 1.0 is not within 0.0 and 1.0 (excluded); take 0.1, or 0.0"),
        ({"sample_pairs": 0, "bpe_dropout": -1.0}, "sample_pairs = 0 is less than 1; take 500000, or 1 or more; bpe_"),
    ],
)
def test_a_vocabulary_that_cannot_be_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        TokenizerConfig(**keys)


def test_pieces_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "source.spm"
    content = learn_tokenizer(sentences(), TokenizerConfig(vocab_size=400), path).serialized
    assert content.count("ß".encode()) > 0
    path.write_bytes(content.replace("ß".encode(), b"\xff\xfe"))
    with pytest.raises(ModelError, match=r"source\.spm: (has a piece that is not UTF-8|this is not a)"):
        Tokenizer.load(path)


def test_a_file_larger_than_any_vocabulary_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "source.spm").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ModelError, match=r"source\.spm: cannot be read \(has 1,099,511,627,776 bytes, more than"):
        Tokenizer.load(tmp_path / "source.spm")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_digits_are_pieces_of_their_own_where_that_is_asked_for(tmp_path: Path, kind: Any) -> None:
    text = [f"{sentence} 2024 and 1998, 1.500" for sentence in sentences()]
    joined = learn_tokenizer(text, TokenizerConfig(type=kind, vocab_size=400), tmp_path / "joined.spm")
    assert any(re.search(r"\d\d", piece) for piece in joined.pieces(range(joined.vocab_size)))
    config = TokenizerConfig(type=kind, vocab_size=400, split_digits=True)
    split = learn_tokenizer(text, config, tmp_path / "split.spm")
    for text_of_digits in ("ka 1998", "1998.", "(20,24)", "x2024y"):
        for ids in (split.encode(text_of_digits), *split.encode_sampled([text_of_digits], 0.3, 1)):
            pieces = [piece for piece in split.pieces(ids) if re.search(r"\d", piece) and not piece.startswith("<0x")]
            assert "".join(pieces) == re.sub(r"\D", "", text_of_digits)
            assert all(len(piece) == 1 for piece in pieces)
