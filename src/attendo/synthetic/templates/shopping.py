"""Templates for the shop, the market and the restaurant."""

from attendo.synthetic import counting, english, german, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import Clause, I, NounPhrase, Predicate, in_english, in_german
from attendo.synthetic.clock import clock
from attendo.synthetic.families import BARE
from attendo.synthetic.predicates import THE, THIS, A, noun_object
from attendo.synthetic.templates.everyday import both, first_subject
from attendo.synthetic.words import Adjective, Phrase, adjectives, phrases, verb

_GOODS = lexicon.CLOTHES + lexicon.BELONGINGS
_GOODS_QUALITIES = lexicon.COLOURS + lexicon.CONDITIONS
_FOR_WHOM = phrases("""
    mir = me
    uns = us
    ihm = him
    ihr = her
    meinem Bruder = my brother
    meiner Schwester = my sister
    meiner Mutter = my mother
    unserem Sohn = our son
    unserer Tochter = our daughter
""")
_PRICES = counting.NUMBERS[8:] + counting.TENS + (Phrase("two hundred", "zweihundert"), Phrase("a hundred", "hundert"))


def price_question(choose: Chooser) -> Phrase:
    """How much does the red hat cost?"""
    phrase = noun_object(choose, _GOODS, choose.form((THE, THIS)), _GOODS_QUALITIES)
    cost = "kosten" if phrase.is_plural else "kostet"
    return both(
        f"how much {english.do(phrase.person)} {phrase.en} cost", f"wie viel {cost} {phrase.de('nominative')}", "?"
    )


def price(choose: Chooser) -> Phrase:
    """The red hat costs forty euros fifty."""
    phrase = noun_object(choose, _GOODS, choose.form((THE, THIS)), _GOODS_QUALITIES)
    euros = choose.form(_PRICES)
    cents = choose.form((BARE, BARE, Phrase(" fifty", " fünfzig"), Phrase(" eighty", " achtzig")))
    if euros in _PRICES[-2:]:
        cents = BARE
    costs = Phrase("cost", "kosten") if phrase.is_plural else Phrase("costs", "kostet")
    return both(
        f"{phrase.en} {costs.en} {euros.en} euros{cents.en}",
        f"{phrase.de('nominative')} {costs.de} {euros.de} Euro{cents.de}",
    )


def other_colour(choose: Chooser) -> Phrase:
    """Do you also have this skirt in blue, in a smaller size?"""
    noun = choose.word(lexicon.CLOTHES)
    phrase = NounPhrase(noun=noun, determiner=THIS)
    if choose.chance(0.7):
        colour = choose.word(lexicon.COLOURS)
        variant = Phrase(colour.en, colour.de.capitalize())
    else:
        variant = choose.form(
            phrases("""
                einer kleineren Größe = a smaller size
                einer anderen Größe = another size
                einer anderen Farbe = another colour
            """)
        )
    return both(
        f"do you also have {phrase.en} in {variant.en}",
        f"haben Sie {phrase.de('accusative')} auch in {variant.de}",
        "?",
    )


_MISFITS = phrases("""
    groß = big
    klein = small
    lang = long
    kurz = short
    teuer = expensive
    eng = tight
    weit = wide
""")


def misfit(choose: Chooser) -> Phrase:
    """The jacket is too big for me: a German dative."""
    phrase = noun_object(choose, lexicon.CLOTHES, choose.form((THE, THIS)), lexicon.COLOURS)
    has_length = phrase.noun in lexicon.GARMENTS and not phrase.is_plural
    misfit_word = choose.form(tuple(word for word in _MISFITS if has_length or word.en not in ("long", "short")))
    womens = phrase.noun in lexicon.WOMENS_CLOTHES
    whom = choose.form(tuple(who for who in _FOR_WHOM if not womens or who.en not in ("him", "my brother", "our son")))
    is_de = "sind" if phrase.is_plural else "ist"
    return both(
        f"{phrase.en} {english.be(phrase.person)} too {misfit_word.en} for {whom.en}",
        f"{phrase.de('nominative')} {is_de} {whom.de} zu {misfit_word.de}",
    )


