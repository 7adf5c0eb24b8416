"""What people do in the phrasebook: families of verbs with the objects that suit them."""

from dataclasses import dataclass

from attendo.demo import german, lexicon, places
from attendo.demo.words import Adjective, Noun, Phrase, Verb, nouns, verbs

BARE = Phrase("", "")


@dataclass(frozen=True, kw_only=True)
class Family:
    """Verbs that take the same kinds of objects, and the uses that make sense for them."""

    verbs: tuple[Verb, ...]
    uses: str
    """What it can be said about, a letter each:

    h habit, o how often, n going on or arranged, e past event, w wish or plan, p pleasure, d duty, r request,
    x request not to, l what one likes doing, s what one goes shopping for.
    """
    nouns: tuple[Noun, ...] = ()
    adjectives: tuple[Adjective, ...] = ()
    determiners: str = "a"
    """a (indefinite), t (the), s (this), m (the subject's own), 0 (none)."""
    case: german.Case = "accusative"
    preposition: Phrase = BARE
    """Before the object: wait for/auf."""
    complements: tuple[Phrase, ...] = ()
    """Fixed complements in place of a noun: to the cinema/ins Kino."""
    brief: bool = False
    """Done in a moment: nobody opens a window next month."""
    weight: int = 1
    """How often it is drawn against the others."""


