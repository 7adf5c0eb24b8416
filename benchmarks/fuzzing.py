"""Random mixtures of hostile texts sent to every API for an hour, and what a bystander waits meanwhile.

    python benchmarks/fuzzing.py [MODEL] [--minutes 60] [--clients 8] [--seed 1] [--faults FOLDER]

Clients of several addresses send one request after the other: texts, documents of every format, glossaries and
corrections, made of the kinds of `tests/hostile` in pieces, joined, cut and mixed with sentences; some leave before
they are answered. The bystander, on a connection of its own, sends a small sentence at a time. A line a minute tells
what it waited and how much memory the server has. Faults are answers of 5xx other than 503 with Retry-After,
connections that end without an answer, a bystander who is refused, and a server that does not end well; a request that
met one is written into the folder for faults. Clients and bystander have a lower priority than the server, on the same
cores.
"""

import argparse
import http.client
import io
import json
import multiprocessing
import os
import runpy
import signal
import statistics
import sys
import tempfile
import threading
import time
import urllib.parse
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))  # for the tests' package

from tests.hostile.kinds import KINDS  # noqa: E402

SERVING = runpy.run_path(str(PROJECT / "benchmarks" / "serving.py"))
_SENTENCES = (
    "The train was late again this morning because of the snow.",
    "Could you please tell me how to get to the old museum now?",
    "She has been working here for three years, and likes it.",
    "Das Museum ist heute wegen des Schnees geschlossen.",
    "Il n'y a plus de lait dans le réfrigérateur depuis hier soir.",
)
_SMALL = "The train was late again this morning because of snow {}."
_JOINTS = ("\n", " ", "", "\t", ". ", "\n\n", "\u00a0", ", ")
_JSON = {"Content-Type": "application/json"}
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_MOST_CHARACTERS = 20_000
_MOST_DOCUMENT = 60_000
_MOST_ADDRESS = 6_000
"""Characters of a path with its question."""
_TIMEOUT_S = 150.0


@dataclass(frozen=True)
class Sent:
    """A request."""

    kind: str
    method: str
    path: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Met:
    """What a request met."""

    sent: Sent | None
    """The request, where it met a fault."""
    result: str
    is_fault: bool


# --- texts and requests -----------------------------------------------------------------------------------------------


