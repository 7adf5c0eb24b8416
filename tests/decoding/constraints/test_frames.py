"""Translations that keep to a frame: expected is the best of all texts of a small vocabulary that keep to it."""

import re
from itertools import product

import pytest
from tests.decoding.conftest import EOS, Letters, TreeStep, random_table, score_of, token_log_probs

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.constraints.frames import Frame, FrameConstraint
from attendo.decoding.constraints.line_constraints import Constraints, LineRules
from attendo.decoding.searches.beam import beam_search
from attendo.errors import DataError

VOCABULARY, MAX_LEN = 4, 5
FRAMES = [
    ([(1, 2)], (1, 1)),
    ([(1,), (2,)], (0, 1, 0)),
    ([(3, 3), (1,)], (1, 0, 1)),
]


def keeps_to(ids: tuple[int, ...], stretches: list[tuple[int, ...]], gaps: tuple[int, ...]) -> bool:
    """Whether ids are a frame's, by a regular expression; a gap has none of the next stretch's first token."""
    pattern = ""
    for place, most in enumerate(gaps):
        no = stretches[place][0] if place < len(stretches) else "x"
        pattern += f"[^{no}]{{0,{most}}}" + ("".join(map(str, stretches[place])) if place < len(stretches) else "")
    return re.fullmatch(pattern, "".join(map(str, ids))) is not None


@pytest.mark.parametrize(("stretches", "gaps"), FRAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_best_text_of_a_frame_is_found(stretches: list[tuple[int, ...]], gaps: tuple[int, ...], seed: int) -> None:
    table = random_table(seed, 1, VOCABULARY, MAX_LEN)
    constraint = FrameConstraint(stretches, gaps, EOS, frozenset(range(1, VOCABULARY)))
    rules = Rules(max_len=MAX_LEN, constraints=(constraint,))
    [[best, *_]] = beam_search(TreeStep(table), [rules], eos_id=EOS, config=SearchConfig(beam_size=64))
    texts = [
        ids
        for length in range(MAX_LEN + 1)
        for ids in product(range(1, VOCABULARY), repeat=length)
        if keeps_to(ids, stretches, gaps)
    ]
    scores = {ids: score_of(sum(token_log_probs(table[0], [*ids, EOS])), len(ids) + 1, 0.6) for ids in texts}
    assert best.ids == max(scores, key=scores.__getitem__)
    assert best.score == pytest.approx(max(scores.values()), abs=1e-5)


def test_a_gap_begins_with_the_beginning_of_a_word() -> None:
    constraint = FrameConstraint([(1,)], (2, 1), EOS, frozenset({1, 3}))
    assert constraint.following([]).only == frozenset({1, 3})
    assert 2 in constraint.following([3])
    assert EOS not in constraint.following([3])
    assert constraint.following([3, 2]).only == frozenset({1})
    assert constraint.following([1]).only == frozenset({1, 3, EOS})


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(DataError, match=r"a frame of 1 stretches has gaps of \[0\] tokens; give one for each"):
        Frame(stretches=("a",), gaps=(0,))
    with pytest.raises(DataError, match="a stretch of a frame is white space"):
        Frame(stretches=(" ",), gaps=(0, 0))
    with pytest.raises(DataError, match="leave out the target prefix and forced words"):
        Constraints(target_prefix="a", frame=Frame(stretches=("a",), gaps=(0, 0)))


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            Constraints(frame=Frame(stretches=("ä",), gaps=(0, 0))),
            "line 3: the stretch 'ä' cannot be spelled with the model's vocabulary; leave it out",
        ),
        (
            Constraints(frame=Frame(stretches=("abc", "def"), gaps=(0, 0, 0))),
            "line 3: the frame needs a translation of 6 tokens, but it has at most 4; leave stretches out",
        ),
        (
            Constraints(frame=Frame(stretches=("a b",), gaps=(0, 0)), forbidden_words=("b",)),
            "line 3: the stretch 'a b' has a forbidden word in it; drop one of them",
        ),
    ],
)
def test_a_frame_that_cannot_be_kept_is_refused(constraints: Constraints, message: str) -> None:
    rules = LineRules(Letters(), SearchConfig(max_len=4))
    with pytest.raises(DataError, match=re.escape(message)):
        rules.of(3, 5, constraints)
