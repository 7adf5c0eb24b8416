"""Whether a form of a noun can have the number, singular or plural, that the noun has in the source."""

_SINGULAR_ENDINGS = {"de": ("", "s", "es", "ns", "ses"), "en": ("",), "fr": ("",)}
"""Endings of singular forms after the dictionary's form."""
_PLURAL_AS_IT_IS = {
    "de": ("er", "el", "en", "chen", "lein"),
    "en": ("s",),
    "fr": ("s", "x", "z"),
}
"""Endings of words whose plural may equal their singular."""
_ONLY_SINGULAR = {"de": ("es", "ns", "ses"), "en": (), "fr": ()}


def fits_number(target: str, form: str, language: str, *, is_plural: bool) -> bool:
    """Whether a form of a target can have a grammatical number; True if nothing is known.

    Args:
        target: the dictionary's form, which is a singular.
        form: one of the target's forms.
        language: the ISO 639-1 code of the target language.
        is_plural: whether the number is plural.
    """
    lemma, word = target.split()[-1:], form.split()[-1:]
    if language not in _SINGULAR_ENDINGS or not lemma or not word:
        return True
    if language == "de" and not lemma[0][:1].isupper():  # a verb or an adjective
        return True
    ending = word[0].removeprefix(lemma[0]) if word[0].startswith(lemma[0]) else None
    if not is_plural:
        return ending in _SINGULAR_ENDINGS[language]
    if ending == "":
        return lemma[0].endswith(_PLURAL_AS_IT_IS[language])
    return ending not in _ONLY_SINGULAR[language]
