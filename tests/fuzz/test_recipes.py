"""Recipes from a stranger: whatever a file or a `--set` says, the answer is a recipe that can be meant, or a problem.

Documents are made of the keys of a whole recipe, so that a key that is added later is among them.
"""

import datetime
import json
import math
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from attendo.errors import RecipeError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe, load_recipe, override_section, to_toml
from attendo.text.augmentation import Augmentation
from attendo.text.corpora import epoch_weights
from attendo.training.schedule import learning_rate
from attendo.training.update import make_optimizer
from attendo.workflow.preparation.prepared_data import prepared_folder

BASE = """
[[data.corpora]]
name = "first"
source = "a.en"
target = "a.de"
tags = ["old"]
[[data.corpora]]
name = "second.2"
tsv = "b.tsv"
share = 0.25
source_tag = "<b>"
[data.valid]
tsv = "v.tsv"
"""
LONGEST_LINE = 2000
CHECKED_LAYERS = 3
"""Of a stack that is built: the others are like them."""

fuzz = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A recipe with every key that is written with a value."""
    path = tmp_path_factory.mktemp("whole") / "whole.toml"
    path.write_text(BASE, encoding="utf-8")
    return tomllib.loads(to_toml(load_recipe(str(path))))


@cache
def small_model() -> Transformer:
    """What an optimizer is made for: its settings do not depend on the model."""
    return Transformer(ModelConfig(d_model=4, d_ff=4, num_layers=1, num_heads=1), 5, 5)


# --- what is held -----------------------------------------------------------------------------------------------------


def answer(path: Path, content: bytes | str, *overrides: str) -> Recipe | list[str]:
    """The recipe, or the lines of what is wrong with it, each of which says where, what and the way out."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        return load_recipe(str(path), overrides)
    except RecipeError as error:
        lines = str(error).split("\n")
    assert len(lines) <= 41
    for line in lines:
        assert len(line) <= LONGEST_LINE
        assert line.isprintable(), ascii(line)
        if line != "and more; correct these first":
            assert line.startswith((f"{path}: ", "--set: ", "--set ")), line
            said = line.removeprefix(f"{path}: ")
            assert "; " in said or "did you mean" in said or said.startswith(("not TOML: ", "--set ")), line
    return lines


def hold_meant(recipe: Recipe, path: Path) -> None:
    """An accepted recipe is the same when it is written and read, and all that is made of it can be made."""
    path.write_text(to_toml(recipe), encoding="utf-8")
    assert load_recipe(str(path)) == recipe
    hold_buildable(recipe)
    config, width = recipe.training, recipe.model.d_model
    for step in (1, config.warmup_steps, config.max_steps):
        assert 0 <= learning_rate(step, width, config) < math.inf
    make_optimizer(small_model(), config)
    Augmentation(config.augmentation, [], ("en", "de"))
    assert (Path("runs") / recipe.name).parent == Path("runs"), "a name leads out of the folder"
    if recipe.data is not None and recipe.data.corpora:
        assert prepared_folder(recipe, path.parent).parent == path.parent
        weights = epoch_weights(recipe.data.corpora, [7] * len(recipe.data.corpora))
        assert all(0 <= weight < math.inf for weight in weights)
        for corpus in recipe.data.corpora:
            assert not any(file.exists() for file in corpus.paths(Path(recipe.data.folder)))


def hold_buildable(recipe: Recipe) -> None:
    """The model has shapes that torch has: built where a tensor has no memory."""
    fewer = {key: min(getattr(recipe.model, key), CHECKED_LAYERS) for key in ("encoder_layers", "decoder_layers")}
    config = replace(recipe.model, **{f"num_{key}": value for key, value in fewer.items()})
    with torch.device("meta"):
        model = Transformer(config, recipe.tokenizer.vocab_size, recipe.tokenizer.vocab_size)
    assert model.num_parameters > 0
    assert config.start_id < recipe.tokenizer.vocab_size


def hold(path: Path, content: bytes | str, *overrides: str) -> None:
    found = answer(path, content, *overrides)
    if isinstance(found, Recipe):
        hold_meant(found, path)


# --- what is tried ----------------------------------------------------------------------------------------------------


