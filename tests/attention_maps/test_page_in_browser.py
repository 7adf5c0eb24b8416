"""The page in Chromium, driven as readers would: mouse, keyboard, links, light and dark, what a screen reader hears.

Skipped where Playwright (in the extra `dev`) or Chromium (`apt-get install chromium`) is missing.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser import chromium_browser

from attendo.attention_maps.page import to_html
from attendo.attention_maps.view import View
from attendo.attention_maps.weights import AttentionMap
from attendo.attention_maps.words import joined

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed, which drives the browser: pip install playwright"
)

MakeMap = Callable[..., AttentionMap]
Open = Callable[..., Any]

SOURCE = ("▁The", "▁ani", "mal", "▁slept", ".", "</s>")
TARGET = ("▁Das", "▁Tier", "▁schl", "ief", ".", "</s>")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with chromium_browser() as browser:
        yield browser


@pytest.fixture
def attention(random_map: MakeMap) -> AttentionMap:
    return random_map(SOURCE, TARGET, 4)


@pytest.fixture
def open_page(chromium: Any, attention: AttentionMap, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a map; at the end nothing may have been complained about or asked for."""
    complaints: list[str] = []
    requests: list[str] = []
    contexts = []

    def open_page(fragment: str = "", shown: AttentionMap = attention, view: View | None = None, **options: Any) -> Any:
        path = tmp_path / "attention.html"
        path.write_text(to_html(shown, view), encoding="utf-8")
        contexts.append(chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("main:not([hidden])")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert all(url.startswith("file:") and url.split("#")[0].endswith("/attention.html") for url in requests)


def title(page: Any) -> str:
    return str(page.locator("#detail-title").text_content())


def fields(page: Any) -> dict[str, str]:
    return dict(part.split("=") for part in page.url.split("#")[1].split("&"))


def test_the_pickers_choose_what_is_shown(open_page: Open) -> None:
    page = open_page()
    assert title(page) == "Encoder-decoder attention, layer 2, all 4 heads"
    page.get_by_role("radio", name="Encoder", exact=True).check()
    assert title(page) == "Encoder self-attention, layer 1, all 4 heads"
    page.get_by_role("radio", name="Decoder", exact=True).check()
    page.get_by_role("combobox", name="Layer").select_option("2 of 2")
    page.locator("#chips").get_by_role("button", name="head 3").click()
    assert title(page) == "Decoder self-attention, layer 2, heads 1, 2, 4"
    page.locator("#heads").get_by_role("button", name="layer 1, head 2").click()
    assert title(page) == "Decoder self-attention, layer 1, head 2"
    page.locator("#heads").get_by_role("button", name="layer 1, head 4").click(modifiers=["Shift"])
    assert title(page) == "Decoder self-attention, layer 1, heads 2, 4"
    pressed = page.locator("#heads .map[aria-pressed=true]").evaluate_all("maps => maps.map((map) => map.ariaLabel)")
    assert [label.split(";")[0] for label in pressed] == ["layer 1, head 2", "layer 1, head 4"]
    page.get_by_role("button", name="layer 2", exact=True).click()
    assert title(page) == "Decoder self-attention, layer 2, all 4 heads"
    page.get_by_role("radio", name="Heat map").check()
    assert page.locator("#map canvas").is_visible()
    assert not page.locator("#lines").is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["words", "pieces"])
def test_the_page_has_the_maps_weights(unit: str, open_page: Open, attention: AttentionMap) -> None:
    expected = joined(attention) if unit == "words" else attention
    page = open_page(f"#unit={unit}")
    for kind in expected.kinds:
        found = page.evaluate(f"Array.from(tables.{kind}.{unit}.values)")
        # A piece is at most 1/255 off (see steps); a word's sum of two pieces at most twice that.
        weights = expected.weights(kind)
        np.testing.assert_allclose(np.reshape(found, weights.shape), weights, atol=2 / 255)
        assert page.evaluate(f"tables.{kind}.{unit}.queries") == list(expected.queries(kind))
        assert page.evaluate(f"tables.{kind}.{unit}.keys") == list(expected.keys(kind))


