"""Templates about what people do: statements, questions, negations, tenses, and requests, in every tense.

Each template draws its words from a `Chooser` and returns the pair.
"""

from dataclasses import replace

from attendo.demo import clauses, lexicon
from attendo.demo.choices import Chooser
from attendo.demo.clauses import (
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
    Subject,
    Tense,
    in_english,
    in_german,
    sentence,
)
from attendo.demo.predicates import HIS, MY, OUR, draw_predicate
from attendo.demo.words import Phrase, phrases

NOW = phrases("""
    gerade = right now
    heute = today
    heute Abend = this evening
    heute Nachmittag = this afternoon
    morgen = tomorrow
    übermorgen = the day after tomorrow
    nächste Woche = next week
    am Wochenende = at the weekend
""")
COMING = NOW[1:] + phrases("""
    morgen Abend = tomorrow evening
    nächsten Monat = next month
    in zwei Tagen = in two days
    bald = soon
""")
PAST = phrases("""
    gestern = yesterday
    gestern Abend = yesterday evening
    vorgestern = the day before yesterday
    letzte Woche = last week
    letzten Monat = last month
    vor zwei Tagen = two days ago
    vor einer Stunde = an hour ago
""")
REGULAR = phrases("""
    jeden Tag = every day
    jeden Morgen = every morning
    jeden Abend = every evening
    jede Woche = every week
    im Sommer = in summer
    im Winter = in winter
""") + tuple(Phrase(f"on {day.en}s", f"{day.de.lower()}s") for day in lexicon.WEEKDAYS)
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
WISHES: tuple[Tense, ...] = ("want", "would", "can", "must", "should", "may")


def somebody(choose: Chooser) -> Subject:
    """Somebody by kinship or name; her and their are left out because both are ihr."""
    if choose.chance(0.4):
        woman = choose.chance(0.5)
        return clauses.name_subject(choose.form(lexicon.WOMEN if woman else lexicon.MEN), woman=woman)
    noun = choose.form(lexicon.RELATIVES)
    return NounPhrase(noun=noun, determiner=choose.form((MY, MY, OUR, HIS))).as_subject()


def first_subject(choose: Chooser) -> Subject:
    """A subject for the start of a sentence, where "Sie" could be both you and they: neither is drawn."""
    return choose.form((I, I, WE, HE, SHE)) if choose.chance(0.6) else somebody(choose)


def inner_subject(choose: Chooser) -> Subject:
    """A subject for inside a sentence."""
    return choose.form((I, I, WE, HE, SHE, THEY, YOU)) if choose.chance(0.75) else somebody(choose)


def _asked(choose: Chooser) -> Subject:
    """A subject for a question: mostly you."""
    return YOU if choose.chance(0.6) else choose.form((HE, SHE, THEY, somebody(choose)))


def both(english_text: str, german_text: str, mark: str = ".") -> Phrase:
    """The pair as two sentences with the same closing mark."""
    return Phrase(sentence(english_text, mark), sentence(german_text, mark))


def statement(clause: Clause) -> Phrase:
    """The clause as a statement in both languages."""
    return both(in_english(clause), in_german(clause))


def _fronted(clause: Clause) -> Phrase:
    return both(in_english(clause, "fronted"), in_german(clause, "fronted"))


def _question(clause: Clause) -> Phrase:
    return both(in_english(clause, "question"), in_german(clause, "question"), "?")


def going_on(choose: Chooser) -> Phrase:
    """I am buying a red hat right now."""
    subject = first_subject(choose)
    return statement(
        Clause(subject=subject, predicate=draw_predicate(choose, "n", subject), tense="now", time=choose.form(NOW))
    )


def arranged(choose: Chooser) -> Phrase:
    """Tomorrow I am buying a red hat: the verb stays second in German."""
    subject = inner_subject(choose)
    return _fronted(
        Clause(subject=subject, predicate=draw_predicate(choose, "n", subject), tense="now", time=choose.form(NOW[1:]))
    )


