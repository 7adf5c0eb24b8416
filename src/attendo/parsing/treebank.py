"""Reading treebanks as they lie on disk: trees on one or several lines, comments, traces, missing brackets.

A tree that cannot be read never stops the others: it is left out, counted, and reported with its line. Where a bracket
is missing, the next tree is found again by what treebank files look like; see `parse_trees`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from attendo.errors import DataError
from attendo.parsing.assembling import MAX_CHARACTERS, Assembler, FoundTree, Surplus, Unread
from attendo.parsing.conventions import OUTER_LABELS, Conventions, normalised
from attendo.parsing.tree import Tree
from attendo.text.files.formats import MAX_LINE_BYTES, LineReader

_MAX_LOOKED_AHEAD = 1000
"""Lines after which a tree that lines at the margin may continue is given up."""
_MAX_HELD = 1000
"""Trees that a closing bracket too many can still spoil."""
_MAX_AGAIN = 100_000
"""Lines that are read a second time, after which no tree goes on at the margin any more."""
_COMMENT = re.compile(r"[#%;*]|</?[A-Za-z][^()]*>\s*$")
_LABEL = re.compile(r"\([ \t]*([^ \t\n\v\f\r()]*)")

_Line = tuple[int, str, str | None]
"""A line's number and text, and why it cannot be meant, or None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A tree that could not be read."""

    path: Path
    line: int
    """Line in which the tree begins, from 1."""
    message: str

    def __str__(self) -> str:
        return f"{self.path}: line {self.line}: {self.message}"


@dataclass(frozen=True, kw_only=True)
class Treebank:
    """The trees of some files, in order, and an account of the rest."""

    trees: tuple[Tree, ...]
    problems: tuple[Problem, ...]
    """Text that was left out because it is not a tree."""
    num_empty: int
    """Number of trees that consist of traces only and were left out."""
    num_mended: int
    """Number of repaired brackets: those around several words, such as (NN a b), of which each became a word with the
    same tag; and empty ones called -LRB- or -RRB-, which got their label as their word."""


def read_treebank(paths: Iterable[Path], conventions: Conventions | None = None) -> Treebank:
    """Reads files of trees: plain, gz, bz2, xz or zst.

    Args:
        paths: the files.
        conventions: what to keep of each tree; None for the defaults.

    Raises:
        DataError: a file is missing, or its compressed content is broken. What is wrong with single trees is in the
            result.
    """
    wanted = conventions or Conventions()
    trees: list[Tree] = []
    problems: list[Problem] = []
    num_empty = num_mended = 0
    for path in paths:
        with LineReader(path) as lines:
            for found in parse_trees(_decoded(lines)):
                if isinstance(found, Unread):
                    problems.append(Problem(path=path, line=found.line, message=found.problem))
                    continue
                tree = normalised(found.tree, wanted)
                num_mended += found.num_mended
                num_empty += tree is None
                if tree is not None:
                    trees.append(tree)
    return Treebank(trees=tuple(trees), problems=tuple(problems), num_empty=num_empty, num_mended=num_mended)


def parse_tree(text: str) -> Tree:
    """Reads the only tree of a text, over any number of lines, without applying any convention.

    Raises:
        DataError: the text has no tree, several, or one that cannot be read.
    """
    found = list(parse_trees((line, None) for line in text.split("\n")))
    for one in found:
        if isinstance(one, Unread):
            raise DataError(f"no tree: line {one.line}: {one.problem}")
    if len(found) != 1 or not isinstance(found[0], FoundTree):
        raise DataError(f"the text has {len(found)} trees, but one is expected")
    return found[0].tree


def parse_trees(lines: Iterable[tuple[str, str | None]]) -> Iterator[FoundTree | Unread]:
    """Yields trees, and problems where there is none, in order.

    Outside trees a line that begins with # % ; or *, or is one tag of markup, is a comment.

    A tree whose brackets do not close ends where another one surely begins: at a line at the left margin, if the trees
    before it had their further lines indented, and in any case if that line follows an empty one or begins with an
    outer bracket, unlabelled or TOP, ROOT or S1. Where trees may well go on at the margin, it is given up if it never
    ends, and reading goes on at its second line there. A closing bracket too many spoils the trees before it, as far
    back as one with an outer bracket or as the margin, or as the line begins if all trees have one line.

    Args:
        lines: each with why it cannot be meant, or None.
    """
    return _TreeReader(lines).trees()


