"""Terms that translations of a test set are expected to use: those that its references use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attendo.terms.forms import TermForms
from attendo.terms.glossary import Glossary
from attendo.terms.term import Term


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedTerm:
    """A term of a sentence whose reference uses it as a word of its own."""

    line: int
    """The number of the sentence, from 0."""
    term: Term
    required: TermForms
    reference_form: str
    """The form in the reference."""

    def is_used_in(self, text: str) -> bool:
        """Whether a translation has a form of the term as a word of its own, and no forbidden word."""
        return self.required.use_in(text).outcome != "missed"


def expected_terms(glossary: Glossary, sources: Sequence[str], references: Sequence[str]) -> list[ExpectedTerm]:
    """Finds the terms of sentences whose references use them.

    Args:
        glossary: the terms.
        sources: the sentences.
        references: their reference translations.
    """
    found = []
    for line, (source, reference) in enumerate(zip(sources, references, strict=True)):
        for term in dict.fromkeys(each.term for each in glossary.occurrences(source)):
            required = replace(glossary.requirement(term), in_compounds=False)
            form = required.form_in(reference)
            if form is not None:
                found.append(ExpectedTerm(line=line, term=term, required=required, reference_form=form))
    return found


def lines_with_all_terms(expected: Sequence[ExpectedTerm], outputs: Sequence[str]) -> Mapping[int, bool]:
    """Returns for each line with expected terms whether its translation uses all of them.

    Args:
        expected: the result of `expected_terms`.
        outputs: translations of all sentences.
    """
    lines = dict.fromkeys((each.line for each in expected), True)
    for each in expected:
        lines[each.line] &= each.is_used_in(outputs[each.line])
    return lines