def text_of(rng: Random, most: int = _MOST_CHARACTERS) -> str:
    """A mixture of at most so many characters; most are short."""
    size = min(most, int(rng.lognormvariate(6.5, 1.5)) + 1)
    pieces: list[str] = []
    for _ in range(rng.randint(1, 6)):
        piece = KINDS[rng.choice(list(KINDS))](rng, max(1, size // rng.randint(1, 6)))
        cut = rng.randrange(len(piece) + 1) if rng.random() < 0.3 else 0
        pieces += [piece[cut:], *rng.choices(_SENTENCES, k=rng.choice((0, 0, 1, 3)))]
    rng.shuffle(pieces)
    joint = rng.choice(_JOINTS)
    return joint.join(pieces)[:size]


def native(rng: Random) -> Sent:
    text = text_of(rng)
    some = rng.randint(2, 40)
    body: dict[str, Any] = {
        "text": text if rng.random() < 0.7 else [text[place::some] for place in range(some)],
        "source": rng.choice(("en", "en", "en", "auto", "de", "xx")),
        "target": rng.choice(("de", "de", "de", "en", "fr")),
        "format": rng.choice(("text", "text", "html", "xml")),
        "split": rng.choice(("sentences", "sentences", "lines", "off")),
        "n_best": rng.choice((1, 1, 1, 4)),
        "alignment": rng.random() < 0.2,
        "stream": rng.random() < 0.2,
    }
    return Sent("native", "POST", "/api/translate", encoded(body), _JSON)


def detect(rng: Random) -> Sent:
    return Sent("detect", "POST", "/api/detect", encoded({"text": text_of(rng)}), _JSON)


def attention(rng: Random) -> Sent:
    return Sent("attention", "POST", "/api/attention", encoded({"text": text_of(rng, 400), "target_lang": "de"}), _JSON)


def glossary(rng: Random) -> Sent:
    plain = rng.random() < 0.7  # otherwise most are refused for their control characters
    terms = [{"source": term_of(rng, plain), "target": term_of(rng, plain)} for _ in range(rng.randint(1, 20))]
    body = {"name": term_of(rng, plain), "source": "en", "target": "de", "terms": terms}
    return Sent("glossary", "POST", "/api/glossaries", encoded(body), _JSON)


def glossary_file(rng: Random) -> Sent:
    ending = rng.choice((".csv", ".tsv", ".tbx"))
    joint = {".csv": ",", ".tsv": "\t", ".tbx": "\n"}[ending]
    rows = [f"{term_of(rng, True)}{joint}{term_of(rng, True)}\n" for _ in range(rng.randint(1, 200))]
    content = text_of(rng) if rng.random() < 0.3 else "".join(rows)
    body = {"content": content, "ending": ending, "source": "en", "target": "de"}
    return Sent("glossary file", "POST", "/api/glossaries/read", encoded(body), _JSON)


def term_of(rng: Random, plain: bool) -> str:
    """A term; a plain one is a line of what can be printed."""
    text = text_of(rng, 190)
    return "".join(filter(str.isprintable, text)).strip() or "a" if plain else text


def correction(rng: Random) -> Sent:
    some = [{"text": text_of(rng, 2_000), "translation": text_of(rng, 2_000)} for _ in range(rng.randint(1, 5))]
    body = {"source": "en", "target": "de", "corrections": some}
    return Sent("correction", "POST", "/api/corrections", encoded(body), _JSON)


def libretranslate(rng: Random) -> Sent:
    asked = {"source": rng.choice(("en", "auto")), "target": "de", "format": rng.choice(("text", "html"))}
    text = text_of(rng)
    if rng.random() < 0.5:
        return Sent(
            "libretranslate", "POST", "/translate", urllib.parse.urlencode({"q": text, **asked}).encode(), _FORM
        )
    return Sent("libretranslate", "POST", "/translate", encoded({"q": [text, text_of(rng, 100)], **asked}), _JSON)


def deepl(rng: Random) -> Sent:
    body = {"text": [text_of(rng, 10_000), text_of(rng, 100)], "target_lang": "DE", "source_lang": "EN"}
    handling = rng.choice(({}, {"tag_handling": "xml"}, {"tag_handling": "html"}))
    return Sent(
        "deepl", "POST", "/v2/translate", encoded({**body, **handling}), {**_JSON, "Authorization": "DeepL-Auth-Key x"}
    )


def omegat(rng: Random) -> Sent:
    asked = {"source": "en-US", "target": "de-DE", "text": text_of(rng)}
    return Sent("omegat", "GET", f"/omegat?{urllib.parse.urlencode(asked)}"[:_MOST_ADDRESS])


def document(rng: Random) -> Sent:
    name, content = written(rng, text_of(rng, _MOST_DOCUMENT))
    path, languages = rng.choice(
        (
            ("/api/documents", {"source": "en", "target": "de"}),
            ("/translate_file", {"source": "en", "target": "de"}),
            ("/v2/document", {"source_lang": "EN", "target_lang": "DE"}),
        )
    )
    part = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
    body = b"".join(f"{part.format(key, '')}{code}\r\n".encode() for key, code in languages.items())
    opening = part.format("file", f'; filename="{name}"').encode()
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    return Sent(f"document {Path(name).suffix}", "POST", path, body + opening + content + b"\r\n--b--\r\n", headers)


def written(rng: Random, text: str) -> tuple[str, bytes]:
    """A document of some format, often one that cannot be read, with its name."""
    lines = text.splitlines() or [""]
    xml = [escape("".join(each for each in line if each >= " ")) for line in lines]
    makers: dict[str, Callable[[], str]] = {
        "a.txt": lambda: text,
        "a.md": lambda: text,
        "a.html": lambda: text if rng.random() < 0.5 else "".join(f"<p>{line}</p>" for line in xml),
        "a.po": lambda: "".join(f'msgid {json.dumps(line)}\nmsgstr ""\n\n' for line in lines),
        "a.json": lambda: json.dumps({str(number): line for number, line in enumerate(lines)}),
        "a.srt": lambda: "".join(
            f"{number}\n00:00:{number % 60:02},000 --> 00:00:{number % 60:02},900\n{line}\n\n"
            for number, line in enumerate(lines)
        ),
        "a.csv": lambda: "\n".join(f"{number},{line}" for number, line in enumerate(lines)),
        "strings.xml": lambda: "<resources>{}</resources>".format(
            "".join(f'<string name="a{number}">{line}</string>' for number, line in enumerate(xml))
        ),
        "a.yml": lambda: "en:\n" + "".join(f"  a{number}: {json.dumps(line)}\n" for number, line in enumerate(lines)),
        "a.properties": lambda: "".join(f"a{number}={line}\n" for number, line in enumerate(lines)),
        "a.docx": lambda: "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in xml),
    }
    name = rng.choice(list(makers))
    content = makers[name]().encode("utf-8", "replace")
    if rng.random() < 0.1:
        content = bytes(rng.choices(content or b"a", k=len(content)))
    return name, packed(content) if name.endswith(".docx") else content


def packed(paragraphs: bytes) -> bytes:
    """A Word document of paragraphs."""
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    types = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{name}"><w:body>'.encode() + paragraphs + b"</w:body></w:document>",
        )
    return to.getvalue()


REQUESTS = (
    native,
    native,
    native,
    detect,
    attention,
    glossary,
    glossary_file,
    correction,
    libretranslate,
    deepl,
    omegat,
    document,
)


def encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body).encode()


