"""Templates about things: their owners, their places, gifts, interests and likes."""

from attendo.synthetic import clauses, english, german, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import Clause, NounPhrase, Predicate, Tense, in_english, in_german
from attendo.synthetic.families import BARE
from attendo.synthetic.predicates import HIS, MY, OUR, THE, A, families, noun_object
from attendo.synthetic.templates.everyday import (
    ARRANGED,
    COMING,
    GERADE,
    PAST,
    both,
    first_subject,
    inner_subject,
)
from attendo.synthetic.words import Noun, Phrase, adjectives, nouns, phrases, verb, verbs

_SINGLE_RELATIVES = tuple(noun for noun in lexicon.RELATIVES if not noun.always_plural)

_POSSESSORS = (MY, OUR, HIS)


def _relative(choose: Chooser, options: tuple[Noun, ...] = _SINGLE_RELATIVES) -> NounPhrase:
    return NounPhrase(noun=choose.word(options), determiner=choose.form(_POSSESSORS))


_OWNED = lexicon.CLOTHES + lexicon.BELONGINGS + lexicon.RENTALS[:3]


def belongs(choose: Chooser) -> Phrase:
    """That is my brother's new car; that is Anna's red bag: two genitives."""
    noun = choose.word(_OWNED)
    verb_en, verb_de = ("those are", "das sind") if noun.always_plural else ("that is", "das ist")
    adjective = choose.word(lexicon.COLOURS + lexicon.CONDITIONS) if choose.chance(0.7) else None
    bare = NounPhrase(noun=noun, determiner=BARE, adjective=adjective)
    if choose.chance(0.4):
        name = choose.form((*lexicon.WOMEN, *lexicon.MEN[:2]))
        return both(f"{verb_en} {name}'s {bare.en}", f"{verb_de} {name}s {bare.de('nominative')}")
    owner = _relative(choose)
    thing = NounPhrase(noun=noun, determiner=THE, adjective=adjective)
    return both(f"{verb_en} {owner.en}'s {bare.en}", f"{verb_de} {thing.de('nominative')} {owner.de('genitive')}")


_STATES = phrases("""
    sehr schön = very beautiful
    zu teuer = too expensive
    kaputt = broken
    sehr gut = very good
    leider zu klein = unfortunately too small
    nicht neu = not new
""")


def that_was_bought(choose: Chooser) -> Phrase:
    """The hat that you bought yesterday is very beautiful: a relative clause about the object."""
    thing = noun_object(choose, lexicon.CLOTHES + lexicon.BELONGINGS, THE, lexicon.COLOURS + lexicon.AGES)
    action = choose.word(
        verbs("""
            kaufen kauft gekauft = buy bought
            finden findet gefunden = find found
            mit|bringen bringt mitgebracht = bring brought
            bestellen bestellt bestellt = order
            verkaufen verkauft verkauft = sell sold
        """)
    )
    subject = inner_subject(choose)
    clause = Clause(subject=subject, predicate=Predicate(verb=action), tense="past", time=choose.form(PAST))
    state = choose.word(_STATES)
    relative = german.relative_pronoun(thing.noun, "accusative", plural=thing.is_plural)
    is_de = german.auxiliary("sein", thing.person)
    return both(
        f"{thing.en} that {in_english(clause)} {english.be(thing.person)} {state.en}",
        f"{thing.de('nominative')}, {relative} {in_german(clause, 'subordinate')}, {is_de} {state.de}",
    )


_TWO_WAY = phrases("""
    auf = on
    unter = under
    neben = next to
    hinter = behind
""")

_SMALL_THINGS = lexicon.BELONGINGS[:8] + lexicon.PAPERS + lexicon.LITERATURE[:1] + lexicon.LITERATURE[4:6]


def _spot(choose: Chooser) -> tuple[Phrase, NounPhrase]:
    """Draws a preposition and a piece of furniture; in goes with a cupboard only."""
    furniture = NounPhrase(noun=choose.word(lexicon.FURNITURE), determiner=THE)
    options = (Phrase("in", "in"),) if furniture.noun.en == "cupboard" else _TWO_WAY
    return choose.form(options), furniture


def position(choose: Chooser) -> Phrase:
    """My key is on the table: where it is, the dative."""
    determiner = choose.form((MY, OUR, THE, THE))
    thing = noun_object(choose, _SMALL_THINGS, determiner, lexicon.AGES)
    preposition, furniture = _spot(choose)
    where = german.prepositional(preposition.de, furniture.de("dative"))
    return both(f"{thing.en} is {preposition.en} {furniture.en}", f"{thing.de('nominative')} ist {where}")


def put(choose: Chooser) -> Phrase:
    """I put the key on the table: where it goes, the accusative."""
    subject = first_subject(choose)
    thing = noun_object(choose, _SMALL_THINGS, choose.form((THE, subject.my)), lexicon.AGES)
    preposition, furniture = _spot(choose)
    predicate = Predicate(
        verb=verb("legen legt gelegt = put put"),
        en=f"{thing.en} {preposition.en} {furniture.en}",
        de_object=thing.de("accusative"),
        de_place=german.prepositional(preposition.de, furniture.de("accusative")),
    )
    if choose.chance(0.4) and thing.determiner == THE:
        return both(f"please {clauses.english_infinitive(predicate)}", clauses.german_imperative(predicate))
    tense: Tense = choose.form(("past", "past", "must", "want"))
    time = choose.form(PAST) if tense == "past" else clauses.NO_TIME
    clause = Clause(subject=subject, predicate=predicate, tense=tense, time=time)
    return both(in_english(clause), in_german(clause))


_RECIPIENT_PRONOUNS = phrases("""
    mir = me
    uns = us
    ihm = him
    ihnen = them
""")

