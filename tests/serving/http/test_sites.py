"""Hosts and origins as browsers send them: what a stranger's page could have its visitor's browser do, and what not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serving.live import Live, live

from attendo.errors import RecipeError
from attendo.serving.config_file import load_config
from attendo.serving.http.sites import is_known_host

EVIL = "https://evil.example"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
GLOSSARY = b"name=g&source_lang=en&target_lang=de&entries_format=tsv&entries=dog%09Hund"
MULTIPART = {"Content-Type": "multipart/form-data; boundary=b"}
DOCUMENT = (
    b'--b\r\nContent-Disposition: form-data; name="target"\r\n\r\nde\r\n--b\r\nContent-Disposition: form-data; '
    b'name="source"\r\n\r\nen\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    b"one red\r\n"
    b"--b--\r\n"
)


@pytest.fixture(scope="module")
def server(model_folder: Path) -> Iterator[Live]:
    settings = ['server.allowed_hosts=["translate.example.org"]', 'server.cors_origins=["https://friend.example"]']
    with live([f"m={model_folder}"], *settings) as running:
        yield running


@pytest.mark.parametrize(
    ("host", "is_known"),
    [
        ("127.0.0.1", True),
        ("127.0.0.1:5000", True),
        ("[::1]:5000", True),
        ("192.168.1.5:8080", True),
        ("localhost:1", True),
        ("LocalHost.", True),
        ("attendo.localhost", True),
        ("attendo-1:5000", True),  # a service of compose, a machine of the local network
        ("printer.local", True),
        ("mt.svc.cluster.local:80", True),
        ("translate.example.org", True),
        ("Translate.Example.org.:443", True),
        ("a.wild.example", True),
        ("wild.example", False),
        ("xwild.example", False),
        ("evil.example", False),
        ("evil.example:5000", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("translate.example.org.evil.example", False),
        ("xtranslate.example.org", False),
        ("evil.example@127.0.0.1", False),
        ("127.0.0.1/", False),
        ("", False),
        ("a b", False),
        (".", False),
    ],
)
def test_names_that_a_stranger_can_own_are_not_known(host: str, is_known: bool) -> None:
    assert is_known_host(host, ("translate.example.org", "*.wild.example")) is is_known


def test_all_names_can_be_allowed() -> None:
    assert is_known_host("evil.example", ("*",))


@pytest.mark.parametrize("path", ["/api/models", "/v2/glossaries", "/", "/openapi.json", "/metrics"])
def test_a_rebound_name_reads_nothing(path: str, server: Live) -> None:
    answer = server.ask("GET", path, headers={"Host": "evil.example"})
    assert answer.status == 421
    message = answer.json.get("message") or answer.json["error"]["message"]
    assert "evil.example" in message
    assert "server.allowed_hosts" in message


def test_the_refusal_has_the_shape_of_each_api_and_is_logged_once(server: Live) -> None:
    asked = {"Host": "logged.example"}
    assert server.ask("GET", "/api/models", headers=asked).error == "misdirected"
    assert isinstance(server.ask("GET", "/languages", headers=asked).json["error"], str)
    assert set(server.ask("GET", "/v2/languages", headers=asked).json) == {"message"}
    refused = [event for event in server.events if event["event"] == "host-refused"]
    assert [event["name"] for event in refused].count("logged.example") == 1


def test_a_configured_name_is_answered_and_load_balancers_may_use_any(server: Live) -> None:
    assert server.ask("GET", "/api/models", headers={"Host": "translate.example.org"}).status == 200
    for path in ("/health", "/ready"):
        assert server.ask("GET", path, headers={"Host": "10-0-0-1.pod.example"}).status == 200


def test_a_client_of_http_1_0_needs_no_host(server: Live) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET /api/models HTTP/1.0\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")


def counts(server: Live) -> tuple[int, int]:
    """How many glossaries and documents there are."""
    documents = server.server.service.documents
    assert documents is not None
    return len(server.ask("GET", "/v2/glossaries").json["glossaries"]), documents.waiting


@pytest.mark.parametrize(
    "sent_by",
    [
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": EVIL, "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:1"},  # another server of the same machine
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://friend.example.evil.example"},
        {"Origin": "http://["},
    ],
)
def test_another_sites_form_changes_nothing(sent_by: dict[str, str], server: Live) -> None:
    before = counts(server)
    for path, kind, body in [
        ("/v2/glossaries", FORM, GLOSSARY),
        ("/api/documents", MULTIPART, DOCUMENT),
        ("/translate", FORM, b"q=one&source=en&target=de"),
        ("/v2/translate", {"Content-Type": "text/plain"}, b""),
        ("/api/translate", {"Content-Type": "application/json"}, b'{"text": "one", "target": "de"}'),
    ]:
        answer = server.ask("POST", path, body, headers={**kind, **sent_by})
        assert answer.status == 403, path
        assert b"server.cors_origins" in answer.body
    assert counts(server) == before


@pytest.mark.parametrize("kind", ["image", "script", "iframe", "empty"])
def test_another_sites_page_loads_nothing_but_links_to_it_work(kind: str, server: Live) -> None:
    path = "/v2/translate?text=one&source_lang=en&target_lang=de"
    loaded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": kind}
    assert server.ask("GET", path, headers=loaded).status == 403
    assert server.ask("GET", "/", headers=loaded).status == 403
    assert server.ask("GET", path, headers={**loaded, "Sec-Fetch-Site": "same-origin"}).status == 200
    assert server.ask("GET", path, headers={**loaded, "Origin": "https://friend.example"}).status == 200
    assert server.ask("GET", "/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}).status == 200


@pytest.mark.parametrize(
    "sent_by",
    [
        {},  # curl, and every client that is no browser
        {"Origin": "https://friend.example", "Sec-Fetch-Site": "cross-site"},
        {
            "Origin": "http://127.0.0.1:{port}"
        },  # the server's own page, in a browser or over a connection without Fetch-Metadata
        {"Origin": "http://whatever-a-proxy-made.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "chrome-extension://abcdefghijklmnop", "Sec-Fetch-Site": "none"},
        {"Origin": "moz-extension://0a1b2c3d", "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_clients_the_own_page_and_named_sites_pass(sent_by: dict[str, str], server: Live) -> None:
    headers = {name: value.format(port=server.address[1]) for name, value in sent_by.items()}
    made = server.ask("POST", "/v2/glossaries", GLOSSARY, headers={**FORM, **headers})
    assert made.status == 201
    removed = server.ask("DELETE", f"/v2/glossaries/{made.json['glossary_id']}", headers=headers)
    assert removed.status == 204


def test_a_proxys_https_page_is_the_servers_own(server: Live) -> None:
    asked = {"Host": "translate.example.org", "Origin": "https://translate.example.org"}
    body = {"text": "one red", "source": "en", "target": "de"}
    assert server.ask("POST", "/api/translate", body, headers=asked).status == 200
    asked["Origin"] = "https://translate.example.org:444"
    assert server.ask("POST", "/api/translate", body, headers=asked).error == "cross-origin"


def test_the_download_address_is_never_an_unknown_host(server: Live) -> None:
    answer = server.ask("POST", "/translate_file", DOCUMENT, headers={**MULTIPART, "Host": "evil.example"})
    assert answer.status == 421
    answer = server.ask("POST", "/translate_file", DOCUMENT, headers={**MULTIPART, "Host": "translate.example.org"})
    assert json.loads(answer.body)["translatedFileUrl"].startswith("http://translate.example.org/download_file/")


@pytest.mark.parametrize("name", ["https://example.org", "example.org:80", "example.org/x", "", "a..b", "*.", "x*"])
def test_a_name_is_written_without_scheme_and_port(name: str) -> None:
    with pytest.raises(RecipeError, match="allowed_hosts"):
        load_config(None, [f'server.allowed_hosts=["{name}"]'])
