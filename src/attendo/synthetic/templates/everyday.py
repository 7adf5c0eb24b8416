"""Templates about everyday actions: statements, questions, negations, requests, in every tense.

Each template draws its words from a `Chooser` and returns the pair; its docstring gives an example.
"""

from collections.abc import Sequence
from dataclasses import replace

from attendo.synthetic import clauses, counting, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import (
    HE,
    SHE,
    THEY,
    WE,
    YOU,
    YOU_FRIEND,
    YOU_FRIENDS,
    Clause,
    I,
    NounPhrase,
    Predicate,
    Subject,
    Tense,
    in_english,
    in_german,
    sentence,
)
from attendo.synthetic.predicates import HIS, MY, OUR, draw_predicate
from attendo.synthetic.words import Phrase, phrases

GERADE = Phrase("right now", "gerade")
TODAY = phrases("""
    heute = today
    heute Abend = this evening
    heute Nachmittag = this afternoon
    morgen = tomorrow
    morgen Abend = tomorrow evening
""")
ARRANGED = TODAY + phrases("""
    übermorgen = the day after tomorrow
    nächste Woche = next week
    am Wochenende = at the weekend
    am Samstag = on Saturday
""")
COMING = ARRANGED + phrases("""
    nächsten Monat = next month
    in zwei Tagen = in two days
    bald = soon
""")
RECENT = phrases("""
    gestern = yesterday
    gestern Abend = yesterday evening
    vor einer Stunde = an hour ago
    heute Morgen = this morning
""")
PAST = RECENT + phrases("""
    vorgestern = the day before yesterday
    letzte Woche = last week
    letzten Monat = last month
    vor zwei Tagen = two days ago
    am Montag = on Monday
""")
REGULAR = phrases("""
    jeden Tag = every day
    jeden Morgen = every morning
    jeden Abend = every evening
    jede Woche = every week
    im Sommer = in summer
    im Winter = in winter
""") + tuple(Phrase(f"on {day.en}s", f"{day.de.lower()}s") for day in counting.WEEKDAYS)
_DISTANT = frozenset(COMING[5:-1] + PAST[4:] + REGULAR[3:6])
"""Times too distant for brief actions, such as those with a coffee, a door or a lamp."""
HOW_OFTEN = phrases("""
    oft = often
    immer = always
    manchmal = sometimes
    nie = never
    selten = rarely
""")
_WHY_WHEN = phrases("""
    warum = why
    wann = when
""")
_WISHES: tuple[Tense, ...] = ("want", "want", "would", "would", "must", "must", "can", "should")


_ADULTS = tuple(noun for noun in lexicon.RELATIVES if noun.en != "child")


def both(english_text: str, german_text: str, mark: str = ".") -> Phrase:
    """Returns the pair as two sentences with the same closing mark."""
    return Phrase(sentence(english_text, mark), sentence(german_text, mark))


def statement(clause: Clause, *, fronted: bool = False) -> Phrase:
    """Returns the clause as a statement in both languages, with or without its time in front."""
    order: clauses.Order = "fronted" if fronted else "statement"
    return both(in_english(clause, order), in_german(clause, order))


def _question(clause: Clause) -> Phrase:
    return both(in_english(clause, "question"), in_german(clause, "question"), "?")


def somebody(choose: Chooser) -> Subject:
    """Draws a person by kinship or name; her and their are left out because both are ihr."""
    if choose.chance(0.4):
        woman = choose.chance(0.5)
        return clauses.name_subject(choose.form(lexicon.WOMEN if woman else lexicon.MEN), woman=woman)
    noun = choose.form(_ADULTS)
    return NounPhrase(noun=noun, determiner=choose.form((MY, MY, OUR, HIS))).as_subject()


def first_subject(choose: Chooser) -> Subject:
    """Draws a subject for the start of a sentence, where "Sie" could be both you and they: neither is drawn."""
    return choose.form((I, I, WE, HE, SHE)) if choose.chance(0.6) else somebody(choose)


def inner_subject(choose: Chooser) -> Subject:
    """Draws a subject for the inside of a sentence."""
    return choose.form((I, I, WE, HE, SHE, THEY, YOU)) if choose.chance(0.75) else somebody(choose)


