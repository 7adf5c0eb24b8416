"""ICU messages translated branch by branch, each branch as a whole sentence, with the text before and after it."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from attendo.formats.contents import Code, Content, joined
from attendo.formats.file import Languages
from attendo.formats.plural_rules import CATEGORY_NAMES, PluralForm, categories, ordinal_categories
from attendo.markup.units.counts import COUNT_ID, with_count
from attendo.markup.units.icu import Argument, Branching, Message, parse_icu, written_icu

_MAX_SENTENCES = 60
"""Sentences that a message may become; in a message with more, each text is translated separately."""
_MAX_DIGITS = 9
_QUOTED = re.compile("'[{}#|][^']*'")
# Dart's and other libraries take these for the number itself in every language, ICU where the language has them.
_OF_ONE_NUMBER = {"zero": 0, "two": 2}

TranslateSentence = Callable[[Content, int | None], Awaitable[Content]]
"""Translates a sentence; a given number represents `#`."""


@dataclass(frozen=True, slots=True)
class _Number:
    """The number that a sentence is translated with."""

    value: int
    shown_by: tuple[str, ...]
    """The arguments that show the number, as written."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A branch of the message to write, and the branch of the source that it is made from."""

    key: str
    source: Message
    number: _Number | None
    """A number that takes the branch."""


async def translated_icu(text: str, languages: Languages, translate: TranslateSentence) -> str:
    """Translates a message; plural branches are those of the target language, with the exact ones of the source.

    Args:
        text: the message.
        languages: both, for the words for one and for plural categories.
        translate: translates a sentence whose arguments are codes.

    Raises:
        DataError: the message is not well formed.
    """
    message = parse_icu(text)
    if _count(message, languages) <= _MAX_SENTENCES:
        found = await _sentences(message, None, languages, translate)
    else:
        found = await _texts(message, languages, translate)
    bare = _QUOTED.sub("", text.replace("''", ""))
    return written_icu(found, doubles_apostrophes="''" in text and "'" not in bare)


def _choices(branching: Branching, languages: Languages) -> list[_Choice]:
    """The branches of a translation."""
    source_branches, target = dict(branching.branches), languages.target or ""
    if branching.kind == "select":
        return [_Choice(key, branch, None) for key, branch in branching.branches]
    offset = int(found[0]) if (found := re.search(rf"\d{{1,{_MAX_DIGITS}}}", branching.offset)) else 0
    shown_by = _shown_by(branching)
    exact = [
        _Choice(key, branch, _exact_number(key, offset, shown_by))
        for key, branch in branching.branches
        if key.startswith("=")
    ]
    forms = categories(target) if branching.kind == "plural" else ordinal_categories(target)
    # A category of one number, which the source handles by an exact branch, would never be chosen.
    chosen = {
        form.name: _Choice(form.name, _source_of(form, branching, offset, languages), _Number(form.sample, shown_by))
        for form in forms
        if not (
            form.is_of_one_number and form.name not in source_branches and f"={form.sample + offset}" in source_branches
        )
    }
    for name, number in _OF_ONE_NUMBER.items() if branching.kind == "plural" else ():
        if name in source_branches:
            chosen[name] = _Choice(name, source_branches[name], _Number(number, shown_by))
    return exact + sorted(chosen.values(), key=lambda choice: CATEGORY_NAMES.index(choice.key))


def _shown_by(branching: Branching) -> tuple[str, ...]:
    """The arguments that show the number by which a branch is chosen: the branching's own does without an offset."""
    return ("#",) if branching.offset else ("#", f"{{{branching.argument}}}")


def _exact_number(key: str, offset: int, shown_by: tuple[str, ...]) -> _Number | None:
    """The number of a key such as `=1`, as `#` shows it; None if the number is never shown."""
    value = int(key[1:]) - offset if len(key) <= _MAX_DIGITS else -1
    return None if value < 0 else _Number(value, shown_by)