def show(choose: Chooser) -> Phrase:
    """Please show me the blue coat."""
    phrase = noun_object(choose, _GOODS, THE, _GOODS_QUALITIES)
    whom = choose.form(_FOR_WHOM)
    return both(f"please show {whom.en} {phrase.en}", f"zeigen Sie {whom.de} bitte {phrase.de('accusative')}")


_LIKERS = phrases("""
    mir = I like
    uns = we like
    ihm = he likes
    ihr = she likes
    meiner Mutter = my mother likes
    meinem Vater = my father likes
    unserer Tochter = our daughter likes
""")


def taste(choose: Chooser) -> Phrase:
    """I like the blue coat better than the red one: the German subject is the thing liked."""
    liker = choose.form(_LIKERS)
    noun = choose.word(_GOODS + lexicon.SIGHTS)
    colours = lexicon.BUILDING_QUALITIES if noun in lexicon.SIGHTS else _GOODS_QUALITIES
    phrase = NounPhrase(noun=noun, determiner=THE, adjective=choose.word(colours))
    pleases = "gefallen" if phrase.is_plural else "gefällt"
    if choose.chance(0.5):
        return both(f"{liker.en} {phrase.en} very much", f"{phrase.de('nominative')} {pleases} {liker.de} sehr")
    other = choose.word(tuple(colour for colour in colours if colour != phrase.adjective))
    ending = german.decline_adjective(other, "der", noun, "nominative", plural=phrase.is_plural)
    article = german.decline_determiner("der", noun, "nominative", plural=phrase.is_plural)
    ones = "ones" if phrase.is_plural else "one"
    return both(
        f"{liker.en} {phrase.en} better than the {other.en} {ones}",
        f"{liker.de} {pleases} {phrase.de('nominative')} besser als {article} {ending}",
    )


_COMPARATIVES = phrases("""
    teurer = more expensive
    billiger = cheaper
    schöner = more beautiful
    größer = bigger
    kleiner = smaller
    besser = better
    moderner = more modern
    praktischer = more practical
""")


def comparison(choose: Chooser) -> Phrase:
    """This coat is cheaper than the red jacket."""
    goods = choose.form((lexicon.CLOTHES, lexicon.BELONGINGS))
    left = NounPhrase(noun=choose.word(goods), determiner=THIS)
    others = tuple(noun for noun in goods if noun != left.noun)
    right = NounPhrase(noun=choose.word(others), determiner=THE, adjective=choose.word(_GOODS_QUALITIES))
    than = choose.form(_COMPARATIVES)
    is_de = "sind" if left.is_plural else "ist"
    return both(
        f"{left.en} {english.be(left.person)} {than.en} than {right.en}",
        f"{left.de('nominative')} {is_de} {than.de} als {right.de('nominative')}",
    )


def where_to_buy(choose: Chooser) -> Phrase:
    """Where can I buy fresh bread?"""
    if choose.chance(0.5):
        phrase = noun_object(choose, lexicon.GROCERIES, BARE, lexicon.GROCERY_QUALITIES)
    else:
        phrase = noun_object(choose, _GOODS, A, _GOODS_QUALITIES + lexicon.PRICES[1:])
    who = choose.form(_CAN)
    return both(f"where {who.en} buy {phrase.en}", f"wo {who.de} {phrase.de('accusative')} kaufen", "?")


def _container(choose: Chooser) -> Phrase:
    """Draws an amount of a drink in the accusative: a cup of tea, two bottles of water."""
    glass, cup, bottle = lexicon.CONTAINERS
    kind = choose.form((glass, cup, bottle))
    drink = choose.word(lexicon.CUP_DRINKS if kind == cup else lexicon.GLASS_DRINKS)
    number = choose.form((BARE, BARE, *counting.NUMBERS[1:4]))
    if number == BARE:
        phrase = NounPhrase(noun=kind, determiner=A)
        return Phrase(f"{phrase.en} of {drink.en}", f"{phrase.de('accusative')} {drink.de}")
    return Phrase(f"{number.en} {kind.en_plural} of {drink.en}", f"{number.de} {kind.de_plural} {drink.de}")


