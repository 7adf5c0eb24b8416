"""The page in Chromium over a real server with the shipped models, driven as people would: mouse, keyboard, phone.

Skipped where Playwright (in the extra `dev`) or Chromium (`apt-get install chromium`) is missing.
"""

import io
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser import chromium_browser
from tests.serving.live import Live, live
from tests.tiny_parser import random_parser

from attendo.checkpoint.finding import shipped_models
from attendo.workflow.confidence import read_calibration

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed, which drives the browser: pip install playwright"
)

playwright.expect.set_options(timeout=120_000)  # a busy machine is no fault of the page's

Open = Callable[..., Any]
SLOW = pytest.mark.slow

ONE = "The house is old."
TWO = "The house is old. I like it very much."


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with chromium_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    parser = random_parser(tmp_path_factory.mktemp("parser"), "")
    with live(["en-de", "de-en", f"trees={parser}"], "models.eager=true") as running:
        yield running


@pytest.fixture
def open_page(chromium: Any, server: Live) -> Iterator[Open]:
    """Opens the page; at the end nothing may have been complained about, or asked of anybody else."""
    complaints: list[str] = []
    requests: list[str] = []
    contexts = []

    def open_page(fragment: str = "", *, before: Callable[[Any], None] | None = None, **options: Any) -> Any:
        contexts.append(chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options}))
        page = contexts[-1].new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        if before:
            before(page)
        page.goto(f"{server.url}/{fragment}")
        until(page, "document.querySelector('#server').textContent !== ''")
        return page

    yield open_page
    for context in contexts:
        context.close()
    # That a request failed is told by the browser itself, where a test has it fail.
    assert [complaint for complaint in complaints if "Failed to load resource" not in complaint] == []
    assert all(url.startswith((server.url, "blob:")) for url in requests)


def until(page: Any, condition: str) -> None:
    """Waits for what a script says; Playwright's own way to wait is forbidden by the page's policy, as it should be."""
    end = time.monotonic() + 120
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def until_asked(page: Any, held: list[Any]) -> None:
    """Waits until a request is held back; it may come later than what the page shows by then."""
    end = time.monotonic() + 120
    while not held:
        assert time.monotonic() < end
        page.wait_for_timeout(20)


def translated(page: Any, text: str, source: str = "en", target: str = "de") -> Any:
    """The API's answer for a text, after the page shows its translation."""
    answer = server_answer(page, text, source, target)
    playwright.expect(page.locator("#output")).to_have_text(answer["text"])
    return answer


def server_answer(page: Any, text: str, source: str = "en", target: str = "de") -> Any:
    body = {"text": text, "source": source, "target": target, "alignment": True}
    return page.request.post(f"{page.url.split('#')[0]}api/translate", data=body).json()["translations"][0]


def test_what_is_typed_is_translated_without_a_button(open_page: Open) -> None:
    page = open_page()
    playwright.expect(page.get_by_role("textbox", name="Text to translate")).to_be_focused()
    page.keyboard.type(ONE)
    answer = translated(page, ONE)
    playwright.expect(page.locator("#detected")).to_have_text("Detected: English")
    playwright.expect(page.locator("#count")).to_have_text(f"{len(ONE)} / 20,000")
    assert page.locator("#output").get_attribute("lang") == "de"
    assert page.locator("#source").get_attribute("lang") == "en"
    playwright.expect(page.get_by_role("status")).to_contain_text(answer["text"])
    page.get_by_role("button", name="Clear the text").click()
    playwright.expect(page.locator("#output")).to_have_text("")
    playwright.expect(page.get_by_role("textbox", name="Text to translate")).to_be_focused()


def test_only_the_newest_text_counts(open_page: Open) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        if ONE in route.request.post_data:
            held.append(route)  # is never answered
        else:
            route.continue_()

    page = open_page(before=lambda page: page.route("**/api/translate", hold))
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.post_data_json["text"][0]))
    page.fill("#source", ONE)
    playwright.expect(page.locator("#working")).to_be_visible()
    until_asked(page, held)
    page.fill("#source", "I am here.")
    playwright.expect(page.locator("#output")).to_contain_text("Ich")
    playwright.expect(page.locator("#working")).to_be_hidden()
    assert failed == [ONE], "the older request was cancelled"


