"""Templates about the day, the body and the calendar."""

from attendo.synthetic import clauses, counting, english, german, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import Clause, NounPhrase, Predicate, Tense, in_english, in_german
from attendo.synthetic.clock import clock
from attendo.synthetic.families import BARE
from attendo.synthetic.predicates import HIS, MY, THE, noun_object
from attendo.synthetic.templates.everyday import (
    ARRANGED,
    PAST,
    REGULAR,
    both,
    first_subject,
    statement,
)
from attendo.synthetic.templates.linked import pronoun, state_because
from attendo.synthetic.words import Phrase, Verb, adjectives, phrases, verb


def hurts(choose: Chooser) -> Phrase:
    """My left knee hurts; his feet hurt."""
    noun = choose.word(lexicon.BODY_PARTS)
    paired = noun.en in ("arm", "hand", "knee", "leg", "shoulder")
    side = choose.word(adjectives("link = left\n recht = right")) if paired and choose.chance(0.7) else None
    part = NounPhrase(noun=noun, determiner=choose.form((MY, MY, HIS)), adjective=side)
    since = choose.form(
        (
            clauses.NO_TIME,
            Phrase("has been hurting since yesterday", "seit gestern"),
            Phrase("has been hurting for three days", "seit drei Tagen"),
            Phrase("has been hurting for a week", "seit einer Woche"),
            Phrase("has been hurting since Monday", "seit Montag"),
        )
    )
    hurt_en = since.en or "hurts"
    if part.is_plural:
        hurt_en = hurt_en.replace("has", "have") if since.en else "hurt"
    hurt_de = " ".join(filter(None, ("tun" if part.is_plural else "tut", since.de, "weh")))
    return both(f"{part.en} {hurt_en}", f"{part.de('nominative')} {hurt_de}")


_AILMENTS = phrases("""
    Kopfschmerzen = a headache
    Zahnschmerzen = a toothache
    Bauchschmerzen = a stomach ache
    Rückenschmerzen = back pain
    Fieber = a fever
    Husten = a cough
    Schnupfen = a cold
""")

_SINCE = phrases("""
    seit gestern = since yesterday
    seit Montag = since Monday
    seit heute Morgen = since this morning
    seit zwei Tagen = for two days
    seit drei Tagen = for three days
    seit einer Woche = for a week
""")


def ailment(choose: Chooser) -> Phrase:
    """My son has had a fever for two days: the German present reaches back."""
    subject = first_subject(choose)
    illness, since = choose.word(_AILMENTS), choose.form(_SINCE)
    return both(
        f"{subject.en} {english.have(subject.person)} had {illness.en} {since.en}",
        f"{subject.de} {german.auxiliary('haben', subject.person)} {since.de} {illness.de}",
    )


def remedy(choose: Chooser) -> Phrase:
    """Do you have something for a cough? I need something for my daughter."""
    illness = choose.word(_AILMENTS)
    start = choose.form(
        phrases("""
            haben Sie etwas gegen = do you have something for
            können Sie mir etwas gegen = can you give me something for
            was nehmen Sie gegen = what do you take for
        """)
    )
    end = " geben" if start.de.startswith("können") else ""
    return both(f"{start.en} {illness.en}", f"{start.de} {illness.de}{end}", "?")


_MEDICINES = phrases("""
    dieses Medikament = this medicine
    diese Tablette = this tablet
    diese Tropfen = these drops
    diesen Sirup = this syrup
""")


def dose(choose: Chooser) -> Phrase:
    """You have to take this medicine three times a day before meals."""
    medicine = choose.word(_MEDICINES)
    frequency = choose.word(phrases("einmal = once\n zweimal = twice\n dreimal = three times\n viermal = four times"))
    when = choose.word(
        phrases("""
            vor dem Essen = before meals
            nach dem Essen = after meals
            mit viel Wasser = with plenty of water
            mit einem Glas Milch = with a glass of milk
        """)
    )
    start = choose.form(phrases("Sie müssen = you have to\n Sie sollten = you should\n er muss = he has to"))
    return both(
        f"{start.en} take {medicine.en} {frequency.en} a day {when.en}",
        f"{start.de} {medicine.de} {frequency.de} am Tag {when.de} nehmen",
    )


def event(choose: Chooser) -> Phrase:
    """On Monday the meeting begins at nine o'clock; it takes place, finds statt."""
    phrase = NounPhrase(noun=choose.word(lexicon.EVENTS), determiner=choose.form((THE, THE, MY)))
    if phrase.noun.en in ("match", "festival", "city tour", "film", "concert"):
        phrase = NounPhrase(noun=phrase.noun, determiner=THE)
    day, time = choose.word(counting.WEEKDAYS), clock(choose)
    kind = choose.form(("begins", "place", "ends", "when"))
    german_name = phrase.de("nominative")
    if kind == "when":
        return both(f"when does {phrase.en} begin on {day.en}", f"wann beginnt {german_name} am {day.de}", "?")
    if kind == "place":
        return both(
            f"{phrase.en} takes place on {day.en} at {time.en}", f"{german_name} findet am {day.de} um {time.de} statt"
        )
    word_en, word_de = ("begins", "beginnt") if kind == "begins" else ("ends", "endet")
    return both(f"on {day.en} {phrase.en} {word_en} at {time.en}", f"am {day.de} {word_de} {german_name} um {time.de}")


