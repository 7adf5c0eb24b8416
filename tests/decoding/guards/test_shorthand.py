"""Abbreviations of messages; what they stand for is what their readers know."""

import pytest

from attendo.decoding.guards.shorthand import laughs_at_ends, written_out


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("i dont know", "i don't know"),
        ("I cant, I wont and I shouldnt.", "I can't, I won't and I shouldn't."),
        ("Thats great!", "That's great!"),
        ("Im tired, and youre late", "I'm tired, and you're late"),
        ("pls call me asap", "please call me as soon as possible"),
        ("Btw, idk why.", "By the way, I don't know why."),
        ("Idk", "I don't know"),
        ("omg!", "oh my God!"),
        ("np.", "no problem."),
        ("ty!!", "thank you!!"),
        ("see u tmrw", "see you tomorrow"),
        ("r u ok?", "are you ok?"),
        ("how r u?", "how are you?"),
        ("where r you", "where are you"),
        ("they r here and u know it", "they are here and you know it"),
        ("ur right, its ur turn", "you're right, its your turn"),
        ("I gotta go; I've gotta go; she has gotta go", "I have to go; I've got to go; she has got to go"),
        ("I'm gonna be late", "I'm going to be late"),
        ("2 hrs 1 min ago", "2 hours 1 min ago"),
        ("2.5 hrs left", "2.5 hours left"),
        ("1 hr, 30secs and 45 mins.", "1 hour, 30seconds and 45 minutes."),
    ],
)
def test_english(short: str, full: str) -> None:
    assert written_out(short, "en") == full
    assert written_out(full, "en") == full


@pytest.mark.parametrize(
    ("language", "short", "full"),
    [
        ("de", "vllt gehts ja nich", "vielleicht geht es ja nicht"),
        ("de", "Das wars.", "Das war es."),
        ("de", "kp", "keine Ahnung"),
        ("fr", "Slt, stp aide-moi", "Salut, s'il te plaît aide-moi"),
        ("fr", "cest bon, jsp", "c'est bon, je ne sais pas"),
        ("fr", "pk ?", "pourquoi ?"),
    ],
)
def test_german_and_french(language: str, short: str, full: str) -> None:
    assert written_out(short, language) == full
    assert written_out(full, language) == full


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I don't know."),
        ("en", "import numpy as np"),
        ("en", "u[0], np.array, r_max, im-config and --asap"),
        ("en", "The IM and the ASAP flag; DSL; IDK.py"),
        ("en", 'the format "r; θ°", where r and θ are coordinates'),
        ("en", "the letter u in unit, for u in users"),
        ("en", "at 15:30 hrs, %1 secs, 1,000 hrs, 1.2.3 hrs"),
        ("en", "my gonnas and wannabes; thanks to ty's mother"),
        ("en", "@pls #omg cant@example.org /ur/bin"),
        ("de", "Ich habe Star Wars gesehen."),
        ("de", "dont, pls"),
        ("fr", "vllt"),
        ("nl", "dont pls vllt stp"),
        ("", "i dont know"),
        ("en", ""),
    ],
)
def test_other_text_stays(language: str, text: str) -> None:
    assert written_out(text, language) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lol no way", ("lol ", "no way", "")),
        ("Haha, that's funny LOL!", ("Haha, ", "that's funny", " LOL!")),
        ("that's funny hehe...", ("", "that's funny", " hehe...")),
        ("haha!", ("haha!", "", "")),
        ("Lola laughs", ("", "Lola laughs", "")),
        ("I said lol to him", ("", "I said lol to him", "")),
        ("", ("", "", "")),
    ],
)
def test_laughs_at_the_ends(text: str, expected: tuple[str, str, str]) -> None:
    assert laughs_at_ends(text) == expected
    assert "".join(expected) == text


def test_long_runs_take_no_longer_than_their_length() -> None:
    for text in ("ha" * 100_000, "u " * 100_000, "lol " * 50_000, " " * 200_000, "ve gotta " * 20_000):
        first, inner, last = laughs_at_ends(text)
        assert first + inner + last == text
        assert written_out(text, "en")
