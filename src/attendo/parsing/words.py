"""Words as treebanks write them: brackets have names there, since the trees themselves are brackets."""

import re

_NAMES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_BRACKETS = {name: bracket for bracket, name in _NAMES.items()}
_NAMED = re.compile("|".join(_BRACKETS))
_BACKSLASHED = re.compile(r"\\([/*])")


def escaped(word: str) -> str:
    """Writes round brackets as -LRB- and -RRB-, also within a word, so that it can stand in a tree.

    The other brackets mean nothing in a tree and stay as they are.
    """
    if "(" in word or ")" in word:
        return word.replace("(", _NAMES["("]).replace(")", _NAMES[")"])
    return word


def unescaped(word: str) -> str:
    r"""Returns a treebank's word as text has it.

    That is -LRB-, -RRB-, -LSB-, -RSB-, -LCB- and -RCB-, and the \/ and \* of the Penn Treebank.

    Quotation marks stay as they are: what `` was in the text nobody knows.
    """
    if "-" in word:
        word = _NAMED.sub(lambda match: _BRACKETS[match[0]], word)
    return _BACKSLASHED.sub(r"\1", word) if "\\" in word else word
