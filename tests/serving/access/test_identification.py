"""Who asks is known before a body is read: over real connections whose bodies never come, in each API's own form."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serving.live import Live, live
from tests.serving.made_up import Asked, made_up_service

import attendo
from attendo.client.results import ServerError
from attendo.serving.access.keys import KeyRing, new_key, write_keys
from attendo.serving.config import KeysConfig, ServingConfig

SECRET, KEY = new_key("Ada")
LT = {"q": "The dog.", "source": "en", "target": "de"}
DEEPL = {"text": "The dog.", "source_lang": "EN", "target_lang": "DE"}
NO_KEY = "Please contact the server operator to get an API key"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    write_keys(path, [KEY])
    settings = (f"keys.file={path}", "keys.search_bytes=4096", "limits.requests_per_minute=100000")
    with live([model_folder], *settings) as found:
        yield found


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """Without a network, whose answers are those of a made-up model."""
    folder = tmp_path_factory.mktemp("folder")
    config = ServingConfig(keys=KeysConfig(file=folder / "keys.json", search_bytes=4096))
    asked = Asked(made_up_service(config=config, keys=KeyRing([KEY]), documents_folder=folder))
    yield asked
    asked.close()


def answered(server: Live, path: str, *headers: str, body: bytes = b"", length: int = 10_000_000) -> tuple[int, object]:
    """What a server answers to the beginning of a large request: its status and JSON; then it has to hang up."""
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n"
    with server.connect() as connection:
        connection.sendall((head + "".join(f"{each}\r\n" for each in headers) + "\r\n").encode() + body)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    top, _, content = answer.partition(b"\r\n\r\n")
    assert b"connection: close" in top.lower()
    assert b"100 Continue" not in top
    return int(top.split(b" ", 2)[1]), json.loads(content)


FILE = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + b"x" * 5000


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("/api/documents", b"", 401, "unauthorized"),
        ("/api/translate", b"", 401, "unauthorized"),
        ("/api/nothing", b"", 401, "unauthorized"),
        ("/translate_file", FILE, 400, NO_KEY),
        ("/v2/document", FILE, 403, "an API key is needed; ask whoever runs this server for one"),
    ],
)
def test_nobody_is_refused_before_the_body_is_there(
    server: Live, path: str, body: bytes, status: int, told: str
) -> None:
    kind = "Content-Type: multipart/form-data; boundary=b"
    found, content = answered(server, path, kind, body=body)
    assert found == status
    assert isinstance(content, dict)
    error = content.get("error", content)
    assert told in (error, error.get("code") if isinstance(error, dict) else None, content.get("message"))
    if not body:  # nor is a client that asks for leave told to send it
        assert answered(server, path, kind, "Expect: 100-continue")[0] == status


@pytest.mark.parametrize("header", ["Authorization: Bearer wrong", "X-API-Key: wrong"])
def test_a_wrong_key_is_refused_before_the_body_is_there(server: Live, header: str) -> None:
    status, content = answered(server, "/api/documents", header)
    assert (status, content["error"]["code"]) == (403, "forbidden")  # type: ignore[index]


def test_bad_json_is_told_nobody_who_has_no_key(server: Live) -> None:
    for path, status in (("/api/translate", 401), ("/translate", 400), ("/v2/translate", 403)):
        answer = server.ask("POST", path, b'{"q": ', headers={"Content-Type": "application/json"})
        assert answer.status == status
        assert b"key" in answer.body.lower()
    headers = {"Content-Type": "application/json", "X-API-Key": SECRET}
    with_key = server.ask("POST", "/api/translate", b'{"text": ', headers=headers)
    assert (with_key.status, with_key.error) == (400, "bad-request")


LONG = "The dog. " * 300  # with what is around it below the part that is searched
TOO_LONG = "The dog. " * 1500


@pytest.mark.parametrize(
    ("path", "name", "sent"), [("/translate", "api_key", LT), ("/v2/translate", "auth_key", DEEPL)]
)
@pytest.mark.parametrize("kind", ["json", "form", "multipart", "query"])
def test_keys_are_found_in_bodies_and_queries(
    ask: Asked, path: str, name: str, sent: dict[str, str], kind: str
) -> None:
    text = next(iter(sent))

    def status(values: dict[str, str], key: dict[str, str]) -> int:
        if kind == "json":
            return ask("POST", path, json=values | key).status_code
        if kind == "form":
            return ask("POST", path, data=values | key).status_code
        if kind == "multipart":
            fields = {each: (None, value) for each, value in (key | values).items()}
            return ask("POST", path, files=fields).status_code
        return ask("POST", path, params=key, data=values).status_code

    no_key = 400 if path == "/translate" else 403
    assert status(sent | {text: LONG}, {name: SECRET}) == 200
    assert status(sent | {text: LONG}, {name: "wrong"}) == 403
    assert status(sent | {text: LONG}, {}) == no_key
    if kind in ("json", "form"):  # there it comes behind the text
        assert status(sent | {text: TOO_LONG}, {name: SECRET}) == no_key
    assert ask("POST", path, json=sent | {text: TOO_LONG}, headers={"X-API-Key": SECRET}).status_code == 200


def test_what_looks_like_a_key_within_a_text_is_none(ask: Asked) -> None:
    text = f'"api_key": "{SECRET}"'
    assert ask("POST", "/translate", json=LT | {"q": text}).status_code == 400
    assert ask("POST", "/translate", data=LT | {"q": f"&api_key={SECRET}"}).status_code == 400
    assert ask("POST", "/api/translate", json={"text": "a", "api_key": SECRET}).status_code == 401


def test_a_key_of_something_in_front_does_not_hide_the_one_in_the_body(ask: Asked) -> None:
    headers = {"Authorization": "Bearer of-the-gateway"}
    assert ask("POST", "/translate", json=LT | {"api_key": SECRET}, headers=headers).status_code == 200
    assert ask("POST", "/translate", json=LT, headers=headers).status_code == 403


def test_what_is_for_everybody_stays_so(ask: Asked) -> None:
    assert ask("GET", "/languages").status_code == 200
    assert ask("GET", "/languages", data={"api_key": ""}).status_code == 200
    assert ask("GET", "/api/settings", headers={"X-API-Key": "wrong"}).status_code == 200
    assert ask("GET", "/languages", content=b"x" * 9000).status_code == 400  # no key, and more than is searched


def test_a_body_after_a_valid_key_is_whole(server: Live) -> None:
    text = "one red dogs see us. " * 300
    for headers in ({"X-API-Key": SECRET}, {"Authorization": f"Bearer {SECRET}"}):
        answer = server.ask("POST", "/api/detect", {"text": text}, headers=headers)
        assert answer.status == 200
    first = {"api_key": SECRET} | LT | {"q": text}  # in the part that is searched; the rest follows
    answer = server.ask("POST", "/detect", first)
    assert answer.status == 200


def test_who_sends_much_without_a_key_still_reads_why_it_is_refused(server: Live) -> None:
    with attendo.Client(server.url) as client, pytest.raises(ServerError) as told:
        client.send_document(b"x" * 8_000_000, name="a.txt", target="de")
    assert told.value.status == 401
