"""Writes out what people abbreviate in messages: *dont*, *pls*, *see u tmrw*, *2 hrs*.

Models learn from sentences as they are printed, and take such words for others that look alike: *i dont know* lost its
negation. Only words that are hardly anything else in running text are written out, and none of a program's: a word
beside a full stop, an underscore, a bracket or the like stays as it is.
"""

import re
from collections.abc import Mapping

from attendo.text.patterns import compiled

_BEFORE, _BEHIND = r"(?<![\w'’.,@#$%&/\\=<>_~*+:-])", r"(?![\w'’@#$%&/\\=<>(\[_~*+-]|[.,:]\w)"

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        **{f"{verb}nt": f"{verb}n't" for verb in (
            "ai", "are", "ca", "could", "did", "do", "does", "had", "has", "have", "is", "must", "should", "was",
            "were", "wo", "would",
        )},
        "im": "I'm", "ive": "I've", "youre": "you're", "youve": "you've", "youll": "you'll", "theyre": "they're",
        "theyve": "they've", "theyll": "they'll", "weve": "we've", "thats": "that's", "whats": "what's",
        "wheres": "where's", "theres": "there's", "hows": "how's", "whos": "who's", "itll": "it'll",
        "shouldve": "should've", "couldve": "could've", "wouldve": "would've",
        "pls": "please", "plz": "please", "thx": "thanks", "thnx": "thanks", "tysm": "thank you so much",
        "btw": "by the way", "idk": "I don't know", "idc": "I don't care", "omg": "oh my God", "imo": "in my opinion",
        "imho": "in my opinion", "afaik": "as far as I know", "tbh": "to be honest", "asap": "as soon as possible",
        "nvm": "never mind", "brb": "I'll be right back", "ttyl": "talk to you later", "gtg": "I have to go",
        "gonna": "going to", "wanna": "want to", "lemme": "let me", "gimme": "give me", "kinda": "kind of",
        "dunno": "don't know", "cuz": "because", "sry": "sorry", "ppl": "people", "bday": "birthday",
        "tmrw": "tomorrow", "tmr": "tomorrow", "2morrow": "tomorrow", "tonite": "tonight", "2nite": "tonight",
        "gr8": "great", "cya": "see you",
    },
    "de": {
        "vllt": "vielleicht", "vlt": "vielleicht", "iwie": "irgendwie", "iwas": "irgendwas", "iwo": "irgendwo",
        "iwann": "irgendwann", "jmd": "jemand", "nich": "nicht", "gehts": "geht es", "gibts": "gibt es",
        "bissl": "bisschen", "mfg": "mit freundlichen Grüßen",
    },
    "fr": {
        "slt": "salut", "bjr": "bonjour", "bsr": "bonsoir", "stp": "s'il te plaît", "svp": "s'il vous plaît",
        "pcq": "parce que", "psk": "parce que", "jsp": "je ne sais pas", "tkt": "ne t'inquiète pas",
        "qqn": "quelqu'un", "qqch": "quelque chose", "tjs": "toujours", "tjrs": "toujours", "bcp": "beaucoup",
        "rdv": "rendez-vous", "auj": "aujourd'hui", "aujourdhui": "aujourd'hui", "jai": "j'ai", "cest": "c'est",
        "daccord": "d'accord",
    },
}  # fmt: skip
_WHOLE: Mapping[str, Mapping[str, str]] = {
    "en": {"np": "no problem", "ty": "thank you", "yw": "you're welcome", "jk": "just kidding"},
    "de": {"kp": "keine Ahnung", "kA": "keine Ahnung"},
    "fr": {"dsl": "désolé", "pk": "pourquoi", "pq": "pourquoi"},
}
"""Words that stand for something only where they are alone."""
_PHRASES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"gotta", "have to"),
        (r"r u", "are you"),
        (r"u r", "you are"),
        (r"(they|we) r", r"\1 are"),
        (r"(how|who|why|what|where) r (my|the|they|we|you|your|ur)", r"\1 are \2"),
        (r"ur (right|wrong|welcome|so|not|going|kidding|late|too|very|really|always)", r"you're \1"),
        (r"ur ([a-z]{2,})", r"your \1"),
        (r"u (are|can|can't|could|did|do|don't|guys|have|know|like|mean|need|said|see|should|there|think|too|want|were|"
         r"will|would)", r"you \1"),
        (r"(and|are|can|could|did|do|does|for|how|if|love|miss|see|tell|text|thank|thanks|to|will|with|would) u"
         r"(?! in )", r"\1 you"),
    ),
    "de": ((r"([Dd]as|[Ww]ie) wars", r"\1 war es"),),
}  # fmt: skip
"""Patterns of words, and what they stand for."""
_LETTERS = re.compile(r"[^\W\d_]+")
_ALONE = re.compile(r"(\w+)([.!?… ]*)")
_WORD = rf"{_BEFORE}[^\W_]+{_BEHIND}"
_HAVE_GOTTA = rf"(?<=ve|as) gotta{_BEHIND}"
"""After 've, have and has."""
_UNIT = rf"(?<![\w.,:/%-])(\d{{1,4}}(?:\.\d{{1,2}})? ?)(hrs?|mins|secs|yrs?){_BEHIND}"
_UNITS = {"hr": "hour", "hrs": "hour", "mins": "minute", "secs": "second", "yr": "year", "yrs": "year"}
_IN_PHRASES = ("gotta", "r", "u", "ur", "wars")
_TELLING = {
    language: frozenset(_LETTERS.findall(" ".join((*words, *_WHOLE[language], *_IN_PHRASES, *_UNITS)).lower()))
    for language, words in _WORDS.items()
}
"""Words, or parts of them without digits, of which a text has one if there is anything to write out."""
_LAUGH = r"(?i:lol|lmao|rofl|(?:ha){2,9}|(?:he){2,9})"
_LAUGH_FIRST, _LAUGH_LAST = rf"{_LAUGH}[!.,…]*\s+(?=\S)", rf"(?<=\S)\s+{_LAUGH}[!.…]*$"
_LAUGH_ALONE = rf"\s*{_LAUGH}[!.…]*\s*"
_LONGEST_LAUGH = 30


