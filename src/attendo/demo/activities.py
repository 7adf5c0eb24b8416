"""What people do in the phrasebook without an object: where they go, what they play."""

from attendo.demo import lexicon, places
from attendo.demo.families import BARE, Family
from attendo.demo.words import Phrase, phrases, verbs


def _destinations(preposition: Phrase, places: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    return tuple(Phrase(f"{preposition.en} {place.en}", f"{preposition.de} {place.de}") for place in places)


_TO_CITIES = _destinations(Phrase("to", "nach"), places.CITIES)

ACTIVITY_FAMILIES: tuple[Family, ...] = (
    Family(
        verbs=verbs("gehen geht +gegangen = go went gone"),
        complements=places.DESTINATIONS,
        uses="honew",
        weight=3,
    ),
    Family(
        verbs=verbs("gehen geht +gegangen = go went gone"),
        complements=places.DESTINATIONS[:5],
        uses="pl",
    ),
    Family(
        verbs=verbs("""
            fahren fährt +gefahren = drive drove driven
            fliegen fliegt +geflogen = fly flew flown
            reisen reist +gereist = travel
        """),
        complements=_TO_CITIES + places.COUNTRIES[:6],
        uses="newpl",
        weight=3,
    ),
    Family(
        verbs=verbs("fahren fährt +gefahren = drive drove driven"),
        complements=places.COUNTRIES[6:] + places.DESTINATIONS[12:14] + places.DESTINATIONS[-2:],
        uses="honew",
    ),
    Family(
        verbs=verbs("arbeiten arbeitet gearbeitet = work"),
        complements=phrases("""
            im Garten = in the garden
            im Büro = in the office
            in der Bibliothek = in the library
            in der Küche = in the kitchen
            zu Hause = at home
            im Hotel = in the hotel
            im Krankenhaus = in the hospital
            auf dem Markt = at the market
        """),
        uses="honewd",
    ),
    Family(
        verbs=verbs("""
            schlafen schläft geschlafen = sleep slept
            bleiben bleibt +geblieben = stay stayed
        """),
        complements=phrases("""
            im Hotel = in the hotel
            zu Hause = at home
            im Zug = on the train
            im Garten = in the garden
        """),
        uses="honew",
    ),
    Family(
        verbs=verbs("schwimmen schwimmt +geschwommen = swim swam swum"),
        complements=phrases("""
            im See = in the lake
            im Meer = in the sea
            im Fluss = in the river
            im Schwimmbad = in the swimming pool
        """),
        uses="honewpl",
    ),
    Family(
        verbs=verbs("""
            spazieren_|gehen geht +spazieren_gegangen = go_for_a_walk went_for_a_walk gone_for_a_walk
        """),
        complements=phrases("""
            im Park = in the park
            am Strand = on the beach
            im Wald = in the forest
            am Fluss = along the river
        """),
        uses="honewpl",
    ),
    Family(
        verbs=verbs("""
            fern|sehen sieht ferngesehen = watch_television watched_television
            ein|kaufen kauft eingekauft = go_shopping went_shopping gone_shopping
            auf|räumen räumt aufgeräumt = tidy_up tidied_up
            kochen kocht gekocht = cook
        """),
        complements=(BARE,),
        uses="honewl",
    ),
    Family(
        verbs=verbs("spielen spielt gespielt = play"),
        complements=phrases("""
            Fußball = football
            Tennis = tennis
            Schach = chess
            Karten = cards
            Klavier = the piano
            Gitarre = the guitar
            Basketball = basketball
            Geige = the violin
        """),
        uses="honewpl",
        weight=2,
    ),
    Family(
        verbs=verbs("lernen lernt gelernt = learn learnt"),
        complements=lexicon.LANGUAGES,
        uses="hnew",
    ),
    Family(
        verbs=verbs("machen macht gemacht = take took taken"),
        complements=phrases("""
            eine Pause = a break
            ein Foto = a photo
            einen Mittagsschlaf = a nap
        """),
        uses="new",
        brief=True,
    ),
    Family(
        verbs=verbs("nehmen nimmt genommen = take took taken"),
        complements=phrases("""
            den Bus = the bus
            den Zug = the train
            die Straßenbahn = the tram
            die U-Bahn = the underground
            ein Taxi = a taxi
        """),
        uses="honew",
    ),
    Family(
        verbs=verbs("hören hört gehört = listen"),
        complements=phrases("""
            Musik = to music
            Radio = to the radio
        """),
        uses="honewpl",
    ),
)
"""Going, playing, learning: verbs with a fixed complement."""
