"""Recipes: from TOML to frozen sections, with all problems of a file reported at once, and back to TOML."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from attendo.decoding.config import SearchConfig
from attendo.errors import RecipeError
from attendo.model.config import ModelConfig
from attendo.parsing.config import ParsingConfig
from attendo.settings.characters import has_control_characters, is_unicode
from attendo.settings.checking import checked, joined_problems
from attendo.settings.overrides import Origins, override
from attendo.settings.tables import toml_table
from attendo.settings.toml import (
    MAX_BYTES,
    excerpt,
    one_line,
    read_toml,
    toml_text,
    toml_value,
)
from attendo.text.corpora import DataConfig
from attendo.text.proper_names import has_names, known_languages
from attendo.text.subwords.tokenization import RESERVED_PIECES, TokenizerConfig
from attendo.training.config import TrainingConfig

SECTIONS: dict[str, type] = {
    "data": DataConfig,
    "tokenizer": TokenizerConfig,
    "model": ModelConfig,
    "training": TrainingConfig,
    "search": SearchConfig,
    "parsing": ParsingConfig,
}
"""The tables of a recipe, in the order of use."""

SectionT = TypeVar("SectionT")

Task = Literal["translate", "parse"]
"""The purpose of a model."""

_MAX_PATH_CHARACTERS = 4096
_MAX_NAME_BYTES = 200
"""Maximum length of a run's name: file systems allow 255 bytes, of which fingerprints and the prefixes of drafts need
some."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The full description of a run.

    Raises:
        ValueError: two sections contradict each other.
    """

    name: str
    """The name of the run and its model; by default the file's name."""
    folder: Path = field(compare=False)
    """The folder that the recipe's relative paths start from: its own, for a shipped one the current folder."""
    task: Task = "translate"
    """The purpose of the model: text into text, or sentences into trees."""
    data: DataConfig | None = None
    """The corpora; its `folder` is absolute after loading. None where the recipe has no such section."""
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    """The vocabulary."""
    model: ModelConfig = field(default_factory=ModelConfig)
    """The architecture."""
    training: TrainingConfig = field(default_factory=TrainingConfig)
    """The settings of training."""
    search: SearchConfig = field(default_factory=SearchConfig)
    """The search settings of translation, in validation and afterwards."""
    parsing: ParsingConfig | None = None
    """The linearization of trees, and the symbols that the parser may write; of `task = "parse"` alone."""
    written: frozenset[str] = field(default=frozenset(), compare=False)
    """The keys that the recipe's file or `--set` has a value for, as `model.d_model`; all others are left to defaults,
    or to the model that is fine-tuned."""

    def __post_init__(self) -> None:
        """Rejects sections that contradict each other, with all contradictions at once."""
        problems = [*_name_problems(self.name), *self._unreachable(), *self._other_task(), *self._unteachable()]
        distilled = any(corpus.distilled for corpus in self.data.corpora) if self.data else False
        problems += [*self._without_names(), *self.training.r_drop_conflicts(self.model, distilled=distilled)]
        # A model that is fine-tuned brings its own shape and vocabulary, which are not known before it is read.
        problems += self._unlearnable() if self.training.init_from is None else []
        if problems:
            raise ValueError("\n".join(problems))

    def _unreachable(self) -> Iterator[str]:
        """Yields a message for each setting that the model's shape does not allow."""
        if self.model.shared_embeddings == "all" and not self.tokenizer.joint:
            yield (
                'model.shared_embeddings = "all" needs one vocabulary, but tokenizer.joint = false learns two; '
                'take shared_embeddings = "target" or joint = true'
            )
        longest = self.data.cleaning.max_tokens if self.data else 0
        if self.model.positions == "learned" and longest > self.model.max_positions:
            yield (
                f"data.cleaning.max_tokens = {longest} is more than the model.max_positions = "
                f"{self.model.max_positions} that learned positions reach; take {self.model.max_positions} or less"
            )

    def _other_task(self) -> Iterator[str]:
        """Yields a message for each setting that belongs to another task."""
        if (self.task == "parse") != (self.parsing is not None):
            yield 'the section parsing goes with task = "parse"; set that, or leave the section out'
        if self.task == "parse" and not self.tokenizer.target_symbols:
            yield 'task = "parse" writes symbols; set tokenizer.target_symbols = true and tokenizer.joint = false'
        if self.task == "translate" and self.model.next_word:
            yield 'model.next_word = true is for task = "parse", whose output has a symbol for each word; leave it out'
        if self.parsing is not None and self.parsing.order == "bottom-up" and self.model.parser_stack:
            yield 'model.parser_stack = true needs brackets, which parsing.order = "bottom-up" has not; leave it out'
        corpora = (*self.data.corpora, *([self.data.valid] if self.data.valid else [])) if self.data else ()
        for corpus in corpora:
            if (corpus.trees is not None) != (self.task == "parse"):
                yield (
                    f'data.corpora: {corpus.name or "valid"} and task = "{self.task}" do not go together; a parser '
                    "learns from trees = FILE, a translator from other files"
                )

    def _unteachable(self) -> Iterator[str]:
        """Yields a message for each unmet requirement of a corpus that is learned from a model's probabilities."""
        for corpus in self.data.corpora if self.data else ():
            label = f"data.corpora.{corpus.name}.distilled = true"
            if corpus.distilled and self.training.init_from is None:
                yield (
                    f"{label} learns from the model that training.init_from names; name one there, or leave the key out"
                )
            if corpus.distilled and self.model.draft_tokens:
                yield (
                    f"{label} and model.draft_tokens = {self.model.draft_tokens} do not go together, since a drafter "
                    "learns from the tokens alone; leave one of them out"
                )

    def _without_names(self) -> Iterator[str]:
        """Languages that an augmentation with names has no names for."""
        if self.data is None or not self.training.augmentation.needs_names:
            return
        for key in ("source_language", "target_language"):
            language = getattr(self.data, key)
            if language and not has_names(language):
                yield (
                    f'training.augmentation.names and letters have no names for data.{key} = "{language}", only for '
                    f"{', '.join(known_languages())}; leave them out"
                )

    def _unlearnable(self) -> Iterator[str]:
        """Yields a message for each setting that conflicts with a learned vocabulary or with a model of its own."""
        size, layers = self.tokenizer.vocab_size, self.model.decoder_layers
        if self.model.draft_tokens:
            yield (
                f"model.draft_tokens = {self.model.draft_tokens}: a drafter is trained for a model that there is; name "
                "that in training.init_from, or leave the key out"
            )
        if self.training.augmentation.placeholders and not self.tokenizer.placeholders:
            yield (
                f"training.augmentation.placeholders = {self.training.augmentation.placeholders} needs a vocabulary "
                "that has some; set tokenizer.placeholders = 8, or leave it out"
            )
        symbols = self.tokenizer.placeholders + (len(self.data.source_tags) if self.data else 0)
        if size <= RESERVED_PIECES + symbols:
            yield (
                f"tokenizer.vocab_size = {size}: {RESERVED_PIECES} are </s>, <unk> and bytes, {symbols} placeholders "
                f"and tags, so that none is left for text; take {RESERVED_PIECES + symbols + 42} or more"
            )
        if self.model.start != "zero" and self.model.start >= size:
            yield (
                f"model.start = {self.model.start} is no id of a vocabulary of tokenizer.vocab_size = {size}; "
                'take "zero" or a smaller one'
            )
        if self.search.alignment_layer is not None and self.search.alignment_layer > layers:
            yield (
                f"search.alignment_layer = {self.search.alignment_layer}, but the decoder has model.num_layers = "
                f"{layers}; take 1 to {layers}, or leave it out"
            )
        heads = self.model.num_heads
        if self.search.alignment_head is not None and self.search.alignment_head > heads:
            yield (
                f"search.alignment_head = {self.search.alignment_head}, but a layer has model.num_heads = {heads}; "
                f"take 1 to {heads}, or leave it out"
            )


