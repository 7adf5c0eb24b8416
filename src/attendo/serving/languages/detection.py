"""Detects the language of a text, whether served or not, with the bundled model of py3langid.

A single word, especially a short one, reveals little about its language, so for short texts in a few languages there
are lists of the commonest words.
"""

import math
import re
import threading
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from attendo.serving.errors import ServingError
from attendo.serving.languages.names import is_language, name_of, outward
from attendo.serving.languages.unserved import LEAST_WORDS, unserved_by_script, unserved_by_statistics, words_to_judge

_MAX_CHARACTERS = 4_000
"""Number of characters of a text that are examined; more do not change the result."""
_SURE = 0.99
"""The confidence of a language that is not served, at most."""
_SHORT_WORDS = 3
_ODDS = 12.0
"""Factor by which a common word that only one served language has makes that language more probable."""
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
class LanguageGuess:
    """A language that a text may be in."""

    language: str
    """The ISO 639-1 code."""
    confidence: float
    """A number between 0 and 1; those of all given languages sum to 1, or are 0 for a text without letters."""
    served: bool = True
    """Whether a model here translates from it."""


class Detector:
    """Detects which served language a text is in, or whether it is in another one. Threads may share a detector.

    Args:
        languages: ISO 639-1 codes of the served languages, in the order in which equally likely ones are returned.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = tuple(dict.fromkeys(languages))
        self._lock = threading.Lock()

    def detect(self, text: str) -> list[LanguageGuess]:
        """The languages that a text may be in, the likeliest first: all served languages.

        If the text is clearly in a language that is not served, that language comes first.

        The first call reads the library's model, which takes about a second.
        """
        text = text[:_MAX_CHARACTERS]
        words = _WORD.findall(text)
        if not words:
            return [LanguageGuess(language=language, confidence=0.0) for language in self.languages]
        unserved = self.unserved(text)
        known = self._probabilities(text)
        if len(words) <= _SHORT_WORDS:
            self._weigh_common_words(known, words)
        left = (1.0 - (unserved.confidence if unserved else 0.0)) / (sum(known.values()) or 1.0)
        served = [LanguageGuess(language=language, confidence=known[language] * left) for language in self.languages]
        served.sort(key=lambda detected: -detected.confidence)
        return served if unserved is None else [unserved, *served]

    def unserved(self, text: str) -> LanguageGuess | None:
        """The language that a text is plainly in though it is not served; None for any other text."""
        # A served language without known properties may have any text.
        if not self.languages or not all(map(is_language, self.languages)):
            return None
        text = text[:_MAX_CHARACTERS]
        if by_script := unserved_by_script(text, self.languages):
            shares = _log_shares(text)
            likeliest = max(by_script, key=lambda code: shares.get(code, -math.inf))
            return LanguageGuess(language=likeliest, confidence=_SURE, served=False)
        words = words_to_judge(text)
        if len(words) < LEAST_WORDS:
            return None
        judged = " ".join(words)
        likeliest, _ = _whole_identifier().classify(judged)
        if likeliest in self.languages:  # most texts: the shares of all languages cost several times as much
            return None
        found = unserved_by_statistics(_log_shares(judged), self.languages)
        return found and LanguageGuess(language=found[0], confidence=min(found[1], _SURE), served=False)

    def served_language(self, text: str) -> str:
        """The likeliest language of a text.

        Raises:
            ServingError: the text is in one that is not served.
        """
        found = self.detect(text)[0]
        if not found.served:
            raise unserved_text(found.language)
        return found.language

    def notes(self, text: str, target: str, source: str = "") -> tuple[str, ...]:
        """Reports texts that are clearly in a language that is not served.

        Args:
            text: a text of any length.
            target: the code of the target language, in which the text may already be.
            source: the code of the language declared by other texts or the caller; may be empty.
        """
        found = self.unserved(text)
        code = found.language if found else source
        return () if not code or code in (target, *self.languages) else (_problem(code),)

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


def unserved_text(language: str) -> ServingError:
    """The error for a text of undeclared language that is in a language not served: 400."""
    return ServingError(
        400, "unserved-language", f"{_problem(language)}; name the source language if it is another one"
    )


def _problem(language: str) -> str:
    """Describes the problem of a text in a language that is not served, given its code."""
    return f"the text seems to be in {name_of(language)} ({outward(language)}), which is not served here"


def _log_shares(text: str) -> dict[str, float]:
    """Returns the log-probability of each language of the library for a text, in nats."""
    # The library divides by the root of the length before it makes probabilities.
    scale = math.sqrt(len(text.encode("utf-8", errors="replace")) or 1)
    return {code: scale * math.log(max(share, 1e-38)) for code, share in _whole_identifier().rank(text)}


@cache
def _whole_identifier() -> LanguageIdentifier:
    """The library's identifier; its file never changes, and takes a second to unpack."""
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


_COMMON_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
