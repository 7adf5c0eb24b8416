#!/usr/bin/env python
"""Measures how often people's names come back as they are, in sentences of attendo's own.

    python benchmarks/names.py MODEL [--dtype int8] [--show 10] [--card]

Sixteen sentences, each with twelve draws of twenty names from several countries, none of which is in the tables that
`training.augmentation.names` draws from. A line counts where every word of its names is in the translation, as it is or
in the genitive.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence

import attendo
from attendo.evaluation.reliability import wilson
from attendo.text_tables import markdown_table
from attendo.workflow.cards.card_evaluations import section_text, settings_text, write_to_card

PEOPLE = (
    "Aino Korhonen", "Jaroslav Dvořák", "Saoirse Gallagher", "Kwame Mensah", "Ingeborg Lindqvist",
    "Wojciech Zieliński", "Deepika Chatterjee", "Hildegard Obermaier", "Benedikt Hinterleitner",
    "Thibault Delacroix", "Ophélie Charpentier", "Grayson Whitaker", "Chloe Blackwood", "Tuomas Virtanen",
    "Nkechi Okonkwo", "Rosalind Franklin", "Ansgar Breitkopf", "Solveig Haugen", "Gaspard Lemoine",
    "Philippa Ashworth",
)  # fmt: skip
SENTENCES = {
    "en": (
        "{one} is our new colleague.", "Have you spoken to {one} about the contract?",
        "I met {one} at the conference in Berlin.", "The book was written by {one}.",
        "{one}'s computer doesn't work.", "Please send the invoice to {one}.",
        "Mr. {family} will call you back tomorrow.", "Dear Mrs. {family},",
        "Thank you for your help, {given}!", "{given} and {other} are getting married in June.",
        "Hi {given}, can you send me the file?", "According to {one}, the project is late.",
        "Ask {given} if she wants to come with us.", "The company was founded by {one} and {two}.",
        "Dr. {family} has changed the appointment.", "Best regards, {one}",
    ),
    "de": (
        "{one} ist unsere neue Kollegin.", "Hast du mit {one} über den Vertrag gesprochen?",
        "Ich habe {one} auf der Konferenz in Berlin getroffen.", "Das Buch wurde von {one} geschrieben.",
        "Der Computer von {one} funktioniert nicht.", "Bitte schicken Sie die Rechnung an {one}.",
        "Herr {family} ruft Sie morgen zurück.", "Sehr geehrte Frau {family},", "Danke für deine Hilfe, {given}!",
        "{given} und {other} heiraten im Juni.", "Hallo {given}, kannst du mir die Datei schicken?",
        "Laut {one} ist das Projekt verspätet.", "Frag {given}, ob sie mitkommen will.",
        "Die Firma wurde von {one} und {two} gegründet.", "Dr. {family} hat den Termin verschoben.",
        "Viele Grüße, {one}",
    ),
    "fr": (
        "{one} est notre nouvelle collègue.", "As-tu parlé à {one} du contrat ?",
        "J'ai rencontré {one} à la conférence à Berlin.", "Le livre a été écrit par {one}.",
        "L'ordinateur de {one} ne marche pas.", "Veuillez envoyer la facture à {one}.",
        "M. {family} vous rappellera demain.", "Chère Madame {family},", "Merci pour ton aide, {given} !",
        "{given} et {other} se marient en juin.", "Salut {given}, peux-tu m'envoyer le fichier ?",
        "Selon {one}, le projet est en retard.", "Demande à {given} si elle veut venir avec nous.",
        "L'entreprise a été fondée par {one} et {two}.", "Le docteur {family} a déplacé le rendez-vous.",
        "Cordialement, {one}",
    ),
}  # fmt: skip
DRAWS = 12
SECTION = "Names in attendo's own sentences"


def main() -> None:
    """Translates the sentences, and prints the shares of lines and of words whose names come back."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--show", type=int, default=0, help="lines that have lost a name to print, at most")
    parser.add_argument("--card", action="store_true", help="write the figures into the model's card")
    order = parser.parse_args()
    engine = attendo.load(order.model, dtype=order.dtype)
    lines = list(drawn(engine.source_language))
    outputs = [found.text for found in engine.translate_lines([text for text, _ in lines])]
    kept = [[is_in(word, output) for word in words] for (_, words), output in zip(lines, outputs, strict=True)]
    whole, words = [all(each) for each in kept], [here for each in kept for here in each]
    low, high = wilson(sum(whole) / len(whole), len(whole))
    print(
        f"{order.model}: {sum(whole)} of {len(whole)} lines ({sum(whole) / len(whole):.1%}, {low:.1%} to {high:.1%}), "
        f"{sum(words)} of {len(words)} words"
    )
    if order.card:
        figures = [
            f"{len(lines)} sentences of attendo's own with {len(PEOPLE)} people's names that it has not learned, by "
            f"attendo {attendo.__version__} on {engine.kernel}, {settings_text(engine.search)}.",
            "",
            *markdown_table(
                [
                    ("", "of", "as they are", "% [95 %]"),
                    ("lines with all names", str(len(whole)), str(sum(whole)), share(whole)),
                    ("words of names", str(len(words)), str(sum(words)), share(words)),
                ]
            ),
        ]
        print(write_to_card(order.model, SECTION, section_text(SECTION, figures)))
    for (text, _), output, good in zip(lines, outputs, whole, strict=True):
        if not good and order.show:
            order.show -= 1
            print(f"  {text}\n    {output}")


def share(kept: Sequence[bool]) -> str:
    """The share of what is kept, in percent with its interval."""
    low, high = (100 * bound for bound in wilson(sum(kept) / len(kept), len(kept)))
    return f"{100 * sum(kept) / len(kept):.1f} [{low:.1f}, {high:.1f}]"


def drawn(language: str) -> Iterator[tuple[str, list[str]]]:
    """The sentences of a language with names, and the words of these; the same each time."""
    rng = random.Random(5)
    for _ in range(DRAWS):
        for sentence in SENTENCES[language]:
            one, two = rng.sample(PEOPLE, 2)
            (given, family), other = one.split(), two.split()[0]
            slots = {"one": one, "two": two, "given": given, "family": family, "other": other}
            names = " ".join(slots[slot] for slot in re.findall(r"\{(\w+)\}", sentence))
            text = sentence.format(**slots)
            yield re.sub(r"\bde (?=[AEIOÉ])", "d'", text) if language == "fr" else text, names.split()


def is_in(word: str, text: str) -> bool:
    """Whether a word stands in a text, as it is or in the genitive."""
    return re.search(rf"(?<!\w){re.escape(word)}(?:s|['’]s?)?(?!\w)", text) is not None


if __name__ == "__main__":
    main()
