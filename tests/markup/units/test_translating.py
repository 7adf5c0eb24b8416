"""Units translated by a translator that only puts words in capitals: what is no word has to be there as it was."""

from collections.abc import Sequence

import pytest
from tests.markup.made_up import MadeUp, backwards, in_capitals, shown, translated, translations, unit

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.formats.contents import Code, CodeKind, content
from attendo.formats.file import Form, Unit
from attendo.markup.text_types import TranslatedLine
from attendo.markup.units.directives import directives

G = Code(id="g1", raw='<g id="1">', kind="open"), Code(id="g1", raw="</g>", kind="close")
X = Code(id="x2", raw='<x id="2"/>')


@pytest.mark.parametrize(
    ("source", "flags", "expected"),
    [
        ("100%% of %s", "c-format", "100%% OF %s"),
        ('Could not open "%s": %s\n', "c-format", 'COULD NOT OPEN "%s": %s\n'),
        ("%(name)s has %(n)d", "python-format", "%(name)s HAS %(n)d"),
        ("{0!r:>{width}} is {}", "python-brace-format", "{0!r:>{width}} IS {}"),
        ("  two  spaces ", "", "  TWO  SPACES "),
        ("\nfirst line\nsecond\n", "", "\nFIRST LINE\nSECOND\n"),
        ("&File", "", "&FILE"),
        ("Save &As...", "", "SAVE &AS..."),
        ("R&D", "", "R&D"),
        ('Click <a href="%s">here</a> now', "c-format", 'CLICK <a href="%s">HERE</a> NOW'),
        ("Run `git push` then see [the docs](./a.md#x)", "", "RUN `git push` THEN SEE [THE DOCS](./a.md#x)"),
        ("Read **this** first", "", "READ **THIS** FIRST"),
        ("<1>link</1> to {{count}} $t(a:b)", "i18next-interpolation", "<1>LINK</1> TO {{count}} $t(a:b)"),
        ("Speed: %d%%", "c-format", "SPEED: %d%%"),
        ("%d%% of %s", "c-format", "%d%% OF %s"),
        ("$1 edited $2's page", "", "$1 EDITED $2'S PAGE"),
        ("%s", "c-format", "%s"),
        ("… 42 –", "", "… 42 –"),
        ("  b          set the flag", "", "  b          SET THE FLAG"),
        ("set the flag\tS", "", "SET THE FLAG\tS"),
        ("a", "", "A"),
        ("use --no-act now", "", "USE --no-act NOW"),
        ("--waiting-- (no)", "", "--waiting-- (NO)"),
        ("1.5", "", "1.5"),
        ("5\u00a0files", "", "5\u00a0FILES"),
        ("see https://example.org/a?b=c now", "", "SEE https://example.org/a?b=c NOW"),
        ("the 👩\u200d💻 works", "", "THE 👩\u200d💻 WORKS"),
    ],
)
def test_only_words_are_translated(source: str, flags: str, expected: str) -> None:
    assert translated(source, *flags.split()) == expected


def test_placeholders_in_another_order_are_numbered_where_the_format_allows_it() -> None:
    found = translated("%s deleted %d", "c-format", made_up=MadeUp(backwards))
    assert found == "%2$d DELETED %1$s"
    [kept] = translations([unit("%s deleted %d", "python-format")], MadeUp(backwards))
    assert shown(kept.texts[0]) == "%s DELETED %d"
    assert kept.problems == ("translated in pieces, so that placeholders keep their order",)
    assert not kept.findings


def test_a_number_and_its_per_cent_sign_are_one_placeholder() -> None:
    made_up = MadeUp(backwards)
    assert translated("%d%% of %s", "c-format", made_up=made_up) == "%2$s OF %1$d%%"
    assert made_up.batches == [["\u27e61\u27e7 of \u27e62\u27e7"]]