def _name_problems(name: str) -> Iterator[str]:
    """Yields reasons why a run and its folders cannot have a name; an empty name is not set."""
    way_out = "take letters, digits, spaces, -, _ and ., as folders are named so"
    if has_control_characters(name) or re.search(r"[/\\]", name) or name in (".", ".."):
        yield f"name = {excerpt(name)} is no name of a folder; {way_out}"
    elif len(name.encode()) > _MAX_NAME_BYTES:
        yield f"name = {excerpt(name)} is longer than {_MAX_NAME_BYTES} bytes; take a shorter one"


class _Document(BaseModel):
    """A recipe's TOML. Strict: no "3" for 3; and no key that is not ours, here or in a section."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = None
    task: Task = "translate"
    data: DataConfig | None = None
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    search: SearchConfig = SearchConfig()
    parsing: ParsingConfig | None = None


def shipped_recipes() -> list[str]:
    """The names of the recipes in the package, sorted; a recipe in a folder is `FOLDER/NAME`."""
    return sorted(_recipes_below(_shipped_folder(), ""))


@dataclass(frozen=True, kw_only=True)
class RecipeGroup:
    """Shipped recipes that belong together."""

    title: str
    """The purpose of the recipes."""
    names: tuple[str, ...]
    """The names of the recipes, the most useful ones first."""
    folder: str = ""
    """The study that trains them, whose name is that of their folder; empty for all others."""


_TO_START_FROM = ("tiny", "multi30k-en-de", "tatoeba-en-de", "tatoeba-de-en", "fine-tuning", "back-translation")
_OF_THE_PAPER = ("base", "big", "base-en-fr", "big-en-fr")


def recipe_groups() -> tuple[RecipeGroup, ...]:
    """The shipped recipes in groups, each recipe in one: those to start from, the paper's, parsers, and studies."""
    names = shipped_recipes()
    alone = [name for name in names if "/" not in name and name not in (*_TO_START_FROM, *_OF_THE_PAPER)]
    parsers = sorted((name for name in alone if name.startswith("parsing-")), key=lambda name: name != "parsing-tiny")
    others = tuple(name for name in alone if name not in parsers)
    folders = dict.fromkeys(name.partition("/")[0] for name in names if "/" in name)
    return (
        RecipeGroup(title="To start from", names=(*_TO_START_FROM, *others)),
        RecipeGroup(title="The paper's models", names=_OF_THE_PAPER),
        RecipeGroup(title="Parsers", names=tuple(parsers)),
        *(
            RecipeGroup(
                title=f"trained by `attendo reproduce {folder}`",
                names=tuple(name for name in names if name.startswith(f"{folder}/")),
                folder=folder,
            )
            for folder in folders
        ),
    )


