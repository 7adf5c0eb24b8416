#!/usr/bin/env python
"""Has a model align words by the one attention head that does so best.

    python scripts/best_alignment_head.py MODEL [SOURCE TARGET]

Every head of the decoder aligns sentences whose alignment is known; the settings of the best one are written into the
search settings of the model's config.json, and its checksum is renewed. Between English and German these are the
sentences of `benchmarks/alignment.py`. For other languages name a file of sentences and one of their translations, of
which those words are known that stand in both: names, numbers, identifiers.
"""

import argparse
import json
import sys
from itertools import islice
from pathlib import Path

from attendo.checkpoint.checksums import CONFIG, write_checksums
from attendo.files import write_json
from attendo.paper.heads.sentences import aligned_texts, anaphor_pairs, dependency_pairs
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.aligners import AlignedTexts, anchored, score_aligners
from attendo.workflow.lines import read_pairs

SENTENCES_OF_A_KIND = 120
ANCHORED_SENTENCES = 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL", help="the folder of a model")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="sentences, and their translations")
    arguments = parser.parse_args()
    folder: Path = arguments.model
    if len(arguments.files) not in (0, 2):
        parser.error("name a file of sentences and one of their translations, or none")
    engine = load(folder, dtype="float32")
    if arguments.files:
        texts = from_files(*arguments.files)
    else:
        pairs = (*dependency_pairs(SENTENCES_OF_A_KIND, 1), *anaphor_pairs(SENTENCES_OF_A_KIND, 1))
        texts = [aligned_texts(pair, engine.description.source_language) for pair in pairs]
    aligners = score_aligners(engine, texts)
    best, score = next((each, score) for each, score in aligners if each.layer is not None)
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    chosen = {"alignment_layer": best.layer, "alignment_head": best.head, "alignment_step": best.step}
    config["search"] |= {key: value for key, value in chosen.items() if value is not None}
    write_json(folder / CONFIG, config)
    write_checksums(folder)
    words = sum(len(text.known) for text in texts)
    print(f"{folder}: aligns by {best.to_text()}; alignment error rate {score.aer:.1%} of {words:,} words")
    return 0


def from_files(sources: Path, targets: Path) -> list[AlignedTexts]:
    """Sentences with words that stand in their translations too."""
    texts = (anchored(source, target) for source, target in zip(*read_pairs(sources, targets), strict=True))
    return list(islice((text for text in texts if text is not None), ANCHORED_SENTENCES))


if __name__ == "__main__":
    sys.exit(main())