def _dish(choose: Chooser) -> Phrase:
    phrase = noun_object(choose, lexicon.DISHES[:-1], A, lexicon.SIZES)
    return Phrase(phrase.en, phrase.de("accusative"))


def order(choose: Chooser) -> Phrase:
    """I would like a big pizza and a glass of water, please."""
    first = _dish(choose)
    second = _container(choose) if choose.chance(0.7) else BARE
    listed = first if second == BARE else Phrase(f"{first.en} and {second.en}", f"{first.de} und {second.de}")
    who = choose.form(phrases("ich hätte = I would\n wir hätten = we would"))
    return both(f"{who.en} like {listed.en}, please", f"{who.de} gern {listed.de}, bitte")


_MEASURES = phrases("""
    ein Kilo = a kilo of
    zwei Kilo = two kilos of
    ein Pfund = a pound of
""")
_SLICES = phrases("""
    hundert Gramm = a hundred grams of
    zweihundert Gramm = two hundred grams of
    dreihundert Gramm = three hundred grams of
    ein Kilo = a kilo of
""")


def at_the_market(choose: Chooser) -> Phrase:
    """I need a kilo of tomatoes and two hundred grams of cheese."""
    fruit = choose.word(lexicon.MARKET_GOODS)
    food = choose.word(lexicon.WEIGHED)
    left, right = choose.form(_MEASURES), choose.form(_SLICES)
    who = choose.form(
        phrases("""
            ich brauche = I need
            wir brauchen = we need
            ich nehme = I will take
        """)
    )
    return both(
        f"{who.en} {left.en} {fruit.en_plural} and {right.en} {food.en}",
        f"{who.de} {left.de} {fruit.de_plural} und {right.de} {food.de}",
    )


_TABLEWARE = phrases("""
    die Rechnung = the bill
    die Speisekarte = the menu
    eine Gabel = a fork
    ein Messer = a knife
    einen Löffel = a spoon
    noch ein Glas = another glass
    etwas Brot = some bread
    ein Stück Kuchen = a piece of cake
    zwei Stück Kuchen = two pieces of cake
""")


def _tableware(choose: Chooser) -> Phrase:
    return choose.word(_TABLEWARE)


def bring_us(choose: Chooser) -> Phrase:
    """Could you bring us two cups of tea, please?"""
    item = choose.form((_container, _dish, _tableware))(choose)
    whom = choose.form(_FOR_WHOM)
    return both(f"could you please bring {whom.en} {item.en}", f"könnten Sie {whom.de} bitte {item.de} bringen", "?")


_CAN = phrases("""
    kann ich = can I
    können wir = can we
""")
_LEFT_OUT = phrases("""
    Käse = cheese
    Fleisch = meat
    Zwiebeln = onions
    Knoblauch = garlic
    Schinken = ham
    Tomaten = tomatoes
    Pilze = mushrooms
""")


_WITH_TOPPING = tuple(noun for noun in lexicon.DISHES if noun.en in ("soup", "salad", "pizza", "omelette", "burger"))


def without(choose: Chooser) -> Phrase:
    """Can I have the salad without onions?"""
    dish = NounPhrase(noun=choose.word(_WITH_TOPPING), determiner=THE)
    without_de, without_en = choose.form((("ohne", "without"), ("mit", "with")))
    ingredient = choose.word(_LEFT_OUT)
    who = choose.form(_CAN)
    if without_de == "mit" and ingredient.de == "Pilze":
        ingredient = Phrase(ingredient.en, "Pilzen")
    return both(
        f"{who.en} have {dish.en} {without_en} {ingredient.en}",
        f"{who.de} {dish.de('accusative')} {without_de} {ingredient.de} bekommen",
        "?",
    )