_GIVING = verbs("""
    geben gibt gegeben = give gave given
    zeigen zeigt gezeigt = show showed shown
    leihen leiht geliehen = lend lent
    bringen bringt gebracht = bring brought
    schicken schickt geschickt = send sent
""")


def giving(choose: Chooser) -> Phrase:
    """My grandmother is giving my sister a red scarf: dative before accusative."""
    subject = first_subject(choose)
    action = choose.word(_GIVING)
    determiner = choose.form((A, A, THE))
    gifts, qualities = choose.form(
        (
            (lexicon.CLOTHES, lexicon.COLOURS + lexicon.AGES),
            (lexicon.BELONGINGS, lexicon.COLOURS + lexicon.CONDITIONS),
            (lexicon.LITERATURE, lexicon.LITERATURE_QUALITIES),
        )
    )
    gift = noun_object(choose, gifts, determiner, qualities)
    if choose.chance(0.3) and subject.person == "3s":
        whom = choose.form(_RECIPIENT_PRONOUNS)
        predicate = Predicate(
            verb=action,
            en=f"{whom.en} {gift.en}",
            de_pronoun=whom.de,
            de_object=gift.de("accusative"),
            indefinite=gift.is_indefinite,
        )
    else:
        receiver = NounPhrase(noun=choose.word(lexicon.RELATIVES + lexicon.ACQUAINTANCES), determiner=subject.my)
        predicate = Predicate(
            verb=action,
            en=f"{receiver.en} {gift.en}",
            de_object=f"{receiver.de('dative')} {gift.de('accusative')}",
            indefinite=gift.is_indefinite,
        )
    tense: Tense = choose.form(("now", "past", "past", "future", "want", "must", "would"))
    time = choose.form({"past": PAST, "now": (GERADE, *ARRANGED)}.get(tense, COMING))
    order = choose.chance(0.3) and time.de != "gerade"
    clause = Clause(subject=subject, predicate=predicate, tense=tense, time=time)
    if order:
        return both(in_english(clause, "fronted"), in_german(clause, "fronted"))
    return both(in_english(clause), in_german(clause))


_MADE = nouns("""
    das Buch/Bücher = book
    das Auto/Autos = car
    die Uhr/Uhren = watch
    der Film/Filme = film
    das Haus/Häuser = house
    die Brücke/Brücken = bridge
    der Zug/Züge = train
    das Schiff/Schiffe = ship
    das Bild/Bilder = picture
    die Maschine/Maschinen = machine
""")

_GROWN = nouns("""
    das Tier/Tiere = animal
    der Baum/Bäume = tree
    die Blume/Blumen = flower
    der Vogel/Vögel = bird
    die Stadt/Städte = city
    das Land/Länder = country
""")

_GROWN_QUALITIES = adjectives("""
    groß = big
    klein = small
    schön = beautiful
    fremd = foreign
""")


def interest(choose: Chooser) -> Phrase:
    """My father is interested in old watches: für, and strong plural endings."""
    subject = first_subject(choose)
    is_made = choose.chance(0.6)
    things = NounPhrase(
        noun=choose.word(_MADE if is_made else _GROWN),
        determiner=BARE,
        adjective=choose.word(adjectives("alt = old\n neu = new\n modern = modern") if is_made else _GROWN_QUALITIES),
        plural=True,
    )
    predicate = Predicate(
        verb=verb("interessieren interessiert interessiert = be_interested"),
        de_pronoun=subject.reflexive,
        de_place=f"für {things.de('accusative')}",
    )
    clause = Clause(subject=subject, predicate=predicate, tense="habit")
    return both(f"{subject.en} {english.be(subject.person)} interested in {things.en}", in_german(clause))


_PASTIMES = (
    (verb("lesen liest gelesen = read read"), lexicon.LITERATURE[:5], lexicon.LITERATURE_QUALITIES),
    (verb("essen isst gegessen = eat ate eaten"), lexicon.SNACKS + lexicon.DISHES[4:6], lexicon.FRESH + lexicon.SIZES),
    (verb("tragen trägt getragen = wear wore worn"), lexicon.CLOTHES, lexicon.COLOURS + lexicon.CONDITIONS),
    (verb("besichtigen besichtigt besichtigt = visit"), lexicon.SIGHTS[:5], lexicon.BUILDING_QUALITIES[:1]),
    (verb("kaufen kauft gekauft = buy bought"), lexicon.CLOTHES, lexicon.PRICES + lexicon.AGES),
)


def liking(choose: Chooser) -> Phrase:
    """My sister likes reading exciting novels: gern, which is no verb in German."""
    subject = first_subject(choose)
    if choose.chance(0.5):
        family = choose.form(families("l"))
        complement = choose.word(family.complements)
        predicate = Predicate(verb=choose.word(family.verbs), en=complement.en, de_place=complement.de)
    else:
        action, things, qualities = choose.form(_PASTIMES)
        adjective = choose.word(qualities) if choose.chance(0.7) else None
        phrase = NounPhrase(noun=choose.word(things), determiner=BARE, adjective=adjective, plural=True)
        predicate = Predicate(verb=choose.word((action,)), en=phrase.en, de_object=phrase.de("accusative"))
    much = choose.form((Phrase("", "gern"), Phrase("really ", "sehr gern")))
    clause = Clause(subject=subject, predicate=predicate, tense="habit", adverb=Phrase("", much.de))
    likes = "likes" if subject.person == "3s" else "like"
    doing = f"{english.ing_form(predicate.verb.en)} {predicate.en}".strip()
    return both(f"{subject.en} {much.en}{likes} {doing}", in_german(clause))