@pytest.mark.slow
def test_typing_on_asks_once(open_page: Open) -> None:
    asked: list[str] = []
    page = open_page()
    page.on("request", lambda request: asked.append(f"{request.url} {request.post_data}"))
    page.locator("#source").press_sequentially("I am here.", delay=10)
    page.wait_for_selector(".said")
    assert len([one for one in asked if "/api/translate" in one and "alignment" in one]) == 1


@pytest.mark.slow
def test_a_paragraph_that_did_not_change_is_not_asked_for_again(open_page: Open) -> None:
    bodies: list[list[str]] = []
    page = open_page()

    def hear(request: Any) -> None:
        if request.url.endswith("/api/translate") and request.post_data_json.get("alignment"):
            bodies.append(request.post_data_json["text"])

    page.on("request", hear)
    page.fill("#source", "I am here.\n\n  You are there.\n")
    until(page, "document.querySelectorAll('.said').length === 2")
    page.fill("#source", "I am here.\n\n  She is there.\n")
    until(page, "document.querySelector('#output').textContent.includes('Sie ist')")
    assert bodies == [["I am here.", "You are there.\n"], ["She is there.\n"]]
    shown = page.locator("#output").text_content()
    first, second = (server_answer(page, text)["text"] for text in ("I am here.", "She is there."))
    assert shown == f"{first}\n\n  {second}\n", "what stands between paragraphs stays"


@pytest.mark.slow
def test_a_long_text_comes_sentence_by_sentence(open_page: Open) -> None:
    text = " ".join(f"I have {number} old books at home." for number in range(2, 40))
    page = open_page()
    with page.expect_request(lambda request: "stream" in (request.post_data or "")):
        page.fill("#source", text)
    until(page, "document.querySelectorAll('.said').length === 38")
    translated(page, text)
    assert "long" in (page.locator("#view-text").get_attribute("class") or "")


def test_a_word_shows_where_it_comes_from(open_page: Open) -> None:
    text = "😀 The house is old. 😀 I like it very much."  # places are counted otherwise in Python and in JavaScript
    page = open_page()
    page.fill("#source", text)
    answer = translated(page, text)
    links = [link for segment in answer["segments"] for link in segment["alignment"]]
    assert len(links) > 6
    for link in (links[1], links[-2]):
        word = answer["text"][slice(*link["target"])]
        words = page.locator("#output .word")
        place = [words.nth(number).text_content() for number in range(words.count())].index(word)
        words.nth(place).hover()
        expected = [text[slice(*other["source"])] for other in links if other["target"] == link["target"]]
        assert page.locator("#mirror .linked").all_text_contents() == expected
        assert page.locator("#output .linked").all_text_contents() == [word]
    page.mouse.move(5, 5)
    assert page.locator(".linked").count() == 0


@pytest.mark.slow
def test_pointing_into_the_source_works_too(open_page: Open) -> None:
    page = open_page()
    page.fill("#source", TWO)
    answer = translated(page, TWO)
    box = page.locator("#mirror .word", has_text="house").bounding_box()
    field = page.locator("#source").bounding_box()
    assert field["x"] < box["x"] < field["x"] + field["width"], "the field lies over its mirror"
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    links = answer["segments"][0]["alignment"]
    expected = [answer["text"][slice(*link["target"])] for link in links if TWO[slice(*link["source"])] == "house"]
    assert page.locator("#output .linked").all_text_contents() == expected
    page.locator("#source").focus()
    page.evaluate("document.querySelector('#source').setSelectionRange(6, 6)")
    until(page, "document.querySelectorAll('#mirror .linked').length === 1")
    assert page.locator("#mirror .linked").text_content() == "house", "the caret points too, for who has no mouse"


@pytest.mark.slow
def test_the_mirror_breaks_lines_where_the_field_does(open_page: Open) -> None:
    text = "One two three four five six seven eight nine ten.\n\n\tA tab,  two spaces and averyverylongword " + "x" * 90
    page = open_page(viewport={"width": 700, "height": 900})
    page.fill("#source", text)
    page.wait_for_selector(".said")
    heights = page.evaluate("['#source', '#mirror'].map((id) => document.querySelector(id).scrollHeight)")
    assert heights[0] == heights[1]
    assert page.evaluate(
        "document.querySelector('#source').scrollHeight <= document.querySelector('#source').clientHeight"
    )


