"""The page's files as a browser gets them: what they may do, what they ask for, and that they fit together."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

import pytest
from tests.serving.live import Live, live

from attendo.checkpoint.finding import shipped_models
from attendo.serving.apis.page import POLICY, assets
from attendo.workflow.confidence import read_calibration

STATIC = files("attendo.serving") / "static"
TEXTS = {name: asset.content.decode() for name, asset in assets().items()}
MODULES = {name: text for name, text in TEXTS.items() if name.endswith(".js") and "/" not in name}


@pytest.fixture(scope="module")
def server(model_folder: Path) -> Iterator[Live]:
    with live([f"random={model_folder}", "en-de"]) as running:
        yield running


def test_the_page_may_do_nothing_but_speak_with_its_server(server: Live) -> None:
    for path in ("/", "/attention", "/static/main.js", "/static/attention/page.js", "/static/page.css"):
        answer = server.ask("GET", path)
        assert answer.status == 200
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    for directive in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"):
        assert directive in POLICY
    assert "unsafe" not in POLICY


def test_files_have_their_types_and_are_asked_for_once(server: Live) -> None:
    for name, kind in [("main.js", "text/javascript"), ("page.css", "text/css"), ("icon.svg", "image/svg+xml")]:
        answer = server.ask("GET", f"/static/{name}")
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.body == (STATIC / name).read_bytes()
        again = server.ask("GET", f"/static/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status, again.body) == (304, b"")
        assert server.ask("GET", f"/static/{name}", headers={"If-None-Match": '"old"'}).status == 200


@pytest.mark.parametrize(
    "name",
    ["nothing.js", "", "../page.py", "..%2fpage.py", "%2e%2e/page.py", "index.html", "/etc/passwd", "attention/"],
)
def test_no_other_file_is_given(name: str, server: Live) -> None:
    assert server.ask("GET", f"/static/{name}").status == 404


def test_below_a_prefix_it_is_the_same_page(model_folder: Path) -> None:
    with live([model_folder], "server.url_prefix=/somewhere/else") as running:
        answer = running.ask("GET", "/somewhere/else/")
        assert answer.status == 200
        found = re.findall(r'(?:href|src)="([^"#]+)"', answer.body.decode())
        assert found
        for link in found:
            assert running.ask("GET", f"/somewhere/else/{link}").status == 200, link


def test_without_a_page_there_is_none(model_folder: Path) -> None:
    with live([model_folder], "server.page=false") as running:
        assert running.ask("GET", "/").status == 404
        assert running.ask("GET", "/static/main.js").status == 404


def test_nothing_is_asked_for_from_elsewhere() -> None:
    for name, text in TEXTS.items():
        links = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'`)]*", text))
        assert links <= {"http://www.w3.org/2000/svg", "//www.w3.org/2000/svg"}, name
        assert "@import" not in text
        assert "url(" not in text


def test_no_script_or_style_is_inline() -> None:
    for name in ("index.html", "attention.html"):
        page = TEXTS[name]
        assert not re.search(r"<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=", page), name
    for name, text in MODULES.items():
        # A text that becomes markup may become a script; every text goes in as text.
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text), (
            name
        )


def test_every_element_that_a_script_names_is_on_the_page() -> None:
    there = re.findall(r'\bid="([^"]+)"', TEXTS["index.html"])
    assert len(there) == len(set(there)), "an id is there once"
    named = {name for text in MODULES.values() for name in re.findall(r'\belement\("([^"]+)"\)', text)}
    assert len(named) > 50
    assert named <= set(there)
    for name in re.findall(r'href="#(i-[\w-]+)"', TEXTS["index.html"]):
        assert name in there
    for kind in re.findall(r'\bicon(?:Button)?\("([\w-]+)"', " ".join(MODULES.values())):
        assert f"i-{kind}" in there


def test_every_module_that_is_imported_is_there() -> None:
    reached, waiting = set(), ["main.js"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += re.findall(r'from "\./([^"]+)"', MODULES[name])
    assert reached == set(MODULES) - {"theme.js"}


def test_the_curve_is_the_folders_own(server: Live) -> None:
    stored = read_calibration(shipped_models()["en-de"])
    assert stored is not None
    answer = server.ask("GET", "/api/confidence?model=en-de")
    assert answer.status == 200
    told = answer.json
    assert told["learned"] == asdict(stored.learned)
    assert [each["name"] for each in told["measured"]] == [each.name for each in stored.measured]


@pytest.mark.parametrize("model", ["random", "unknown", "..", "%00", "x" * 300])
def test_without_a_calibration_there_is_no_curve(model: str, server: Live) -> None:
    answer = server.ask("GET", f"/api/confidence?model={model}")
    assert answer.status in (400, 404)
    assert answer.error in ("not-found", "unknown-pair", "bad-request")
