import re
from typing import Any

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


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"min_len": -1}, "min_len = -1 is too small; take 0 or more"),
        ({"max_len": -1}, "max_len = -1 is too small; take 0 or more"),
        ({"min_len": 5, "max_len": 4}, "min_len = 5 is more than max_len = 4; take min_len = 4 or less"),
        ({"no_repeat_ngram": -1}, "no_repeat_ngram = -1 is too small; take 0 or more"),
        ({"forbidden_words": ("a", " ")}, "forbidden_words has a word without a letter; leave it out"),
        ({"beam_groups": 0}, "beam_groups = 0 is too small; take 1 or more"),
        ({"beam_groups": 3}, "beam_size = 4 does not divide into beam_groups = 3; take beam_size = 6"),
        ({"beam_groups": 2, "sampling": True}, "beam_groups = 2 are for beam search, but sampling is on; take beam_gr"),
        ({"diversity_penalty": -0.5}, "diversity_penalty = -0.5 is not 0 or more; take one such as 0.5"),
        ({"diversity_penalty": float("inf")}, "diversity_penalty = inf is not 0 or more"),
        (
            {"temperature": 0.0},
            "temperature = 0.0 is not above 0; take one such as 0.7, or beam_size = 1 ",
        ),
        ({"temperature": float("nan")}, "temperature = nan is not above 0"),
        ({"temperature": 1e-50}, "temperature = 1e-50 is not within 0.001 and 1000; take one such as 0.7"),
        ({"temperature": 1e300}, "temperature = 1e+300 is not within 0.001 and 1000"),
        ({"diversity_penalty": 1e300}, "diversity_penalty = 1e+300 is too large; take one such as 0.5"),
        ({"beam_size": 10**9}, "beam_size = 1000000000 is too large; take 1048576 or less"),
        ({"max_len_offset": 10**9}, "max_len_offset = 1000000000 is too large; take 10000 or less"),
        ({"max_batch_tokens": 2**31}, "max_batch_tokens = 2147483648 is too large; take 1048576 or less"),
        ({"sample_top_k": -1}, "sample_top_k = -1 is too small; take 0 or more"),
        ({"sample_top_p": 0.0}, "sample_top_p = 0.0 is not above 0 and at most 1; take one such as 0.9"),
        ({"sample_top_p": 1.5}, "sample_top_p = 1.5 is not above 0 and at most 1"),
        ({"seed": -1}, "seed = -1 is too small; take 0 or more"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        SearchConfig(**values)


def test_more_samples_than_a_beam_holds() -> None:
    assert SearchConfig(sampling=True, n_best=50).n_best == 50