def toml(value: Any) -> str:
    """Any value as TOML, by another way than attendo's: tables inline, characters as they are."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return repr(value) if isinstance(value, float) else json.dumps(value)


def document(tables: dict[str, Any]) -> str:
    return "".join(f"{toml(key)} = {toml(value)}\n" for key, value in tables.items())


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all that a document holds, tables and lists included."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))


def at(tables: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        tables = tables[part]
    return tables


characters = st.characters(exclude_categories=["Cs"])
words = st.text(characters, max_size=12) | st.sampled_from(
    [
        "",
        "none",
        "x" * 100_000,
        "a/b",
        "../..",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "a\nb",
        "zero",
        "nan",
        "auto",
        ".",
        "ü" * 300,
    ]
)
integers = st.integers() | st.sampled_from(
    [0, -1, 1, 2, 7, 2**31, 2**31 - 1, 2**53, 2**63 - 1, 2**63, -(2**63), 10**30, 10**190]
)
floats = st.floats() | st.sampled_from([0.0, -0.0, 1.0, 1e-320, 1e-45, 1e38, 1e308, math.inf, -math.inf, math.nan])
dates = st.sampled_from([datetime.date(2012, 1, 1), datetime.time(7, 32), datetime.datetime(2012, 1, 1, 7, 32)])
scalars = st.booleans() | integers | floats | words | dates
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=5
)


@fuzz
@given(data=st.data())
def test_any_document_of_known_and_unknown_keys(data: st.DataObject, whole: dict[str, Any], tmp_path: Path) -> None:
    known = sorted({str(path[-1]) for path in leaves(whole)})
    keys = st.sampled_from(known) | words
    tables = st.dictionaries(keys, values | st.dictionaries(keys, values, max_size=4), max_size=4)
    sections = st.fixed_dictionaries({}, optional=dict.fromkeys((*whole, "other"), tables))
    hold(tmp_path / "a.toml", document(data.draw(sections | tables)))


def mutate(draw: Any, tables: dict[str, Any]) -> str:
    """Changes one thing of a document, and says what."""
    path = draw(st.sampled_from(list(leaves(tables))))
    *parents, last = path
    table = at(tables, tuple(parents))
    kind = draw(st.sampled_from(["value", "value", "value", "key", "section", "list", "entry"]))
    if kind == "key" and isinstance(table, dict):
        table[draw(words)] = table.pop(last)
    elif kind == "section":
        other = at(tables, tuple(draw(st.sampled_from([path for path in leaves(tables) if len(path) == 1]))))
        if isinstance(other, dict):
            other[str(last)] = json.loads(json.dumps(at(tables, path)))
    elif kind == "list":
        table[last] = [table[last], table[last]]
    elif kind == "entry" and isinstance(table, list):
        table.append(table[last])
    else:
        table[last] = draw(values)
    return f"{kind} at {path}"


@fuzz
@given(data=st.data(), times=st.integers(1, 4))
def test_a_whole_recipe_with_something_changed(
    data: st.DataObject, times: int, whole: dict[str, Any], tmp_path: Path
) -> None:
    tables = json.loads(json.dumps(whole))
    for _ in range(times):
        try:
            mutate(data.draw, tables)
        except TypeError:  # a date of an earlier change, which JSON cannot copy
            assume(False)
    hold(tmp_path / "a.toml", document(tables))


@fuzz
@given(data=st.data())
def test_a_number_out_of_its_range_is_never_believed(
    data: st.DataObject, whole: dict[str, Any], tmp_path: Path
) -> None:
    tables = json.loads(json.dumps(whole))
    numbers = [path for path in leaves(tables) if isinstance(at(tables, path), int | float)]
    for path in data.draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=3)):
        at(tables, path[:-1])[path[-1]] = data.draw(integers if isinstance(at(tables, path), int) else floats)
    hold(tmp_path / "a.toml", document(tables))


@fuzz
@given(data=st.data())
def test_a_misspelt_key_is_told_the_right_one(data: st.DataObject, whole: dict[str, Any], tmp_path: Path) -> None:
    tables = json.loads(json.dumps(whole))
    keys = [path for path in leaves(tables) if isinstance(path[-1], str) and len(path[-1]) > 3]
    path = data.draw(st.sampled_from(keys))
    key, table = str(path[-1]), at(tables, path[:-1])
    place = data.draw(st.integers(0, len(key) - 2))
    slips = [key[:place] + key[place + 1 :], key[:place] + key[place] + key[place:]]
    slips.append(key[:place] + key[place + 1] + key[place] + key[place + 2 :])
    misspelt = data.draw(st.sampled_from(slips))
    assume(misspelt not in table)
    table[misspelt] = table.pop(key)
    problems = answer(tmp_path / "a.toml", document(tables))
    assert isinstance(problems, list)
    (line,) = [line for line in problems if f"{misspelt}" in line and "there is no such" in line]
    (suggested,) = re.findall(r"did you mean ([\w.\"-]+)\?", line)
    # min_len may be a slip of max_len and of min_len; a key of the same table in any case
    near = suggested.rpartition(".")[2]
    assert near == key or (near in table and abs(len(near) - len(key)) <= 1), line


@fuzz
@given(st.binary(max_size=200) | st.text(characters, max_size=200).map(str.encode))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    hold(tmp_path / "a.toml", content)


@fuzz
@given(data=st.data())
def test_a_recipes_text_with_bytes_changed(data: st.DataObject, whole: dict[str, Any], tmp_path: Path) -> None:
    content = bytearray(document(whole).encode() if data.draw(st.booleans()) else BASE.encode())
    pieces = [b"[", b"]", b"{", b"}", b"=", b".", b'"', b"'", b'"""', b"'''", b"\\", b"\n", b"#", b",", b"\xff", b"\0"]
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 20))
        content[place : place + length] = data.draw(st.sampled_from(pieces) | st.binary(max_size=4))
    hold(tmp_path / "a.toml", bytes(content))


@fuzz
@given(data=st.data())
def test_any_setting(data: st.DataObject, whole: dict[str, Any], tmp_path: Path) -> None:
    keys = [".".join(map(str, path)) for path in leaves(whole)]
    keys += [
        "data.corpora.first.weight",
        "data.corpora.second.2.weight",
        "data.corpora.third.weight",
        "data.corpora.first",
    ]
    # What a command line has in another encoding comes as lone surrogates.
    anything = st.text(max_size=30)
    signs = st.sampled_from(["=", "=", "=", " = ", "", "=="])
    setting = st.builds("{}{}{}".format, st.sampled_from(keys) | anything, signs, values.map(toml) | anything)
    hold(tmp_path / "a.toml", BASE, *data.draw(st.lists(setting | anything, min_size=1, max_size=3)))


@fuzz
@given(setting=st.text(max_size=30), value=values, key=words)
def test_any_change_of_one_section(setting: str, value: Any, key: str) -> None:
    search = Recipe(name="", folder=Path()).search
    with suppress(RecipeError):
        override_section(search, "search", [setting, f"search.{setting}"])
    with suppress(RecipeError):
        override_section(search, "search", changes={key: value, "beam_size": value})
