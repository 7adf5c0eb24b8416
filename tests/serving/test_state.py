"""What outlives a restart: servers on one folder, one after the other, killed or ended; damaged and foreign files."""

import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving.apis.test_operations import Process
from tests.serving.live import PATIENCE_S, Live, live
from tests.serving.made_up import Asked, made_up_service

from attendo.errors import AttendoError
from attendo.serving.access.keys import KeyRing, new_key
from attendo.serving.config import KeysConfig, ServingConfig
from attendo.serving.config_file import load_config
from attendo.serving.documents.records import RESTARTED, DocumentRecords
from attendo.serving.state import State

GLOSSARY = {"name": "mine", "source_lang": "en", "target_lang": "de", "entries": "red\trot", "entries_format": "tsv"}


def send(server: Live, text: bytes = b"one red dogs see us.") -> dict[str, Any]:
    found: dict[str, Any] = httpx.post(
        f"{server.url}/api/documents",
        data={"source": "en", "target": "de"},
        files={"file": ("a.txt", text)},
        timeout=PATIENCE_S,
    ).json()
    return found


def finished(server: Live, id_: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE_S
    while (told := server.ask("GET", f"/api/documents/{id_}").json)["status"] not in ("done", "error"):
        assert time.monotonic() < end
        time.sleep(0.02)
    return dict(told)


def wait_until_empty(folder: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while list(folder.iterdir()):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_glossaries_and_translated_documents_outlive_a_restart(tmp_path: Path, model_folder: Path) -> None:
    state = f"server.state_dir={tmp_path / 'state'}"
    with live([f"m={model_folder}"], state) as server:
        made, kept = (server.ask("POST", "/v2/glossaries", GLOSSARY).json for _ in range(2))
        assert server.ask("DELETE", f"/v2/glossaries/{made['glossary_id']}").status == 204
        first, second = (send(server)["id"] for _ in range(2))
        told = finished(server, first)
        result, report = (server.ask("GET", f"/api/documents/{first}/{what}").body for what in ("result", "report"))
        finished(server, second)
        assert server.ask("DELETE", f"/api/documents/{second}").status == 204
    with live([f"m={model_folder}"], state) as server:
        assert server.ask("GET", "/v2/glossaries").json == {"glossaries": [kept]}
        assert server.ask("GET", f"/v2/glossaries/{kept['glossary_id']}/entries").body == b"red\trot"
        assert server.ask("GET", f"/api/documents/{first}").json == told
        assert server.ask("GET", f"/api/documents/{first}/result").body == result
        assert server.ask("GET", f"/api/documents/{first}/report").body == report
        assert server.ask("GET", f"/api/documents/{second}").status == 404, "what was removed stays removed"
        body = {"text": ["red"], "source_lang": "EN", "target_lang": "DE", "glossary_id": kept["glossary_id"]}
        assert "rot" in server.ask("POST", "/v2/translate", body).json["translations"][0]["text"]
    folder = tmp_path / "state"
    assert sorted(path.name for path in (folder / "documents").iterdir()) == [first, f"{first}.report"]
    assert folder.stat().st_mode & 0o077 == 0, "texts of callers are nobody else's"


def test_without_a_folder_nothing_is_left(model_folder: Path) -> None:
    with live([f"m={model_folder}"]) as server:
        id_ = server.ask("POST", "/v2/glossaries", GLOSSARY).json["glossary_id"]
    with live([f"m={model_folder}"]) as server:
        assert server.ask("GET", f"/v2/glossaries/{id_}").status == 404


def test_a_caller_has_only_his_own_after_a_restart_too(tmp_path: Path) -> None:
    (first, ada), (second, bob) = new_key("Ada"), new_key("Bob")
    made: dict[str, str] = {}
    for _ in range(2):
        service = made_up_service(config=ServingConfig(keys=KeysConfig(file=Path("k"))), keys=KeyRing([ada, bob]))
        service.state.close()
        ask = Asked(replace(service, state=State(tmp_path)))
        try:
            for key in (first, second):
                shown = {"headers": {"Authorization": f"DeepL-Auth-Key {key}"}}
                if key not in made:
                    made[key] = ask("POST", "/v2/glossaries", json=GLOSSARY, **shown).json()["glossary_id"]
                listed = ask("GET", "/v2/glossaries", **shown).json()["glossaries"]
                assert [each["glossary_id"] for each in listed] == [made[key]]
                for id_ in set(made.values()) - {made[key]}:
                    assert ask("GET", f"/v2/glossaries/{id_}", **shown).status_code == 404
                    assert ask("DELETE", f"/v2/glossaries/{id_}", **shown).status_code == 404
        finally:
            ask.close()


@pytest.mark.slow
def test_a_document_in_work_when_the_server_is_killed_is_reported_as_failed(tmp_path: Path, model_folder: Path) -> None:
    state = f"server.state_dir={tmp_path / 'state'}"
    killed = Process(f"m={model_folder}", "--threads", "1", "--set", state)
    try:
        id_ = killed.upload("one red dogs see us.\n" * 10_000)
        glossary = httpx.post(f"{killed.url}v2/glossaries", json=GLOSSARY).json()
    finally:
        killed.process.kill()
        killed.process.wait()
    with live([f"m={model_folder}"], state) as server:
        told = server.ask("GET", f"/api/documents/{id_}").json
        assert (told["status"], told["message"]) == ("error", RESTARTED)
        assert server.ask("GET", "/v2/glossaries").json == {"glossaries": [glossary]}


def test_documents_expire_after_a_restart_too(tmp_path: Path, model_folder: Path) -> None:
    settings = f"server.state_dir={tmp_path / 'state'}", "documents.keep_seconds=60"
    with live([f"m={model_folder}"], *settings) as server:
        id_ = send(server)["id"]
        finished(server, id_)
    database = sqlite3.connect(tmp_path / "state" / "state.sqlite3")
    with database:
        assert database.execute("UPDATE documents SET finished = finished - 61").rowcount == 1
    database.close()
    documents = tmp_path / "state" / "documents"
    assert list(documents.iterdir()) != []
    with live([f"m={model_folder}"], *settings) as server:
        wait_until_empty(documents)
        assert server.ask("GET", f"/api/documents/{id_}").status == 404


def test_documents_expire_though_nobody_asks(tmp_path: Path, model_folder: Path) -> None:
    settings = f"server.state_dir={tmp_path / 'state'}", "documents.keep_seconds=0.5"
    with live([f"m={model_folder}"], *settings) as server:
        send(server)
        wait_until_empty(tmp_path / "state" / "documents")


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    first = State(tmp_path)
    with pytest.raises(AttendoError, match=rf"{tmp_path}: in use by process {os.getpid()}.*give each server its own"):
        State(tmp_path)
    first.close()
    State(tmp_path).close()


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xaa" * 3996  # the first page's table of contents
    path.write_bytes(content)


def foreign(path: Path) -> None:
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (address TEXT)")
    other.commit()
    other.close()


def newer(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (damage, "malformed|damaged"),
        (lambda path: path.write_bytes(b"no database at all, but long enough to be looked at" * 100), "not a database"),
        (foreign, "belongs to another program"),
        (newer, "newer version"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_at_the_start(
    tmp_path: Path, change: Callable[[Path], Any], why: str
) -> None:
    State(tmp_path).close()
    path = tmp_path / "state.sqlite3"
    change(path)
    before = path.read_bytes()
    with pytest.raises(AttendoError, match=rf"state\.sqlite3: cannot be used .*({why}).*move it away"):
        State(tmp_path)
    assert path.read_bytes() == before, "nothing of what is not ours is changed"


def test_a_row_that_cannot_be_read_is_told_at_the_start(tmp_path: Path) -> None:
    state = State(tmp_path)
    row = ("../../etc/passwd", "k", "me", "a.txt", "en", "de", 1, "done", "", "[]", 1, 0.0)
    state.read(lambda rows: rows.execute(f"INSERT INTO documents VALUES ({', '.join('?' * len(row))})", row))
    with pytest.raises(AttendoError, match=r"a document of the state cannot be read .*move the folder away"):
        DocumentRecords(state, tmp_path / "documents").load()
    state.close()


@pytest.mark.parametrize("status", ["queued", "translating"])
def test_what_was_not_finished_is_an_error(tmp_path: Path, status: str) -> None:
    state = State(tmp_path)
    row = ("0" * 32, "k", "me", "a.txt", "en", "de", 1, status, "", "[]", 1, None)
    state.read(lambda rows: rows.execute(f"INSERT INTO documents VALUES ({', '.join('?' * len(row))})", row))
    (document,) = DocumentRecords(state, tmp_path / "documents").load()
    assert (document.status, document.message, document.bytes_kept) == ("error", RESTARTED, 0)
    state.close()


def test_a_disk_that_fails_is_a_503_and_not_a_fault(tmp_path: Path) -> None:
    service = made_up_service()
    ask = Asked(service)
    service.state.read(lambda rows: rows.execute("PRAGMA query_only = ON"))
    try:
        answer = ask("POST", "/v2/glossaries", json=GLOSSARY)
        assert answer.status_code == 503
        assert "retry-after" in answer.headers
        assert "state cannot be read or written" in answer.json()["message"]
    finally:
        ask.close()


def test_the_folder_is_named_from_the_configurations_own(tmp_path: Path) -> None:
    path = tmp_path / "serve.toml"
    path.write_text('[server]\nstate_dir = "kept"\n', encoding="utf-8")
    assert load_config(path).server.state_dir == tmp_path / "kept"
