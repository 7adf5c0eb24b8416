"""Subwords by SentencePiece: text to ids and back without losing a character."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import sentencepiece

from attendo.errors import DataError, ModelError
from attendo.files import write_bytes
from attendo.reading import read_bounded, require_inside
from attendo.text.subwords.pieces import SPACE_MARK
from attendo.text.subwords.placeholders import MAX_PLACEHOLDERS, placeholder

Ids = Sequence[int] | npt.NDArray[np.integer]
"""The ids of one sentence, `(src_len,)` or `(tgt_len,)`."""

EOS_ID = 0
"""`</s>`, which ends every source and every target."""
UNK_ID = 1
"""`<unk>`; with byte fallback no text needs it."""
BYTE_IDS = range(2, 258)
"""The ids of single bytes where `text.subwords.learning` was given no symbols; elsewhere they are
`Tokenizer.byte_ids`."""

# SentencePiece reads back a U+2581 that the text really has as a space.
_SPACE_MARK_BYTES = tuple(SPACE_MARK.encode())
# A quarter of a million pieces of a dozen languages have some 5 MB.
_MAX_FILE_BYTES = 16 << 20

RESERVED_PIECES = BYTE_IDS.stop
"""Pieces that a vocabulary has before there are any for text: `</s>`, `<unk>` and the bytes."""
MAX_VOCAB_SIZE = 10_000_000
# SentencePiece takes a seed of 32 bits, the last of which means "no seed".
_NUM_SEEDS = (1 << 32) - 1
"""Far more than any vocabulary that is in use."""


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """The section `tokenizer` of a recipe."""

    type: Literal["bpe", "unigram"] = "bpe"
    """`bpe` is byte-pair encoding (the paper's English-German); `unigram` corresponds to the word-pieces of its
    English-French."""
    vocab_size: int = 37000
    """Vocabulary size, including `</s>`, `<unk>` and the 256 byte-fallback pieces."""
    joint: bool = True
    """Learn one vocabulary for both languages; if false, one for each."""
    character_coverage: float = 0.9999
    """Share of the text's characters that get their own piece; rarer characters are spelled in bytes."""
    sample_pairs: int = 500_000
    """Maximum number of pairs the vocabulary is learned from, drawn at random."""
    seed: int = 1
    """Random seed for that sample and for learning. It is independent of `training.seed`, so that models of several
    seeds share a vocabulary, as an ensemble requires."""
    bpe_dropout: float = 0.0
    """BPE-dropout, in training only: the probability of skipping a merge (Provilkov et al., 2020). For unigram, the
    alpha of subword sampling."""
    placeholders: int = 0
    """Number of placeholder pieces (at most 8) that stand for URLs, e-mail addresses and long numbers, so that these
    are copied exactly; 0 for none. The model learns them from `training.augmentation.placeholders`."""
    split_digits: bool = False
    """Make every digit a piece of its own, so that numbers are read and written digit by digit."""
    target_symbols: bool = False
    """The target consists of symbols separated by spaces rather than text, such as the trees of `task = "parse"`: its
    vocabulary is the set of these symbols, and `vocab_size` applies to the source only."""

    def __post_init__(self) -> None:
        """Refuses values that no vocabulary can have, all at once.

        Raises:
            ValueError: one is out of range; the message names the key and the range.
        """
        problems = []
        if self.vocab_size <= RESERVED_PIECES:
            problems.append(
                f"vocab_size = {self.vocab_size}: {RESERVED_PIECES} are </s>, <unk> and bytes; take 300 or more"
            )
        elif self.vocab_size > MAX_VOCAB_SIZE:
            problems.append(f"vocab_size = {self.vocab_size} is too large; take {MAX_VOCAB_SIZE} or less")
        if not 0.9 <= self.character_coverage <= 1.0:
            problems.append(f"character_coverage = {self.character_coverage} is not within 0.9 and 1.0; take 0.9999")
        if self.sample_pairs < 1:
            problems.append(f"sample_pairs = {self.sample_pairs} is less than 1; take 500000, or 1 or more")
        if not 0 <= self.seed < _NUM_SEEDS:
            problems.append(f"seed = {self.seed} is not within 0 and {_NUM_SEEDS - 1}; take 1")
        if not 0.0 <= self.bpe_dropout < 1.0:
            problems.append(f"bpe_dropout = {self.bpe_dropout} is not within 0.0 and 1.0 (excluded); take 0.1, or 0.0")
        if not 0 <= self.placeholders <= MAX_PLACEHOLDERS:
            problems.append(
                f"placeholders = {self.placeholders} is not within 0 and {MAX_PLACEHOLDERS}; take one of these"
            )
        if self.target_symbols and self.joint:
            problems.append("target_symbols = true needs a vocabulary for each side; take joint = false")
        if problems:
            raise ValueError("; ".join(problems))


class Tokenizer:
    """Converts text to ids and back with one SentencePiece model, which determines all results.

    For a model that `learn_tokenizer` made, `decode(encode(text)) == text` for every text of Unicode characters. (A
    lone surrogate, which Python's `str` can hold, is not one, and `encode` raises a DataError for it.) Control symbols
    occur only at the end of `encode`: `</s>` or `<0x41>` typed by a user is text.
    """

    def __init__(self, serialized: bytes, name: str = "tokenizer") -> None:
        """Reads a model.

        Args:
            serialized: the content of a SentencePiece model file.
            name: its name in error messages.

        Raises:
            ModelError: it is not a SentencePiece model, or `</s>` and `<unk>` are not its ids 0 and 1.
        """
        self.serialized = serialized
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.load_from_serialized_proto(serialized)
        except (RuntimeError, UnicodeDecodeError) as error:  # a message may quote bytes that are no text
            reason = error.reason if isinstance(error, UnicodeDecodeError) else error
            raise ModelError(f"{name}: this is not a SentencePiece model ({reason})") from error
        if (self._processor.eos_id(), self._processor.unk_id()) != (EOS_ID, UNK_ID):
            raise ModelError(
                f"{name}: has </s> as id {self._processor.eos_id()} and <unk> as id {self._processor.unk_id()}, "
                f"expected {EOS_ID} and {UNK_ID}; learn it with --eos_id=0 --unk_id=1 --bos_id=-1 --pad_id=-1"
            )
        try:
            self._pieces = list(map(self._processor.id_to_piece, range(len(self._processor))))
        except UnicodeDecodeError as error:
            raise ModelError(f"{name}: has a piece that is not UTF-8 ({error.reason}); copy the file again") from error
        ids = dict(zip(self._pieces, range(len(self._pieces)), strict=True))
        byte_ids = [ids.get(f"<0x{byte:02X}>", UNK_ID) for byte in range(256)]
        self._byte_ids = byte_ids if all(map(self._processor.is_byte, byte_ids)) else None
        self._known_characters = set("".join(self._pieces))
        symbols = [placeholder(number) for number in range(1, MAX_PLACEHOLDERS + 1)]
        self.placeholders: tuple[str, ...] = tuple(symbol for symbol in symbols if symbol in ids)
        """The placeholders that are pieces of the vocabulary."""
        self._last_sampler: _NormalizingSampler | None = None

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Reads a SentencePiece model file.

        Raises:
            ModelError: it is missing or not such a file.
        """
        try:
            require_inside(path)
            serialized = read_bounded(path, _MAX_FILE_BYTES)
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror}); this is the SentencePiece model") from error
        return cls(serialized, str(path))

    def save(self, path: Path) -> None:
        """Writes the plain SentencePiece model file."""
        write_bytes(path, self.serialized)

    @property
    def byte_ids(self) -> tuple[int, ...]:
        """The ids of the 256 bytes that spell characters without a piece; empty unless all of them exist."""
        return tuple(self._byte_ids or ())

    @property
    def vocab_size(self) -> int:
        """Pieces in all; ids are below it."""
        return len(self._processor)

    def encode(self, text: str) -> list[int]:
        """Returns the ids of `text`, `</s>` last; the empty text is `[0]`.

        Raises:
            DataError: `text` holds a lone surrogate.
        """
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Encodes texts like `encode`, but faster.

        Raises:
            DataError: one of them contains a lone surrogate.
        """
        return self._encode(texts, self._segmented)

    def encode_sampled(self, texts: Sequence[str], dropout: float, seed: int) -> list[list[int]]:
        """Returns one random segmentation of each text, which decodes to the same text as the usual one.

        Args:
            texts: the texts.
            dropout: BPE: the chance to skip a merge. Unigram: the smoothing of the sampled lattice, where *smaller* is
                more random, as in SentencePiece (0.1 to 0.5 is usual).
            seed: equal seeds, texts and order give equal ids.

        Raises:
            DataError: one of the texts contains a lone surrogate.
            ModelError: the model is neither BPE nor unigram, so that sampling is impossible.
        """
        if not dropout:
            return self.encode_batch(texts)
        return self._encode(texts, lambda given: self._sampler(dropout).sample(given, seed))

    def decode(self, ids: Ids) -> str:
        """Returns the text of `ids`; `</s>` at the end is dropped, invalid bytes become U+FFFD."""
        text: str = self._processor.decode(self._without_eos(ids))
        return text

    def pieces(self, ids: Ids) -> list[str]:
        """Returns the piece of each id, as for the axis of a figure: `▁` is a space, `<0xE2>` a byte."""
        return [self._pieces[i] for i in ids]

    def _encode(self, texts: Sequence[str], segment: Callable[[Sequence[str]], list[list[int]]]) -> list[list[int]]:
        stand_ins = [self._stand_in(text) for text in texts]
        given = [
            text.replace(SPACE_MARK, stand_in) if stand_in else text
            for text, stand_in in zip(texts, stand_ins, strict=True)
        ]
        try:
            for text in given:
                text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise DataError(
                f"{error.object[:80]!r} is not text: character {error.start + 1} is half of a surrogate pair; "
                "read it with errors='replace'"
            ) from error
        batch = segment(given)
        for ids, stand_in in zip(batch, stand_ins, strict=True):
            if stand_in:
                self._spell_space_mark(ids, stand_in)
            ids.append(EOS_ID)
        return batch

    def _segmented(self, texts: Sequence[str]) -> list[list[int]]:
        """Segments texts with SentencePiece."""
        encoded = [text.encode("utf-8") for text in texts]
        if len(encoded) == 1:  # a batch would start threads
            return [self._processor.encode(encoded[0])]
        found: list[list[int]] = self._processor.encode(encoded)
        return found

    def _sampler(self, dropout: float) -> "_NormalizingSampler":
        """Returns the sampler of segmentations; made once per dropout."""
        if self._last_sampler is None or self._last_sampler.dropout != dropout:
            self._last_sampler = _NormalizingSampler(self._processor, self.byte_ids, self.placeholders, dropout)
        return self._last_sampler

    def _stand_in(self, text: str) -> str | None:
        """Returns the character to write for U+2581 in `text`: one in neither it nor a piece, so bytes spell it.

        None where the text has no U+2581, or the model no bytes to spell it with.
        """
        if SPACE_MARK not in text or self._byte_ids is None:
            return None
        used = self._known_characters.union(text)
        # From the last plane, where all characters are four bytes long and unused.
        return next((chr(code) for code in range(0x10FFFF, 0xFFFF, -1) if chr(code) not in used), None)

    def _spell_space_mark(self, ids: list[int], stand_in: str) -> None:
        """Replaces the bytes of the stand-in in `ids` by those of U+2581, in place."""
        assert self._byte_ids is not None
        old = [self._byte_ids[byte] for byte in stand_in.encode()]
        new = [self._byte_ids[byte] for byte in _SPACE_MARK_BYTES]
        position = 0
        while position <= len(ids) - len(old):
            if ids[position : position + len(old)] == old:
                ids[position : position + len(old)] = new
            position += 1

    @staticmethod
    def _without_eos(ids: Ids) -> list[int]:
        plain: list[int] = ids.tolist() if isinstance(ids, np.ndarray) else [int(i) for i in ids]
        while plain and plain[-1] == EOS_ID:
            plain.pop()
        return plain


class _NormalizingSampler:
    """Draws segmentations with the vocabulary of a SentencePiece model, after its normalisation.

    Raises:
        ModelError: the model is neither BPE nor unigram.
    """

    def __init__(
        self,
        processor: sentencepiece.SentencePieceProcessor,
        byte_ids: Sequence[int],
        placeholders: Sequence[str],
        dropout: float,
    ) -> None:
        from attendo.text.subwords.sampling import LatticeSampler, MergeSampler, Sampler, Vocabulary

        self.dropout = dropout
        self._processor = processor
        # SentencePiece puts user-defined symbols before the bytes.
        symbol_ids = {*range(UNK_ID + 1, byte_ids[0] if byte_ids else 0), *map(processor.piece_to_id, placeholders)}
        special = {*symbol_ids, *byte_ids}
        pieces = {
            processor.id_to_piece(i): i
            for i in range(len(processor))
            if not (i in special or processor.is_control(i) or processor.is_unknown(i) or processor.is_unused(i))
        }
        vocabulary = Vocabulary(
            pieces=pieces,
            scores=[processor.get_score(i) for i in range(len(processor))],
            symbols={processor.id_to_piece(i): i for i in symbol_ids if not processor.is_control(i)},
            byte_ids=byte_ids,
            unknown_id=UNK_ID,
        )
        self._sampler: Sampler = (
            LatticeSampler(vocabulary, dropout) if _is_unigram(processor) else MergeSampler(vocabulary, dropout)
        )

    def sample(self, texts: Sequence[str], seed: int) -> list[list[int]]:
        """Draws a segmentation of each text, as ids without `</s>`."""
        return self._sampler.sample([self._processor.normalize(text) if text else "" for text in texts], seed)


def _is_unigram(processor: sentencepiece.SentencePieceProcessor) -> bool:
    """Whether a model is of type unigram, the only type with several best segmentations; otherwise it is BPE.

    Raises:
        ModelError: it is neither.
    """
    try:
        processor.nbest_encode("a", nbest_size=2)
    except RuntimeError:
        try:
            processor.encode("a", enable_sampling=True, alpha=0.1, nbest_size=-1)
        except RuntimeError as error:
            raise ModelError(
                f"a vocabulary of this type has one segmentation only ({error}); set tokenizer.bpe_dropout = 0"
            ) from error
        return False
    return True
