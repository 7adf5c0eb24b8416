"""Times of day in both languages."""

from collections.abc import Sequence

from attendo.synthetic import counting
from attendo.synthetic.choices import Chooser
from attendo.synthetic.words import Phrase, phrases

_MINUTES = phrases("""
    fünf = five
    zehn = ten
    zwanzig = twenty
""")


def clock(choose: Chooser, *, hours: Sequence[int] = tuple(range(1, 13)), content: bool = False) -> Phrase:
    """Draws a time of day; German counts half hours towards the next hour: half past seven is halb acht.

    Args:
        choose: draws the choices of the sentence.
        hours: the hours to draw from, 1 to 12.
        content: whether the hour is a content word.
    """
    options = tuple(counting.NUMBERS[hour - 1] for hour in hours)
    hour = choose.word(options) if content else choose.form(options)
    after = counting.NUMBERS[(counting.NUMBERS.index(hour) + 1) % 12]
    kind = choose.form(("full", "full", "half", "quarter past", "quarter to", "past", "to"))
    if kind == "full":
        return Phrase(f"{hour.en} o'clock", f"{'ein' if hour.de == 'eins' else hour.de} Uhr")
    if kind == "half":
        return Phrase(f"half past {hour.en}", f"halb {after.de}")
    if kind == "quarter past":
        return Phrase(f"quarter past {hour.en}", f"Viertel nach {hour.de}")
    if kind == "quarter to":
        return Phrase(f"quarter to {hour.en}", f"Viertel vor {hour.de}")
    minutes = choose.form(_MINUTES)
    return Phrase(f"{minutes.en} {kind} {hour.en}", f"{minutes.de} {'nach' if kind == 'past' else 'vor'} {hour.de}")
