"""Rewrites SentencePiece files so that the ids of their pieces are those of a model's vocabulary.

OPUS-MT models have two SentencePiece files, which split text into pieces, and `vocab.json`, which assigns ids to the
pieces of both. Attendo's models have one file per side, whose order gives the ids. A piece of the vocabulary that is
not in a side's file is added as unused: text is never split into it, and it decodes to itself.
"""

from collections.abc import Sequence
from typing import Any

from attendo.errors import ModelError
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID

EOS, UNK, PAD = "</s>", "<unk>", "<pad>"
"""Marian's control symbols."""
SPACE = "\u2581"
"""SentencePiece's mark of a space; it also puts one before each text."""


def unnumbered(serialized: bytes, names: Sequence[str]) -> list[str]:
    """Returns the pieces that a file can split text into and that a vocabulary does not have.

    Args:
        serialized: the content of a SentencePiece file.
        names: the pieces of the vocabulary.

    Raises:
        ModelError: the content is not that of a SentencePiece file.
    """
    proto, known = _parse(serialized), set(names)
    kinds = {proto.SentencePiece.NORMAL, proto.SentencePiece.USER_DEFINED, proto.SentencePiece.BYTE}
    return [piece.piece for piece in proto.pieces if piece.type in kinds and piece.piece not in known]


def renumbered(serialized: bytes, names: Sequence[str], *, unused: Sequence[str] = ()) -> bytes:
    """Returns the SentencePiece file with exactly the given pieces, in the given order.

    Args:
        serialized: the content of a SentencePiece file; returned unchanged if it has that order already.
        names: the piece of each id, `</s>` and `<unk>` first, all distinct.
        unused: names of pieces that text must no longer be split into.

    Raises:
        ModelError: the content is not that of a SentencePiece file.
    """
    proto = _parse(serialized)
    if not unused and [piece.piece for piece in proto.pieces] == list(names):
        return serialized
    avoided = set(unused)
    known = {piece.piece: piece for piece in proto.pieces if piece.piece not in avoided}
    pieces = [_piece(proto, name, known.get(name)) for name in names]
    del proto.pieces[:]
    proto.pieces.extend(pieces)
    spec = proto.trainer_spec
    spec.vocab_size = len(names)
    spec.eos_id, spec.unk_id, spec.bos_id, spec.pad_id = EOS_ID, UNK_ID, -1, -1
    spec.eos_piece, spec.unk_piece = EOS, UNK
    if sum(piece.type == proto.SentencePiece.BYTE for piece in pieces) < 256:
        spec.byte_fallback = False
    content: bytes = proto.SerializeToString()
    return content


def is_language_code(name: str) -> bool:
    """Returns whether a piece is a language code such as `>>deu<<`, which multilingual models read first in a text."""
    return name.removeprefix(SPACE).startswith(">>") and name.endswith("<<")


def _piece(proto: Any, name: str, known: Any) -> Any:
    """Returns a piece of the new file: the old file's piece, a control symbol, a language code, or an unused piece."""
    kind = proto.SentencePiece
    fixed = {EOS: kind.CONTROL, UNK: kind.UNKNOWN, PAD: kind.CONTROL}
    if name in fixed:
        return kind(piece=name, score=0.0, type=fixed[name])
    if known is not None:
        return known
    return kind(piece=name, score=0.0, type=kind.USER_DEFINED if is_language_code(name) else kind.UNUSED)


def _parse(serialized: bytes) -> Any:
    import sentencepiece.sentencepiece_model_pb2 as messages
    from google.protobuf.message import DecodeError

    try:
        return messages.ModelProto.FromString(serialized)
    except DecodeError as error:
        raise ModelError(f"this is not a SentencePiece model ({error})") from error
