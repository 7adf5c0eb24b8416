"""Templates for travelling: the hotel, the weather, the sights, the time."""

from attendo.synthetic import counting, english, german, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import IT, Clause, NounPhrase, Predicate, Tense, in_english, in_german
from attendo.synthetic.clock import clock
from attendo.synthetic.predicates import MY, OUR, THE, THIS, A, noun_object
from attendo.synthetic.templates.everyday import ARRANGED, PAST, both, first_subject
from attendo.synthetic.words import Phrase, adjectives, phrases, verb

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
    nights = choose.form(counting.NUMBERS[1:])
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


_ROOMS = phrases("""
    in meinem Zimmer = in my room
    in unserem Zimmer = in our room
    in Zimmer zwei = in room two
    in Zimmer sieben = in room seven
    in Zimmer zwölf = in room twelve
    im Badezimmer = in the bathroom
    im zweiten Stock = on the second floor
    im dritten Stock = on the third floor
""")

_FAULTS = phrases("""
    funktioniert nicht = does not work
    ist kaputt = is broken
    muss repariert werden = has to be repaired
    funktioniert seit gestern nicht = has not worked since yesterday
""")


def broken(choose: Chooser) -> Phrase:
    """The shower in our room does not work."""
    phrase = NounPhrase(noun=choose.word(lexicon.HOTEL_FITTINGS), determiner=THE)
    in_bathroom = phrase.noun.en in ("shower", "tap", "light", "heating")
    in_room = _ROOMS[:6] if in_bathroom else _ROOMS[:5]
    where, fault = choose.word(_ROOMS[-2:] if phrase.noun.en == "lift" else in_room), choose.form(_FAULTS)
    return both(f"{phrase.en} {where.en} {fault.en}", f"{phrase.de('nominative')} {where.de} {fault.de}")


_ROOM_GOODS = lexicon.FURNITURE + lexicon.HOTEL_FITTINGS[:6]


def is_there(choose: Chooser) -> Phrase:
    """Is there a telephone in our room? There is no chair in room two."""
    where = choose.word(_ROOMS[:5])
    noun = choose.word(tuple(noun for noun in _ROOM_GOODS if noun.en not in ("heating", "air conditioning")))
    phrase = NounPhrase(noun=noun, determiner=A)
    if choose.chance(0.5):
        return both(f"is there {phrase.en} {where.en}", f"gibt es {where.de} {phrase.de('accusative')}", "?")
    return both(f"there is no {noun.en} {where.en}", f"{where.de} gibt es {phrase.negated().de('accusative')}")


def wake_up(choose: Chooser) -> Phrase:
    """Please wake me at half past six tomorrow."""
    time = clock(choose, hours=range(5, 11), content=True)
    whom = choose.form(phrases("mich = me\n uns = us\n meinen Mann = my husband\n meine Frau = my wife"))
    day = choose.form((Phrase("", ""), Phrase(" tomorrow", " morgen"), Phrase(" on Sunday", " am Sonntag")))
    return both(f"please wake {whom.en} at {time.en}{day.en}", f"wecken Sie {whom.de} bitte{day.de} um {time.de}")


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
    kalt und windig = cold and windy
    kalt und neblig = cold and foggy
    kalt und nass = cold and wet
    kühl und bewölkt = cool and cloudy
    kühl und windig = cool and windy
    warm und sonnig = warm and sunny
    warm und trocken = warm and dry
    warm und windig = warm and windy
    heiß und sonnig = hot and sunny
    heiß und trocken = hot and dry
    sehr kalt = very cold
    sehr heiß = very hot
