"""Learning the forms of terms from text: keeps those forms offered by the rules that people use."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from attendo.terms.glossary import Glossary
from attendo.terms.term import Term

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MAX_WORDS = 8


def with_learned_forms(glossary: Glossary, lines: Iterable[str], *, min_count: int = 1) -> Glossary:
    """Returns a glossary whose terms have the forms of their targets that occur in a text.

    Args:
        glossary: the terms; forms that they have already stay.
        lines: text in the target language.
        min_count: the minimum number of occurrences of a form.
    """
    offered = {
        term: [form for form in glossary.requirement(term).forms if form != term.target] for term in glossary.terms
    }
    wanted = {form for forms in offered.values() for form in forms}
    lengths = sorted({len(_WORD.findall(form)) for form in wanted})
    counts: Counter[str] = Counter()
    for line in lines:
        words = _WORD.findall(line)
        for length in filter(lambda length: 0 < length <= _MAX_WORDS, lengths):
            for first in range(len(words) - length + 1):
                text = " ".join(words[first : first + length])
                if text in wanted:
                    counts[text] += 1

    def learned(term: Term) -> Term:
        found = (form for form in offered[term] if counts[form] >= min_count)
        return replace(term, forms=tuple(dict.fromkeys((*term.forms, *found))))

    return replace(glossary, terms=tuple(map(learned, glossary.terms)))
