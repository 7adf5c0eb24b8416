"""The documentation as a site: its navigation, its reference, and the pages that scripts/docs has built.

Links and anchors are checked while it is built: a warning is an error there.
"""

import re
import tomllib
from collections import Counter
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


def addresses(page: Path, tags: str, attributes: str) -> list[str]:
    """The values of attributes of tags, both as alternatives of a regular expression."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(rf"<(?:{tags})(\s[^>]*)>", text)
    return [value for tag in found for value in re.findall(rf'\s(?:{attributes})="([^"]*)"', tag)]


def fetched(page: Path) -> list[str]:
    """What a browser fetches to show a page."""
    return addresses(page, "link", "href") + addresses(page, r"[a-z]+", "src|srcset|poster|data")


def is_elsewhere(address: str) -> bool:
    return re.match(r"(?:[a-z]+:)?//", address) is not None


def test_no_page_fetches_anything_from_the_network(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    assert sum(len(fetched(page)) for page in pages) > len(pages), "style sheets, scripts and pictures are found"
    assert {page.name: address for page in pages for address in fetched(page) if is_elsewhere(address)} == {}
    for sheet in site.rglob("*.css"):
        used = re.findall(r"(?:@import\s+|url\(\s*)[\"']?([^\"')\s]+)", sheet.read_text(encoding="utf-8"))
        assert [address for address in used if is_elsewhere(address)] == [], sheet.name


def test_the_first_page_leads_to_the_four_entry_points(site: Path) -> None:
    links = addresses(site / "index.html", "a", "href")
    for page in ("translating", "own-data", "paper", "serving"):
        assert f"docs/{page}.html" in links


def test_links_into_the_code_lead_to_their_lines(site: Path) -> None:
    links = [link for link in addresses(site / "docs" / "paper.html", "a", "href") if link.startswith("../code/")]
    assert len(links) > 50
    for link in links:
        path, _, line = link.partition("#")
        code = (site / "docs" / path).resolve().read_text(encoding="utf-8")
        assert not line or f'id="{line}"' in code, link


def test_code_in_docstrings_is_shown_as_it_stands(site: Path) -> None:
    page = (site / "docs" / "api.html").read_text(encoding="utf-8")
    assert r">\r\n</span>" in page, "Engine.translate names the line ends that it keeps"
    assert 'href="#attendo.SearchSettings"' in page, "and names are links"


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
