"""Reading treebank files: trees on one or several lines, comments, traces, missing brackets.

A tree that cannot be read does not affect the others: it is skipped, counted, and reported with its line. If a bracket
is missing, the beginning of the next tree is found by the layout of treebank files; see `parse_trees`.
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
"""Number of lines, from its second at the margin on, after which an open tree is abandoned."""
_MAX_HELD = 1000
"""Maximum number of results held back because a surplus closing bracket may still invalidate them."""
_MAX_AGAIN = 100_000
"""Number of lines read a second time, after which trees are assumed not to continue at the margin."""
_COMMENT = re.compile(r"[#%;*]|</?[A-Za-z][^()]*>\s*$")
_LABEL = re.compile(r"\([ \t]*([^ \t\n\v\f\r()]*)")

_Line = tuple[int, str, str | None]
"""Number and text of a line, and the reason why it is invalid, or None."""


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
    """The trees of some files, in order, and an account of the skipped text."""

    trees: tuple[Tree, ...]
    problems: tuple[Problem, ...]
    """Text that was skipped because it is not a tree."""
    num_empty: int
    """Number of trees that consist of traces only and were skipped."""
    num_mended: int
    """Number of repaired brackets: those around several words, such as (NN a b), of which each became a word with the
    same tag; and empty ones called -LRB- or -RRB-, which got their label as their word."""


def read_treebank(paths: Iterable[Path], conventions: Conventions | None = None) -> Treebank:
    """Reads files of trees: plain, gz, bz2, xz or zst.

    Args:
        paths: the files.
        conventions: what to keep of each tree; None for the defaults.

    Raises:
        DataError: a file is missing, or its compressed content is broken. Problems with single trees are in the
            result.
    """
    applied = conventions or Conventions()
    trees: list[Tree] = []
    problems: list[Problem] = []
    num_empty = num_mended = 0
    for path in paths:
        with LineReader(path) as lines:
            for result in parse_trees(_decoded(lines)):
                if isinstance(result, Unread):
                    problems.append(Problem(path=path, line=result.line, message=result.problem))
                    continue
                tree = normalised(result.tree, applied)
                num_mended += result.num_mended
                num_empty += tree is None
                if tree is not None:
                    trees.append(tree)
    return Treebank(trees=tuple(trees), problems=tuple(problems), num_empty=num_empty, num_mended=num_mended)


def parse_tree(text: str) -> Tree:
    """Reads the only tree of a text, over any number of lines, without applying any convention.

    Raises:
        DataError: the text has no tree, several, or one that cannot be read.
    """
    results = list(parse_trees((line, None) for line in text.split("\n")))
    for result in results:
        if isinstance(result, Unread):
            raise DataError(f"no tree: line {result.line}: {result.problem}")
    if len(results) != 1 or not isinstance(results[0], FoundTree):
        raise DataError(f"the text has {len(results)} trees, but one is expected")
    return results[0].tree


def parse_trees(lines: Iterable[tuple[str, str | None]]) -> Iterator[FoundTree | Unread]:
    """Yields trees, and problems in place of invalid ones, in order.

    Outside trees, a line that begins with # % ; or *, or consists of a single markup tag, is a comment.

    A tree whose brackets do not close ends where another one certainly begins: at a bracket at the left margin, if the
    trees before had all further lines indented, and in any case if it follows an empty line or is an outer bracket (no
    label, TOP, ROOT, S1 or VROOT). If trees may continue at the margin, an unclosed tree is abandoned after 1000 lines
    or at the end of the file, and reading resumes at its second line at the margin. A surplus closing bracket
    invalidates the trees before it, back to one with an outer bracket or to the last line at the margin; if all trees
    so far were on one line each, back to the beginning of its line.

    Args:
        lines: each line with the reason why it is invalid, or None.
    """
    return _TreeReader(lines).trees()


class _TreeReader:
    """Decides by lines where trees begin and end if their brackets do not say so."""

    def __init__(self, lines: Iterable[tuple[str, str | None]]) -> None:
        self._lines = enumerate(lines, start=1)
        self._again: list[_Line] = []  # lines to read again, the next one last
        self._num_again = 0
        self._ahead: list[_Line] = []  # lines of the open tree, from its second line at the margin on
        self._assembler = Assembler()
        self._held: list[FoundTree | Unread] = []  # results that a surplus closing bracket may still invalidate
        self._has_ended = False  # whether a tree has ended that had no further line at the margin
        self._goes_on_at_margin = False  # whether a tree has ended that had further lines at the margin
        self._follows_empty_line = False
        self._spans_lines = False  # whether a tree has had more than one line
        self._is_lost = False  # whether this is the rest of an abandoned tree, until the next bracket at the margin

    def trees(self) -> Iterator[FoundTree | Unread]:
        """Yields the results of all lines."""
        while True:
            line = self._next()
            if line is None:
                if not self._assembler.is_open:
                    break
                self._go_back("not closed before the end of the file")
            elif not line[1].strip():
                self._follows_empty_line = True
            else:
                if self._may_begin(line):
                    yield from self._release()
                self._read(line)
                self._follows_empty_line = False
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
        """Whether the line certainly does not continue what came before; if so, abandons the open tree."""
        at_margin = not line[1][0].isspace()
        if not self._assembler.is_open:
            self._is_lost &= not line[1].startswith("(")
            return at_margin or not self._spans_lines
        if not line[1].startswith("("):
            return False
        match = _LABEL.match(line[1])
        is_outer = match is not None and match[1] in OUTER_LABELS
        if self._follows_empty_line or is_outer or (self._has_ended and not self._goes_on_at_margin):
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
        for result in self._assembler.take(text, number, fault):
            if isinstance(result, Surplus):
                self._spoil(result)
            else:
                self._hold(result)
        if not self._assembler.is_open:
            self._goes_on_at_margin |= bool(self._ahead)
            self._has_ended |= not self._ahead
            self._ahead = []
        elif self._assembler.is_too_long:
            self._ahead, self._is_lost = [], True
            self._hold(self._assembler.abandon(f"more than {MAX_CHARACTERS:,} characters, so a bracket is missing"))

    def _go_back(self, problem: str) -> None:
        """Abandons the open tree and resumes at its second line at the margin, or a later one that may begin a tree."""
        root = self._assembler.root_label
        self._hold(self._assembler.abandon(problem))
        ahead, self._ahead = self._ahead, []
        if self._goes_on_at_margin:  # a part of the tree may look like a tree: wait for a root with the same label
            ahead = list(dropwhile(lambda line: not _begins_with(root, line[1]), ahead))
        self._again += reversed(ahead)
        self._num_again += len(ahead)
        if not self._goes_on_at_margin or self._num_again > _MAX_AGAIN:
            self._has_ended, self._goes_on_at_margin = True, False

    def _hold(self, result: FoundTree | Unread) -> None:
        """Holds back a result; of consecutive problems of one line only the first."""
        last = self._held[-1] if self._held else None
        if not (isinstance(result, Unread) and isinstance(last, Unread) and result.line == last.line):
            self._held.append(result)

    def _spoil(self, surplus: Surplus) -> None:
        """Withdraws the trees that ended too early, as a surplus closing bracket shows."""
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
    """Yields lines as text, each with the reason why it is invalid, or None."""
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE_BYTES:
            yield "(", f"line {number} is longer than {MAX_LINE_BYTES >> 20} MB"
            continue
        try:
            yield line.decode("utf-8"), None
        except UnicodeDecodeError as error:
            yield line.decode("utf-8", "replace"), f"line {number} is not UTF-8 at its byte {error.start + 1}"
