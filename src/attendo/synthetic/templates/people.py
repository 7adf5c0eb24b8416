"""Templates about people: family, professions, descriptions, greetings."""

from attendo.synthetic import clauses, counting, english, german, lexicon
from attendo.synthetic.choices import Chooser
from attendo.synthetic.clauses import SHE, Clause, I, NounPhrase, Predicate, in_english, in_german
from attendo.synthetic.predicates import HIS, MY, OUR, THE, A, noun_object
from attendo.synthetic.templates.everyday import (
    PAST,
    both,
    first_subject,
    somebody,
)
from attendo.synthetic.words import Noun, Phrase, phrases, verb, verbs

_SINGLE_RELATIVES = tuple(noun for noun in lexicon.RELATIVES if not noun.always_plural)

_ADULTS = tuple(noun for noun in _SINGLE_RELATIVES if noun.gender != "n")

_POSSESSORS = (MY, OUR, HIS)


def _relative(choose: Chooser, options: tuple[Noun, ...] = _SINGLE_RELATIVES) -> NounPhrase:
    return NounPhrase(noun=choose.word(options), determiner=choose.form(_POSSESSORS))


def age(choose: Chooser) -> Phrase:
    """Our daughter is twelve years old."""
    phrase = _relative(choose)
    young = phrase.noun.en in ("son", "daughter", "child", "brother", "sister", "cousin")
    decades = counting.TENS[5:] if phrase.noun.en.startswith("grand") else counting.TENS[3:6]
    years = choose.word(counting.NUMBERS[1:] + counting.TENS[:2] if young else decades)
    return both(f"{phrase.en} is {years.en} years old", f"{phrase.de('nominative')} ist {years.de} Jahre alt")


def named(choose: Chooser) -> Phrase:
    """His sister is called Anna and lives in Berlin."""
    phrase = _relative(choose, _ADULTS)
    name = choose.word(lexicon.WOMEN if phrase.noun.gender == "f" else lexicon.MEN)
    city = choose.word(lexicon.CITIES)
    return both(
        f"{phrase.en} is called {name} and lives in {city.en}",
        f"{phrase.de('nominative')} heißt {name} und wohnt in {city.de}",
    )


_PERSON_COMPARATIVES = phrases("""
    älter = older
    jünger = younger
    größer = taller
    stärker = stronger
    schneller = faster
    fleißiger = more diligent
    ruhiger = calmer
""")

_SIBLINGS = tuple(noun for noun in _SINGLE_RELATIVES if noun.en in ("brother", "sister", "cousin"))


def person_comparison(choose: Chooser) -> Phrase:
    """My brother is taller than my sister; only siblings and cousins are compared by age."""
    than = choose.word(_PERSON_COMPARATIVES)
    owner = choose.form(_POSSESSORS)
    options = _SIBLINGS if than.en in ("older", "younger") else _ADULTS
    if choose.chance(0.3):
        woman = choose.chance(0.5)
        name = choose.word(lexicon.WOMEN if woman else lexicon.MEN)
        left = clauses.name_subject(name, woman=woman)
        others = options
    else:
        noun = choose.word(options)
        left = NounPhrase(noun=noun, determiner=owner).as_subject()
        others = tuple(other for other in options if other != noun)
    right = NounPhrase(noun=choose.word(others), determiner=owner)
    return both(f"{left.en} is {than.en} than {right.en}", f"{left.de} ist {than.de} als {right.de('nominative')}")


_PROFESSIONS = (
    ("teacher", "Lehrer", "Lehrerin", Phrase("in a school", "in einer Schule")),
    ("doctor", "Arzt", "Ärztin", Phrase("in a hospital", "in einem Krankenhaus")),
    ("cook", "Koch", "Köchin", Phrase("in a restaurant", "in einem Restaurant")),
    ("baker", "Bäcker", "Bäckerin", Phrase("in a bakery", "in einer Bäckerei")),
    ("engineer", "Ingenieur", "Ingenieurin", Phrase("in a factory", "in einer Fabrik")),
    ("pharmacist", "Apotheker", "Apothekerin", Phrase("in a pharmacy", "in einer Apotheke")),
    ("lawyer", "Anwalt", "Anwältin", Phrase("in an office", "in einem Büro")),
    ("mechanic", "Mechaniker", "Mechanikerin", Phrase("in a garage", "in einer Werkstatt")),
    ("gardener", "Gärtner", "Gärtnerin", Phrase("in a park", "in einem Park")),
    ("librarian", "Bibliothekar", "Bibliothekarin", Phrase("in a library", "in einer Bibliothek")),
)


