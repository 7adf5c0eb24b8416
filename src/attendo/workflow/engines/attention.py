"""The attention weights of one pair of sentences, from a model."""

from collections.abc import Callable, Sequence

from attendo.attention_maps.weights import AttentionMap
from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.constraints.words import Subwords
from attendo.errors import DataError

MAX_DRAWN_TOKENS = 256
"""Maximum number of tokens per side for drawing attention; the weights grow quadratically, and more cannot be read."""


def attention_map(
    model: DecodingModel,
    source_tokenizer: Subwords,
    target_tokenizer: Subwords,
    src_ids: list[int],
    tgt_ids: list[int],
    *,
    between: Callable[[], object] = lambda: None,
) -> AttentionMap:
    """Computes the attention of every head and layer for a pair.

    Args:
        model: the model.
        source_tokenizer: names the source's pieces.
        target_tokenizer: names the target's pieces.
        src_ids: the ids of the source, with `</s>`.
        tgt_ids: the ids of the target, with `</s>`.
        between: called between two steps of the computation; an exception from it ends the computation.

    Raises:
        DataError: a side is empty, or longer than can be drawn.
    """
    learned = model.config.positions == "learned"
    limit = min(MAX_DRAWN_TOKENS, model.config.max_positions) if learned else MAX_DRAWN_TOKENS
    sides: Sequence[tuple[str, list[int]]] = (("source", src_ids), ("target", tgt_ids))
    for side, ids in sides:
        if not 1 < len(ids) <= limit:
            raise DataError(f"the {side} has {len(ids) - 1} tokens; 1 to {limit - 1} can be drawn")
    weights = model.attention(src_ids, tgt_ids, between=between)
    return AttentionMap(
        source=tuple(source_tokenizer.pieces(src_ids)),
        target=tuple(target_tokenizer.pieces(tgt_ids)),
        encoder=weights.encoder,
        decoder=weights.decoder,
        cross=weights.encoder_decoder,
    )
