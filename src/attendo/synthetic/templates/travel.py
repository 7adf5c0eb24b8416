"""Templates for getting around: directions, trains and buses, opening hours."""

from attendo.synthetic import counting, german, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import Clause, NounPhrase, Predicate, Tense, in_english, in_german
from attendo.synthetic.clock import clock
from attendo.synthetic.predicates import THE, THIS, A, noun_object
from attendo.synthetic.templates.everyday import ARRANGED, COMING, PAST, REGULAR, both, first_subject
from attendo.synthetic.words import Phrase, adjectives, phrases, verb


def _to(place: NounPhrase) -> str:
    return german.prepositional("zu", place.de("dative"))


def way(choose: Chooser) -> Phrase:
    """How do I get to the old station?"""
    place = noun_object(choose, lexicon.TOWN_PLACES, THE, lexicon.CONDITIONS)
    who = choose.form((Phrase("do I", "komme ich"), Phrase("do we", "kommen wir")))
    how = choose.form((Phrase("how", "wie"), Phrase("excuse me, how", "Entschuldigung, wie")))
    return both(f"{how.en} {who.en} get to {place.en}", f"{how.de} {who.de} {_to(place)}", "?")


_SERVICES = tuple(noun for noun in lexicon.TOWN_PLACES if noun.en not in ("airport", "university", "market square"))


def nearby(choose: Chooser) -> Phrase:
    """Is there a good pharmacy near here?"""
    place = noun_object(choose, _SERVICES, A, lexicon.SIZES + adjectives("gut = good"))
    return both(f"is there {place.en} near here", f"gibt es hier in der Nähe {place.de('accusative')}", "?")


_SIDES = phrases("""
    links = left
    rechts = right
""")

_LANDMARKS = phrases("""
    an = at
    nach = after
    vor = before
""")


def turn(choose: Chooser) -> Phrase:
    """Go straight ahead and turn left at the church."""
    place = noun_object(choose, _SERVICES, THE, lexicon.CONDITIONS)
    side, where = choose.form(_SIDES), choose.form(_LANDMARKS)
    at = german.prepositional(where.de, place.de("dative"))
    if choose.chance(0.5):
        return both(
            f"go straight ahead and turn {side.en} {where.en} {place.en}",
            f"gehen Sie geradeaus und biegen Sie {at} {side.de} ab",
        )
    return both(f"please turn {side.en} {where.en} {place.en}", f"biegen Sie bitte {at} {side.de} ab")


_RELATIONS = phrases("""
    neben = next to
    hinter = behind
    vor = in front of
    gegenüber = opposite
""")


def located(choose: Chooser) -> Phrase:
    """The museum is next to the old church."""
    place = NounPhrase(noun=choose.word(lexicon.TOWN_PLACES), determiner=THE)
    others = tuple(noun for noun in lexicon.TOWN_PLACES if noun != place.noun)
    landmark = noun_object(choose, others, THE, lexicon.CONDITIONS)
    relation = choose.form(_RELATIONS)
    where = f"{relation.de} {landmark.de('dative')}"
    if choose.chance(0.3):
        return both(f"is {place.en} {relation.en} {landmark.en}", f"ist {place.de('nominative')} {where}", "?")
    return both(f"{place.en} is {relation.en} {landmark.en}", f"{place.de('nominative')} ist {where}")


def on_foot(choose: Chooser) -> Phrase:
    """It is ten minutes on foot from the station to the museum."""
    start = NounPhrase(noun=choose.word(lexicon.TOWN_PLACES), determiner=THE)
    goal = NounPhrase(
        noun=choose.word(tuple(noun for noun in lexicon.TOWN_PLACES if noun != start.noun)), determiner=THE
    )
    minutes = choose.form((*counting.NUMBERS[1:], *counting.TENS[:3]))
    how = choose.form(phrases("zu Fuß = on foot\n mit dem Auto = by car\n mit dem Bus = by bus"))
    origin = german.prepositional("von", start.de("dative"))
    return both(
        f"from {start.en} to {goal.en} it is {minutes.en} minutes {how.en}",
        f"{origin} {_to(goal)} sind es {minutes.de} Minuten {how.de}",
    )


_LINES = lexicon.VEHICLES[:2]


def departure_question(choose: Chooser) -> Phrase:
    """When does the next train to Berlin leave?"""
    line, city = choose.word(_LINES), choose.word(lexicon.CITIES)
    which = choose.form(adjectives("nächst = next\n letzt = last\n erst = first"))
    phrase = NounPhrase(noun=line, determiner=THE, adjective=which)
    if choose.chance(0.5):
        return both(
            f"when does {phrase.en} to {city.en} leave", f"wann fährt {phrase.de('nominative')} nach {city.de} ab", "?"
        )
    return both(
        f"when does {phrase.en} from {city.en} arrive", f"wann kommt {phrase.de('nominative')} aus {city.de} an", "?"
    )


def departure(choose: Chooser) -> Phrase:
    """The train to Hamburg leaves at ten past eight from platform three."""
    line, city = choose.word(_LINES), choose.word(lexicon.CITIES)
    phrase = NounPhrase(noun=line, determiner=THE)
    time = clock(choose)
    if choose.chance(0.4):
        return both(
            f"{phrase.en} from {city.en} arrives at {time.en}",
            f"{phrase.de('nominative')} aus {city.de} kommt um {time.de} an",
        )
    platform = choose.form(counting.NUMBERS)
    if line.en == "bus":
        return both(
            f"{phrase.en} to {city.en} leaves at {time.en}",
            f"{phrase.de('nominative')} nach {city.de} fährt um {time.de} ab",
        )
    return both(
        f"{phrase.en} to {city.en} leaves at {time.en} from platform {platform.en}",
        f"{phrase.de('nominative')} nach {city.de} fährt um {time.de} von Gleis {platform.de} ab",
    )


