"""`attendo.Client` and `attendo.AsyncClient`, against a real server and against a transport that fails on purpose."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest
from tests.serving.live import Live, live

import attendo
from attendo.client.calls import DocumentOptions, Retries
from attendo.client.results import DocumentState, ServedTranslation, ServerError, TranslatedSegment
from attendo.serving.access.keys import new_key, write_keys

SECRET, KEY = new_key("the client")
AT_ONCE = Retries(chance=lambda: 0.0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    write_keys(path, [KEY])
    with live(["en-de", "de-en"], f'keys.file="{path}"') as found:
        yield found


@pytest.fixture
def client(server: Live) -> Iterator[attendo.Client]:
    with attendo.Client(server.url, key=SECRET) as found:
        yield found


# --- what it can ------------------------------------------------------------------------------------------------------


def test_texts(client: attendo.Client) -> None:
    found = client.translate("The dog is sleeping. A boat.", target="de", n_best=2, alignment=True)
    assert (str(found), found.source, found.target, found.model) == ("Der Hund schläft. Ein Boot.", "en", "de", "en-de")
    assert found.detected is not None
    assert found.detected > 0.5
    first, second = found.segments
    assert (first.source.text, second.target.text) == ("The dog is sleeping.", "Ein Boot.")
    text = "The dog is sleeping. A boat."
    assert ("boat.", "Boot.") in [(text[slice(*each.source)], found.text[slice(*each.target)]) for each in second.links]
    assert len(first.alternatives) == 1
    several = client.translate_all(["A boat.", "<b>A boat.</b>"], source="en", target="de", format="html")
    assert [each.text for each in several] == ["Ein Boot.", "<b>Ein Boot.</b>"]
    assert several[0].detected is None


def test_what_could_not_be_kept_is_in_the_answer(client: attendo.Client) -> None:
    assert client.translate("A boat.", source="en").problems == ()


def test_a_stream(client: attendo.Client) -> None:
    *segments, whole = client.stream("The dog is sleeping. A boat. I have no time.", source="en", target="de")
    assert isinstance(whole, ServedTranslation)
    assert [each.target.text for each in segments if isinstance(each, TranslatedSegment)] == [
        "Der Hund schläft.",
        "Ein Boot.",
        "Ich habe keine Zeit.",
    ]
    assert whole.segments == tuple(segments)


def test_the_others(client: attendo.Client) -> None:
    assert [each.language for each in client.detect("Ich habe keine Zeit.")] == ["de", "en"]
    assert [(each.name, each.source) for each in client.models()] == [("en-de", "en"), ("de-en", "de")]
    assert client.settings()["limits"]["max_items"] == 128
    assert client.is_ready()
    assert client.attention("A boat.", model="en-de")["source"]
    with pytest.raises(ServerError) as found:
        client.parse(["A boat."])
    assert (found.value.status, found.value.code) == (400, "unknown-pair")


def test_documents(client: attendo.Client, tmp_path: Path) -> None:
    states: list[DocumentState] = []
    path = tmp_path / "letter.txt"
    path.write_text("A boat.\n", "utf-8")
    found = client.translate_document(path, target="de", source="en", progress=states.append, poll_s=0.02)
    assert (found, states[-1].status, states[-1].name) == (b"Ein Boot.\n", "done", "letter.txt")
    state = client.send_document(b"A boat.", name="a.txt", target="de")
    client.delete_document(state.id)
    with pytest.raises(ServerError, match="no such document"):
        client.document(state.id)
    with pytest.raises(attendo.AttendoError, match="needs a name"):
        client.send_document(b"A boat.", target="de")


def test_terms_of_a_glossary_and_of_a_document(client: attendo.Client, server: Live, tmp_path: Path) -> None:
    terms = [{"source": "station", "target": "Haltestelle"}, {"source": "dog", "target": "Hund"}]
    body = {"name": "ours", "source": "en", "target": "de", "terms": terms}
    made = httpx.post(f"{server.url}/api/glossaries", json=body, headers={"Authorization": f"Bearer {SECRET}"})
    glossary = made.json()["id"]
    found = client.translate("Where is the station? I like dogs.", source="en", target="de", glossary=glossary)
    assert [(use.source, use.outcome, use.form) for use in found.terms] == [
        ("station", "forced", "Haltestelle"),
        ("dog", "inflected", "Hunde"),
    ]
    assert found.segments[1].terms == found.terms[1:]
    assert client.translate("A boat.", source="en", target="de").terms == ()

    states: list[DocumentState] = []
    (tmp_path / "en.json").write_text('{"a": "Where is the station?", "b": "A boat."}', "utf-8")
    (tmp_path / "de.json").write_text('{"a": "", "b": "Ein Kahn."}', "utf-8")
    options: DocumentOptions = {"template": tmp_path / "en.json", "glossary": glossary, "mark": "none"}
    written = client.translate_document(
        tmp_path / "de.json", target="de", source="en", progress=states.append, poll_s=0.02, **options
    )
    assert written == b'{"a": "Wo ist die Haltestelle?", "b": "Ein Kahn."}'
    assert states[0].terms == {}
    assert states[-1].terms == {"kept": 0, "inflected": 0, "forced": 1, "missed": 0}


def test_one_text_is_not_taken_for_its_letters(client: attendo.Client) -> None:
    with pytest.raises(
        TypeError, match=r"a list of texts is wanted, and this is one text: translate\(text\) translates"
    ):
        client.translate_all("A boat.")
    with pytest.raises(TypeError, match=r"this is one text: parse\(\[text\]\) parses one sentence"):
        client.parse("A boat.")


def test_the_same_with_asyncio(server: Live) -> None:
    async def work() -> None:
        async with attendo.AsyncClient(server.url, key=SECRET) as client:
            both = await asyncio.gather(*(client.translate(text, target="de") for text in ("A boat.", "Hello!")))
            assert [each.text for each in both] == ["Ein Boot.", "Hallo!"]
            assert len(await client.translate_all(["A boat.", "Hello!"], source="en")) == 2
            *_, whole = [each async for each in client.stream("A boat. Hello!", source="en", target="de")]
            assert isinstance(whole, ServedTranslation)
            assert (await client.detect("Ich habe keine Zeit."))[0].language == "de"
            assert len(await client.models()) == 2
            assert await client.is_ready()
            assert (await client.settings())["pairs"]
            assert await client.translate_document(b"A boat.", name="a.txt", target="de", poll_s=0.02) == b"Ein Boot."
            state = await client.send_document(b"A boat.", name="a.txt", target="de")
            await client.delete_document(state.id)
            with pytest.raises(ServerError):
                await client.document(state.id)
            with pytest.raises(ServerError):
                await client.parse(["A boat."])
            assert (await client.attention("A boat.", model="en-de"))["target"]

    asyncio.run(work())


def test_a_missing_or_wrong_key_is_told_at_once(server: Live) -> None:
    for key, status in ((None, 401), ("wrong", 403)):
        with attendo.Client(server.url, key=key) as client, pytest.raises(ServerError) as found:
            client.translate("A boat.", target="de")
        assert found.value.status == status


# --- what fails -------------------------------------------------------------------------------------------------------

ANSWER = {"model": "m", "source": "en", "target": "de", "detected": None, "translations": [{"text": "Ein Boot."}]}


def answers(*given: httpx.Response | Exception) -> tuple[Callable[[httpx.Request], httpx.Response], list[str]]:
    """What gives these answers, one after the other, and the paths it was asked for."""
    remaining, asked = list(given), list[str]()

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        found = remaining.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    return answer, asked


def busy(status: int = 503, **headers: str) -> httpx.Response:
    told = {"error": {"code": "busy", "message": "too much is waiting"}}
    return httpx.Response(status, json=told, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []

    async def pause(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("attendo.client.sync.sleep", found.append)
    monkeypatch.setattr("attendo.client.asynchronous.sleep", pause)
    return found


def ask(*given: httpx.Response | Exception, asynchronous: bool, retries: Retries = AT_ONCE) -> tuple[str, list[str]]:
    answer, asked = answers(*given)
    transport = httpx.MockTransport(answer)
    if not asynchronous:
        with attendo.Client("http://test.example/prefix/", transport=transport, retries=retries) as client:
            return client.translate("A boat.", target="de").text, asked

    async def work() -> str:
        async with attendo.AsyncClient("http://test.example/prefix/", transport=transport, retries=retries) as client:
            return (await client.translate("A boat.", target="de")).text

    return asyncio.run(work()), asked


both = pytest.mark.parametrize("asynchronous", [False, True])


@both
def test_what_fails_for_a_while_is_tried_again_later_and_later(asynchronous: bool, pauses: list[float]) -> None:
    failures: list[httpx.Response | Exception] = [
        busy(503),
        busy(502),
        httpx.ReadTimeout("slow"),
        httpx.ConnectError("refused"),
    ]
    text, asked = ask(*failures, httpx.Response(200, json=ANSWER), asynchronous=asynchronous)
    assert (text, asked) == ("Ein Boot.", ["/prefix/api/translate"] * 5)
    assert pauses == [0.25, 0.5, 1.0, 2.0]  # half of 0.5 s, 1 s, 2 s, 4 s: the chance is 0


@both
def test_retry_after_is_kept_to(asynchronous: bool, pauses: list[float]) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    given = busy(429, retry_after="7"), busy(503, retry_after=date), busy(503, retry_after="soon")
    ask(*given, httpx.Response(200, json=ANSWER), asynchronous=asynchronous)
    assert pauses[0] == pytest.approx(7.025)
    assert 28 < pauses[1] < 31
    assert pauses[2] == 1.0


@both
def test_it_gives_up_after_so_many_tries_and_where_it_would_wait_too_long(
    asynchronous: bool, pauses: list[float]
) -> None:
    with pytest.raises(ServerError, match="too much is waiting") as found:
        ask(*[busy()] * 3, asynchronous=asynchronous, retries=Retries(times=2, chance=lambda: 1.0))
    assert (found.value.status, found.value.code, pauses) == (503, "busy", [0.5, 1.0])
    with pytest.raises(ServerError) as found:
        ask(busy(429, retry_after="9000"), asynchronous=asynchronous)
    assert found.value.retry_after_s == 9000


@both
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 456, 500])
def test_what_would_fail_again_is_not_tried_again(asynchronous: bool, status: int, pauses: list[float]) -> None:
    with pytest.raises(ServerError) as found:
        ask(busy(status), asynchronous=asynchronous)
    assert (found.value.status, pauses) == (status, [])


@both
def test_what_is_no_attendo_is_told_so(asynchronous: bool) -> None:
    with pytest.raises(ServerError, match="is it attendo"):
        ask(httpx.Response(200, text="<html>"), asynchronous=asynchronous)
    with pytest.raises(ServerError, match="status 418"):
        ask(httpx.Response(418, text="teapot"), asynchronous=asynchronous)


def test_a_document_is_not_sent_twice_where_it_may_have_arrived(pauses: list[float]) -> None:
    answer, asked = answers(httpx.ReadTimeout("slow"))
    with attendo.Client(transport=httpx.MockTransport(answer)) as client, pytest.raises(ServerError, match="no answer"):
        client.send_document(b"A boat.", name="a.txt", target="de")
    assert (asked, pauses) == (["/api/documents"], [])
    state = {"id": "1", "name": "a.txt", "status": "queued", "progress": 0.0}
    answer, asked = answers(httpx.ConnectError("refused"), busy(), httpx.Response(202, json=state))
    with attendo.Client(transport=httpx.MockTransport(answer), retries=AT_ONCE) as client:
        assert client.send_document(b"A boat.", name="a.txt", target="de").status == "queued"
    assert len(asked) == 3


def test_an_error_in_a_stream_is_raised() -> None:
    body = b': still at work\n\nevent: error\ndata: {"error": {"code": "busy", "message": "too much"}}\n\n'
    answer, _ = answers(httpx.Response(200, content=body, headers={"content-type": "text/event-stream"}))
    with attendo.Client(transport=httpx.MockTransport(answer)) as client, pytest.raises(ServerError, match="too much"):
        list(client.stream("A boat.", target="de"))


def test_a_document_that_cannot_be_translated(pauses: list[float]) -> None:
    state = {"id": "1", "name": "a.po", "status": "queued", "progress": 0.0}
    failed = state | {"status": "error", "message": "it was stopped"}
    answer, _ = answers(httpx.Response(202, json=state), httpx.Response(200, json=failed))
    with attendo.Client(transport=httpx.MockTransport(answer)) as client, pytest.raises(ServerError, match="stopped"):
        client.translate_document(b"a", name="a.po", target="de")
    assert pauses == [1.0]


def test_an_address_that_is_none() -> None:
    with pytest.raises(attendo.AttendoError, match="is not an address"):
        attendo.Client("localhost:5000")