def test_other_translations_of_a_sentence_can_be_chosen(open_page: Open) -> None:
    page = open_page()
    page.fill("#source", TWO)
    answer = translated(page, TWO)
    first, second = (segment["target"]["text"] for segment in answer["segments"])
    page.locator(".said").nth(1).click()
    playwright.expect(page.get_by_role("heading", name="Sentence 2 of 2")).to_be_visible()
    choices = page.get_by_role("radio")
    until(page, "document.querySelectorAll('.choice').length > 1")
    texts = page.locator(".choice").all_text_contents()
    assert texts[0] == second
    assert len(set(texts)) == len(texts)
    choices.nth(1).check()
    playwright.expect(page.locator("#output")).to_have_text(f"{first} {texts[1]}")
    assert page.locator("#sentence-confidence").is_hidden(), "how sure it is of another one is not known"
    page.locator(".said").first.click()
    playwright.expect(page.locator(".choice").first).to_have_text(first)
    page.locator(".said").nth(1).click()
    playwright.expect(page.locator(".choice")).to_have_count(len(texts))
    page.get_by_role("radio").first.check()
    playwright.expect(page.locator("#output")).to_have_text(answer["text"])
    assert page.locator("#sentence-confidence").is_visible()
    assert page.locator("#output .word").count() > 6


def test_confidence_is_the_servers_and_is_explained(open_page: Open) -> None:
    page = open_page()
    text = f"{ONE} The violin maker taps each plank with his knuckle and discards those that sound dull."
    page.fill("#source", text)
    answer = translated(page, text)
    sure, doubtful = (segment["confidence"] for segment in answer["segments"])
    assert sure > 0.8
    assert doubtful < 0.5
    assert "level-high" in page.locator(".said").nth(0).get_attribute("class")
    assert "level-low" in page.locator(".said").nth(1).get_attribute("class")
    summary = page.locator("#open-confidence")
    playwright.expect(summary).to_contain_text(f"{round(100 * answer['confidence'])}\u00a0%")
    playwright.expect(summary).to_contain_text("1 of 2 sentences doubtful")
    page.locator(".said").nth(1).click()
    playwright.expect(page.locator("#sentence-meaning")).to_contain_text(f"{round(100 * doubtful)}\u00a0%")
    page.locator("#sentence-before").click()
    playwright.expect(page.locator("#sentence-meaning")).to_contain_text("came close to a person's")
    summary.click()
    stored = read_calibration(shipped_models()["en-de"])
    assert stored is not None
    bins = stored.measured[0].confidence.bins
    playwright.expect(page.locator(".curve .point")).to_have_count(len(bins))
    rows = page.locator("#confidence-content table").first.locator("tbody tr")
    page.get_by_text("The curve as numbers").click()
    for number, one in enumerate(bins):
        told = f"{round(100 * one.confidence)}\u00a0%", f"{round(100 * one.share)}\u00a0%"
        assert tuple(rows.nth(number).locator("th, td").all_text_contents()[:2]) == told
    page.keyboard.press("Escape")
    playwright.expect(page.locator("#confidence")).to_be_hidden()


@pytest.mark.slow
def test_without_a_calibration_no_confidence_is_shown(open_page: Open) -> None:
    def uncalibrated(route: Any) -> None:
        answer = route.fetch()
        told = answer.json()
        for translation in told["translations"]:
            translation["confidence"] = None
            for segment in translation["segments"]:
                segment["confidence"] = None
        route.fulfill(response=answer, json=told)

    page = open_page(before=lambda page: page.route("**/api/translate", uncalibrated))
    page.fill("#source", ONE)
    page.wait_for_selector(".said")
    playwright.expect(page.locator("#sentence")).to_be_visible()
    assert page.locator("#open-confidence").is_hidden()
    assert page.locator("#sentence-confidence").is_hidden()
    assert page.locator(".level-high, .level-medium, .level-low").count() == 0


