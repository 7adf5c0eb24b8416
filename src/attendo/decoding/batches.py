"""Batches of sentences of similar length, for translating and scoring; training has its own in text.batching."""

from collections.abc import Sequence


def length_batches(lengths: Sequence[int], *, max_tokens: int, max_sentences: int) -> list[list[int]]:
    """Indices by length, longest first, cut into batches.

    Args:
        lengths: of each sentence, in tokens.
        max_tokens: maximum number of tokens of a batch, including padding; a longer sentence is a batch of its own.
        max_sentences: maximum number of sentences of a batch.

    Returns:
        Batches of indices into `lengths`, each index once; sentences of equal length stay in their order.
    """
    batches: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        size = len(batches[-1]) + 1 if batches else 0
        if not size or size > max_sentences or size * longest > max_tokens:
            batches.append([])
            longest = lengths[index]
        batches[-1].append(index)
    return batches