def profession(choose: Chooser) -> Phrase:
    """My sister is a doctor and works in a hospital: German has Arzt and Ärztin, and no article."""
    if choose.chance(0.4):
        woman = choose.chance(0.5)
        subject = clauses.name_subject(choose.word(lexicon.WOMEN if woman else lexicon.MEN), woman=woman)
    else:
        subject = _relative(choose, _ADULTS).as_subject()
    en, man_de, woman_de, place = choose.form(_PROFESSIONS)
    german_word = choose.word((woman_de if subject.my == SHE.my else man_de,))
    en = english.with_article(en)
    kind = choose.form(("plain", "place", "wants"))
    if kind == "wants" and " grand" in subject.en:
        kind = "place"
    if kind == "plain":
        city = choose.word(lexicon.CITIES)
        return both(f"{subject.en} is {en} in {city.en}", f"{subject.de} ist {german_word} in {city.de}")
    if kind == "wants":
        return both(f"{subject.en} wants to be {en}", f"{subject.de} möchte {german_word} werden")
    return both(f"{subject.en} is {en} and works {place.en}", f"{subject.de} ist {german_word} und arbeitet {place.de}")


def lives(choose: Chooser) -> Phrase:
    """My uncle lives in a small house in Hamburg."""
    subject = somebody(choose)
    home = noun_object(choose, lexicon.RENTALS[:2], A, lexicon.BUILDING_QUALITIES[:5])
    city = choose.word(lexicon.CITIES)
    clause = Clause(
        subject=subject,
        predicate=Predicate(
            verb=verb("wohnen wohnt gewohnt = live"),
            en=f"in {home.en} in {city.en}",
            de_place=f"in {home.de('dative')} in {city.de}",
        ),
        tense="habit",
    )
    return both(in_english(clause), in_german(clause))


_SEEN_WITH = tuple(noun for noun in lexicon.CLOTHES if noun not in lexicon.WOMENS_CLOTHES) + lexicon.BELONGINGS[:4]


def describe(choose: Chooser) -> Phrase:
    """The old man with the green hat is my uncle; I know him; I talked to him."""
    person = noun_object(choose, lexicon.PEOPLE, THE, lexicon.PEOPLE_QUALITIES)
    look = choose.word(lexicon.COLOURS + lexicon.CONDITIONS)
    thing = NounPhrase(noun=choose.word(_SEEN_WITH), determiner=THE, adjective=look)
    with_de = f"mit {thing.de('dative')}"
    frame = choose.form(("is", "acc", "dat", "wo"))
    whole = f"{person.en} with {thing.en}"
    if frame == "is":
        state = choose.form(
            phrases("""
                sehr nett = very nice
                sehr müde = very tired
                aus Wien = from Vienna
                aus Hamburg = from Hamburg
                heute krank = ill today
            """)
        )
        return both(f"{whole} is {state.en}", f"{person.de('nominative')} {with_de} ist {state.de}")
    subject = first_subject(choose)
    if frame == "wo":
        return both(f"where is {whole}", f"wo ist {person.de('nominative')} {with_de}", "?")
    if frame == "acc":
        action = choose.word(
            verbs("""
                sehen sieht gesehen = see saw seen
                fragen fragt gefragt = ask
                fotografieren fotografiert fotografiert = photograph
            """)
        )
        predicate = Predicate(verb=action, en=whole, de_object=f"{person.de('accusative')} {with_de}")
    else:
        action = choose.word(
            verbs("""
                helfen hilft geholfen = help
                danken dankt gedankt = thank
                antworten antwortet geantwortet = answer
            """)
        )
        predicate = Predicate(verb=action, en=whole, de_object=f"{person.de('dative')} {with_de}")
    clause = Clause(subject=subject, predicate=predicate, tense="past", time=choose.form(PAST))
    return both(in_english(clause), in_german(clause))


_WORKPLACES = phrases("""
    in der Bäckerei = in the bakery
    im Supermarkt = in the supermarket
    in der Bank = in the bank
    im Hotel = in the hotel
    im Museum = in the museum
    in der Apotheke = in the pharmacy
    am Flughafen = at the airport
    im Rathaus = in the town hall
    in der Schule = in the school
""")