@pytest.mark.parametrize("source", ["It costs $5 million", "$1.50", "$9 per month", "US$5", "$10"])
def test_amounts_of_money_are_no_placeholders(source: str) -> None:
    assert directives(source, ()) == []


def test_named_placeholders_may_change_their_order() -> None:
    assert translated("{a} or {b}", "python-brace-format", made_up=MadeUp(backwards)) == "{b} OR {a}"


def test_codes_come_back_once_in_a_legal_order() -> None:
    source = ("big ", G[0], "old ", X, " world", G[1], " here")
    assert translated(source) == 'BIG <g id="1">OLD <x id="2"/> WORLD</g> HERE'
    found = translated(source, made_up=MadeUp(backwards))
    assert sorted(part for part in ('<g id="1">', "</g>", '<x id="2"/>') if found.count(part) == 1) == sorted(
        ('<g id="1">', "</g>", '<x id="2"/>')
    )
    assert found.index('<g id="1">') < found.index("</g>")


def test_overlapping_pairs_stay_in_their_order() -> None:
    halves: list[tuple[int, CodeKind]] = [(1, "open"), (2, "open"), (1, "close"), (2, "close")]
    pairs = [
        Code(id=f"b{number}", raw=f"<{'b' if kind == 'open' else 'e'}x {number}>", kind=kind, nests=False)
        for number, kind in halves
    ]
    source = (pairs[0], "a ", pairs[1], "b", pairs[2], " c", pairs[3])
    for made_up in (MadeUp(), MadeUp(backwards)):
        found = translated(source, made_up=made_up)
        assert all(found.count(code.raw) == 1 for code in pairs)
        assert found.index("<bx 1>") < found.index("<ex 1>")
        assert found.index("<bx 2>") < found.index("<ex 2>")


def test_a_line_break_is_no_word() -> None:
    made_up = MadeUp()
    translated(("one ", Code(id="1", raw="<br/>"), "two"), made_up=made_up)
    assert made_up.batches == [["one two"]]


def test_a_translator_that_loses_a_placeholder_is_asked_for_the_pieces() -> None:
    made_up = MadeUp(lambda line: [word for word in in_capitals(line) if "\u27e6" not in word])
    [found] = translations([unit("open %s now", "c-format")], made_up)
    assert shown(found.texts[0]) == "OPEN %s NOW"
    assert any("pieces" in problem for problem in found.problems)


def test_symbols_that_a_translator_invents_are_forbidden() -> None:
    class Inventing(MadeUp):
        """Writes a symbol for a placeholder wherever it is not forbidden, or wherever it is at all."""

        def __init__(self, *, obeys: bool) -> None:
            super().__init__()
            self.obeys = obeys

        def __call__(
            self, lines: Sequence[str], constraints: Sequence[Constraints] | None, aligned: bool
        ) -> list[TranslatedLine]:
            is_forbidden = constraints is not None and "\u27e61\u27e7" in constraints[0].forbidden_words
            suffix = "" if is_forbidden and self.obeys else " \u27e61\u27e7"
            return super().__call__([line + suffix for line in lines], constraints, aligned)

    assert translated("the red dog", made_up=Inventing(obeys=True)) == "THE RED DOG"
    [found] = translations([unit("the red dog")], Inventing(obeys=False))
    assert shown(found.texts[0]) == "the red dog"
    assert "the sentence is left as it was" in found.problems[0]


def test_quotation_marks_around_a_placeholder_stay_in_pieces() -> None:
    made_up = MadeUp(lambda line: [word for word in in_capitals(line) if "\u27e6" not in word])
    assert translated('open "%s" (%d)', "c-format", made_up=made_up) == 'OPEN "%s" (%d)'
    assert made_up.batches[-1] == ["open"]