def routine(choose: Chooser) -> Phrase:
    """I drink a coffee every morning, or fronted."""
    fronted = choose.chance(0.4)
    subject = inner_subject(choose) if fronted else first_subject(choose)
    clause = Clause(
        subject=subject, predicate=draw_predicate(choose, "h", subject), tense="habit", time=choose.form(REGULAR)
    )
    return _fronted(clause) if fronted else statement(clause)


def how_often(choose: Chooser) -> Phrase:
    """She often goes to the cinema."""
    subject = first_subject(choose)
    return statement(
        Clause(
            subject=subject,
            predicate=draw_predicate(choose, "h", subject),
            tense="habit",
            adverb=choose.form(HOW_OFTEN),
        )
    )


def routine_question(choose: Chooser) -> Phrase:
    """Do you often go to the cinema?"""
    subject = _asked(choose)
    clause = Clause(subject=subject, predicate=draw_predicate(choose, "h", subject), tense="habit")
    if choose.chance(0.5):
        return _question(replace(clause, adverb=choose.form(HOW_OFTEN[:2])))
    return _question(replace(clause, time=choose.form(REGULAR)))


def past_event(choose: Chooser) -> Phrase:
    """We met our uncle yesterday: the Perfekt with haben or sein."""
    subject = first_subject(choose)
    return statement(
        Clause(subject=subject, predicate=draw_predicate(choose, "e", subject), tense="past", time=choose.form(PAST))
    )


def past_event_fronted(choose: Chooser) -> Phrase:
    """Yesterday we met our uncle."""
    subject = inner_subject(choose)
    return _fronted(
        Clause(subject=subject, predicate=draw_predicate(choose, "e", subject), tense="past", time=choose.form(PAST))
    )


def past_question(choose: Chooser) -> Phrase:
    """Did you meet your uncle yesterday?"""
    subject = _asked(choose)
    return _question(
        Clause(subject=subject, predicate=draw_predicate(choose, "e", subject), tense="past", time=choose.form(PAST))
    )


def past_negated(choose: Chooser) -> Phrase:
    """I did not buy a hat yesterday: kein for the indefinite, nicht for the rest."""
    subject = first_subject(choose)
    predicate = draw_predicate(choose, "e", subject, negated=True)
    return statement(
        Clause(subject=subject, predicate=predicate, tense="past", time=choose.form(PAST), negated=True)
    )


def negated(choose: Chooser) -> Phrase:
    """She is not visiting her aunt today."""
    subject = first_subject(choose)
    predicate = draw_predicate(choose, "n", subject, negated=True)
    return statement(
        Clause(subject=subject, predicate=predicate, tense="now", time=choose.form(NOW[1:]), negated=True)
    )


def already(choose: Chooser) -> Phrase:
    """He has already read the letter; not yet, too."""
    subject = first_subject(choose)
    predicate = draw_predicate(choose, "e", subject, definite=True)
    clause = Clause(subject=subject, predicate=predicate, tense="perfect")
    if choose.chance(0.6):
        return statement(replace(clause, adverb=Phrase("already", "schon")))
    return both(
        f"{in_english(replace(clause, negated=True))} yet", in_german(replace(clause, adverb=Phrase("", "noch nicht")))
    )


def already_question(choose: Chooser) -> Phrase:
    """Have you already called your sister?"""
    subject = _asked(choose)
    predicate = draw_predicate(choose, "e", subject, definite=True)
    return _question(
        Clause(subject=subject, predicate=predicate, tense="perfect", adverb=Phrase("already", "schon"))
    )


def wish(choose: Chooser) -> Phrase:
    """I would like to, want to, have to, can, should buy a red hat tomorrow."""
    subject = first_subject(choose)
    return statement(
        Clause(
            subject=subject,
            predicate=draw_predicate(choose, "w", subject),
            tense=choose.form(WISHES),
            time=choose.form(COMING),
        )
    )


def wish_fronted(choose: Chooser) -> Phrase:
    """Tomorrow I have to buy a red hat."""
    subject = inner_subject(choose)
    return _fronted(
        Clause(
            subject=subject,
            predicate=draw_predicate(choose, "w", subject),
            tense=choose.form(WISHES),
            time=choose.form(COMING),
        )
    )


