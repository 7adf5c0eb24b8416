"""A glossary: its terms, and the search for them in a text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from attendo.terms.forms import TermForms
from attendo.terms.inflection import MAX_FORMS, forms_of, is_infinitive
from attendo.terms.inflection_rules import COMPOUNDING, WITHOUT_SPACES
from attendo.terms.number import fits_number
from attendo.terms.term import Term

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
_LETTER = re.compile(r"\S")
_MIN_COMPOUND = 5
"""Minimum length of a target that is recognised within a longer word, in letters."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An occurrence of a term in a text."""

    start: int
    """Position of its first character."""
    end: int
    """Position of the character after it."""
    term: Term
    """The term."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Glossary:
    """Terms and their translations, from one language to another."""

    terms: tuple[Term, ...]
    """The terms in order; of two that begin at the same position of a text the longer one counts."""
    source_language: str = ""
    """ISO 639-1 code of the language by whose rules terms are recognised; empty for none."""
    target_language: str = ""
    """ISO 639-1 code of the language by whose rules targets are inflected; empty for none."""
    notes: tuple[str, ...] = ()
    """Notes on unusual or omitted entries, for people to read."""

    def occurrences(self, text: str) -> list[Occurrence]:
        """Finds terms as separate words, in any form; of overlapping ones the longest counts.

        Returns:
            The occurrences in the text's order, none within another.
        """
        tokens = [(found.start(), found.end(), found[0].casefold()) for found in self._token.finditer(text)]
        found = [
            Occurrence(tokens[first][0], tokens[first + len(words) - 1][1], term)
            for first, (_, _, token) in enumerate(tokens)
            for words, term in self._index.get(token, ())
            if all(token == word for (_, _, token), word in zip(tokens[first:], words, strict=False))
            and first + len(words) <= len(tokens)
        ]
        found = [each for each in found if _has_its_case(each, text)]
        chosen: list[Occurrence] = []
        for each in sorted(found, key=lambda each: (each.start - each.end, each.start)):
            if all(each.end <= other.start or each.start >= other.end for other in chosen):
                chosen.append(each)
        return sorted(chosen, key=lambda each: each.start)

    def required(self, text: str) -> tuple[TermForms, ...]:
        """Returns the terms that occur in a text, each once, with the forms that a translation may use."""
        plurals: dict[Term, set[bool]] = {}
        for each in self.occurrences(text):
            is_inflected = text[each.start : each.end].casefold() != each.term.source.casefold()
            plurals.setdefault(each.term, set()).add(is_inflected)
        return tuple(
            self.requirement(term, is_plural=min(its) if len(its) == 1 else None) for term, its in plurals.items()
        )

    def requirement(self, term: Term, *, is_plural: bool | None = None) -> TermForms:
        """Returns a term with all forms of its translation.

        Args:
            term: a term of the glossary.
            is_plural: whether it is inflected in the source; None if unknown.
        """
        key = term, is_plural
        found = self._requirements.get(key)
        if found is None:
            found = self._requirements[key] = self._requirement(term, is_plural)
        return found

    @cached_property
    def digest(self) -> str:
        """A digest of everything that determines the required terms of a translation."""
        content = repr((self.source_language, self.target_language, [(each, each.forms) for each in self.terms]))
        return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def _requirement(self, term: Term, is_plural: bool | None) -> TermForms:
        language = self.target_language
        if term.is_verbatim:
            return TermForms(
                source=term.source, target=term.target, forms=(term.target,), likely=(term.target,), is_exact=True
            )
        given = [*filter(None, [term.target]), *term.forms, *term.alternatives]
        all_forms = [form for text in (term.target, *term.alternatives) if text for form in forms_of(text, language)]
        forms = tuple(dict.fromkeys([*given, *all_forms]))[: max(MAX_FORMS, len(given))]
        offered = tuple(dict.fromkeys(given)) if term.forms else forms
        likely = offered
        if is_plural is not None and not is_infinitive(term.target, language):
            likely = tuple(form for form in offered if fits_number(term.target, form, language, is_plural=is_plural))
        return TermForms(
            source=term.source,
            target=term.target,
            forms=forms,
            likely=likely or offered,
            forbidden=tuple(dict.fromkeys(form for text in term.forbidden for form in forms_of(text, language))),
            in_compounds=language in COMPOUNDING and len(term.target) >= _MIN_COMPOUND and term.target.isalpha(),
            by_letters=language in WITHOUT_SPACES,
        )

    @cached_property
    def _token(self) -> re.Pattern[str]:
        return _LETTER if self.source_language in WITHOUT_SPACES else _TOKEN

    @cached_property
    def _requirements(self) -> dict[tuple[Term, bool | None], TermForms]:
        return {}

    @cached_property
    def _index(self) -> dict[str, list[tuple[tuple[str, ...], Term]]]:
        """The words of all forms of the terms, by first word."""
        index: dict[str, list[tuple[tuple[str, ...], Term]]] = {}
        for term in self.terms:
            for form in self._source_forms(term):
                words = tuple(found[0].casefold() for found in self._token.finditer(form))
                if words:
                    index.setdefault(words[0], []).append((words, term))
        return index

    def _source_forms(self, term: Term) -> Iterator[str]:
        if term.is_verbatim or term.source.isupper():
            yield term.source
            return
        source = term.source
        is_verb = is_infinitive(term.target, self.target_language)
        if is_verb and self.source_language == "en":
            source = source.removeprefix("to ")
        yield from dict.fromkeys([term.source, *forms_of(source, self.source_language, is_verb=is_verb)])


def _has_its_case(found: Occurrence, text: str) -> bool:
    """Whether a text has a verbatim or all-capitals term in the case of the glossary; True for other terms."""
    term = found.term
    return not (term.is_verbatim or term.source.isupper()) or text[found.start : found.end] == term.source
