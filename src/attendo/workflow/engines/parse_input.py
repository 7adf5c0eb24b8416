"""Sentences to parse, as text, words, tagged words or a treebank's trees, and errors in them."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeVar

from attendo.errors import DataError
from attendo.parsing.assembling import Unread
from attendo.parsing.conventions import GOLD_CONVENTIONS, normalised
from attendo.parsing.sentences import GivenSentence, Sentence, shown
from attendo.parsing.tokenizing import TreebankTokenizer
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_trees
from attendo.workflow.lines import lines_from

LineKind = Literal["text", "words", "tagged"]
"""Format of a line: plain text; words separated by spaces; words as word/TAG separated by spaces."""

_SPACE = re.compile(r"[ \t\n\v\f\r]+")
_SEPARATOR = "/"

GivenT = TypeVar("GivenT")


class SentenceReader:
    """Makes sentences of text and of words."""

    def __init__(self) -> None:
        self._known_tokenizer: TreebankTokenizer | None = None

    def read(self, given: GivenSentence) -> Sentence:
        """Reads a sentence that a program has passed.

        Raises:
            DataError: it has words or tags that no tree can have.
            AttendoError: it is plain text, and NLTK is not installed.
        """
        if isinstance(given, Sentence):
            return given
        return self.of_text(given) if isinstance(given, str) else Sentence(words=tuple(given))

    def of_text(self, line: str) -> Sentence:
        """Splits plain text.

        Raises:
            DataError: it holds a lone surrogate.
            AttendoError: NLTK is not installed.
        """
        _check_unicode(line)
        if self._known_tokenizer is None:  # imported on demand, since NLTK takes a second and may be missing
            self._known_tokenizer = TreebankTokenizer()
        return Sentence(words=tuple(self._known_tokenizer.words(line)))

    def of_words(self, line: str) -> Sentence:
        """Reads words with spaces between them; a no-break space and its like are part of a word.

        Raises:
            DataError: it holds a lone surrogate.
        """
        _check_unicode(line)
        return Sentence(words=tuple(word for word in _SPACE.split(line) if word))

    def of_tagged(self, line: str) -> Sentence:
        """Reads word/TAG with spaces between them; the last / each consists of the text before its tag.

        Raises:
            DataError: there is a word without a tag, or a tag that cannot be.
        """
        plain = self.of_words(line)
        words, tags = [], []
        for number, token in enumerate(plain.words, start=1):
            word, _, tag = token.rpartition(_SEPARATOR)
            if not word or not tag:
                raise DataError(f"word {number}, {shown(token)}, has no tag; write it as word{_SEPARATOR}TAG")
            words.append(word)
            tags.append(tag)
        return Sentence(words=tuple(words), tags=tuple(tags))


def read_lines_of(kind: LineKind, path: Path | None) -> Iterator[Sentence | DataError]:
    """Reads a file of sentences, one per line.

    Args:
        kind: the format of the lines.
        path: the file, plain, gz, bz2, xz or zst, or a pipe; None for standard input.

    Yields:
        For each line a sentence, without words if the line is empty, or the reason why it is invalid.

    Raises:
        DataError: the file is missing or broken, or a line is longer than 4 MB.
        AttendoError: the lines are text, and NLTK is not installed.
    """
    reader = SentenceReader()
    readers: dict[LineKind, Callable[[str], Sentence]] = {
        "text": reader.of_text,
        "words": reader.of_words,
        "tagged": reader.of_tagged,
    }
    read = readers[kind]
    for line in lines_from(path, errors="surrogateescape"):
        yield attempted(read, line)


def attempted(read: Callable[[GivenT], Sentence], given: GivenT) -> Sentence | DataError:
    """Returns the result of reading something, or the error."""
    try:
        return read(given)
    except DataError as error:
        return error


def read_trees(path: Path | None) -> Iterator[Tree | DataError | None]:
    """Reads a treebank in the form used for comparing parsers: no traces, no functional tags, no outer bracket.

    Args:
        path: the file, plain, gz, bz2, xz or zst, or a pipe; None for standard input.

    Yields:
        Trees with words as in text; None for a tree of traces only; or the reason why it is invalid.

    Raises:
        DataError: the file is missing or broken, or a line is longer than 4 MB.
    """
    for found in parse_trees(_with_faults(lines_from(path, errors="surrogateescape"))):
        if isinstance(found, Unread):
            yield DataError(f"line {found.line}: {found.problem}")
        else:
            yield normalised(found.tree, GOLD_CONVENTIONS)


def sentence_of(tree: Tree | DataError | None, *, tags: bool) -> Sentence | DataError:
    """The words of a tree that is to be parsed again.

    Args:
        tree: a tree from `read_trees`.
        tags: whether the words keep their tags.
    """
    if isinstance(tree, DataError):
        return tree
    if tree is None:
        return Sentence(words=())
    return Sentence(words=tree.words, tags=tree.tags if tags else None)


def _with_faults(lines: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yields lines, each with its error or None."""
    for line in lines:
        try:
            _check_unicode(line)
        except DataError as error:
            yield line, str(error)
        else:
            yield line, None


def _check_unicode(line: str) -> None:
    """Refuses bytes that are not UTF-8, which `surrogateescape` has kept, and any other lone surrogate."""
    try:
        line.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"character {error.start + 1} is a byte that is not UTF-8, or half of a surrogate pair; convert the text, "
            "for instance with iconv -f latin1 -t utf-8"
        ) from error