def wish_negated(choose: Chooser) -> Phrase:
    """I do not have to, cannot, should not, do not want to buy a hat."""
    subject = first_subject(choose)
    tense = choose.form(("must", "can", "should", "want"))
    return statement(
        Clause(
            subject=subject,
            predicate=draw_predicate(choose, "w", subject, negated=True),
            tense=tense,
            time=choose.form(COMING),
            negated=True,
        )
    )


def modal_question(choose: Chooser) -> Phrase:
    """May I open the window? Can you pick up my brother? Do you have to work tomorrow?"""
    tense = choose.form(("may", "can", "must", "want", "should", "would"))
    subject = choose.form((I, WE)) if tense in ("may", "should") else YOU
    predicate = draw_predicate(choose, "w", subject)
    return _question(Clause(subject=subject, predicate=predicate, tense=tense, time=choose.form(COMING[:5])))


def future(choose: Chooser) -> Phrase:
    """My brother will repair the old car next week."""
    fronted = choose.chance(0.4)
    subject = inner_subject(choose) if fronted else first_subject(choose)
    clause = Clause(
        subject=subject, predicate=draw_predicate(choose, "w", subject), tense="future", time=choose.form(COMING)
    )
    return _fronted(clause) if fronted else statement(clause)


def polite_request(choose: Chooser) -> Phrase:
    """Could you please close the door?"""
    predicate = draw_predicate(choose, "r", YOU, definite=True)
    order = [predicate.de_pronoun, "bitte", predicate.de_object, predicate.de_place, predicate.verb.infinitive]
    return both(
        f"could you please {clauses.english_infinitive(predicate)}",
        " ".join(filter(None, ["könnten Sie", *order])),
        "?",
    )


def imperative(choose: Chooser) -> Phrase:
    """Please close the door; please do not forget the key."""
    negative = choose.chance(0.35)
    predicate = draw_predicate(choose, "x" if negative else "r", YOU, definite=True)
    start = "please do not " if negative else "please "
    return both(
        start + clauses.english_infinitive(predicate), clauses.german_imperative(predicate, negated=negative)
    )


def among_friends(choose: Chooser) -> Phrase:
    """Anna, have you found your key? The name tells that you is du, two names that it is ihr."""
    names = [choose.form(lexicon.WOMEN)]
    if choose.chance(0.4):
        names.append(choose.form(lexicon.MEN))
    subject = YOU_FRIEND if len(names) == 1 else YOU_FRIENDS
    tense: Tense = choose.form(("past", "now", "can", "want", "must", "would"))
    use = {"past": "e", "now": "n"}.get(tense, "w")
    time = choose.form(PAST if tense == "past" else COMING[:5])
    clause = Clause(subject=subject, predicate=draw_predicate(choose, use, subject), tense=tense, time=time)
    return both(
        f"{' and '.join(names)}, {in_english(clause, 'question')}",
        f"{' und '.join(names)}, {in_german(clause, 'question')}",
        "?",
    )


def why(choose: Chooser) -> Phrase:
    """Why did you buy a red hat? When are you going to the bank?"""
    subject = _asked(choose)
    if choose.chance(0.5):
        clause = Clause(subject=subject, predicate=draw_predicate(choose, "e", subject), tense="past")
        words = choose.form(_WHY_WHEN)
    else:
        clause = Clause(
            subject=subject,
            predicate=draw_predicate(choose, "w", subject),
            tense=choose.form(("want", "must", "can", "would")),
        )
        words = choose.form(_WHY_WHEN)
    return both(f"{words.en} {in_english(clause, 'question')}", f"{words.de} {in_german(clause, 'question')}", "?")


def who(choose: Chooser) -> Phrase:
    """Who closed the window yesterday?"""
    subject = replace(HE, en="who", de="wer")
    predicate = draw_predicate(choose, "e", subject)
    clause = Clause(subject=subject, predicate=predicate, tense="past", time=choose.form(PAST))
    return both(in_english(clause), in_german(clause), "?")
