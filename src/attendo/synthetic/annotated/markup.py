"""Reads sentences in which the structure is marked.

Tokens are separated by spaces, punctuation too. A word is followed by its labels, `~a` or `~a,b`, and its marks:

    [ the~d man~s ] turned~v< [ the~e old~f radio~g ] off~p> .~dot

`[` and `]` enclose a constituent. Words of both languages that share a label translate each other. Marks: `<` a
governor (a verb or a subject), `>` its dependent; `!` an anaphor, `*` its antecedent, `#` the rival, which it does not
mean.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

Link = tuple[int, int]
"""Two word indices, from 0; in an alignment the source's comes first."""

PUNCTUATION = frozenset(".,")
_TOKEN = re.compile(r"(?P<text>[^~<>!*#]+)(?:~(?P<labels>[\w,]+))?(?P<marks>[<>!*#]*)")


@dataclass(frozen=True, kw_only=True)
class Side:
    """A sentence in one language."""

    words: tuple[str, ...]
    """Words and punctuation marks, without `</s>`."""
    labels: tuple[frozenset[str], ...]
    """The labels of each word."""
    constituents: tuple[tuple[int, int], ...]
    """First and last word of each constituent of at least two words."""
    dependency: Link | None
    """The governor and its distant dependent; None if none is marked."""
    anaphor: int | None
    """The anaphor; None, as for the next two, if none is marked."""
    antecedent: int | None
    """The word that the anaphor refers to."""
    rival: int | None
    """The word that the anaphor would refer to if it had another form."""

    @property
    def text(self) -> str:
        """The sentence as it is written, without spaces before punctuation."""
        return re.sub(r" (?=[.,])", "", " ".join(self.words))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A sentence in both languages."""

    english: Side
    german: Side
    template: str
    """Name of the template that made it."""
    held_out: bool
    """Whether it is in the half that heads are scored on, rather than in the half that they are chosen on."""
    twin: int | None = None
    """Number shared by two sentences that differ only in the form of an anaphor; None for a sentence without a twin."""

    @property
    def half(self) -> str:
        """Name of the half, for tables."""
        return "held out" if self.held_out else "to choose by"

    def sides(self, source_language: str) -> tuple[Side, Side]:
        """Returns source and target, given the source's language, `en` or `de`."""
        return (self.english, self.german) if source_language == "en" else (self.german, self.english)


def parse(marked: str) -> Side:
    """Reads a sentence; its first letter becomes a capital.

    Raises:
        ValueError: brackets do not match, or a token is malformed.
    """
    words: list[str] = []
    labels: list[frozenset[str]] = []
    marked_places: dict[str, int] = {}
    open_places: list[int] = []
    constituents: list[tuple[int, int]] = []
    for token in marked.split():
        if token == "[":
            open_places.append(len(words))
            continue
        if token == "]":
            first = open_places.pop() if open_places else len(words)
            if first >= len(words):
                raise ValueError(f"{marked}: a bracket that closes nothing")
            if first < len(words) - 1:
                constituents.append((first, len(words) - 1))
            continue
        match = _TOKEN.fullmatch(token)
        if match is None:
            raise ValueError(f"{marked}: {token!r} is no token")
        marked_places |= dict.fromkeys(match["marks"], len(words))
        words.append(match["text"])
        labels.append(frozenset((match["labels"] or "").split(",")) - {""})
    if open_places:
        raise ValueError(f"{marked}: a bracket that is not closed")
    ends = (marked_places.get("<"), marked_places.get(">"))
    return Side(
        words=(words[0][0].upper() + words[0][1:], *words[1:]),
        labels=tuple(labels),
        constituents=tuple(dict.fromkeys(constituents)),
        dependency=(ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None,
        anaphor=marked_places.get("!"),
        antecedent=marked_places.get("*"),
        rival=marked_places.get("#"),
    )


def links(source: Side, target: Side) -> frozenset[Link]:
    """Returns the pairs of words that translate each other: `(source word, target word)`, from 0."""
    return frozenset(
        (i, j) for i, mine in enumerate(source.labels) for j, theirs in enumerate(target.labels) if mine & theirs
    )


def written_links(source: Side, target: Side) -> frozenset[Link]:
    """Returns the links between whitespace-separated words, punctuation attached; links of punctuation are skipped."""
    return frozenset(
        (_written_numbers(source)[i], _written_numbers(target)[j])
        for i, j in links(source, target)
        if source.words[i] not in PUNCTUATION and target.words[j] not in PUNCTUATION
    )


def _written_numbers(side: Side) -> Sequence[int]:
    """Returns for each word the number of the whitespace-separated word that contains it."""
    numbers: list[int] = []
    for word in side.words:
        numbers.append((numbers[-1] if numbers else -1) + (word not in PUNCTUATION))
    return numbers
