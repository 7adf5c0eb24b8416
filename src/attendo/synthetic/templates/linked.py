"""Templates of two clauses: because, that, whether, if, to, in order to, and."""

from dataclasses import replace

from attendo.synthetic import clauses, english, german
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import HE, SHE, THEY, WE, YOU, Clause, I, Subject, Tense, in_english, in_german
from attendo.synthetic.predicates import draw_predicate
from attendo.synthetic.templates.everyday import (
    ARRANGED,
    COMING,
    GERADE,
    PAST,
    TODAY,
    both,
    drawn,
    first_subject,
    inner_subject,
    somebody,
)
from attendo.synthetic.words import Phrase, phrases


def pronoun(subject: Subject) -> Subject:
    """Returns the pronoun that refers back to a subject."""
    if subject.person == "3p":
        return subject if subject == YOU else THEY
    if subject.person != "3s":
        return subject
    return SHE if subject.my == SHE.my else HE


def state_because(subject: Subject, state: Phrase, reason: Clause) -> Phrase:
    """She is tired because ...: the German verb goes to the end."""
    return both(
        f"{subject.en} {english.be(subject.person)} {state.en} because {in_english(reason)}",
        f"{subject.de} {german.auxiliary('sein', subject.person)} {state.de}, weil {in_german(reason, 'subordinate')}",
    )


def no_time_because(choose: Chooser) -> Phrase:
    """I have no time today because I have to write a long letter."""
    subject = first_subject(choose)
    time = choose.form(TODAY)
    reason = drawn(choose, pronoun(subject), "d", "must")
    return both(
        f"{subject.en} {english.have(subject.person)} no time {time.en} because {in_english(reason)}",
        f"{subject.de} {german.auxiliary('haben', subject.person)} {time.de} keine Zeit, "
        f"weil {in_german(reason, 'subordinate')}",
    )


_MOODS = phrases("""
    froh = glad
    aufgeregt = excited
    glücklich = happy
""")


def glad_because(choose: Chooser) -> Phrase:
    """She is glad because she is visiting her sister tomorrow."""
    subject = first_subject(choose)
    return state_because(subject, choose.form(_MOODS), drawn(choose, pronoun(subject), "p", "now", ARRANGED[3:]))


_OPINIONS = phrases("""
    ich glaube = I think
    ich hoffe = I hope
    ich weiß = I know
    wir wissen = we know
    er sagt = he says
    sie sagt = she says
    meine Mutter glaubt = my mother thinks
    Paul hat gesagt = Paul said
""")


def opinion(choose: Chooser) -> Phrase:
    """I think that he bought a red hat yesterday."""
    start = choose.form(_OPINIONS)
    subject = inner_subject(choose)
    if subject == I and start.de.startswith("ich"):
        subject = WE
    tense: Tense = choose.form(("past", "now", "future", "must", "want", "can"))
    use = {"past": "e", "now": "n"}.get(tense, "w")
    clause = drawn(choose, subject, use, tense, PAST if tense == "past" else ARRANGED)
    return both(f"{start.en} that {in_english(clause)}", f"{start.de}, dass {in_german(clause, 'subordinate')}")


_ASKED = phrases("""
    wissen Sie = do you know
    können Sie mir sagen = can you tell me
    ich weiß nicht = I do not know
    ich frage mich = I wonder
""")


def indirect_question(choose: Chooser) -> Phrase:
    """Do you know whether Anna is picking up her sister today?"""
    start = choose.form(_ASKED)
    past = choose.chance(0.4)
    subject = choose.form((HE, SHE, THEY, somebody(choose)))
    clause = drawn(choose, subject, "e" if past else "n", "past" if past else "now", PAST if past else ARRANGED)
    return both(
        f"{start.en} whether {in_english(clause)}",
        f"{start.de}, ob {in_german(clause, 'subordinate')}",
        "?" if start in _ASKED[:2] else ".",
    )


_CONDITIONS = phrases("""
    das Wetter gut ist = the weather is good
    die Sonne scheint = the sun is shining
    es nicht zu spät ist = it is not too late
    es morgen nicht regnet = it does not rain tomorrow
""")
_MEANS = phrases("""
    Zeit = time
    genug Zeit = enough time
    einen freien Tag = a day off
    Urlaub = a holiday
""")


