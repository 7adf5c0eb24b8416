"""Divides a line into sentences, only where there is little doubt.

A sentence ends with a full stop, question or exclamation mark, and the next begins with a capital after white space.
Abbreviations, initials, ordinals and ellipses do not end a sentence, nor does anything within brackets or quotation
marks: two sentences at once are translated worse, but half a sentence is translated wrongly.
"""

import re
from itertools import pairwise

from attendo.text.patterns import compiled

# Possessive, and from its first mark alone: of a thousand full stops each would be tried with all text after it.
_END = re.compile(
    r"(?<![.!?])(?P<mark>[.!?]++)(?P<quote>[\"”“’»)\]]*)(?P<space>\s+)(?=[\"“„«‘(\[¿¡]*(?P<next>[^\W\d_]))"
)
_LAST_WORD = re.compile(r"\S*$")
_OPENING = "([\"“„«‘'"
_LONGEST_WORD = 40
# Abbreviations that a capitalised word may follow.
_ABBREVIATION = (
    "(?i:bspw|bzw|ca|capt|cf|co|col|corp|dept|dipl|dr|e\\.g|eds?|etc|evtl|feat|fr|frl|gen|ggf|gov|hon|hr|i\\.e|inc|ing|inkl|"
    "jr|lt|ltd|mio|mlle|mme|mr|mrd|mrs|ms|mt|prof|rep|rev|sen|sgt|sr|ste?|tsd|usw|vgl|vs|zzgl)"
)
_INITIAL = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]|[IVXivx]+|\d{1,2}")
"""A letter, several with full stops between, a Roman numeral, or the number of an ordinal or a list's item."""
_QUOTES = re.compile('["“”„«»]')


def sentences(text: str) -> list[str]:
    """A line's sentences, each but the first with the white space before it; joined they are the line.

    Args:
        text: a line.
    """
    starts = sentence_starts(text)
    if len(starts) == 1:
        return [text]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def sentence_starts(text: str) -> list[int]:
    """Finds where sentences begin, each but the first with the white space before it; the first is at 0."""
    starts = [0]
    depth = quotes = position = 0
    for match in _END.finditer(text):
        before = text[position : match.start("space")]
        depth += sum(map(before.count, "([{")) - sum(map(before.count, ")]}"))
        quotes += len(_QUOTES.findall(before))
        position = match.start("space")
        if depth == 0 and quotes % 2 == 0 and match["next"].isupper() and _ends(text, match):
            starts.append(position)
    return starts


def _ends(text: str, match: "re.Match[str]") -> bool:
    """Whether a mark ends a sentence."""
    mark = match["mark"]
    if mark != ".":
        # "What?" Tom asked: the words after the mark belong to the same sentence.
        return "." not in mark and not _QUOTES.search(match["quote"])
    if match["quote"]:
        return True
    last = _LAST_WORD.search(text[max(0, match.start() - _LONGEST_WORD) : match.start()])
    word = last[0].lstrip(_OPENING) if last else ""
    return bool(word) and not compiled(_ABBREVIATION).fullmatch(word) and not _INITIAL.fullmatch(word)