def who_works(choose: Chooser) -> Phrase:
    """The woman who works in the bakery is very friendly: a relative clause about the subject."""
    person = noun_object(choose, lexicon.PEOPLE[:2], THE, lexicon.PEOPLE_QUALITIES[:4])
    does = choose.form((Phrase("works", "arbeitet"), Phrase("is waiting", "wartet"), Phrase("is sitting", "sitzt")))
    where = choose.word(_WORKPLACES)
    state = choose.word(
        phrases("""
            sehr freundlich = very friendly
            sehr nett = very nice
            müde = tired
            aus Berlin = from Berlin
            aus England = from England
            leider krank = unfortunately ill
        """)
    )
    relative = german.relative_pronoun(person.noun, "nominative")
    return both(
        f"{person.en} who {does.en} {where.en} is {state.en}",
        f"{person.de('nominative')}, {relative} {where.de} {does.de}, ist {state.de}",
    )


def speaks(choose: Chooser) -> Phrase:
    """Anna speaks German and a little French."""
    subject = first_subject(choose)
    first = choose.word(lexicon.LANGUAGES)
    second = choose.word(tuple(language for language in lexicon.LANGUAGES if language != first))
    link = choose.form(
        phrases("""
            und ein wenig = and a little
            und = and
            aber kein = but no
            besser als = better than
        """)
    )
    clause = Clause(
        subject=subject,
        predicate=Predicate(
            verb=verb("sprechen spricht gesprochen = speak spoke spoken"),
            en=f"{first.en} {link.en} {second.en}",
            de_object=f"{first.de}{',' if link.en == 'but no' else ''} {link.de} {second.de}",
        ),
        tense=choose.form(("habit", "can")),
    )
    return both(in_english(clause), in_german(clause))


_GREETINGS = phrases("""
    guten Morgen = good morning
    guten Tag = hello
    guten Abend = good evening
    auf Wiedersehen = goodbye
    vielen Dank = thank you very much
""")


def greeting(choose: Chooser) -> Phrase:
    """Good morning, Mrs Weber. How are you today?"""
    if choose.chance(0.3):
        name = choose.word((*lexicon.WOMEN, *lexicon.MEN))
        hello = choose.form(phrases("hallo = hi\n guten Morgen = good morning\n guten Abend = good evening"))
        ask = choose.form(
            phrases("""
                Wie geht es dir? = How are you?
                Wie geht es dir heute? = How are you today?
                Kannst du mir bitte helfen? = Can you please help me?
                Hast du heute Abend Zeit? = Do you have time this evening?
            """)
        )
        return Phrase(
            f"{hello.en.capitalize()}, {name}. {ask.en}", f"{hello.de[0].upper() + hello.de[1:]}, {name}. {ask.de}"
        )
    title = choose.form((Phrase("Mrs", "Frau"), Phrase("Mr", "Herr")))
    name = choose.word(lexicon.SURNAMES)
    hello = choose.form(_GREETINGS)
    if hello in _GREETINGS[:3]:
        follow = choose.form(
            phrases("""
                Wie geht es Ihnen? = How are you?
                Wie geht es Ihnen heute? = How are you today?
                Können Sie mir bitte helfen? = Can you please help me?
                Haben Sie einen Moment Zeit? = Do you have a moment?
                Schön, Sie zu sehen. = It is nice to see you.
            """)
        )
    elif hello == _GREETINGS[3]:
        follow = choose.form(phrases("Bis morgen! = See you tomorrow!\n Bis bald! = See you soon!"))
    else:
        follow = choose.form(phrases("Sie haben mir sehr geholfen. = You have helped me a lot."))
    return Phrase(
        f"{hello.en.capitalize()}, {title.en} {name}. {follow.en}",
        f"{hello.de[0].upper() + hello.de[1:]}, {title.de} {name}. {follow.de}",
    )


def introduction(choose: Chooser) -> Phrase:
    """My name is Anna Weber and I come from Berlin."""
    name, surname = choose.word((*lexicon.WOMEN, *lexicon.MEN)), choose.word(lexicon.SURNAMES)
    city = choose.word(lexicon.CITIES)
    end = choose.form(
        (
            Phrase("come from", "komme aus"),
            Phrase("live in", "wohne in"),
            Phrase("work in", "arbeite in"),
        )
    )
    return both(
        f"my name is {name} {surname} and I {end.en} {city.en}", f"ich heiße {name} {surname} und {end.de} {city.de}"
    )


def birthday(choose: Chooser) -> Phrase:
    """My sister has her birthday in May."""
    subject = I if choose.chance(0.2) else _relative(choose).as_subject()
    month = choose.word(counting.MONTHS)
    return both(
        f"{subject.en} {english.have(subject.person)} {subject.my.en} birthday in {month.en}",
        f"{subject.de} {german.auxiliary('haben', subject.person)} im {month.de} Geburtstag",
    )
