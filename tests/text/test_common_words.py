"""Which language a text is in, by its common words."""

import pytest

from attendo.text.common_words import evident_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The window is closed when you press the key.", "en"),
        ("Das Fenster wird geschlossen, wenn Sie die Taste drücken.", "de"),
        ("La fenêtre est fermée lorsque vous appuyez sur la touche.", "fr"),
        ("La ventana se cierra cuando pulsa la tecla, pero no hay más.", "es"),
        ("Non è più questo il tasto che chiude la finestra della stampante.", "it"),
        ("Het venster wordt gesloten als je op de toets drukt, maar niet altijd.", "nl"),
        ("A janela é fechada quando você não pressiona as teclas do teclado.", "pt"),
        ("THE WINDOW IS NOT OPEN.", "en"),
    ],
)
def test_a_sentence_has_the_common_words_of_its_language(text: str, language: str) -> None:
    assert evident_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "OK",
        "Datei öffnen",
        "the file",
        "ALTER TABLE t ADD COLUMN c",
        "12 34 56",
        "The user und die Gruppe of the Server",
    ],
)
def test_of_few_or_mixed_words_nothing_is_said(text: str) -> None:
    assert evident_language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Er schlief, als er anfing, je mehr er trank.",
        "Was er war, war er um drei.",
        "Als er kam, war er alt.",
        "Will you be here when he was in the war?",
        "So we do as you do, no more.",
    ],
)
def test_everyday_words_that_languages_share_tell_nothing_wrong(text: str) -> None:
    assert evident_language(text) in (None, "en" if text.isascii() and "you" in text else "de")
