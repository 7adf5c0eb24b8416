"""Languages as other programs name them: English names, codes with a country, DeepL's capitals."""

from collections.abc import Sequence

from attendo.serving.translating import Pair

_NAMES = (
    "af Afrikaans,am Amharic,ar Arabic,az Azerbaijani,be Belarusian,bg Bulgarian,bn Bengali,br Breton,bs Bosnian,"
    "ca Catalan,cs Czech,cy Welsh,da Danish,de German,el Greek,en English,eo Esperanto,es Spanish,et Estonian,"
    "eu Basque,fa Persian,fi Finnish,fo Faroese,fr French,fy Western Frisian,ga Irish,gd Scottish Gaelic,"
    "gl Galician,gu Gujarati,ha Hausa,he Hebrew,hi Hindi,hr Croatian,hu Hungarian,hy Armenian,id Indonesian,"
    "ig Igbo,is Icelandic,it Italian,ja Japanese,jv Javanese,ka Georgian,kk Kazakh,km Khmer,kn Kannada,ko Korean,"
    "ku Kurdish,ky Kyrgyz,la Latin,lb Luxembourgish,lo Lao,lt Lithuanian,lv Latvian,mg Malagasy,mi Maori,"
    "mk Macedonian,ml Malayalam,mn Mongolian,mr Marathi,ms Malay,mt Maltese,my Burmese,nb Norwegian Bokmål,"
    "ne Nepali,nl Dutch,nn Norwegian Nynorsk,no Norwegian,oc Occitan,or Odia,pa Punjabi,pb Portuguese (Brazil),"
    "pl Polish,ps Pashto,pt Portuguese,ro Romanian,ru Russian,rw Kinyarwanda,si Sinhala,sk Slovak,sl Slovenian,"
    "so Somali,sq Albanian,sr Serbian,st Southern Sotho,su Sundanese,sv Swedish,sw Swahili,ta Tamil,te Telugu,"
    "tg Tajik,th Thai,tk Turkmen,tl Tagalog,tr Turkish,tt Tatar,ug Uyghur,uk Ukrainian,ur Urdu,uz Uzbek,"
    "vi Vietnamese,xh Xhosa,yi Yiddish,yo Yoruba,zh Chinese,zt Chinese (traditional),zu Zulu"
)
_NAME_OF = dict(entry.split(" ", 1) for entry in _NAMES.split(","))
_OUTWARD = {"pb": "pt-BR", "zh": "zh-Hans", "zt": "zh-Hant"}
"""LibreTranslate's names for some of its codes."""
_INWARD = {outward.lower(): code for code, outward in _OUTWARD.items()} | {"zh-cn": "zh", "zh-tw": "zt", "zh-hk": "zt"}
_VARIANTS = {"EN": (("EN-GB", "English (British)"), ("EN-US", "English (American)"))}
_PORTUGUESE = (("PT-PT", "Portuguese (European)"), ("PT-BR", "Portuguese (Brazilian)"))


def name_of(code: str) -> str:
    """Returns a language's English name, or the code if it is unknown."""
    return _NAME_OF.get(code, code)


def is_language(code: str) -> bool:
    """Whether a code is that of a language with a name in this module."""
    return code in _NAME_OF


def sources(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """The languages that can be translated from, in the order in which the models were named."""
    return tuple(dict.fromkeys(pair.source for pair in pairs))


def targets(pairs: Sequence[Pair], source: str | None = None) -> tuple[str, ...]:
    """The possible target languages, for one source language or for any."""
    return tuple(dict.fromkeys(pair.target for pair in pairs if source in (None, pair.source)))


def served_code(written: str, served: Sequence[str]) -> str | None:
    """The served language for a code as programs write them: `en`, `EN`, `en-US`, `en_US`, `pt-BR`.

    Args:
        written: the code.
        served: the codes of the models' `config.json`.

    Returns:
        One of `served`, or None.
    """
    code = written.strip().lower().replace("_", "-")
    by_lower = {each.lower(): each for each in served}
    base = code.split("-")[0]
    for candidate in (
        code,
        _INWARD.get(code, ""),
        base,
        {"pb": "pt", "pt": "pb", "zt": "zh", "zh": "zt"}.get(base, ""),
    ):
        if candidate in by_lower:
            return by_lower[candidate]
    return None


def outward(code: str) -> str:
    """A code as LibreTranslate tells it."""
    return _OUTWARD.get(code, code)


def deepl_code(code: str) -> str:
    """A code as DeepL tells a source language: in capitals, without a country."""
    return {"pb": "PT", "zt": "ZH"}.get(code, code.split("-")[0].upper())


def deepl_targets(code: str) -> tuple[tuple[str, str], ...]:
    """A served target as DeepL lists it, code and name: some with countries, since its client requires one."""
    capitals = code.upper()
    if capitals == "PT":
        return _PORTUGUESE
    if capitals == "PB":
        return (_PORTUGUESE[1],)
    return _VARIANTS.get(capitals, ((deepl_code(code), name_of(code)),))
