"""The tiny endpoint for OmegaT's plugins whose address one types in: FakeMT, OPUS-CAT."""

from tests.serving.made_up import Asked, MadeUpModels, made_up_service


def test_a_segment_comes_back_with_its_tags() -> None:
    asked = Asked(made_up_service())
    sent = {"source": "en-US", "target": "de-DE", "text": "The <b0>old</b0> dog"}
    answer = asked("GET", "/omegat", params=sent)
    assert (answer.status_code, answer.json()) == (200, {"translation": "das <b0>alte</b0> Hund"})
    assert asked("GET", "/omegat", params=sent | {"text": " "}).json() == {"translation": " "}
    asked.close()


def test_what_cannot_be_translated_is_told() -> None:
    asked = Asked(made_up_service(MadeUpModels(["en-de"])))
    wrong = asked("GET", "/omegat", params={"source": "fr-FR", "target": "de", "text": "a"})
    assert (wrong.status_code, wrong.json()) == (400, {"error": "no model here translates from fr-FR into de"})
    assert asked("GET", "/omegat", params={"source": "en", "target": "de"}).status_code == 400
    asked.close()
