"""Templates for the way: directions, trains and buses, opening hours, the hotel, the weather."""

from attendo.demo import english, german, lexicon
from attendo.demo.choices import Chooser
from attendo.demo.clauses import Clause, NounPhrase, Predicate, Tense, in_english, in_german
from attendo.demo.everyday import COMING, PAST, REGULAR, both, first_subject
from attendo.demo.predicates import A, MY, OUR, THE, THIS, noun_object
from attendo.demo.words import Phrase, adjectives, phrases, verb

_MINUTES = phrases("""
    fünf = five
    zehn = ten
    zwanzig = twenty
""")


def clock(choose: Chooser, *, content: bool = False) -> Phrase:
    """A time of day; German counts half an hour towards the next: half past seven is halb acht.

    Args:
        choose: the sentence's choices.
        content: note the hour as a content word.
    """
    hour = choose.word(lexicon.NUMBERS) if content else choose.form(lexicon.NUMBERS)
    after = lexicon.NUMBERS[(lexicon.NUMBERS.index(hour) + 1) % 12]
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


def _to(place: NounPhrase) -> str:
    return german.prepositional("zu", place.de("dative"))


def way(choose: Chooser) -> Phrase:
    """How do I get to the old station?"""
    place = noun_object(choose, lexicon.TOWN_PLACES, THE, lexicon.CONDITIONS)
    who = choose.form((Phrase("do I", "komme ich"), Phrase("do we", "kommen wir"), Phrase("does one", "kommt man")))
    how = choose.form((Phrase("how", "wie"), Phrase("excuse me, how", "Entschuldigung, wie")))
    return both(f"{how.en} {who.en} get to {place.en}", f"{how.de} {who.de} {_to(place)}", "?")


def nearby(choose: Chooser) -> Phrase:
    """Is there a good pharmacy near here?"""
    qualities = lexicon.CONDITIONS + adjectives("gut = good\n billig = cheap")
    place = noun_object(choose, lexicon.TOWN_PLACES, A, qualities)
    return both(f"is there {place.en} near here", f"gibt es hier in der Nähe {place.de('accusative')}", "?")


_SIDES = phrases("""
    links = left
    rechts = right
""")
_LANDMARKS = phrases("""
    an = at
    nach = after
    vor = before
    hinter = behind
""")[:3]


def turn(choose: Chooser) -> Phrase:
    """Go straight ahead and turn left at the church."""
    place = noun_object(choose, lexicon.TOWN_PLACES, THE, lexicon.CONDITIONS)
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
    in der Nähe von = near
""")


def located(choose: Chooser) -> Phrase:
    """The museum is next to the old church."""
    place = NounPhrase(noun=choose.word(lexicon.TOWN_PLACES), determiner=THE)
    others = tuple(noun for noun in lexicon.TOWN_PLACES if noun != place.noun)
    landmark = noun_object(choose, others, THE, lexicon.CONDITIONS)
    relation = choose.form(_RELATIONS[:4])
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
    minutes = choose.form((*lexicon.NUMBERS[1:], *lexicon.TENS[:3]))
    how = choose.form(phrases("zu Fuß = on foot\n mit dem Auto = by car\n mit dem Bus = by bus"))
    origin = german.prepositional("von", start.de("dative"))
    return both(
        f"from {start.en} to {goal.en} it is {minutes.en} minutes {how.en}",
        f"{origin} {_to(goal)} sind es {how.de} {minutes.de} Minuten",
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
    platform = choose.form(lexicon.NUMBERS)
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
    minutes = choose.word((*lexicon.NUMBERS[1:], *lexicon.TENS))
    direction = choose.form((Phrase("from", "aus"), Phrase("to", "nach")))
    phrase = NounPhrase(noun=line, determiner=THE)
    return both(
        f"{phrase.en} {direction.en} {city.en} is {minutes.en} minutes late",
        f"{phrase.de('nominative')} {direction.de} {city.de} hat {minutes.de} Minuten Verspätung",
    )


def tickets(choose: Chooser) -> Phrase:
    """Two return tickets to Berlin for tomorrow, please."""
    city = choose.word(lexicon.CITIES)
    number = choose.word(lexicon.NUMBERS[:6])
    ticket = choose.form((Phrase("ticket", "Fahrkarte"), Phrase("return ticket", "Rückfahrkarte")))
    when = choose.form((Phrase("", ""), Phrase(" for tomorrow", " für morgen"), Phrase(" for today", " für heute")))
    one = number.en == "one"
    return both(
        f"{'one' if one else number.en} {ticket.en}{'' if one else 's'} to {city.en}{when.en}, please",
        f"{'eine' if one else number.de} {ticket.de}{'' if one else 'n'} nach {city.de}{when.de}, bitte",
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
    zum Markt = to the market
""")[:-1]


