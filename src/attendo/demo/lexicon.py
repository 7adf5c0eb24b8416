"""The phrasebook's vocabulary in selectional classes: what can be eaten, worn, read, visited.

The classes keep the templates from saying absurd things; the places stand in `attendo.demo.places`.
"""

from attendo.demo.words import adjectives, nouns, phrases

SNACKS = nouns("""
    der Apfel/Äpfel = apple
    die Banane/Bananen = banana
    die Birne/Birnen = pear
    die Orange/Orangen = orange
    das Brötchen/Brötchen = bread roll
    die Brezel/Brezeln = pretzel
    das Ei/Eier = egg
    die Tomate/Tomaten = tomato/tomatoes
    die Kartoffel/Kartoffeln = potato/potatoes
""")

DISHES = nouns("""
    die Suppe/Suppen = soup
    der Salat/Salate = salad
    die Pizza/Pizzen = pizza
    das Omelett/Omeletts = omelette
    die Wurst/Würste = sausage
    der Pfannkuchen/Pfannkuchen = pancake
    das Schnitzel/Schnitzel = schnitzel
    das Steak/Steaks = steak
    der Burger/Burger = burger
    der Kuchen/Kuchen = cake
""")

MARKET_GOODS = (
    SNACKS[:4]
    + SNACKS[7:]
    + nouns("""
    die Karotte/Karotten = carrot
    die Zwiebel/Zwiebeln = onion
    die Gurke/Gurken = cucumber
    die Kirsche/Kirschen = cherry
""")
)

GROCERIES = nouns("""
    das Brot = bread
    der Käse = cheese
    das Fleisch = meat
    die Butter = butter
    der Honig = honey
    der Schinken = ham
    das Obst = fruit
    der Reis = rice
    der Joghurt = yoghurt
    die Marmelade = jam
    die Schokolade = chocolate
    der Spinat = spinach
""")

WEIGHED = tuple(noun for noun in GROCERIES if noun.en in ("cheese", "meat", "butter", "ham", "rice", "spinach"))

MEALS = tuple(noun for noun in GROCERIES if noun.en not in ("butter", "honey", "jam", "ham"))
DRINKS = nouns("""
    der Kaffee/Kaffees = coffee
    der Tee/Tees = tea
    das Bier/Biere = beer
    der Orangensaft/Orangensäfte = orange juice
    der Apfelsaft/Apfelsäfte = apple juice
    die Limonade/Limonaden = lemonade
    das Mineralwasser = mineral water
    der Rotwein = red wine
    der Weißwein = white wine
""")

GLASS_DRINKS = nouns("""
    der Orangensaft = orange juice
    der Apfelsaft = apple juice
    die Limonade = lemonade
    das Wasser = water
    der Rotwein = red wine
    der Weißwein = white wine
    das Bier = beer
    die Milch = milk
""")

CUP_DRINKS = nouns("""
    der Kaffee = coffee
    der Tee = tea
    der Kakao = cocoa
""")

CONTAINERS = nouns("""
    das Glas/Gläser = glass
    die Tasse/Tassen = cup
    die Flasche/Flaschen = bottle
""")

GARMENTS = nouns("""
    der Mantel/Mäntel = coat
    die Jacke/Jacken = jacket
    das Hemd/Hemden = shirt
    das Kleid/Kleider = dress
    der Rock/Röcke = skirt
    der Pullover/Pullover = sweater
    der Anzug/Anzüge = suit
    die Bluse/Blusen = blouse
    +die Socke/Socken = sock
""")

FOOTWEAR = nouns("""
    +der Schuh/Schuhe = shoe
    +der Stiefel/Stiefel = boot
    +der Handschuh/Handschuhe = glove
""")
"""What comes in pairs and is put on hands and feet."""

HEADWEAR = nouns("""
    der Hut/Hüte = hat
    die Mütze/Mützen = cap
""")