def written_out(text: str, language: str) -> str:
    """A text with its abbreviations of messages written out.

    Args:
        text: a line or a sentence in small letters, but for those that are capitals by the rules of spelling.
        language: its language, as an ISO 639-1 code; texts of others than English, German and French stay as they are.
    """
    words = _WORDS.get(language)
    if words is None or _TELLING[language].isdisjoint(_LETTERS.findall(text.lower())):
        return text
    alone = _ALONE.fullmatch(text)
    if alone and (whole := _full(alone[1], _WHOLE[language])):
        return whole + alone[2]
    if language == "en":
        text = compiled(_UNIT).sub(lambda found: found[1] + _unit(found[1], found[2]), text)
        text = compiled(_HAVE_GOTTA).sub(" got to", text)
    for pattern, replacement in _PHRASES.get(language, ()):
        text = compiled(f"{_BEFORE}{pattern}{_BEHIND}").sub(replacement, text)
    return compiled(_WORD).sub(lambda found: _full(found[0], words) or found[0], text)


def laughs_at_ends(text: str) -> tuple[str, str, str]:
    """Splits off a laugh at either end of a text, *lol* or *haha*, with the white space beside it.

    Returns:
        The laugh before, the text, the laugh after; joined they are the given text. A text that is a laugh comes first.
    """
    if compiled(_LAUGH_ALONE).fullmatch(text):
        return text, "", ""
    laugh = compiled(_LAUGH_FIRST).match(text)
    first = laugh.end() if laugh else 0
    laugh = compiled(_LAUGH_LAST).search(text, max(first, len(text) - _LONGEST_LAUGH))
    last = laugh.start() if laugh else len(text)
    return text[:first], text[first:last], text[last:]


def _full(word: str, words: Mapping[str, str]) -> str | None:
    """What a word stands for, which may have a capital at its beginning; None for other words."""
    found = words.get(word)
    if found is None and word[1:].islower():
        found = words.get(word[:1].lower() + word[1:])
        return found and found[:1].upper() + found[1:]
    return found


def _unit(number: str, unit: str) -> str:
    return _UNITS[unit] + ("" if number.strip() == "1" else "s")
