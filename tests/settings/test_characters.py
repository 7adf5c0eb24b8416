from attendo.settings.characters import has_control_characters, is_unicode


def test_what_is_no_text_and_no_name() -> None:
    assert not is_unicode("\udcff")
    assert is_unicode("\u202e\n\0")
    for text in ("a\0", "a\nb", "\x85", "\u2028", "\x7f", "\udc80"):
        assert has_control_characters(text)
    assert not has_control_characters("Ärger 你好 👩‍🚀 a\u00a0b")
