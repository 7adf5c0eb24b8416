"""Plural forms: the formulas of gettext files, with a parser for them, and the categories of CLDR by language."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.formats.file import base_language

_TOKEN = re.compile(r"\s*(?:(\d{1,9})|(n)|(\|\||&&|==|!=|<=|>=|[<>!?:()+\-*/%]))")
_MAX_LENGTH = 1_000
_MAX_DEPTH = 60
_MAX_FORMS = 10
_NUMBERS = range(1_001)

Expression = Callable[[int], int]

# By binding strength, as in C.
_BINARY: Sequence[Mapping[str, Callable[[int, int], int]]] = (
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
    },
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": lambda a, b: a // b if b else 0, "%": lambda a, b: a % b if b else 0},
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PluralForm:
    """A plural form of a language."""

    name: str
    """The form's number in a formula, or its category of CLDR."""
    sample: int
    """A number that takes this form."""
    is_singular: bool
    """Whether the number 1 takes this form and 2 does not, so that it translates the source's singular."""
    is_of_one_number: bool
    """Whether a single number takes this form."""


def parse_formula(header: str) -> tuple[PluralForm, ...]:
    """Reads the value of a `Plural-Forms` header, such as `nplurals=2; plural=(n != 1);`.

    Raises:
        DataError: the value is invalid, or has a form that no number up to 1,000 takes.
    """
    found = re.fullmatch(r"\s*nplurals\s*=\s*(\d{1,2})\s*;\s*plural\s*=\s*([^;]+);?\s*", header)
    if not found or not 0 < int(found[1]) <= _MAX_FORMS or len(header) > _MAX_LENGTH:
        raise DataError(f"Plural-Forms is {header[:80]!r}; it should be such as 'nplurals=2; plural=(n != 1);'")
    count = int(found[1])
    formula = _Parser(found[2]).expression()
    numbers: list[list[int]] = [[] for _ in range(count)]
    for number in _NUMBERS:
        form = formula(number)
        if not 0 <= form < count:
            raise DataError(f"Plural-Forms gives the form {form} for the number {number}, with nplurals={count}")
        numbers[form].append(number)
    return tuple(_form(str(index), taking) for index, taking in enumerate(numbers))


def _form(name: str, numbers: Sequence[int]) -> PluralForm:
    is_singular = 1 in numbers and 2 not in numbers
    # Where 1 and 2 take the same form, a sample above 1 has the source in its plural.
    sample = 1 if is_singular else next((number for number in numbers if number > 1), numbers[0] if numbers else 2)
    return PluralForm(name=name, sample=sample, is_singular=is_singular, is_of_one_number=len(numbers) == 1)


