"""Recipes: TOML to frozen sections, with every problem of a file found at once, and back to TOML."""

import difflib
import json
import re
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError

from attendo.decoding.config import SearchConfig
from attendo.errors import RecipeError
from attendo.model.config import ModelConfig
from attendo.text.corpora import DataConfig
from attendo.text.tokenization import TokenizerConfig
from attendo.training.config import TrainingConfig

SECTIONS: dict[str, type] = {
    "data": DataConfig,
    "tokenizer": TokenizerConfig,
    "model": ModelConfig,
    "training": TrainingConfig,
    "search": SearchConfig,
}
"""The tables of a recipe, in the order of use."""

SectionT = TypeVar("SectionT")

NONE = "none"
"""What TOML, which has no null, writes for a limit that is not set where the default sets one."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that describes a run.

    Raises:
        ValueError: two sections contradict each other.
    """

    name: str
    """What the run and its model are called; left open, the file's name."""
    folder: Path = field(compare=False)
    """The folder that the recipe's relative paths start from: its own, for a shipped one the current folder."""
    task: Literal["translate"] = "translate"
    """What the model is for."""
    data: DataConfig | None = None
    """The corpora; its `folder` is absolute after loading. None where the recipe has no such section."""
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    """The vocabulary."""
    model: ModelConfig = field(default_factory=ModelConfig)
    """The architecture."""
    training: TrainingConfig = field(default_factory=TrainingConfig)
    """How it is trained."""
    search: SearchConfig = field(default_factory=SearchConfig)
    """How it translates, in validation and afterwards."""
    written: frozenset[str] = field(default=frozenset(), compare=False)
    """The keys that the recipe's file or `--set` has a value for, as `model.d_model`; all others are left to defaults,
    or to the model that is fine-tuned."""

    def __post_init__(self) -> None:
        """Refuses sections that contradict each other, all contradictions at once."""
        problems = []
        if self.model.shared_embeddings == "all" and not self.tokenizer.joint:
            problems.append(
                'model.shared_embeddings = "all" needs one vocabulary, but tokenizer.joint = false learns two; '
                'take shared_embeddings = "target" or joint = true'
            )
        longest = self.data.cleaning.max_tokens if self.data else 0
        if self.model.positions == "learned" and longest > self.model.max_positions:
            problems.append(
                f"data.cleaning.max_tokens = {longest} is more than the model.max_positions = "
                f"{self.model.max_positions} that learned positions reach; take {self.model.max_positions} or less"
            )
        # A model that is fine-tuned brings its own vocabulary, which is not known before it is read.
        learns_vocabulary = self.training.init_from is None
        if self.training.augmentation.placeholders and not self.tokenizer.placeholders and learns_vocabulary:
            problems.append(
                f"training.augmentation.placeholders = {self.training.augmentation.placeholders} needs a vocabulary "
                "that has some; set tokenizer.placeholders = 8, or leave it out"
            )
        if problems:
            raise ValueError("\n".join(problems))


