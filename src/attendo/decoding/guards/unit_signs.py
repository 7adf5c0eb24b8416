"""Signs of currencies and degrees beside a number: *10 $ pro Person* must not become *10 per person*."""

import re
from dataclasses import dataclass

_SIGN = re.compile(r"([$€£¥])\s?\d|\d\s?([$€£¥]|°\s?[CF](?!\w)|°)")
_SHOWN = {
    "$": re.compile(r"\$|dollar|\bUSD\b|\bbucks?\b", re.IGNORECASE),
    "€": re.compile(r"€|euro|\bEUR\b", re.IGNORECASE),
    "£": re.compile(r"£|pound|pfund|livre|\bGBP\b", re.IGNORECASE),
    "¥": re.compile(r"¥|yen|yuan|\bJPY\b|\bCNY\b", re.IGNORECASE),
    "°": re.compile(r"°|º|degree|grad|degré|celsius|fahrenheit", re.IGNORECASE),
}
_WORDS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {"$": ("dollars", "dollar"), "€": ("euros", "euro"), "£": ("pounds",), "¥": ("yen",), "°": ("degrees",)},
    "de": {"$": ("Dollar",), "€": ("Euro",), "£": ("Pfund",), "¥": ("Yen",), "°": ("Grad",)},
    "fr": {"$": ("dollars", "dollar"), "€": ("euros", "euro"), "£": ("livres",), "¥": ("yens",), "°": ("degrés",)},
}


@dataclass(frozen=True, slots=True)
class UnitSign:
    """A sign beside a number of a text."""

    text: str
    """The sign; °, °C or °F for degrees."""

    def forms(self, language: str) -> tuple[str, ...]:
        """What a search may write for it in a language."""
        return (self.text, *_WORDS.get(language, {}).get(self.text[0], ()))


def lost_signs(source: str, target: str) -> list[UnitSign]:
    """Finds the signs of currencies and degrees beside numbers that a translation shows neither once nor as a word.

    Args:
        source: the text.
        target: its translation, into any language.
    """
    signs = dict.fromkeys((found[1] or found[2]).replace(" ", "") for found in _SIGN.finditer(source))
    return [UnitSign(sign) for sign in signs if not _SHOWN[sign[0]].search(target)]
