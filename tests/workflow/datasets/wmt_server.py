"""A local file server that holds small archives of WMT 2014's very layout, with invented sentences."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from sacrebleu.dataset import DATASETS as SACREBLEU_SETS

from attendo.workflow.datasets.catalogue import PUBLISHED, PublishedArchive

EUROPARL = "www.statmt.org/wmt13/training-parallel-europarl-v7.tgz"
COMMON_CRAWL = "www.statmt.org/wmt13/training-parallel-commoncrawl.tgz"
UN = "www.statmt.org/wmt13/training-parallel-un.tgz"
NEWS_COMMENTARY = "www.statmt.org/wmt14/training-parallel-nc-v9.tgz"
GIGA = "www.statmt.org/wmt10/training-giga-fren.tar"
NEWSTEST2013 = "statmt.org/wmt13/test.tgz"
NEWSTEST2014 = "statmt.org/wmt14/test-full.tgz"

MTDATA = f"""\
Statmt-commoncrawl_wmt13-1-deu-eng\thttp://{COMMON_CRAWL}\tcommoncrawl.de-en.de,commoncrawl.de-en.en
Statmt-europarl_wmt13-7-deu-eng\thttp://{EUROPARL}\ttraining/europarl-v7.de-en.de,training/europarl-v7.de-en.en
Statmt-commoncrawl_wmt13-1-fra-eng\thttp://{COMMON_CRAWL}\tcommoncrawl.fr-en.fr,commoncrawl.fr-en.en
Statmt-europarl_wmt13-7-fra-eng\thttp://{EUROPARL}\ttraining/europarl-v7.fr-en.fr,training/europarl-v7.fr-en.en
"""
"""What mtdata 0.5.1 prints for `list -l eng-deu` and `list -l eng-fra` with these names; a slow test asks it."""


@dataclass
class FileServer:
    """Serves a folder with ranges and entity tags, and fails as it is told to."""

    folder: Path
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Path and `Range` of each request."""
    break_after: list[int] = field(default_factory=list)
    """Bytes after which the line breaks, for the next requests."""
    statuses: list[int] = field(default_factory=list)
    """What is answered in place of a file, for the next requests."""
    pause_after: list[int] = field(default_factory=list)
    """Bytes after which nothing more comes until `go_on` is set, for the next requests."""
    paused: Event = field(default_factory=Event)
    go_on: Event = field(default_factory=Event)
    with_tags: bool = True


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, *arguments: object, server_of_files: FileServer) -> None:
        self.files = server_of_files
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self.files.requests.append((self.path.lstrip("/"), self.headers.get("Range", "")))
        path = self.files.folder / self.path.lstrip("/")
        if self.files.statuses:
            return self.send_error(self.files.statuses.pop(0))
        if not path.is_file():
            return self.send_error(404)
        content = path.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        first, asked = 0, self.headers.get("Range", "")
        if asked and self.headers.get("If-Range", tag) == tag:
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
            if first >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
        self.send_response(206 if first else 200)
        if self.files.with_tags:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        end = first + self.files.break_after.pop(0) if self.files.break_after else len(content)
        if self.files.pause_after:
            pause = first + self.files.pause_after.pop(0)
            self.wfile.write(content[first:pause])
            self.wfile.flush()
            self.files.paused.set()
            self.files.go_on.wait()
            return None
        self.wfile.write(content[first:end])
        return None

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[FileServer]:
    """Serves a folder as long as the block runs."""
    files = FileServer(folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, server_of_files=files)) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        files.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield files
        finally:
            server.shutdown()
            thread.join()


