"""The documentation as a site: its navigation, its reference, and the pages that scripts/docs has built.

Links and anchors are checked while it is built: a warning is an error there.
"""

import re
import tomllib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.browser import chromium_browser

import attendo

PROJECT = Path(__file__).parent.parent
SITE = PROJECT / "build" / "site"
PAGES = sorted(
    path.relative_to(PROJECT).as_posix()
    for pattern in ("*.md", "docs/*.md", "docs/paper/*/*.md")
    for path in PROJECT.glob(pattern)
)
SECTIONS = tomllib.loads((PROJECT / "docs" / "site" / "navigation.toml").read_text(encoding="utf-8"))["section"]
LISTED = [page for section in SECTIONS for page in section["pages"]]


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_in_the_navigation(page: str) -> None:
    assert page in ["README.md", *LISTED], f"{page}: in no section of docs/site/navigation.toml"


def test_the_navigation_lists_each_page_once_and_no_others() -> None:
    assert [page for page, times in Counter(LISTED).items() if times > 1 or page not in PAGES] == []


def test_the_four_entry_points_are_the_first_sections() -> None:
    titles = [section["title"] for section in SECTIONS if "title" in section]
    assert titles[:4] == ["Translate", "Train your own", "The paper", "Run a server"]


def test_the_reference_has_every_public_name() -> None:
    page = (PROJECT / "docs" / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^\.\. auto\w+:: attendo\.(\w+)(?:\(\))?$", page, flags=re.MULTILINE)
    assert sorted(names) == [name for name in attendo.__all__ if name != "__version__"]


@pytest.fixture(scope="module")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.skip("build/site is not there: make docs builds it")
    return SITE


class Fetched(HTMLParser):
    """The addresses that a browser fetches when it shows a page, and those that the page links to."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.fetched += [given[name] for name in ("src", "srcset", "poster", "data") if name in given]
        if tag == "link":
            self.fetched.append(given.get("href", ""))
        self.links += [given["href"]] if tag == "a" and "href" in given else []


def read(path: Path) -> Fetched:
    parser = Fetched()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def is_elsewhere(address: str) -> bool:
    return re.match(r"(?:[a-z]+:)?//", address) is not None


def test_no_page_fetches_anything_from_the_network(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    fetched = {page.name: address for page in pages for address in read(page).fetched if is_elsewhere(address)}
    assert fetched == {}
    for sheet in site.rglob("*.css"):
        addresses = re.findall(r"(?:@import\s+|url\(\s*)[\"']?([^\"')\s]+)", sheet.read_text(encoding="utf-8"))
        assert [address for address in addresses if is_elsewhere(address)] == [], sheet.name


def test_the_first_page_leads_to_the_four_entry_points(site: Path) -> None:
    links = read(site / "index.html").links
    for page in ("translating", "own-data", "paper", "serving"):
        assert f"docs/{page}.html" in links


def test_links_into_the_code_lead_to_their_lines(site: Path) -> None:
    links = [link for link in read(site / "docs" / "paper.html").links if link.startswith("../code/")]
    assert len(links) > 50
    for link in links:
        path, _, line = link.partition("#")
        code = (site / "docs" / path).resolve().read_text(encoding="utf-8")
        assert not line or f'id="{line}"' in code, link


def test_the_site_works_in_a_browser_without_network(site: Path) -> None:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    requests: list[str] = []
    with chromium_browser() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / "index.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is as wide as a phone"
        page.goto((site / "search.html").as_uri() + "?q=beam_size")
        page.get_by_role("link", name="attendo.decoding.config.SearchConfig.beam_size").click()
        assert page.url.endswith("api.html#attendo.decoding.config.SearchConfig.beam_size")
    assert {address.split(":")[0] for address in requests} <= {"file", "data"}
