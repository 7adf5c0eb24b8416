"""Detects translations so short or long that a clause may be missing or invented."""

SHORTEST_SOURCE = 40
"""Minimum number of characters of a source for its length to be informative."""
_TOO_SHORT, _TOO_LONG = 0.55, 2.0
"""Times the usual length. Only 0 to 3 of 1,000 human translations between English and German or French are outside."""
_FEW_LETTERS = 5
_USUAL = {("en", "de"): 1.15, ("de", "en"): 0.86, ("en", "fr"): 1.16, ("fr", "en"): 0.86}
"""Times that a translation has its source's characters, the median of documentation, interfaces, chats and news."""


def relative_length(source: str, target: str, languages: tuple[str, str]) -> float | None:
    """Returns how many times the usual length of its source's translations a translation has.

    Args:
        source: the text.
        target: its translation.
        languages: both languages as ISO 639-1 codes.

    Returns:
        None for languages whose usual ratio is not known.
    """
    usual = _USUAL.get(languages)
    return None if usual is None else (len(target) + _FEW_LETTERS) / (len(source) + _FEW_LETTERS) / usual


def length_problem(source: str, target: str, languages: tuple[str, str]) -> str | None:
    """Describes a problem of a translation's length; None if the length is usual or nothing is known about it.

    Args:
        source: the text.
        target: its translation.
        languages: both languages as ISO 639-1 codes.
    """
    ratio = relative_length(source, target, languages)
    if ratio is None or len(source) < SHORTEST_SOURCE:
        return None
    if ratio < _TOO_SHORT:
        return f"the translation has {ratio:.0%} of the usual length; something may have been left out"
    if ratio > _TOO_LONG:
        return f"the translation has {ratio:.0%} of the usual length; something may have been added"
    return None
