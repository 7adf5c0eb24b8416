"""What similar texts of a translation memory do for translations: without it, by n-best lists, and by frames.

The memory is a product's older documentation, the segments are of its newer one. Both are JSON with an object a line,
or any other files that `--memory` takes. Segments that the memory has as they are are left out, and so are those
without a similar text, whose translations the memory does not change.

    python benchmarks/memory_quality.py en-de NEWER.jsonl OLDER.jsonl [--segments 300] [--skip 0] [--weights 0.5]

The first column names what may be chosen beside the ordinary translation: the next best of a wide beam, translations
that keep to the similar text's in what both texts share, or both; and how much their agreement with the similar text
counts against the log-probability of a token. The row `the similar text` is its translation as it stands.
"""

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rapidfuzz.distance import LCSseq
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from attendo.decoding.constraints.frames import Frame
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.guards.comparison import compared
from attendo.errors import DataError
from attendo.memory.building import memory_pairs
from attendo.memory.opening import open_memory
from attendo.memory.similar import frame_of
from attendo.memory.texts import without_marks
from attendo.text_tables import aligned_table
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load

BEAM = 8
MARGIN = 0.5
WAYS = {
    "no memory": (),
    "n-best": ("n-best",),
    "frame": ("frame",),
    "n-best and frame": ("n-best", "frame"),
}


@dataclass(frozen=True)
class Choice:
    text: str
    way: str
    score: float
    agreement: float
    faults: int


@dataclass(frozen=True)
class Segment:
    source: str
    known: float
    reference: str
    similar: str
    per_cent: int
    choices: tuple[Choice, ...]

    def kept_frame(self) -> str:
        """What `attendo translate --memory` takes."""
        free = self.choices[0]
        framed = [each for each in self.choices if each.way == "frame" and each.faults <= free.faults]
        best = max(framed, key=lambda each: each.score, default=free)
        return best.text if best.score >= min(self.known - MARGIN, free.score) else free.text

    def best(self, ways: Sequence[str], weight: float) -> str:
        free = self.choices[0]
        allowed = [each for each in self.choices if each.way in ("free", *ways) and each.faults <= free.faults]
        return max(allowed, key=lambda each: each.score + weight * each.agreement).text


def segments(engine: Engine, newer: Path, older: Path, *, count: int, skip: int) -> list[Segment]:
    languages = engine.source_language, engine.target_language
    memory = open_memory([older], languages)
    pairs = [(pair.source.decode(), (pair.target or b"").decode()) for pair in memory_pairs(newer, languages)]
    random.Random(1).shuffle(pairs)
    found = []
    tried = 0
    for source, reference in pairs:
        tried += 1
        match = memory.match(source)
        if match is not None and match.kind == "fuzzy":
            found.append((source, reference, match))
        if len(found) == skip + count:
            break
    print(f"{len(found):,} of {tried:,} segments have a similar text", flush=True)
    chosen = found[skip:]
    aligned = engine.align([(without_marks(match.source), without_marks(match.target)) for _, _, match in chosen])
    result = []
    for (source, reference, match), links in zip(chosen, aligned, strict=True):
        texts = [(engine.translate(source).text, "free")]
        frame = frame_of(source, links)
        ways = [("n-best", Constraints()), *([] if frame is None else [("frame", Constraints(frame=frame))])]
        for way, constraints in ways:
            texts += [(text, way) for text in wide(engine, source, constraints)]
        first, *scores = engine.score([(match.source, match.target), *((source, text) for text, _ in texts)])
        known = first.log_prob / len(first.token_log_probs)
        choices = []
        for (text, way), score in zip(texts, scores, strict=True):
            value = score.log_prob / len(score.token_log_probs)
            faults = compared(source, text, languages).num_faults
            choices.append(Choice(text, way, value, agreement(text, frame), faults))
        result.append(Segment(source, known, reference, match.target, match.score, tuple(choices)))
    return result


def wide(engine: Engine, source: str, constraints: Constraints) -> list[str]:
    try:
        found = engine.translate(source, constraints, beam_size=BEAM, n_best=BEAM).n_best
    except DataError:
        return []
    return [each.text for each in found if each.finished]


def agreement(text: str, frame: Frame | None) -> float:
    """The share of a frame's words that a translation has in the same order."""
    words = [] if frame is None else " ".join(frame.stretches).split()
    return LCSseq.similarity(words, text.split()) / len(words) if words else 0.0


def row(name: str, outputs: Sequence[str], references: Sequence[str]) -> tuple[str, ...]:
    scores = [metric.corpus_score(outputs, [references]).score for metric in (BLEU(), CHRF(), TER())]
    return name, *(f"{score:.1f}" for score in scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("newer", type=Path)
    parser.add_argument("older", type=Path)
    parser.add_argument("--segments", type=int, default=300)
    parser.add_argument("--skip", type=int, default=0, help="leave out so many segments first, such as those tuned on")
    parser.add_argument("--weights", type=float, nargs="+", default=[0.5])
    parser.add_argument("--dump", type=Path, help="write all translations to this file as JSON")
    args = parser.parse_args()
    engine = load(args.model, dtype="int8", threads=1)
    found = segments(engine, args.newer, args.older, count=args.segments, skip=args.skip)
    if args.dump:
        args.dump.write_text(json.dumps([asdict(segment) for segment in found]), encoding="utf-8")
    print(table(found, args.weights))


def table(found: Sequence[Segment], weights: Sequence[float]) -> str:
    references = [segment.reference for segment in found]
    rows = [row("the similar text", [segment.similar for segment in found], references)]
    for name, ways in WAYS.items():
        for weight in weights if ways else (0.0,):
            outputs = [segment.best(ways, weight) for segment in found]
            rows.append(row(f"{name}, {weight:g}" if ways else name, outputs, references))
    rows.append(row("as attendo translate", [segment.kept_frame() for segment in found], references))
    caption = f"{len(found)} segments with a similar text"
    return aligned_table(caption, ("what may be chosen, weight", "BLEU", "chrF", "TER"), rows, words=1)


if __name__ == "__main__":
    main()
