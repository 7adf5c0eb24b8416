"""Negations, and whether translations show them: examples by hand."""

import pytest

from attendo.decoding.guards.negation import invented_negation, lost_negation, negations

EN_DE, DE_EN, EN_FR, FR_EN = ("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")


@pytest.mark.parametrize(
    ("languages", "source", "target", "lost"),
    [
        (EN_DE, "It will not trigger a failover.", "Es wird ein Failover ausgelöst.", "not"),
        (EN_DE, "It doesn't trigger a failover.", "Es löst ein Failover aus.", "n't"),
        (EN_DE, "Those who never commit to anything", "Die, die etwas versprechen", "never"),
        (DE_EN, "Das Café ist nicht zu voll.", "The cafe is too full.", "nicht"),
        (DE_EN, "Niemandem sagte er etwas.", "He told everybody something.", "Niemandem"),
        (EN_FR, "Available values are always and never.", "Les valeurs sont toujours et toujours.", "never"),
        (FR_EN, "Ils ne possèdent pas la carte.", "They have the card.", "ne possèdent pas"),
        (FR_EN, "Je suis pas d'accord.", "I agree.", "suis pas"),
        # Shown, by a negation or by a word that says the same without one.
        (EN_DE, "It won't trigger a failover.", "Es löst keinen Failover aus.", ""),
        (EN_DE, "He is not certain. He isn't here until noon.", "Er ist unsicher und kommt erst mittags.", ""),
        (DE_EN, "Das ist nicht möglich, niemals.", "That is impossible.", ""),
        (DE_EN, "Eine nicht gierige Version", "A non-greedy version", ""),
        (DE_EN, "Stimmt etwas nicht?", "Is something wrong?", ""),
        (EN_FR, "The file was not found.", "Fichier introuvable", ""),
        (EN_FR, "I do not know who it is.", "J'ignore qui c'est.", ""),
        (FR_EN, "Il ne travaille pas aujourd'hui.", "He is off today.", ""),
        # Rightly translated without one.
        (EN_DE, "You're new here, aren't you? It's hard, isn't it?", "Du bist neu hier, oder?", ""),
        (EN_DE, "I don't care what you say.", "Es ist mir gleich, was du sagst.", ""),
        (EN_DE, "Don't hesitate to ask, and don't forget it.", "Frag gern, und denk daran.", ""),
        (DE_EN, "Schön, nicht wahr? Bitte nicht vergessen! Nicht nur das.", "Nice, right? Remember. And that.", ""),
        (DE_EN, "Gibt an, ob sie sichtbar sind oder nicht.", "Specifies whether they are visible.", ""),
        (FR_EN, "C'est bien, n'est-ce pas ? N'hésitez pas.", "It's good, right? Feel welcome.", ""),
        (FR_EN, "Il a fait ses premiers pas à quatre pas d'ici.", "He took his first steps near here.", ""),
        (FR_EN, "Il y a pas mal de questions. Je ne veux que mourir.", "There are questions. I want to die.", ""),
        (("en", "es"), "It will not start.", "Empieza.", ""),
        (("", "de"), "It will not start.", "Es startet.", ""),
        (EN_DE, "", "", ""),
    ],
)
def test_a_negation_that_a_translation_does_not_show_is_lost(
    languages: tuple[str, str], source: str, target: str, lost: str
) -> None:
    assert "".join(each.text for each in lost_negation(source, target, languages)) == lost


def test_what_may_be_written_for_it_shows_it() -> None:
    for languages, source in ((EN_DE, "not"), (DE_EN, "nicht"), (EN_FR, "not")):
        [negation] = lost_negation(source, "", languages)
        for form in negation.forms(languages[1]):
            assert lost_negation(source, f"a {form} b", languages) == [], form


def test_a_negation_that_the_source_does_not_show_is_invented() -> None:
    assert [each.text for each in invented_negation("It makes noises.", "Es macht keine Geräusche.", EN_DE)] == [
        "keine"
    ]
    free = invented_negation("Kinder fahren kostenlos.", "Children don't drive for free.", DE_EN)
    assert [each.text for each in free] == ["n't"]
    assert invented_negation("Have you ever been there?", "N'y es-tu jamais allé ?", EN_FR) == []
    assert invented_negation("Er ist unsicher.", "He is not certain.", DE_EN) == []
    assert invented_negation("Empieza.", "It will not start.", ("es", "en")) == []


def test_every_word_that_may_be_written_for_a_negation_negates() -> None:
    for languages, source in ((EN_DE, "not"), (DE_EN, "nicht"), (EN_FR, "not")):
        [negation] = lost_negation(source, "", languages)
        assert set(negation.forms(languages[1])) < set(negations(languages[1]))
    assert {"nicht", "Nicht", "ohne"} < set(negations("de"))
    assert negations("es") == ()
