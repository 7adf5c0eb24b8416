"""A text's pieces drawn: all of them, in order, on the page, each of its kind."""

import itertools
from pathlib import Path

import pytest

from attendo.diagrams.pieces import ROLES, WIDTH, Piece, as_text, draw_pieces, pieces_of
from attendo.diagrams.shapes import Label, Panel
from attendo.text.prepared import Vocabulary

PIECES = ("▁The", "▁na", "<0xC3>", "<0xAF>", "ve", "▁", "<unk>", ".", "</s>")
KINDS = ("word", "word", "byte", "byte", "rest", "word", "unknown", "rest", "end")


def test_each_piece_is_of_its_kind() -> None:
    assert tuple(piece.kind for piece in pieces_of(PIECES, range(9))) == KINDS


def test_lines_of_ids_and_pieces() -> None:
    assert as_text(pieces_of(("▁a\u202eb", "</s>"), (7, 0))) == "7\t▁a[U+202E]b\n0\t</s>\n"


@pytest.mark.parametrize("times", [1, 40])
def test_all_pieces_are_drawn_in_order_and_on_the_page(times: int) -> None:
    pieces = pieces_of(PIECES * times, range(9 * times))
    diagram = draw_pieces("The naïve ☃.", pieces, "a model")
    labels = [shape for shape in diagram.shapes if isinstance(shape, Label)]
    shown = [label for label in labels if label.text.isdigit()]
    assert [int(label.text) for label in shown] == list(range(9 * times))
    order = [(label.y, label.x) for label in shown]
    assert order == sorted(order), "as one reads"
    panels = [shape for shape in diagram.shapes if isinstance(shape, Panel)]
    boxes = panels[: len(pieces)]
    assert [box.role for box in boxes] == [ROLES[piece.kind] for piece in pieces]
    assert all(box.x >= 0 and box.x + box.width <= WIDTH and box.y + box.height < diagram.height for box in boxes)
    for one, other in itertools.pairwise(boxes):
        assert other.x >= one.x + one.width or other.y > one.y + one.height


def test_the_legend_has_the_kinds_that_are_there() -> None:
    diagram = draw_pieces("a", (Piece(id=4, text="▁a", kind="word"), Piece(id=0, text="</s>", kind="end")), "a model")
    texts = [shape.text for shape in diagram.shapes if isinstance(shape, Label)]
    assert any("begins a word" in text for text in texts)
    assert not any("byte" in text for text in texts)
    assert "1 word, 1 character, 1 piece and </s>" in texts


def test_a_models_pieces_join_to_the_text(model_folder: Path) -> None:
    tokenizer = Vocabulary.of_model(model_folder).source
    ids = tokenizer.encode("one red ☃.")
    pieces = pieces_of(tokenizer.pieces(ids), ids)
    content = b"".join(
        bytes([int(piece.text[3:5], 16)]) if piece.kind == "byte" else piece.text.encode()
        for piece in pieces
        if piece.kind != "end"
    )
    assert content.decode().replace("▁", " ").strip() == "one red ☃."
