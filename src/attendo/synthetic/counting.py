"""Numbers, weekdays and months."""

from attendo.synthetic.words import Phrase, phrases

WEEKDAYS = phrases("""
    Montag = Monday
    Dienstag = Tuesday
    Mittwoch = Wednesday
    Donnerstag = Thursday
    Freitag = Friday
    Samstag = Saturday
    Sonntag = Sunday
""")

_NUMBERS_EN = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]

_NUMBERS_DE = ["eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"]

NUMBERS = tuple(Phrase(en=en, de=de) for en, de in zip(_NUMBERS_EN, _NUMBERS_DE, strict=True))
"""One to twelve."""

TENS = phrases("""
    fünfzehn = fifteen
    zwanzig = twenty
    dreißig = thirty
    vierzig = forty
    fünfzig = fifty
    sechzig = sixty
    siebzig = seventy
    achtzig = eighty
    neunzig = ninety
""")

MONTHS = phrases("""
    Januar = January
    Februar = February
    März = March
    April = April
    Mai = May
    Juni = June
    Juli = July
    August = August
    September = September
    Oktober = October
    November = November
    Dezember = December
""")
