"""Drawing the pieces of a text: one box per piece, the pieces of a word side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from attendo.attention_maps.shapes import text_width
from attendo.attention_maps.weights import visible
from attendo.diagrams.shapes import Diagram, Label, Panel, Role, Shape, wrapped

Kind = Literal["word", "rest", "byte", "unknown", "end"]
"""Kind of a piece: beginning or continuation of a word, a byte of a character without a piece, unknown, or `</s>`."""
ROLES: dict[Kind, Role] = {
    "word": "piece", "rest": "attention", "byte": "norm", "unknown": "embedding", "end": "step"
}  # fmt: skip
_LEGEND: dict[Kind, str] = {
    "word": "begins a word (▁ is the space before it)",
    "rest": "goes on",
    "byte": "a byte of a character that is no piece",
    "unknown": "unknown",
    "end": "the end of the text",
}
WIDTH, MARGIN = 860.0, 28.0
SIZE, HEIGHT, LINE = 15.0, 30.0, 62.0
WORD_GAP, PIECE_GAP = 12.0, 3.0


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A piece of a text."""

    id: int
    text: str
    kind: Kind


def pieces_of(pieces: Sequence[str], ids: Sequence[int]) -> tuple[Piece, ...]:
    """Returns pieces with their ids and kinds.

    Args:
        pieces: pieces as `Tokenizer.pieces` returns them.
        ids: their ids.
    """
    return tuple(Piece(id=number, text=piece, kind=_kind(piece)) for piece, number in zip(pieces, ids, strict=True))


def as_text(pieces: Sequence[Piece]) -> str:
    """Returns a line for each piece: its id, a tab, the piece."""
    return "".join(f"{piece.id}\t{visible(piece.text)}\n" for piece in pieces)


def draw_pieces(text: str, pieces: Sequence[Piece], name: str) -> Diagram:
    """Draws a text and its pieces, with their ids.

    Args:
        text: the text.
        pieces: its pieces, `</s>` last.
        name: name of the model.
    """
    title = f"How {name} splits a text into pieces"
    words = len(text.split())
    text_pieces = [piece for piece in pieces if piece.kind != "end"]
    summary = (
        f"{_counted(words, 'word')}, {_counted(len(text), 'character')}, {_counted(len(text_pieces), 'piece')} and </s>"
    )
    shapes: list[Shape] = [
        Label(x=MARGIN, y=42, text=title, size=19, anchor="start", bold=True),
        Label(x=MARGIN, y=64, text=summary, size=12.5, anchor="start", quiet=True),
    ]
    y = 92.0
    for line in wrapped(visible(text), WIDTH - 2 * MARGIN, SIZE):
        shapes.append(Label(x=MARGIN, y=y, text=line, size=SIZE, anchor="start"))
        y += 22
    y += 8
    for x, row, width, piece in _placed(pieces):
        top = y + row * LINE
        shapes.append(Panel(x=x, y=top, width=width, height=HEIGHT, role=ROLES[piece.kind], radius=5))
        shapes.append(Label(x=x + width / 2, y=top + 20, text=visible(piece.text), size=SIZE))
        shapes.append(Label(x=x + width / 2, y=top + HEIGHT + 13, text=str(piece.id), size=9.5, quiet=True))
    rows = max(row for _, row, _, _ in _placed(pieces)) + 1
    y += rows * LINE + 4
    shapes += _legend(pieces, y)
    return Diagram(
        width=WIDTH,
        height=y + 40,
        shapes=tuple(shapes),
        title=title,
        description=f"{visible(text)}: {summary}: {' '.join(visible(piece.text) for piece in pieces)}",
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _kind(piece: str) -> Kind:
    if piece == "</s>":
        return "end"
    if piece == "<unk>":
        return "unknown"
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return "byte"
    return "word" if piece.startswith("▁") else "rest"


def _placed(pieces: Sequence[Piece]) -> Iterator[tuple[float, int, float, Piece]]:
    """Yields the position of each piece, as its left side, row and width, and the piece."""
    x, row = MARGIN, 0
    for number, piece in enumerate(pieces):
        width = max(24.0, text_width(visible(piece.text), SIZE) + 12)
        if number:
            x += WORD_GAP if piece.kind in ("word", "end") else PIECE_GAP
        if x > MARGIN and x + width > WIDTH - MARGIN:
            x, row = MARGIN, row + 1
        yield x, row, width, piece
        x += width


def _legend(pieces: Sequence[Piece], y: float) -> list[Shape]:
    shapes: list[Shape] = []
    x = MARGIN
    for kind, text in _LEGEND.items():
        if any(piece.kind == kind for piece in pieces):
            shapes.append(Panel(x=x, y=y, width=16, height=14, role=ROLES[kind], radius=3))
            shapes.append(Label(x=x + 22, y=y + 11.5, text=text, size=11, anchor="start", quiet=True))
            x += 22 + text_width(text, 11) + 22
    return shapes