def ride(choose: Chooser) -> Phrase:
    """We went to Vienna by train yesterday: time, manner, place in German."""
    far = choose.chance(0.5)
    goal = choose.word(_RIDE_GOALS if far else _TOWN_GOALS)
    vehicle = NounPhrase(noun=choose.word(_RIDES if far else lexicon.VEHICLES[:6] + lexicon.VEHICLES[7:]), determiner=THE)
    predicate = Predicate(
        verb=verb("fahren fährt +gefahren = go went gone"),
        en=f"{goal.en} by {vehicle.noun.en}",
        de_place=f"mit {vehicle.de('dative')} {goal.de}",
    )
    tense: Tense = choose.form(("now", "past", "past", "habit", "future", "must", "want", "would"))
    times = {"past": PAST, "habit": REGULAR}.get(tense, COMING)
    clause = Clause(subject=first_subject(choose), predicate=predicate, tense=tense, time=choose.form(times))
    order = "fronted" if choose.chance(0.3) else "statement"
    return both(in_english(clause, order), in_german(clause, order))  # type: ignore[arg-type]


def stops(choose: Chooser) -> Phrase:
    """Does this bus stop at the museum?"""
    line = NounPhrase(noun=choose.word((*_LINES, lexicon.VEHICLES[3])), determiner=THIS)
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
    day = choose.word(lexicon.WEEKDAYS)
    opens = clock(choose)
    if choose.chance(0.3):
        word = choose.form(phrases("geschlossen = closed\n geöffnet = open"))
        return both(
            f"{place.en} is {word.en} on {day.en}s", f"{place.de('nominative')} ist {day.de.lower()}s {word.de}"
        )
    if choose.chance(0.5):
        return both(
            f"on {day.en}s {place.en} opens at {opens.en}",
            f"{day.de.lower()}s öffnet {place.de('nominative')} um {opens.de}",
        )
    return both(
        f"{place.en} closes at {opens.en} on {day.en}s",
        f"{place.de('nominative')} schließt {day.de.lower()}s um {opens.de}",
    )


_HOTEL_ROOMS = phrases("""
    ein Einzelzimmer = a single room
    ein Doppelzimmer = a double room
    ein ruhiges Zimmer = a quiet room
    ein großes Zimmer = a big room
    ein billiges Zimmer = a cheap room
    eine kleine Wohnung = a small flat
""")
_EXTRAS = phrases("""
    Frühstück = breakfast
    Bad = a bath
    Dusche = a shower
    Balkon = a balcony
    Blick auf den See = a view of the lake
    Blick auf die Berge = a view of the mountains
    Klimaanlage = air conditioning
""")


def book_room(choose: Chooser) -> Phrase:
    """I would like to book a double room with a balcony for three nights."""
    room, extra = choose.word(_HOTEL_ROOMS), choose.word(_EXTRAS)
    nights = choose.form(lexicon.NUMBERS[1:])
    stay = choose.form((Phrase("nights", "Nächte"), Phrase("days", "Tage"), Phrase("weeks", "Wochen")))
    who = choose.form(
        phrases("""
            ich möchte = I would like to
            wir möchten = we would like to
            ich muss = I have to
            kann ich = can I
        """)
    )
    return both(
        f"{who.en} book {room.en} with {extra.en} for {nights.en} {stay.en}",
        f"{who.de} für {nights.de} {stay.de} {room.de} mit {extra.de} buchen",
        "?" if who.en == "can I" else ".",
    )


