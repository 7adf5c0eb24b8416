"""The phrasebook's vocabulary in selectional classes: what can be eaten, worn, read, visited, repaired.

The classes keep the templates from saying absurd things. Each English word has one German word throughout.
"""

from attendo.demo.words import Phrase, adjectives, nouns, phrases

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
MARKET_GOODS = SNACKS[:4] + SNACKS[7:] + nouns("""
    die Karotte/Karotten = carrot
    die Zwiebel/Zwiebeln = onion
    die Gurke/Gurken = cucumber
    die Kirsche/Kirschen = cherry
""")
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
CLOTHES = nouns("""
    der Hut/Hüte = hat
    der Mantel/Mäntel = coat
    die Jacke/Jacken = jacket
    das Hemd/Hemden = shirt
    das Kleid/Kleider = dress
    der Rock/Röcke = skirt
    der Pullover/Pullover = sweater
    der Schal/Schals = scarf
    der Anzug/Anzüge = suit
    die Bluse/Blusen = blouse
    die Mütze/Mützen = cap
    der Gürtel/Gürtel = belt
    +der Schuh/Schuhe = shoe
    +der Stiefel/Stiefel = boot
    +der Handschuh/Handschuhe = glove
    +die Socke/Socken = sock
""")
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
    die Rechnung/Rechnungen = bill
    das Formular/Formulare = form
    der Plan/Pläne = plan
""")
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
ROOMS = nouns("""
    das Zimmer/Zimmer = room
    die Küche/Küchen = kitchen
    das Badezimmer/Badezimmer = bathroom
    das Schlafzimmer/Schlafzimmer = bedroom
    das Wohnzimmer/Wohnzimmer = living room
    der Keller/Keller = cellar
    die Garage/Garagen = garage
""")
OPENABLES = nouns("""
    das Fenster/Fenster = window
    die Tür/Türen = door
    der Koffer/Koffer = suitcase
    die Schublade/Schubladen = drawer
    die Kiste/Kisten = box
    das Tor/Tore = gate
""")
DEVICES = nouns("""
    der Fernseher/Fernseher = television
    das Radio/Radios = radio
    der Computer/Computer = computer
    die Lampe/Lampen = lamp
    die Heizung/Heizungen = heating
    die Klimaanlage/Klimaanlagen = air conditioning
    die Waschmaschine/Waschmaschinen = washing machine
    die Spülmaschine/Spülmaschinen = dishwasher
    der Drucker/Drucker = printer
""")
REPAIRABLES = nouns("""
    das Auto/Autos = car
    das Fahrrad/Fahrräder = bicycle
    die Uhr/Uhren = watch
    die Lampe/Lampen = lamp
    die Waschmaschine/Waschmaschinen = washing machine
    der Drucker/Drucker = printer
    die Dusche/Duschen = shower
    das Dach/Dächer = roof
    der Zaun/Zäune = fence
""")
RENTALS = nouns("""
    die Wohnung/Wohnungen = flat
    das Haus/Häuser = house
    das Auto/Autos = car
    das Zimmer/Zimmer = room
    das Boot/Boote = boat
    das Büro/Büros = office
""")
SIGHTS = nouns("""
    das Museum/Museen = museum
    die Kirche/Kirchen = church
    die Brücke/Brücken = bridge
    das Schloss/Schlösser = castle
    der Park/Parks = park
    der Turm/Türme = tower
    der Platz/Plätze = square
    das Theater/Theater = theatre
    der Garten/Gärten = garden
""")
TOWN_PLACES = nouns("""
    der Bahnhof/Bahnhöfe = station
    die Bank/Banken = bank
    das Museum/Museen = museum
    die Apotheke/Apotheken = pharmacy
    das Krankenhaus/Krankenhäuser = hospital
    die Kirche/Kirchen = church
    das Rathaus/Rathäuser = town hall
    der Supermarkt/Supermärkte = supermarket
    die Bäckerei/Bäckereien = bakery
    das Hotel/Hotels = hotel
    die Schule/Schulen = school
    die Bibliothek/Bibliotheken = library
    das Theater/Theater = theatre
    der Flughafen/Flughäfen = airport
    die Brücke/Brücken = bridge
    der Park/Parks = park
    die Universität/Universitäten = university
    das Schwimmbad/Schwimmbäder = swimming pool
    die Bushaltestelle/Bushaltestellen = bus stop
    der Marktplatz/Marktplätze = market square
""")
VEHICLES = nouns("""
    der Bus/Busse = bus
    der Zug/Züge = train
    das Taxi/Taxis = taxi
    die Straßenbahn/Straßenbahnen = tram
    die U-Bahn/U-Bahnen = underground
    das Auto/Autos = car
    das Schiff/Schiffe = ship
    das Fahrrad/Fahrräder = bicycle
