"""Words as treebanks write them: brackets are replaced by names, since the trees themselves consist of brackets."""

import re

_NAMES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_BRACKETS = {name: bracket for bracket, name in _NAMES.items()}
_NAMED = re.compile("|".join(_BRACKETS))
_BACKSLASHED = re.compile(r"\\([/*])")


def escaped(word: str) -> str:
    """Writes round brackets as -LRB- and -RRB-, also within a word, so that the word can be part of a tree.

    The other brackets have no meaning in a tree and are not changed.
    """
    if "(" in word or ")" in word:
        return word.replace("(", _NAMES["("]).replace(")", _NAMES[")"])
    return word


def unescaped(word: str) -> str:
    r"""Returns a treebank's word as it is in plain text.

    Replaces -LRB-, -RRB-, -LSB-, -RSB-, -LCB- and -RCB-, and the \/ and \* of the Penn Treebank.

    Quotation marks are not changed, because the character that `` stands for is unknown.
    """
    if "-" in word:
        word = _NAMED.sub(lambda match: _BRACKETS[match[0]], word)
    return _BACKSLASHED.sub(r"\1", word) if "\\" in word else word