_INDOORS = phrases("""
    in meinem Zimmer = in my room
    in unserem Zimmer = in our room
    im Badezimmer = in the bathroom
    in Zimmer zwölf = in room twelve
    im zweiten Stock = on the second floor
    im Hotel = in the hotel
    in der Küche = in the kitchen
    im Keller = in the cellar
""")


def broken(choose: Chooser) -> Phrase:
    """The shower in our room does not work."""
    phrase = noun_object(choose, lexicon.HOTEL_FITTINGS[:-1], THE, lexicon.CONDITIONS)
    where = choose.word(_INDOORS)
    state = choose.form(
        (
            Phrase("does not work", "funktioniert nicht"),
            Phrase("is broken", "ist kaputt"),
            Phrase("has to be repaired", "muss repariert werden"),
        )
    )
    return both(f"{phrase.en} {where.en} {state.en}", f"{phrase.de('nominative')} {where.de} {state.de}")


_ROOM_GOODS = lexicon.FURNITURE + lexicon.HOTEL_FITTINGS[3:6]


def is_there(choose: Chooser) -> Phrase:
    """Is there a telephone in our room? There is no chair in the kitchen."""
    where = choose.word(_INDOORS[:5])
    noun = choose.word(_ROOM_GOODS)
    phrase = NounPhrase(noun=noun, determiner=A)
    if choose.chance(0.5):
        return both(f"is there {phrase.en} {where.en}", f"gibt es {where.de} {phrase.de('accusative')}", "?")
    return both(f"there is no {noun.en} {where.en}", f"es gibt {where.de} {phrase.negated().de('accusative')}")


def wake_up(choose: Chooser) -> Phrase:
    """Please wake me at half past six tomorrow."""
    time = clock(choose, content=True)
    whom = choose.form(phrases("mich = me\n uns = us\n meinen Mann = my husband\n meine Frau = my wife"))
    day = choose.form((Phrase("", ""), Phrase(" tomorrow", " morgen"), Phrase(" on Sunday", " am Sonntag")))
    return both(
        f"please wake {whom.en} at {time.en}{day.en}", f"wecken Sie {whom.de} bitte{day.de} um {time.de}"
    )


def what_time(choose: Chooser) -> Phrase:
    """It is already half past seven."""
    time = clock(choose, content=True)
    how = choose.form(
        (
            Phrase("it is", "es ist"),
            Phrase("it is already", "es ist schon"),
            Phrase("it is almost", "es ist fast"),
            Phrase("it is exactly", "es ist genau"),
        )
    )
    return both(f"{how.en} {time.en}", f"{how.de} {time.de}")


_WEATHER = phrases("""
    kalt = cold
    warm = warm
    heiß = hot
    windig = windy
    sonnig = sunny
    neblig = foggy
    bewölkt = cloudy
    kühl = cool
""")


def weather(choose: Chooser) -> Phrase:
    """Yesterday it was cold and windy in Vienna."""
    city = choose.word(lexicon.CITIES)
    first = choose.word(_WEATHER)
    second = choose.word(tuple(word for word in _WEATHER[3:7] if word != first))
    kind = choose.form(("past", "now", "future"))
    both_en, both_de = f"{first.en} and {second.en}", f"{first.de} und {second.de}"
    if kind == "past":
        time = choose.form(PAST[:4])
        return both(
            f"{time.en} it was {both_en} in {city.en}", f"{time.de} war es in {city.de} {both_de}"
        )
    if kind == "now":
        month = choose.form(lexicon.MONTHS)
        return both(
            f"in {month.en} it is often {both_en} in {city.en}", f"im {month.de} ist es in {city.de} oft {both_de}"
        )
    time = choose.form(COMING[3:5])
    return both(
        f"{time.en} it will be {both_en} in {city.en}", f"{time.de} wird es in {city.de} {both_de} sein"
    )