def delay(choose: Chooser) -> Phrase:
    """The train from Munich is twenty minutes late."""
    line, city = choose.word(_LINES), choose.word(lexicon.CITIES)
    minutes = choose.word((*counting.NUMBERS[1:], *counting.TENS))
    direction = choose.form((Phrase("from", "aus"), Phrase("to", "nach")))
    phrase = NounPhrase(noun=line, determiner=THE)
    return both(
        f"{phrase.en} {direction.en} {city.en} is {minutes.en} minutes late",
        f"{phrase.de('nominative')} {direction.de} {city.de} hat {minutes.de} Minuten Verspätung",
    )


def tickets(choose: Chooser) -> Phrase:
    """Two return tickets to Berlin for tomorrow, please."""
    city = choose.word(lexicon.CITIES)
    number = choose.word(counting.NUMBERS[:6])
    ticket = choose.form((Phrase("ticket", "Fahrkarte"), Phrase("return ticket", "Rückfahrkarte")))
    when = choose.form((Phrase("", ""), Phrase(" for tomorrow", " für morgen"), Phrase(" for today", " für heute")))
    is_single = number.en == "one"
    return both(
        f"{'one' if is_single else number.en} {ticket.en}{'' if is_single else 's'} to {city.en}{when.en}, please",
        f"{'eine' if is_single else number.de} {ticket.de}{'' if is_single else 'n'} nach {city.de}{when.de}, bitte",
    )


_RIDES = lexicon.VEHICLES[:2] + lexicon.VEHICLES[5:6]

_RIDE_GOALS = tuple(Phrase(f"to {city.en}", f"nach {city.de}") for city in lexicon.CITIES)

_TOWN_GOALS = phrases("""
    zur Arbeit = to work
    zum Bahnhof = to the station
    zum Flughafen = to the airport
    ins Museum = to the museum
    ins Stadtzentrum = to the city centre
    nach Hause = home
    in die Stadt = into town
    zur Schule = to school
    zur Universität = to the university
""")


def ride(choose: Chooser) -> Phrase:
    """We went to Vienna by train yesterday: time, manner, place in German."""
    far = choose.chance(0.5)
    goal = choose.word(_RIDE_GOALS if far else _TOWN_GOALS)
    vehicle = NounPhrase(
        noun=choose.word(_RIDES if far else lexicon.VEHICLES[:6] + lexicon.VEHICLES[7:]), determiner=THE
    )
    predicate = Predicate(
        verb=verb("fahren fährt +gefahren = go went gone"),
        en=f"{goal.en} by {vehicle.noun.en}",
        de_place=f"mit {vehicle.de('dative')} {goal.de}",
    )
    tense: Tense = choose.form(("now", "past", "past", "habit", "future", "must", "want", "would"))
    times = {"past": PAST, "habit": REGULAR, "now": ARRANGED}.get(tense, COMING)
    clause = Clause(subject=first_subject(choose), predicate=predicate, tense=tense, time=choose.form(times))
    if choose.chance(0.3):
        return both(in_english(clause, "fronted"), in_german(clause, "fronted"))
    return both(in_english(clause), in_german(clause))


def stops(choose: Chooser) -> Phrase:
    """Does this bus stop at the museum?"""
    line = NounPhrase(noun=choose.word((lexicon.VEHICLES[0], lexicon.VEHICLES[3])), determiner=THIS)
    place = noun_object(choose, lexicon.TOWN_PLACES, THE, lexicon.AGES)
    where = german.prepositional("an", place.de("dative"))
    if choose.chance(0.5):
        return both(f"does {line.en} stop at {place.en}", f"hält {line.de('nominative')} {where}", "?")
    return both(f"{line.en} does not stop at {place.en}", f"{line.de('nominative')} hält nicht {where}")


_OPENING = tuple(
    noun
    for noun in lexicon.TOWN_PLACES
    if noun.en in ("bank", "museum", "pharmacy", "town hall", "supermarket", "bakery", "library", "swimming pool")
)


def opening_hours(choose: Chooser) -> Phrase:
    """On Mondays the museum opens at nine o'clock and closes at half past five."""
    place = NounPhrase(noun=choose.word(_OPENING), determiner=THE)
    day = choose.word(counting.WEEKDAYS)
    if choose.chance(0.3):
        word = choose.form(phrases("geschlossen = closed\n geöffnet = open"))
        return both(
            f"{place.en} is {word.en} on {day.en}s", f"{place.de('nominative')} ist {day.de.lower()}s {word.de}"
        )
    opens, closes = clock(choose, hours=range(7, 11)), clock(choose, hours=range(4, 9))
    if choose.chance(0.5):
        return both(
            f"on {day.en}s {place.en} opens at {opens.en}",
            f"{day.de.lower()}s öffnet {place.de('nominative')} um {opens.de}",
        )
    return both(
        f"{place.en} closes at {closes.en} on {day.en}s",
        f"{place.de('nominative')} schließt {day.de.lower()}s um {closes.de}",
    )
