"""Frames of similar texts, by hand: alignments say which word comes from which."""

import numpy as np
import pytest

from attendo.decoding.lines.alignment import Alignment, alignment
from attendo.memory.similar import frame_of


def aligned(source: str, target: str, links: dict[int, int]) -> Alignment:
    """An alignment in which each word is a piece, and the words of the target attend to one word of the source."""
    sides = [[f"▁{word}" for word in side.split()] + ["</s>"] for side in (source, target)]
    weights = np.zeros((len(sides[1]), len(sides[0])), dtype=np.float32)
    for place in range(len(sides[1])):
        weights[place, links.get(place, len(sides[0]) - 1)] = 1.0
    return alignment(sides[0], sides[1], weights)


KNOWN = aligned("the small red house is old", "das kleine rote Haus ist alt", {number: number for number in range(6)})


@pytest.mark.parametrize(
    ("source", "stretches", "gaps"),
    [
        ("the small green house is old", ("das kleine", "Haus ist alt"), (0, 4, 0)),
        ("the small red house is very old", ("das kleine rote Haus ist", "alt"), (0, 4, 0)),
        ("the small house is old", ("das kleine", "Haus ist alt"), (0, 4, 0)),
        ("a big red house is old", ("rote Haus ist alt",), (7, 0)),
        ("the small red house is old too", ("das kleine rote Haus ist alt",), (0, 4)),
        ("The Small red house is old", ("das kleine rote Haus ist alt",), (0, 0)),
    ],
    ids=["another word", "a word more", "a word less", "at the beginning", "at the end", "another case"],
)
def test_gaps_are_where_the_sources_differ(source: str, stretches: tuple[str, ...], gaps: tuple[int, ...]) -> None:
    frame = frame_of(source, KNOWN)
    assert frame is not None
    assert (frame.stretches, frame.gaps) == (stretches, gaps)


def test_names_are_put_in() -> None:
    known = aligned("Open Edit.cs with AddHttp now.", "Öffne Edit.cs mit AddHttp jetzt.", {n: n for n in range(5)})
    frame = frame_of("Open Save.cs with AddGrpc now.", known)
    assert frame is not None
    assert (frame.stretches, frame.gaps) == (("Öffne Save.cs mit AddGrpc jetzt.",), (0, 0))


def test_where_nothing_stays_there_is_no_frame() -> None:
    assert frame_of("a big new car was there", KNOWN) is None
    assert frame_of("the house", aligned("the house", "", {})) is None
