import pytest

from attendo.decoding.config import SearchConfig


def test_the_papers_settings_are_the_defaults() -> None:
    # Section 6.1: "beam search with a beam size of 4 and length penalty 0.6 ... input length + 50".
    config = SearchConfig()
    assert (config.beam_size, config.length_penalty, config.max_len_offset) == (4, 0.6, 50)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="beam_size = 0 is too small; take 1 or more") as raised:
        SearchConfig(beam_size=0, n_best=3, max_len_offset=-1, length_penalty=float("nan"))
    assert "max_len_offset = -1 is too small; take 0 or more" in str(raised.value)
    assert "length_penalty = nan is not between -10 and 10; take one such as 0.6" in str(raised.value)
    assert "n_best = 3 is more than beam_size = 0 can hold; take beam_size = 3 or more" in str(raised.value)
