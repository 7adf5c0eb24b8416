"""Documents are read in processes with limits: what takes too much is refused, and the next document is read."""

import asyncio
import io
import json
import os
import signal
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from attendo.formats.contents import plain
from attendo.markup.units.translation import UnitTranslation
from attendo.serving.config import DocumentsConfig
from attendo.serving.documents import workers as document_workers
from attendo.serving.documents.options import format_for
from attendo.serving.documents.workers import DocumentWorkers, SentFile
from attendo.serving.errors import ServingError
from attendo.workflow.documents.settings import DocumentSettings

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.fixture(scope="module")
def workers() -> Iterator[DocumentWorkers]:
    found = DocumentWorkers(DocumentsConfig(reading_memory_mb=100, max_characters=1000))
    yield found
    found.close()


def docx(xml: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", xml)
    return content.getvalue()


def marked(number: int) -> bytes:
    """A document of Word with a paragraph and many bookmarks, which cost memory alone."""
    marks = "".join(f'<w:bookmarkStart w:id="{place}"/>' for place in range(number))
    text = "<w:p><w:r><w:t>The dog</w:t></w:r></w:p>"
    return docx(f'<w:document xmlns:w="{WORD}"><w:body>{marks}{text}</w:body></w:document>')


def sent(path: Path) -> SentFile:
    settings = DocumentSettings(target="de", format=format_for(path.name, None))
    return SentFile(path=path, name=path.name, settings=settings)


def read(workers: DocumentWorkers, path: Path) -> list[str]:
    document = asyncio.run(workers.read(sent(path), ["en"], lambda said, sample: "en"))
    return [plain(unit.source) for unit in document.units]


def refusal(workers: DocumentWorkers, path: Path) -> tuple[int, str]:
    with pytest.raises(ServingError) as told:
        read(workers, path)
    return told.value.status, told.value.message


@pytest.fixture
def plain_text(tmp_path: Path) -> Path:
    path = tmp_path / "plain.txt"
    path.write_text("The dog sleeps.", encoding="utf-8")
    return path


def test_a_document_is_read_and_written(workers: DocumentWorkers, tmp_path: Path, plain_text: Path) -> None:
    assert read(workers, plain_text) == ["The dog sleeps."]
    to, report = tmp_path / "to.txt", tmp_path / "report"
    found = {"1": UnitTranslation(texts=(("Der Hund schläft.",),), problems=("none",), confidence=0.5)}
    written = asyncio.run(workers.write(sent(plain_text), "en", found, to=to, report=report))
    assert to.read_text("utf-8") == "Der Hund schläft."
    assert (written.summary["translated"], written.problems) == (1, ["none"])
    assert json.loads(report.read_text("ascii"))["units"][0]["confidence"] == 0.5
    assert [path.stat().st_mode & 0o077 for path in (to, report)] == [0, 0]


def test_what_takes_too_much_memory_is_refused_and_the_next_is_read(
    workers: DocumentWorkers, tmp_path: Path, plain_text: Path
) -> None:
    path = tmp_path / "large.docx"
    path.write_bytes(marked(500_000))  # 18 MB of XML, several times that as a tree
    status, message = refusal(workers, path)
    assert (status, "MiB" in message) == (413, True)
    assert read(workers, plain_text) == ["The dog sleeps."]


def test_what_takes_too_long_is_refused_and_the_next_is_read(tmp_path: Path, plain_text: Path) -> None:
    workers = DocumentWorkers(DocumentsConfig(reading_seconds=1))
    path = tmp_path / "long.po"
    path.write_text("".join(f'msgid "{place}"\nmsgstr ""\n\n' for place in range(200_000)), encoding="utf-8")
    try:
        status, message = refusal(workers, path)
        assert (status, "takes more than 1 s" in message) == (413, True)
        assert read(workers, plain_text) == ["The dog sleeps."]
    finally:
        workers.close()


def test_too_much_text_is_refused_before_it_leaves_the_process(workers: DocumentWorkers, tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("a" * 1001, encoding="utf-8")
    assert refusal(workers, path) == (413, "the document has 1,001 characters to translate; at most 1,000")


def test_too_much_markup_is_refused(tmp_path: Path, plain_text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_workers, "_ANSWER_BYTES", 4_000)  # what is read of an answer, texts with their codes
    workers = DocumentWorkers(DocumentsConfig())
    path = tmp_path / "many.html"
    path.write_text(f"<p>The dog {'<b class=long>x</b> ' * 100}</p>", encoding="utf-8")
    try:
        assert refusal(workers, path) == (413, "the document has too much markup within its texts; divide it")
        assert read(workers, plain_text) == ["The dog sleeps."]
    finally:
        workers.close()


def test_what_is_no_such_document_is_told_and_an_unforeseen_fault_by_its_name(
    workers: DocumentWorkers, tmp_path: Path
) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"PK")
    status, message = refusal(workers, path)
    assert (status, "no ZIP archive" in message) == (400, True)
    assert refusal(workers, tmp_path / "gone.txt") == (
        400,
        "the document cannot be read or written (FileNotFoundError)",
    )


def processes() -> list[int]:
    """The children of this process that read documents."""
    children = [int(each) for path in Path("/proc/self/task").glob("*/children") for each in path.read_text().split()]
    return [each for each in children if b"attendo.serving.documents.process" in command_line(each)]


def command_line(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return b""


def resident_bytes(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def reading_process(others: set[int]) -> int:
    """Waits for a process that is not among the others; one that has just been started has no command line yet."""
    end = time.monotonic() + 120
    while not (found := set(processes()) - others):
        assert time.monotonic() < end
        time.sleep(0.01)
    [process] = found
    return process


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@on_linux
def test_one_process_is_kept_and_one_that_was_killed_replaced(workers: DocumentWorkers, plain_text: Path) -> None:
    read(workers, plain_text)
    first = processes()
    read(workers, plain_text)
    assert processes() == first
    assert len(first) == 1
    os.kill(first[0], signal.SIGKILL)
    end = time.monotonic() + 120
    while first[0] in processes():
        assert time.monotonic() < end
        time.sleep(0.01)
    assert read(workers, plain_text) == ["The dog sleeps."]
    assert processes() != first


@on_linux
def test_one_that_has_grown_is_replaced(tmp_path: Path, plain_text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others, workers = set(processes()), DocumentWorkers(DocumentsConfig())
    try:
        workers.warm()
        read(workers, plain_text)
        [first] = set(processes()) - others
        # What it keeps of an XML tree (12 MiB) and the modules that read one (2 MiB) come on top of what it has now.
        monkeypatch.setattr(document_workers, "_KEEP_BYTES", resident_bytes(first))
        path = tmp_path / "large.docx"
        path.write_bytes(marked(300_000))
        assert "The dog" in read(workers, path)[0]
        assert first not in processes()
        reading_process(others)  # one gets ready for the next document
    finally:
        workers.close()
    assert set(processes()) == others


@on_linux
def test_who_leaves_ends_the_process(tmp_path: Path) -> None:
    others, workers = set(processes()), DocumentWorkers(DocumentsConfig())
    path = tmp_path / "long.po"
    path.write_text("".join(f'msgid "{place}"\nmsgstr ""\n\n' for place in range(200_000)), encoding="utf-8")

    async def leave() -> None:
        task = asyncio.create_task(workers.read(sent(path), ["en"], lambda said, sample: "en"))
        end = time.monotonic() + 120
        while not workers.busy:
            assert time.monotonic() < end
            await asyncio.sleep(0.01)
        process = reading_process(others)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while process in processes():
            assert time.monotonic() < end
            await asyncio.sleep(0.01)

    try:
        asyncio.run(leave())
    finally:
        workers.close()
