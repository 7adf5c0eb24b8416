"""Brackets to trees, token by token, with what is wrong of each: the part of the reader that knows no lines."""

import re
from dataclasses import dataclass, field

from attendo.parsing.conventions import OUTER_LABELS
from attendo.parsing.tree import Tree

MAX_DEPTH = 1000
"""Brackets within brackets; the deepest tree of the Penn Treebank has some forty."""
MAX_CHARACTERS = 1 << 20
"""Of one tree: what is longer lacks a bracket."""

# White space is C's, as EVALB has it; a leaf, `(` with no leaf behind it, `)`, text.
_SPACE, _TEXT = r"[ \t\n\v\f\r]", r"[^ \t\n\v\f\r()]"
_TOKEN = re.compile(rf"\({_SPACE}*({_TEXT}+){_SPACE}+({_TEXT}+){_SPACE}*\)|(\()|(\))|({_TEXT}+)")
_LEAF, _OPEN, _CLOSE = 2, 3, 4
_BRACKET_TAGS = frozenset(("-LRB-", "-RRB-"))


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundTree:
    """A tree, and where it begins."""

    tree: Tree
    line: int
    """From 1."""
    num_mended: int = 0
    """Brackets that held several words, as (NN a b), and became a word each with the same tag; and those called -LRB-
    or -RRB- that held nothing, and got their name as the word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """What is no tree, and where it begins."""

    line: int
    """From 1."""
    problem: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Surplus:
    """A closing bracket outside any tree: what came before it may have ended too early."""

    line: int
    """From 1."""


@dataclass(slots=True)
class _Bracket:
    """One that is open."""

    label: str | None = None
    children: list[Tree] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


class Assembler:
    """Takes text piece by piece and gives trees as their last bracket comes.

    A tree that is wrong within is followed to its end all the same, so that what comes behind it is read as it should.
    """

    def __init__(self) -> None:
        self._brackets: list[_Bracket] = []
        self._num_deeper = 0  # open beyond MAX_DEPTH, which are counted and not kept
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
        """Whether the open tree has more text than one can have."""
        return self._num_characters > MAX_CHARACTERS

    @property
    def root_label(self) -> str | None:
        """The label of the open tree, where there is one and it is known."""
        return self._brackets[0].label if self._brackets else None

    def abandon(self, problem: str) -> Unread:
        """Gives up the open tree."""
        unread = Unread(line=self._line, problem=self._problem or problem)
        self._reset()
        return unread

    def take(self, text: str, line: int, fault: str | None = None) -> list[FoundTree | Unread | Surplus]:
        """Takes a line, and gives what ends in it, in order.

        Args:
            text: the line.
            line: its number.
            fault: why no tree that has part of this line can be meant.
        """
        found: list[FoundTree | Unread | Surplus] = []
        self._num_characters += len(text)
        self._fault = fault
        if fault is not None and self._brackets:
            self._complain(fault)
        for match in _TOKEN.finditer(text):
            kind = match.lastindex
            if kind in (_LEAF, _OPEN):
                found.extend(self._begin_anew(line))
                if kind == _OPEN:
                    self._open(line, len(text) - match.start())
                elif self._brackets:
                    self._leaf(match[1], match[2])
                else:
                    found.append(self._word_alone(match[1], match[2], line))
            elif kind == _CLOSE:
                found.extend(self._close(line))
            elif self._brackets:
                self._text(match[0])
            else:
                found.append(Unread(line=line, problem=f"text outside brackets, {match[0][:80]!r}"))
        return found

    def _begin_anew(self, line: int) -> list[Unread]:
        """Gives up the open tree where a bracket without a label shows that another one has begun.

        Such a bracket stands around a whole tree, never within one. So in `( (S (NP (NN a)) ( (S ...) )` the first tree
        lacks a bracket, and the second begins with the bracket before this one.
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
        """A tree that is one word with its tag."""
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
        made = self._made()
        self._brackets.pop()
        self._brackets[-1].children.extend(made)
        return []

    def _finished(self) -> FoundTree | Unread:
        made = self._made()
        if len(made) > 1:
            self._complain(f"several words under {made[0].label} and nothing around them")
        found: FoundTree | Unread
        if self._problem is not None:
            found = Unread(line=self._line, problem=self._problem)
        else:
            found = FoundTree(tree=made[0], line=self._line, num_mended=self._num_mended)
        self._reset()
        return found

    def _made(self) -> list[Tree]:
        """What the innermost open bracket becomes; nothing where something is wrong with the tree."""
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
        """Keeps the first thing that is wrong with the open tree."""
        if self._problem is None:
            self._problem = problem

    def _reset(self) -> None:
        self._brackets, self._num_deeper, self._problem = [], 0, None
        self._num_characters = self._num_mended = 0
