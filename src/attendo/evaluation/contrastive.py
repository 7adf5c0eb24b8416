"""Contrastive pairs: a reference and a copy of it with one error, which a good model finds less probable.

The pairs are made from a parallel test set by rules as in Sennrich (2017): a negation is removed or inserted, a number
is changed, a name is exchanged, or a word is left out.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from attendo.decoding.guards.values import values
from attendo.errors import DataError
from attendo.evaluation.reliability import wilson
from attendo.text_tables import aligned_table, markdown_table

ContrastKind = Literal["negation", "number", "name", "omission"]
"""The kind of error in the wrong translation."""
KINDS: tuple[ContrastKind, ...] = get_args(ContrastKind)
_COLUMNS = ("wrong", "pairs", "% prefer the right one [95 %]", "% find it more probable [95 %]")

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÄÖÜÉ][^\W\d_]{2,}(?![\w'’-])")
_LEAST_LETTERS = 4
"""Minimum number of letters of a word that is left out; an article or particle may be dispensable."""
_LEAST_WORDS = 4
"""Minimum number of words of a reference from which one is left out."""

# Patterns of negations with their replacements, and the other way round; the first that matches counts.
_WITHOUT_NEGATION: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need|might)n['’]t\b", r"\1"),
        (r"\bcan(?:not|['’]t)\b", "can"),
        (r"\bwon['’]t\b", "will"),
        (r"\b(?:do|does|did) not (?=\w)", ""),
        (r"\bnot (?=\w)", ""),
        (r"\bnever (?=\w)", "always "),
        (r"\bno (?=[a-z])", "a "),
    ),
    "de": (
        (r"\bkein(?=(?:e|en|em|er|es)?\b)", "ein"),
        (r"\bKein(?=(?:e|en|em|er|es)?\b)", "Ein"),
        (r" nicht\b(?! nur)", ""),
        (r"\bnie(?:mals)?\b", "immer"),
        (r"\bohne\b", "mit"),
    ),
    "fr": ((r"\b(?:ne |n['’])(\w+) (?:pas|plus|jamais)\b", r"\1"),),
}
_WITH_NEGATION: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (
            r"\b(is|are|was|were|has|have|had|will|would|could|should|must|may|might)\b(?! not|n['’]t)(?= [a-z])",
            r"\1 not",
        ),
        (r"\bcan\b(?! not)(?= [a-z])", "cannot"),
    ),
    "de": (
        (r"\bein(?=(?:e|en|em|er|es)? )", "kein"),
        (r"\b(ist|sind|war|waren|wird|werden|kann|können)\b(?= [a-zäöü])", r"\1 nicht"),
    ),
    "fr": ((r"\b(est|sont|peut|peuvent|sera|doit)\b(?= [a-zéèà])", r"ne \1 pas"),),
}


@dataclass(frozen=True, kw_only=True)
class ContrastivePair:
    """A source with a right translation and a wrong one."""

    kind: ContrastKind
    """The kind of error in the wrong translation."""
    line: int
    """Number of the line in the test set, from 1."""
    source: str
    right: str
    """The reference."""
    wrong: str
    """The reference with one error."""


@dataclass(frozen=True, kw_only=True)
class Preference:
    """The number of pairs in which a model prefers the correct translation, with the interval of their share."""

    pairs: int
    preferred: int
    low: float
    """Lower end of the share's 95% interval (Wilson, 1927)."""
    high: float
    """Upper end of that interval."""

    @property
    def share(self) -> float:
        """Share of the pairs in which the model prefers the correct translation, 0 to 1."""
        return self.preferred / self.pairs

    def to_text(self) -> str:
        """Formats the share with its interval, in percent."""
        return f"{100 * self.share:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """How often a model prefers right translations to wrong ones, by kind; kinds without pairs are omitted."""

    preferred: dict[ContrastKind, Preference]
    """By the score of beam search: the log-probability divided by the length penalty."""
    more_probable: dict[ContrastKind, Preference]
    """By the log-probability alone, which favours the shorter of two translations."""

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for JSON: counts, shares and intervals of both, by kind."""
        return {
            name: {kind: {**asdict(each), "share": each.share} for kind, each in by_kind.items()}
            for name, by_kind in (("preferred", self.preferred), ("more_probable", self.more_probable))
        }

    def to_text(self) -> str:
        """Returns a table for a terminal."""
        return aligned_table("contrastive pairs", _COLUMNS, self._cells(), words=1)

    def to_markdown(self) -> list[str]:
        """Returns the same table in Markdown, as lines."""
        return markdown_table([_COLUMNS, *self._cells()])

    def _cells(self) -> list[tuple[str, ...]]:
        """Returns a row for each kind."""
        return [
            (kind, f"{each.pairs:,}", *(of[kind].to_text() for of in (self.preferred, self.more_probable)))
            for kind, each in self.preferred.items()
        ]