class _TreeReader:
    """Where trees begin and end when brackets do not say so: the part of the reader that knows lines."""

    def __init__(self, lines: Iterable[tuple[str, str | None]]) -> None:
        self._lines = enumerate(lines, start=1)
        self._again: list[_Line] = []  # lines to read once more, the next one last
        self._num_again = 0
        self._ahead: list[_Line] = []  # those of the open tree, from its second one at the margin on
        self._assembler = Assembler()
        self._held: list[FoundTree | Unread] = []  # what a closing bracket too many can still spoil
        self._has_ended = False  # a tree without a further line at the margin has been there
        self._goes_on_at_margin = False  # one with such lines has
        self._is_behind_empty = False
        self._spans_lines = False  # a tree of more than one line has been there
        self._is_lost = False  # within what was given up, until the next line at the margin

    def trees(self) -> Iterator[FoundTree | Unread]:
        """Yields what the lines hold."""
        while True:
            line = self._next()
            if line is None:
                if not self._assembler.is_open:
                    break
                self._go_back("not closed before the end of the file")
            elif not line[1].strip():
                self._is_behind_empty = True
            else:
                if self._may_begin(line):
                    yield from self._release()
                self._read(line)
                self._is_behind_empty = False
            while len(self._held) > _MAX_HELD:
                yield self._held.pop(0)
        yield from self._release()

    def _next(self) -> _Line | None:
        if self._again:
            return self._again.pop()
        following = next(self._lines, None)
        return None if following is None else (following[0], *following[1])

    def _release(self) -> list[FoundTree | Unread]:
        released, self._held = self._held, []
        return released

    def _may_begin(self, line: _Line) -> bool:
        """Whether this line has nothing to do with what came before; gives up the open tree where that is sure."""
        at_margin = not line[1][0].isspace()
        if not self._assembler.is_open:
            self._is_lost &= not line[1].startswith("(")
            return at_margin or not self._spans_lines
        if not line[1].startswith("("):
            return False
        match = _LABEL.match(line[1])
        is_outer = match is not None and match[1] in OUTER_LABELS
        if self._is_behind_empty or is_outer or (self._has_ended and not self._goes_on_at_margin):
            self._ahead = []
            self._hold(self._assembler.abandon(f"not closed before another tree begins on line {line[0]}"))
            return True
        return False

    def _read(self, line: _Line) -> None:
        number, text, fault = line
        if self._assembler.is_open:
            self._spans_lines = True
            if self._ahead or text.startswith("("):
                self._ahead.append(line)
            if len(self._ahead) > _MAX_LOOKED_AHEAD:
                self._go_back(f"not closed within {_MAX_LOOKED_AHEAD} lines")
                return
        elif self._is_lost or (not text.startswith("(") and _COMMENT.match(text.lstrip())):
            return
        for found in self._assembler.take(text, number, fault):
            if isinstance(found, Surplus):
                self._spoil(found)
            else:
                self._hold(found)
        if not self._assembler.is_open:
            self._goes_on_at_margin |= bool(self._ahead)
            self._has_ended |= not self._ahead
            self._ahead = []
        elif self._assembler.is_too_long:
            self._ahead, self._is_lost = [], True
            self._hold(self._assembler.abandon(f"more than {MAX_CHARACTERS:,} characters, so a bracket is missing"))

    def _go_back(self, problem: str) -> None:
        """Abandons the open tree, and continues reading from its second line at the margin that may begin one."""
        root = self._assembler.root_label
        self._hold(self._assembler.abandon(problem))
        ahead, self._ahead = self._ahead, []
        if self._goes_on_at_margin:  # a part of the tree would pass for one: wait for a root like this one's
            ahead = list(dropwhile(lambda line: not _begins_with(root, line[1]), ahead))
        self._again += reversed(ahead)
        self._num_again += len(ahead)
        if not self._goes_on_at_margin or self._num_again > _MAX_AGAIN:
            self._has_ended, self._goes_on_at_margin = True, False

    def _hold(self, found: FoundTree | Unread) -> None:
        """Keeps what was found; of several problems of one line without a tree between them the first."""
        before = self._held[-1] if self._held else None
        if not (isinstance(found, Unread) and isinstance(before, Unread) and found.line == before.line):
            self._held.append(found)

    def _spoil(self, surplus: Surplus) -> None:
        """Takes back the trees that a closing bracket too many shows to have ended too early."""
        line = surplus.line
        while self._held and isinstance(tree := self._held[-1], FoundTree):
            self._held.pop()
            line = tree.line
            if tree.tree.label in OUTER_LABELS:
                break
        self._hold(Unread(line=line, problem=f"a closing bracket too many on line {surplus.line}"))


def _begins_with(label: str | None, text: str) -> bool:
    """Whether a line at the margin begins with a bracket of this label."""
    match = _LABEL.match(text)
    return match is not None and match[1] == (label or "")


def _decoded(lines: LineReader) -> Iterator[tuple[str, str | None]]:
    """Lines as text, each with why it cannot be meant, or None."""
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_BYTES:
            yield "(", f"line {number} is longer than {MAX_LINE_BYTES >> 20} MB"
            continue
        try:
            yield line.decode("utf-8"), None
        except UnicodeDecodeError as error:
            yield line.decode("utf-8", "replace"), f"line {number} is not UTF-8 at its byte {error.start + 1}"
