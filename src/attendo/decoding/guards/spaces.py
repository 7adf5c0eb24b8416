"""White space as clean sentences have it: one space between words, none at the ends.

A tab, or a soft hyphen copied from a web page, is no piece of a usual vocabulary but bytes; of a line with tabs for its
spaces a model makes nothing at all. Spaces that no line breaks at stay, since French has them before its marks.
"""

import re

_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_ODD = re.compile(f"  |[^\\S \u00a0\u202f]|[{_INVISIBLE}]|^\\s|\\s$")
_RUN = re.compile("[^\\S\u00a0\u202f]+")
_WITHOUT = str.maketrans("", "", _INVISIBLE)


def squeezed(text: str) -> str:
    """A text with one space for each run of white space within it and none at its ends, and nothing invisible.

    Where nothing would be left, all stays as it is.
    """
    if not _ODD.search(text):
        return text
    return _RUN.sub(" ", text.translate(_WITHOUT).strip()) or text
