"""Which of the served languages a text is in: py3langid's model, which it carries along, limited to those.

One word says little about its language, least of all a small one, so of short texts the commonest words are known by
heart where the language is one of a few.
"""

import math
import re
import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property

from py3langid.langid import MODEL_FILE, LanguageIdentifier

_MAX_CHARACTERS = 4_000
"""Of a text that are looked at; more change nothing."""
_SHORT_WORDS = 3
_ODDS = 12.0
"""How much likelier a language is made by a common word that no other served language has."""
_COMMON = {
    "en": (
        "a about all am an and any are aren't at back because been but by can come could day did didn't do does "
        "don't for from get give go good got great had happy has have he hello help her here hey him his home how if "
        "into is isn't it its it's i'm just know left let like look lot love make many may me more much my need new "
        "no nothing now of off on one only open or other our out over people please really right said same saw say "
        "see she should so some sorry sure take tell than thank thanks that the their them then there these they "
        "thing things think this those time to today tomorrow too two up us use very want was way we well went were "
        "what when where which who why with won't word work world would yes yesterday you your"
    ),
    "de": (
        "aber alle alles als am an auch auf aus bei bin bis bist bitte da danke das dass dein dem den der des dich "
        "die dies diese dieser dieses dir doch du durch ein eine einem einen einer er es etwas euch für ganz gar "
        "geben gehen gern gestern gut guten haben habe hallo hast hat hatte heute hier hilfe ich ihm ihn ihnen ihr "
        "ihre im immer in ins ist ja jetzt kann kannst kein keine können könnte leid mehr mein meine mich mir mit "
        "morgen muss müssen nach nein nicht nichts noch nur ob oder ohne schon sehr sein seine sich sie sind so tag "
        "über um und uns unser viel viele vom von vor waren warum was weg wenn wer werden wie wieder will wir wird "
        "wo wollen würde zu zum zur zwei"
    ),
    "fr": (
        "à ai aussi au aujourd'hui aux avec avez avoir beaucoup bien bonjour bon c'est ce cela ces cette chez comme "
        "comment dans de demain des deux du elle elles en est et était être eux fait faire hier ici il ils j'ai je "
        "jour la le les leur lui ma mais me merci mes moi mon monde ne non nos notre nous on ont où oui par pas peu "
        "peut plus pour pourquoi qu'il quand que quel qui quoi rien sa salut sans se ses si son sont suis sur ta te "
        "toi ton tous tout très trop tu un une va vais veux vous"
    ),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, kw_only=True)
class Detected:
    """A language that a text may be in."""

    language: str
    """Its ISO 639-1 code."""
    confidence: float
    """Between 0 and 1; those of all served languages sum to 1, or are 0 for a text without a letter."""


class Detector:
    """Tells served languages apart. Threads may share one.

    Args:
        languages: ISO 639-1 codes, in the order in which equally likely ones are given.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = tuple(dict.fromkeys(languages))
        self._lock = threading.Lock()

    def detect(self, text: str) -> list[Detected]:
        """The languages a text may be in, the likeliest first: all that are served, once each.

        The first call reads the library's model, which takes about a second.
        """
        words = _WORD.findall(text[:_MAX_CHARACTERS])
        if not words:
            return [Detected(language=language, confidence=0.0) for language in self.languages]
        if len(self.languages) == 1:
            return [Detected(language=self.languages[0], confidence=1.0)]
        known = self._probabilities(text[:_MAX_CHARACTERS])
        if len(words) <= _SHORT_WORDS:
            self._weigh_common_words(known, words)
        total = sum(known.values()) or 1.0
        found = [Detected(language=language, confidence=known[language] / total) for language in self.languages]
        return sorted(found, key=lambda each: -each.confidence)

    def _probabilities(self, text: str) -> dict[str, float]:
        found = dict.fromkeys(self.languages, 0.0)
        if self._identifier is not None:
            found.update((language, max(share, 1e-9)) for language, share in self._identifier.rank(text))
        return found if any(found.values()) else dict.fromkeys(self.languages, 1 / len(self.languages))

    def _weigh_common_words(self, known: dict[str, float], words: Sequence[str]) -> None:
        for word in words:
            small = word.casefold().replace("’", "'")
            having = [language for language in self.languages if small in _COMMON_WORDS.get(language, ())]
            if len(having) == 1 and math.isfinite(known[having[0]]):
                known[having[0]] *= _ODDS

    @cached_property
    def _identifier(self) -> LanguageIdentifier | None:
        """The library's, limited to the served languages; None if it knows none of them."""
        with self._lock:
            identifier = copy(_whole_identifier())
            known = [language for language in self.languages if language in identifier.labels]
            if not known:
                return None
            identifier.set_languages(known)
            return identifier


@cache
def _whole_identifier() -> LanguageIdentifier:
    """The library's with all its languages. Its file never changes, and takes a second to unpack."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


_COMMON_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
