"""White space that is read as clean sentences have it; expected texts are written by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.guards.spaces import squeezed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog sleeps.", "a dog sleeps."),
        ("a  dog\tsleeps \u3000 here", "a dog sleeps here"),
        ("  a dog ", "a dog"),
        ("a\u00addog, a\u200bcat\ufeff", "adog, acat"),
        ("Quoi\u00a0? Non\u202f!", "Quoi\u00a0? Non\u202f!"),
        ("\u00a0 a", "a"),
        ("  \t ", "  \t "),
        (" \u00ad", " \u00ad"),
        ("", ""),
    ],
)
def test_white_space(text: str, expected: str) -> None:
    assert squeezed(text) == expected


@given(st.text(alphabet=st.sampled_from("ab \t\u00a0\u00ad\u2003\n")))
def test_words_stay(text: str) -> None:
    found = squeezed(text)
    assert found.split() == text.replace("\u00ad", "").split() or found == text
    assert squeezed(found) == found