class _Parser:
    """A parser of C's integer expressions in `n`.

    Args:
        text: the expression.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = []
        position = 0
        while text[position:].strip():
            found = _TOKEN.match(text, position)
            if not found:
                raise self._error(text[position:].strip()[:1])
            self._tokens.append(found[0].strip())
            position = found.end()
        self._tokens.reverse()
        self._depth = 0

    def expression(self) -> Expression:
        """Parses the whole expression."""
        parsed = self._conditional()
        if self._tokens:
            raise self._error(self._tokens[-1])
        return parsed

    def _error(self, token: str) -> DataError:
        return DataError(f"the plural formula {self._text[:80]!r} cannot be read at {token!r}")

    def _taken(self, *wanted: str) -> str:
        """Consumes the next token if it is a wanted one; returns an empty string otherwise."""
        return self._tokens.pop() if self._tokens and self._tokens[-1] in wanted else ""

    def _conditional(self) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error("(")
        condition = self._binary(0)
        if self._taken("?"):
            first = self._conditional()
            if not self._taken(":"):
                raise self._error(self._tokens[-1] if self._tokens else "its end")
            second = self._conditional()
            self._depth -= 1
            return lambda n: first(n) if condition(n) else second(n)
        self._depth -= 1
        return condition

    def _binary(self, level: int) -> Expression:
        if level == len(_BINARY):
            return self._unary()
        left = self._binary(level + 1)
        while operator := self._taken(*_BINARY[level]):
            left = _applied(_BINARY[level][operator], left, self._binary(level + 1))
        return left

    def _unary(self) -> Expression:
        token = self._tokens.pop() if self._tokens else "its end"
        if token == "n":
            return lambda n: n
        if token.isdigit():
            value = int(token)
            return lambda n: value
        if token == "(":
            inner = self._conditional()
            if not self._taken(")"):
                raise self._error(self._tokens[-1] if self._tokens else "its end")
            return inner
        negations = 1
        while token == "!" and self._taken("!"):
            negations += 1
        if token != "!":
            raise self._error(token)
        operand, is_odd = self._unary(), negations % 2 == 1
        return lambda n: int(bool(operand(n)) != is_odd)


def _applied(operation: Callable[[int, int], int], left: Expression, right: Expression) -> Expression:
    return lambda n: operation(left(n), right(n))


def _codes(written: str) -> list[str]:
    return written.split()


_ONE = "nplurals=1; plural=0;"
_TWO = "nplurals=2; plural=(n != 1);"
_TWO_ZERO = "nplurals=2; plural=(n > 1);"
_EAST_SLAVIC = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
_CZECH = "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"
_FORMULAS: Mapping[str, str] = {
    **dict.fromkeys(_codes("ja zh ko vi th id ms lo my ka"), _ONE),
    **dict.fromkeys(_codes("de en nl sv da nb nn no fi et es it pt el hu bg he eu ca gl eo hi bn ur sq az af"), _TWO),
    **dict.fromkeys(_codes("fr tr fa pt_br oc br"), _TWO_ZERO),
    **dict.fromkeys(_codes("ru uk be sr hr bs"), _EAST_SLAVIC),
    **dict.fromkeys(_codes("cs sk"), _CZECH),
    "pl": "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
    "sl": "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);",
    "lt": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);",
    "lv": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);",
    "ro": "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2);",
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
    "ga": "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4);",
}


def usual_formula(language: str) -> str | None:
    """Returns the usual `Plural-Forms` of gettext files in a language; None for an unlisted language."""
    whole = language.replace("-", "_").lower()
    return _FORMULAS.get(whole) or _FORMULAS.get(base_language(language))


# Categories of CLDR, each with a number that takes it; where whole numbers never take `other`, it is that of fractions.
# Millions, for which Romance languages have `many`, are said as other numbers are where they are written in digits.
_OTHER = (("other", 2),)
_ONE_OTHER = (("one", 1), ("other", 2))
_ROMANCE = (("one", 1), ("many", 2), ("other", 2))
_CZECH_CATEGORIES = (("one", 1), ("few", 2), ("many", 5), ("other", 5))
_SLAVIC_CATEGORIES = (("one", 1), ("few", 2), ("many", 5), ("other", 5))
_SOUTH_SLAVIC = (("one", 1), ("few", 2), ("other", 5))
_CATEGORIES: Mapping[str, Sequence[tuple[str, int]]] = {
    **dict.fromkeys(_codes("ja zh ko vi th id ms lo my"), _OTHER),
    **dict.fromkeys(_codes("fr es it pt ca"), _ROMANCE),
    **dict.fromkeys(_codes("cs sk"), _CZECH_CATEGORIES),
    **dict.fromkeys(_codes("ru uk be pl"), _SLAVIC_CATEGORIES),
    **dict.fromkeys(_codes("sr hr bs"), _SOUTH_SLAVIC),
    "sl": (("one", 1), ("two", 2), ("few", 3), ("other", 5)),
    "lt": (("one", 1), ("few", 2), ("many", 2), ("other", 10)),
    "lv": (("zero", 0), ("one", 1), ("other", 2)),
    "ro": (("one", 1), ("few", 2), ("other", 20)),
    "ar": (("zero", 0), ("one", 1), ("two", 2), ("few", 3), ("many", 11), ("other", 100)),
    "ga": (("one", 1), ("two", 2), ("few", 3), ("many", 7), ("other", 11)),
    "he": (("one", 1), ("two", 2), ("other", 3)),
}
CATEGORY_NAMES = ("zero", "one", "two", "few", "many", "other")
_SINGLE = {("one", "pl"), ("one", "cs"), ("one", "sk"), ("two", "ar"), ("zero", "ar"), ("one", "ar")}

# Categories of ordinal numbers by CLDR, in which most languages have `other` alone. The samples are those numbers whose
# words English distinguishes, so that "#rd" is read as "3rd".
_ORDINALS: Mapping[str, Sequence[tuple[str, int]]] = {
    "en": (("one", 1), ("two", 2), ("few", 3), ("other", 4)),
    **dict.fromkeys(_codes("fr ro vi ga ms lo hy hu sv"), (("one", 1), ("other", 4))),
    "it": (("many", 8), ("other", 4)),
    "ca": (("one", 1), ("two", 2), ("few", 4), ("other", 5)),
    "uk": (("few", 3), ("other", 4)),
    "be": (("few", 3), ("other", 4)),
}


def ordinal_categories(language: str) -> tuple[PluralForm, ...]:
    """Returns a language's categories of ordinal numbers; `other` for an unlisted language."""
    return tuple(
        PluralForm(name=name, sample=sample, is_singular=sample == 1, is_of_one_number=False)
        for name, sample in _ORDINALS.get(base_language(language), (("other", 4),))
    )


def categories(language: str) -> tuple[PluralForm, ...]:
    """Returns a language's plural categories of CLDR; `one` and `other` for an unlisted language."""
    base = base_language(language)
    return tuple(
        PluralForm(
            name=name,
            sample=sample,
            is_singular=name == "one",
            is_of_one_number=(name, base) in _SINGLE
            or (name == "one" and base in ("de", "en", "nl", "sv", "it", "es")),
        )
        for name, sample in _CATEGORIES.get(base, _ONE_OTHER)
    )
