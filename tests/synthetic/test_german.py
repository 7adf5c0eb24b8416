"""German paradigms, written out by hand as in a school grammar (Duden's tables of declension and conjugation)."""

import pytest

from attendo.synthetic import german
from attendo.synthetic.english import Person
from attendo.synthetic.words import Adjective, Noun, adjectives, nouns, verb

CASES: tuple[german.Case, ...] = ("nominative", "accusative", "dative", "genitive")
PERSONS: tuple[Person, ...] = ("1s", "2s", "3s", "1p", "2p", "3p")

MAN, WOMAN, CHILD, COLLEAGUE = nouns("""
    der Mann/Männer = man/men
    die Frau/Frauen = woman/women
    das Kind/Kinder = child/children
    der Kollege*/Kollegen = colleague
""")
OLD, EXPENSIVE = adjectives("""
    alt = old
    teuer/teur = expensive
""")


@pytest.mark.parametrize(
    ("determiner", "noun", "plural", "expected"),
    [
        ("der", MAN, False, ["der alte Mann", "den alten Mann", "dem alten Mann", "des alten Mannes"]),
        ("der", WOMAN, False, ["die alte Frau", "die alte Frau", "der alten Frau", "der alten Frau"]),
        ("der", CHILD, False, ["das alte Kind", "das alte Kind", "dem alten Kind", "des alten Kindes"]),
        ("der", MAN, True, ["die alten Männer", "die alten Männer", "den alten Männern", "der alten Männer"]),
        ("ein", MAN, False, ["ein alter Mann", "einen alten Mann", "einem alten Mann", "eines alten Mannes"]),
        ("ein", WOMAN, False, ["eine alte Frau", "eine alte Frau", "einer alten Frau", "einer alten Frau"]),
        ("ein", CHILD, False, ["ein altes Kind", "ein altes Kind", "einem alten Kind", "eines alten Kindes"]),
        (
            "kein",
            CHILD,
            True,
            ["keine alten Kinder", "keine alten Kinder", "keinen alten Kindern", "keiner alten Kinder"],
        ),
        ("ein", CHILD, True, ["alte Kinder", "alte Kinder", "alten Kindern", "alter Kinder"]),
        ("", MAN, False, ["alter Mann", "alten Mann", "altem Mann", "alten Mannes"]),
        ("", WOMAN, False, ["alte Frau", "alte Frau", "alter Frau", "alter Frau"]),
        ("dieser", CHILD, False, ["dieses alte Kind", "dieses alte Kind", "diesem alten Kind", "dieses alten Kindes"]),
        ("unser", MAN, False, ["unser alter Mann", "unseren alten Mann", "unserem alten Mann", "unseres alten Mannes"]),
        ("euer", WOMAN, False, ["eure alte Frau", "eure alte Frau", "eurer alten Frau", "eurer alten Frau"]),
        (
            "mein",
            COLLEAGUE,
            False,
            ["mein alter Kollege", "meinen alten Kollegen", "meinem alten Kollegen", "meines alten Kollegen"],
        ),
    ],
)
def test_noun_phrases_decline(determiner: str, noun: Noun, plural: bool, expected: list[str]) -> None:
    assert [german.noun_phrase(determiner, noun, case, adjective=OLD, plural=plural) for case in CASES] == expected


def test_an_adjective_may_change_its_stem() -> None:
    (coat,) = nouns("der Mantel/Mäntel = coat")
    assert german.noun_phrase("ein", coat, "accusative", adjective=EXPENSIVE) == "einen teuren Mantel"


def test_dative_plural_adds_no_second_n_and_none_after_s() -> None:
    women, cars = nouns("die Frau/Frauen = woman/women\n das Auto/Autos = car")
    assert german.noun_phrase("der", women, "dative", plural=True) == "den Frauen"
    assert german.noun_phrase("der", cars, "dative", plural=True) == "den Autos"


