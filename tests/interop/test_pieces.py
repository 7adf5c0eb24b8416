"""Against SentencePiece itself: a rewritten file must cut text into the same pieces, by other ids."""

from io import BytesIO
from typing import Any

import pytest
import sentencepiece

from attendo.errors import ModelError
from attendo.interop.pieces import renumbered, unnumbered

LINES = ["Is there a desk in room two?", "He  has to arrive ﬁrst", "one", ""]


def processor(serialized: bytes) -> Any:
    made = sentencepiece.SentencePieceProcessor()
    made.load_from_serialized_proto(serialized)
    return made


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def file(request: pytest.FixtureRequest, phrases: Any) -> bytes:
    written = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([pair[0] for pair in phrases]),
        model_writer=written,
        vocab_size=150,
        character_coverage=1.0,
        model_type=request.param,
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


def test_the_same_pieces_by_other_ids(file: bytes) -> None:
    before = processor(file)
    pieces = [before.id_to_piece(number) for number in range(len(before)) if not before.is_control(number)]
    names = ["</s>", "<unk>", *reversed([piece for piece in pieces if piece != "<unk>"])]
    after = processor(renumbered(file, names))
    assert [after.id_to_piece(number) for number in range(len(after))] == names
    assert (after.eos_id(), after.unk_id(), after.bos_id()) == (0, 1, -1)
    for line in LINES:
        assert after.encode(line, out_type=str) == before.encode(line, out_type=str)
        assert after.decode(after.encode(line)) == before.decode(before.encode(line))


def test_foreign_pieces_are_never_cut_and_read_back(file: bytes) -> None:
    before = processor(file)
    pieces = [before.id_to_piece(number) for number in range(3, len(before))]
    after = processor(renumbered(file, ["</s>", "<unk>", "▁Is▁there", "▁größer", *pieces]))
    assert after.encode("Is there a desk?", out_type=str) == before.encode("Is there a desk?", out_type=str)
    assert after.decode([3, 3]) == "größer größer"


def test_avoided_pieces_are_cut_smaller(file: bytes) -> None:
    before = processor(file)
    pieces = [before.id_to_piece(number) for number in range(3, len(before))]
    avoided = next(piece for piece in before.encode(LINES[0], out_type=str) if len(piece) > 2)
    after = processor(renumbered(file, ["</s>", "<unk>", *pieces], unused=[avoided]))
    assert avoided not in after.encode(LINES[0], out_type=str)
    assert after.decode(after.encode(LINES[0])) == LINES[0]


def test_pieces_without_a_number_are_found(file: bytes) -> None:
    before = processor(file)
    pieces = [before.id_to_piece(number) for number in range(3, len(before))]
    assert unnumbered(file, ["</s>", "<unk>", *pieces[2:]]) == pieces[:2]


def test_a_file_in_order_stays_as_it_is(file: bytes) -> None:
    before = processor(file)
    assert renumbered(file, [before.id_to_piece(number) for number in range(len(before))]) is file


def test_another_file_is_refused() -> None:
    with pytest.raises(ModelError, match="this is not a SentencePiece model"):
        renumbered(b"nonsense", ["</s>", "<unk>"])
