#!/usr/bin/env python
"""Has a model between English and German align words by the one attention head that does so best.

    python scripts/best_alignment_head.py MODEL

Every head of the decoder aligns the sentences of `benchmarks/alignment.py`, whose word alignment is known; the settings
of the best one are written into the search settings of the model's config.json, and its checksum is renewed.
"""

import argparse
import json
import sys
from pathlib import Path

from attendo.checkpoint.checksums import CONFIG, write_checksums
from attendo.files import write_json
from attendo.paper.heads.alignments import score_aligners
from attendo.paper.heads.sentences import anaphor_pairs, dependency_pairs
from attendo.workflow.engines.translate import load

SENTENCES_OF_A_KIND = 120


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL", help="the folder of a model")
    folder = parser.parse_args().model
    pairs = (*dependency_pairs(SENTENCES_OF_A_KIND, 1), *anaphor_pairs(SENTENCES_OF_A_KIND, 1))
    aligners = score_aligners(load(folder, dtype="float32"), pairs)
    best, score = next((each, score) for each, score in aligners if each.layer is not None)
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    chosen = {"alignment_layer": best.layer, "alignment_head": best.head, "alignment_step": best.step}
    config["search"] |= {key: value for key, value in chosen.items() if value is not None}
    write_json(folder / CONFIG, config)
    write_checksums(folder)
    print(f"{folder}: aligns by {best.to_text()}; alignment error rate {score.aer:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
