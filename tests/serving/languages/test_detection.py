"""Languages told apart, on sentences of Tatoeba's kind and on single words."""

from pathlib import Path

import pytest

from attendo.serving.apis.answers import detected_of
from attendo.serving.languages.detection import Detector

DETECTOR = Detector(["en", "de"])
SENTENCES = [
    ("en", "I have no time."),
    ("en", "Where is the station?"),
    ("en", "Tom didn't want to come with us."),
    ("en", "WE ARE CLOSED TODAY"),
    ("de", "Ich habe keine Zeit."),
    ("de", "Wo ist der Bahnhof?"),
    ("de", "Tom wollte nicht mit uns kommen."),
    ("de", "HEUTE GESCHLOSSEN"),
]
WORDS = [
    ("en", "the"),
    ("en", "Hello"),
    ("en", "want"),
    ("en", "Thanks!"),
    ("de", "der"),
    ("de", "Hallo"),
    ("de", "mit"),
]


@pytest.mark.parametrize(("language", "text"), SENTENCES + WORDS)
def test_a_text_is_in_its_language(language: str, text: str) -> None:
    found = DETECTOR.detect(text)
    assert found[0].language == language
    assert sum(each.confidence for each in found) == pytest.approx(1)
    assert found[0].confidence > 0.5


@pytest.mark.parametrize("text", ["", " \n", "12.5 %", "🙂", "⟦1⟧"])
def test_what_has_no_letter_is_in_none(text: str) -> None:
    assert [(each.language, each.confidence) for each in DETECTOR.detect(text)] == [("en", 0.0), ("de", 0.0)]


def test_of_few_words_only_served_languages_are_found() -> None:
    assert {each.language for each in DETECTOR.detect("Pas de temps.")} == {"en", "de"}
    assert Detector(["fr", "en"]).detect("Je n'ai pas le temps.")[0].language == "fr"
    assert [each.confidence for each in Detector(["en"]).detect("Hello")] == [1.0]


def test_languages_that_the_library_does_not_know_are_served_too() -> None:
    assert [each.language for each in Detector(["reversed", "digits"]).detect("Hello there")] == ["reversed", "digits"]


def test_a_short_text_among_others_is_in_their_language() -> None:
    found = detected_of(DETECTOR, ["Ich habe leider gar keine Zeit.", "Tom", "Where is the old station?"])
    assert [each.language for each in found] == ["de", "de", "en"]


FOREIGN = [
    ("fr", "Je voudrais savoir pourquoi le train est encore en retard."),
    ("fr", "Ma sœur habite depuis trois ans dans une petite maison."),
    ("es", "Mi hermano quiere comprar un coche nuevo este verano."),
    ("es", "No sabemos todavía dónde vamos a vivir el año que viene."),
    ("it", "Domani mattina andiamo al mercato a comprare il pane."),
    ("it", "Non ho ancora capito perché il computer è così lento."),
    ("nl", "Mijn moeder heeft gisteren een nieuwe fiets gekocht in de stad."),
    ("nl", "Ik weet niet waarom de winkel vandaag gesloten is."),
    ("pt", "Eu não sei por que a loja está fechada hoje."),
    ("pt", "Amanhã de manhã vamos ao mercado comprar pão e frutas."),
    ("pl", "Nie wiem, dlaczego sklep jest dzisiaj zamknięty przez cały dzień."),
    ("sv", "Jag vet inte varför affären är stängd i dag."),
    ("tr", "Bugün dükkânın neden kapalı olduğunu hiç bilmiyorum doğrusu."),
    ("ru", "Я не знаю, почему магазин сегодня закрыт."),
    ("zh", "我不知道商店今天为什么关门。"),
    ("ja", "今日はどうして店が閉まっているのか分かりません。"),
    ("ko", "오늘 가게가 왜 문을 닫았는지 모르겠어요."),
    ("ar", "لا أعرف لماذا المتجر مغلق اليوم"),
    ("el", "Δεν ξέρω γιατί το μαγαζί είναι κλειστό σήμερα."),
    ("he", "אני לא יודע למה החנות סגורה היום."),
    ("th", "ฉันไม่รู้ว่าทำไมร้านปิดวันนี้"),
]


@pytest.mark.parametrize(("language", "text"), FOREIGN)
def test_a_sentence_in_a_language_that_is_not_served_is_known(language: str, text: str) -> None:
    found = DETECTOR.detect(text)
    assert (found[0].language, found[0].served) == (language, False)
    assert found[0].confidence >= 0.8
    assert sum(each.confidence for each in found) == pytest.approx(1)
    assert {each.language for each in found[1:]} == {"en", "de"}
    assert Detector([language, "en"]).unserved(text) is None, "it is served there"


SERVED_TEXTS = [
    "Open",
    "OK",
    "Cancel",
    "Café",
    "Menu",
    "Déjà vu",
    "El Niño",
    "Ω",
    "π r²",
    "µm",
    "Łukasz Żółty",
    "São Paulo",
    "Visual Studio Code",
    "git commit --amend",
    "sudo apt install libgomp1 nginx chromium iproute2",
    "C:\\Users\\name\\AppData\\Local",
    "Lautstärke ändern",
    "Donaudampfschifffahrtsgesellschaft",
    "He said 東京 twice, and nobody asked him why.",
    "The word for it is Привет.",
    "Microsoft.Extensions.DependencyInjection Microsoft.AspNetCore.Mvc System.Collections.Generic IEnumerable",
    "In Los Angeles and San Francisco nobody says au revoir.",
    "Tom, Maria, José, François and Giuseppe met in Rio de Janeiro.",
    "%s: %d of %d, {name} <b>bold</b> $HOME ~/.config",
    "a b c d e f g h i j k l m",
    "",
]


@pytest.mark.parametrize("text", SERVED_TEXTS)
def test_names_code_and_single_words_are_no_other_language(text: str) -> None:
    assert DETECTOR.unserved(text) is None
    assert Detector(["en"]).unserved(text) is None or text in (
        "Lautstärke ändern",
        "Donaudampfschifffahrtsgesellschaft",
    )


def test_a_script_that_a_served_language_has_is_not_foreign() -> None:
    russian = "Привет, мир!"
    assert Detector(["ru", "en"]).unserved(russian) is None
    assert Detector(["uk", "en"]).unserved(russian) is None, "a few words do not tell Russian from Ukrainian"
    japanese = "東京都 2024"
    assert Detector(["ja"]).unserved(japanese) is None


def test_of_a_served_language_that_nobody_knows_nothing_is_foreign() -> None:
    assert Detector(["reversed", "en"]).unserved("Je voudrais savoir pourquoi le train est encore en retard.") is None


DATA = Path(__file__).parents[4] / "shared" / "data"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="there is no shared/data beside the project")
@pytest.mark.parametrize("served", [("en", "de"), ("en", "fr"), ("en",)])
def test_no_more_than_one_line_in_a_thousand_is_suspected(served: tuple[str, ...]) -> None:
    detector = Detector(served)
    for kind in ("tatoeba", "docs", "ui"):
        paths = [path for code in served for path in DATA.glob(f"{kind}_en-*/valid.{code}")]
        lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
        assert len(lines) >= 2000
        suspected = [line for line in lines if detector.unserved(line) is not None]
        assert len(suspected) <= len(lines) / 1000, suspected