CLOTHES = (
    GARMENTS
    + FOOTWEAR
    + HEADWEAR
    + nouns("""
    der Schal/Schals = scarf
    der Gürtel/Gürtel = belt
""")
)

WOMENS_CLOTHES = tuple(noun for noun in CLOTHES if noun.en in ("dress", "skirt", "blouse"))

BELONGINGS = nouns("""
    der Regenschirm/Regenschirme = umbrella
    die Tasche/Taschen = bag
    der Koffer/Koffer = suitcase
    der Rucksack/Rucksäcke = backpack
    die Kamera/Kameras = camera
    das Handy/Handys = mobile phone
    die Uhr/Uhren = watch
    das Handtuch/Handtücher = towel
    die Brieftasche/Brieftaschen = wallet
    das Fahrrad/Fahrräder = bicycle
""")

PAPERS = nouns("""
    der Schlüssel/Schlüssel = key
    die Fahrkarte/Fahrkarten = ticket
    der Stadtplan/Stadtpläne = city map
    das Ladegerät/Ladegeräte = charger
    der Reisepass/Reisepässe = passport
    das Wörterbuch/Wörterbücher = dictionary
    der Ausweis/Ausweise = identity card
""")

LITERATURE = nouns("""
    das Buch/Bücher = book
    der Roman/Romane = novel
    die Geschichte/Geschichten = story
    der Artikel/Artikel = article
    die Zeitung/Zeitungen = newspaper
    die Zeitschrift/Zeitschriften = magazine
    das Gedicht/Gedichte = poem
""")

WRITINGS = tuple(noun for noun in LITERATURE if noun.en in ("story", "article", "poem"))

MAIL = nouns("""
    der Brief/Briefe = letter
    die E-Mail/E-Mails = email
    die Nachricht/Nachrichten = message
    die Einladung/Einladungen = invitation
    die Antwort/Antworten = reply
""")

DOCUMENTS = nouns("""
    der Vertrag/Verträge = contract
    der Bericht/Berichte = report
    die Liste/Listen = list
    das Formular/Formulare = form
    der Plan/Pläne = plan
""")

SIGNABLES = DOCUMENTS[:1] + DOCUMENTS[-2:-1]

RELATIVES = nouns("""
    der Bruder/Brüder = brother
    die Schwester/Schwestern = sister
    der Vater/Väter = father
    die Mutter/Mütter = mother
    der Sohn/Söhne = son
    die Tochter/Töchter = daughter
    der Onkel/Onkel = uncle
    die Tante/Tanten = aunt
    der Großvater/Großväter = grandfather
    die Großmutter/Großmütter = grandmother
    die Cousine/Cousinen = cousin
    das Kind/Kinder = child/children
    +der Elternteil/Eltern = parent
    +der Großelternteil/Großeltern = grandparent
""")

ACQUAINTANCES = nouns("""
    der Kollege*/Kollegen = colleague
    der Nachbar*/Nachbarn = neighbour
    der Chef/Chefs = boss/bosses
    der Lehrer/Lehrer = teacher
    der Freund/Freunde = friend
    der Arzt/Ärzte = doctor
    der Student*/Studenten = student
    der Kunde*/Kunden = customer
    der Gast/Gäste = guest
""")

PEOPLE = nouns("""
    der Mann/Männer = man/men
    die Frau/Frauen = woman/women
    das Kind/Kinder = child/children
    der Junge*/Jungen = boy
    das Mädchen/Mädchen = girl
    der Polizist*/Polizisten = policeman/policemen
    der Kellner/Kellner = waiter
    die Verkäuferin/Verkäuferinnen = saleswoman/saleswomen
""")

BODY_PARTS = nouns("""
    der Kopf/Köpfe = head
    der Rücken/Rücken = back
    der Bauch/Bäuche = stomach
    der Hals/Hälse = throat
    der Arm/Arme = arm
    die Hand/Hände = hand
    das Knie/Knie = knee
    das Bein/Beine = leg
    die Schulter/Schultern = shoulder
    der Zahn/Zähne = tooth/teeth
    +der Fuß/Füße = foot/feet
    +das Auge/Augen = eye
    +das Ohr/Ohren = ear
    +der Finger/Finger = finger
""")

