"""Plural forms of formats that use CLDR's categories: the forms of a translation, and their slots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attendo.formats.contents import Content
from attendo.formats.file import Edit, Form, Slot, Span
from attendo.formats.plural_rules import CATEGORY_NAMES, PluralForm, categories


@dataclass(frozen=True, kw_only=True, slots=True)
class Category:
    """A plural category that a file has."""

    source: Content
    slot: Slot
    whole: Span
    """The span to remove if the target language does not have the category."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PluralSet:
    """The forms, slots and removals of a unit with plural forms."""

    forms: tuple[Form, ...]
    slots: tuple[Slot, ...]
    removals: tuple[Edit, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Returns every span that writing the unit may replace."""
        return tuple(dict.fromkeys([*(slot.span for slot in self.slots), *(edit.span for edit in self.removals)]))


def plural_set(
    there: Mapping[str, Category],
    language: str | None,
    insertion: Span,
    inserted: Callable[[str, Content], str],
    *,
    has_zero: bool = False,
) -> PluralSet:
    """Determines the forms of a translation and their slots.

    Args:
        there: the file's categories by name, at least one.
        language: the target language; None keeps the categories of the file.
        insertion: the insertion point for categories that the file lacks.
        inserted: gives the text to insert for a category.
        has_zero: whether the format takes `zero` for 0 in every language, so that a file's own `zero` stays.
    """
    required = (
        categories(language) if language else tuple(_as_in_file(name) for name in CATEGORY_NAMES if name in there)
    )
    if has_zero and "zero" in there and all(form.name != "zero" for form in required):
        required = (PluralForm(name="zero", sample=0, is_singular=False, is_of_one_number=True), *required)
    other = there.get("other") or list(there.values())[-1]
    forms, slots = [], []
    for form in required:
        found = there.get(form.name)
        # English has its singular under `one`; every other form is made from the plural.
        source = (
            found.source
            if found and (not language or (has_zero and form.name == "zero"))
            else there["one"].source
            if form.is_singular and "one" in there
            else other.source
        )
        forms.append(Form(source=source, name=form.name, sample=form.sample, is_of_one_number=form.is_of_one_number))
        slots.append(found.slot if found else Slot(insertion, _insertion(form.name, inserted)))
    names = {form.name for form in required}
    removals = tuple(Edit(found.whole, "") for name, found in there.items() if name not in names)
    return PluralSet(forms=tuple(forms), slots=tuple(slots), removals=removals)


def _as_in_file(name: str) -> PluralForm:
    sample = {"zero": 0, "one": 1, "two": 2, "few": 3, "many": 11}.get(name, 5)
    return PluralForm(name=name, sample=sample, is_singular=name == "one", is_of_one_number=False)


def _insertion(name: str, inserted: Callable[[str, Content], str]) -> Callable[[Content], str]:
    return lambda text: inserted(name, text)
