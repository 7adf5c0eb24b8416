"""What keep-alive clients see of a server that is ended by SIGTERM: answers, resets, answers that were cut off.

    python benchmarks/draining.py [MODEL] [--rounds 20] [--requests 10000] [--clients 8] [--set KEY=VALUE]

Each round starts `attendo serve`, has clients ask on connections that they keep (from at once again to once a second; a
part of the requests is a translation), and sends SIGTERM when the given number of requests was answered. A client whose
answer says `Connection: close` connects anew; when the server listens no longer, it ends. Counted are answers, those
after SIGTERM, connections that were reset, and those that ended within an answer or in place of one. The last three
columns have to be 0.
"""

import argparse
import json
import random
import runpy
import signal
import socket
import sys
import threading
import time
from collections import Counter
from pathlib import Path

SERVING = runpy.run_path(str(Path(__file__).with_name("serving.py")))
PAUSES_S = (0.0, 0.0, 0.0, 0.002, 0.01, 0.1, 0.5, 0.95)
GET = b"GET /api/models HTTP/1.1\r\nHost: a\r\n\r\n"


class CutOff(Exception):
    """A connection ended within an answer, or in place of one."""


def post(text: str) -> bytes:
    body = json.dumps({"text": text, "source": "en", "target": "de"}).encode()
    head = "POST /api/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def answer(connection: socket.socket) -> bytes:
    """Reads an answer; gives its head."""
    read = b""
    while b"\r\n\r\n" not in read:
        read += received(connection)
    head, _, body = read.lower().partition(b"\r\n\r\n")
    size = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
    left = size - len(body)
    while left > 0:
        left -= len(received(connection))
    return head


def received(connection: socket.socket) -> bytes:
    part = connection.recv(65536)
    if not part:
        raise CutOff
    return part


def client(port: int, number: int, counts: Counter[str], ended: threading.Event) -> None:
    """Asks until the server listens no longer."""
    generator, pause_s = random.Random(number), PAUSES_S[number % len(PAUSES_S)]
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError:
            if ended.is_set():
                return
            counts["refused"] += 1
            continue
        with connection:
            try:
                head = b""
                while b"connection: close" not in head:
                    connection.sendall(post("Where is the station?") if generator.random() < 0.02 else GET)
                    head = answer(connection)
                    counts["answers"] += 1
                    counts["after"] += ended.is_set()
                    counts["wrong"] += not head.startswith(b"http/1.1 200")
                    time.sleep(pause_s)
                connection.recv(1)
            except CutOff:
                counts["cut"] += 1
            except OSError:
                counts["reset"] += 1


def one_round(options: argparse.Namespace) -> Counter[str]:
    port, counts, ended = SERVING["free_port"](), Counter[str](), threading.Event()
    with SERVING["process"](SERVING["attendo_command"](options.model, port, options.settings), port) as server:
        clients = [
            threading.Thread(target=client, args=(port, number, counts, ended)) for number in range(options.clients)
        ]
        for each in clients:
            each.start()
        while counts["answers"] < options.requests:
            time.sleep(0.01)
        ended.set()
        began = time.monotonic()
        server.send_signal(signal.SIGTERM)
        for each in clients:
            each.join(120)
        server.wait(120)
        counts["ms"] = round(1000 * (time.monotonic() - began))
        counts["status"] = server.returncode
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="en-de")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=10_000, help="answered before SIGTERM")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="SECTION.KEY=VALUE")
    options = parser.parse_args()
    print("round  answers  after SIGTERM  end, s  status  refused early  not 200  reset  cut off")
    total = Counter[str]()
    for number in range(1, options.rounds + 1):
        found = one_round(options)
        total += found
        print(
            f"{number:5}  {found['answers']:7}  {found['after']:13}  {found['ms'] / 1000:6.2f}  {found['status']:6}  "
            f"{found['refused']:13}  {found['wrong']:7}  {found['reset']:5}  {found['cut']:7}",
            flush=True,
        )
    print(f"all: {total['answers']} answers, {total['reset']} reset, {total['cut']} cut off")
    return bool(total["reset"] or total["cut"] or total["wrong"] or total["status"])


if __name__ == "__main__":
    sys.exit(main())
