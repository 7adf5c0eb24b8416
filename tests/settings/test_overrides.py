from typing import Any

import pytest

from attendo.errors import RecipeError
from attendo.settings.overrides import Origins, override


@pytest.mark.parametrize(
    ("setting", "path", "document"),
    [
        ("a.b=1", ("a", "b"), {"a": {"b": 1}}),
        (" a . b = [1, 'x']", ("a", "b"), {"a": {"b": [1, "x"]}}),
        ("a.b=plain words", ("a", "b"), {"a": {"b": "plain words"}}),
        ("a.b=x=y", ("a", "b"), {"a": {"b": "x=y"}}),
        ("a.b=" + "[" * 9, ("a", "b"), {"a": {"b": "[" * 9}}),  # too deep for a list: a string, which is then refused
        ("a=1", ("a",), {"a": 1}),
    ],
)
def test_a_value_is_written(setting: str, path: tuple[str, ...], document: dict[str, Any]) -> None:
    found: dict[str, Any] = {}
    assert override(found, setting) == path
    assert found == document


@pytest.mark.parametrize("name", ["mine", "news.2024", "a.b.c"])
def test_an_entry_of_a_list_is_named_dots_and_all(name: str) -> None:
    document: dict[str, Any] = {"data": {"corpora": [{"name": "other"}, {"name": name, "weight": 1}, {"name": ""}]}}
    assert override(document, f"data.corpora.{name}.weight=2") == ("data", "corpora", name, "weight")
    assert document["data"]["corpora"][1] == {"name": name, "weight": 2}
    with pytest.raises(RecipeError, match=r"^--set data.corpora.third.weight=2: data.corpora.third is no table with"):
        override(document, "data.corpora.third.weight=2")
    with pytest.raises(RecipeError, match=r"is a list or one of its entries; name a key of an entry$"):
        override(document, "data.corpora.mine=2")


@pytest.mark.parametrize("setting", ["", "a", "=1", ".=1", "a..b=1", "a.=1", "a\nb"])
def test_what_is_no_setting(setting: str) -> None:
    with pytest.raises(RecipeError, match=r"write it as section.key=value, such as training.max_steps=1000$") as caught:
        override({}, setting)
    assert str(caught.value).isprintable()


def test_a_setting_of_another_encoding() -> None:
    with pytest.raises(RecipeError, match=r"^--set a.b=\\udcff: is not UTF-8; type it in a terminal whose locale is"):
        override({}, "a.b=\udcff")


def test_where_a_key_was_written() -> None:
    origins = Origins(file="a.toml", overrides=(("model", "d_model"), ("name",)))
    assert origins.of(("model", "d_model")) == "--set"
    assert origins.of(("model",)) == "--set", "a table's problem may come of what was set in it"
    assert origins.of(("model", "d_ff")) == "a.toml"
    assert origins.of_text("model.d_model = 3 is odd") == "--set"
    assert origins.of_text("model.d_model_2 = 3 and data.name") == "a.toml"
    assert origins.of_text("name = 3") == "--set"
