"""Characters that settings cannot have."""

import unicodedata


def has_control_characters(text: str) -> bool:
    """Whether a text is invalid as a name: NUL would end it, a line end break its lines, a lone surrogate both."""
    return any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can represent a text: arguments in another encoding are read as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
