"""The recipes that `attendo reproduce table2` trains and the test sets it translates, at each of the three scales."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from attendo.errors import DataError
from attendo.paper.declared import declared
from attendo.paper.experiment import StudyRequest
from attendo.paper.phrasebook_texts import corpora_folder
from attendo.recipe import Recipe, load_recipe

TEST_PAIRS = 60
"""Number of test pairs at the scale `tiny`."""
_LANGUAGES = ("en", "de")


@dataclass(frozen=True, kw_only=True)
class TestSet:
    """A test set: sentences and their translations, one file per language."""

    __test__ = False  # not a test class for pytest

    name: str
    """Name for tables."""
    prefix: Path
    """Path of the files without the suffixes `.en`, `.de` and so on."""
    note: str = ""
    """Remark on the text, such as `written by templates`."""

    def path(self, language: str) -> Path:
        """The file of a language."""
        return self.prefix.with_name(f"{self.prefix.name}.{language}")

    def has(self, *languages: str) -> bool:
        """Whether the files of these languages exist."""
        return all(self.path(language).is_file() for language in languages)


@dataclass(frozen=True, kw_only=True)
class Direction:
    """A translation direction: the recipes that are trained on one corpus, and a test set."""

    name: str
    """Languages of source and target, such as `en-de`; also the name of the folder of its runs."""
    recipes: Mapping[str, Recipe]
    """Recipes by row of Table 2: `base`, `big`."""
    test: TestSet
    """Test set of the same kind of text as the corpus."""

    @property
    def languages(self) -> tuple[str, str]:
        """Language codes of source and target."""
        source, target = self.name.split("-")
        return source, target


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The directions and test sets of a study."""

    directions: tuple[Direction, ...]
    shipped_tests: tuple[TestSet, ...]
    """Test sets for the models that come with the package."""
    missing_tests: tuple[TestSet, ...]
    """Further test sets for these models, whose files are missing."""


def make_plan(request: StudyRequest) -> Plan:
    """Reads the recipes of a scale, and checks which test sets exist.

    Raises:
        DataError: the test set of a direction is missing, which would otherwise show only after the training.
        RecipeError: a folder of corpora was given for the scale `tiny`.
    """
    match request.scale:
        case "tiny":
            plan = _tiny(request)
        case "small":
            plan = _small(request)
        case "paper":
            plan = _full_size(request)
    for direction in plan.directions:
        missing = [str(path) for path in map(direction.test.path, direction.languages) if not path.is_file()]
        if missing and request.scale != "tiny":
            raise DataError(f"the test set of {direction.name} is missing: {', '.join(missing)}; {_WAY_OUT}")
    return plan


_WAY_OUT = (
    "--data names the folder that has wmt14-en-de and wmt14-en-fr, as `attendo data get` makes them (--scale "
    "paper), or that has multi30k with test_2016_flickr (--scale small)"
)


def recipes_of(request: StudyRequest) -> dict[str, dict[str, Recipe]]:
    """The recipes of a scale by direction, then by row. The corpora need not exist.

    Raises:
        RecipeError: a folder of corpora was given for the scale `tiny`.
    """
    folder = corpora_folder(request)
    root = request.folder if request.scale == "tiny" else folder
    return {
        direction: {row: _located(recipe, root) for row, recipe in rows.items()}
        for direction, rows in _RECIPES[request.scale].items()
    }


_RECIPES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "tiny": {"en-de": {"base": "table2/tiny"}},
    "small": {"en-de": {"base": "table2/small"}},
    "paper": {"en-de": {"base": "base", "big": "big"}, "en-fr": {"base": "base-en-fr", "big": "big-en-fr"}},
}
"""Names of each scale's recipes, by direction and row of Table 2."""


def _tiny(request: StudyRequest) -> Plan:
    recipes = recipes_of(request)["en-de"]
    test = TestSet(name="phrasebook test", prefix=request.folder / "phrasebook" / "test", note="written by templates")
    direction = Direction(name="en-de", recipes=recipes, test=test)
    return Plan(directions=(direction,), shipped_tests=(test,), missing_tests=())


def _small(request: StudyRequest) -> Plan:
    recipes = recipes_of(request)["en-de"]
    root = corpus_folder(recipes["base"]).parent
    declared_tests = declared("table2/tests.toml", "small", tuple[TestSet, ...])
    shipped = tuple(replace(test, prefix=root / test.prefix) for test in declared_tests)
    return Plan(
        directions=(Direction(name="en-de", recipes=recipes, test=shipped[0]),),
        shipped_tests=tuple(test for test in shipped if test.has(*_LANGUAGES)),
        missing_tests=tuple(test for test in shipped if not test.has(*_LANGUAGES)),
    )


def _full_size(request: StudyRequest) -> Plan:
    directions = []
    for name, recipes in recipes_of(request).items():
        prefix = corpus_folder(recipes["base"]) / "newstest2014"
        test = TestSet(name="newstest2014", prefix=prefix, note="news; the paper's test set")
        directions.append(Direction(name=name, recipes=recipes, test=test))
    tests = tuple(direction.test for direction in directions if direction.test.has(*_LANGUAGES))
    return Plan(directions=tuple(directions), shipped_tests=tests, missing_tests=())


def _located(name: str, root: Path | None) -> Recipe:
    recipe = load_recipe(name)
    if root is None:
        return recipe
    return load_recipe(name, [f"data.folder={root.resolve() / corpus_folder(recipe).name}"])


def corpus_folder(recipe: Recipe) -> Path:
    """The folder of a recipe's corpora."""
    assert recipe.data is not None, "a recipe of Table 2 names its corpora"
    return recipe.folder / recipe.data.folder