def _condition_met(choose: Chooser, subject: Subject) -> Phrase:
    """Draws the condition of a plan: the weather, or the time that the subject has."""
    if choose.chance(0.5):
        return choose.form(_CONDITIONS)
    means = choose.form(_MEANS)
    who = pronoun(subject)
    have = english.have(clauses.english_person(who))
    return Phrase(f"{who.en} {have} {means.en}", f"{who.de} {means.de} {german.auxiliary('haben', who.person)}")


def condition(choose: Chooser) -> Phrase:
    """If the weather is good, we will go to the park: the clause counts as first, the verb follows."""
    plan_first = choose.chance(0.4)
    subject = first_subject(choose) if plan_first else inner_subject(choose)
    given = _condition_met(choose, subject)
    plan = drawn(choose, subject, "p", "future")
    if plan_first:
        return both(f"{in_english(plan)} if {given.en}", f"{in_german(plan)}, wenn {given.de}")
    return both(f"if {given.en}, {in_english(plan)}", f"wenn {given.de}, {in_german(plan, 'question')}")


_DUTY_STARTS = (
    (Phrase("I forgot", "ich habe vergessen"), I),
    (Phrase("I am trying", "ich versuche"), I),
    (Phrase("it is important", "es ist wichtig"), WE),
    (Phrase("it is not easy", "es ist nicht leicht"), WE),
    (Phrase("he promised", "er hat versprochen"), HE),
    (Phrase("she has decided", "sie hat beschlossen"), SHE),
    (Phrase("did you forget", "haben Sie vergessen"), YOU),
)
_PLEASURE_STARTS = (
    (Phrase("I hope", "ich hoffe"), I),
    (Phrase("we are planning", "wir haben vor"), WE),
    (Phrase("it is fun", "es macht Spaß"), WE),
    (Phrase("he has time", "er hat Zeit"), HE),
    (Phrase("it is nice", "es ist schön"), WE),
    (Phrase("do you have time", "haben Sie Zeit"), YOU),
)


def infinitive(choose: Chooser) -> Phrase:
    """It is important to read the contract: zu before the infinitive, inside a separable verb."""
    duty = choose.chance(0.55)
    start, owner = choose.form(_DUTY_STARTS if duty else _PLEASURE_STARTS)
    predicate = draw_predicate(choose, "d" if duty else "p", owner)
    return both(
        f"{start.en} to {clauses.english_infinitive(predicate)}",
        f"{start.de}, {clauses.german_infinitive(predicate)}",
        "?" if owner == YOU else ".",
    )


_SHOPPING_PLACES = phrases("""
    ins Stadtzentrum = to the city centre
    in die Stadt = into town
    auf den Markt = to the market
    ins Einkaufszentrum = to the shopping centre
""")


def purpose(choose: Chooser) -> Phrase:
    """Today he is going into town to buy a red hat: um ... zu."""
    subject = inner_subject(choose)
    place, time = choose.form(_SHOPPING_PLACES), choose.form(COMING[:6])
    predicate = draw_predicate(choose, "s", subject)
    be = english.be(clauses.english_person(subject))
    go = german.conjugate("gehen", "geht", subject.person)
    return both(
        f"{time.en} {subject.en} {be} going {place.en} to {clauses.english_infinitive(predicate)}",
        f"{time.de} {go} {subject.de} {place.de}, um {clauses.german_infinitive(predicate)}",
    )


def two_people(choose: Chooser) -> Phrase:
    """I am reading a book, and my brother is playing football."""
    link = choose.form(phrases("und = and\n aber = but"))
    first = first_subject(choose)
    left = drawn(choose, first, "n", "now")
    left = replace(left, time=choose.form((GERADE, *TODAY)))
    right = drawn(choose, somebody(choose), "n", "now")
    return both(
        f"{in_english(left)}, {link.en} {in_english(right)}", f"{in_german(left)}, {link.de} {in_german(right)}"
    )
