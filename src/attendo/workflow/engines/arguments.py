"""Checks of the arguments of an `Engine`: texts, pairs, sentences, constraints and search settings.

A value of another type is a `TypeError` that names the accepted type, as for any Python function. Single values are
checked at the call; the items of an iterable are checked as they are read.
"""

import difflib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from attendo.decoding.constraints.line_constraints import Constraints, paired
from attendo.decoding.constraints.terminology import Terminology
from attendo.decoding.search_settings import SearchSettings
from attendo.errors import DataError
from attendo.parsing.sentences import GivenSentence, Sentence
from attendo.workflow.engines.aids import Aids

_BYTES = (bytes, bytearray, memoryview)
_MAX_SHOWN = 40

ItemT = TypeVar("ItemT")
SentenceT = TypeVar("SentenceT", bound=GivenSentence | DataError)


def checked_text(method: str, name: str, text: str) -> str:
    """Returns a text after checking its type.

    Raises:
        TypeError: the value is not a text.
    """
    if not isinstance(text, str):
        raise TypeError(f"{method}() takes {name} as a str, not {_kind(text)}")
    return text


def checked_sentences(method: str, sentences: str | Sentence | Iterable[SentenceT]) -> Iterator[SentenceT]:
    """Yields one or several sentences to parse, each checked as it is read; a `DataError` in place of one passes.

    Args:
        method: the called method, for messages.
        sentences: one sentence, or several.

    Raises:
        TypeError: at once if `sentences` is not iterable; later for an item that is not a sentence, with its index.
    """
    given: Any = [sentences] if isinstance(sentences, (str, Sentence)) else sentences
    items = _items(method, "a sentence (str or Sentence) or an iterable of sentences", given)
    return _checked_items(items, lambda index, sentence: _check_sentence(method, index, sentence))


def checked_pairs(method: str, pairs: Iterable[ItemT], *, ids: bool) -> Iterator[ItemT]:
    """Yields pairs of a text and its translation, each checked as it is read.

    Args:
        method: the called method, for messages.
        pairs: the pairs.
        ids: whether a translation may be ids instead of text.

    Raises:
        TypeError: at once if `pairs` is not an iterable of pairs; later for an item that is not a pair, with its index.
    """
    wanted = "pairs (source, target) of texts"
    if isinstance(pairs, str):
        raise TypeError(f"{method}() takes {wanted}, not a str; for one pair write [(source, target)]")
    items = _items(method, wanted, pairs)
    return _checked_items(items, lambda index, pair: _check_pair(method, index, pair, ids=ids))


def constrained_texts(method: str, texts: str | Iterable[str], constraints: Any) -> Iterator[tuple[str, Constraints]]:
    """One text or several, each with its constraints and checked as it is read.

    Args:
        method: the called method, for messages.
        texts: one text, or several.
        constraints: a `Constraints` for one text, an iterable of one each for several; None for none.

    Raises:
        TypeError: at once if an argument has another type; later for an item of another type, with its index.
        DataError: later if there are fewer or more constraints than texts.
    """
    if isinstance(texts, str):
        if constraints is not None and not isinstance(constraints, Constraints):
            raise TypeError(f"{method}() takes the constraints of one text as a Constraints, not {_kind(constraints)}")
        return paired([texts], None if constraints is None else [constraints])
    items = _items(method, "a text (str) or an iterable of texts", texts)
    checked = _checked_items(items, lambda index, text: _check_text_item(method, index, text))
    return paired(checked, None if constraints is None else _several_constraints(method, constraints))


def checked_aids(method: str, aids: Aids) -> Aids:
    """Aids, which have to be that.

    Raises:
        TypeError: the value has another type, such as a glossary.
    """
    if not isinstance(aids, Aids):
        raise TypeError(f"{method}() takes aids as Aids(glossary=..., memory=...), not {_kind(aids)}")
    return aids


def with_terms(
    texts: Iterator[tuple[str, Constraints]], terms: Terminology | None
) -> Iterator[tuple[str, Constraints]]:
    """Adds terms to the constraints of texts that have none.

    Args:
        texts: the texts, each with its constraints.
        terms: None leaves the constraints as they are.
    """
    if terms is None:
        return texts
    return (
        (text, constraints if constraints.terms is not None else replace(constraints, terms=terms))
        for text, constraints in texts
    )