def test_words_that_are_all_lost_are_translated_by_themselves_or_stay() -> None:
    made_up = MadeUp(lambda line: ["\u27e61\u27e7"] if "\u27e6" in line else in_capitals(line))
    [found] = translations([unit("by %s", "c-format")], made_up)
    assert shown(found.texts[0]) == "BY %s"
    assert found.problems == ("translated in pieces, because no words were left",)
    made_up = MadeUp(lambda line: ["\u27e61\u27e7"] if "\u27e6" in line else [])
    assert translated(("via ", X), made_up=made_up) == 'via <x id="2"/>'


def test_a_unit_whose_placeholders_cannot_be_kept_is_left_as_it_was() -> None:
    made_up = MadeUp(lambda line: [*in_capitals(line), "%d"])
    [found] = translations([unit("open %s", "c-format")], made_up)
    assert found.is_kept
    assert found.problems == ("the model writes placeholders into 'open'; the text is left unchanged",)
    [found] = translations([unit("{n, plural, other {x}}", "icu-message-format")], MadeUp(lambda line: ["\x01x"]))
    assert found.is_kept
    assert [finding.check for finding in found.findings] == ["control-characters"]


def plural(*flags: str, samples: tuple[int, ...] = (1, 2, 5)) -> Unit:
    sources = ["%d file", *["%d files"] * (len(samples) - 1)]
    forms = tuple(
        Form(source=content(source), name=str(number), sample=sample, is_of_one_number=number == 0)
        for number, (source, sample) in enumerate(zip(sources, samples, strict=True))
    )
    return Unit(id="p", forms=forms, flags=frozenset(flags))


def test_plural_forms_are_translated_with_a_number_that_takes_them() -> None:
    polish = {"1 file": "1 plik", "2 files": "2 pliki", "5 files": "5 plików"}
    made_up = MadeUp(lambda line: polish[line].split())
    [found] = translations([plural("c-format")], made_up, target="pl")
    assert [shown(text) for text in found.texts] == ["%d plik", "%d pliki", "%d plików"]
    assert not found.findings


def test_the_word_of_a_number_is_found_too() -> None:
    german = {"1 file": "eine Datei", "2 files": "2 Dateien"}
    made_up = MadeUp(lambda line: german[line].split())
    [found] = translations([plural("c-format", samples=(1, 2))], made_up)
    assert [shown(text) for text in found.texts] == ["%d Datei", "%d Dateien"]


def test_a_number_that_does_not_come_back_is_not_guessed() -> None:
    made_up = MadeUp(lambda line: ["Dateien"] if "2" in line or "\u27e6" in line else in_capitals(line))
    [found] = translations([plural("c-format", samples=(1, 2))], made_up)
    assert [shown(text) for text in found.texts] == ["%d FILE", "%d FILES"]
    assert "the form of the number 2 was translated without its number" in found.problems


def test_a_singular_without_its_number_gets_the_code_of_its_plural() -> None:
    # As Fluent has it: French says its singular of 0 too.
    count = Code(id="0", raw="{ $n }")
    forms = (
        Form(source=content("One file"), name="one", sample=1),
        Form(source=(count, " files"), name="other", sample=2),
    )
    [found] = translations([Unit(id="p", forms=forms)], target="fr")
    assert [shown(text) for text in found.texts] == ["{ $n } FILE", "{ $n } FILES"]
    assert found.findings == ()


@pytest.mark.parametrize(
    ("singular", "expected"),
    [
        ("One file", "%d FILE"),
        ("A file was lost", "%d FILE WAS LOST"),
        ("Delete 1 file?", "DELETE %d FILE?"),
        ("The file", "%d FILES"),
        ("A file in an archive", "%d FILES"),
    ],
)
def test_a_form_of_several_numbers_has_the_number(singular: str, expected: str) -> None:
    forms = (
        Form(source=content(singular), name="0", sample=1),  # as Russian: of 1, 21, 31
        Form(source=content("%d files"), name="1", sample=2),
    )
    [found] = translations([Unit(id="p", forms=forms, flags=frozenset({"c-format"}))], target="ru")
    assert [shown(text) for text in found.texts] == [expected, "%d FILES"]


