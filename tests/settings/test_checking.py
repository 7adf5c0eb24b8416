"""Problems in the file's words, for a small document of the tests' own."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from attendo.errors import RecipeError
from attendo.settings.checking import MAX_PROBLEMS, checked, joined_problems
from attendo.settings.overrides import Origins
from attendo.settings.tables import toml_table
from attendo.settings.toml import read_toml


@dataclass(frozen=True, kw_only=True)
class Guard:
    casing: bool = True
    patience: int | None = None


@dataclass(frozen=True, kw_only=True)
class Horse:
    name: str = ""
    legs: int = 4

    def __post_init__(self) -> None:
        if self.legs < 0:
            raise ValueError(
                f"legs = {self.legs} is too small; take 0 or more; name = {self.name} and legs are odd; sell it"
            )


@dataclass(frozen=True, kw_only=True)
class Stable:
    horses: tuple[Horse, ...] = ()
    best: Horse | None = None
    feed: Literal["hay", "oats"] | int = "hay"
    minutes: float | None = 10.0
    words: tuple[str, ...] = ()
    guard: Guard = Guard()


class Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str | None = None
    stable: Stable = Stable()


def check(text: str, *overrides: tuple[str, ...]) -> Document:
    return checked(read_toml(text, "f"), Document, Origins(file="f", overrides=overrides))


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "stable.feed = [1]",
            ['stable.feed = [1] is not "hay" or "oats" or a whole number; correct it, or leave it out for "hay"'],
        ),
        (
            "stable.minutes = 'x'",
            ['stable.minutes = "x" is not a number or "none"; correct it, or leave it out for 10.0'],
        ),
        (
            "stable.guard.patience = 1.5",
            ["stable.guard.patience = 1.5 is not a whole number; correct it, or leave it out"],
        ),
        (
            "stable.words = 'x'",
            [
                'stable.words = "x" is not a list, each entry a string in quotes; correct it, or leave it out for []',
            ],
        ),
        ("stable.words = ['x', 3]", ["stable.words.1 = 3 is not a string in quotes; correct it, or leave it out"]),
        ("title = 2012-01-01", ["title = 2012-01-01 is not a string in quotes; correct it, or leave it out"]),
        ("stable = 3", ["stable = 3 is no table; write [stable] with its keys below"]),
        (
            "stable.horses = 3",
            ["stable.horses = 3 is no list of tables; write [[stable.horses]] with its keys below, once for each"],
        ),
        ("stable.horses = [3]", ["stable.horses.0 = 3 is no table; write [[stable.horses]] with its keys below"]),
        ("stable.best = [3]", ["stable.best = [3] is no table; write [stable.best] with its keys below"]),
        (
            "[[stable.horses]]\nname = 'a'\nlgs = 1\n[[stable.horses]]\nname = 'b'\nlgs = 2",
            [
                "stable.horses.a.lgs = 1: there is no such key; did you mean stable.horses.a.legs?",
                "stable.horses.b.lgs = 2: there is no such key; did you mean stable.horses.b.legs?",
            ],
        ),
        (  # two of one name are told apart by their numbers, and none of them is lost
            "[[stable.horses]]\nname = 'a'\nlegs = ''\n[[stable.horses]]\nname = 'a'\nlegs = ''",
            [f'stable.horses.{n}.legs = "" is not a whole number; correct it, or leave it out for 4' for n in (0, 1)],
        ),
        (  # a name that is a number is not taken for one
            "[[stable.horses]]\nname = '1'\nlegs = ''\n[[stable.horses]]\nlegs = ''",
            [f'stable.horses.{n}.legs = "" is not a whole number; correct it, or leave it out for 4' for n in (0, 1)],
        ),
        (
            "[[stable.horses]]\nname = ['a']\nlegs = ''",
            [
                'stable.horses.0.name = ["a"] is not a string in quotes; correct it, or leave it out for ""',
                'stable.horses.0.legs = "" is not a whole number; correct it, or leave it out for 4',
            ],
        ),
        (
            "stable.casing = 1",
            ["stable.casing = 1: there is no such key here; it belongs elsewhere: stable.guard.casing"],
        ),
        ("stabel.feed = 1", ["[stabel]: there is no such section; did you mean stable?"]),
        ("x = 1", ["x = 1: there is no such key; a recipe has title, stable"]),
        ("stable.guard.x = 1", ["stable.guard.x = 1: there is no such key; stable.guard has casing, patience"]),
        ('"a\\nb" = "c\\u001b"', ['"a\\nb" = "c\\u001b": there is no such key; a recipe has title, stable']),
        (
            "stable.feed = 9223372036854775808",
            ["stable.feed = 9223372036854775808 is beyond the 64 bits of TOML's integers; take a smaller one"],
        ),
        (
            "[[stable.horses]]\nname='a'\nlegs = -1",
            [
                "stable.horses.a.legs = -1 is too small; take 0 or more",
                "stable.horses.a.name = a and legs are odd; sell it",
            ],
        ),
    ],
)
def test_problems_in_the_files_words(text: str, problems: list[str]) -> None:
    with pytest.raises(RecipeError) as caught:
        check(text)
    assert str(caught.value).split("\n") == [f"f: {problem}" for problem in problems]


def test_none_is_written_where_a_key_takes_it() -> None:
    stable = check('title = "none"\n[stable]\nminutes = "none"\nbest = "none"\nwords = ["none"]').stable
    assert (stable.minutes, stable.best, stable.words) == (None, None, ("none",))
    assert check('title = "none"').title == "none", "a string may be that word"


def test_a_table_is_read_back() -> None:
    stable = Stable(horses=(Horse(name="a"), Horse(legs=3)), best=Horse(), minutes=None, words=("x",), feed=3)
    assert check("\n".join(toml_table("stable", stable, "[stable]"))).stable == stable
    assert check("\n".join(toml_table("stable", Stable(), "[stable]"))).stable == Stable()


def test_of_many_problems_the_first_are_told() -> None:
    with pytest.raises(RecipeError) as caught:
        check("".join(f"k{number} = 1\n" for number in range(1000)))
    lines = str(caught.value).split("\n")
    assert len(lines) == MAX_PROBLEMS + 1
    assert lines[0].startswith("f: k0 = 1")
    assert lines[-1] == "and more; correct these first"
    assert joined_problems(map(str, range(MAX_PROBLEMS))).split("\n")[-1] == str(MAX_PROBLEMS - 1)


@pytest.mark.parametrize(("value", "shown"), [("\udcff", '"\\udcff" is not UTF-8'), (2**70, f"{2**70} is beyond")])
def test_what_toml_does_not_have_comes_from_python(value: Any, shown: str) -> None:
    with pytest.raises(RecipeError) as caught:
        checked({"stable": {"words": (value,)}}, Document, Origins(file="f"))
    assert str(caught.value).startswith(f"f: stable.words.0 = {shown}")


def test_a_problem_of_what_was_set_is_the_settings() -> None:
    with pytest.raises(RecipeError, match=r"^--set: stable.feed = \[\] is not") as caught:
        check("stable.feed = []\nstable.minutes = []", ("stable", "feed"))
    assert str(caught.value).split("\n")[1].startswith("f: stable.minutes")
