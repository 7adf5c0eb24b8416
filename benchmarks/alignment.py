"""Which layer and head of the encoder-decoder attention aligns words best, on sentences whose alignment is known.

    python benchmarks/alignment.py [MODEL...] [--sentences 240] [--json]

The sentences are those of `attendo reproduce figure3` and `figure4`, with their translations: English and German, made
by templates that know which word comes from which. Beside every layer and head stand the mean of a layer's heads, of
which `attendo translate --alignment` takes the last layer but one, and the mean of all; each by the step that writes a
word and by the one that reads it. MODEL is a model, a run or a shipped name; left out, both that ship.
"""

import argparse
import json
import sys
from dataclasses import asdict

from attendo.paper.heads.sentences import aligned_texts, anaphor_pairs, dependency_pairs
from attendo.text_tables import aligned_table
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.aligners import Aligner, score_aligners


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", default=["en-de", "de-en"])
    parser.add_argument("--sentences", type=int, default=240, help="of both kinds together, a multiple of 8")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    half = args.sentences // 2
    pairs = (*dependency_pairs(half, 1), *anaphor_pairs(half, 1))
    found = {}
    for name in args.models:
        engine = load(name, dtype="float32")
        texts = [aligned_texts(pair, engine.description.source_language) for pair in pairs]
        found[name] = score_aligners(engine, texts)
        if not args.json:
            print(table(name, engine, found[name], len(pairs)), end="\n\n", flush=True)
    if args.json:
        rows = {
            name: [{**asdict(aligner), **asdict(score)} for aligner, score in scores] for name, scores in found.items()
        }
        json.dump({"sentences": len(pairs), "models": rows}, sys.stdout, indent=2)
        print()
    return 0


def table(name: str, engine: Engine, scores: tuple[tuple[Aligner, object], ...], num_sentences: int) -> str:
    num_layers = engine.description.model.decoder_layers
    default = Aligner(layer=max(1, num_layers - 1), head=None, step="writes")
    rows = [
        (
            aligner.to_text() + (" (default)" if aligner == default else ""),
            *(f"{100 * value:.1f}" for value in asdict(score).values()),  # type: ignore[call-overload]
        )
        for aligner, score in scores
    ]
    caption = f"{name}, {num_sentences} sentences, links between words; %"
    return aligned_table(caption, ("weights", "precision", "recall", "AER"), rows, words=1)


if __name__ == "__main__":
    sys.exit(main())
