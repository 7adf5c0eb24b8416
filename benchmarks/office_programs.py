"""Has LibreOffice and epubcheck open documents that were translated: nothing needs a repair, and every text is there.

    python benchmarks/office_programs.py a.docx b.xlsx c.odt book.epub
    python benchmarks/office_programs.py --keep FOLDER a.pptx

Each document is written with every text in capitals, in place of a model's translations, so that what is missing shows.
LibreOffice (`soffice`, headless) converts the original and the translation to PDF, whose texts `pdftotext` gives, or
the sheets of a workbook to CSV: the two must have the same words, and the second all of them in capitals. `epubcheck`
must find no fault in an EPUB that the original does not have. The exit status is 1 where one of this does not hold.
Programs that are not installed are named, and what needs them is left out.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from attendo.formats.file import File, Languages, Result
from attendo.formats.table import read_file

LANGUAGES = Languages(source="en", target="de")
_WORD = re.compile(r"[^\W\d_]+")
_SHEETS = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
_MESSAGE = re.compile(r"^(?:ERROR|FATAL)\((\S+)\)", re.M)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder for the translations and the PDFs")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for path in arguments.documents:
            problem = problem_of(path, folder)
            failed += problem is not None and not problem.startswith("left out")
            print(f"{path.name}: {problem or 'as it should be'}", flush=True)
    sys.exit(1 if failed else 0)


def problem_of(path: Path, folder: Path) -> str | None:
    """What is wrong with the translation of a document; None where nothing is."""
    file = read_file(path.read_bytes(), path.name, LANGUAGES)
    translated = folder / f"{path.stem}.capitals{path.suffix}"
    translated.write_bytes(file.write(in_capitals(file)))
    if path.suffix == ".epub":
        return epub_problem(path, translated)
    if not shutil.which("soffice") or not shutil.which("pdftotext"):
        return "left out, since soffice and pdftotext are not installed"
    texts = [text_of(one, folder) for one in (path, translated)]
    if None in texts:
        return "LibreOffice does not open it"
    before, after = (_WORD.findall(text or "") for text in texts)
    wanted, there = sorted(word.upper() for word in before), sorted(word.upper() for word in after)
    if wanted != there:
        missing = next((word for word in wanted if wanted.count(word) != there.count(word)), "")
        return f"{len(before)} words before and {len(after)} behind; {missing!r} is one that differs"
    small = [word for word in after if word != word.upper()]
    return f"not translated: {' '.join(small[:20])}" if small else None


def in_capitals(file: File) -> dict[str, Result]:
    """Results that have every text in capitals."""
    return {
        unit.id: Result(
            texts=tuple(
                tuple(part.upper() if isinstance(part, str) else part for part in form.source) for form in unit.forms
            )
        )
        for unit in file.to_translate()
    }


def text_of(path: Path, folder: Path) -> str | None:
    """The text of a document as LibreOffice reads it; None where it does not."""
    if path.suffix in (".xlsx", ".ods"):
        convert(path, folder, _SHEETS)
        sheets = sorted(folder.glob(f"{path.stem}-*.csv"))  # a file a sheet
        return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets) or None
    convert(path, folder, "pdf")
    pdf = folder / f"{path.stem}.pdf"
    if not pdf.exists():
        return None
    return subprocess.run(["pdftotext", str(pdf), "-"], capture_output=True, text=True, check=True).stdout


def convert(path: Path, folder: Path, to: str) -> None:
    """Has LibreOffice convert a document, with a profile of its own."""
    profile = f"-env:UserInstallation=file://{folder.resolve()}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", to, "--outdir", str(folder), str(path)]
    subprocess.run(command, capture_output=True, timeout=300, check=False)


def epub_problem(path: Path, translated: Path) -> str | None:
    """What epubcheck finds in a translation and not in its original."""
    program = shutil.which("epubcheck")
    if program is None:
        return "left out, since epubcheck is not installed"
    # Debian's is an archive of Java, which the system may not know how to run.
    command = ["java", "-jar", program] if Path(program).read_bytes()[:2] == b"PK" else [program]
    found = []
    for one in (path, translated):
        run = subprocess.run([*command, str(one)], capture_output=True, text=True, timeout=300, check=False)
        if "EPUB" not in run.stdout + run.stderr:
            return f"left out, since epubcheck does not run: {run.stderr.strip()[-200:]}"
        found.append(sorted(_MESSAGE.findall(run.stdout + run.stderr)))
    return None if found[0] == found[1] else f"epubcheck finds {found[1]}, in the original {found[0]}"


if __name__ == "__main__":
    main()
