from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attendo.text.duplicates
from attendo.text.duplicates import DigestFile, pair_digest


def flags(path: Path, pairs: list[tuple[str, str]]) -> list[bool]:
    with DigestFile(path) as digests:
        for source, target in pairs:
            digests.add(pair_digest(source, target))
        return [bool(flag) for flag in digests.find_duplicates()]


def by_a_set(pairs: list[tuple[str, str]]) -> list[bool]:
    return [pair in pairs[:number] for number, pair in enumerate(pairs)]


@pytest.mark.parametrize("rows_at_once", [1, 3, 1 << 18])
@given(pairs=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))))
def test_all_but_the_first_of_equal_pairs_are_found(
    tmp_path_factory: pytest.TempPathFactory, rows_at_once: int, pairs: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("digests") / "digests"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attendo.text.duplicates, "_ROWS_AT_ONCE", rows_at_once)  # so that a few pairs make several parts
        assert flags(path, pairs) == by_a_set(pairs)
    assert not path.exists()


def test_the_sides_are_not_run_together() -> None:
    assert (
        len({pair_digest("a b", "c"), pair_digest("a", "b c"), pair_digest("a ", "b c"), pair_digest("c", "a b")}) == 4
    )


def test_many_pairs_in_several_parts(tmp_path: Path) -> None:
    pairs = [(str(number % 400_000), "x") for number in range(600_000)]
    assert flags(tmp_path / "digests", pairs) == [False] * 400_000 + [True] * 200_000