def _source_of(form: PluralForm, branching: Branching, offset: int, languages: Languages) -> Message:
    """The branch of the source from which a form of the target language is made."""
    source_branches = dict(branching.branches)
    if branching.kind == "selectordinal":
        # The source's own branch of the sample: English has "#st", "#nd" and "#rd".
        return source_branches.get({1: "one", 2: "two", 3: "few"}.get(form.sample, "other"), source_branches["other"])
    if not form.is_singular:
        return source_branches["other"]
    shown_by = _shown_by(branching)
    count = _count_argument(source_branches["other"], shown_by)
    exact = source_branches.get(f"={1 + offset}")
    singulars = [branch for branch in (source_branches.get("one"), exact) if branch is not None]
    # "One file" does not fit 0, which is singular in French, or 21, which is singular in Russian.
    if "one" in source_branches and (form.is_of_one_number or count is None):
        return source_branches["one"]
    counted = [branch for branch in singulars if _count_argument(branch, shown_by) is not None]
    if count is not None:
        candidates = (with_count(branch, count, languages.source or "") for branch in singulars)
        counted += [tuple(part for part in branch if part != "") for branch in candidates if branch is not None]
    return counted[0] if counted else source_branches["other"]


def _count_argument(message: Message, shown_by: tuple[str, ...]) -> Argument | None:
    """The argument that shows the number in a branch; None if there is none."""
    return next((part for part in message if isinstance(part, Argument) and part.raw in shown_by), None)


def _count(message: Message, languages: Languages) -> int:
    """The number of sentences that a message becomes."""
    first = next((number for number, part in enumerate(message) if isinstance(part, Branching)), None)
    if first is None:
        return 1
    branching = message[first]
    assert isinstance(branching, Branching)
    total = 0
    for choice in _choices(branching, languages):
        total += _count((*choice.source, *message[first + 1 :]), languages)
        if total > _MAX_SENTENCES:
            break
    return total


async def _sentences(
    message: Message, number: _Number | None, languages: Languages, translate: TranslateSentence
) -> Message:
    """Translates a message whose first branches include all text around them."""
    first = next((number for number, part in enumerate(message) if isinstance(part, Branching)), None)
    if first is None:
        return await _sentence(message, number, translate)
    branching = message[first]
    assert isinstance(branching, Branching)
    branches = []
    for choice in _choices(branching, languages):
        whole = (*message[:first], *_unambiguous(choice.source, branching, message[first + 1 :]), *message[first + 1 :])
        own = number if branching.kind == "select" else choice.number
        branches.append((choice.key, await _sentences(_merged(whole), own, languages, translate)))
    return (
        Branching(argument=branching.argument, kind=branching.kind, offset=branching.offset, branches=tuple(branches)),
    )


def _unambiguous(branch: Message, branching: Branching, behind: Message) -> Message:
    """A branch that can be within later branches of the message, where `#` would mean another number."""
    if branching.kind == "select" or not any(isinstance(part, Branching) for part in (*branch, *behind)):
        return branch
    number = Argument(f"{{{branching.argument}, number}}")
    return tuple(number if part == Argument("#") else part for part in branch)


async def _texts(message: Message, languages: Languages, translate: TranslateSentence) -> Message:
    """Translates each text of a message separately."""
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
                (choice.key, await _texts(choice.source, languages, translate)) for choice in _choices(part, languages)
            ]
            parts.append(
                Branching(argument=part.argument, kind=part.kind, offset=part.offset, branches=tuple(branches))
            )
    return tuple(parts)


async def _sentence(
    message: Sequence[str | Argument | Branching], number: _Number | None, translate: TranslateSentence
) -> Message:
    """Translates texts and arguments."""
    parts: list[str | Code] = []
    shown_by = () if number is None else number.shown_by
    for place, part in enumerate(message):
        assert not isinstance(part, Branching)
        if isinstance(part, Argument):
            parts.append(Code(id=f"{COUNT_ID if part.raw in shown_by else ''}{place}", raw=part.raw))
        else:
            parts.append(part)
    found = joined(parts)
    if not any(isinstance(part, str) and any(map(str.isalpha, part)) for part in found):
        translated = found
    else:
        translated = await translate(found, None if number is None else number.value)
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
