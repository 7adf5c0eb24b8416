"""Which terms occur in texts, which forms they may have, and what translations have of them.

The inflected forms are those of a dictionary (Duden, Oxford, Larousse), written out by hand.
"""

import pickle

import pytest

from attendo.decoding.constraints.terminology import TermUse, count_outcomes, missed_message
from attendo.terms.glossary import Glossary
from attendo.terms.inflection import MAX_FORMS, forms_of
from attendo.terms.learning import with_learned_forms
from attendo.terms.number import fits_number
from attendo.terms.term import Term


@pytest.mark.parametrize(
    ("word", "language", "forms"),
    [
        ("Haltestelle", "de", "Haltestellen"),
        ("Haus", "de", "Hauses H\u00e4user H\u00e4usern"),
        ("Band", "de", "Bandes B\u00e4nder B\u00e4ndern B\u00e4nde"),
        ("Wort", "de", "Wortes W\u00f6rter W\u00f6rtern Worte"),
        ("Passwort", "de", "Passworts Passw\u00f6rter Passw\u00f6rtern"),
        ("Eisenbahn", "de", "Eisenbahnen"),
        ("Apfel", "de", "Apfels \u00c4pfel \u00c4pfeln"),
        ("Garten", "de", "Gartens G\u00e4rten"),
        ("Verzeichnis", "de", "Verzeichnisse Verzeichnisses Verzeichnissen"),
        ("Einstellung", "de", "Einstellungen"),
        ("Datum", "de", "Daten Datums"),
        ("Schema", "de", "Schemas Schemata Schemen"),
        ("Konto", "de", "Kontos Konten"),
        ("Microsoft-Konto", "de", "Microsoft-Kontos Microsoft-Konten"),
        ("Mitarbeiterin", "de", "Mitarbeiterinnen"),
        ("Baum", "de", "Baumes B\u00e4ume B\u00e4umen"),
        ("PDF", "de", "PDFs"),
        ("neu", "de", "neue neuer neues neuen neuem"),
        ("dunkel", "de", "dunkle dunkler dunkles dunklen dunklem"),
        ("installieren", "de", "installiert installierte installierten installiertes"),
        ("herunterladen", "de", "heruntergeladen heruntergeladene herunterzuladen"),
        ("verwenden", "de", "verwendet verwendete verwendeten"),
        ("city", "en", "cities"),
        ("key", "en", "keys"),
        ("box", "en", "boxes"),
        ("cheval", "fr", "chevaux"),
        ("bureau", "fr", "bureaux"),
        ("actif", "fr", "actifs active actives"),
    ],
)
def test_forms_of_words(word: str, language: str, forms: str) -> None:
    found = forms_of(word, language)
    assert found[0] == word
    assert set(forms.split()) <= set(found)
    assert len(found) <= MAX_FORMS


@pytest.mark.parametrize(
    ("phrase", "language", "form"),
    [
        ("\u00f6ffentlicher Schl\u00fcssel", "de", "\u00f6ffentlichen Schl\u00fcssels"),
        ("Name des Servers", "de", "Namen des Servers"),
        ("public key", "en", "public keys"),
        ("key of the city", "en", "keys of the city"),
        ("fichier de configuration", "fr", "fichiers de configuration"),
        ("cl\u00e9 publique", "fr", "cl\u00e9s publiques"),
    ],
)
def test_forms_of_phrases(phrase: str, language: str, form: str) -> None:
    found = forms_of(phrase, language)
    assert form in found
    assert phrase == found[0]
    assert "Name der Servers" not in found


def test_a_language_without_rules_has_the_word_alone() -> None:
    assert forms_of("kirja", "fi") == ("kirja",)
    assert forms_of("kirja", "") == ("kirja",)


@pytest.mark.parametrize(
    ("target", "form", "plural", "fits"),
    [
        ("Haus", "H\u00e4user", True, True),
        ("Haus", "Haus", True, False),
        ("Haus", "Hauses", False, True),
        ("Haus", "H\u00e4usern", False, False),
        ("Server", "Server", True, True),
        ("neu", "neue", True, True),
        ("house", "houses", False, False),
        ("kirja", "kirjat", False, True),
    ],
)
def test_number(target: str, form: str, plural: bool, fits: bool) -> None:
    language = {"house": "en", "kirja": "fi"}.get(target, "de")
    assert fits_number(target, form, language, is_plural=plural) is fits


TERMS = (
    Term(source="station", target="Haltestelle"),
    Term(source="train station", target="Bahnhof"),
    Term(source="IT", target="EDV"),
    Term(source="GitHub", target="GitHub"),
    Term(source="C++", target="C++"),
    Term(source="to download", target="herunterladen"),
)
GLOSSARY = Glossary(terms=TERMS, source_language="en", target_language="de")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Stations, stationery and a station.", ["Stations", "station"]),
        ("The Train Stations are old.", ["Train Stations"]),
        ("It is IT.", ["IT"]),
        ("GitHub, not github", ["GitHub"]),
        ("I like C++, not C.", ["C++"]),
        ("Downloading it.", ["Downloading"]),
        ("", []),
    ],
)
def test_terms_occur_as_words_in_any_form_the_longest_first(text: str, found: list[str]) -> None:
    assert [text[each.start : each.end] for each in GLOSSARY.occurrences(text)] == found


