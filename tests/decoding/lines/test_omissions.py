"""Stretches of words without a counterpart, found by eye in the same numbers."""

import numpy as np
import pytest

from attendo.decoding.lines.omissions import uncovered


@pytest.mark.parametrize(
    ("covered", "expected"),
    [
        ([1.0, 1.0, 0.1, 0.0, 0.2, 0.1, 0.0, 1.0, 1.0], (2, 7)),
        # A covered word within a stretch does not end it; at its ends it does not belong to it.
        ([0.9, 0.1, 0.1, 0.1, 0.7, 0.1, 0.1, 0.1, 0.8], (1, 8)),
        # Of two stretches the longer one.
        ([0.0] * 5 + [1.0] * 6 + [0.0] * 7 + [1.0], (11, 18)),
        ([0.0] * 6, (0, 6)),
        # Four words with nothing are as few as five with little; a text of four words is too short.
        ([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0], (3, 7)),
        ([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0], (0, 0)),
        ([0.0, 0.0, 0.0, 0.0], (0, 0)),
        ([0.5] * 20, (0, 0)),
        ([], (0, 0)),
    ],
)
def test_the_longest_stretch_without_a_counterpart(covered: list[float], expected: tuple[int, int]) -> None:
    assert uncovered(np.array(covered)) == expected


def test_every_stretch_is_made_of_windows_of_five() -> None:
    random = np.random.default_rng(1)
    for _ in range(300):
        covered = random.random(random.integers(5, 40)) * random.choice([0.6, 1.0])
        begin, end = uncovered(covered)
        windows = [place for place in range(len(covered) - 4) if covered[place : place + 5].mean() < 0.3]
        # Brute force: the unions of windows that overlap or touch, without the covered words at their ends.
        unions: list[list[int]] = []
        for place in windows:
            if unions and place < unions[-1][1]:
                unions[-1][1] = place + 5
            else:
                unions.append([place, place + 5])
        longest = max(unions, key=lambda union: union[1] - union[0], default=[0, 0])
        inside = [place for place in range(*longest) if covered[place] < 0.3]
        assert (begin, end) == (
            (inside[0], inside[-1] + 1) if inside else (longest[1], longest[1]) if unions else (0, 0)
        )
