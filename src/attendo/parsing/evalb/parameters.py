"""EVALB's parameter files: labels that are deleted or count as the same, a limit on errors, a cutoff length."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from attendo.errors import DataError
from attendo.text.files.formats import LineReader

_PUNCTUATION = (",", ":", "``", "''", ".")
_WHITE = " \t\v\f\r"
_INTEGER = re.compile(r"[+-]?\d{1,9}")
_LISTS = {
    "DELETE_LABEL": "delete_labels",
    "DELETE_LABEL_FOR_LENGTH": "delete_labels_for_length",
    "QUOTE_LABEL": "quote_labels",
}
_PAIRS = {"EQ_LABEL": "equal_labels", "EQ_WORD": "equal_words"}
_NUMBERS = {"DEBUG": "debug", "MAX_ERROR": "max_error", "CUTOFF_LEN": "cutoff_length", "LABELED": "labeled"}


@dataclass(frozen=True, kw_only=True)
class EvalbParameters:
    """The rules for counting brackets; the defaults are those of EVALB without a parameter file: nothing is deleted."""

    delete_labels: tuple[str, ...] = ()
    """Labels to delete: a word with such a tag is deleted; of a constituent, only its bracket."""
    delete_labels_for_length: tuple[str, ...] = ()
    """Tags of words that do not count towards the length of their sentence."""
    quote_labels: tuple[str, ...] = ()
    """Tags that a quotation mark may wrongly have: if only one side has deleted it, it is reinserted."""
    equal_labels: tuple[tuple[str, str], ...] = ()
    """Labels, also of words, that count as the same, in both directions."""
    equal_words: tuple[tuple[str, str], ...] = ()
    """Words that count as the same, in both directions."""
    labeled: int = 1
    """0: brackets match if their words are the same, whatever their labels."""
    cutoff_length: int = 40
    """Maximum length of the sentences in the second summary, in words."""
    max_error: int = 10
    """Limit on errors; EVALB stops when there are two more than this."""
    debug: int = 0
    """1 or more: the words and brackets of every sentence are printed, too."""


COLLINS = EvalbParameters(
    delete_labels=("TOP", "-NONE-", *_PUNCTUATION),
    delete_labels_for_length=("-NONE-",),
    equal_labels=(("ADVP", "PRT"),),
)
"""The parameters of COLLINS.prm, with which English parsers have been compared since Collins (1997)."""

NEW = replace(
    COLLINS,
    delete_labels=("TOP", "S1", "-NONE-", *_PUNCTUATION, "?", "!"),
    quote_labels=("``", "''", "POS", "NN", "CD", "VBZ", ":"),
)
"""The parameters of new.prm: S1 and the tags ? and ! are deleted too, and mislabelled quotation marks are no errors."""

NK = replace(NEW, max_error=10_000)
"""The parameters of nk.prm, used for benepar's published scores: new.prm with a limit of 10,000 errors."""

BUILT_IN = {"collins": COLLINS, "new": NEW, "nk": NK}
"""The built-in parameters by name."""


@dataclass(frozen=True, kw_only=True)
class ReadParameters:
    """The content of a parameter file."""

    parameters: EvalbParameters
    warnings: tuple[str, ...] = field(default=())
    """Warnings about lines without effect, which EVALB reports, too."""


def find_parameters(name: str | None) -> ReadParameters:
    """Returns the parameters of a file, or built-in ones.

    Args:
        name: a file, or else a key of `BUILT_IN`; None for `COLLINS`.

    Raises:
        DataError: there is neither, or the file is unreadable or invalid.
    """
    if name is None:
        return ReadParameters(parameters=COLLINS)
    if not Path(name).exists():
        known = BUILT_IN.get(name.lower())
        if known is None:
            raise DataError(
                f"{name}: there is no such parameter file; name one, or take one of {', '.join(BUILT_IN)}, "
                "which are built in"
            )
        return ReadParameters(parameters=known)
    return read_parameters(Path(name))


def read_parameters(path: Path) -> ReadParameters:
    """Reads a parameter file: each line is a keyword and its value, or begins with #.

    Raises:
        DataError: the file is missing, broken or not UTF-8, or a value that should be a number is not one.
    """
    values: dict[str, int] = {}
    lists: dict[str, list[str]] = {}
    pairs: dict[str, list[tuple[str, str]]] = {}
    warnings = []
    with LineReader(path) as lines:
        for raw in lines:
            where = f"{path}: line {lines.num_lines}"
            line = _decoded(raw, where).rstrip(_WHITE)
            if line.startswith("#") or len(line) < 2:
                continue
            keyword, value = _halves(line)
            words = value.split()
            if keyword in _NUMBERS and words:
                values[_NUMBERS[keyword]] = _integer(value, where, keyword)
            elif keyword in _LISTS and words:
                lists.setdefault(_LISTS[keyword], []).append(value)
                if len(words) > 1:
                    warnings.append(f"{where}: no label is called {value!r}; {keyword} takes one, and no comment")
            elif keyword in _PAIRS and len(words) == 2:
                pairs.setdefault(_PAIRS[keyword], []).append((words[0], words[1]))
            else:
                warnings.append(f"{where}: {_complaint(keyword)}; it is left out")
    texts = {key: tuple(labels) for key, labels in lists.items()}
    equal = {key: tuple(both) for key, both in pairs.items()}
    return ReadParameters(
        parameters=EvalbParameters(**values, **texts, **equal),  # type: ignore[arg-type]  # each table has its fields
        warnings=tuple(warnings),
    )


def _halves(line: str) -> tuple[str, str]:
    """Splits a line into a keyword and its value, which is the rest of the line."""
    match = re.match(r"([^ \t\v\f\r]*)[ \t\v\f\r]*(.*)", line, flags=re.DOTALL)
    assert match is not None, "every part of it may be empty"
    return match[1], match[2]


def _complaint(keyword: str) -> str:
    if keyword in _PAIRS:
        return f"{keyword} takes two values"
    if keyword in _LISTS or keyword in _NUMBERS:
        return f"{keyword} has no value"
    known = ", ".join([*_LISTS, *_PAIRS, *_NUMBERS])
    return f"{keyword[:80]!r} is no keyword; a line begins with one of {known}"


def _integer(value: str, where: str, keyword: str) -> int:
    match = _INTEGER.match(value)
    if match is None:
        raise DataError(f"{where}: {keyword} takes a whole number, not {value[:80]!r}")
    return int(match[0])


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is not UTF-8 at its byte {error.start + 1}; is this a parameter file?") from error
