"""What is read of a line, with a vocabulary of words that is listed; expected readings are written by hand."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.config import GuardConfig
from attendo.decoding.guards.parts import as_it_is
from attendo.decoding.guards.reading import Reader
from attendo.decoding.guards.words import word_numbers, words

PLACEHOLDERS = tuple(f"\u27e6{number}\u27e7" for number in range(1, 9))
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß"


class Words:
    """Common words are one piece, others a piece a letter; Anna is a piece as she is written."""

    known = ("the", "dog", "sleeps", "near", "it", "is", "here", "go", "see", "in", "a", "Anna")
    every = ("</s>", "<unk>", *LETTERS)
    vocab_size = len(every)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [[1] * (1 if text in self.known else len(text)) + [0] for text in texts]

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [self.every[i] for i in ids]


def reader(
    *,
    placeholders: Sequence[str] = PLACEHOLDERS,
    languages: tuple[str, str] = ("en", "de"),
    one_by_one: bool = True,
    **guards: bool,
) -> Reader:
    return Reader(GuardConfig(**guards), Words(), placeholders=placeholders, languages=languages, one_by_one=one_by_one)


def shouted(written: str) -> str:
    """What a model might make of what it reads: the same words, with a mark before."""
    return f"ja {written}"


@pytest.mark.parametrize(
    ("line", "read", "guards", "text"),
    [
        ("The dog sleeps.\r\n", "The dog sleeps.", (), "ja The dog sleeps."),
        ("See https://a.org/b.", "See \u27e61\u27e7.", ("protected",), "ja See https://a.org/b."),
        ("It is 1,500.25 x", "It is \u27e61\u27e7 x", ("protected",), "ja It is 1.500,25 x"),
        ("\U0001f600 The dog \U0001f600", "The dog", ("protected",), "\U0001f600 ja The dog \U0001f600"),
        ("In Python 3.11", "In Python \u27e61\u27e7", ("protected",), "ja In Python 3.11"),
        ("It is near 3.11", "It is near \u27e61\u27e7", ("protected",), "ja It is near 3,11"),
        ("THE DOG SLEEPS", "The dog sleeps", ("casing",), "JA THE DOG SLEEPS"),
        ("SEE https://a.org/b NOW", "See \u27e61\u27e7 now", ("protected", "casing"), "JA SEE https://a.org/b NOW"),
        ("The Dog Sleeps Near Anna", "The dog sleeps near Anna", ("casing",), "ja The dog sleeps near Anna"),
        ("Kowal Brecht Miller Suarez", "Kowal Brecht Miller Suarez", (), "ja Kowal Brecht Miller Suarez"),
        # Two sentences, with what is between them; the second is read by itself.
        ("A dog. Go @me.", "A dog. Go \u27e61\u27e7.", ("sentences", "protected"), "ja A dog. ja Go @me."),
        (" A\tdog.  Go. ", "A dog. Go.", ("spaces", "sentences"), "ja A dog. ja Go."),
        ("The  dog\tsleeps ", "The dog sleeps", ("spaces",), "ja The dog sleeps"),
        ("It is $1,500.25", "It is \u27e61\u27e7", ("protected",), "ja It is $1.500,25"),
        ("GO. SEE.", "Go. See.", ("sentences", "casing"), "JA GO. JA SEE."),
        # Nothing to translate.
        ("https://a.org/b 1,500.5", "", ("protected",), "https://a.org/b 1.500,5"),
        ("\U0001f600\U0001f600", "", ("protected",), "\U0001f600\U0001f600"),
        ("\u4f60\u597d!", "", ("scripts",), "\u4f60\u597d!"),
        # Typed by somebody.
        ("A \u27e65\u27e7 or {x}", "A \u27e61\u27e7 or \u27e62\u27e7", ("protected",), "ja A \u27e65\u27e7 or {x}"),
        ("the \ue000 12345", "the \ue000 12345", (), "ja the \ue000 12345"),
    ],
)  # fmt: skip
def test_what_is_read_and_what_comes_of_it(line: str, read: str, guards: tuple[str, ...], text: str) -> None:
    reading = reader().read(line)
    assert reading.read == read
    assert {name for part in reading.parts for name in part.guards} | set(reading.guards) == set(guards)
    assert reading.is_plain == (not guards)
    segments = [
        segment
        for part in reading.parts
        for segment in part.target_segments(shouted(part.read) if part.is_searched else "")
    ]
    assert "".join(ours for _, ours in segments) == text


@pytest.mark.parametrize("space", ["\u00a0", "\u202f"])
def test_spaces_that_the_vocabulary_does_not_have_are_read_as_others(space: str) -> None:
    """French has them before its marks; a model that spells them in bytes carries them into English."""
    line = f"Where{space}? See{space}@me{space}!"
    parts = reader().read(line).parts
    assert [part.read for part in parts] == ["Where ?", "See \u27e61\u27e7 !"]
    assert "".join(text for part in parts for _, text in part.source_segments()) == line

    class French(Words):
        def pieces(self, ids: Sequence[int]) -> list[str]:
            return [*super().pieces(ids), f"{space}?"]

    known = Reader(GuardConfig(), French(), placeholders=PLACEHOLDERS, languages=("fr", "de"), one_by_one=False)
    assert known.read(f"Where{space}?").parts[0].read == f"Where{space}?"
    assert reader(spaces=False).read(f"Where{space}?").parts[0].read == f"Where{space}?"


def test_more_things_than_placeholders() -> None:
    line = " ".join(f"1234{number}" for number in range(10)) + " the \u27e62\u27e7"
    [part] = reader().read(line).parts
    assert part.read == " ".join((*PLACEHOLDERS[:7], "12347", "12348", "12349", "the", PLACEHOLDERS[7]))
    assert part.kept[-1].source == "\u27e62\u27e7"
    line = "the" + " \u27e61\u27e7" * 9
    assert reader().read(line).is_plain


def test_without_placeholders_only_emoji_at_the_ends_are_cut_off() -> None:
    plain = reader(placeholders=())
    assert plain.read("See https://a.org \U0001f600 or 1,500.5 @me").is_plain
    [part] = plain.read("See https://a.org \U0001f600").parts
    assert (part.read, part.behind) == ("See https://a.org", " \U0001f600")
    # Capitals leave alone what a placeholder would.
    [part] = plain.read("SEE IT https://a.org/Bc").parts
    assert part.read == "See it https://a.org/Bc"
    assert "".join(text for _, text in part.target_segments("siehe https://a.org/Bc")) == "SIEHE https://a.org/Bc"


@pytest.mark.parametrize(
    ("guard", "line"),
    [
        ("scripts", "\u4f60\u597d"),
        ("sentences", "The dog. See here."),
        ("protected", "See https://a.org"),
        ("protected", "See \U0001f600"),
        ("casing", "THE DOG"),
        ("casing", "The Dog Sleeps Near Anna"),
    ],
)
def test_each_guard_can_be_switched_off(guard: str, line: str) -> None:
    assert not reader().read(line).is_plain
    assert reader(**{guard: False}).read(line) == as_it_is(line)  # type: ignore[arg-type]


def test_sentences_stay_together_where_several_translations_are_wanted() -> None:
    [part] = reader(one_by_one=False).read("GO. SEE THE DOG.").parts
    assert part.read == "Go. See the dog."


def test_a_part_without_placeholders_is_the_text() -> None:
    plain = reader()
    [part] = plain.read("SEE IT 12345 \U0001f600").parts
    assert part.read == "See it \u27e61\u27e7"
    assert plain.unprotected(part).read == "See it 12345"
    assert plain.unprotected(part).capitals


@pytest.mark.parametrize(
    ("line", "read", "masked"),
    [
        ("see %d of %2$s", "see %d of %2$s", "see \u27e61\u27e7 of \u27e62\u27e7"),
        ("SEE {name}: IT IS HERE", "See {name}: it is here", "See \u27e61\u27e7: it is here"),
        # The other language has other quotation marks; and where something else is masked, variables are too.
        ("see \u201c%s\u201d", "see \u201c\u27e61\u27e7\u201d", None),
        ("see '%s", "see '\u27e61\u27e7", None),
        ("see %s at @me", "see \u27e61\u27e7 at \u27e62\u27e7", None),
        ("see 50 %", "see 50 %", None),
        ("see fopen() in a.txt", "see fopen() in a.txt", "see \u27e61\u27e7 in \u27e62\u27e7"),
        ("see " + "a_" * 20 + "b", "see \u27e61\u27e7", None),
        ("see f2a8fa1 of my_file", "see \u27e61\u27e7 of \u27e62\u27e7", None),
    ],
)
def test_variables_and_names_of_programs_alone_are_read_as_they_stand(line: str, read: str, masked: str | None) -> None:
    [part] = reader().read(line).parts
    assert part.read == read
    assert (part.masked and part.masked.read) == masked
    assert part.has_unmasked(f"ja {read}")
    if part.masked:
        assert not part.has_unmasked("ja")
        assert not part.has_unmasked(f"{read} {part.masked.kept[0].source}")


def test_a_longer_name_is_another_one() -> None:
    [part] = reader().read("see XXX_a").parts
    assert part.has_unmasked("XXX_a.")
    assert not part.has_unmasked("XXXX_a")


def test_numbers_that_are_wanted_are_read_as_placeholders_in_the_form_of_the_target_language() -> None:
    plain = reader()
    [part] = plain.read("see 7 of 12, at 3:30 p.m. on the 4th").parts
    assert part.read == "see 7 of 12, at \u27e61\u27e7 on the 4th"
    wanted = plain.with_values(part, {"12", "3:30 p.m.", "4th"})
    assert wanted.read == "see 7 of \u27e61\u27e7, at \u27e62\u27e7 on the \u27e63\u27e7"
    assert [kept.target for kept in wanted.kept] == ["12", "15:30 Uhr", "4."]
    assert wanted.guards == ()
    # Before other things, where there are not enough placeholders for all.
    line = " ".join(f"@a{number}" for number in range(9)) + " is 12"
    [part] = plain.read(line).parts
    assert "12" not in [kept.source for kept in part.kept]
    assert "12" in [kept.source for kept in plain.with_values(part, {"12"}).kept]
    # And none of which there is no placeholder.
    assert reader(placeholders=()).with_values(part, {"12"}).kept == ()


@pytest.mark.parametrize(
    ("line", "read", "targets"),
    [
        (
            "It is here from 9 a.m. to 5:30 p.m. in a go",
            "It is here from \u27e61\u27e7 to \u27e62\u27e7 in a go",
            ["9 Uhr", "17:30 Uhr"],
        ),
        ("See it at 12 a.m.", "See it at \u27e61\u27e7.", ["0 Uhr"]),
        ("See it at 8:15pm", "See it at \u27e61\u27e7", ["20:15 Uhr"]),
        ("See 7 dogs at 12:15", "See 7 dogs at 12:15", []),
    ],
)
def test_times_with_a_m_and_p_m_are_read_as_placeholders(line: str, read: str, targets: list[str]) -> None:
    [part] = reader().read(line).parts
    assert part.read == read
    assert [kept.target for kept in part.kept] == targets
    assert part.guards == (("protected",) if targets else ())


@pytest.mark.parametrize(
    ("line", "language", "time", "read", "source", "target"),
    [
        ("sie kommt um 15 Uhr an", "de", "15", "sie kommt \u27e61\u27e7 an", "um 15 Uhr", "at 3 pm"),
        ("sie kommt nach 15.30 Uhr an", "de", "15.30", "sie kommt nach \u27e61\u27e7 an", "15.30 Uhr", "3:30 pm"),
        ("sie kommt um 9 Uhr an", "de", "9", "sie kommt um \u27e61\u27e7 Uhr an", "9", "9:00"),
        ("elle vient à 20 h 30 ici", "fr", "20 h 30", "elle vient \u27e61\u27e7 ici", "à 20 h 30", "at 8:30 pm"),
    ],
)
def test_a_lost_time_after_noon_is_a_placeholder_with_its_preposition_and_its_clock(
    line: str, language: str, time: str, read: str, source: str, target: str
) -> None:
    reads = reader(languages=(language, "en"))
    [part] = reads.read(line).parts
    assert part.kept == ()
    wanted = reads.with_values(part, {time})
    assert wanted.read == read
    assert [(kept.source, kept.target) for kept in wanted.kept] == [(source, target)]


def test_words_in_another_script_come_back() -> None:
    [part] = reader().read("the \u7530\u4e2d is here").parts
    assert (part.read, part.guards) == ("the \u27e61\u27e7 is here", ("scripts",))
    assert reader(scripts=False).read("the \u7530\u4e2d is here").is_plain


def test_things_that_stand_apart_stay_apart() -> None:
    [part] = reader().read("see @me, https://a.org <b>it</b>").parts
    assert part.read == "see \u27e61\u27e7, \u27e62\u27e7 \u27e63\u27e7it\u27e64\u27e7"
    # A translation that has run them into one, and markup that touches its word as it did.
    written = "so\u27e61\u27e7\u27e62\u27e7an \u27e63\u27e7es\u27e64\u27e7"
    segments = part.target_segments(written)
    assert "".join(ours for _, ours in segments) == "so @me https://a.org an <b>es</b>"
    assert word_numbers(segments) == ((0, 1, 2, 3), (4,))


def test_whose_words_are_whose() -> None:
    [part] = reader().read("\U0001f600 see (https://a.org) 1,500 here").parts
    assert words(part.read) == ("see", "(\u27e61\u27e7)", "\u27e62\u27e7", "here")
    assert word_numbers(part.source_segments()) == ((1,), (2,), (3,), (4,))
    written = "hier \u27e62\u27e7, \u27e61\u27e7"
    assert word_numbers(part.target_segments(written)) == ((1,), (2,), (3,))


THINGS = (
    "https://a.org/b",
    "x@y.de",
    "12345",
    "3.5",
    "1.500",
    "\u27e61\u27e7",
    "\u27e69\u27e7",
    "{x}",
    "<b>",
    "</b>",
    "@me",
)
OTHERS = ("THE", "DOG", "The", "Dog", ". ", "! ", ". See", " ", "  ", "\t", "\u4f60", "ß", "SS", "#so", "%s", "(", ")")
EMOJI = ("\U0001f600", "\U0001f468\u200d\U0001f469")
ROUGH = st.lists(st.one_of(st.sampled_from((*THINGS, *OTHERS, *EMOJI)), st.text(max_size=3)), max_size=12)


@given(ROUGH, st.booleans())
def test_reading_and_echoing_loses_nothing(stretches: list[str], with_placeholders: bool) -> None:
    line = "".join(stretches)
    # Abbreviations of messages are read in full on purpose.
    placeholders = PLACEHOLDERS if with_placeholders else ()
    reading = reader(placeholders=placeholders, spaces=False, shorthand=False).read(line)
    source = "".join(ours for part in reading.parts for _, ours in part.source_segments())
    assert source == line.rstrip("\r\n")
    target = "".join(ours for part in reading.parts for _, ours in part.target_segments(part.read))
    # But for case and numbers the echo is the line; of a line in capitals ß and its like have grown.
    assert _bare(target) == _bare(line)
    for part in reading.parts:
        assert all(part.read.count(each.symbol) == 1 for each in part.kept)
        assert len(word_numbers(part.source_segments())) == len(words(part.space + part.read))


def _bare(text: str) -> str:
    """Without what may change: case, and the separators of numbers."""
    return re.sub(r"(?<=\d)[.,](?=\d)", "", text.rstrip("\r\n").upper().casefold()).casefold()


HASH = "3f786850e387550fdab836ed7e6dc881de23001b"


def test_what_is_no_language_is_read_as_a_placeholder_or_cut_out() -> None:
    line = f"See  the {HASH} in it."
    [part] = reader().read(line).parts
    assert (part.read, part.guards) == ("See the \u27e61\u27e7 in it.", ("verbatim",))
    cut = reader(placeholders=()).read(line)
    assert [(part.read, part.instead, part.space) for part in cut.parts] == [
        ("See the", None, ""), ("", HASH, " "), ("in it.", None, " ")
    ]  # fmt: skip
    assert set(cut.guards) | {name for part in cut.parts for name in part.guards} == {"spaces", "verbatim"}
    assert "".join(ours for part in cut.parts for _, ours in part.source_segments()) == f"See the {HASH} in it."


def test_what_is_no_language_keeps_its_white_space_and_the_words_between_are_read() -> None:
    line = "A dog. Go!\t" + "x\t" * 40 + "y  see the  dog "
    reading = reader().read(line)
    assert [(part.read, part.space) for part in reading.parts if part.is_searched] == [
        ("A dog.", ""), ("Go!", " "), ("see the dog", "  ")
    ]  # fmt: skip
    [copied] = [part.instead for part in reading.parts if part.instead]
    assert copied == "x\t" * 40 + "y"
    assert set(reading.guards) == {"spaces", "sentences"}


def test_a_line_that_is_no_language_is_not_read() -> None:
    for line in ("x" * 500, "a\t" * 40, f"({HASH})"):
        [part] = reader().read(line).parts
        assert (part.instead, part.read, part.guards) == (line, "", ("verbatim",))
        assert reader(verbatim=False, spaces=False, protected=False).read(line).read == line


def test_a_part_whose_placeholders_do_not_come_through_is_not_read_as_it_is_either() -> None:
    plain = reader()
    [part] = plain.read(f"See {HASH} in 12345").parts
    assert part.read == "See \u27e61\u27e7 in \u27e62\u27e7"
    assert plain.unprotected(part).instead == f"See {HASH} in 12345"


def test_without_a_letter_nothing_is_read_and_numbers_are_the_target_languages() -> None:
    for line, text in (("12 - 13", "12 - 13"), ("3.5", "3,5"), ("?!", "?!"), ("* 1,500 *", "* 1.500 *")):
        [part] = reader().read(line).parts
        assert (part.instead, part.guards) == (text, ("protected",))


def test_a_model_without_placeholders_reads_text_without_a_letter() -> None:
    [part] = reader(placeholders=()).read("3 1 4 1 5").parts
    assert (part.instead, part.read) == (None, "3 1 4 1 5")