def test_the_attention_of_a_sentence_opens(open_page: Open) -> None:
    page = open_page()
    page.fill("#source", ONE)
    answer = translated(page, ONE)
    page.get_by_role("button", name="Show attention").click()
    frame = page.frame_locator("#attention-frame")
    frame.locator("#lines path").first.wait_for()
    assert frame.locator("dd").all_text_contents() == [ONE, answer["text"]]
    frame.get_by_role("radio", name="Heat map").check()
    playwright.expect(frame.locator("#map canvas")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    playwright.expect(page.locator("#attention")).to_be_hidden()


@pytest.mark.slow
def test_languages_are_detected_swapped_and_kept(open_page: Open) -> None:
    page = open_page()
    page.fill("#source", "Das Haus ist sehr alt und ich mag es nicht.")
    playwright.expect(page.locator("#detected")).to_have_text("Detected: German")
    playwright.expect(page.locator("#target-language")).to_have_value("en")
    page.wait_for_selector(".said")
    english = page.locator("#output").text_content()
    page.get_by_role("button", name="Swap languages").click()
    playwright.expect(page.locator("#source")).to_have_value(english)
    playwright.expect(page.locator("#source-language")).to_have_value("en")
    playwright.expect(page.locator("#target-language")).to_have_value("de")
    translated(page, english)
    page.fill("#source", "Ich habe gestern ein neues Buch gelesen.")
    page.get_by_role("button", name="Translate from German").click()
    playwright.expect(page.locator("#source-language")).to_have_value("de")
    translated(page, "Ich habe gestern ein neues Buch gelesen.", "de", "en")
    page.reload()
    playwright.expect(page.locator("#source-language")).to_have_value("de")


@pytest.mark.slow
def test_history_is_kept_restored_and_deleted(open_page: Open) -> None:
    page = open_page()
    page.fill("#source", ONE)
    answer = translated(page, ONE)
    until(page, "(localStorage.getItem('attendo.history') ?? '').includes('house')")
    page.reload()
    page.wait_for_selector("#languages:not([hidden])")
    page.get_by_role("button", name="History").click()
    playwright.expect(page.locator(".entry")).to_have_count(1)
    page.locator(".entry").click()
    playwright.expect(page.locator("#source")).to_have_value(ONE)
    playwright.expect(page.locator("#output")).to_have_text(answer["text"])
    page.get_by_role("button", name="History").click()
    page.get_by_role("button", name=f"Delete: {ONE}").click()
    playwright.expect(page.get_by_text("Nothing yet.")).to_be_visible()
    assert json.loads(page.evaluate("localStorage.getItem('attendo.history')")) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("checkbox", name="Keep a history in this browser").uncheck()
    page.keyboard.press("Escape")
    page.fill("#source", "I am here.")
    until(page, "document.querySelector('#output').textContent.startsWith('Ich')")
    page.wait_for_timeout(2500)
    assert json.loads(page.evaluate("localStorage.getItem('attendo.history')")) == []


@pytest.mark.slow
def test_colours_follow_the_system_or_the_person(open_page: Open) -> None:
    page = open_page(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Dark colours").click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("combobox", name="Colours").select_option("as the system")
    assert page.evaluate(ground) == dark


def test_all_of_it_can_be_done_with_the_keyboard(open_page: Open) -> None:
    page = open_page()
    page.keyboard.type(TWO)
    until(page, "document.querySelectorAll('.said').length === 2")
    page.keyboard.press("Alt+Shift+KeyT")
    playwright.expect(page.locator(".said").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    playwright.expect(page.locator(".said").nth(1)).to_be_focused()
    assert "Sentence 2 of 2" in page.locator(".said").nth(1).get_attribute("aria-label")
    page.keyboard.press("Enter")
    playwright.expect(page.get_by_role("radio").first).to_be_focused()
    until(page, "document.querySelectorAll('.choice').length > 1")
    page.keyboard.press("ArrowDown")
    playwright.expect(page.get_by_role("radio").nth(1)).to_be_checked()
    playwright.expect(page.get_by_role("radio").nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    playwright.expect(page.locator("#sentence")).to_be_hidden()
    playwright.expect(page.locator(".said").nth(1)).to_be_focused()
    page.keyboard.press("Alt+Shift+KeyS")
    playwright.expect(page.locator("#source-language")).to_have_value("de")
    page.keyboard.press("Alt+Shift+KeyX")
    playwright.expect(page.locator("#source")).to_have_value("")
    page.keyboard.press("Alt+Shift+KeyK")
    playwright.expect(page.get_by_role("dialog")).to_contain_text("swap the languages")


@pytest.mark.slow
def test_a_busy_server_is_asked_again_and_a_failing_one_told_of(open_page: Open) -> None:
    answers = [(503, "1"), (500, None), (200, None)]

    def failing(route: Any) -> Any:
        status, after = answers[0]
        if len(answers) > 1:
            answers.pop(0)
        if status == 200:
            return route.continue_()
        error = {"error": {"code": "busy", "message": f"It is made to fail, {status}."}}
        return route.fulfill(status=status, json=error, headers={"Retry-After": after} if after else {})

    page = open_page(before=lambda page: page.route("**/api/translate", failing))
    page.fill("#source", ONE)
    playwright.expect(page.locator("#status")).to_contain_text("trying again in 1 seconds")
    playwright.expect(page.get_by_role("alert")).to_contain_text("It is made to fail, 500.")
    page.get_by_role("button", name="Try again").click()
    translated(page, ONE)
    playwright.expect(page.locator("#problem")).to_be_hidden()


@pytest.mark.slow
def test_a_server_that_is_gone_is_told_of(open_page: Open) -> None:
    page = open_page()
    page.route("**/api/**", lambda route: route.abort())
    page.fill("#source", ONE)
    playwright.expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")


@pytest.mark.slow
def test_text_beyond_the_limit_is_not_sent(open_page: Open) -> None:
    page = open_page()
    page.fill("#source", "word " * 4001)
    playwright.expect(page.get_by_role("alert")).to_contain_text("20,005 characters of 20,000 at most")


@pytest.mark.slow
def test_a_key_is_asked_for_where_one_is_needed(open_page: Open) -> None:
    keys: list[str | None] = []

    def locked(route: Any) -> None:
        keys.append(route.request.headers.get("authorization"))
        if keys[-1] == "Bearer secret":
            route.continue_()
        else:
            route.fulfill(status=401, json={"error": {"code": "unauthorized", "message": "A key is needed."}})

    page = open_page(before=lambda page: page.route("**/api/translate", locked))
    page.select_option("#source-language", "en")
    page.fill("#source", ONE)
    field = page.get_by_role("textbox", name="API key")
    playwright.expect(field).to_be_focused()
    field.fill("secret")
    page.get_by_role("button", name="Done").click()
    page.wait_for_selector(".said")
    assert keys[0] is None
    assert "Bearer secret" in keys


def test_documents_are_translated_and_saved(open_page: Open, tmp_path: Path) -> None:
    page = open_page("#documents")
    page.select_option("#source-language", "en")
    page.set_input_files("#file", {"name": "a letter.txt", "mimeType": "text/plain", "buffer": f"{ONE}\n".encode()})
    save = page.get_by_role("button", name="Save the translation of a letter.txt")
    save.wait_for()
    with page.expect_download() as download:
        save.click()
    download.value.save_as(tmp_path / "saved")
    expected = server_answer(page, ONE)["text"]
    assert (tmp_path / "saved").read_text(encoding="utf-8").strip() == expected
    assert download.value.suggested_filename.endswith(".txt")
    page.set_input_files("#file", {"name": "torn.docx", "mimeType": "", "buffer": b"no document at all"})
    page.locator(".state.bad").wait_for()
    page.get_by_role("button", name="Remove torn.docx").click()
    page.get_by_role("button", name="Remove a letter.txt").click()
    playwright.expect(page.locator(".document")).to_have_count(0)


def test_what_is_typed_while_the_page_still_loads_is_translated(server: Live, open_page: Open) -> None:
    def type_at_once(page: Any) -> None:
        held: list[Any] = []
        page.route("**/api/settings", lambda route: held.append(route))  # Playwright cannot wrap a method of a list
        page.goto(server.url)
        page.fill("#source", ONE)
        until_asked(page, held)
        assert page.get_attribute("#output", "data-placeholder") is None  # nothing has heard the typing
        held.pop().continue_()

    page = open_page("#text", before=type_at_once)  # the same document, so that nothing is loaded again
    translated(page, ONE)


def test_a_new_glossary_keeps_what_is_written_before_the_list_has_come(open_page: Open) -> None:
    held: list[Any] = []
    page = open_page("#glossary", before=lambda page: page.route("**/api/glossaries", lambda route: held.append(route)))
    page.get_by_label("Name").fill("Travel")
    page.get_by_role("textbox", name="Term", exact=True).fill("station")
    until_asked(page, held)
    with page.expect_response("**/api/glossaries"):
        held.pop().continue_()
    until(page, "document.querySelector('#glossary-edit').options.length === 1")
    playwright.expect(page.get_by_label("Name")).to_have_value("Travel")
    playwright.expect(page.get_by_role("textbox", name="Term", exact=True)).to_have_value("station")


def test_nothing_is_written_into_a_glossary_that_is_on_its_way(server: Live, open_page: Open) -> None:
    terms = [{"source": "house", "target": "Haus"}, {"source": "dog", "target": "Hund"}]
    made = server.ask("POST", "/api/glossaries", {"name": "Slow", "source": "en", "target": "de", "terms": terms}).json
    held: list[Any] = []
    page = open_page("#glossary")
    page.route(f"**/api/glossaries/{made['id']}", lambda route: held.append(route))
    term = page.get_by_label("Term", exact=True)
    page.focus("#glossary-edit")
    page.select_option("#glossary-edit", label="Slow (en → de)")
    until_asked(page, held)
    term.first.press_sequentially("lost?")
    playwright.expect(term.first).to_have_value("")  # what could be written now would be overwritten
    held.pop().continue_()
    playwright.expect(term).to_have_count(2)
    playwright.expect(page.locator("#glossary-edit")).to_be_focused()
    page.get_by_role("button", name="Remove the term").first.click()
    page.select_option("#glossary-edit", label="a new one")
    page.select_option("#glossary-edit", label="Slow (en → de)")
    until_asked(page, held)
    held.pop().abort()
    playwright.expect(page.locator("#glossary-state")).to_contain_text("The server does not answer.")
    playwright.expect(page.locator("#glossary-edit")).to_have_value("")
    playwright.expect(page.get_by_label("Name")).to_have_value("")
    assert server.ask("DELETE", f"/api/glossaries/{made['id']}").status in (200, 204)


def test_a_glossary_is_edited_and_used(open_page: Open) -> None:
    page = open_page("#glossary")
    page.select_option("#source-language", "en")
    page.select_option("#target-language", "de")
    page.get_by_label("Name").fill("Travel")
    page.get_by_role("textbox", name="Term", exact=True).fill("station")
    page.get_by_role("textbox", name="Translation", exact=True).fill("Haltestelle")
    page.set_input_files("#glossary-file", {"name": "more.csv", "mimeType": "", "buffer": b"house,Haus\nempty,\n"})
    state = page.locator("#glossary-state")
    playwright.expect(state).to_have_text(
        "1 term read, not saved yet. line 2: has no translation of 'empty'; the entry is left out"
    )
    page.get_by_role("button", name="Save").click()
    playwright.expect(state).to_have_text("Saved: 2 terms.")
    page.evaluate("location.hash = 'text'")
    page.fill("#source", "Where is the station?")
    playwright.expect(page.locator("#output")).to_contain_text("die Haltestelle?")
    page.select_option("#glossary", label="none")
    playwright.expect(page.locator("#output")).not_to_contain_text("Haltestelle")
    page.evaluate("location.hash = 'glossary'")
    page.select_option("#glossary-edit", label="Travel (en → de)")
    playwright.expect(page.get_by_role("textbox", name="Term", exact=True).nth(1)).to_have_value("house")
    page.get_by_role("button", name="Remove the term").first.click()
    page.get_by_role("button", name="Save").click()
    playwright.expect(state).to_have_text("Saved: 1 term.")
    page.get_by_role("button", name="Delete").click()
    playwright.expect(state).to_have_text("Deleted.")
    playwright.expect(page.locator("#glossary-field")).to_be_hidden()


PO = f"""msgid ""
msgstr "Language: \\n"

msgid "{ONE}"
msgstr ""

msgid "yes"
msgstr "ja"

#, max-length:2
msgid "The old house"
msgstr ""

msgid "A key: {"abcdefghij" * 30} is here."
msgstr ""
"""


@pytest.mark.parametrize(
    ("width", "colours"),
    [(1280, "light"), (390, "dark"), pytest.param(1280, "dark", marks=SLOW), pytest.param(390, "light", marks=SLOW)],
)
def test_what_became_of_a_documents_messages_is_shown(
    width: int, colours: str, open_page: Open, tmp_path: Path
) -> None:
    page = open_page(
        "#documents",
        viewport={"width": width, "height": 900},
        color_scheme=colours,
        reduced_motion="reduce",
        bypass_csp=True,
    )
    page.select_option("#source-language", "en")
    page.select_option("#mark", "problems")
    page.fill("#region", "AT")
    assert {".po", ".xlf", ".docx", ".json", ".xml"} <= set(page.locator("#file").get_attribute("accept").split(","))
    page.set_input_files("#file", {"name": "app.po", "mimeType": "", "buffer": PO.encode()})
    save = page.get_by_role("button", name="Save the translation of app.po")
    save.wait_for()
    playwright.expect(page.locator(".document .state")).to_contain_text("3 messages translated, 1 kept")
    page.get_by_text("What became of the messages").click()
    rows = page.locator(".findings tbody tr")
    playwright.expect(rows).to_have_count(3)
    playwright.expect(rows.first).to_contain_text("max-length")
    playwright.expect(rows.filter(has_text=ONE)).to_contain_text("%")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the report on app.po").click()
    download.value.save_as(tmp_path / "report")
    assert len(json.loads((tmp_path / "report").read_text())["units"]) == 4
    with page.expect_download() as download:
        save.click()
    download.value.save_as(tmp_path / "saved")
    assert "Language: de_AT" in (tmp_path / "saved").read_text(encoding="utf-8")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    assert [each["id"] for each in axe.Axe().run(page).response["violations"]] == []


def test_sentences_are_drawn_as_trees(open_page: Open) -> None:
    page = open_page("#parse")
    page.get_by_role("textbox", name="Sentences to parse").fill("the old dog sees a cat")
    drawn = page.get_by_role("region", name="Picture of the tree of: the old dog sees a cat").locator("svg")
    drawn.wait_for()
    for word in ("the", "old", "dog", "sees", "a", "cat"):
        assert word in drawn.locator("text").all_text_contents()
    brackets = page.locator(".tree pre").text_content()
    assert brackets.count("(") == brackets.count(")") > 6
    assert not page.locator("#languages").is_visible()


def test_bytes_of_a_vocabulary_are_shown_as_text(open_page: Open) -> None:
    text = "<b> the house"  # the shipped vocabularies have no piece for these brackets
    page = open_page()
    page.select_option("#source-language", "en")
    page.fill("#source", text)
    page.wait_for_selector(".said")
    page.locator(".said").first.click()
    page.get_by_role("button", name="Show attention").click()
    frame = page.frame_locator("#attention-frame")
    frame.locator("#lines path").first.wait_for()
    frame.get_by_role("radio", name="Pieces").check()
    shown = frame.locator("body").inner_text()
    assert "<0x" not in shown
    assert "the house" in frame.locator("dd").first.inner_text()


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=SLOW)])
def test_a_word_of_400_letters_does_not_widen_the_page(width: int, open_page: Open) -> None:
    page = open_page(viewport={"width": width, "height": 800})
    page.fill("#source", f"The house is old. {'abcdefghij' * 40} is here. ")
    page.wait_for_selector(".said")
    for number in range(page.locator(".said").count()):
        page.locator(".said").nth(number).click()
        playwright.expect(page.locator("#sentence")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("location.hash = 'parse'")
    page.fill("#parse-source", f"the {'abcdefghij' * 40} sees a cat")
    page.locator(".tree").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_languages_stand_above_their_panes(open_page: Open) -> None:
    page = open_page()
    for language, pane in [("#source-language", "#source-pane"), ("#target-language", "#target-pane")]:
        chooser, box = (page.locator(each).bounding_box() for each in (language, pane))
        assert abs(chooser["x"] - box["x"]) < 30
        assert abs(chooser["x"] + chooser["width"] - box["x"] - box["width"]) < 30
        assert 0 <= box["y"] - chooser["y"] - chooser["height"] < 20


@pytest.mark.parametrize("colours", ["light", pytest.param("dark", marks=SLOW)])
def test_a_tree_that_scrolls_has_a_shade_where_there_is_more(colours: str, open_page: Open) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    page = open_page("#parse", viewport={"width": 390, "height": 800}, color_scheme=colours)
    page.get_by_role("textbox", name="Sentences to parse").fill(
        "the old dog sees a cat and " * 4 + "the old dog sees a cat"
    )
    drawn = page.locator(".tree .scroll").first
    drawn.wait_for()
    assert drawn.evaluate("(box) => box.scrollWidth > box.clientWidth + 100")

    def edges() -> tuple[bool, bool]:
        """Whether the left and the right edge differ from the ground between them, above the tree's words."""
        shot = image.open(io.BytesIO(drawn.screenshot())).convert("RGB")
        height, width = shot.height // 2, shot.width
        row = [shot.getpixel((x, height)) for x in range(width)]
        ground = max(set(row), key=row.count)
        return row[1] != ground, row[width - 2] != ground

    assert edges() == (False, True)
    drawn.evaluate("(box) => { box.scrollLeft = 60; }")
    assert edges() == (True, True)
    drawn.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
    assert edges() == (True, False)


def test_a_language_that_is_not_served_is_told(open_page: Open) -> None:
    page = open_page()
    page.fill("#source", "Je voudrais savoir pourquoi le train est encore en retard.")
    playwright.expect(page.locator("#detected")).to_have_text("This looks like French, which is not served here.")
    assert page.locator(".said").count() == 0


@pytest.mark.slow
def test_what_a_stranger_types_is_text(open_page: Open) -> None:
    text = "<img src=x onerror=alert(1)> <script>alert(2)</script> The house is old."
    page = open_page()
    page.fill("#source", text)
    page.wait_for_selector(".said")
    assert page.locator("#output img, #output script, #mirror img").count() == 0
    assert page.locator("#mirror").text_content().rstrip("\u200b") == text


@pytest.mark.parametrize("width", [pytest.param(320, marks=SLOW), 390, pytest.param(768, marks=SLOW)])
def test_it_fits_a_phone(width: int, open_page: Open) -> None:
    page = open_page(viewport={"width": width, "height": 800}, has_touch=True, is_mobile=True)
    page.fill("#source", f"{TWO} Donaudampfschifffahrtsgesellschaftskapitaenswitwenrentenauszahlungsstelle{'x' * 60}")
    page.wait_for_selector(".said")
    page.locator(".said").first.tap()
    playwright.expect(page.locator("#sentence")).to_be_visible()
    for fragment in ("text", "documents", "glossary", "parse"):
        page.evaluate(f"location.hash = '{fragment}'")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, fragment
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select, a, input")].filter((one) => one.checkVisibility() &&
        !one.closest("p, footer, label") && Math.min(one.offsetWidth, one.offsetHeight) < 24).map((one) => one.id)"""
    )
    assert small == [], "WCAG 2.5.8: as large as a fingertip needs"


@pytest.mark.parametrize(
    ("width", "colours"),
    [(1280, "light"), (390, "dark"), pytest.param(1280, "dark", marks=SLOW), pytest.param(390, "light", marks=SLOW)],
)
def test_nothing_bars_anybody(width: int, colours: str, open_page: Open) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(
        color_scheme=colours, viewport={"width": width, "height": 900}, reduced_motion="reduce", bypass_csp=True
    )
    found: dict[str, list[str]] = {}

    def look(state: str) -> None:
        violations = axe.Axe().run(page).response["violations"]
        found[state] = [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in violations]

    look("empty")
    page.fill("#source", f"{TWO} The violin maker taps each plank with his knuckle and discards those that sound dull.")
    page.wait_for_selector(".said")
    page.locator(".said").nth(1).click()
    until(page, "document.querySelectorAll('.choice').length > 1")
    page.locator("#output .word").nth(1).hover()
    look("a sentence")
    for opener, dialog in [
        ("#open-confidence", ".curve"),
        ("#open-history", "#history"),
        ("#open-keys", "#keys"),
        ("#open-settings", "#theme"),
    ]:
        page.locator(opener).click()
        page.locator(dialog).wait_for()
        look(opener)
        page.keyboard.press("Escape")
    page.evaluate("location.hash = 'documents'")
    page.set_input_files("#file", {"name": "torn.docx", "mimeType": "", "buffer": b"no document at all"})
    page.locator(".state.bad").wait_for()
    look("documents")
    page.evaluate("location.hash = 'glossary'")
    page.get_by_role("button", name="Add a term").click()
    look("glossary")
    page.evaluate("location.hash = 'parse'")
    page.fill("#parse-source", "the old dog sees a cat")
    page.locator(".tree svg").first.wait_for()
    look("trees")
    assert found == {state: [] for state in found}
