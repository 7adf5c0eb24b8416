"""Encodings: which names are one, and which one old files are in. What is right, Python's own codecs say."""

import pytest

from attendo.text.files.encodings import encoding_problem, is_utf8, is_wide, likely_encodings

TEXTS = {
    "de": ["Grüße aus Köln, schöne Straßen.", "Die Bäume blühen später.", "Müller möchte zwölf Äpfel.", "Öl fließt."],
    "fr": ["Où êtes-vous allé, mon garçon ?", "Noël à la plage, ça m'a plu.", "L'été dernier, il était très gêné."],
    "es": ["¿Dónde está el baño, señor?", "Mañana iré al cine con mis niños.", "El corazón y la razón."],
    "pl": ["Zażółć gęślą jaźń, proszę.", "Dziękuję bardzo, wszystko w porządku.", "Gdzie jest dworzec?"],
    "cs": ["Příliš žluťoučký kůň úpěl ďábelské ódy.", "Děkuji, mám se dobře."],
    "ru": ["Привет, как дела? Всё хорошо.", "Мы идём домой, а потом будем ужинать.", "Это интересная книга."],
    "el": ["Καλημέρα, τι κάνετε;", "Είμαι πολύ καλά, ευχαριστώ."],
    "tr": ["Teşekkür ederim, çok iyiyim.", "Bugün hava çok güzel, değil mi?"],
    "zh": ["我们在学校里学习中文，这是一个很好的机会。", "他说他不想去，因为天气不好。"],
    "ja": ["私は毎日学校に行きます。", "これはとても面白い本です。"],
    "ko": ["저는 매일 학교에 갑니다.", "이것은 아주 재미있는 책입니다."],
}
KNOWN = [
    ("de", "latin-1"), ("de", "cp1252"), ("de", "cp850"), ("de", "mac-roman"), ("fr", "latin-1"), ("fr", "cp1252"),
    ("es", "cp1252"), ("pl", "cp1250"), ("pl", "iso8859-2"), ("cs", "cp1250"), ("cs", "iso8859-2"), ("ru", "cp1251"),
    ("ru", "koi8-r"), ("ru", "cp866"), ("ru", "iso8859-5"), ("el", "cp1253"), ("tr", "cp1254"), ("zh", "gb18030"),
    ("ja", "shift_jis"), ("ja", "euc-jp"), ("ko", "euc-kr"), ("ko", "cp949"),
]  # fmt: skip


def beyond_ascii(texts: list[str], encoding: str) -> list[bytes]:
    return [line for text in texts if not (line := text.encode(encoding)).isascii()]


@pytest.mark.parametrize(("language", "encoding"), KNOWN)
def test_the_first_guess_reads_the_text_as_it_was_written(language: str, encoding: str) -> None:
    lines = beyond_ascii(TEXTS[language], encoding)
    found = likely_encodings(lines, language=language)
    assert [line.decode(found.likely[0]) for line in lines] == [line.decode(encoding) for line in lines]
    for same in found.same:
        assert [line.decode(same) for line in lines] == [line.decode(encoding) for line in lines]


@pytest.mark.parametrize(("language", "encoding"), KNOWN)
def test_without_the_language_the_right_one_is_among_those_named(language: str, encoding: str) -> None:
    lines = beyond_ascii(TEXTS[language], encoding)
    found = likely_encodings(lines)
    readings = [[line.decode(name) for line in lines] for name in found.likely]
    assert [line.decode(encoding) for line in lines] in readings
    assert len(readings) == len({tuple(reading) for reading in readings}), "each reads another text"


def test_marks_that_latin1_lacks_speak_for_cp1252() -> None:
    lines = ["„Schön“, sagte er – und ging …".encode("cp1252")]
    found = likely_encodings(lines)
    assert found.likely[0] == "cp1252"
    assert "latin-1" not in found.same
    assert "latin-1" in likely_encodings(["Schön".encode("latin-1")]).same


def test_noise_is_no_encoding() -> None:
    assert likely_encodings([bytes(range(128, 256)), b"\x81\x8d\x8f\x90\x9d\xff\xfe"]).likely == ()


@pytest.mark.parametrize("name", ["utf-8", "cp1252", "Latin-1", "koi8-r", "gb18030", "shift_jis", "euc-kr", "utf-16"])
def test_encodings_of_text_are_taken(name: str) -> None:
    assert encoding_problem(name) is None


@pytest.mark.parametrize("name", ["", "latin-17", "base64", "rot13", "idna", "punycode", "unicode_escape", "a\0b"])
def test_what_is_none_is_refused(name: str) -> None:
    assert "is no encoding of text; take one such as" in str(encoding_problem(name))


def test_wide_is_what_has_other_line_ends() -> None:
    assert [is_wide(name) for name in ("utf-16", "utf-32-be", "cp037")] == [True] * 3
    assert [is_wide(name) for name in ("utf-8", "cp1252", "shift_jis", "gb18030", "utf-8-sig")] == [False] * 5
    assert is_utf8("UTF8")
    assert not is_utf8("utf-8-sig")