def write_archive(path: Path, members: dict[str, bytes]) -> None:
    """Writes a tar file, compressed where its name ends with tgz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz" if path.suffix == ".tgz" else "w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def sentences(kind: str, number: int, language: str) -> list[str]:
    """Invented sentences; those of a language translate those of another line by line."""
    words = {
        "en": ("The ferry number {} of {} sails at {}.", ("dawn", "noon", "dusk")),
        "de": ("Die Fähre Nummer {} von {} fährt am {}.", ("Morgen", "Mittag", "Abend")),
        "fr": ("Le bac numéro {} de {} part {}.", ("à l'aube", "à midi", "le soir")),
    }
    frame, times = words[language]
    return [frame.format(line, kind, times[line % 3]) for line in range(number)]


def as_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def as_sgm(lines: list[str], language: str) -> bytes:
    """A test set as WMT's are: no SGML that a parser would take, a segment a line."""
    segments = "".join(f'<seg id="{number}">  {line} </seg>\n' for number, line in enumerate(lines, start=1))
    return (
        f'<refset setid="invented" srclang="any" trglang="{language}">\n<doc sysid="ref" docid="a/b.{language}" '
        f'genre="news" origlang="en">\n<p>\n{segments}</p>\n</doc>\n</refset>\n'
    ).encode()


def write_wmt14(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int = 60) -> None:
    """Writes the archives of both pairs under a folder, and has them be what is published.

    Args:
        folder: what a server will serve.
        monkeypatch: changes the checksums that others have published to those of the small archives.
        number: lines of each training corpus; test sets have a tenth.
    """

    def corpus(stem: str, kind: str, other: str) -> dict[str, bytes]:
        return {f"{stem}.{language}": as_lines(sentences(kind, number, language)) for language in (other, "en")}

    def both(stem: str, kind: str) -> dict[str, bytes]:
        return {
            name: content for other in ("de", "fr") for name, content in corpus(stem.format(other), kind, other).items()
        }

    write_archive(folder / EUROPARL, both("training/europarl-v7.{}-en", "parliament"))
    write_archive(folder / COMMON_CRAWL, both("./commoncrawl.{}-en", "the web"))
    write_archive(folder / NEWS_COMMENTARY, both("training/news-commentary-v9.{}-en", "opinion"))
    write_archive(folder / UN, corpus("un/undoc.2000.fr-en", "nations", "fr"))
    giga = corpus("giga-fren.release2.fixed", "ten to the nine", "fr")
    write_archive(folder / GIGA, {f"{name}.gz": gzip.compress(content) for name, content in giga.items()})
    tests = {
        "test/newstest2013-src.{}.sgm": ("en", "de", "fr"),
        "test-full/newstest2014-deen-src.{}.sgm": ("en",),
        "test-full/newstest2014-deen-ref.{}.sgm": ("de",),
        "test-full/newstest2014-fren-src.{}.sgm": ("en",),
        "test-full/newstest2014-fren-ref.{}.sgm": ("fr",),
    }
    members = {
        stem.format(language): as_sgm(sentences("news", number // 10, language), language)
        for stem, languages in tests.items()
        for language in languages
    }
    for archive, start in ((NEWSTEST2013, "test/"), (NEWSTEST2014, "test-full/")):
        write_archive(folder / archive, {name: text for name, text in members.items() if name.startswith(start)})

    for archive in (EUROPARL, COMMON_CRAWL, NEWS_COMMENTARY):
        content = (folder / archive).read_bytes()
        published = PublishedArchive(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(PUBLISHED, Path(archive).name, published)
    for name, archive in (("wmt13", NEWSTEST2013), ("wmt14/full", NEWSTEST2014)):
        digits = hashlib.md5((folder / archive).read_bytes(), usedforsecurity=False).hexdigest()
        monkeypatch.setattr(SACREBLEU_SETS[name], "md5", [digits])


def put_mtdata_in_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the command `python -m mtdata` print what the real one prints, without its index of 291,000 corpora."""
    package = folder / "mtdata"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import sys\n"
        f"lines = {MTDATA.splitlines()!r}\n"
        "languages = sys.argv[sys.argv.index('-l') + 1]\n"
        "print(*(line for line in lines if line.split('\\t')[0].endswith(languages)), sep='\\n')\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