def contrastive_pairs(
    sources: Sequence[str],
    references: Sequence[str],
    *,
    source_language: str,
    target_language: str,
    seed: int = 1,
) -> Iterator[ContrastivePair]:
    """Makes pairs: for each line one of each kind whose rule applies.

    Args:
        sources: the sentences.
        references: their translations.
        source_language: ISO 639-1 code, for the form of numbers.
        target_language: ISO 639-1 code, for the form of numbers and for negations, which are known in English, German
            and French.
        seed: seed of the random choices; equal seeds give equal pairs.

    Raises:
        DataError: the sides differ in their number of lines.
    """
    if len(sources) != len(references):
        raise DataError(f"{len(sources)} sources, but {len(references)} references; give as many")
    names = sorted({name for pair in zip(sources, references, strict=True) for name in _shared_names(*pair)})
    changes: dict[ContrastKind, Callable[[str, str, random.Random], str]] = {
        "negation": lambda _, reference, rng: with_other_negation(reference, target_language),
        "number": lambda source, reference, rng: _with_other_number(
            source, reference, (source_language, target_language), rng
        ),
        "name": lambda source, reference, rng: _with_other_name(source, reference, names, rng),
        "omission": lambda _, reference, rng: _without_a_word(reference, rng),
    }
    for line, (source, reference) in enumerate(zip(sources, references, strict=True), start=1):
        for kind, change in changes.items():
            wrong = change(source, reference, random.Random(f"{seed} {line} {kind}"))
            if wrong != reference:
                yield ContrastivePair(kind=kind, line=line, source=source, right=reference, wrong=wrong)


def preferences(
    pairs: Iterable[ContrastivePair], right: Iterable[float], wrong: Iterable[float]
) -> dict[ContrastKind, Preference]:
    """Computes how often the correct translation has the higher score, by kind; omits kinds without pairs.

    Args:
        pairs: the pairs.
        right: scores of the right translations.
        wrong: scores of the wrong translations.
    """
    counts: Counter[ContrastKind] = Counter()
    preferred: Counter[ContrastKind] = Counter()
    for pair, better, worse in zip(pairs, right, wrong, strict=True):
        counts[pair.kind] += 1
        preferred[pair.kind] += better > worse
    results = {}
    for kind in KINDS:
        if counts[kind]:
            low, high = wilson(preferred[kind] / counts[kind], counts[kind])
            results[kind] = Preference(pairs=counts[kind], preferred=preferred[kind], low=low, high=high)
    return results


def with_other_negation(text: str, language: str) -> str:
    """Removes a text's negation, or inserts one if it has none; returns the text unchanged if no rule applies.

    Args:
        text: a sentence.
        language: its ISO 639-1 code.
    """
    for rules in (_WITHOUT_NEGATION, _WITH_NEGATION):
        for pattern, replacement in rules.get(language, ()):
            changed = re.sub(pattern, replacement, text, count=1)
            if changed != text:
                return changed
    return text


def _with_other_number(source: str, reference: str, languages: tuple[str, str], rng: random.Random) -> str:
    """Changes a digit of a number in the reference that the source has too; unchanged if there is none."""
    known = {value.canonical for value in values(source, languages[0]) if value.kind == "number"}
    numbers = [value for value in values(reference, languages[1]) if value.canonical in known]
    if not numbers:
        return reference
    value = rng.choice(numbers)
    places = [place for place, letter in enumerate(value.text) if letter.isdigit()]
    place = value.start + rng.choice(places)
    others = [digit for digit in "123456789" if digit != reference[place]]
    return reference[:place] + rng.choice(others) + reference[place + 1 :]


def _shared_names(source: str, reference: str) -> list[str]:
    """Returns the capitalised words within the source that the reference has too."""
    words = set(_WORD.findall(reference))
    return [match[0] for match in _NAME.finditer(source) if match[0] in words]


def _with_other_name(source: str, reference: str, names: Sequence[str], rng: random.Random) -> str:
    """Replaces a name in the reference by a name of another line; unchanged if there is none."""
    own_names = _shared_names(source, reference)
    others = [name for name in names if name not in reference and name not in source]
    if not own_names or not others:
        return reference
    return re.sub(rf"(?<!\w){re.escape(rng.choice(own_names))}(?!\w)", rng.choice(others), reference)


def _without_a_word(reference: str, rng: random.Random) -> str:
    """Removes one of the longer words of the reference, not the first; unchanged if it has none."""
    words = list(_WORD.finditer(reference))
    long = [match for match in words[1:] if len(match[0]) >= _LEAST_LETTERS]
    if len(words) < _LEAST_WORDS or not long:
        return reference
    word = rng.choice(long)
    before, after = reference[: word.start()], reference[word.end() :]
    return before.rstrip() + after if before.endswith(" ") else before + after.lstrip()
