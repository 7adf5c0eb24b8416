from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.batches import length_batches


@given(st.lists(st.integers(1, 30)), st.integers(1, 60), st.integers(1, 8))
def test_each_sentence_once_within_the_bounds(lengths: list[int], max_tokens: int, max_sentences: int) -> None:
    batches = length_batches(lengths, max_tokens=max_tokens, max_sentences=max_sentences)
    flat = [index for batch in batches for index in batch]
    assert sorted(flat) == list(range(len(lengths)))
    assert [lengths[index] for index in flat] == sorted(lengths, reverse=True)
    for batch in batches:
        assert len(batch) <= max_sentences
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= max_tokens


def test_by_hand() -> None:
    # 7 alone fits no second one in 12 tokens; 5 and 4 are 10 with padding; then three at most.
    batches = length_batches([2, 7, 4, 2, 5, 1, 2], max_tokens=12, max_sentences=3)
    assert batches == [[1], [4, 2], [0, 3, 6], [5]]