OBJECT_FAMILIES: tuple[Family, ...] = (
    Family(
        verbs=verbs("unterschreiben unterschreibt unterschrieben = sign"),
        nouns=lexicon.SIGNABLES,
        adjectives=lexicon.DOCUMENT_QUALITIES,
        determiners="tts",
        uses="newdrx",
    ),
    Family(
        verbs=verbs("an|ziehen zieht angezogen = put_on put_on"),
        nouns=lexicon.GARMENTS + lexicon.FOOTWEAR,
        adjectives=lexicon.CLOTHES_QUALITIES,
        determiners="mt",
        uses="newr",
        brief=True,
    ),
    Family(
        verbs=verbs("auf|setzen setzt aufgesetzt = put_on put_on"),
        nouns=lexicon.HEADWEAR,
        adjectives=lexicon.CLOTHES_QUALITIES,
        determiners="mt",
        uses="newr",
        brief=True,
    ),
    Family(
        verbs=verbs("waschen wäscht gewaschen = wash"),
        nouns=lexicon.GARMENTS,
        adjectives=lexicon.COLOURS + lexicon.AGES,
        determiners="mmt",
        uses="newdrx",
    ),
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
        """),
        nouns=lexicon.CLOTHES,
        adjectives=lexicon.CLOTHES_QUALITIES,
        determiners="att",
        uses="new",
        weight=2,
        brief=True,
    ),
    Family(
        verbs=verbs("""
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
        adjectives=lexicon.AGES,
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
        adjectives=lexicon.AGES,
        determiners="mmt",
        uses="newdr",
        brief=True,
    ),
    Family(
        verbs=verbs("brauchen braucht gebraucht = need"),
        nouns=lexicon.BELONGINGS + lexicon.PAPERS[:4] + lexicon.CLOTHES,
        adjectives=lexicon.AGES,
        determiners="a",
        uses="n",
    ),
    Family(
        verbs=verbs("""
            essen isst gegessen = eat ate eaten
            bestellen bestellt bestellt = order
            probieren probiert probiert = try
        """),
        nouns=lexicon.DISHES,
        adjectives=lexicon.FOOD_QUALITIES,
        determiners="aat",
        uses="new",
        weight=2,
        brief=True,
    ),
    Family(
        verbs=verbs("essen isst gegessen = eat ate eaten"),
        nouns=lexicon.SNACKS[:-1],
        adjectives=lexicon.FRESH + lexicon.FOOD_QUALITIES,
        determiners="at",
        uses="honew",
        brief=True,
    ),
    Family(
        verbs=verbs("essen isst gegessen = eat ate eaten"),
        nouns=lexicon.MEALS,
        adjectives=lexicon.GROCERY_QUALITIES,
        determiners="0",
        uses="honew",
        brief=True,
    ),
    Family(
        verbs=verbs("kaufen kauft gekauft = buy bought"),
        nouns=lexicon.GROCERIES,
        adjectives=lexicon.GROCERY_QUALITIES,
        determiners="0",
        uses="honews",
    ),
    Family(
        verbs=verbs("backen backt gebacken = bake"),
        nouns=nouns("""
            der Kuchen/Kuchen = cake
            die Pizza/Pizzen = pizza
        """),
        adjectives=lexicon.FOOD_QUALITIES,
        uses="newp",
    ),
    Family(
        verbs=verbs("""
            trinken trinkt getrunken = drink drank drunk
            bestellen bestellt bestellt = order
        """),
        nouns=lexicon.DRINKS[:-2],
        adjectives=lexicon.DRINK_QUALITIES,
        uses="honew",
        weight=2,
        brief=True,
    ),
    Family(
        verbs=verbs("""
            lesen liest gelesen = read read
            schreiben schreibt geschrieben = write wrote written
        """),
        nouns=lexicon.WRITINGS,
        adjectives=lexicon.LITERATURE_QUALITIES,
        determiners="aats",
        uses="newp",
        weight=2,
    ),
    Family(
        verbs=verbs("lesen liest gelesen = read read"),
        nouns=lexicon.LITERATURE,
        adjectives=lexicon.LITERATURE_QUALITIES,
        determiners="aats",
        uses="honewp",
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
        uses="honewpdr",
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
        brief=True,
    ),
    Family(
        verbs=verbs("warten wartet gewartet = wait"),
        preposition=Phrase("for", "auf"),
        nouns=lexicon.RELATIVES + lexicon.ACQUAINTANCES,
        determiners="m",
        uses="new",
    ),
    Family(
        verbs=verbs("tanzen tanzt getanzt = dance"),
        preposition=Phrase("with", "mit"),
        case="dative",
        nouns=lexicon.RELATIVES + lexicon.ACQUAINTANCES,
        determiners="m",
        uses="ew",
        brief=True,
    ),
    Family(
        verbs=verbs("sprechen spricht gesprochen = talk"),
        preposition=Phrase("to", "mit"),
        case="dative",
        nouns=lexicon.RELATIVES + lexicon.ACQUAINTANCES,
        determiners="m",
        uses="newdr",
        brief=True,
    ),
    Family(
        verbs=verbs("""
            öffnen öffnet geöffnet = open
            schließen schließt geschlossen = close
        """),
        nouns=places.OPENABLES,
        adjectives=lexicon.CONDITIONS,
        determiners="t",
        uses="newrx",
        brief=True,
    ),
    Family(
        verbs=verbs("""
            ein|schalten schaltet eingeschaltet = turn_on turned_on
            aus|schalten schaltet ausgeschaltet = turn_off turned_off
        """),
        nouns=places.DEVICES,
        determiners="t",
        uses="newrx",
        brief=True,
    ),
    Family(
        verbs=verbs("reparieren repariert repariert = repair"),
        nouns=places.REPAIRABLES,
        adjectives=lexicon.CONDITIONS,
        determiners="tm",
        uses="newdr",
    ),
    Family(
        verbs=verbs("""
            putzen putzt geputzt = clean
            streichen streicht gestrichen = paint
        """),
        nouns=places.ROOMS,
        adjectives=lexicon.SIZES,
        determiners="t",
        uses="newdr",
    ),
    Family(
        verbs=verbs("mieten mietet gemietet = rent"),
        nouns=places.RENTALS,
        adjectives=places.RENTAL_QUALITIES,
        uses="new",
        weight=2,
    ),
    Family(
        verbs=verbs("""
            besichtigen besichtigt besichtigt = view
            fotografieren fotografiert fotografiert = photograph
        """),
        nouns=places.SIGHTS,
        adjectives=places.BUILDING_QUALITIES,
        determiners="tts",
        uses="newp",
    ),
)
"""What people do with things and to each other."""
