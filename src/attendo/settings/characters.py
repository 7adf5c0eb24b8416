"""Characters that settings cannot have."""

import unicodedata


def has_control_characters(text: str) -> bool:
    """Whether it is no name: NUL would end it, a line end break the lines it stands in, half a character spoil both."""
    return any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can write it: what a command line has in another encoding is read as halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
