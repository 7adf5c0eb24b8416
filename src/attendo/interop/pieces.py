"""SentencePiece files rewritten so that the ids of their pieces are those of a model's vocabulary.

OPUS-MT models have two SentencePiece files, which cut text into pieces, and `vocab.json`, which numbers the pieces of
both. Ours have one file a side whose order is the numbering. A piece of the vocabulary that a side's file does not know
goes into it as unused: it is never cut from text, and decodes to itself.
"""

from collections.abc import Sequence
from typing import Any

from attendo.errors import ModelError
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID

EOS, UNK, PAD = "</s>", "<unk>", "<pad>"
"""Marian's control symbols."""
SPACE = "\u2581"
"""How pieces write a space; SentencePiece puts one before a text."""


def unnumbered(serialized: bytes, names: Sequence[str]) -> list[str]:
    """Pieces that a file cuts text into and a vocabulary does not have.

    Args:
        serialized: the content of a SentencePiece file.
        names: the vocabulary's pieces.

    Raises:
        ModelError: it is no SentencePiece file.
    """
    proto, known = _parse(serialized), set(names)
    kinds = {proto.SentencePiece.NORMAL, proto.SentencePiece.USER_DEFINED, proto.SentencePiece.BYTE}
    return [piece.piece for piece in proto.pieces if piece.type in kinds and piece.piece not in known]


def renumbered(serialized: bytes, names: Sequence[str], *, unused: Sequence[str] = ()) -> bytes:
    """The SentencePiece file with exactly these pieces in this order.

    Args:
        serialized: the content of a SentencePiece file; given back as it is where its order is this one already.
        names: the piece of each id, `</s>` and `<unk>` first, all distinct.
        unused: those of the names that text must not be cut into, though the file would.

    Raises:
        ModelError: it is no SentencePiece file.
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
    written: bytes = proto.SerializeToString()
    return written


def is_language_code(name: str) -> bool:
    """Whether a piece is what models of several target languages have before a sentence: `>>deu<<` for German."""
    return name.removeprefix(SPACE).startswith(">>") and name.endswith("<<")


def _piece(proto: Any, name: str, known: Any) -> Any:
    """A piece of the new file: as the old one has it, a control symbol, a language's code, or unused."""
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