class _Document(BaseModel):
    """A recipe's TOML. Strict: no "3" for 3; and no key that is not ours, here or in a section."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = None
    task: Literal["translate"] = "translate"
    data: DataConfig | None = None
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    search: SearchConfig = SearchConfig()


def shipped_recipes() -> list[str]:
    """The names of the recipes in the package, sorted."""
    return sorted(
        entry.name.removesuffix(".toml") for entry in _shipped_folder().iterdir() if entry.name.endswith(".toml")
    )


def shipped_recipe_text(name: str) -> str:
    """A shipped recipe's TOML as it was written, comments included: what one copies to begin one's own.

    Raises:
        RecipeError: no recipe of that name is shipped.
    """
    if name not in shipped_recipes():
        raise RecipeError(_missing(name, Path(name)))
    return (_shipped_folder() / f"{name}.toml").read_text("utf-8")


def load_recipe(name_or_path: str, overrides: Sequence[str] = ()) -> Recipe:
    """Reads and checks a recipe.

    Args:
        name_or_path: a TOML file, the name of a shipped recipe, or a run folder, whose `recipe.toml` is read.
        overrides: changes as `section.key=value`, the value as in TOML or, where that cannot be, a bare string. A
            corpus is named: `data.corpora.NAME.weight=2`.

    Raises:
        RecipeError: there is no such recipe, it is not TOML, or keys or values cannot be meant; then the message has
            all of them, a line each.
    """
    text, origin, name, folder = _find(name_or_path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"{origin}: not TOML: {error}") from error
    paths = tuple(_override(document, override) for override in overrides)
    origins = _Origins(file=origin, overrides=paths)
    recipe = _validated(document, origins, name=name, folder=folder)
    if recipe.data is None:
        return recipe
    # Absolute from here on, so that a run's own copy of the recipe finds the corpora from wherever the run lies.
    return replace(recipe, data=replace(recipe.data, folder=str((folder / recipe.data.folder).resolve())))


def override_section(
    section: SectionT, name: str, overrides: Sequence[str] = (), *, changes: Mapping[str, Any] | None = None
) -> SectionT:
    """Changes one section, as `translate --set search.max_len_offset=100` does.

    Args:
        section: the section as it stands.
        name: its name, a key of `SECTIONS`.
        overrides: as for `load_recipe`; only keys of this section may be set.
        changes: further values by their keys.

    Raises:
        RecipeError: an override names another section, or a key or value that cannot be meant.
    """
    document: dict[str, Any] = {name: _plain(section) | dict(changes or {})}
    paths = tuple(_override(document, override) for override in overrides)
    for path, override in zip(paths, overrides, strict=True):
        if path[0] != name:
            raise RecipeError(f"--set {override}: only keys of {name} can be set here; write {name}.KEY=VALUE")
    recipe = _validated(document, _Origins(file=f"settings of {name}", overrides=paths), name="", folder=Path())
    changed: SectionT = getattr(recipe, name)
    return changed


def to_toml(recipe: Recipe) -> str:
    """The recipe as resolved, with the value of every key; `load_recipe` of it gives an equal recipe."""
    lines = [f"name = {_toml_value(recipe.name)}", f"task = {_toml_value(recipe.task)}"]
    for name in SECTIONS:
        section = getattr(recipe, name)
        if section is not None:
            lines += _toml_table(name, section, f"[{name}]")
    return "\n".join(lines) + "\n"


# --- finding a recipe -------------------------------------------------------------------------------------------------


def _shipped_folder() -> Traversable:
    return resources.files("attendo") / "recipes"


def _find(name_or_path: str) -> tuple[str, str, str, Path]:
    """The recipe's text, what messages call it, its name, and the folder that its paths start from."""
    path = Path(name_or_path)
    if not path.is_file() and name_or_path in shipped_recipes():
        return shipped_recipe_text(name_or_path), f"{name_or_path}.toml (shipped)", name_or_path, Path.cwd()
    if path.is_dir() and (path / "recipe.toml").is_file():
        path = path / "recipe.toml"
    if not path.is_file():
        raise RecipeError(_missing(name_or_path, path))
    try:
        # Editors on Windows begin a file with a byte order mark, which TOML does not know.
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise RecipeError(f"{path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read ({error.strerror})") from error
    return text, str(path), path.stem, path.parent.resolve()