_SAVOURY = phrases("""
    salzig = salty
    kalt = cold
    scharf = spicy
    heiß = hot
    fettig = greasy
""")
_SWEET = phrases("""
    trocken = dry
    süß = sweet
    groß = big
    klein = small
""")
_TOO = phrases("""
    zu = too
    sehr = very
    leider zu = unfortunately too
    viel zu = much too
""")


def complaint(choose: Chooser) -> Phrase:
    """The soup is too salty."""
    dish = NounPhrase(noun=choose.word(lexicon.DISHES), determiner=choose.form((THE, THIS)))
    sweet = dish.noun.en in ("cake", "pancake")
    flavour = choose.word(_SWEET if sweet else _SAVOURY[:2] if dish.noun.en == "salad" else _SAVOURY)
    degree = choose.form(_TOO)
    return both(f"{dish.en} is {degree.en} {flavour.en}", f"{dish.de('nominative')} ist {degree.de} {flavour.de}")


def tasting(choose: Chooser) -> Phrase:
    """The soup tasted very good; how does the cake taste?"""
    dish = NounPhrase(noun=choose.word(lexicon.DISHES + lexicon.SNACKS[:4]), determiner=choose.form((THE, THIS)))
    good = choose.word(phrases("gut = good\n sehr gut = very good\n lecker = delicious\n schlecht = bad"))
    if choose.chance(0.3):
        return both(f"how does {dish.en} taste", f"wie schmeckt {dish.de('nominative')}", "?")
    return both(f"{dish.en} tastes {good.en}", f"{dish.de('nominative')} schmeckt {good.de}")


def reserve_table(choose: Chooser) -> Phrase:
    """I would like to reserve a table for four people on Friday at seven o'clock."""
    people = choose.word(counting.NUMBERS[1:10])
    day = choose.word(counting.WEEKDAYS)
    time = clock(choose, hours=(12, 1, 6, 7, 8, 9))
    who = choose.form(phrases("ich möchte = I would like\n wir möchten = we would like"))
    return both(
        f"{who.en} to reserve a table for {people.en} people on {day.en} at {time.en}",
        f"{who.de} für {day.de} um {time.de} einen Tisch für {people.de} Personen reservieren",
    )


def preference(choose: Chooser) -> Phrase:
    """He prefers tea to coffee: he drinks it lieber, and eats cheese lieber than ham."""
    drinking = choose.chance(0.5)
    options = lexicon.DRINKS if drinking else lexicon.GROCERIES
    liked = choose.word(options)
    other = choose.word(tuple(noun for noun in options if noun != liked))
    subject = first_subject(choose)
    action = verb("trinken trinkt getrunken = prefer") if drinking else verb("essen isst gegessen = prefer")
    clause = Clause(
        subject=subject,
        predicate=Predicate(verb=action, en=f"{liked.en} to {other.en}", de_object=f"lieber {liked.de} als {other.de}"),
        tense="habit",
    )
    return both(in_english(clause), in_german(clause))


_CUSTOMERS = phrases("""
    mich = myself
    meine Mutter = my mother
    meine Schwester = my sister
    unsere Tochter = our daughter
    meinen Vater = my father
    unseren Sohn = our son
    mein Kind = my child
    meine Freunde = my friends
""")


def shop_wish(choose: Chooser) -> Phrase:
    """I am looking for a warm coat for my sister."""
    adjective_table: tuple[Adjective, ...] = _GOODS_QUALITIES + adjectives("schön = beautiful\n billig = cheap")
    phrase = noun_object(choose, _GOODS, A, adjective_table)
    womens = phrase.noun in lexicon.WOMENS_CLOTHES
    whom = choose.form(_CUSTOMERS[:4] if womens else _CUSTOMERS)
    clause = Clause(
        subject=I,
        predicate=Predicate(
            verb=verb("suchen sucht gesucht = look_for"),
            en=f"{phrase.en} for {whom.en}",
            de_object=f"{phrase.de('accusative')} für {whom.de}",
        ),
        tense="now",
    )
    return both(in_english(clause), in_german(clause))
