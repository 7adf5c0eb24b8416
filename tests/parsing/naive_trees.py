"""Symbols read as trees in the simplest way there is, apart from the project's own code."""

from collections.abc import Sequence
from typing import NamedTuple

from attendo.parsing.config import Order


class Node(NamedTuple):
    """A constituent of the checker's; a word is its tag, a str."""

    label: str
    children: "tuple[Node | str, ...]"


def naively_read(symbols: Sequence[str], order: Order) -> Node | str | None:
    """The tree that symbols are; None where they are none."""
    if order == "top-down":
        return _read_top_down(symbols)
    return _read_in_order(symbols) if order == "in-order" else _read_bottom_up(symbols)


def words_of(tree: Node | str) -> list[str]:
    return [tree] if isinstance(tree, str) else [word for child in tree.children for word in words_of(child)]


def _read_top_down(symbols: Sequence[str]) -> Node | str | None:
    """By rewriting: a pair of brackets with nothing but complete parts in it becomes one, as long as there is any."""
    parts: list[Node | str] = list(symbols)
    while True:
        for end, part in enumerate(parts):
            begin = max((i for i in range(end) if str(parts[i]).startswith("(")), default=end)
            if isinstance(part, str) and part.startswith(")"):
                if begin + 1 >= end or parts[begin] != f"({part[1:]}":
                    return None
                parts[begin : end + 1] = [Node(part[1:], tuple(parts[begin + 1 : end]))]
                break
        else:
            return parts[0] if len(parts) == 1 and str(parts[0])[0] not in "()" else None


def _read_in_order(symbols: Sequence[str]) -> Node | str | None:
    """Shift, project and reduce on a stack, as Liu and Zhang have it."""
    stack: list[Node | str | tuple[str]] = []
    for symbol in symbols:
        if symbol.startswith("("):
            if not stack or not isinstance(stack[-1], Node | str):
                return None
            stack.append((symbol,))
        elif symbol == ")":
            above: list[Node | str] = []
            while stack and isinstance(top := stack[-1], Node | str):
                above.insert(0, top)
                stack.pop()
            if not stack:
                return None
            label = str(stack.pop()[0])
            first = stack.pop()
            assert isinstance(first, Node | str)
            stack.append(Node(label[1:], (first, *above)))
        else:
            stack.append(symbol)
    return stack[0] if len(stack) == 1 and isinstance(stack[0], Node | str) else None


def _read_bottom_up(symbols: Sequence[str]) -> Node | str | None:
    stack: list[Node | str] = []
    for symbol in symbols:
        if not symbol.startswith(")"):
            stack.append(symbol)
            continue
        count, label = symbol[1:].split(":")
        if int(count) > len(stack):
            return None
        stack[len(stack) - int(count) :] = [Node(label, tuple(stack[len(stack) - int(count) :]))]
    return stack[0] if len(stack) == 1 else None
