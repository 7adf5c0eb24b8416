"""The words of the sentences, in two halves that share none: heads are chosen on one and scored on the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from attendo.demo.words import Adjective, Noun, Phrase, Verb, adjectives, nouns, phrases, verbs

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ParticleVerb:
    """A verb with its particle far behind it, in both languages, and what it is done to."""

    en: str
    en_particle: str
    de: str
    de_particle: str
    objects: tuple[Noun, ...]


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """What one half of the sentences is made of."""

    men: tuple[Noun, ...]
    women: tuple[Noun, ...]
    things: tuple[Noun, ...]
    places: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    """Of things."""
    particle_verbs: tuple[ParticleVerb, ...]
    made: tuple[tuple[Noun, Noun, Phrase], ...]
    """What made what how."""
    deeds: tuple[Verb, ...]
    """What can be done to a thing, told by *haben*."""
    states: tuple[Phrase, ...]
    """Of a thing: very expensive, in the cupboard."""
    moods: tuple[Phrase, ...]
    """Of a person."""
    plural_owners: tuple[Noun, ...]
    animals: tuple[Noun, ...]
    belongings: tuple[Noun, ...]
    times: tuple[Phrase, ...]
    """Before a sentence."""
    days: tuple[Phrase, ...]
    openings: tuple[Phrase, ...]
    """Before one that is left as it is."""
    tails: tuple[Phrase, ...]
    """Behind a sentence."""


_MEN = nouns("""
    der Mann/Männer = man/men
    der Lehrer/Lehrer = teacher
    der Bruder/Brüder = brother
    der Vater/Väter = father
    der König/Könige = king
    der Onkel/Onkel = uncle
    der Sohn/Söhne = son
    der Großvater/Großväter = grandfather
""")
_WOMEN = nouns("""
    die Frau/Frauen = woman/women
    die Königin/Königinnen = queen
    die Schwester/Schwestern = sister
    die Mutter/Mütter = mother
    die Tante/Tanten = aunt
    die Tochter/Töchter = daughter
    die Großmutter/Großmütter = grandmother
    die Krankenschwester/Krankenschwestern = nurse
""")
_THINGS = nouns("""
    das Buch/Bücher = book
    der Brief/Briefe = letter
    der Schlüssel/Schlüssel = key
    die Uhr/Uhren = watch
    das Bild/Bilder = picture
    der Tisch/Tische = table
    die Tasche/Taschen = bag
    das Fahrrad/Fahrräder = bicycle
""")
_PLACES = nouns("""
    die Küche/Küchen = kitchen
    der Garten/Gärten = garden
    die Schule/Schulen = school
    das Büro/Büros = office
    das Zimmer/Zimmer = room
    die Stadt/Städte = city
    der Laden/Läden = shop
    das Hotel/Hotels = hotel
""")
_ADJECTIVES = adjectives("""
    alt = old
    klein = small
    neu = new
    groß = big
    rot = red
    schön = beautiful
    schwarz = black
    weiß = white
""")
_PARTICLE_VERBS = """
    turned off = schaltete aus: das Radio = radio; der Computer = computer; die Lampe = lamp
    put on = zog an: der Mantel = coat; das Hemd = shirt; die Jacke = jacket
    turned on = schaltete ein: der Fernseher = television; das Licht = light; die Maschine = machine
    took off = zog aus: der Schuh = shoe; das Kleid = dress; der Rock = skirt
    threw away = warf weg: die Zeitung = newspaper; die Flasche = bottle; das Papier = paper
    wrote down = schrieb auf: das Wort = word; der Titel = title; die Nummer = number
    gave back = gab zurück: das Geld = money; der Ball = ball; die Kamera = camera
    picked up = hob auf: der Stein = stone; das Messer = knife; der Stift = pencil
    brought back = brachte zurück: das Auto = car; der Koffer = suitcase; die Karte = map
    cut off = schnitt ab: der Ast = branch; die Blume = flower; das Seil = rope
"""
_MADE = """
    die Musik = music; der Abend = evening; angenehm = pleasant
    der Schnee = snow; der Weg = way; gefährlich = dangerous
    der Regen = rain; die Reise = journey; unmöglich = impossible
    der Lärm = noise; die Arbeit = work; schwierig = difficult
    das Wetter = weather; der Tag = day; schrecklich = terrible
    der Film = film; die Nacht = night; interessant = interesting
