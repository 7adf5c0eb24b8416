"""The models that come with attendo: whole, small, attributed, and of use to somebody who types carelessly."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest

import attendo
from attendo.checkpoint.checksums import CARD, verify_folder
from attendo.checkpoint.finding import shipped_models
from attendo.decoding.config import GuardConfig
from attendo.decoding.search_settings import SearchSettings
from attendo.workflow.engines.engine import Engine

SAYS = {
    "en-de": {
        "Good morning!": {"Guten Morgen!"},
        "Where is the train station?": {"Wo ist der Bahnhof?"},
        "I have two brothers.": {"Ich habe zwei Brüder."},
        "She drinks coffee every morning.": {"Sie trinkt jeden Morgen Kaffee."},
        "My father is a doctor.": {"Mein Vater ist Arzt."},
        "File not found.": {"Datei nicht gefunden.", "Die Datei wurde nicht gefunden."},
        "Your password must contain at least 8 characters.": {
            "Ihr Kennwort muss mindestens 8 Zeichen enthalten.", "Ihr Passwort muss mindestens 8 Zeichen enthalten.",
            "Das Kennwort muss mindestens 8 Zeichen enthalten.", "Dein Passwort muss mindestens 8 Zeichen enthalten.",
        },
    },
    "de-en": {
        "Guten Morgen!": {"Good morning!", "Good morning."},
        "Wo ist der Bahnhof?": {"Where is the train station?", "Where's the train station?", "Where is the station?",
                                "Where's the station?"},
        "Ich habe zwei Brüder.": {"I have two brothers.", "I've got two brothers."},
        "Sie trinkt jeden Morgen Kaffee.": {"She drinks coffee every morning."},
        "Mein Vater ist Arzt.": {"My father is a doctor.", "My father's a doctor."},
        "Datei nicht gefunden.": {"File not found.", "The file was not found.", "The file could not be found."},
        "Ihr Passwort muss mindestens 8 Zeichen enthalten.": {"Your password must contain at least 8 characters.",
                                                              "Your password must have at least 8 characters."},
    },
    "en-fr": {
        "Good morning!": {"Bonjour !"},
        "Where is the train station?": {"Où est la gare ?", "Où se trouve la gare ?"},
        "I have two brothers.": {"J'ai deux frères."},
        "She drinks coffee every morning.": {"Elle boit du café tous les matins.", "Elle boit du café chaque matin.",
                                             "Elle boit un café tous les matins."},
        "My father is a doctor.": {"Mon père est médecin.", "Mon père est docteur."},
        "File not found.": {"Fichier introuvable.", "Fichier non trouvé.", "Le fichier est introuvable."},
        "Your password must contain at least 8 characters.": {
            "Votre mot de passe doit contenir au moins 8 caractères.",
            "Votre mot de passe doit comporter au moins 8 caractères.",
        },
    },
    "fr-en": {
        "Bonjour !": {"Hello!", "Good morning!", "Good day!", "Hi!"},
        "Où est la gare ?": {"Where is the train station?", "Where's the train station?", "Where is the station?",
                             "Where's the station?", "Where is the railway station?"},
        "J'ai deux frères.": {"I have two brothers.", "I've got two brothers."},
        "Elle boit du café tous les matins.": {"She drinks coffee every morning."},
        "Mon père est médecin.": {"My father is a doctor.", "My father's a doctor."},
        "Fichier introuvable.": {"File not found.", "The file was not found."},
        "Votre mot de passe doit contenir au moins 8 caractères.": {
            "Your password must contain at least 8 characters.",
        },
    },
}  # fmt: skip
"""What anybody who knows both languages would say."""
PHRASES = Path(__file__).parent / "first_phrases.tsv"
"""Direction, what people type to try a translator, and the right translations, separated by bars.

