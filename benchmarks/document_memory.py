"""Whether a server's memory comes back after documents: one of 25 MB of XML, then mixed ones for minutes.

    python benchmarks/document_memory.py [MODEL] [--minutes 10] [--set KEY=VALUE]

Prints the server's resident memory, and that of the processes it has started: before the large document, after it,
and while the mixed ones go through, which are text, HTML, PO, XLIFF, TMX and .docx, small and large, also broken and
cancelled ones. In the end it is compared with what it was before. Printed is also the time that a small document takes,
from its sending to its result.
"""

import argparse
import io
import json
import random
import runpy
import statistics
import time
import urllib.error
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

SERVING = runpy.run_path(str(Path(__file__).with_name("serving.py")))
SENTENCES = SERVING["SENTENCES"]
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def docx(generator: random.Random, runs: int) -> bytes:
    """A document of some sentences and many empty runs, each in a formatting of its own."""
    some = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in generator.sample(SENTENCES, 3))
    empty = "".join(f'<w:r><w:rPr><w:sz w:val="{place}"/></w:rPr></w:r>' for place in range(runs))
    xml = f'<w:document xmlns:w="{WORD}"><w:body>{some}<w:p>{empty}</w:p></w:body></w:document>'
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", xml)
    return content.getvalue()


def xliff(generator: random.Random, units: int) -> bytes:
    """Units of which nearly all are translated."""
    done = "<trans-unit><source>Yes.</source><target>Ja.</target></trans-unit>" * units
    text = f"<trans-unit><source>{generator.choice(SENTENCES)}</source></trans-unit>"
    head = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en"><body>'
    return f"{head}{done}{text}</body></file></xliff>".encode()


def tmx(generator: random.Random, units: int) -> bytes:
    done = '<tu><tuv xml:lang="en"><seg>Yes.</seg></tuv><tuv xml:lang="de"><seg>Ja.</seg></tuv></tu>' * units
    text = f'<tu><tuv xml:lang="en"><seg>{generator.choice(SENTENCES)}</seg></tuv></tu>'
    return f'<tmx version="1.4"><header srclang="en"/><body>{done}{text}</body></tmx>'.encode()


def po(generator: random.Random, units: int) -> bytes:
    done = "".join(f'msgid "Yes {place}."\nmsgstr "Ja."\n\n' for place in range(units))
    return f'{done}msgid "{generator.choice(SENTENCES)}"\nmsgstr ""\n'.encode()


def plain(generator: random.Random, units: int) -> bytes:
    return " ".join(generator.choices(SENTENCES, k=3 + units // 10_000)).encode()


def html(generator: random.Random, units: int) -> bytes:
    return f"<p>{generator.choice(SENTENCES)}</p>{'<!-- nothing -->' * units}".encode()


def broken(generator: random.Random, units: int) -> bytes:
    content = bytearray(docx(generator, units))
    for _ in range(10):
        content[generator.randrange(len(content))] ^= 0x55
    return bytes(content)


KINDS: dict[str, tuple[str, Callable[[random.Random, int], bytes]]] = {
    "docx": ("a.docx", docx),
    "xliff": ("a.xlf", xliff),
    "tmx": ("a.tmx", tmx),
    "po": ("a.po", po),
    "text": ("a.txt", plain),
    "html": ("a.html", html),
    "broken": ("a.docx", broken),
}


def request(url: str, method: str = "GET", body: bytes | None = None, kind: str = "") -> tuple[int, bytes]:
    asked = urllib.request.Request(url, body, headers={"Content-Type": kind} if kind else {}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=300) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def through(base: str, name: str, content: bytes, *, cancel: bool = False) -> tuple[str, float]:
    """A document on its way through; what became of it, and the seconds it took."""
    began = time.monotonic()
    field = '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = (field.format("source", "en") + field.format("target", "de") + head).encode() + content + b"\r\n--b--\r\n"
    status, answer = request(f"{base}/api/documents", "POST", body, "multipart/form-data; boundary=b")
    if status != 202:
        return str(status), time.monotonic() - began
    path = f"{base}/api/documents/{json.loads(answer)['id']}"
    while not cancel and (state := json.loads(request(path)[1])["status"]) in ("queued", "translating"):
        time.sleep(0.01)
    seconds = time.monotonic() - began
    request(path, "DELETE")
    return "cancelled" if cancel else state, seconds


def memory(pid: int) -> tuple[float, float]:
    """MiB of a server, and of the processes it has started."""
    children = [int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()]
    return SERVING["rss_mib"](pid), sum(SERVING["rss_mib"](each) for each in children)


def show(label: str, found: tuple[float, float]) -> tuple[float, float]:
    print(f"{label:34} {found[0]:7.0f} MiB, its processes {found[1]:6.0f} MiB", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="en-de")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="SECTION.KEY=VALUE")
    options = parser.parse_args()
    generator, port = random.Random(options.seed), SERVING["free_port"]()
    with SERVING["process"](SERVING["attendo_command"](options.model, port, options.settings), port) as server:
        base = f"http://127.0.0.1:{port}"
        for name, make in KINDS.values():  # each once, so that what is loaded late is loaded
            through(base, name, make(generator, 10))
        small = [through(base, "a.docx", docx(generator, 10))[1] for _ in range(20)]
        print(f"a small .docx: median {statistics.median(small):.3f} s, longest {max(small):.3f} s")
        before = show("before", memory(server.pid))
        large = docx(generator, 430_000)
        print(f"a .docx of 25 MB of XML: {through(base, 'a.docx', large)}")
        time.sleep(2)
        after = show("after it", memory(server.pid))
        print(f"{after[0] / before[0] - 1:+.1%} of the server's")
        counts: Counter[str] = Counter()
        began, shown = time.monotonic(), time.monotonic()
        while time.monotonic() < began + 60 * options.minutes:
            kind = generator.choice(list(KINDS))
            name, make = KINDS[kind]
            content = make(generator, generator.choice((10, 10, 1000, 30_000)))
            counts[f"{kind} {through(base, name, content, cancel=generator.random() < 0.1)[0]}"] += 1
            if time.monotonic() > shown + 30:
                shown = time.monotonic()
                show(f"{(shown - began) / 60:.1f} minutes, {counts.total()} documents", memory(server.pid))
        time.sleep(2)
        end = show(f"after {counts.total()} documents", memory(server.pid))
        print(f"{end[0] / before[0] - 1:+.1%} of the server's; {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main()