EVENTS = nouns("""
    die Besprechung/Besprechungen = meeting
    der Film/Filme = film
    das Konzert/Konzerte = concert
    der Kurs/Kurse = course
    die Stadtführung/Stadtführungen = city tour
    die Prüfung/Prüfungen = exam
    das Spiel/Spiele = match
    die Vorlesung/Vorlesungen = lecture
    das Fest/Feste = festival
""")

JOYS = nouns("""
    der Urlaub/Urlaube = holiday
    die Reise/Reisen = trip
    der Besuch/Besuche = visit
    das Wochenende/Wochenenden = weekend
    der Sommer/Sommer = summer
    das Konzert/Konzerte = concert
    das Abendessen/Abendessen = dinner
    die Party/Partys = party
    die Hochzeit/Hochzeiten = wedding
    das Spiel/Spiele = match
""")

NOISES = nouns("""
    das Wetter = weather
    der Regen = rain
    der Verkehr = traffic
    der Schnee = snow
    der Sturm/Stürme = storm
    die Hitze = heat
    der Nebel = fog
""")

COLOURS = adjectives("""
    rot = red
    blau = blue
    grün = green
    schwarz = black
    weiß = white
    gelb = yellow
    braun = brown
    grau = grey
""")

CLOTHES_QUALITIES = COLOURS + adjectives("""
    neu = new
    alt = old
    schön = beautiful
    teuer/teur = expensive
    billig = cheap
    elegant = elegant
    modern = modern
    bequem = comfortable
""")

SIZES = adjectives("""
    klein = small
    groß = big
""")

AGES = adjectives("""
    neu = new
    alt = old
""")

PRICES = adjectives("""
    teuer/teur = expensive
    billig = cheap
""")

CONDITIONS = AGES + SIZES

LITERATURE_QUALITIES = adjectives("""
    neu = new
    alt = old
    lang = long
    kurz = short
    interessant = interesting
    spannend = exciting
    lustig = funny
""")

MAIL_QUALITIES = adjectives("""
    neu = new
    lang = long
    kurz = short
    wichtig = important
    freundlich = friendly
    höflich = polite
""")

DOCUMENT_QUALITIES = adjectives("""
    neu = new
    alt = old
    lang = long
    kurz = short
    wichtig = important
""")

FRESH = adjectives("frisch = fresh")

FOOD_QUALITIES = adjectives("""
    klein = small
    groß = big
    lecker = delicious
    gut = good
""")

GROCERY_QUALITIES = adjectives("""
    frisch = fresh
    gut = good
    billig = cheap
""")

DRINK_QUALITIES = adjectives("""
    kalt = cold
    groß = big
    klein = small
""")

PERSON_QUALITIES = adjectives("""
    neu = new
    alt = old
    jung = young
    nett = nice
    freundlich = friendly
""")

PEOPLE_QUALITIES = adjectives("""
    alt = old
    jung = young
    groß = tall
    klein = short
    freundlich = friendly
""")

JOY_QUALITIES = adjectives("""
    nächst = next
    groß = big
    lang = long
    schön = beautiful
    klein = small
""")

LANGUAGES = phrases("""
    Deutsch = German
    Englisch = English
    Französisch = French
    Spanisch = Spanish
    Italienisch = Italian
    Russisch = Russian
    Chinesisch = Chinese
    Türkisch = Turkish
""")

WOMEN = ("Anna", "Maria", "Julia", "Lena", "Sophie")

MEN = ("Peter", "Paul", "Thomas", "Max", "Felix")

SURNAMES = ("Weber", "Schmidt", "Fischer", "Wagner", "Becker", "Hoffmann")
