"""What of markup, placeholders and numbers survives translation, on real lines with things put into them.

    python benchmarks/markup.py MODEL SOURCE [--lines 300] [--seed 1] [--show 3]

SOURCE is a file of sentences. Each kind of thing is put into other copies of the same lines at random: pairs of tags
around words, nested and beside each other; placeholders, empty tags and addresses in place of a word. Numbers are those
that lines have. A line counts as kept if everything is there to the letter and as often as in the source, tags well
nested; `told` are lines that lost something and said so, `silent` those that did not say so: there must be none. `in
pieces` were kept, but only by translating what is between the things by itself.
"""

import argparse
import asyncio
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.markup.protection import lost_numbers
from attendo.markup.text_format import Format
from attendo.markup.text_types import TextRequest, TranslatedLine, TranslatedText
from attendo.markup.texts import translate_text
from attendo.text_tables import aligned_table
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load

TAG = re.compile(r"<(/?)([a-z]+\d*)[^<>]*?(/?)>")


@dataclass
class Row:
    """Of one kind of thing."""

    lines: int = 0
    things: int = 0
    kept_things: int = 0
    kept: int = 0
    told: int = 0
    silent: int = 0
    in_pieces: int = 0
    shown: list[str] = field(default_factory=list)


class Lines:
    """An engine as the text pipeline calls it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.translated = 0

    async def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        self.translated += len(lines)
        if alignment:
            found = self._engine.stream_aligned(lines, constraints)
            return [TranslatedLine(translation=each, alignments=its) for each, its in found]
        return [TranslatedLine(translation=each) for each in self._engine.translate(lines, constraints)]


def pairs(words: list[str], chance: random.Random) -> tuple[str, Format]:
    """One to three pairs of tags around words, some within others."""
    spans: list[tuple[int, int]] = []
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(words))
        end = min(len(words), start + chance.choice((1, 1, 2, 3)))
        if all(end <= a or start >= b or (a <= start and end <= b) or (start <= a and b <= end) for a, b in spans):
            spans.append((start, end))
    tags = ["b", "i", "em"]
    out = list(words)
    for number, (start, end) in sorted(enumerate(spans), key=lambda pair: pair[1][1] - pair[1][0]):
        name = tags[number]
        # Punctuation at the end of a word stays outside now and then, as people have it.
        word, mark = out[end - 1], ""
        if end - start == 1 and not word[-1].isalnum() and chance.random() < 0.5:
            word, mark = word[:-1], word[-1]
        out[end - 1] = f"{word}</{name}>{mark}"
        out[start] = f"<{name}>{out[start]}"
    return " ".join(out), "html"


def omegat(words: list[str], chance: random.Random) -> tuple[str, Format]:
    """OmegaT's tags, in text."""
    text, _ = pairs(words, chance)
    for number, name in enumerate(("b", "i", "em")):
        text = text.replace(f"<{name}>", f"<g{number}>").replace(f"</{name}>", f"</g{number}>")
    return text, "text"


def in_place_of_words(
    things: Sequence[str], markup: Format, most: int
) -> Callable[[list[str], random.Random], tuple[str, Format]]:
    """Things in place of up to so many words."""

    def make(words: list[str], chance: random.Random) -> tuple[str, Format]:
        out = list(words)
        places = chance.sample(range(len(out)), min(len(out) - 1, chance.randint(1, most)))
        for number, place in enumerate(sorted(places)):
            core = out[place].rstrip(".,!?;:\"'")
            out[place] = things[number % len(things)].replace("N", str(number)) + out[place][len(core) :]
        return " ".join(out), markup

    return make


KINDS: dict[str, tuple[Callable[[list[str], random.Random], tuple[str, Format]], str]] = {
    "tag pairs, HTML": (pairs, r"</?(?:b|i|em)>"),
    "tag pairs, OmegaT in text": (omegat, r"</?g\d>"),
    "{name}": (in_place_of_words(["{nameN}"], "text", 2), r"\{name\d\}"),
    "%1$s, %d": (in_place_of_words(["%N$s", "%d"], "text", 2), r"%\d\$s|%d"),
    "[X12X]": (in_place_of_words(["[X1NX]"], "text", 2), r"\[X\d+X\]"),
    '<x id="1"/>': (in_place_of_words(['<x id="N"/>'], "xml", 2), r'<x id="\d"/>'),
    '<x id="1"></x>': (in_place_of_words(['<x id="N"></x>'], "xml", 2), r'<x id="\d"></x>'),
    "URLs, addresses": (
        in_place_of_words(["https://example.org/a?b=N&c=d", "someoneN@example.com"], "text", 2),
        r"https://example\.org/a\?b=\d&c=d|someone\d@example\.com",
    ),
    "up to 12 of {name}": (in_place_of_words(["{nameN}"], "text", 12), r"\{name\d+\}"),
}


