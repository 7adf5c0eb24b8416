"""A night with a real server: corrections of the day, a round of learning, and the new version in use meanwhile."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.learning.conftest import Tiny
from tests.learning.language import WANTED, translated
from tests.learning.rounds import environment, learning, messages
from tests.serving.live import PATIENCE_S, Live, live

from attendo.checkpoint.versions import add_version, model_versions

NUM_CORRECTIONS, AT_ONCE = 150, 50


@contextmanager
def asking(server: Live, lines: list[str]) -> Iterator[list[tuple[int, tuple[str, ...]]]]:
    """Asks for the translations of lines again and again; gives the statuses and the answers."""
    answers: list[tuple[int, tuple[str, ...]]] = []
    done = threading.Event()

    def ask() -> None:
        while not done.wait(0.1):  # or the round would hardly get any of the processor
            answer = server.translate(lines)
            texts = tuple(each["text"] for each in answer.json["translations"]) if answer.status == 200 else ()
            answers.append((answer.status, texts))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield answers
    finally:
        done.set()
        thread.join(PATIENCE_S)


@pytest.mark.slow
def test_corrections_of_the_day_are_a_new_version_in_the_morning(tiny: Tiny, tmp_path: Path) -> None:
    name = tmp_path / "en-de"
    add_version(name, tiny.model)
    settings = ("corrections.enabled=true", f"server.state_dir='{tmp_path / 'state'}'", "models.watch_seconds=0.05")
    with live([f"en-de={name}"], *settings) as server:
        lines = messages(NUM_CORRECTIONS + 5, seed=21)
        corrected, others = lines[:NUM_CORRECTIONS], lines[NUM_CORRECTIONS:]
        for start in range(0, NUM_CORRECTIONS, AT_ONCE):
            pairs = [{"text": s, "translation": translated(s, WANTED)} for s in corrected[start : start + AT_ONCE]]
            sent = server.ask("POST", "/api/corrections", {"source": "en", "target": "de", "corrections": pairs})
            assert sent.status == 200, sent.body
        with asking(server, others) as answers:
            command = learning(
                tiny, name, name, "--from-server", server.url, "--set", "learning.shares=[0.6]", "--json"
            )
            ended = subprocess.run(
                [sys.executable, "-m", "attendo", *command],
                capture_output=True,
                text=True,
                env=environment(),
                check=False,
            )
            assert ended.returncode == 0, ended.stdout + ended.stderr
            until = time.monotonic() + PATIENCE_S
            while answers[-1][1] == answers[0][1]:
                assert time.monotonic() < until, "the new version does not go live"
                time.sleep(0.02)
    report = json.loads(ended.stdout)
    assert report["verdict"]["outcome"] == "accepted"
    assert report["files"] == [{"name": "corrections.tmx", "used": NUM_CORRECTIONS, "dropped": {}}]
    assert [(version.number, version.is_current) for version in model_versions(name)] == [(1, False), (2, True)]
    assert {status for status, _ in answers} == {200}  # nobody has noticed
    assert len({texts for _, texts in answers}) == 2  # each request is answered by one of the two versions
    wanted = [translated(line, WANTED) for line in others]

    def num_right(texts: tuple[str, ...]) -> int:
        words = [(word, right) for text, line in zip(texts, wanted, strict=True)
                 for word, right in zip(text.split(), line.split(), strict=False)]  # fmt: skip
        return sum(word == right for word, right in words)

    assert num_right(answers[-1][1]) > num_right(answers[0][1])
