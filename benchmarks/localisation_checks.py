"""Measures how many translated units of localisation files pass the checks of Weblate that do not judge the wording.

    python benchmarks/localisation_checks.py translate app.po strings.xml guide.md --output units.jsonl
    oracle/bin/python benchmarks/localisation_checks.py judge units.jsonl --oracle weblate_checks.py

`translate` translates the units of each file with `--mark none`, and writes a line for each. `judge` runs where Weblate
and its packages are installed: `--oracle` is a Python file with a function `failing(sources, targets, language, flags)`
that gives the names of Weblate's checks that fail; nothing of attendo is imported for it. A check counts as failed
where the source does not fail it against itself. docs/documents.md lists which checks count, and why.
"""

import argparse
import importlib.util
import json
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

WORDING = {
    "same": "counted as left untranslated",
    "duplicate": "a word twice in a row is the model's wording",
    "same-plurals": "two forms may be equal in the target language",
}
"""Checks of a translation that do not count, each with the reason; those that need a database or fonts are not run."""
_FORMAT_FLAGS = {"markdown": "md-text"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    translating = commands.add_parser("translate")
    translating.add_argument("files", type=Path, nargs="+")
    translating.add_argument("--model", default="en-de")
    translating.add_argument("--dtype", default="int8")
    translating.add_argument("--beam-size", type=int, default=1)
    translating.add_argument("--limit", type=int, default=1000, help="units of a file")
    translating.add_argument("--output", type=Path, required=True)
    translating.add_argument("--folder", type=Path, help="write the translated files here too")
    judging = commands.add_parser("judge")
    judging.add_argument("units", type=Path)
    judging.add_argument("--oracle", type=Path, required=True)
    judging.add_argument("--failures", type=int, default=0, help="failed units of each check that are shown")
    arguments = parser.parse_args()
    if arguments.command == "translate":
        translate(arguments)
    else:
        judge(arguments)


class Silent:
    """A reporter that shows nothing."""

    def message(self, text: str) -> None: ...

    def started(self, done: int, total: int) -> None: ...

    def translated(self, done: int) -> None: ...


def translate(arguments: argparse.Namespace) -> None:
    import attendo
    from attendo.workflow.documents.files import document_translator
    from attendo.workflow.documents.opening import open_document
    from attendo.workflow.documents.settings import DocumentSettings
    from attendo.workflow.documents.translation import document_translations
    from attendo.workflow.documents.writing import written_document

    search = {"beam_size": arguments.beam_size}
    engine = attendo.load(arguments.model, dtype=arguments.dtype, threads=1, search=search)
    settings = DocumentSettings(mark="none")
    with arguments.output.open("w", encoding="utf-8") as output:
        for path in arguments.files:
            document = open_document(path, settings, source=engine.source_language, target=engine.target_language)
            document = replace(document, units=document.units[: arguments.limit])
            found = document_translations(document, document_translator(engine, document), Silent())
            done = written_document(document, settings, found, source_language=engine.source_language, output=None)
            if arguments.folder is not None:
                (arguments.folder / path.name).write_bytes(done.content)
            reports = {unit.id: unit for unit in done.report.units}
            for unit in document.units:
                flags = sorted({*unit.flags, *filter(None, [_FORMAT_FLAGS.get(document.file.format)])})
                row = {
                    "file": path.name,
                    "format": document.file.format,
                    "id": unit.id,
                    "source": reports[unit.id].source,
                    "target": reports[unit.id].target,
                    "language": document.target,
                    "flags": ", ".join(flags),
                    "is_left": found[unit.id].is_kept,
                    "problems": reports[unit.id].problems,
                }
                output.write(f"{json.dumps(row, ensure_ascii=False)}\n")
            print(f"{path.name}: {len(document.units)} units", file=sys.stderr, flush=True)


@dataclass
class Tally:
    """What became of the units of a file."""

    units: int = 0
    passed: int = 0
    left: int = 0
    apart: int = 0
    """Units whose source fails a check against itself that the translation fails too."""
    checks: Counter[str] = field(default_factory=Counter)
    shown: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def line(self, name: str) -> str:
        shares = f"{100 * self.passed / self.units:6.2f} % | {100 * self.left / self.units:5.2f} %"
        failed = ", ".join(f"{check} {count}" for check, count in self.checks.most_common())
        return f"| {name} | {self.units:,} | {shares} | {self.apart} | {failed} |"


def judge(arguments: argparse.Namespace) -> None:
    failing = _oracle(arguments.oracle).failing
    tallies: dict[str, Tally] = {}
    total = Tally()
    for line in arguments.units.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        tally = tallies.setdefault(row["file"], Tally())
        names, apart, is_left = _verdict(failing, row)
        for one in (tally, total):
            one.units += 1
            one.passed += not names
            one.left += is_left
            one.apart += apart
            one.checks.update(names)
        for name in names:
            total.shown.setdefault(name, []).append(row)
    print("| file | units | pass | left | apart | failed |\n|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        print(tally.line(name))
    print(total.line("all"))
    for name, rows in total.shown.items():
        for row in rows[: arguments.failures]:
            print(f"{name}\t{row['file']}\t{row['flags']}\n  {row['source']}\n  {row['target']}")


def _verdict(failing: Any, row: dict[str, Any]) -> tuple[list[str], bool, bool]:
    """The checks that count and fail, whether one is apart, and whether the unit was left untranslated."""
    sources = row["source"] if len(row["source"]) == 1 else [row["source"][0], row["source"][-1]]
    flags = ",".join(flag for flag in row["flags"].split(", ") if not flag.startswith("fluent"))
    if row["is_left"] or not row["target"]:
        return [], False, True
    found = failing(sources, row["target"], row["language"], flags)
    own = set(failing(sources, row["source"], row["language"], flags))
    names = [name for name in found if name not in WORDING]
    return [name for name in names if name not in own], any(name in own for name in names), "same" in found


def _oracle(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("oracle", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
