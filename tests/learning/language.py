"""A language of which a tiny model learns enough in seconds: each word has one translation, the order stays.

The words of the field, tools, have two: the one that the model learned, and the one that a translator wants, which the
model knows of other tools. The other sentences, about animals, have none of them: they are the general set.
"""

import random
from collections.abc import Sequence
from pathlib import Path

ANIMALS = {
    "dogs": "hunde", "cats": "katzen", "birds": "amseln", "cows": "kuehe", "frogs": "laubfroesche", "bears": "baeren",
}  # fmt: skip
VERBS = {"see": "sehen", "hear": "hoeren", "like": "moegen", "find": "finden"}
KINDS = {"old": "alte", "small": "kleine", "red": "rote", "wild": "wilde"}
LEARNED = {"saws": "fuchsschwaenze", "nails": "stifte", "drills": "bohrer", "files": "ordner"}
OTHERS = {"handsaws": "saegen", "pins": "naegel", "rasps": "feilen"}
WANTED = LEARNED | {"saws": "saegen", "nails": "naegel", "files": "feilen"}
WORDS = ANIMALS | VERBS | KINDS | OTHERS


def sentence(nouns: Sequence[str], generator: random.Random) -> str:
    """A sentence of six or seven words about some nouns."""
    choose = generator.choice
    kind = f"{choose(list(KINDS))} " if generator.random() < 0.5 else ""
    return (
        f"{choose(list(KINDS))} {choose(list(ANIMALS))} {choose(list(VERBS))} {kind}{choose(nouns)} "
        f"{choose(list(VERBS))} {choose(nouns)}"
    )


def sentences(nouns: Sequence[str], number: int, seed: int) -> list[str]:
    """Distinct sentences."""
    generator = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < number:
        found[sentence(nouns, generator)] = None
    return list(found)


def translated(line: str, tools: dict[str, str]) -> str:
    """The translation of a sentence, with one or the other words for tools."""
    words = WORDS | tools
    return " ".join(words.get(word, word) for word in line.split())


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_po(path: Path, pairs: Sequence[tuple[str, str]], language: str = "de") -> Path:
    """A catalogue of messages, written by hand from gettext's description."""
    head = f'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    messages = "".join(f'\nmsgid "{source}"\nmsgstr "{target}"\n' for source, target in pairs)
    path.write_text(head + messages, encoding="utf-8")
    return path
