"""ICU messages translated branch by branch, each branch as a whole sentence: with what stands before and behind it."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from attendo.formats.contents import Code, Content, joined
from attendo.formats.plural_rules import PluralForm, categories
from attendo.markup.units.icu import Argument, Branching, Message, parse_icu, written_icu

_MAX_SENTENCES = 60
"""Sentences that a message may become; of one with more each text is translated by itself."""
_QUOTED = re.compile("'[{}#|][^']*'")

TranslateSentence = Callable[[Content, int | None], Awaitable[Content]]
"""Translates a sentence, in which a number stands for `#` where one is given."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A branch of the message that is written, and the branch of the source that it is made of."""

    key: str
    source: Message
    sample: int | None
    """A number that takes the branch."""


async def translated_icu(text: str, target_language: str, translate: TranslateSentence) -> str:
    """Translates a message; plural branches are those of the target language, with the exact ones of the source.

    Args:
        text: the message.
        target_language: for plural categories.
        translate: translates a sentence whose arguments are codes.

    Raises:
        DataError: the message is not well formed.
    """
    message = parse_icu(text)
    if _count(message, target_language) <= _MAX_SENTENCES:
        found = await _sentences(message, None, target_language, translate)
    else:
        found = await _texts(message, target_language, translate)
    bare = _QUOTED.sub("", text.replace("''", ""))
    return written_icu(found, doubles_apostrophes="''" in text and "'" not in bare)


def _choices(branching: Branching, language: str) -> list[_Choice]:
    """The branches of a translation."""
    there = dict(branching.branches)
    if branching.kind == "select":
        return [_Choice(key, branch, None) for key, branch in branching.branches]
    exact = [_Choice(key, branch, int(key[1:])) for key, branch in branching.branches if key.startswith("=")]
    return exact + [_Choice(form.name, _source_of(form, there), form.sample) for form in categories(language)]


def _source_of(form: PluralForm, there: dict[str, Message]) -> Message:
    if form.is_singular and "one" in there:
        return there["one"]
    return there["other"]


def _count(message: Message, language: str) -> int:
    """How many sentences a message becomes."""
    first = next((number for number, part in enumerate(message) if isinstance(part, Branching)), None)
    if first is None:
        return 1
    branching = message[first]
    assert isinstance(branching, Branching)
    total = 0
    for choice in _choices(branching, language):
        total += _count((*choice.source, *message[first + 1 :]), language)
        if total > _MAX_SENTENCES:
            break
    return total


async def _sentences(message: Message, sample: int | None, language: str, translate: TranslateSentence) -> Message:
    """Translates a message whose first branches take in all that stands around them."""
    first = next((number for number, part in enumerate(message) if isinstance(part, Branching)), None)
    if first is None:
        return await _sentence(message, sample, translate)
    branching = message[first]
    assert isinstance(branching, Branching)
    branches = []
    for choice in _choices(branching, language):
        whole = (*message[:first], *_unambiguous(choice.source, branching, message[first + 1 :]), *message[first + 1 :])
        number = sample if choice.sample is None else choice.sample
        branches.append((choice.key, await _sentences(_merged(whole), number, language, translate)))
    return (
        Branching(argument=branching.argument, kind=branching.kind, offset=branching.offset, branches=tuple(branches)),
    )


def _unambiguous(branch: Message, branching: Branching, behind: Message) -> Message:
    """A branch that may stand within the branches of what is behind it, where `#` would be another number."""
    if branching.kind == "select" or not any(isinstance(part, Branching) for part in (*branch, *behind)):
        return branch
    number = Argument(f"{{{branching.argument}, number}}")
    return tuple(number if part == Argument("#") else part for part in branch)


async def _texts(message: Message, language: str, translate: TranslateSentence) -> Message:
    """Translates the texts of a message where they stand."""
    parts: list[str | Argument | Branching] = []
    run: list[str | Argument] = []
    for part in (*message, None):
        if isinstance(part, (str, Argument)):
            run.append(part)
            continue
        parts += await _sentence(tuple(run), None, translate) if run else ()
        run = []
        if part is not None:
            branches = [
                (choice.key, await _texts(choice.source, language, translate)) for choice in _choices(part, language)
            ]
            parts.append(
                Branching(argument=part.argument, kind=part.kind, offset=part.offset, branches=tuple(branches))
            )
    return tuple(parts)


async def _sentence(
    message: Sequence[str | Argument | Branching], sample: int | None, translate: TranslateSentence
) -> Message:
    """Translates texts and arguments."""
    parts: list[str | Code] = []
    for number, part in enumerate(message):
        assert not isinstance(part, Branching)
        parts.append(part if isinstance(part, str) else Code(id=f"{number}", raw=part.raw))
    found = joined(parts)
    if not any(isinstance(part, str) and any(map(str.isalpha, part)) for part in found):
        translated = found
    else:
        translated = await translate(found, sample)
    return tuple(Argument(part.raw) if isinstance(part, Code) else part for part in translated)


def _merged(message: Message) -> Message:
    """A message with neighbouring texts joined."""
    merged: list[str | Argument | Branching] = []
    for part in message:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)