def _asked(choose: Chooser) -> Subject:
    """Draws a subject for a question: mostly you."""
    return YOU if choose.chance(0.6) else choose.form((HE, SHE, THEY, somebody(choose)))


def _when(choose: Chooser, times: Sequence[Phrase], predicate: Predicate) -> Phrase:
    """Draws a time that suits the predicate; no time if there is none to choose from."""
    near = [time for time in times if not (predicate.brief and time in _DISTANT)]
    return choose.form(near) if near else clauses.NO_TIME


def drawn(
    choose: Chooser,
    subject: Subject,
    use: str,
    tense: Tense,
    times: Sequence[Phrase] = (),
    *,
    negated: bool = False,
    definite: bool = False,
) -> Clause:
    """Draws a clause with a predicate and a time that suits it.

    Args:
        choose: draws the choices of the sentence.
        subject: the subject of the clause.
        use: the use of the clause, a letter of `Family.uses`.
        tense: the tense of the verb.
        times: the times to draw from; empty for no time.
        negated: whether the clause is negated.
        definite: whether the object must be definite.
    """
    predicate = draw_predicate(choose, use, subject, negated=negated, definite=definite)
    return Clause(
        subject=subject, predicate=predicate, tense=tense, time=_when(choose, times, predicate), negated=negated
    )


def _any_subject(choose: Chooser, *, fronted: bool) -> Subject:
    return inner_subject(choose) if fronted else first_subject(choose)


def going_on(choose: Chooser) -> Phrase:
    """I am buying a red hat right now."""
    return statement(drawn(choose, first_subject(choose), "n", "now", (GERADE, GERADE, *ARRANGED)))


def arranged(choose: Chooser) -> Phrase:
    """Tomorrow I am buying a red hat: the verb stays second in German."""
    return statement(drawn(choose, inner_subject(choose), "n", "now", ARRANGED), fronted=True)


def routine(choose: Chooser) -> Phrase:
    """I drink a coffee every morning, or fronted."""
    fronted = choose.chance(0.4)
    return statement(drawn(choose, _any_subject(choose, fronted=fronted), "h", "habit", REGULAR), fronted=fronted)


def how_often(choose: Chooser) -> Phrase:
    """She often goes to the cinema."""
    clause = drawn(choose, first_subject(choose), "o", "habit")
    return statement(replace(clause, adverb=choose.form(HOW_OFTEN)))


def routine_question(choose: Chooser) -> Phrase:
    """Do you often go to the cinema?"""
    if choose.chance(0.5):
        return _question(replace(drawn(choose, _asked(choose), "o", "habit"), adverb=HOW_OFTEN[0]))
    return _question(drawn(choose, _asked(choose), "h", "habit", REGULAR))


def past_event(choose: Chooser) -> Phrase:
    """We met our uncle yesterday: the Perfekt with haben or sein."""
    return statement(drawn(choose, first_subject(choose), "e", "past", PAST))


def past_event_fronted(choose: Chooser) -> Phrase:
    """Yesterday we met our uncle."""
    return statement(drawn(choose, inner_subject(choose), "e", "past", PAST), fronted=True)


def past_question(choose: Chooser) -> Phrase:
    """Did you meet your uncle yesterday?"""
    return _question(drawn(choose, _asked(choose), "e", "past", PAST))


def past_negated(choose: Chooser) -> Phrase:
    """I did not buy a hat yesterday: kein for the indefinite, nicht for the rest."""
    return statement(drawn(choose, first_subject(choose), "e", "past", PAST, negated=True))


def negated(choose: Chooser) -> Phrase:
    """She is not visiting her aunt today."""
    return statement(drawn(choose, first_subject(choose), "n", "now", ARRANGED, negated=True))


def already(choose: Chooser) -> Phrase:
    """He has already read the letter; not yet, too."""
    clause = drawn(choose, first_subject(choose), "e", "perfect", definite=True)
    if choose.chance(0.6):
        return statement(replace(clause, adverb=Phrase("already", "schon")))
    return both(
        f"{in_english(replace(clause, negated=True))} yet", in_german(replace(clause, adverb=Phrase("", "noch nicht")))
    )


