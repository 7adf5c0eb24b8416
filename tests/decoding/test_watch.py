"""Lines cancelled amid a search, held against batches without them: the others' results keep every token and bit."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from threading import Event
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from tests.decoding.conftest import EOS, Letters, TreeStep, random_table
from tests.native.conftest import one_variant, random_model

from attendo.decoding.backends.models import decoding_model
from attendo.decoding.backends.native_model import NativeModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.translation import Translation
from attendo.decoding.lines.translator import Translator
from attendo.decoding.parallel import IdSearch, on_threads
from attendo.decoding.searches.blockwise import blockwise_search
from attendo.decoding.searches.search import search
from attendo.decoding.watch import Cancelled, Pauses, Watch
from attendo.model.transformer import Transformer
from attendo.native.library import Kernels

MakeModel = Callable[..., Transformer]
SENTENCES, MAX_LEN = 4, 5
SEARCHES: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 3, "n_best": 2},
    {"beam_size": 4, "beam_groups": 2, "n_best": 2},
    {"sampling": True, "n_best": 2},
]


class Looks:
    """Cancels lines from a look on, and counts the looks."""

    def __init__(self, numbers: Sequence[int] = (), at: int = 0) -> None:
        self._numbers, self._at = frozenset(numbers), at
        self.count = 0

    def __call__(self) -> AbstractSet[int]:
        self.count += 1
        return self._numbers if self.count > self._at else frozenset()


def test_a_watch_over_some_sentences_knows_their_lines() -> None:
    watch = Watch(between_steps=lambda: {7, 9, 100}, lines=[5, 7, 7, 9])
    assert watch.cancelled() == {1, 2, 3}
    assert watch.of([3, 0]).cancelled() == {0}
    assert watch.of([0]).cancelled() == set()


@pytest.mark.parametrize("settings", SEARCHES)
@pytest.mark.parametrize("gone", [(0,), (2,), (1, 3), (0, 1, 2, 3)])
def test_sentences_leave_at_any_step_and_the_others_do_not_change(
    settings: dict[str, Any], gone: tuple[int, ...]
) -> None:
    table = random_table(3, SENTENCES, 3, MAX_LEN)
    config = SearchConfig(**settings)
    rules = [Rules(max_len=MAX_LEN - sentence % 2, seed=sentence) for sentence in range(SENTENCES)]
    stay = [sentence for sentence in range(SENTENCES) if sentence not in gone]

    whole = search(TreeStep(table), rules, eos_id=EOS, config=config)
    without = search(TreeStep(table[stay]), [rules[each] for each in stay], eos_id=EOS, config=config) if stay else []
    assert [whole[each] for each in stay] == without
    left_early = False
    for at in range(MAX_LEN + 2):
        looks = Looks([10 + sentence for sentence in gone], at)
        watch = Watch(between_steps=looks, lines=[10 + sentence for sentence in range(SENTENCES)])
        found = search(TreeStep(table), rules, eos_id=EOS, config=config, watch=watch)
        assert [found[each] for each in stay] == without
        # Done before it was cancelled, or nothing at all.
        assert all(found[each] in ([], whole[each]) for each in gone)
        left_early |= any(not found[each] for each in gone)
        if not stay:
            assert looks.count <= at + 1
    assert left_early


@pytest.mark.parametrize("settings", SEARCHES)
def test_a_sentence_that_has_left_costs_no_further_row(settings: dict[str, Any]) -> None:
    table = random_table(1, 2, 3, MAX_LEN)
    table[:, :, EOS] = -50.0  # both go to their longest length
    config = SearchConfig(**settings)
    step = TreeStep(table)
    watch = Watch(between_steps=Looks([1], at=2), lines=[0, 1])
    search(step, [Rules(max_len=MAX_LEN)] * 2, eos_id=EOS, config=config, watch=watch)
    width = config.n_best if config.sampling else config.beam_size
    assert step.calls == [2, 2 * width, 2 * width, *[width] * (MAX_LEN - 2)]


@one_variant
def test_writing_is_stopped_between_two_calls_of_the_kernels(kernels: Kernels) -> None:
    model = NativeModel(random_model(draft_tokens=3), dtype="float32", kernels=kernels)
    config, rules, source = SearchConfig(beam_size=1), Rules(max_len=90), [5, 9, 33, 2, 17, 0]
    unwatched = blockwise_search(model.step([source]), rules, eos_id=EOS, config=config)
    looks = Looks()
    watched = blockwise_search(
        model.step([source]), rules, eos_id=EOS, config=config, watch=Watch(between_steps=looks, lines=[1])
    )
    assert watched == unwatched
    assert looks.count == (unwatched.steps - 1) // 8 >= 2
    stopped = Looks([1], at=1)
    with pytest.raises(Cancelled):
        blockwise_search(
            model.step([source]), rules, eos_id=EOS, config=config, watch=Watch(between_steps=stopped, lines=[1])
        )
    assert stopped.count == 2


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_lines_of_several_batches(make_model: MakeModel, threads: int, beam_size: int) -> None:
    model = decoding_model(make_model())
    sources = [[2 + (7 * i + j) % 20 for j in range(1 + i % 5)] + [0] for i in range(12)]
    rules = [Rules(max_len=9, seed=i) for i in range(12)]
    lines = [1 + i // 2 for i in range(12)]  # two sentences a line
    ids = IdSearch([model], SearchConfig(beam_size=beam_size, max_batch_sentences=4), threads=threads)
    whole = ids.search(sources, rules)
    for at in (0, 1, 4):
        found = ids.search(sources, rules, Watch(between_steps=Looks([2, 5], at), lines=lines))
        for i in range(12):
            assert found[i] == whole[i] or (not found[i] and lines[i] in (2, 5))
        if not at:
            assert [i for i in range(12) if not found[i]] == [2, 3, 8, 9]


def test_what_is_cancelled_before_its_batch_is_not_begun(make_model: MakeModel) -> None:
    class Counting(NativeModel):
        begun = 0

        def step(self, sources: Sequence[Sequence[int]], *, threads: int = 1) -> Any:
            self.begun += len(sources)
            return super().step(sources, threads=threads)

    usual = decoding_model(make_model())
    if not isinstance(usual, NativeModel):
        pytest.skip("no native kernels")
    model = Counting(make_model(), dtype="float32", kernels=usual._kernels)
    watch = Watch(between_steps=Looks([1, 2, 4]), lines=[1, 2, 3, 4])
    found = IdSearch([model], SearchConfig()).search([[3, 0]] * 4, [Rules(max_len=4)] * 4, watch)
    assert (model.begun, [bool(each) for each in found]) == (1, [False, False, True, False])


def test_an_error_in_one_batch_stops_the_others() -> None:
    begun = Event()

    def work(batch: Sequence[int], check: Callable[[], None]) -> None:
        if batch == [0]:
            assert begun.wait(120)
            raise ValueError("told")
        begun.set()
        while True:  # ends by `check` alone
            check()

    with pytest.raises(ValueError, match="told"):
        on_threads(work, [[0], [1]], 2)


# --- lines of text ----------------------------------------------------------------------------------------------------

LINES = ("a red dog", "the b. the c. d", "", "aaaa aaaa aaaa aaaa", "some words", "e")


@pytest.fixture
def translator(make_model: MakeModel, letters: Letters) -> Translator:
    # Guards are on: lines are searched again, and one of several sentences in parts.
    return Translator([decoding_model(make_model(end=0.5))], letters, letters, SearchConfig(beam_size=2), threads=2)


def constrained(lines: Sequence[str]) -> list[tuple[str, Constraints]]:
    return [(line, Constraints()) for line in lines]


def test_a_line_is_cancelled_at_any_look_and_the_others_do_not_change(translator: Translator) -> None:
    whole = translator.translate(LINES)
    every = Looks()
    assert translator.translate_watched(constrained(LINES), every) == whole
    assert every.count > 20

    for at in range(every.count):
        found = translator.translate_watched(constrained(LINES), Looks([12, 14], at), first=11)
        for number, (one, other) in enumerate(zip(found, whole, strict=True), start=11):
            assert one == other or (one is None and number in (12, 14))
    found = translator.translate_watched(constrained(LINES), Looks([12, 14]), first=11)
    assert [number for number, each in enumerate(found, start=11) if each is None] == [12, 14]


def test_a_line_is_cancelled_and_its_equal_is_not(translator: Translator) -> None:
    lines = ("a red dog", "e", "e", "e")
    whole = translator.translate(lines)
    found = translator.translate_watched(constrained(lines), Looks([2, 4]))
    assert found == [whole[0], None, whole[2], None]


def test_what_is_cancelled_is_not_counted(translator: Translator) -> None:
    translator.translate_watched(constrained(LINES), Looks([1, 2]))
    assert translator.counts.lines == len(LINES) - 2


def test_other_work_between_steps_changes_neither(translator: Translator, letters: Letters) -> None:
    other = Translator(translator.models, letters, letters, SearchConfig(beam_size=3))
    outer, inner = translator.translate(LINES), other.translate(LINES[::-1])
    found: list[list[Translation]] = []

    def between_steps() -> AbstractSet[int]:
        if len(found) < 5:
            found.append(other.translate(LINES[::-1]))
        return frozenset()

    assert translator.translate_watched(constrained(LINES), between_steps) == outer
    assert found == [inner] * 5


def test_what_is_raised_between_steps_ends_the_call(translator: Translator) -> None:
    class Enough(Exception):
        pass

    looks = 0

    def between_steps() -> AbstractSet[int]:
        nonlocal looks
        looks += 1
        if looks == 7:
            raise Enough
        return frozenset()

    expected = translator.translate(LINES)
    with pytest.raises(Enough):
        translator.translate_watched(constrained(LINES), between_steps)
    assert translator.translate(LINES) == expected
    assert np.isfinite(expected[0].score)


@pytest.mark.parametrize("size", [5, 50, 500])
def test_reading_and_checking_pause_behind_a_few_hundred_characters(size: int) -> None:
    looks = Looks()
    pauses = Pauses(looks)
    counts = []
    for _ in range(100):
        pauses.before("x" * size)
        counts.append(looks.count)
    between = [size * (counts.index(count + 1) - counts.index(count)) for count in range(1, counts[-1])]
    assert all(max(size, 200) <= characters <= 200 + size for characters in between)
    assert counts[-1] >= 100 * size // (200 + size)


def test_many_lines_are_read_with_pauses(translator: Translator) -> None:
    """So that a server can do more urgent work before the first step."""

    class Enough(Exception):
        pass

    def between_steps() -> AbstractSet[int]:
        raise Enough

    lines = ["a red dog and a cab " * 4] * 30
    with patch.object(type(translator.models[0]), "step") as step, pytest.raises(Enough):
        translator.translate_watched(constrained(lines), between_steps)
    step.assert_not_called()