def rain(choose: Chooser) -> Phrase:
    """Tomorrow it will snow in Munich."""
    city = choose.word(lexicon.CITIES)
    falls = choose.word((verb("regnen regnet geregnet = rain"), verb("schneien schneit geschneit = snow")))
    tense: Tense = choose.form(("now", "past", "future"))
    time = choose.form({"past": PAST, "now": COMING[:1]}.get(tense, COMING[:6]))
    it = NounPhrase(noun=lexicon.NOISES[0], determiner=THE).as_subject()
    clause = Clause(
        subject=type(it)(en="it", de="es", person="3s", my=it.my, reflexive="sich"),
        predicate=Predicate(verb=falls, en=f"in {city.en}", de_place=f"in {city.de}"),
        tense=tense,
        time=time,
    )
    return both(in_english(clause, "fronted"), in_german(clause, "fronted"))


_CAUSES = (
    ("schlecht = bad", 0),
    ("stark = heavy", 1),
    ("stark = heavy", 2),
    ("laut = loud", 3),
    ("tief = deep", 4),
    ("schwer = severe", 5),
    ("groß = great", 6),
    ("dicht = thick", 7),
)
_STAYS = phrases("""
    im Hotel = in the hotel
    zu Hause = at home
    im Haus = in the house
    in der Stadt = in town
    im Zimmer = in the room
    in der Wohnung = in the flat
""")


def because_of(choose: Chooser) -> Phrase:
    """Because of the bad weather we stayed at home yesterday: wegen takes the genitive."""
    row, index = choose.form(_CAUSES)
    cause = NounPhrase(
        noun=choose.word((lexicon.NOISES[index],)), determiner=THE, adjective=choose.word(adjectives(row))
    )
    where = choose.word(_STAYS)
    tense: Tense = choose.form(("past", "must", "future", "had_to"))
    clause = Clause(
        subject=first_subject(choose),
        predicate=Predicate(
            verb=verb("bleiben bleibt +geblieben = stay"), en=where.en, de_place=where.de
        ),
        tense=tense,
        time=choose.form(PAST[:4] if tense in ("past", "had_to") else COMING[:4]),
    )
    german_rest = in_german(clause, "question")
    return both(
        f"because of {cause.en} {in_english(clause)}", f"wegen {cause.de('genitive')} {german_rest}"
    )


def sights(choose: Chooser) -> Phrase:
    """The old bridge is very beautiful."""
    phrase = noun_object(choose, lexicon.SIGHTS, choose.form((THE, THIS)), lexicon.BUILDING_QUALITIES[:3])
    quality = choose.word(
        phrases("""
            sehr schön = very beautiful
            sehr berühmt = very famous
            zu groß = too big
            sehr interessant = very interesting
            nicht weit von hier = not far from here
            sehr alt = very old
            leider geschlossen = unfortunately closed
        """)
    )
    was = choose.chance(0.3) and "hier" not in quality.de
    is_en, is_de = ("was", "war") if was else ("is", "ist")
    return both(f"{phrase.en} {is_en} {quality.en}", f"{phrase.de('nominative')} {is_de} {quality.de}")


def was_in(choose: Chooser) -> Phrase:
    """I was in Rome with my brother in July."""
    city = choose.word(lexicon.CITIES)
    companion = NounPhrase(noun=choose.word(lexicon.RELATIVES), determiner=choose.form((MY, OUR)))
    month = choose.form(lexicon.MONTHS)
    subject = first_subject(choose)
    return both(
        f"{subject.en} {english.was(subject.person)} in {city.en} with {companion.en} in {month.en}",
        f"{subject.de} {german.simple_past('sein', subject.person)} im {month.de} "
        f"mit {companion.de('dative')} in {city.de}",
    )