def well_nested(text: str) -> bool:
    stack: list[str] = []
    for closing, name, alone in TAG.findall(text):
        if alone:
            continue
        if not closing:
            stack.append(name)
        elif not stack or stack.pop() != name:
            return False
    return not stack


def count(row: Row, source: str, found: TranslatedText, wanted: Counter[str], there: Counter[str], show: int) -> None:
    row.lines += 1
    row.things += wanted.total()
    row.kept_things += (wanted & there).total()
    row.in_pieces += any("in pieces" in problem for problem in found.problems)
    if wanted == there and well_nested(found.text) >= well_nested(source):
        row.kept += 1
        return
    if found.problems:
        row.told += 1
    else:
        row.silent += 1
    if len(row.shown) < show:
        row.shown.append(f"{source}\n    {found.text}\n    {'; '.join(found.problems)}")


async def measure(
    engine: Engine, lines: Sequence[str], with_numbers: Sequence[str], seed: int, show: int
) -> dict[str, Row]:
    languages = engine.description.source_language, engine.description.target_language
    rows: dict[str, Row] = {}
    for kind, (make, pattern) in KINDS.items():
        chance, row = random.Random(f"{seed} {kind}"), Row()
        started, translate = time.perf_counter(), Lines(engine)
        made = [make(line.split(), chance) for line in lines if "&" not in line and "<" not in line]
        for start in range(0, len(made), 32):
            some = made[start : start + 32]
            requests = [
                TextRequest(text=text, format=form, source_language=languages[0], target_language=languages[1])
                for text, form in some
            ]
            answers = await asyncio.gather(*(translate_text(request, translate) for request in requests))
            for (text, _), answer in zip(some, answers, strict=True):
                wanted, there = Counter(re.findall(pattern, text)), Counter(re.findall(pattern, answer.text))
                count(row, text, answer, wanted, there, show)
        rows[kind] = row
        print(f"{kind}: {time.perf_counter() - started:.1f} s, {translate.translated} lines read", file=sys.stderr)
    rows["numbers that lines have"] = await numbers(engine, with_numbers, languages, show)
    return rows


async def numbers(engine: Engine, lines: Sequence[str], languages: tuple[str, str], show: int) -> Row:
    row, translate = Row(), Lines(engine)
    for line in lines:
        wanted = re.findall(r"\d+", line)
        if not wanted:
            continue
        request = TextRequest(text=line, source_language=languages[0], target_language=languages[1])
        found = await translate_text(request, translate)
        lost = lost_numbers(line, found.text, languages)
        count(row, line, found, Counter(wanted), Counter(wanted) if not lost else Counter(), show)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("source", metavar="SOURCE", type=Path)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="so many lines of each kind that lost something")
    args = parser.parse_args()
    engine = load(args.model, threads=1)
    lines = [line for line in args.source.read_text("utf-8").splitlines() if len(line.split()) > 2]
    with_numbers = [line for line in lines if re.search(r"\d", line)]
    found = asyncio.run(measure(engine, lines[: args.lines], with_numbers[: args.lines], args.seed, args.show))
    rows = [
        (
            kind,
            f"{row.lines}",
            f"{row.kept_things} of {row.things}",
            f"{100 * row.kept / max(1, row.lines):.1f}%",
            f"{row.told}",
            f"{row.silent}",
            f"{row.in_pieces}",
        )
        for kind, row in found.items()
    ]
    print(
        aligned_table(
            f"{args.model}, {args.source.name}",
            ("kind", "lines", "things kept", "lines kept", "told", "silent", "in pieces"),
            rows,
            words=1,
        )
    )
    for kind, row in found.items():
        for each in row.shown:
            print(f"\n{kind}: {each}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