Many are among the formulas that the models learned from: this is about what they still know, not about new text.
"""

_EVERYDAY_AND_SOFTWARE = (
    "CC BY 2.0",
    "tatoeba.org",
    "CC BY 4.0",
    "Microsoft Corporation",
    "CC BY 3.0",
    "the PHP Documentation Group",
    "Audacity",
    "GNOME",
    "pgAdmin",
    "Incus",
)
ATTRIBUTED = {
    **dict.fromkeys(("en-de", "de-en"), (*_EVERYDAY_AND_SOFTWARE, ".NET Foundation")),
    **dict.fromkeys(("en-fr", "fr-en"), _EVERYDAY_AND_SOFTWARE),
    "craft": ("CC BY 3.0", "Colorado Richly Annotated Full Text Corpus", "creativecommons.org/licenses/by/3.0"),
}
MEGABYTES = {**dict.fromkeys(SAYS, 20.0), "craft": 10.5}
"""The most that a folder may have; the translators have room for 80 in all."""
PARSED = {
    "Mice were injected with saline.":
        "(S (NP (NNS Mice)) (VP (VBD were) (VP (VBN injected) (PP (IN with) (NP (NN saline))))) (. .))",
    "These cells express the receptor.":
        "(S (NP (DT These) (NNS cells)) (VP (VBP express) (NP (DT the) (NN receptor))) (. .))",
    "We found that the gene is expressed in the brain.":
        "(S (NP (PRP We)) (VP (VBD found) (SBAR (IN that) (S (NP (DT the) (NN gene)) (VP (VBZ is) (VP (VBN expressed) "
        "(PP (IN in) (NP (DT the) (NN brain)))))))) (. .))",
    "Further studies are needed to test this hypothesis.":
        "(S (NP (JJ Further) (NNS studies)) (VP (VBP are) (VP (VBN needed) (S (VP (TO to) (VP (VB test) "
        "(NP (DT this) (NN hypothesis))))))) (. .))",
}  # fmt: skip
"""As the Penn Treebank's guidelines have it."""


@pytest.fixture(scope="module")
def engines() -> Mapping[str, Engine]:
    return {name: attendo.load(name) for name in SAYS}


def test_all_are_there_and_whole() -> None:
    assert set(shipped_models()) == set(ATTRIBUTED)
    for name, folder in shipped_models().items():
        assert verify_folder(folder) == []
        assert sum(path.stat().st_size for path in folder.iterdir()) < MEGABYTES[name] * 1e6
        card = (folder / CARD).read_text(encoding="utf-8")
        assert all(part in card for part in ATTRIBUTED[name])


@pytest.mark.parametrize("name", SAYS)
def test_everyday_sentences(engines: Mapping[str, Engine], name: str) -> None:
    found = [translation.text for translation in engines[name].translate(list(SAYS[name]))]
    right = [text in wanted for text, wanted in zip(found, SAYS[name].values(), strict=True)]
    assert sum(right) >= len(right) - 1, found


@pytest.mark.parametrize("name", SAYS)
def test_what_people_try_first(engines: Mapping[str, Engine], name: str) -> None:
    rows = [line.split("\t") for line in PHRASES.read_text(encoding="utf-8").splitlines()]
    wanted = {source: set(right.split("|")) for direction, source, right in rows if direction == name}
    assert len(wanted) > 30
    found = [_typed(translation.text) for translation in engines[name].translate(list(wanted))]
    wrong = {source: text for source, text in zip(wanted, found, strict=True) if text not in wanted[source]}
    assert len(wrong) <= 0.2 * len(wanted), wrong


def _typed(text: str) -> str:
    """A text as people type it, with plain spaces and apostrophes."""
    return text.replace("\u202f", " ").replace("\u00a0", " ").replace("\u2019", "'")


@pytest.mark.parametrize("name", SAYS)
def test_the_longer_of_the_best_candidates_are_preferred(engines: Mapping[str, Engine], name: str) -> None:
    rows = [line.split("\t") for line in PHRASES.read_text(encoding="utf-8").splitlines()]
    sources = [source for direction, source, _ in rows if direction == name]
    plain = engines[name].with_search(length_penalty=0.6, completeness=0.0, guards=vars(GuardConfig.off()))
    expected = []
    for found in plain.translate(sources, n_best=4):
        probabilities: dict[str, float] = {}
        for each in found.n_best:
            probabilities[each.text] = probabilities.get(each.text, 0.0) + math.exp(each.log_prob)
        lengths = {each.text: len(each.token_log_probs) for each in reversed(found.n_best)}
        best = max(probabilities, key=lambda text: math.log(probabilities[text]) / ((5 + lengths[text]) / 6) ** 2.6)
        expected.append(best)
    complete = plain.with_search(completeness=2.0)
    chosen = [each.text for each in complete.translate(sources)]
    assert chosen == expected
    assert chosen != [each.text for each in plain.translate(sources)]
    for search in (SearchSettings(beam_size=1), SearchSettings(sampling=True, seed=3)):
        assert complete.translate(sources, **search) == plain.translate(sources, **search)


