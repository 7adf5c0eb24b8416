"""The phrasebook's places, in and out of the house, and what stands in them."""

from attendo.demo.words import adjectives, nouns, phrases

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