def test_terms_of_a_language_without_spaces() -> None:
    glossary = Glossary(terms=(Term(source="\u6a94\u6848", target="file"),), source_language="zh", target_language="en")
    assert len(glossary.occurrences("\u6253\u958b\u6a94\u6848\u3002")) == 1
    back = Glossary(terms=(Term(source="file", target="\u6a94\u6848"),), source_language="en", target_language="zh")
    [term] = back.required("Open the file.")
    assert term.use_in("\u6253\u958b\u6a94\u6848\u3002").outcome == "kept"


@pytest.mark.parametrize(
    ("text", "outcome", "form"),
    [
        ("Wo ist die Haltestelle?", "kept", "Haltestelle"),
        ("An den Haltestellen und der Haltestelle", "kept", "Haltestelle"),
        ("Die HALTESTELLEN", "inflected", "HALTESTELLEN"),
        ("Das Haltestellenschild", "inflected", "Haltestellenschild"),
        ("Die Bushaltestelle", "inflected", "Bushaltestelle"),
        ("Der Halt stelle", "missed", ""),
    ],
)
def test_what_a_translation_has_of_a_term(text: str, outcome: str, form: str) -> None:
    [term] = GLOSSARY.required("the station")
    use = term.use_in(text)
    assert (use.outcome, use.form) == (outcome, form)


def test_what_is_not_translated_is_kept_to_the_letter() -> None:
    [term] = GLOSSARY.required("See GitHub")
    assert term.use_in("Siehe GitHub.").outcome == "kept"
    assert term.use_in("Siehe Github.").outcome == "missed"


def test_forbidden_words_in_any_form() -> None:
    glossary = Glossary(
        terms=(Term(source="user", target="", forbidden=("Anwender",)), Term(source="old", target="alt")),
        source_language="en", target_language="de",
    )  # fmt: skip
    old, user = glossary.required("The old users")
    assert user.use_in("Die alten Anwendern").outcome == "missed"
    assert user.use_in("Die alten Nutzer") == TermUse(source="user", target="not Anwender", outcome="kept")
    assert old.use_in("Die alten Nutzer").form == "alten"


def test_the_number_of_the_source_says_which_forms_are_likely() -> None:
    [one] = GLOSSARY.required("a station")
    [many] = GLOSSARY.required("two stations")
    assert "Haltestelle" in one.likely
    assert "Haltestellen" not in one.likely
    assert "Haltestelle" not in many.likely
    assert "Haltestellen" in many.likely
    [both] = GLOSSARY.required("a station of the stations")
    assert both.likely == both.forms


def test_alternatives_and_given_forms_count() -> None:
    term = Term(source="child", target="Kind", forms=("Kinners",), alternatives=("Blag",))
    required = Glossary(terms=(term,), source_language="en", target_language="de").requirement(term)
    for text in ("die Kinners", "die Kinder", "die Blagen"):
        assert required.form_in(text)


def test_where_forms_are_given_a_search_writes_no_others() -> None:
    term = Term(source="child", target="Kind", forms=("Kinder", "Kindern"))
    glossary = Glossary(terms=(term,), source_language="en", target_language="de")
    assert glossary.requirement(term).likely == ("Kind", "Kinder", "Kindern")
    assert glossary.requirement(term, is_plural=True).likely == ("Kinder", "Kindern")
    assert glossary.requirement(term, is_plural=False).likely == ("Kind",)
    assert "Kindes" in glossary.requirement(term).forms


def test_forms_are_learned_from_a_text() -> None:
    glossary = Glossary(terms=(Term(source="house", target="Haus"),), source_language="en", target_language="de")
    learned = with_learned_forms(glossary, ["Die H\u00e4user des Hauses.", "Haus an Haus", "Hausen"], min_count=1)
    assert learned.terms[0].forms == ("Hauses", "Hausen", "H\u00e4user")


def test_counts_and_messages() -> None:
    uses = [
        TermUse(source="a", target="b", outcome="kept", form="b"),
        TermUse(source="c", target="d", outcome="missed"),
    ]
    assert count_outcomes(uses) == {"kept": 1, "missed": 1}
    assert missed_message(uses) == "terms of the glossary that the translation does not use: 'c' as 'd'"
    assert missed_message(uses[:1]) is None


def test_a_glossary_can_be_sent_to_another_process() -> None:
    sent = pickle.loads(pickle.dumps(GLOSSARY))  # our own
    assert sent.terms == GLOSSARY.terms
    assert sent.digest == GLOSSARY.digest
    assert Glossary(terms=TERMS[:1]).digest != GLOSSARY.digest


def test_a_word_derived_from_a_term_is_no_form_of_it() -> None:
    glossary = Glossary(terms=(Term(source="train", target="Eisenbahn"),), source_language="en", target_language="de")
    [railway] = glossary.required("The trains are late.")
    assert railway.form_in("Die Eisenbahner kommen zu sp\u00e4t.") is None
    assert railway.form_in("Die Eisenbahnen kommen zu sp\u00e4t.") == "Eisenbahnen"
    assert railway.form_in("Das Eisenbahnnetz ist alt.") == "Eisenbahnnetz"
    assert railway.form_in("Die Stra\u00dfenbahn und die Modelleisenbahn.") == "Modelleisenbahn"