def test_pointing_at_a_word_shows_its_lines_alone(open_page: Open, attention: AttentionMap) -> None:
    page = open_page("#kind=encoder&heads=2")
    words = joined(attention)
    assert words.encoder is not None
    weights = words.encoder[0, 1]

    def drawn() -> int:
        paths = page.locator("#lines path").evaluate_all("paths => paths.map((path) => path.getAttribute('d'))")
        return sum(path.count("M") for path in paths)

    assert drawn() == (weights >= 0.03).sum()
    page.get_by_role("checkbox", name="Lines to </s>").uncheck()
    assert drawn() == (weights[:, :-1] >= 0.03).sum()
    assert fields(page)["ends"] == "no"
    page.locator(".query .word", has_text="animal").hover()
    assert drawn() == (weights[1] >= 0.03).sum(), "one word's lines are all drawn"
    page.get_by_role("checkbox", name="Lines to </s>").check()
    page.locator(".query .word", has_text="animal").hover()
    assert drawn() == (weights[1] >= 0.03).sum()
    best = int(weights[1].argmax())
    readout = page.locator("#readout").text_content()
    assert readout.startswith(f"animal looks at {words.source[best]} {weights[1, best]:.1f}"[:-1])
    page.mouse.move(1, 1)
    assert drawn() == (weights >= 0.03).sum()
    page.locator(".key .word", has_text="slept").click()
    page.mouse.move(1, 1)
    assert drawn() == (weights[:, 2] >= 0.03).sum(), "a click keeps it"
    assert page.locator(".key .word", has_text="slept").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    assert drawn() == (weights >= 0.03).sum()


