"""Codes that are halves of a pair although each is written as a code of its own.

Angular's extractor writes `<strong>` as `<x id="START_TAG_STRONG" .../>` and its end as
`<x id="CLOSE_TAG_STRONG" .../>` (`compiler/src/i18n/serializers/placeholder.ts`); lit-localize and others give the tag
in `equiv-text`, or as the content of `ph`.
"""

import html
import re

from attendo.formats.contents import Code, CodeKind

_NAME = re.compile(r"""\A<x\b[^>]*?\sid\s*=\s*["'](START|CLOSE)_(\w+?)(?:_\d+)?["']""")
_EQUIVALENT = re.compile(r"""\A<(?:x|ph)\b[^>]*?\sequiv-text\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_NATIVE = re.compile(r"\A<ph\b[^>]*[^>/]>([^<]*)</ph\s*>\Z")
_TAG = re.compile(r"""\s*<(/?)([A-Za-z][\w:.-]*)(?:\s(?:[^<>"']|"[^"]*"|'[^']*')*)?(?<!/)>\s*""")
_VOID_NAMES = "area base br col embed hr img input link meta source track wbr"
_VOID = frozenset(_VOID_NAMES.split())


def half_of(code: Code) -> tuple[CodeKind, str]:
    """Returns which half a code is, and the name that it shares with the other; `single` if it is no half."""
    if code.kind != "single":
        return code.kind, code.id
    named = _NAME.match(code.raw)
    if named is not None:
        return "open" if named[1] == "START" else "close", named[2]
    equivalent, native = _EQUIVALENT.match(code.raw), _NATIVE.match(code.raw)
    written = (equivalent[1] or equivalent[2] or "") if equivalent else native[1] if native else ""
    tag = _TAG.fullmatch(html.unescape(written))
    if tag is None or tag[2].lower() in _VOID:
        return "single", code.id
    return "close" if tag[1] else "open", f"<{tag[2]}"