def test_a_form_with_two_numbers_keeps_both() -> None:
    forms = (
        Form(source=content("%1$d of 1 file"), name="one", sample=1, is_of_one_number=True),
        Form(source=content("%1$d of %2$d files"), name="other", sample=2),
    )
    [found] = translations([Unit(id="p", forms=forms, flags=frozenset({"java-printf-format"}))])
    assert [shown(text) for text in found.texts] == ["%1$d OF 1 FILE", "%1$d OF %2$d FILES"]
    assert not found.findings


def test_an_option_in_a_german_compound_is_still_there() -> None:
    made_up = MadeUp(lambda line: ["die", "\u27e61\u27e7-Option"])
    assert translated("the --wipe option", made_up=made_up) == "die --wipe-Option"
    assert len(made_up.batches) == 1


def test_equal_texts_are_translated_once() -> None:
    made_up = MadeUp()
    translations([unit("the same"), unit("the same"), unit("&the same")], made_up)
    assert made_up.batches == [["the same"]]


@pytest.mark.parametrize(
    ("source", "said"),
    [("a \ufdd1 b", "noncharacter"), ("a \ud83d b", "surrogate"), ("x " * 600_000, "more than 1,048,576")],
)
def test_a_text_that_cannot_be_read_is_left_as_it_was(source: str, said: str) -> None:
    [found] = translations([unit(source)])
    assert found.is_kept
    assert said in found.problems[0]


@pytest.mark.parametrize(
    ("source", "words", "expected"),
    [
        ("Save…", ["Speichern..."], "Speichern…"),
        ("Name:", ["Name"], "Name:"),
        ("A whole sentence.", ["Ein", "Satz"], "Ein Satz."),
        ("A heading", ["Eine", "Überschrift."], "Eine Überschrift"),
        ("Really?", ["Wirklich."], "Wirklich?"),
        ("Add to 1 image", ["Gib", "zum", "1."], "Gib zum 1"),
        ("The view", ["Sicht:"], "Sicht"),
        ("Open it.", ["Auf!"], "Auf."),
        ("He says no.", ["„Er", "sagt", "nein.“"], "„Er sagt nein“."),
        ("and so on", ["usw."], "usw."),
        ("for example", ["z.", "B."], "z. B."),
        ("Used by %s", ["Von", "\u27e61\u27e7."], "Von %s"),
    ],
)
def test_a_translation_ends_as_its_source(source: str, words: list[str], expected: str) -> None:
    assert translated(source, made_up=MadeUp(lambda line: words)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ((X, " here:"), 'HERE <x id="2"/>:'),
        ((X, " is used."), 'USED. IS <x id="2"/>.'),
        (("it is: ", X), '<x id="2"/> IS: IT'),
        (("see ", X), '<x id="2"/> SEE'),
    ],
)
def test_a_mark_stays_behind_a_code_that_comes_last(source: tuple[str | Code, ...], expected: str) -> None:
    assert translated(source, made_up=MadeUp(backwards)) == expected


def test_french_marks_have_their_spaces() -> None:
    made_up = MadeUp(lambda line: ["Qui", "est", "là?"])
    assert translated("Who is there?", made_up=made_up, target="fr") == "Qui est là\u202f?"


def test_spaces_beside_a_code_are_single() -> None:
    made_up = MadeUp(lambda line: ["zu", " \u27e61\u27e7", " (neu)"])
    assert translated(("to ", X, " (new)"), made_up=made_up) == 'zu <x id="2"/> (neu)'


def test_an_accelerator_is_no_letter_of_a_placeholder() -> None:
    made_up = MadeUp(lambda line: [*in_capitals(line)[1:], in_capitals(line)[0]])
    assert translated("&Open {name}", made_up=made_up) == "{name} &OPEN"
    assert translated("_Save '%s'", "c-format", made_up=made_up) == "'%s' _SAVE"