@pytest.mark.parametrize("name", SAYS)
def test_careless_input(engines: Mapping[str, Engine], name: str) -> None:
    clean = [translation.text for translation in engines[name].translate(list(SAYS[name]))]
    lines = [
        *(source.upper() for source in SAYS[name]),
        *(f"  {source}\U0001f600" for source in SAYS[name]),
        *(f"{source} https://example.org/{number}?x=1" for number, source in enumerate(SAYS[name])),
        " ".join(SAYS[name]),
    ]
    found, n = [translation.text for translation in engines[name].translate(lines)], len(clean)
    shouted, smiling, linked = found[:n], found[n : 2 * n], found[2 * n : 3 * n]
    same = [ours.casefold() == theirs.casefold() for ours, theirs in zip(shouted, clean, strict=True)]
    assert sum(same) > len(same) / 2, shouted
    assert all(text.isupper() for text in shouted)
    assert smiling == [f"{text}\U0001f600" for text in clean]
    assert all(text.endswith(f"https://example.org/{number}?x=1") for number, text in enumerate(linked))
    assert found[3 * n] == " ".join(clean)


@pytest.mark.parametrize(
    ("name", "short", "full"),
    [
        ("en-de", "i dont know", "i don't know"),
        ("en-de", "DONT WORRY", "DON'T WORRY"),
        ("en-de", "see u tmrw! \U0001f600", "see you tomorrow! \U0001f600"),
        ("en-fr", "I cant find `a.txt`.", "I can't find `a.txt`."),
        ("de-en", "vllt komm ich sp\u00e4ter", "vielleicht komm ich sp\u00e4ter"),
        ("fr-en", "jai faim", "j'ai faim"),
    ],
)
def test_messages_are_read_as_written_in_full(engines: Mapping[str, Engine], name: str, short: str, full: str) -> None:
    found, expected = engines[name].translate([short, full])
    assert found.text == expected.text
    assert "shorthand" in found.guards
    assert "shorthand" not in expected.guards
    off = engines[name].with_search(guards={"shorthand": False, "fragments": False})
    assert "shorthand" not in off.translate(short).guards


def test_what_is_left_out_is_told(engines: Mapping[str, Engine]) -> None:
    source = "She closed the window because it was getting colder every minute, and then she went home without a word."
    whole, cut = engines["en-de"].translate(source), engines["en-de"].translate(source, max_len=14)
    assert not any("corresponds" in problem for problem in whole.problems)
    [told] = [problem for problem in cut.problems if "corresponds" in problem]
    assert told.startswith("nothing in the translation corresponds to '")
    assert "went home without" in told
    off = engines["en-de"].translate(source, max_len=14, guards={"values": False, "fragments": False})
    assert off.problems == ()


def test_the_memory_of_alignment_is_given_back() -> None:
    engine = attendo.load("fr-en", dtype="int8")
    engine.free_unused(0)
    [before] = engine.align([("Bonjour !", "Hello!")])
    # Five layers of the encoder and one of the decoder: 5 x (4 x 384 x 384 + 2 x 384 x 1536) weights and more.
    assert engine.free_unused(0) > 5 * (4 * 384 * 384 + 2 * 384 * 1536) * 4
    assert engine.free_unused(0) == 0
    [again] = engine.align([("Bonjour !", "Hello!")])
    assert again.links == before.links


def test_laughs_stay(engines: Mapping[str, Engine]) -> None:
    laughing, plain = engines["en-de"].translate(["LOL that's funny haha!", "that's funny"])
    assert laughing.text == f"LOL {plain.text} haha!"
    assert engines["en-de"].translate("haha").text == "haha"


@pytest.mark.parametrize("name", SAYS)
def test_nothing_comes_of_nothing_and_the_unreadable_comes_back(engines: Mapping[str, Engine], name: str) -> None:
    lines = ["", "   ", "これはペンです。", "https://example.org/a 12345"]
    assert [translation.text for translation in engines[name].translate(lines)] == ["", "", *lines[2:]]


def test_sentences_as_articles_have_them_are_parsed() -> None:
    trees = attendo.load("craft").parse(list(PARSED))
    right = [str(tree) == wanted for tree, wanted in zip(trees, PARSED.values(), strict=True)]
    assert sum(right) >= len(right) - 1, [str(tree) for tree in trees]


def test_anything_gets_a_tree_over_its_words() -> None:
    sentences = [["a"], ["("], ["\U0001f600", "zz" * 40, "\u3042"], ["gene"] * 120]
    assert [tree.words for tree in attendo.load("craft").parse(sentences)] == [tuple(words) for words in sentences]
