"""Recognises the language of a text by words that occur in nearly every sentence of it."""

import re
from collections import Counter

_LEAST_WORDS = 3
"""Common words of a language that a text has at least before it evidently is in that language."""
_TIMES = 2
"""How many times as frequent the words of a language must be as those of any other."""
_WORD = re.compile(r"[^\W\d_]+")

_COMMON_WORDS = {
    "de": """der die das und ist nicht ein eine einen einem einer eines mit für auf dem den des zu von sich auch oder
        wird werden sind sie ich wir ihr kann können wenn wie bei durch aus nach zum zur diese dieser dieses haben hat
        im in als nur noch über es er was du je man so war wäre mir dir uns ihm ihn sein aber doch wo wer hier da um ob
        dass hatte will alles habe mich dich an""",
    "en": """the a an and of to in is are that this these with for you it not from be been or by at as on have has
        which can when if your will would should there their what how was were we they he she must using any do no
        me""",
    "es": """el la los las de que y en un una es por con para no se del al a lo como más pero sus su este esta está son
        puede cuando si hay fue ser me""",
    "fr": """le la les des de du est et un une pour dans que qui vous pas sur avec par ce cette ces ne je il elle nous
        au aux a on sont être ou plus peut votre vos si lorsque ont été à me""",
    "it": """il lo la gli le di che è e un una per con non si del della dei delle nel nella in a sono come più questo
        questa da ha anche se al alla essere può""",
    "nl": """de het een van en niet dat is in op te met voor zijn er aan die ook als door bij of naar kan worden wordt
        deze dit om uit maar heeft u je was we hij ze""",
    "pt": """o a os as de que e em um uma é por com para não se do da dos das no na como mais mas este esta são pode
        quando ser foi ou você me""",
}
_LANGUAGES = {
    word: [language for language, words in _COMMON_WORDS.items() if word in words.split()]
    for words in _COMMON_WORDS.values()
    for word in words.split()
}
"""Languages of each common word."""


def evident_language(text: str) -> str | None:
    """Returns the code of a text's evident language, or None if it is too short or unclear.

    Only German, English, Spanish, French, Italian, Dutch and Portuguese are known.
    """
    words = _WORD.findall(text.lower())
    counts = Counter(language for word in words for language in _LANGUAGES.get(word, ())).most_common(2)
    if not counts:
        return None
    (language, most), second = counts[0], counts[1][1] if len(counts) > 1 else 0
    return language if most >= max(_LEAST_WORDS, _TIMES * second) else None
