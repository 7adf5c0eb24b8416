"""What a part's translation becomes in the line."""

import pytest

from attendo.decoding.guards.parts import Part


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Mischen.", "Mischen"),
        ("Mélange !", "Mélange"),
        ("Mélange\u00a0!", "Mélange"),
        ("Mélange\u202f!!", "Mélange"),
        ("Nr. 5", "Nr. 5"),
        ("Ach so ?", "Ach so ?"),
        ("!", "!"),
    ],
)
def test_a_mark_that_the_line_does_not_have_is_left_out(written: str, text: str) -> None:
    marked = Part(text="shuffle", read="shuffle").as_sentence("!")
    assert marked.read == "shuffle!"
    assert "".join(ours for _, ours in marked.target_segments(written)) == text
    unmarked = Part(text="shuffle", read="shuffle")
    assert "".join(ours for _, ours in unmarked.target_segments(written)) == written