@pytest.mark.parametrize(
    ("table", "genitive"),
    [
        ("das Wetter = weather", "des Wetters"),
        ("der Schnee = snow", "des Schnees"),
        ("der Bus/Busse = bus", "des Busses"),
        ("der Chef/Chefs = boss/bosses", "des Chefs"),
        ("die Hitze = heat", "der Hitze"),
    ],
)
def test_genitives(table: str, genitive: str) -> None:
    assert german.noun_phrase("der", nouns(table)[0], "genitive") == genitive


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("kaufen kauft gekauft = buy", "kaufe kaufst kauft kaufen kauft kaufen"),
        ("nehmen nimmt genommen = take", "nehme nimmst nimmt nehmen nehmt nehmen"),
        ("lesen liest gelesen = read", "lese liest liest lesen lest lesen"),
        ("essen isst gegessen = eat", "esse isst isst essen esst essen"),
        ("fahren fährt +gefahren = drive", "fahre fährst fährt fahren fahrt fahren"),
        ("ein|laden lädt eingeladen = invite", "lade lädst lädt laden ladet laden"),
        ("halten hält gehalten = stop", "halte hältst hält halten haltet halten"),
        ("waschen wäscht gewaschen = wash", "wasche wäschst wäscht waschen wascht waschen"),
        ("arbeiten arbeitet gearbeitet = work", "arbeite arbeitest arbeitet arbeiten arbeitet arbeiten"),
        ("öffnen öffnet geöffnet = open", "öffne öffnest öffnet öffnen öffnet öffnen"),
        ("wohnen wohnt gewohnt = live", "wohne wohnst wohnt wohnen wohnt wohnen"),
        ("putzen putzt geputzt = clean", "putze putzt putzt putzen putzt putzen"),
        ("wechseln wechselt gewechselt = change", "wechsle wechselst wechselt wechseln wechselt wechseln"),
        ("haben hat gehabt = have", "habe hast hat haben habt haben"),
        ("sein ist +gewesen = be", "bin bist ist sind seid sind"),
        ("wissen weiß gewusst = know", "weiß weißt weiß wissen wisst wissen"),
    ],
)
def test_verbs_conjugate(row: str, expected: str) -> None:
    assert " ".join(german.present(verb(row), person) for person in PERSONS) == expected


@pytest.mark.parametrize(
    ("infinitive", "expected"),
    [
        ("können", "kann kannst kann können könnt können"),
        ("müssen", "muss musst muss müssen müsst müssen"),
        ("wollen", "will willst will wollen wollt wollen"),
        ("dürfen", "darf darfst darf dürfen dürft dürfen"),
        ("sollten", "sollte solltest sollte sollten solltet sollten"),
        ("möchten", "möchte möchtest möchte möchten möchtet möchten"),
        ("werden", "werde wirst wird werden werdet werden"),
    ],
)
def test_auxiliaries_conjugate(infinitive: str, expected: str) -> None:
    assert " ".join(german.auxiliary(infinitive, person) for person in PERSONS) == expected


@pytest.mark.parametrize(
    ("infinitive", "expected"),
    [
        ("sein", "war warst war waren wart waren"),
        ("haben", "hatte hattest hatte hatten hattet hatten"),
        ("müssen", "musste musstest musste mussten musstet mussten"),
    ],
)
def test_simple_past(infinitive: str, expected: str) -> None:
    assert " ".join(german.simple_past(infinitive, person) for person in PERSONS) == expected


@pytest.mark.parametrize(
    ("preposition", "phrase", "expected"),
    [
        ("zu", "dem alten Bahnhof", "zum alten Bahnhof"),
        ("zu", "der Schule", "zur Schule"),
        ("in", "das Kino", "ins Kino"),
        ("an", "dem Museum", "am Museum"),
        ("von", "dem Hotel", "vom Hotel"),
        ("auf", "den Tisch", "auf den Tisch"),
        ("in", "einem Haus", "in einem Haus"),
        ("in", "diesem Haus", "in diesem Haus"),
    ],
)
def test_prepositions_contract(preposition: str, phrase: str, expected: str) -> None:
    assert german.prepositional(preposition, phrase) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("lesen liest gelesen = read", "zu lesen"),
        ("auf|stehen steht +aufgestanden = get_up", "aufzustehen"),
        ("spazieren_|gehen geht +spazieren_gegangen = go_for_a_walk", "spazieren zu gehen"),
    ],
)
def test_zu_infinitives(row: str, expected: str) -> None:
    assert german.zu_infinitive(verb(row)) == expected


def test_relative_pronouns_agree_with_their_noun() -> None:
    (hat,) = nouns("der Hut/Hüte = hat")
    assert german.relative_pronoun(hat, "accusative") == "den"
    assert german.relative_pronoun(WOMAN, "nominative") == "die"
    assert german.relative_pronoun(hat, "accusative", plural=True) == "die"


def test_adjective_table_without_a_stem_keeps_the_word() -> None:
    assert adjectives("rot = red") == (Adjective(de="rot", en="red", stem="rot"),)
