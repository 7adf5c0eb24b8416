"""Changes of a section, by the way that needs no recipe and by that of recipes."""

from typing import Any

import pytest

from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.errors import RecipeError
from attendo.recipe import override_section
from attendo.workflow.changed_section import changed_section

OWN = SearchConfig(beam_size=2, max_len=7, guards=GuardConfig(casing=False))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"beam_size": 1},
        {"length_penalty": 1},
        {"max_len": None},
        {"max_len": "none"},
        {"guards": {"sentences": False}},
        {"forbidden_words": ["a", "b"]},
        {"n_best": 2, "sampling": True},
    ],
)
def test_it_is_what_a_recipe_would_make(changes: dict[str, Any]) -> None:
    known = {key: value for key, value in changes.items() if hasattr(OWN, key)}
    assert changed_section(OWN, "search", changes=known) == override_section(OWN, "search", changes=known)


def test_overrides_are_written_as_in_a_recipe() -> None:
    assert changed_section(OWN, "search", ["search.beam_size=9"]).beam_size == 9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam_size": 0}, r"settings of search: search\.beam_size = 0 is too small; take 1 or more"),
        ({"beam": 3}, r"settings of search: search\.beam = 3: there is no such key"),
        ({"beam_size": "many"}, r'settings of search: search\.beam_size = "many" is not a whole number'),
    ],
)
def test_what_is_wrong_is_said_as_of_a_recipe(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        changed_section(OWN, "search", changes=changes)
