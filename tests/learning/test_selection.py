"""The share of fine-tuned weights: which of some perplexities it is, worked out by hand."""

import pytest

from attendo.learning.selection import Candidate, choose_share


@pytest.mark.parametrize(
    ("perplexities", "chosen"),
    [
        # The whole expects the corrections most, and the general text no less than before.
        ({0.0: (6.0, 4.0), 0.5: (5.0, 3.9), 1.0: (4.0, 3.95)}, 1.0),
        # It expects the general text less: the half is taken, though the quarter is more careful still.
        ({0.0: (6.0, 4.0), 0.25: (5.5, 3.9), 0.5: (5.0, 3.95), 1.0: (4.0, 4.1)}, 0.5),
        # A rise of half a per cent is allowed; one of one and a half is not.
        ({0.0: (6.0, 4.0), 0.5: (5.0, 3.9), 1.0: (4.0, 4.02)}, 1.0),
        ({0.0: (6.0, 4.0), 0.5: (5.0, 3.9), 1.0: (4.0, 4.06)}, 0.5),
        # More of the weights may be too much of a good thing.
        ({0.0: (6.0, 4.0), 0.5: (4.5, 3.9), 1.0: (5.0, 3.9)}, 0.5),
        # All do harm: the one that does least, for the gate to judge.
        ({0.0: (6.0, 4.0), 0.5: (5.0, 4.5), 1.0: (4.0, 5.0)}, 0.5),
    ],
)
def test_the_share_that_learns_most_of_those_that_forget_nothing(
    perplexities: dict[float, tuple[float, float]], chosen: float
) -> None:
    asked: list[float] = []

    def candidate(share: float) -> Candidate:
        asked.append(share)
        corrections, general = perplexities[share]
        return Candidate(share=share, corrections=corrections, general=general)

    shares = [share for share in perplexities if share]
    found = choose_share(shares, candidate)
    assert found.chosen.share == chosen
    assert asked == [0.0, *sorted(shares, reverse=True)]
    assert found.before == Candidate(share=0.0, corrections=6.0, general=4.0)
    assert [each.share for each in found.candidates] == sorted(shares, reverse=True)