def shipped_recipe_text(name: str) -> str:
    """A shipped recipe's TOML text, comments included, as a template for one's own.

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
        overrides: changes as `section.key=value`, the value in TOML syntax or otherwise a bare string. A corpus is
            named: `data.corpora.NAME.weight=2`.

    Raises:
        RecipeError: there is no such recipe, it is not TOML, or keys or values are invalid; then the message lists all
            of them, one per line.
    """
    text, origin, name, folder = _find(name_or_path)
    document = read_toml(text, origin)
    origins = Origins(file=origin, overrides=tuple(override(document, setting) for setting in overrides))
    found = checked(document, _Document, origins)
    written = frozenset(f"{section}.{key}" for section in SECTIONS for key in document.get(section) or ())
    try:
        sections = {section: getattr(found, section) for section in SECTIONS}
        if found.task == "parse" and found.parsing is None:
            sections["parsing"] = ParsingConfig()
        recipe = Recipe(name=found.name or name, folder=folder, task=found.task, written=written, **sections)
    except ValueError as error:
        problems = joined_problems(f"{origins.of_text(line)}: {line}" for line in str(error).splitlines())
        raise RecipeError(problems) from error
    if recipe.data is None:
        return recipe
    # Absolute from here on, so that a run's copy of the recipe finds the corpora wherever the run is.
    where = f"{origins.of(('data', 'folder'))}: data.folder"
    return replace(recipe, data=replace(recipe.data, folder=_absolute(folder, recipe.data.folder, where)))