def check_settings(method: str, settings: Mapping[str, Any]) -> None:
    """Refuses keywords of a call that are no search settings.

    Raises:
        TypeError: one is not; the message names the nearest setting.
    """
    known = SearchSettings.__annotations__
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"search settings are {', '.join(sorted(known))}"
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}; {hint}")


def renamed(method: str, constraints: Any, settings: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The constraints and the settings of a call, which may have the constraints under their old keyword `wishes`.

    Called by public methods directly, so that the warning points at the line that called them.

    Args:
        method: the called method, for messages.
        constraints: those given under their present name.
        settings: the other keywords of the call.

    Raises:
        TypeError: both are given.
    """
    others = dict(settings)
    wishes = others.pop("wishes", None)
    if "wishes" not in settings:
        return constraints, others
    if constraints is not None:
        raise TypeError(f"{method}() got both constraints and wishes, its old name; give constraints alone")
    warnings.warn("wishes is now called constraints; the old name will go away", DeprecationWarning, stacklevel=3)
    return wishes, others


def _several_constraints(method: str, constraints: Any) -> Iterator[Constraints]:
    if isinstance(constraints, Constraints):
        raise TypeError(
            f"{method}() takes constraints for each of several texts, not one Constraints; give a list of them"
        )
    items = _items(method, "constraints as an iterable of Constraints", constraints)
    return _checked_items(items, lambda index, item: _check_constraints_item(method, index, item))


def _items(method: str, wanted: str, given: Iterable[ItemT]) -> Iterable[ItemT]:
    """Rejects values that cannot be iterated over, and bytes."""
    if isinstance(given, _BYTES) or not isinstance(given, Iterable):
        raise TypeError(f"{method}() takes {wanted}, not {_kind(given)}")
    return given


def _checked_items(items: Iterable[ItemT], check: Callable[[int, object], None]) -> Iterator[ItemT]:
    for index, item in enumerate(items):
        check(index, item)
        yield item


def _check_text_item(method: str, index: int, text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{method}() takes texts as str, but texts[{index}] is {_kind(text)}")


def _check_constraints_item(method: str, index: int, item: object) -> None:
    if not isinstance(item, Constraints):
        raise TypeError(
            f"{method}() takes constraints, but constraints[{index}] is {_kind(item)}; where there are "
            "none, give Constraints()"
        )


def _check_sentence(method: str, index: int, given: object) -> None:
    if isinstance(given, (str, Sentence, DataError)):
        return
    if isinstance(given, _BYTES) or not isinstance(given, Sequence):
        raise TypeError(
            f"{method}() takes sentences as str, sequences of words or Sentence, but sentences[{index}] is "
            f"{_kind(given)}"
        )
    for place, word in enumerate(given):
        if not isinstance(word, str):
            raise TypeError(f"{method}() takes words as str, but word {place} of sentences[{index}] is {_kind(word)}")


def _check_pair(method: str, index: int, pair: object, *, ids: bool) -> None:
    message = f"{method}() takes pairs (source, target)"
    if isinstance(pair, str):
        hint = "for one pair write [(source, target)]"
        raise TypeError(f"{message}, but pairs[{index}] is the str {_short(pair)}; {hint}")
    if isinstance(pair, _BYTES) or not isinstance(pair, Sequence):
        raise TypeError(f"{message}, but pairs[{index}] is {_kind(pair)}")
    if len(pair) != 2:
        raise TypeError(f"{message}, but pairs[{index}] has {len(pair)} items")
    source, target = pair
    if not isinstance(source, str):
        raise TypeError(f"{message} of texts, but the source of pairs[{index}] is {_kind(source)}")
    if isinstance(target, str):
        return
    if not ids or isinstance(target, _BYTES) or not isinstance(target, Sequence):
        expected = "texts, or of a text and ids," if ids else "texts,"
        raise TypeError(f"{message} of {expected} but the target of pairs[{index}] is {_kind(target)}")


def _kind(value: object) -> str:
    """Names the type of a value for messages."""
    if value is None:
        return "None"
    if isinstance(value, _BYTES):
        return f"{type(value).__name__}; decode it first, for instance with .decode('utf-8')"
    if isinstance(value, (bool, int, float)):
        return f"the {type(value).__name__} {value!r}"
    return f"a {type(value).__name__}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…")
