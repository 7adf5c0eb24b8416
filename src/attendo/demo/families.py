"""What people do in the phrasebook: families of verbs with the objects and places that suit them."""

from dataclasses import dataclass

from attendo.demo import german, lexicon
from attendo.demo.words import Adjective, Noun, Phrase, Verb, nouns, phrases, verbs

BARE = Phrase("", "")


@dataclass(frozen=True, kw_only=True)
class Family:
    """Verbs that take the same kinds of objects, and the uses that make sense for them."""

    verbs: tuple[Verb, ...]
    uses: str
    """Any of h (habit), n (going on or arranged), e (past event), w (wish, duty, plan), p (pleasure), d (duty)."""
    nouns: tuple[Noun, ...] = ()
    adjectives: tuple[Adjective, ...] = ()
    determiners: str = "a"
    """a (indefinite), t (the), s (this), m (the subject's own), 0 (none)."""
    case: german.Case = "accusative"
    preposition: Phrase = BARE
    """Before the object: wait for/auf."""
    complements: tuple[Phrase, ...] = ()
    """Fixed complements in place of a noun: to the cinema/ins Kino."""
    weight: int = 1
    """How often it is drawn against the others."""


def _destinations(preposition: Phrase, places: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    return tuple(Phrase(f"{preposition.en} {place.en}", f"{preposition.de} {place.de}") for place in places)


_TO_CITIES = _destinations(Phrase("to", "nach"), lexicon.CITIES)

FAMILIES: tuple[Family, ...] = (
    Family(
        verbs=verbs("kaufen kauft gekauft = buy bought"),
        nouns=lexicon.CLOTHES + lexicon.BELONGINGS,
        adjectives=lexicon.COLOURS + lexicon.PRICES,
        determiners="aat",
        uses="news",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            bestellen bestellt bestellt = order
            verkaufen verkauft verkauft = sell sold
        """),
        nouns=lexicon.CLOTHES + lexicon.BELONGINGS,
        adjectives=lexicon.COLOURS + lexicon.PRICES,
        determiners="aat",
        uses="new",
        weight=3,
    ),
    Family(
        verbs=verbs("""
            an|probieren probiert anprobiert = try_on tried_on
            tragen trägt getragen = wear wore worn
            an|ziehen zieht angezogen = put_on put_on
        """),
        nouns=lexicon.CLOTHES,
        adjectives=lexicon.CLOTHES_QUALITIES,
        determiners="att",
        uses="new",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            waschen wäscht gewaschen = wash
            ein|packen packt eingepackt = pack
            mit|bringen bringt mitgebracht = bring brought
        """),
        nouns=lexicon.CLOTHES,
        adjectives=lexicon.CLOTHES_QUALITIES,
        determiners="mmt",
        uses="newdrx",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            verlieren verliert verloren = lose lost
            finden findet gefunden = find found
            vergessen vergisst vergessen = forget forgot forgotten
        """),
        nouns=lexicon.BELONGINGS + lexicon.PAPERS,
        adjectives=lexicon.CONDITIONS,
        determiners="mmt",
        uses="e",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            suchen sucht gesucht = look_for looked_for
            holen holt geholt = get got
        """),
        nouns=lexicon.BELONGINGS + lexicon.PAPERS,
        adjectives=lexicon.CONDITIONS,
        determiners="mmt",
        uses="newdr",
    ),
    Family(
        verbs=verbs("brauchen braucht gebraucht = need"),
        nouns=lexicon.BELONGINGS + lexicon.PAPERS[:4] + lexicon.CLOTHES,
        adjectives=lexicon.CONDITIONS,
        determiners="a",
        uses="n",
    ),
    Family(
        verbs=verbs("""
            essen isst gegessen = eat ate eaten
            bestellen bestellt bestellt = order
            probieren probiert probiert = try
        """),
        nouns=lexicon.SNACKS[:-1] + lexicon.DISHES,
        adjectives=lexicon.FOOD_QUALITIES,
        determiners="aat",
        uses="new",
        weight=3,
    ),
    Family(
        verbs=verbs("essen isst gegessen = eat ate eaten"),
        nouns=lexicon.GROCERIES,
        adjectives=lexicon.GROCERY_QUALITIES,
        determiners="0",
        uses="hnew",
    ),
    Family(
        verbs=verbs("kaufen kauft gekauft = buy bought"),
        nouns=lexicon.GROCERIES,
        adjectives=lexicon.GROCERY_QUALITIES,
        determiners="0",
        uses="hnews",
    ),
    Family(
        verbs=verbs("backen backt gebacken = bake"),
        nouns=nouns("""
            der Kuchen/Kuchen = cake
            die Pizza/Pizzen = pizza
        """),
        adjectives=lexicon.FOOD_QUALITIES[1:],
        uses="newp",
    ),
    Family(
        verbs=verbs("""
            trinken trinkt getrunken = drink drank drunk
            bestellen bestellt bestellt = order
        """),
        nouns=lexicon.DRINKS,
        adjectives=lexicon.DRINK_QUALITIES,
        uses="hnew",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            lesen liest gelesen = read read
            schreiben schreibt geschrieben = write wrote written
        """),
        nouns=lexicon.LITERATURE[:4] + lexicon.LITERATURE[-1:],
        adjectives=lexicon.LITERATURE_QUALITIES[2:],
        determiners="aats",
        uses="newp",
        weight=2,
    ),
    Family(
        verbs=verbs("lesen liest gelesen = read read"),
        nouns=lexicon.LITERATURE,
        adjectives=lexicon.LITERATURE_QUALITIES,
        determiners="aats",
        uses="hnewp",
    ),
    Family(
        verbs=verbs("""
            schreiben schreibt geschrieben = write wrote written
            schicken schickt geschickt = send sent
            lesen liest gelesen = read read
        """),
        nouns=lexicon.MAIL,
        adjectives=lexicon.MAIL_QUALITIES,
        determiners="at",
        uses="newdr",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            lesen liest gelesen = read read
            unterschreiben unterschreibt unterschrieben = sign
            aus|drucken druckt ausgedruckt = print
            überprüfen überprüft überprüft = check
        """),
        nouns=lexicon.DOCUMENTS,
        adjectives=lexicon.DOCUMENT_QUALITIES,
        determiners="tts",
        uses="newdrx",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            besuchen besucht besucht = visit
            an|rufen ruft angerufen = call
            ab|holen holt abgeholt = pick_up picked_up
            treffen trifft getroffen = meet met
            ein|laden lädt eingeladen = invite
        """),
        nouns=lexicon.RELATIVES,
        determiners="m",
        uses="hnewpdr",
        weight=3,
    ),
    Family(
        verbs=verbs("""
            besuchen besucht besucht = visit
            an|rufen ruft angerufen = call
            ab|holen holt abgeholt = pick_up picked_up
            treffen trifft getroffen = meet met
            ein|laden lädt eingeladen = invite
        """),
        nouns=lexicon.ACQUAINTANCES[:6],
        adjectives=lexicon.PERSON_QUALITIES,
        determiners="m",
        uses="newpdr",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            helfen hilft geholfen = help
            danken dankt gedankt = thank
            antworten antwortet geantwortet = answer
        """),
        nouns=lexicon.RELATIVES + lexicon.ACQUAINTANCES,
        determiners="m",
        case="dative",
        uses="newdr",
        weight=2,
    ),
    Family(
        verbs=verbs("warten wartet gewartet = wait"),
        preposition=Phrase("for", "auf"),
        nouns=lexicon.RELATIVES + lexicon.ACQUAINTANCES,
        determiners="m",
        uses="new",
    ),
    Family(
        verbs=verbs("""
            sprechen spricht gesprochen = talk
            tanzen tanzt getanzt = dance
        """),
        preposition=Phrase("with", "mit"),
        case="dative",
        nouns=lexicon.RELATIVES + lexicon.ACQUAINTANCES,
        determiners="m",
        uses="new",
    ),
    Family(
        verbs=verbs("gehen geht +gegangen = go went gone"),
        complements=lexicon.DESTINATIONS,
        uses="hnew",
        weight=3,
    ),
    Family(
        verbs=verbs("gehen geht +gegangen = go went gone"),
        complements=lexicon.DESTINATIONS[:5],
        uses="pl",
    ),
    Family(
        verbs=verbs("""
            fahren fährt +gefahren = drive drove driven
            fliegen fliegt +geflogen = fly flew flown
            reisen reist +gereist = travel
        """),
        complements=_TO_CITIES + lexicon.COUNTRIES[:6],
        uses="newpl",
        weight=3,
    ),
    Family(
        verbs=verbs("fahren fährt +gefahren = drive drove driven"),
        complements=lexicon.COUNTRIES[6:] + lexicon.DESTINATIONS[12:14] + lexicon.DESTINATIONS[-2:],
        uses="hnew",
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
        uses="hnewd",
    ),
    Family(
        verbs=verbs("""
            frühstücken frühstückt gefrühstückt = have_breakfast had_breakfast
            schlafen schläft geschlafen = sleep slept
            bleiben bleibt +geblieben = stay stayed
        """),
        complements=phrases("""
            im Hotel = in the hotel
            zu Hause = at home
            im Zug = on the train
            im Garten = in the garden
        """),
        uses="hnew",
    ),
    Family(
        verbs=verbs("schwimmen schwimmt +geschwommen = swim swam swum"),
        complements=phrases("""
            im See = in the lake
            im Meer = in the sea
            im Fluss = in the river
            im Schwimmbad = in the swimming pool
        """),
        uses="hnewpl",
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
        uses="hnewpl",
    ),
    Family(
        verbs=verbs("""
            fern|sehen sieht ferngesehen = watch_television watched_television
            ein|kaufen kauft eingekauft = go_shopping went_shopping gone_shopping
            auf|räumen räumt aufgeräumt = tidy_up tidied_up
            kochen kocht gekocht = cook
        """),
        complements=(BARE,),
        uses="hnewl",
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
        uses="hnewpl",
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
        uses="hnew",
    ),
    Family(
        verbs=verbs("hören hört gehört = listen"),
        complements=phrases("""
            Musik = to music
            Radio = to the radio
        """),
        uses="hnewpl",
    ),
    Family(
        verbs=verbs("""
            öffnen öffnet geöffnet = open
            schließen schließt geschlossen = close
        """),
        nouns=lexicon.OPENABLES,
        adjectives=lexicon.CONDITIONS,
        determiners="t",
        uses="newrx",
    ),
    Family(
        verbs=verbs("""
            ein|schalten schaltet eingeschaltet = turn_on turned_on
            aus|schalten schaltet ausgeschaltet = turn_off turned_off
        """),
        nouns=lexicon.DEVICES,
        determiners="t",
        uses="newrx",
    ),
    Family(
        verbs=verbs("reparieren repariert repariert = repair"),
        nouns=lexicon.REPAIRABLES,
        adjectives=lexicon.CONDITIONS,
        determiners="tm",
        uses="newdr",
    ),
    Family(
        verbs=verbs("""
            putzen putzt geputzt = clean
            renovieren renoviert renoviert = renovate
        """),
        nouns=lexicon.ROOMS,
        adjectives=lexicon.SIZES,
        determiners="t",
        uses="newdr",
    ),
    Family(
        verbs=verbs("mieten mietet gemietet = rent"),
        nouns=lexicon.RENTALS,
        adjectives=lexicon.RENTAL_QUALITIES,
        uses="new",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            besichtigen besichtigt besichtigt = view
            fotografieren fotografiert fotografiert = photograph
        """),
        nouns=lexicon.SIGHTS,
        adjectives=lexicon.BUILDING_QUALITIES,
        determiners="tts",
        uses="newp",
    ),
)