def _missing(name: str, path: Path) -> str:
    shipped = shipped_recipes()
    neighbours = [str(file) for file in path.parent.glob("*.toml")] if path.parent.is_dir() else []
    near = difflib.get_close_matches(name, [*shipped, *neighbours], n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"{name}: there is no such recipe{hint} Give a TOML file or one of the shipped: {', '.join(shipped)}"


# --- overrides --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Origins:
    """Where a key's value was written."""

    file: str
    overrides: tuple[tuple[str, ...], ...]

    def of(self, path: tuple[str, ...]) -> str:
        if any(override[: len(path)] == path or path[: len(override)] == override for override in self.overrides):
            return "--set"
        return self.file


def _override(document: dict[str, Any], override: str) -> tuple[str, ...]:
    """Writes one `section.key=value` into the document; gives the path it set."""
    key, equals, text = override.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not equals or not all(path):
        raise RecipeError(f"--set {override}: write it as section.key=value, such as training.max_steps=1000")
    table: Any = document
    for depth, part in enumerate(path[:-1]):
        table = _child(table, part)
        if table is None:
            raise RecipeError(f"--set {override}: {'.'.join(path[: depth + 1])} is no table with keys of its own")
    if not isinstance(table, dict):
        raise RecipeError(f"--set {override}: {'.'.join(path[:-1])} is a list; name one of its entries")
    table[path[-1]] = _parse_value(text.strip())
    return path


def _child(table: Any, part: str) -> Any:
    """The table `part` of a table, made where it is missing, or the entry of that name in a list; else None."""
    if isinstance(table, dict):
        child = table.setdefault(part, {})
        return child if isinstance(child, dict | list) else None
    return next((entry for entry in table if isinstance(entry, dict) and entry.get("name") == part), None)


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


# --- checking ---------------------------------------------------------------------------------------------------------


def _validated(document: Mapping[str, Any], origins: _Origins, *, name: str, folder: Path) -> Recipe:
    document = _with_nulls(document, _Document)
    try:
        # As JSON, because pydantic's strictness otherwise takes no table for a dataclass and no list for a tuple.
        checked = _Document.model_validate_json(json.dumps(document, default=_no_key_takes))
    except ValidationError as error:
        raise RecipeError("\n".join(_problems(error, document, origins))) from error
    sections = {section: getattr(checked, section) for section in SECTIONS}
    written = frozenset(f"{section}.{key}" for section in SECTIONS for key in document.get(section) or ())
    try:
        return Recipe(name=checked.name or name, folder=folder, task=checked.task, written=written, **sections)
    except ValueError as error:
        raise RecipeError("\n".join(f"{origins.file}: {line}" for line in str(error).splitlines())) from error


def _no_key_takes(date: Any) -> list[str]:
    """A date or time of TOML as something that is refused wherever it stands, since JSON would make it a string."""
    return [str(date)]


def _with_nulls(value: Any, annotation: Any) -> Any:
    """Puts None for "none" wherever the annotation allows None and no string."""
    kinds = _alternatives(annotation)
    if value == NONE and types.NoneType in kinds and str not in kinds:
        return None
    for kind in kinds:
        if isinstance(value, dict) and (is_dataclass(kind) or kind is _Document):
            hints = get_type_hints(kind)
            return {key: _with_nulls(item, hints.get(key, object)) for key, item in value.items()}
        if isinstance(value, list) and get_origin(kind) is tuple:
            return [_with_nulls(item, get_args(kind)[0]) for item in value]
    return value


def _problems(error: ValidationError, document: Mapping[str, Any], origins: _Origins) -> Iterator[str]:
    """One line for each key that is wrong, in the file's words rather than pydantic's."""
    seen = set()
    for problem in error.errors(include_url=False, include_context=False):
        key, annotation, value = _locate(problem["loc"], document)
        if key in seen:  # a value that may be one of several types is reported once a type
            continue
        seen.add(key)
        yield f"{origins.of(key)}: {_describe(problem, key, annotation, value)}"


def _describe(problem: Any, key: tuple[str, ...], annotation: Any, value: Any) -> str:
    dotted = ".".join(key)
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return _unknown_key(key, value)
    if problem["type"] == "value_error":
        message = str(problem["msg"]).removeprefix("Value error, ")
        first = re.match(r"\w+", message)
        names_key = bool(first and first[0] in {item.name for item in fields(annotation)})
        return f"{dotted}.{message}" if names_key else f"{dotted}: {message}"
    if key == ("task",) and value == "parse":
        return 'task = "parse" is not in this version, which translates; take task = "translate" or leave it out'
    if any(is_dataclass(kind) for kind in _alternatives(annotation)):
        header = f"[[{'.'.join(key[:-1])}]]" if key[-1].isdigit() else f"[{dotted}]"
        return f"{dotted} = {_toml_value(value)} is no table; write {header} with its keys below"
    return f"{dotted} = {_toml_value(value)} is not {_expected(annotation)}"


def _unknown_key(key: tuple[str, ...], value: Any) -> str:
    *parents, last = key
    known = _known_keys(parents)
    message = f"{'.'.join(key)} = {_toml_value(value)}: there is no such key"
    if not parents and isinstance(value, dict):
        message = f"[{last}]: there is no such section"
    homes = [f"{section}.{last}" for section, kind in SECTIONS.items() if last in {item.name for item in fields(kind)}]
    near = difflib.get_close_matches(last, known, n=1, cutoff=0.5)
    if homes and last not in known:
        return f"{message}; it belongs to another section: {' or '.join(homes)}"
    if near:
        return f"{message}; did you mean {'.'.join([*parents, near[0]])}?"
    return f"{message}; {'.'.join(parents) or 'a recipe'} has {', '.join(known)}"


def _known_keys(parents: Sequence[str]) -> list[str]:
    annotation: Any = _Document
    for part in parents:
        annotation = _below(annotation, part)
    return [item.name for item in fields(annotation)] if is_dataclass(annotation) else list(_Document.model_fields)


def _locate(location: Sequence[str | int], document: Any) -> tuple[tuple[str, ...], Any, Any]:
    """The key that a pydantic location means, its annotation and the value received there."""
    key: list[str] = []
    annotation: Any = _Document
    value: Any = document
    for part in location:
        below = _below(annotation, part)
        if below is None and not isinstance(value, dict | list):  # the location goes on with the tried type's name
            break
        value = value[part] if isinstance(part, int) or part in value else None
        named = value.get("name") if isinstance(part, int) and isinstance(value, dict) else None
        key.append(str(part) if not named else str(named))
        annotation = below
    return tuple(key), annotation, value


def _below(annotation: Any, part: str | int) -> Any:
    """The annotation of a table's key or a list's entry; None where there is no such thing."""
    for kind in _alternatives(annotation):
        if is_dataclass(kind) or kind is _Document:
            found = get_type_hints(kind).get(str(part))
            dataclasses = [option for option in _alternatives(found) if is_dataclass(option)]
            return dataclasses[0] if dataclasses else found
        if get_origin(kind) is tuple:
            return get_args(kind)[0]
    return None


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (types.UnionType, Union) else (annotation,)


def _expected(annotation: Any) -> str:
    """What a key takes, in words."""
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "a string in quotes"}
    parts = []
    for kind in _alternatives(annotation):
        if get_origin(kind) is Literal:
            parts += [_toml_value(choice) for choice in get_args(kind)]
        elif get_origin(kind) is tuple:
            parts.append("a list")
        elif kind is not types.NoneType:
            parts.append(words.get(kind, str(kind)))
    return " or ".join(parts)