# --- clients ----------------------------------------------------------------------------------------------------------


def client(port: int, seed: str, address: str, only: str | None, met: Any) -> None:
    """Sends requests until the process is ended, or the one that has started it."""
    os.nice(10)
    rng, parent = Random(seed), os.getppid()
    makers = [make for make in REQUESTS if only is None or make.__name__ == only]
    while os.getppid() == parent:
        sent = rng.choice(makers)(rng)
        one = asked(port, sent, address, leaves_after_s=rng.uniform(0, 0.3) if rng.random() < 0.1 else None)
        met.put(one if one.is_fault else replace(one, sent=None))


def asked(port: int, sent: Sent, address: str, *, leaves_after_s: float | None) -> Met:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S, source_address=(address, 0))
    try:
        connection.request(sent.method, sent.path, sent.body, sent.headers)
        if leaves_after_s is not None:
            time.sleep(leaves_after_s)
            return Met(sent, f"{sent.kind}: left", is_fault=False)
        answer = connection.getresponse()
        answer.read()
        is_busy = answer.status == 503 and answer.getheader("Retry-After")
        return Met(sent, f"{sent.kind}: {answer.status}", is_fault=answer.status >= 500 and not is_busy)
    except (OSError, http.client.HTTPException) as error:
        # A body that is refused before it is read may end the connection while it is still sent.
        return Met(sent, f"{sent.kind}: {type(error).__name__}", is_fault=not isinstance(error, BrokenPipeError))
    finally:
        connection.close()


class Bystander:
    """Sends a small sentence at a time on one connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
        self._number = 0
        self.refused = Counter[int]()

    def waits(self, seconds: float) -> list[float]:
        """Goes on for so long; gives the waits in milliseconds."""
        found, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            self._number += 1
            body = encoded({"text": _SMALL.format(self._number), "source": "en", "target": "de"})
            started = time.perf_counter()
            self._connection.request("POST", "/api/translate", body, _JSON)
            answer = self._connection.getresponse()
            answer.read()
            found.append(1000 * (time.perf_counter() - started))
            if answer.status != 200:
                self.refused[answer.status] += 1
        return sorted(found)


def told(waits: list[float]) -> str:
    p99 = waits[int(0.99 * (len(waits) - 1))]
    return f"{len(waits):7} requests, p50 {statistics.median(waits):6.1f} ms, p99 {p99:7.1f}, longest {waits[-1]:7.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="en-de")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted({make.__name__ for make in REQUESTS}), help="one kind of requests")
    parser.add_argument("--faults", type=Path, default=Path(tempfile.gettempdir()) / "attendo-faults")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="SECTION.KEY=VALUE")
    options = parser.parse_args()
    port, results, faults = SERVING["free_port"](), Counter[str](), list[str]()
    settings = ["documents.keep_seconds=30", "corrections.enabled=true", *options.settings]
    with SERVING["process"](SERVING["attendo_command"](options.model, port, settings), port) as server:
        os.nice(10)
        bystander = Bystander(port)
        bystander.waits(2)
        print(f"quiet      {told(bystander.waits(20))}", flush=True)
        spawning = multiprocessing.get_context("spawn")
        met = spawning.Queue()
        threading.Thread(target=count, args=(met, results, faults, options.faults), daemon=True).start()
        clients = [
            spawning.Process(
                target=client,
                args=(port, f"{options.seed} {number}", f"127.0.0.{2 + number % 3}", options.only, met),
            )
            for number in range(options.clients)
        ]
        for each in clients:
            each.start()
        everything: list[float] = []
        started = time.monotonic()
        while (past := time.monotonic() - started) < 60 * options.minutes:
            some = bystander.waits(min(60, 60 * options.minutes - past))
            everything += some
            size = SERVING["rss_mib"](server.pid)
            print(f"minute {past / 60:3.0f} {told(some)}, {size:5.0f} MiB, {results.total()} answers", flush=True)
        for each in clients:
            each.kill()
            each.join()
        print(f"all        {told(sorted(everything))}")
        server.send_signal(signal.SIGTERM)
        status = server.wait(60)
    for result, times in sorted(results.items()):
        print(f"{times:8} {result}")
    print(f"{len(faults)} faults, bystander refused {dict(bystander.refused)}, exit status {status}")
    return bool(faults or bystander.refused or status)


def count(met: Any, results: Counter[str], faults: list[str], folder: Path) -> None:
    """Counts what clients report until the end of the process, and writes the requests that met faults."""
    while True:
        one: Met = met.get()
        results[one.result] += 1
        if (sent := one.sent) is not None:
            faults.append(one.result)
            folder.mkdir(exist_ok=True)
            head = f"{one.result}\n{sent.method} {sent.path}\n{sent.headers}\n\n".encode()
            (folder / f"{len(faults)}.request").write_bytes(head + sent.body)
            print(f"fault {len(faults)}: {one.result}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