"""
_DEEDS = verbs("""
    kaufen kauft gekauft = buy bought
    sehen sieht gesehen = see saw seen
    zeichnen zeichnet gezeichnet = draw drew drawn
    finden findet gefunden = find found
    vergessen vergisst vergessen = forget forgot forgotten
    verstecken versteckt versteckt = hide hid hidden
    zeigen zeigt gezeigt = show
    reparieren repariert repariert = repair
""")
_STATES = phrases("""
    sehr~1 teuer~2 = very~1 expensive~2
    zu~1 schwer~2 = too~1 heavy~2
    leider~1 kaputt~2 = unfortunately~1 broken~2
    nicht~1 billig~2 = not~1 cheap~2
""")
_MOODS = phrases("""
    krank = ill
    müde = tired
    nervös = nervous
    glücklich = happy
    hungrig = hungry
    traurig = sad
""")
_PLURAL_OWNERS = nouns("""
    das Kind/Kinder = child/children
    der Junge*/Jungen = boy
    das Mädchen/Mädchen = girl
    der Nachbar*/Nachbarn = neighbour
""")
_ANIMALS = nouns("""
    der Hund/Hunde = dog
    das Tier/Tiere = animal
    der Vogel/Vögel = bird
    das Pferd/Pferde = horse
""")
_BELONGINGS = nouns("""
    der Ball/Bälle = ball
    das Essen = food
    das Wasser = water
    der Platz/Plätze = place
""")
_TIMES = phrases("""
    gestern~t = yesterday~t
    heute~t = today~t
    [ am~t1 Abend~t2 ] = [ in~t1 the~t1 evening~t2 ]
    [ jeden~t1 Tag~t2 ] = [ every~t1 day~t2 ]
""")
_DAYS = phrases("""
    gestern = yesterday
    heute = today
    damals = then
    neulich = recently
""")
_OPENINGS = phrases("""
    es~o1 ist~o2 schade~o3 ,~o4 aber~o5 = it~o1 is~o2 a~o3 pity~o3 ,~o4 but~o5
    ich~o1 weiß~o2 es~o3 nicht~o4 ,~o5 aber~o6 = I~o1 do~o4 not~o4 know~o2 ,~o5 but~o6
    wir~o1 waren~o2 dort~o3 ,~o4 und~o5 = we~o1 were~o2 there~o3 ,~o4 and~o5
    niemand~o1 lachte~o2 ,~o3 denn~o4 = nobody~o1 laughed~o2 ,~o3 because~o4
""")
_TAILS = phrases("""
    ,~c1 [ weil~y1 es~y2 spät~y3 war~y4 ] = [ because~y1 it~y2 was~y4 late~y3 ]
    und~y1 wir~y2 gingen~y3 nach~y4 Hause~y4 = and~y1 we~y2 went~y3 home~y4
    ,~c1 [ als~y1 ich~y2 nach~y3 Hause~y3 kam~y4 ] = [ when~y1 I~y2 came~y4 home~y3 ]
    ,~c1 aber~y1 niemand~y2 lachte~y3 = ,~c1 but~y1 nobody~y2 laughed~y3
""")


def lexicon(*, held_out: bool) -> Lexicon:
    """One half of the words."""

    def half(words: Sequence[T]) -> tuple[T, ...]:
        return tuple(words[held_out::2])

    return Lexicon(
        men=half(_MEN),
        women=half(_WOMEN),
        things=half(_THINGS),
        places=half(_PLACES),
        adjectives=half(_ADJECTIVES),
        particle_verbs=half([_particle_verb(line) for line in _PARTICLE_VERBS.strip().splitlines()]),
        made=half([_made(line) for line in _MADE.strip().splitlines()]),
        deeds=half(_DEEDS),
        states=half(_STATES),
        moods=half(_MOODS),
        plural_owners=half(_PLURAL_OWNERS),
        animals=half(_ANIMALS),
        belongings=half(_BELONGINGS),
        times=half(_TIMES),
        days=half(_DAYS),
        openings=half(_OPENINGS),
        tails=half(_TAILS),
    )


def _particle_verb(line: str) -> ParticleVerb:
    both, objects = line.split(":")
    (en, en_particle), (de, de_particle) = (side.split() for side in both.split("="))
    return ParticleVerb(
        en=en,
        en_particle=en_particle,
        de=de,
        de_particle=de_particle,
        objects=nouns(objects.replace("; ", "\n")),
    )


def _made(line: str) -> tuple[Noun, Noun, Phrase]:
    cause, what, how = line.split(";")
    [made_by], [made] = nouns(cause), nouns(what)
    return made_by, made, phrases(how)[0]
