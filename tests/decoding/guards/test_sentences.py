"""Where sentences begin; the expected cuts are made by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.guards.sentences import sentences


@pytest.mark.parametrize(
    "expected",
    [
        ["The dog sleeps.", " The cat does not."],
        ["Is it late?", "  Yes!", "\tGo home."],
        ["Wait?!", " Now!.. Then"],
        ["Es regnet.", " Äpfel fallen."],
        ["He said “go.”", " Then he left."],
        ["(It was late.)", " We left."],
        ["Das ist alles.", " „Wirklich?“ fragte sie."],
        ["It was in 1999.", " Nobody knows."],
        ["I don't.", " You do."],
        ["GO HOME!", " IT IS LATE."],
        # One sentence each, or not to be told.
        ["Mr. Smith met Dr. Jones and Prof. Müller vs. Inc. Ltd."],
        ["Wir kommen am 3. Oktober in die 2. Etage."],
        ["J. R. Miller lives in the U.S. Capitol."],
        ["Es kostet 10 Mio. Euro."],
        ["Ludwig XIV. Er war König."],
        ["It costs 3.50 in all."],
        ["Well... I do not know. maybe"],
        ["He wondered … Nobody came."],
        ['"What?" Tom asked.'],
        ["“One. Two. Three.” she said"],
        ["„Eins. Zwei.“ sagte er"],
        ["See (the first. The second.) there"],
        ["z.B. Das und d.h. Jenes"],
        ["no capital here. none there"],
        [""],
        ["   "],
    ],
)
def test_sentences_are_cut_where_there_is_little_doubt(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


@given(st.text(st.sampled_from("aBÄ .!?…\"“”„«»()[]1\t'’")))
def test_nothing_is_lost_and_no_sentence_is_empty(text: str) -> None:
    found = sentences(text)
    assert "".join(found) == text
    assert len(found) == 1 or all(sentence.strip() for sentence in found)
    assert all(sentence[0].isspace() for sentence in found[1:])