""")

_DAYS_PAST = PAST[:2] + PAST[4:]


def weather(choose: Chooser) -> Phrase:
    """Yesterday it was cold and windy in Vienna."""
    city, air = choose.word(lexicon.CITIES), choose.word(_WEATHER)
    kind = choose.form(("was", "is often", "will be"))
    if kind == "was":
        time = choose.form(_DAYS_PAST)
        return both(f"{time.en} it was {air.en} in {city.en}", f"{time.de} war es in {city.de} {air.de}")
    if kind == "is often":
        month = choose.form(counting.MONTHS)
        return both(
            f"in {month.en} it is often {air.en} in {city.en}", f"im {month.de} ist es in {city.de} oft {air.de}"
        )
    time = choose.form(ARRANGED[3:])
    return both(f"{time.en} it will be {air.en} in {city.en}", f"{time.de} wird es in {city.de} {air.de} sein")


def rain(choose: Chooser) -> Phrase:
    """Tomorrow it will snow in Munich."""
    city = choose.word(lexicon.CITIES)
    falls = choose.word((verb("regnen regnet geregnet = rain"), verb("schneien schneit geschneit = snow")))
    tense: Tense = choose.form(("now", "past", "future"))
    time = choose.form({"past": PAST, "now": ARRANGED[:1]}.get(tense, ARRANGED[3:]))
    clause = Clause(
        subject=IT,
        predicate=Predicate(verb=falls, en=f"in {city.en}", de_place=f"in {city.de}"),
        tense=tense,
        time=time,
    )
    return both(in_english(clause, "fronted"), in_german(clause, "fronted"))


_CAUSES = tuple(
    zip(
        lexicon.NOISES,
        adjectives("""
            schlecht = bad
            stark = heavy
            stark = heavy
            tief = deep
            schwer = severe
            groß = great
            dicht = thick
        """),
        strict=True,
    )
)

_STAYS = phrases("""
    im Hotel = in the hotel
    zu Hause = at home
    im Haus = in the house
    im Zimmer = in the room
    in der Wohnung = in the flat
""")


def because_of(choose: Chooser) -> Phrase:
    """Because of the bad weather we stayed at home yesterday: wegen takes the genitive."""
    noun, adjective = choose.form(_CAUSES)
    choose.word((noun,))
    cause = NounPhrase(noun=noun, determiner=THE, adjective=adjective)
    where = choose.word(_STAYS)
    tense: Tense = choose.form(("past", "must", "future", "had_to"))
    clause = Clause(
        subject=first_subject(choose),
        predicate=Predicate(verb=verb("bleiben bleibt +geblieben = stay"), en=where.en, de_place=where.de),
        tense=tense,
        time=choose.form(_DAYS_PAST if tense in ("past", "had_to") else ARRANGED),
    )
    german_rest = in_german(clause, "question")
    return both(f"because of {cause.en} {in_english(clause)}", f"wegen {cause.de('genitive')} {german_rest}")


_SIGHT_STATES = phrases("""
    sehr schön = very beautiful
    sehr berühmt = very famous
    zu groß = too big
    sehr interessant = very interesting
    nicht weit von hier = not far from here
    sehr alt = very old
    leider geschlossen = unfortunately closed
""")


def sights(choose: Chooser) -> Phrase:
    """The old bridge is very beautiful."""
    phrase = noun_object(choose, lexicon.SIGHTS, choose.form((THE, THIS)), lexicon.BUILDING_QUALITIES[:3])
    own = phrase.adjective.en if phrase.adjective else "-"
    quality = choose.word(tuple(word for word in _SIGHT_STATES if not word.en.endswith(own)))
    was = choose.chance(0.3) and "hier" not in quality.de
    is_en, is_de = ("was", "war") if was else ("is", "ist")
    return both(f"{phrase.en} {is_en} {quality.en}", f"{phrase.de('nominative')} {is_de} {quality.de}")


def was_in(choose: Chooser) -> Phrase:
    """I was in Rome with my brother in July."""
    city = choose.word(lexicon.CITIES)
    companion = NounPhrase(noun=choose.word(lexicon.RELATIVES), determiner=choose.form((MY, OUR)))
    month = choose.form(counting.MONTHS)
    subject = first_subject(choose)
    return both(
        f"{subject.en} {english.was(subject.person)} in {city.en} with {companion.en} in {month.en}",
        f"{subject.de} {german.simple_past('sein', subject.person)} im {month.de} "
        f"mit {companion.de('dative')} in {city.de}",
    )
