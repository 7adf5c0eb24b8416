"""Several models as one; expected values by hand, from Python's floats, and from torch."""

import warnings

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.decoding.backends.ensemble import mean_probability


def test_mean_probability_by_hand() -> None:
    # The means of (0.2, 0.8) and (0.6, 0.4) are 0.4 and 0.6.
    one, other = (np.log(np.array([shares], dtype=np.float32)) for shares in ((0.2, 0.8), (0.6, 0.4)))
    np.testing.assert_allclose(np.exp(mean_probability([one, other])), [[0.4, 0.6]], rtol=1e-6)
    assert mean_probability([one]) is one


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), models=st.integers(2, 4), size=st.floats(0.1, 90))
def test_it_is_the_mean_that_torch_finds(seed: int, models: int, size: float) -> None:
    logits = torch.randn(models, 3, 50, generator=torch.Generator().manual_seed(seed)) * size
    log_probs = logits.log_softmax(dim=-1)
    expected = log_probs.double().exp().mean(dim=0).log().float().numpy()
    found = mean_probability(list(log_probs.numpy()))
    assert found.dtype == np.float32
    assert (found <= 0).all()
    likely = expected > -80  # what is below vanishes in float64's exponential no more than in ours
    np.testing.assert_allclose(found[likely], expected[likely], atol=2e-5, rtol=1e-5)


def test_what_none_of_them_allows_stays_impossible_and_what_is_no_number_stays_none() -> None:
    impossible, none = np.float32(-np.inf), np.float32(np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mean_probability(
            [
                np.array([[impossible, -1.0, none]], dtype=np.float32),
                np.array([[impossible, impossible, -1.0]], dtype=np.float32),
            ]
        )
    assert np.isneginf(found[0, 0])
    np.testing.assert_allclose(found[0, 1], -1 - np.log(2), rtol=1e-6)
    assert np.isnan(found[0, 2])
