"""A model folder is exchanged under load: no request is dropped, and each is answered by one of the two."""

import shutil
import threading
import time
from pathlib import Path

from tests.serving.live import PATIENCE_S, live

from attendo.workflow.engines.translate import load

LINES = ["one red dogs see us.", "two small birds hear them here.", "some old kings see us here."]


def test_a_model_is_exchanged_under_load(tmp_path: Path, model_folders: tuple[Path, Path, Path]) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model_folders[0], folder)
    expected = [[each.text for each in load(one).translate(LINES)] for one in model_folders[:2]]
    assert expected[0] != expected[1]
    answers: list[list[str]] = []
    statuses: set[int] = set()
    over = threading.Event()

    with live([folder], "models.watch_seconds=0.05") as server:

        def ask() -> None:
            while not over.is_set():
                answer = server.translate(LINES)
                statuses.add(answer.status)
                answers.append([each["text"] for each in answer.json["translations"]])

        askers = [threading.Thread(target=ask) for _ in range(4)]
        for each in askers:
            each.start()
        for by in (model_folders[1], model_folders[0], model_folders[1]):
            loads = [event for event in server.events if event["event"] == "model-loaded"]
            draft = tmp_path / "draft"
            shutil.copytree(by, draft)
            folder.rename(tmp_path / f"old-{len(loads)}")
            draft.rename(folder)
            until = time.monotonic() + PATIENCE_S
            while len([event for event in server.events if event["event"] == "model-loaded"]) == len(loads):
                assert time.monotonic() < until
                time.sleep(0.01)
        over.set()
        for each in askers:
            each.join(PATIENCE_S)
        assert server.translate(LINES).json["translations"][0]["text"] == expected[1][0]
    assert statuses == {200}
    assert {tuple(each) for each in answers} == {tuple(each) for each in expected}