# --- writing ----------------------------------------------------------------------------------------------------------


def _plain(section: Any) -> dict[str, Any]:
    """A section as TOML would give it."""
    values = tomllib.loads("\n".join(_toml_table("section", section, "[section]")))
    plain: dict[str, Any] = values["section"]
    return plain


def _toml_table(name: str, section: Any, header: str) -> list[str]:
    """A dataclass as a TOML table: its own keys, then the tables within it."""
    lines, tables = ["", header], []
    for item in fields(section):
        value = getattr(section, item.name)
        inner = f"{name}.{item.name}"
        if is_dataclass(value):
            tables += _toml_table(inner, value, f"[{inner}]")
        elif isinstance(value, tuple) and value and is_dataclass(value[0]):
            for entry in value:
                tables += _toml_table(inner, entry, f"[[{inner}]]")
        elif value is not None:
            lines.append(f"{item.name} = {_toml_value(value)}")
        elif item.default is not None and item.default is not MISSING:
            lines.append(f'{item.name} = "{NONE}"')
    return lines + tables


def _toml_value(value: Any) -> str:
    """A value as TOML writes it; also what messages show, so any value of a TOML file can be given."""
    if value is None:
        return f'"{NONE}"'
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return repr(value) if isinstance(value, float) else str(value)
