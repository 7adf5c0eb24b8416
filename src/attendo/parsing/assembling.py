"""Building trees from brackets, token by token, and finding their errors: the part of the reader that ignores lines."""

import re
from dataclasses import dataclass, field

from attendo.parsing.conventions import OUTER_LABELS
from attendo.parsing.tree import Tree

MAX_DEPTH = 1000
"""Maximum depth of nested brackets; the deepest tree of the Penn Treebank has about forty."""
MAX_CHARACTERS = 1 << 20
"""Maximum number of characters in a tree; a longer one must lack a bracket."""

# White space is that of C, as in EVALB. The tokens: a leaf, `(` that begins no leaf, `)`, other text.
_SPACE, _TEXT = r"[ \t\n\v\f\r]", r"[^ \t\n\v\f\r()]"
_TOKEN = re.compile(rf"\({_SPACE}*({_TEXT}+){_SPACE}+({_TEXT}+){_SPACE}*\)|(\()|(\))|({_TEXT}+)")
_LEAF, _OPEN, _CLOSE = 2, 3, 4
_BRACKET_TAGS = frozenset(("-LRB-", "-RRB-"))


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundTree:
    """A tree, with the line in which it begins."""

    tree: Tree
    line: int
    """Number of the line in which it begins, from 1."""
    num_mended: int = 0
    """Number of repaired brackets: those around several words, such as (NN a b), of which each became a word with the
    same tag; and empty ones called -LRB- or -RRB-, which got their label as their word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """Text that is not a tree, with the line in which it begins."""

    line: int
    """Number of the line in which it begins, from 1."""
    problem: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Surplus:
    """A closing bracket outside any tree: the tree before it may have ended too early."""

    line: int
    """Number of its line, from 1."""


@dataclass(slots=True)
class _Bracket:
    """An open bracket."""

    label: str | None = None
    children: list[Tree] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


class Assembler:
    """Takes text line by line and returns each tree as soon as its last bracket is read.

    An invalid tree is followed to its end, too, so that the text after it is read correctly.
    """

    def __init__(self) -> None:
        self._brackets: list[_Bracket] = []
        self._num_deeper = 0  # open brackets beyond MAX_DEPTH, which are counted but not kept
        self._line = 0
        self._num_characters = 0
        self._num_mended = 0
        self._problem: str | None = None
        self._fault: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether a tree has begun and not ended."""
        return bool(self._brackets)

    @property
    def is_too_long(self) -> bool:
        """Whether the open tree has more characters than a tree can have."""
        return self._num_characters > MAX_CHARACTERS

    @property
    def root_label(self) -> str | None:
        """The label of the open tree's root; None if no tree is open or its label has not been read."""
        return self._brackets[0].label if self._brackets else None

    def abandon(self, problem: str) -> Unread:
        """Abandons the open tree and reports its first problem, or else the given one."""
        unread = Unread(line=self._line, problem=self._problem or problem)
        self._reset()
        return unread

    def take(self, text: str, line: int, fault: str | None = None) -> list[FoundTree | Unread | Surplus]:
        """Takes a line and returns the results that end in it, in order.

        Args:
            text: the line.
            line: number of the line.
            fault: why the line is invalid, and with it any tree that it is part of; None if it is valid.
        """
        results: list[FoundTree | Unread | Surplus] = []
        self._num_characters += len(text)
        self._fault = fault
        if fault is not None and self._brackets:
            self._complain(fault)
        for match in _TOKEN.finditer(text):
            kind = match.lastindex
            if kind in (_LEAF, _OPEN):
                results.extend(self._begin_anew(line))
                if kind == _OPEN:
                    self._open(line, len(text) - match.start())
                elif self._brackets:
                    self._leaf(match[1], match[2])
                else:
                    results.append(self._word_alone(match[1], match[2], line))
            elif kind == _CLOSE:
                results.extend(self._close(line))
            elif self._brackets:
                self._text(match[0])
            else:
                results.append(Unread(line=line, problem=f"text outside brackets, {match[0][:80]!r}"))
        return results

    def _begin_anew(self, line: int) -> list[Unread]:
        """Abandons the open tree if a bracket without a label shows that another tree has begun.

        Such a bracket encloses a whole tree and never occurs within one. So in `( (S (NP (NN a)) ( (S ...) )` the first
        tree lacks a bracket, and the second begins with the bracket before the current one.
        """
        if not self._brackets or self._num_deeper or self._brackets[-1].label is not None:
            return []
        before = self._brackets[:-1]
        self._brackets[-1].label = ""
        if all(bracket.label in OUTER_LABELS and not bracket.children for bracket in before):
            return []
        unread = self.abandon(f"not closed before another tree begins on line {line}")
        self._brackets, self._line, self._problem = [_Bracket(label="")], line, self._fault
        return [unread]

    def _open(self, line: int, num_characters: int) -> None:
        if not self._brackets:
            self._line, self._num_characters, self._problem = line, num_characters, self._fault
        if len(self._brackets) < MAX_DEPTH:
            self._brackets.append(_Bracket())
        else:
            self._num_deeper += 1
            self._complain(f"nested more than {MAX_DEPTH} deep")

    def _word_alone(self, tag: str, word: str, line: int) -> FoundTree | Unread:
        """Returns a tree that is a single word with its tag."""
        if self._fault is not None:
            return Unread(line=line, problem=self._fault)
        return FoundTree(tree=Tree(tag, word=word), line=line)

    def _leaf(self, tag: str, word: str) -> None:
        if not self._num_deeper:
            self._brackets[-1].children.append(Tree(tag, word=word))

    def _text(self, text: str) -> None:
        if self._num_deeper:
            return
        bracket = self._brackets[-1]
        if bracket.label is None:
            bracket.label = text
        else:
            bracket.words.append(text)

    def _close(self, line: int) -> list[FoundTree | Unread | Surplus]:
        if not self._brackets:
            return [Surplus(line=line)]
        if self._num_deeper:
            self._num_deeper -= 1
            return []
        if len(self._brackets) == 1:
            return [self._finished()]
        trees = self._innermost_trees()
        self._brackets.pop()
        self._brackets[-1].children.extend(trees)
        return []

    def _finished(self) -> FoundTree | Unread:
        trees = self._innermost_trees()
        if len(trees) > 1:
            self._complain(f"several words under {trees[0].label} and nothing around them")
        result: FoundTree | Unread
        if self._problem is not None:
            result = Unread(line=self._line, problem=self._problem)
        else:
            result = FoundTree(tree=trees[0], line=self._line, num_mended=self._num_mended)
        self._reset()
        return result

    def _innermost_trees(self) -> list[Tree]:
        """Returns the trees that the innermost open bracket becomes; none if there is a problem with the open tree."""
        if self._problem is not None:
            return []
        bracket = self._brackets[-1]
        label = bracket.label or ""
        if bracket.words and bracket.children:
            self._complain(f"words beside brackets: {bracket.words[0][:80]!r} in ({label[:80]}")
        elif bracket.children:
            return [Tree(label, tuple(bracket.children))]
        elif bracket.words:
            self._num_mended += len(bracket.words) > 1
            return [Tree(label, word=word) for word in bracket.words]
        elif label in _BRACKET_TAGS:
            self._num_mended += 1
            return [Tree(label, word=label)]
        else:
            self._complain(f"a bracket with nothing in it, ({label[:80]})")
        return []

    def _complain(self, problem: str) -> None:
        """Records the first problem of the open tree."""
        if self._problem is None:
            self._problem = problem

    def _reset(self) -> None:
        self._brackets, self._num_deeper, self._problem = [], 0, None
        self._num_characters = self._num_mended = 0