def looking_forward(choose: Chooser) -> Phrase:
    """We are looking forward to the long trip: a reflexive verb with auf."""
    subject = first_subject(choose)
    joy = noun_object(choose, lexicon.JOYS, choose.form((THE, THE, subject.my)), lexicon.JOY_QUALITIES[:1])
    predicate = Predicate(
        verb=verb("freuen freut gefreut = look_forward looked_forward"),
        en=f"to {joy.en}",
        de_pronoun=subject.reflexive,
        de_object="",
        de_place=german.prepositional("auf", joy.de("accusative")),
    )
    clause = Clause(subject=subject, predicate=predicate, tense="now")
    degree = choose.form((BARE, Phrase("very much", "sehr"), Phrase("already", "schon")))
    if degree.en == "already":
        clause = Clause(subject=subject, predicate=predicate, tense="now", adverb=degree)
    german_text = in_german(clause)
    if degree.en == "very much":
        german_text = german_text.replace(f" {subject.reflexive} ", f" {subject.reflexive} sehr ")
        return both(f"{in_english(clause).replace('looking', 'very much looking', 1)}", german_text)
    return both(in_english(clause), german_text)


_UP = verb("auf|stehen steht +aufgestanden = get_up got_up")

_AWAKE = verb("auf|wachen wacht +aufgewacht = wake_up woke_up woken_up")

_GO = verb("gehen geht +gegangen = go went gone")

_HAVE = verb("essen isst gegessen = have had")

_TO_BED = Phrase("to bed", "ins Bett")

_DAILY = (
    (_UP, BARE, (5, 6, 7, 8, 9)),
    (_AWAKE, BARE, (5, 6, 7, 8)),
    (verb("frühstücken frühstückt gefrühstückt = have_breakfast had_breakfast"), BARE, (6, 7, 8, 9)),
    (_HAVE, Phrase("lunch", "zu Mittag"), (12, 1)),
    (_HAVE, Phrase("dinner", "zu Abend"), (6, 7, 8)),
    (_GO, _TO_BED, (9, 10, 11)),
    (_GO, Phrase("to work", "zur Arbeit"), (6, 7, 8, 9)),
    (verb("kommen kommt +gekommen = come came come"), Phrase("home", "nach Hause"), (4, 5, 6, 7)),
    (verb("los|fahren fährt +losgefahren = set_off set_off"), BARE, (7, 8, 9, 10)),
    (verb("an|kommen kommt +angekommen = arrive"), BARE, (1, 2, 3, 4, 5, 6)),
)

_EARLY = ((_UP, BARE, (4, 5, 6)), (_AWAKE, BARE, (3, 4, 5)))


def _daily(choose: Chooser, options: tuple[tuple[Verb, Phrase, tuple[int, ...]], ...]) -> Predicate:
    """An activity at a certain time of day."""
    action, rest, hours = choose.form(options)
    choose.word((f"{rest.de} {action.infinitive}".strip(),))
    time = clock(choose, hours=hours, content=True)
    return Predicate(verb=action, en=f"{rest.en} at {time.en}".strip(), de_place=f"um {time.de} {rest.de}".strip())


def daily(choose: Chooser) -> Phrase:
    """I get up at seven o'clock every day: the separable prefix goes to the end."""
    predicate = _daily(choose, _DAILY)
    tense: Tense = choose.form(("habit", "habit", "past", "past", "must", "want", "future"))
    times = {"habit": (REGULAR[0], *REGULAR[4:]), "past": PAST[:1] + PAST[4:5]}.get(tense, ARRANGED[3:4] + ARRANGED[5:])
    clause = Clause(subject=first_subject(choose), predicate=predicate, tense=tense, time=choose.form(times))
    return statement(clause, fronted=choose.chance(0.3))


_RESTED = phrases("""
    froh = glad
    glücklich = happy
    zufrieden = satisfied
""")


def tired_because(choose: Chooser) -> Phrase:
    """I am tired because I got up at five o'clock today: ..., weil ich heute um fünf Uhr aufgestanden bin."""
    subject = first_subject(choose)
    referring = pronoun(subject)
    if choose.chance(0.6):
        state = choose.form(phrases("müde = tired\n sehr müde = very tired"))
        predicate = _daily(choose, _EARLY)
        tense: Tense = choose.form(("past", "past", "habit"))
        time = choose.form({"past": (*PAST[:1], *ARRANGED[:1])}.get(tense, (REGULAR[0], REGULAR[6])))
        return state_because(subject, state, Clause(subject=referring, predicate=predicate, tense=tense, time=time))
    predicate = _daily(choose, _DAILY[:1] + _DAILY[6:7] + _EARLY[:1])
    reason = Clause(
        subject=referring, predicate=predicate, tense="must", time=choose.form(ARRANGED[3:9:2]), negated=True
    )
    return state_because(subject, choose.form(_RESTED), reason)
