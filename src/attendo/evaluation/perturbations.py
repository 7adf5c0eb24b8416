"""Perturbs a test set into text as people write it: in capitals, with typos, emoji, URLs, several sentences in a line.

Each perturbation changes the source, and also the reference if a good translation would change, so that BLEU with it
can be compared with BLEU without it on the same lines. Whether inserted text is kept is counted separately, and it is
removed before scoring: a copied URL would raise the BLEU, as a full stop does that every translation gets right.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from attendo.evaluation.changes import (
    LETTERS_PER_TYPO,
    ChangedPair,
    amount_at_the_end,
    as_it_is,
    email_behind,
    emoji_at_the_end,
    ends_as_a_sentence,
    grouped,
    lower_cased,
    marked_up,
    number_at_the_end,
    placeholders_at_the_end,
    straight_quotes,
    title_cased,
    unpunctuated,
    upper_cased,
    url_behind,
    with_double_spaces,
    with_emoji_within,
    with_other_numbers,
    with_other_quotes,
    with_spaces_around,
    with_tabs,
    with_typos,
    without_final_punctuation,
)

_SEPARATORS = {"en": (",", "."), "de": (".", ","), "it": (".", ","), "nl": (".", ",")}
"""Separators of thousands and decimals, for languages with a single common convention."""


@dataclass(frozen=True, kw_only=True)
class Perturbation:
    """A change that is applied to a test set."""

    name: str
    what: str
    """Description of the change of the source."""
    to_reference: str
    """Description of the change of the reference."""
    change: Callable[[str, str, random.Random], ChangedPair | None]
    """Function of the source, the reference and a random generator that returns the changed pair; None if it does not
    apply."""
    joined: int = 1
    """Number of lines, each ending like a sentence, that are joined into one before the change."""
    scored: Callable[[str], str] = str
    """Function applied to outputs and references, with and without the change, before scoring."""
    inserted: Literal["end", "around", "anywhere"] | None = None
    """The position at which strings to keep are inserted and expected in the output; None if nothing is inserted."""
    of_case: bool = False
    """Whether the change affects case, so that a score that ignores case should be shown too."""


@dataclass(frozen=True, kw_only=True)
class PerturbedLine:
    """A line of a perturbed test set."""

    lines: tuple[int, ...]
    """The lines of the test set that it was made of, from 0."""
    source: str
    reference: str
    kept: tuple[str, ...] = ()
    """Strings that the translation must contain exactly, in this order."""


_SAME = "as it is"
_TAKEN_OUT = "as it is; what was put in is taken out of the output before scoring"
_NUMBER = "number"

_OF_ANY_LANGUAGE = (
    Perturbation(name="upper case", what="ALL CAPS", to_reference="upper-cased too", change=upper_cased, of_case=True),
    Perturbation(
        name="title case", what="every word begins with a capital", to_reference=_SAME, change=title_cased, of_case=True
    ),
    Perturbation(name="lower case", what="no capital at all", to_reference=_SAME, change=lower_cased, of_case=True),
    Perturbation(
        name="no final punctuation",
        what="without . ! ? at the end",
        to_reference="as it is; final punctuation is taken off everything before scoring",
        change=unpunctuated,
        scored=without_final_punctuation,
    ),
    Perturbation(
        name="a typo", what="one word is misspelled", to_reference=_SAME, change=partial(with_typos, dense=False)
    ),
    Perturbation(
        name="many typos",
        what=f"a misspelled word for every {LETTERS_PER_TYPO} letters",
        to_reference=_SAME,
        change=partial(with_typos, dense=True),
    ),
    Perturbation(
        name="emoji at the end",
        what="an emoji behind the line",
        to_reference=_TAKEN_OUT,
        change=emoji_at_the_end,
        inserted="end",
    ),
    Perturbation(
        name="emoji within",
        what="an emoji between two words",
        to_reference=_TAKEN_OUT,
        change=with_emoji_within,
        inserted="anywhere",
    ),
    Perturbation(
        name=_NUMBER,
        what="five digits in brackets at the end",
        to_reference=_TAKEN_OUT,
        change=number_at_the_end,
        inserted="anywhere",
    ),
    Perturbation(
        name="numbers replaced",
        what="numbers of two digits or more that both sides have are others",
        to_reference="changed likewise",
        change=with_other_numbers,
    ),
    Perturbation(name="URL", what="a URL behind the line", to_reference=_TAKEN_OUT, change=url_behind, inserted="end"),
    Perturbation(
        name="e-mail", what="an address behind the line", to_reference=_TAKEN_OUT, change=email_behind, inserted="end"
    ),
    Perturbation(
        name="placeholders",
        what="{user_7} %1$s at the end",
        to_reference=_TAKEN_OUT,
        change=placeholders_at_the_end,
        inserted="anywhere",
    ),
    Perturbation(
        name="markup", what="<b> and </b> around the line", to_reference=_TAKEN_OUT, change=marked_up, inserted="around"
    ),
    Perturbation(name="2 sentences", what="two lines in one", to_reference="joined too", change=as_it_is, joined=2),
    Perturbation(name="4 sentences", what="four lines in one", to_reference="joined too", change=as_it_is, joined=4),
    Perturbation(name="double spaces", what="two spaces for one", to_reference=_SAME, change=with_double_spaces),
    Perturbation(
        name="spaces around", what="two spaces before, one behind", to_reference=_SAME, change=with_spaces_around
    ),
    Perturbation(name="tabs", what="tabs for spaces", to_reference=_SAME, change=with_tabs),
)
"""The perturbations for any pair of languages, in the order of a table."""


def perturbations(source_language: str = "", target_language: str = "") -> tuple[Perturbation, ...]:
    """Returns all perturbations for a pair of languages, in the order of a table.

    Args:
        source_language: two-letter code, for the form of numbers and quotes.
        target_language: two-letter code, for the form of numbers. Amounts are left out unless both codes are known.
    """
    applicable = [*_OF_ANY_LANGUAGE, _other_quotes(source_language)]
    if source_language in _SEPARATORS and target_language in _SEPARATORS:
        place = [perturbation.name for perturbation in applicable].index(_NUMBER) + 1
        applicable.insert(place, _amount(_SEPARATORS[source_language], _SEPARATORS[target_language]))
    return tuple(applicable)


def _other_quotes(language: str) -> Perturbation:
    return Perturbation(
        name="other quotes",
        what="curly quotes and apostrophes for straight ones, or straight for curly",
        to_reference="as it is; all quotes are straightened before scoring",
        change=partial(with_other_quotes, language=language),
        scored=straight_quotes,
    )


def _amount(source_form: tuple[str, str], target_form: tuple[str, str]) -> Perturbation:
    """Returns the perturbation that inserts an amount, given the separators of both languages."""
    return Perturbation(
        name="amount",
        what=f"an amount such as {grouped(8210, 50, *source_form)} in brackets at the end",
        to_reference=f"{_TAKEN_OUT}, as its language writes it, {grouped(8210, 50, *target_form)}",
        change=partial(amount_at_the_end, forms=(source_form, target_form)),
        inserted="anywhere",
    )


def perturb(
    perturbation: Perturbation, sources: Sequence[str], references: Sequence[str], *, seed: int
) -> list[PerturbedLine]:
    """Perturbs the lines of a test set to which a perturbation applies, and returns them.

    Args:
        perturbation: the change to apply.
        sources: the sentences.
        references: their translations, as many.
        seed: equal seeds give equal typos and numbers; each perturbation has a random generator of its own.
    """
    chance = random.Random(f"{seed} {perturbation.name}")
    perturbed = []
    for lines in _groups(sources, perturbation.joined):
        source, reference = (" ".join(side[line] for line in lines) for side in (sources, references))
        changed = perturbation.change(source, reference, chance)
        if changed is not None and (changed.source != source or len(lines) > 1):
            perturbed.append(
                PerturbedLine(lines=lines, source=changed.source, reference=changed.reference, kept=changed.kept)
            )
    return perturbed


def is_kept(perturbation: Perturbation, line: PerturbedLine, output: str) -> bool:
    """Returns whether an output has all strings that a line must keep, in their positions."""
    first, last, output = line.kept[0], line.kept[-1], output.strip()
    return (
        all(text in output for text in line.kept)
        and (perturbation.inserted not in ("end", "around") or output.endswith(last))
        and (perturbation.inserted != "around" or output.startswith(first))
    )


def without_inserted(perturbation: Perturbation, line: PerturbedLine, output: str) -> str:
    """Returns an output without the strings inserted into its source; each is removed once, as repeating is a fault."""
    if perturbation.inserted is None:
        return output
    for text in line.kept:
        output = output.replace(text, " ", 1)
    return re.sub(r" (?=[.!?]+$)", "", " ".join(output.split()))


def _groups(sources: Sequence[str], joined: int) -> list[tuple[int, ...]]:
    """Returns groups of lines to be joined into one; an incomplete last group is left out."""
    if joined == 1:
        return [(line,) for line, source in enumerate(sources) if source.strip()]
    ended = [line for line, source in enumerate(sources) if ends_as_a_sentence(source)]
    return list(zip(*(ended[start::joined] for start in range(joined)), strict=False))