""")
FURNITURE = nouns("""
    der Tisch/Tische = table
    das Bett/Betten = bed
    der Stuhl/Stühle = chair
    das Sofa/Sofas = sofa
    das Regal/Regale = shelf/shelves
    der Schreibtisch/Schreibtische = desk
    der Schrank/Schränke = cupboard
""")
HOTEL_FITTINGS = nouns("""
    die Dusche/Duschen = shower
    die Heizung/Heizungen = heating
    die Klimaanlage/Klimaanlagen = air conditioning
    der Fernseher/Fernseher = television
    das Telefon/Telefone = telephone
    die Lampe/Lampen = lamp
    der Aufzug/Aufzüge = lift
    das Licht/Lichter = light
    der Wasserhahn/Wasserhähne = tap
    der Schlüssel/Schlüssel = key
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
    der Lärm = noise
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
BELONGINGS_QUALITIES = COLOURS + CONDITIONS + PRICES
LITERATURE_QUALITIES = adjectives("""
    neu = new
    alt = old
    lang = long
    kurz = short
    interessant = interesting
    langweilig = boring
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
FOOD_QUALITIES = adjectives("""
    frisch = fresh
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
    gut = good
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
    müde = tired
""")
BUILDING_QUALITIES = adjectives("""
    alt = old
    neu = new
    groß = big
    klein = small
    schön = beautiful
    berühmt = famous
    modern = modern
""")
RENTAL_QUALITIES = adjectives("""
    groß = big
    klein = small
    billig = cheap
    modern = modern
    schön = beautiful
""")
VEHICLE_QUALITIES = adjectives("""
    neu = new
    alt = old
    blau = blue
    rot = red
    klein = small
    groß = big
""")
JOY_QUALITIES = adjectives("""
    nächst = next
    groß = big
    lang = long
    schön = beautiful
    klein = small
""")

LOCATIONS = phrases("""
    im Park = in the park
    im Garten = in the garden
    am Bahnhof = at the station
    im Restaurant = in the restaurant
    im Hotel = in the hotel
    im Museum = in the museum
    im Büro = in the office
    im Zug = on the train
    in der Bibliothek = in the library
    in der Stadt = in town
    in der Küche = in the kitchen
    am Strand = on the beach
    auf dem Markt = at the market
    zu Hause = at home
""")
DESTINATIONS = phrases("""
    ins Kino = to the cinema
    ins Theater = to the theatre
    ins Museum = to the museum
    ins Schwimmbad = to the swimming pool
    ins Stadtzentrum = to the city centre
    ins Konzert = to the concert
    in den Park = to the park
    in den Zoo = to the zoo
    in die Bibliothek = to the library
    in die Stadt = into town
    auf den Markt = to the market
    an den Strand = to the beach
    zum Bahnhof = to the station
    zum Flughafen = to the airport
    zum Arzt = to the doctor
    zum Zahnarzt = to the dentist
    zum Friseur = to the hairdresser
    zur Bank = to the bank
    zur Post = to the post office
    zur Apotheke = to the pharmacy
    zur Arbeit = to work
    nach Hause = home
""")
CITIES = phrases("""
    Berlin = Berlin
    Hamburg = Hamburg
    München = Munich
    Köln = Cologne
    Wien = Vienna
    Zürich = Zurich
    Rom = Rome
    Paris = Paris
    London = London
    Leipzig = Leipzig
    Prag = Prague
    Dresden = Dresden
""")
COUNTRIES = phrases("""
    nach Italien = to Italy
    nach Frankreich = to France
    nach Spanien = to Spain
    nach Österreich = to Austria
    nach England = to England
    nach Griechenland = to Greece
    in die Schweiz = to Switzerland
    in die Türkei = to Turkey
    in die Berge = to the mountains
    ans Meer = to the sea
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

WEEKDAYS = phrases("""
    Montag = Monday
    Dienstag = Tuesday
    Mittwoch = Wednesday
    Donnerstag = Thursday
    Freitag = Friday
    Samstag = Saturday
    Sonntag = Sunday
""")
_NUMBERS_EN = "one two three four five six seven eight nine ten eleven twelve".split()
_NUMBERS_DE = "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
NUMBERS = tuple(Phrase(en=en, de=de) for en, de in zip(_NUMBERS_EN, _NUMBERS_DE, strict=True))
"""One to twelve."""
TENS = phrases("""
    fünfzehn = fifteen
    zwanzig = twenty
    dreißig = thirty
    vierzig = forty
    fünfzig = fifty
    sechzig = sixty
    siebzig = seventy
    achtzig = eighty
    neunzig = ninety
""")
MONTHS = phrases("""
    Januar = January
    Februar = February
    März = March
    April = April
    Mai = May
    Juni = June
    Juli = July
    August = August
    September = September
    Oktober = October
    November = November
    Dezember = December
""")