def override_section(
    section: SectionT, name: str, overrides: Sequence[str] = (), *, changes: Mapping[str, Any] | None = None
) -> SectionT:
    """Changes one section, as `translate --set search.max_len_offset=100` does.

    Args:
        section: the present section.
        name: its name, a key of `SECTIONS`.
        overrides: as for `load_recipe`; only keys of this section may be set.
        changes: further values by their keys.

    Raises:
        RecipeError: an override names another section, or an invalid key or value.
    """
    plain = read_toml("\n".join(toml_table(name, section, f"[{name}]")), name)
    document = {name: plain[name] | dict(changes or {})}
    paths = tuple(override(document, setting) for setting in overrides)
    for path, setting in zip(paths, overrides, strict=True):
        if path[0] != name:
            raise RecipeError(f"--set {one_line(setting)}: only keys of {name} can be set here; write {name}.KEY=VALUE")
    changed: SectionT = getattr(
        checked(document, _Document, Origins(file=f"settings of {name}", overrides=paths)), name
    )
    return changed


def to_toml(recipe: Recipe) -> str:
    """The resolved recipe with the value of every key; `load_recipe` reads it as an equal recipe."""
    lines = [f"name = {toml_value(recipe.name)}", f"task = {toml_value(recipe.task)}"]
    for name in SECTIONS:
        section = getattr(recipe, name)
        if section is not None:
            lines += toml_table(name, section, f"[{name}]")
    return "\n".join(lines) + "\n"


# --- finding a recipe -------------------------------------------------------------------------------------------------


def _shipped_folder() -> Traversable:
    return resources.files("attendo") / "recipes"


def _recipes_below(folder: Traversable, prefix: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _recipes_below(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".toml"):
            yield prefix + entry.name.removesuffix(".toml")


def _find(name_or_path: str) -> tuple[str, str, str, Path]:
    """The recipe's text, its name in messages, its name, and the folder that its paths are relative to."""
    path, shown = Path(name_or_path), one_line(name_or_path, _MAX_PATH_CHARACTERS)
    try:
        if not path.is_file() and name_or_path in shipped_recipes():
            name = name_or_path.replace("/", "-")  # folders are named so
            return shipped_recipe_text(name_or_path), f"{name_or_path}.toml (shipped)", name, Path.cwd()
        if path.is_dir() and (path / "recipe.toml").is_file():
            path = path / "recipe.toml"
        if not path.is_file():
            raise RecipeError(_missing(name_or_path, path))
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        folder = path.parent.resolve()
    except OSError as error:
        raise RecipeError(f"{shown}: cannot be read ({error.strerror}); name a TOML file") from error
    shown = one_line(str(path), _MAX_PATH_CHARACTERS)
    if len(content) > MAX_BYTES:
        raise RecipeError(f"{shown}: has more than {MAX_BYTES:,} bytes, which no recipe has; name another file")
    return toml_text(content, shown), shown, path.stem, folder


def _missing(name: str, path: Path) -> str:
    shipped = shipped_recipes()
    neighbours = [str(file) for file in path.parent.glob("*.toml")] if path.parent.is_dir() else []
    near = difflib.get_close_matches(name, [*shipped, *neighbours], n=1)
    hint = f"; did you mean {one_line(near[0])}?" if near else "."
    name = one_line(name, _MAX_PATH_CHARACTERS)
    return f"{name}: there is no such recipe{hint} Give a TOML file or one of the shipped: {', '.join(shipped)}"


def _absolute(folder: Path, data_folder: str, where: str) -> str:
    """The folder of the corpora, relative to that of the recipe or absolute.

    Raises:
        RecipeError: no folder can have that name.
    """
    try:
        absolute = str((folder / data_folder).resolve())
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle; NUL
        raise RecipeError(
            f"{where} = {excerpt(data_folder)} is no path ({one_line(str(error))}); correct it"
        ) from error
    if not is_unicode(absolute):
        raise RecipeError(
            f"{where} = {excerpt(absolute)} is not UTF-8, which recipes are written in; rename the folder"
        )
    return absolute
