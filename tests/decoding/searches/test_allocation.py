"""Expected values: worked examples."""

import pytest

from attendo.decoding.searches.allocation import deal


@pytest.mark.parametrize(
    ("needs", "free", "beam_size", "expected"),
    [
        # Nothing is missing: the most probable.
        ([0, 0, 0, 0], [True] * 4, 2, [0, 1]),
        # The most probable first; then the banks in turn, from the one that misses least.
        ([2, 2, 2, 1, 0, 0], [True] * 6, 1, [0]),
        ([2, 2, 2, 1, 0, 0], [True] * 6, 2, [0, 4]),
        ([2, 2, 2, 1, 0, 0], [True] * 6, 4, [0, 1, 3, 4]),
        ([2, 2, 2, 1, 0, 0], [True] * 6, 5, [0, 1, 3, 4, 5]),
        ([2, 2, 2, 1, 0, 0], [True] * 6, 9, [0, 1, 2, 3, 4, 5]),
        # Those that owe something leave the first place to those that pay.
        ([2, 2, 1], [False, False, True], 1, [2]),
        # Nobody may have it: the banks alone.
        ([2, 1, 1], [False] * 3, 1, [1]),
        ([], [], 3, []),
    ],
)
def test_places_are_dealt(needs: list[int], free: list[bool], beam_size: int, expected: list[int]) -> None:
    assert deal(needs, free, beam_size) == expected
