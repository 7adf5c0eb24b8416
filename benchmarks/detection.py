#!/usr/bin/env python
"""Counts how often a language that is not served is found, and how often it is suspected wrongly.

    benchmarks/detection.py served ../shared/data --served en,de
    benchmarks/detection.py foreign fr=tatoeba.fra it=tatoeba.ita --served en,de

`served` reads the validation files of Tatoeba, docs and ui in the served languages, and counts lines taken for
another language; `--show` prints them. `foreign` reads files of other languages, a sentence a line, and counts those of
six words or more that are found. Chinese, Japanese and Thai have no spaces: of them lines of 15 characters count.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from attendo.serving.languages.detection import Detector

FOLDERS = ("tatoeba_en-de", "tatoeba_en-fr", "docs_en-de", "docs_en-fr", "ui_en-de", "ui_en-fr")
LEAST_WORDS, LEAST_CHARACTERS = 6, 15
WITHOUT_SPACES = ("zh", "ja", "th")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("served", "foreign"))
    parser.add_argument("paths", nargs="+", metavar="PATH", help="the data's folder, or LANGUAGE=FILE of each language")
    parser.add_argument("--served", default="en,de", type=lambda text: text.split(","))
    parser.add_argument("--show", action="store_true", help="print what was judged wrongly")
    options = parser.parse_args()
    detector = Detector(options.served)
    if options.mode == "served":
        for path in served_files(Path(options.paths[0]), options.served):
            lines = path.read_text(encoding="utf-8").splitlines()
            report(f"{path.parent.name}/{path.name}", "suspected", detector, lines, False, options.show)
    else:
        for written in options.paths:
            language, _, path = written.partition("=")
            lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if is_long(line, language)]
            report(f"{language} {Path(path).name}", "found", detector, lines, True, options.show)


def served_files(data: Path, served: Iterable[str]) -> list[Path]:
    return sorted(path for folder in FOLDERS for code in served for path in (data / folder).glob(f"valid.{code}"))


def is_long(line: str, language: str) -> bool:
    return len(line) >= LEAST_CHARACTERS if language in WITHOUT_SPACES else len(line.split()) >= LEAST_WORDS


def report(name: str, what: str, detector: Detector, lines: list[str], expected: bool, show: bool) -> None:
    """Prints a file's count, the languages that were told most often and, if asked for, what was judged wrongly."""
    judged = [(line, detector.unserved(line)) for line in lines]
    found = Counter(unserved.language for _, unserved in judged if unserved is not None)
    share = 100 * found.total() / max(1, len(lines))
    most = ", ".join(f"{language} {count}" for language, count in found.most_common(4))
    print(f"{name}: {found.total():,} of {len(lines):,} {what}, {share:.2f} % ({most or 'none'})")
    if show:
        for line, unserved in judged:
            if (unserved is not None) is not expected:
                print(f"  {unserved.language if unserved else '-'}\t{line[:160]}")


if __name__ == "__main__":
    main()
