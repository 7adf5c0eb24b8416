"""Sentences with their structure written into them, from which the words and all that is known of them are read.

Tokens stand between spaces, punctuation by itself. Behind a word stand its labels, `~a` or `~a,b`, and its marks:

    [ the~d man~s ] turned~v< [ the~e old~f radio~g ] off~p> .~dot

`[` and `]` are a constituent's ends. Words of both languages that share a label translate each other. Marks: `<` a verb
or a subject and `>` what belongs to it; `!` an anaphor, `*` its antecedent, `#` the rival that it does not mean.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

Link = tuple[int, int]
"""Two places, from 0; of an alignment the source's first."""

PUNCTUATION = frozenset(".,")
_TOKEN = re.compile(r"(?P<text>[^~<>!*#]+)(?:~(?P<labels>[\w,]+))?(?P<marks>[<>!*#]*)")


@dataclass(frozen=True, kw_only=True)
class Side:
    """One language's sentence."""

    words: tuple[str, ...]
    """Punctuation by itself, without `</s>`."""
    labels: tuple[frozenset[str], ...]
    """Of each word."""
    constituents: tuple[tuple[int, int], ...]
    """First and last word of each, of at least two words."""
    dependency: Link | None
    """From the governor to what belongs to it, far away."""
    anaphor: int | None
    antecedent: int | None
    """What the anaphor stands for."""
    rival: int | None
    """What it would stand for if it had another form."""

    @property
    def text(self) -> str:
        """As it is written."""
        return re.sub(r" (?=[.,])", "", " ".join(self.words))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A sentence in both languages."""

    english: Side
    german: Side
    template: str
    """What it was made by."""
    held_out: bool
    """Whether it is of the half that heads are scored on, not of the half that they are chosen on."""
    twin: int | None = None
    """Of two sentences that differ in an anaphor's form alone, the number that both have."""

    @property
    def half(self) -> str:
        """In words."""
        return "held out" if self.held_out else "to choose by"

    def sides(self, source_language: str) -> tuple[Side, Side]:
        """Source and target, by the source's language, `en` or `de`."""
        return (self.english, self.german) if source_language == "en" else (self.german, self.english)


def parse(marked: str) -> Side:
    """Reads a sentence; its first letter becomes a capital.

    Raises:
        ValueError: brackets that do not match, or a token that is none.
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
        found = _TOKEN.fullmatch(token)
        if found is None:
            raise ValueError(f"{marked}: {token!r} is no token")
        marked_places |= dict.fromkeys(found["marks"], len(words))
        words.append(found["text"])
        labels.append(frozenset((found["labels"] or "").split(",")) - {""})
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
    """Which words translate each other: `(source word, target word)`, from 0."""
    return frozenset(
        (i, j) for i, mine in enumerate(source.labels) for j, theirs in enumerate(target.labels) if mine & theirs
    )


def written_links(source: Side, target: Side) -> frozenset[Link]:
    """Known links between words with spaces around them, to which punctuation belongs; its own links are left out."""
    return frozenset(
        (_written(source)[i], _written(target)[j])
        for i, j in links(source, target)
        if source.words[i] not in PUNCTUATION and target.words[j] not in PUNCTUATION
    )


def _written(side: Side) -> Sequence[int]:
    """Of each word the number of the one that it is written in."""
    numbers: list[int] = []
    for word in side.words:
        numbers.append((numbers[-1] if numbers else -1) + (word not in PUNCTUATION))
    return numbers