def already_question(choose: Chooser) -> Phrase:
    """Have you already called your sister?"""
    clause = drawn(choose, _asked(choose), "e", "perfect", definite=True)
    return _question(replace(clause, adverb=Phrase("already", "schon")))


def wish(choose: Chooser) -> Phrase:
    """I would like to, want to, have to, can, should buy a red hat tomorrow."""
    return statement(drawn(choose, first_subject(choose), "w", choose.form(_WISHES), COMING))


def wish_fronted(choose: Chooser) -> Phrase:
    """Tomorrow I have to buy a red hat."""
    return statement(drawn(choose, inner_subject(choose), "w", choose.form(_WISHES), COMING[:-1]), fronted=True)


def wish_negated(choose: Chooser) -> Phrase:
    """I do not have to, cannot, should not, do not want to buy a hat."""
    tense: Tense = choose.form(("must", "can", "should", "want"))
    return statement(drawn(choose, first_subject(choose), "w", tense, ARRANGED, negated=True))


def had_to(choose: Chooser) -> Phrase:
    """She had to wash her blue coat yesterday: the simple past of a modal."""
    fronted = choose.chance(0.4)
    return statement(drawn(choose, _any_subject(choose, fronted=fronted), "d", "had_to", PAST), fronted=fronted)


def modal_question(choose: Chooser) -> Phrase:
    """May I open the window? Can you pick up my brother? Do you have to work tomorrow?"""
    tense: Tense = choose.form(("may", "can", "must", "want", "shall", "would"))
    subject = choose.form((I, WE)) if tense in ("may", "shall") else YOU
    return _question(drawn(choose, subject, "w", tense, TODAY))


def future(choose: Chooser) -> Phrase:
    """My brother will repair the old car next week."""
    fronted = choose.chance(0.4)
    return statement(drawn(choose, _any_subject(choose, fronted=fronted), "w", "future", COMING), fronted=fronted)


def polite_request(choose: Chooser) -> Phrase:
    """Could you please close the door?"""
    predicate = draw_predicate(choose, "r", YOU, definite=True)
    words = ["könnten Sie", predicate.de_pronoun, "bitte", predicate.de_object, predicate.de_place]
    return both(
        f"could you please {clauses.english_infinitive(predicate)}",
        " ".join(filter(None, [*words, predicate.verb.infinitive])),
        "?",
    )


def imperative(choose: Chooser) -> Phrase:
    """Please close the door; please do not sign the contract."""
    negative = choose.chance(0.35)
    predicate = draw_predicate(choose, "x" if negative else "r", YOU, definite=True)
    start = "please do not " if negative else "please "
    return both(start + clauses.english_infinitive(predicate), clauses.german_imperative(predicate, negated=negative))


def among_friends(choose: Chooser) -> Phrase:
    """Anna, have you found your key? One name shows that you is du, two names show that it is ihr."""
    names = [choose.form(lexicon.WOMEN)]
    if choose.chance(0.4):
        names.append(choose.form(lexicon.MEN))
    tense: Tense = choose.form(("past", "now", "can", "want", "must", "would"))
    use = {"past": "e", "now": "n"}.get(tense, "w")
    subject = YOU_FRIEND if len(names) == 1 else YOU_FRIENDS
    clause = drawn(choose, subject, use, tense, PAST if tense == "past" else ARRANGED)
    return both(
        f"{' and '.join(names)}, {in_english(clause, 'question')}",
        f"{' und '.join(names)}, {in_german(clause, 'question')}",
        "?",
    )


def why(choose: Chooser) -> Phrase:
    """Why did you buy a red hat? When do you have to call your sister?"""
    if choose.chance(0.5):
        clause = drawn(choose, _asked(choose), "e", "past")
    else:
        tense: Tense = choose.form(("want", "must", "can", "would"))
        clause = drawn(choose, _asked(choose), "w", tense)
    word = choose.form(_WHY_WHEN)
    return both(f"{word.en} {in_english(clause, 'question')}", f"{word.de} {in_german(clause, 'question')}", "?")


def who(choose: Chooser) -> Phrase:
    """Who closed the window yesterday?"""
    clause = drawn(choose, replace(HE, en="who", de="wer"), "e", "past", PAST)
    return both(in_english(clause), in_german(clause), "?")