def test_a_link_brings_the_view_back(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("radio", name="Decoder", exact=True).check()
    page.get_by_role("radio", name="Pieces").check()
    page.get_by_role("combobox", name="Layer").select_option("1 of 2")
    page.locator("#chips").get_by_role("button", name="head 2").click()
    page.locator(".query .word", has_text="ief").click()
    kept = page.url.split("#")[1]
    assert fields(page) == {
        "kind": "decoder", "layer": "1", "heads": "1,3,4", "view": "lines", "unit": "pieces", "word": "q4",
    }  # fmt: skip
    other = open_page(f"#{kept}")
    assert other.url.split("#")[1] == kept
    assert title(other) == title(page) == "Decoder self-attention, layer 1, heads 1, 3, 4"
    assert other.locator(".focused").text_content().startswith("ief")
    other.evaluate("location.hash = 'kind=encoder&layer=1&heads=4&view=maps&unit=words'")
    other.wait_for_selector("#map canvas")
    assert title(other) == "Encoder self-attention, layer 1, head 4"


@pytest.mark.slow
@pytest.mark.parametrize(
    "fragment",
    ["#kind=nothing&layer=99&heads=0,77,x&view=pie&unit=bits&word=q99", "#<script>alert(1)</script>", "#%E0%A4"],
)
def test_a_wrong_link_opens_the_page_as_it_is(fragment: str, open_page: Open) -> None:
    assert title(open_page(fragment)) == "Encoder-decoder attention, layer 2, all 4 heads"


@pytest.mark.slow
def test_pointing_at_words_does_not_write_the_address(open_page: Open) -> None:
    page = open_page()
    page.evaluate("() => { history.replaceState = () => { throw new Error('too often'); }; }")
    before = page.url
    for index in range(4):
        page.locator(".query .word").nth(index).hover()
        assert page.locator(".query .word").nth(index).get_attribute("class") == "word focused"
    page.locator(".query .word").first.click()  # where addresses are fixed the page goes on without
    assert page.locator("#readout").text_content().startswith("Das looks at ")
    assert page.url == before


@pytest.mark.slow
def test_the_link_can_be_copied_or_else_is_shown(open_page: Open) -> None:
    page = open_page("#kind=encoder&heads=2", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link to this view").click()
    playwright.expect(page.locator("#copied")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    page.get_by_role("button", name="Copy link to this view").click()
    playwright.expect(page.get_by_role("textbox", name="Link to this view")).to_have_value(page.url)


def test_the_keyboard_reaches_everything(open_page: Open) -> None:
    page = open_page()
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        place = page.evaluate(
            """() => { const at = document.activeElement;
            const list = at.closest("ol");
            if (at === document.body) return "";
            return at.id || at.name || at.ariaLabel || list?.ariaLabel || at.textContent; }"""
        )
        if not place:
            break
        reached.append(place.split(";")[0])
    assert reached == [
        "copy", "theme", "kind", "view", "unit", "layer", "head 1", "head 2", "head 3", "head 4", "all", "ends",
        "layer 1", "layer 1, head 1", "layer 2", "writes", "reads", reached[-1],
    ]  # fmt: skip
    assert page.locator("summary").text_content() == reached[-1]


@pytest.mark.slow
def test_arrow_keys_walk_over_heads_words_and_cells(open_page: Open) -> None:
    page = open_page()
    page.locator("#heads .map").first.focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert title(page) == "Encoder-decoder attention, layer 2, head 2"
    page.locator(".query .word").first.focus()
    for key in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator("#readout b").first.text_content() == "schlief"
    page.keyboard.press("ArrowRight")
    assert page.locator("#readout").text_content().startswith("slept is looked at by ")
    page.keyboard.press("Enter")
    assert fields(page)["word"] == "k3"
    page.keyboard.press("End")
    page.get_by_role("radio", name="Heat map").check()
    page.locator("#map .scroll").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert page.locator("#readout").text_content().startswith("Tier looks at animal: ")
    assert page.locator("#map .here").all_text_contents() == ["animal", "Tier"]


@pytest.mark.slow
def test_pointing_at_a_cell_tells_its_weight(open_page: Open, attention: AttentionMap) -> None:
    page = open_page("#kind=decoder&layer=1&heads=3&view=maps&unit=pieces")
    box = page.locator("#map canvas").bounding_box()
    cell = box["width"] / len(TARGET)
    page.mouse.move(box["x"] + 1.5 * cell, box["y"] + 3.5 * cell)
    weight = attention.decoder[0, 2, 3, 1]
    before, _, told = page.locator("#readout").text_content().partition(": ")
    assert before == "ief looks at ▁Das"
    assert float(told) == pytest.approx(weight, abs=0.01)
    page.mouse.move(box["x"] + 3.5 * cell, box["y"] + 1.5 * cell)
    assert page.locator("#readout").text_content() == "▁Tier looks at ▁schl: out of sight"


@pytest.mark.slow
def test_a_screen_reader_hears_what_there_is(open_page: Open, attention: AttentionMap) -> None:
    page = open_page("#kind=encoder&heads=2")
    tree = page.locator("body").aria_snapshot()
    for wanted in (
        'heading "Attention" [level=1]',
        'group "Attention"',
        'radio "Encoder" [checked]',
        'combobox "Layer"',
    ):
        assert wanted in tree
    assert 'button "head 2" [pressed]' in tree
    assert 'region "Encoder self-attention, layer 1, head 2"' in tree
    assert page.locator("#readout").get_attribute("role") == "status"
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [tabindex]")].filter((one) =>
        one.checkVisibility() && !(one.ariaLabel || one.textContent.trim() || one.labels?.length)).length"""
    )
    assert unnamed == 0
    page.locator("summary").click()
    words = joined(attention)
    assert words.encoder is not None
    rows = page.locator("#table tbody tr")
    playwright.expect(rows.locator("th")).to_have_text(list(words.source))  # the table is made when it is opened
    for row, best in enumerate(words.encoder[0, 1].argmax(axis=-1)):
        assert rows.nth(row).locator("td b").first.text_content() == words.source[best]


@pytest.mark.slow
@pytest.mark.parametrize(("system", "chosen"), [("light", ""), ("dark", ""), ("light", "dark"), ("dark", "light")])
def test_text_stands_out_light_and_dark(system: str, chosen: str, open_page: Open) -> None:
    page = open_page(color_scheme=system)
    if chosen:
        page.get_by_role("combobox", name="Theme").select_option(chosen)
    ground, text, quiet = (
        page.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
        for where, what in (("body", "backgroundColor"), ("body", "color"), ("#readout", "color"))
    )

    def luminance(colour: str) -> float:  # WCAG 2.2, relative luminance
        channels = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(", ")]
        linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert (luminance(ground) < 0.1) == ((chosen or system) == "dark")
    for colour in (text, quiet):
        high, low = sorted((luminance(colour), luminance(ground)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5  # WCAG 1.4.3


@pytest.mark.slow
def test_dark_cells_are_drawn_where_the_weights_are(open_page: Open, attention: AttentionMap) -> None:
    page = open_page("#kind=cross&layer=1&heads=1&view=maps&unit=pieces")
    opacity = page.evaluate(
        """() => { const canvas = document.querySelector("#heads .map canvas");
        const found = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return Array.from({ length: found.length / 4 }, (_, place) => found[4 * place + 3] / 255); }"""
    )
    np.testing.assert_allclose(
        np.reshape(opacity, attention.cross.shape[2:]), np.sqrt(attention.cross[0, 0]), atol=0.01
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("view", ["lines", "maps"])
def test_a_long_sentence_scrolls_within_its_panel(width: int, view: str, open_page: Open, random_map: MakeMap) -> None:
    words = tuple(f"▁Donaudampfschiff{index}" for index in range(99))
    page = open_page(
        "#view=maps" if view == "maps" else "",
        random_map((*words, "</s>"), (*words, "</s>"), 8),
        viewport={"width": width, "height": 844},
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    scroll = "#lines" if view == "lines" else "#map .scroll"
    inside, outside = (
        page.evaluate(f"document.querySelector('{scroll}').{name}Height") for name in ("scroll", "client")
    )
    assert inside > outside
    if view == "lines":
        assert not page.get_by_role("checkbox", name="Lines to </s>").is_checked()
    heights = page.locator("#lines .query .word, #map .queries > span").evaluate_all(
        "words => words.map((word) => word.getBoundingClientRect().top)"
    )
    steps = np.diff(heights[:100])
    assert steps.min() >= (20 if view == "lines" else 14), "labels do not overlap"
    if view == "maps":
        page.locator("#map .scroll").focus()
        for _ in range(60):
            page.keyboard.press("ArrowDown")
        assert page.evaluate("document.querySelector('#map .scroll').scrollTop") > 0


@pytest.mark.slow
def test_nothing_that_a_piece_holds_becomes_markup(open_page: Open, random_map: MakeMap) -> None:
    nasty = ("▁<img/src=x/onerror=alert(1)>", "</script><script>alert(2)</script>", "▁&lt;b&gt;", "\x00", "</s>")
    page = open_page("#unit=pieces", random_map(nasty, nasty))
    page.locator(".query .word").first.hover()
    page.locator("summary").click()
    assert page.locator("img, script:not([type])").count() == 1, "the page's own script"
    assert page.locator(".key .word bdi").all_text_contents() == [*nasty[:3], "[U+0000]", "</s>"]


@pytest.mark.slow
def test_without_scripts_the_page_says_what_to_do(chromium: Any, attention: AttentionMap, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(to_html(attention), encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("noscript").is_visible()
    assert not page.locator("main").is_visible()
    context.close()


@pytest.mark.slow
def test_foreign_script_does_not_run(chromium: Any, attention: AttentionMap, tmp_path: Path) -> None:
    html = to_html(attention).replace("</body>", "<script>document.title = 'foreign'</script></body>")
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page = chromium.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("main:not([hidden])")
    assert page.title() == "Attention"
    page.close()
