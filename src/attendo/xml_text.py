"""Text for SVG files and pages: escaped, and without characters that XML does not allow."""

import re
from html import escape

FONT = "system-ui,'Segoe UI','Helvetica Neue',Arial,'Noto Sans',sans-serif"
"""Fonts of the reader's system, so that a picture loads nothing."""
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """A text as XML may have it, in an element or an attribute; characters that XML cannot represent become U+FFFD."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))
