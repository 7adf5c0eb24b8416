"""The text pipeline with a made-up translator whose every word is known, so that what has to come out is too."""

import asyncio
import html
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serving.made_up import MadeUp

from attendo.decoding.lines.translation import Candidate, Translation
from attendo.markup.sentences import plan_of
from attendo.markup.text_format import Format, LineEnds, Split
from attendo.markup.text_types import Segment, TextRequest, TranslatedLine, TranslatedText
from attendo.markup.texts import stream_text, translate_text
from attendo.serving.errors import ServingError
from attendo.terms.glossary import Glossary
from attendo.terms.term import Term


def translated(request: TextRequest, translate: MadeUp | None = None) -> TranslatedText:
    return asyncio.run(translate_text(request, translate or MadeUp()))


def text_of(text: str, form: Format = "text", translate: MadeUp | None = None) -> str:
    return translated(TextRequest(text=text, format=form), translate).text


# --- what is no language stays ----------------------------------------------------------------------------------------

PIECES = [
    "the old house", "A dog.", "It is, well", " ", "  ", "\n", "\r\n", "\t", "\xa0", "- ", "1. ", "<b>", "</b>",
    "<i a='x'>", "</i>", "<br/>", '<x id="1"/>', "<p>", "</p>", "&amp;", "&nbsp;", "&lt;", "& ", "<", ">",
    "{name}", "%1$s", "[X12X]", "https://example.org/a?b=c&d", "a@b.org", "1,500.25", "12", "10:30", "?", "!", ".",
    ",", '"', "(", ")", "⟦1⟧", "\ufdd0", "🙂", "ß", "日本語。", "é", "<!-- x -->", "<![CDATA[a <b> c]]>",
    "<script>if (a < b) x()</script>", "<code>x y</code>", "<pre>", "</pre>", "\\n", "%%", "&unknown;", "&#65;",
    "&#x1F600;", "'", "\ufeff", "\u2028", "ICH BIN", "{{ a.b }}",
]  # fmt: skip


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.sampled_from(["text", "html", "xml"]),
    st.sampled_from(["sentences", "lines", "off"]),
    st.sampled_from(["auto", "sentences", "spaces"]),
)
def test_a_translation_that_changes_no_word_is_the_source_again(
    text: str, form: Format, split: Split, line_ends: LineEnds
) -> None:
    request = TextRequest(text=text, format=form, split=split, line_ends=line_ends)
    found = translated(request, MadeUp(same=True))
    if form == "text":
        assert found.text == text
    else:  # `&` and `<` may have been written as what they are: entities
        assert bare(found.text) == bare(text)
    for segment in found.segments:
        assert text[segment.source.start : segment.source.end] == segment.source.text
        assert found.text[segment.target.start : segment.target.end] == segment.target.text


def bare(markup: str) -> str:
    return html.unescape(markup)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.sampled_from(["text", "html", "xml"]))
def test_in_reverse_order_too_every_tag_comes_once_and_well_nested_if_it_was(text: str, form: Format) -> None:
    found = translated(TextRequest(text=text, format=form), MadeUp(reverse=True))
    tags = re.compile(r"</?[bipx][^<>]*>")
    assert Counter(tags.findall(found.text)) == Counter(tags.findall(text))
    if form != "text" and is_nested(text):
        assert is_nested(found.text)


def is_nested(text: str) -> bool:
    stack = []
    for closing, name, alone in re.findall(r"<(/?)([bip]|pre)\b[^<>]*?(/?)>", text):
        if not alone and not closing:
            stack.append(name)
        elif not alone and (not stack or stack.pop() != name):
            return False
    return not stack


# --- markup -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "source", "target"),
    [
        # The made-up translator reverses: "the red car sleeps." is "schläft Auto rote das."
        ("html", "<p>The <b>red car</b> sleeps.</p>", "<p>schläft <b>Auto rote</b> das.</p>"),
        ("html", "<b>The</b> red car sleeps.", "schläft Auto rote <b>das</b>."),
        ("html", "<p><i>The <b>red</b> car</i> sleeps.</p>", "<p>schläft <i>Auto <b>rote</b> das</i>.</p>"),
        ("html", "The red<br>old house", "rote das<br>Haus alte"),
        ("html", "The <img src='a>b'> dog", "Hund <img src='a>b'> das"),
        ("html", "The <code>a = b</code> sleeps.", "schläft <code>a = b</code> das."),
        ("html", "a <span translate=no>red car</span> sleeps", "schläft <span translate=no>red car</span> A"),
        ("html", "<script>if (a < b) the()</script><p>old", "<script>if (a < b) the()</script><p>alte"),
        ("html", "<title>The dog</title>", "<title>Hund das</title>"),
        ("html", "The red &lt;car&gt; &amp; dog", "Hund &amp; &lt;car&gt; rote das"),
        ("html", "The old<!-- a comment --> dog", "Hund<!-- a comment --> alte das"),
        ("html", "  The\n   red  dog ", "  Hund\n   rote  das "),
        ("html", "<pre>the dog\n  the car</pre>", "<pre>Hund das\n  Auto das</pre>"),
        ("xml", "<t><p>The dog</p> <p>sleeps</p></t>", "<t><p>Hund das</p> <p>schläft</p></t>"),
        ("xml", "The <x id='1'/> sleeps &unknown; old.", "alte &unknown; schläft <x id='1'/> das."),
        ("xml", "a &apos;dog&apos; &#233;", "&#233; &apos;Hund&apos; A"),
        ("text", "The <b0>red</b0> <i1/> car", "Auto <i1/> <b0>rote</b0> das"),
        ("text", "a < b and c > the & d", "D & das > C AND B < A"),
    ],
)
def test_markup_goes_where_its_words_go(form: Format, source: str, target: str) -> None:
    assert text_of(source, form, MadeUp(reverse=True)).replace("É", "&#233;") == target.replace("É", "&#233;")


def test_weblates_placeholders_for_deepl_come_back_exactly() -> None:
    """As Weblate's machinery/deepl.py sends them: `<x id="12"></x>` with `ignore_tags: ["x"]`, text escaped."""
    request = TextRequest(
        text='The <x id="12"></x> &lt;b&gt; sleeps &lt;/b&gt; &amp; <x id="40"></x>.', format="xml", ignore_tags=("x",)
    )
    found = translated(request)
    assert found.text == 'das <x id="12"></x> &lt;b&gt; schläft &lt;/b&gt; &amp; <x id="40"></x>.'


def test_tags_that_split_and_tags_that_do_not() -> None:
    both = TextRequest(text="the <a>dog</a> sleeps", format="xml", splitting_tags=("a",))
    assert translated(both, MadeUp(reverse=True)).text == "das <a>Hund</a> schläft"
    joined = TextRequest(text="<p>the</p><p>dog</p>", format="html", non_splitting_tags=("p",))
    assert translated(joined, MadeUp(reverse=True)).segments[0].source.text == "<p>the</p><p>dog</p>"
    flat = TextRequest(text="<t><p>the</p> <p>dog</p></t>", format="xml", outline_detection=False)
    assert len(translated(flat).segments) == 1


# --- placeholders, numbers, terms -------------------------------------------------------------------------------------

THINGS = [
    "{name}", "{0}", "{{ user.name }}", "%s", "%1$s", "%(count)d", "%{count}", "[X12X]", "[X12X ]", "${x}",
    "https://example.org/a.b?c=d", "someone@example.org", "__name__", "<%= x %>", "@anna", "#tag", "⟦3⟧",
]  # fmt: skip


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize(
    "translate", [MadeUp(), MadeUp(keeps_symbols=False), MadeUp(reverse=True)], ids=["symbols", "no symbols", "reverse"]
)
def test_placeholders_come_back_whatever_the_model_does_with_them(thing: str, translate: MadeUp) -> None:
    found = translated(TextRequest(text=f"The red {thing} sleeps."), translate)
    assert found.text.count(thing) == 1
    assert "schläft" in found.text
    assert "rote" in found.text


def test_a_model_that_drops_them_translates_what_is_between_and_says_so() -> None:
    found = translated(TextRequest(text="The {name} sleeps in {place}."), MadeUp(loses=["\u27e61\u27e7", "{name}"]))
    assert found.text == "das {name} schläft IN {place}."
    assert found.problems == ("translated in pieces, so that they are kept: {name}, {place}",)


def test_more_placeholders_than_a_vocabulary_has_are_read_in_pieces() -> None:
    text = " ".join(f"dog {{n{number}}}" for number in range(20))
    translate = MadeUp()
    assert translated(TextRequest(text=text), translate).text == text.replace("dog", "Hund")
    assert max(len(re.findall("\u27e6", line)) for line in translate.lines) == 8


def test_lost_numbers_are_tried_as_things_and_told_if_they_stay_lost() -> None:
    loses = MadeUp(loses=["12"])
    kept = translated(TextRequest(text="The dog sleeps 12 hours.", source_language="en", target_language="de"), loses)
    assert kept.text == "das Hund schläft 12 HOURS."
    assert loses.lines == ["The dog sleeps 12 hours.", "The dog sleeps \u27e61\u27e7 hours."]
    stubborn = MadeUp(loses=["12", "\u27e61\u27e7"])
    lost = translated(TextRequest(text="The dog sleeps 12 hours."), stubborn)
    assert lost.problems == ("numbers that the translation has not: 12",)


@pytest.mark.parametrize(("lost", "expected"), [("1,249.50", "1.249,50"), ("MP3", "MP3"), ("3pm", "15 Uhr")])
def test_lost_values_come_back_as_the_target_language_writes_them(lost: str, expected: str) -> None:
    request = TextRequest(text=f"The dog {lost} sleeps.", source_language="en", target_language="de")
    assert translated(request, MadeUp(loses=[lost])).text == f"das Hund {expected} schläft."


def test_numbers_put_back_do_not_run_into_each_other() -> None:
    class Gluing(MadeUp):
        def _line(self, line: str, aligned: bool) -> TranslatedLine:
            return super()._line(re.sub(" (?=\u27e6)|(?<=\u27e7) ", "", line), aligned)

    request = TextRequest(text="The dog 12 34 sleeps.", source_language="en", target_language="de")
    assert translated(request, Gluing(loses=["12", "34"])).text == "das dog12 34sleeps."


def test_numbers_alone_are_written_as_the_target_language_does() -> None:
    request = TextRequest(text="1,500.25\t12\n-3.5 %", source_language="en", target_language="de")
    translate = MadeUp()
    assert translated(request, translate).text == "1.500,25\t12\n-3,5 %"
    assert translate.lines == []


def test_glossary_terms_the_model_has_not_chosen_are_put_in() -> None:
    request = TextRequest(
        text="The dog sees the IT dogs. It sleeps.",
        glossary=glossary_of(dog="Köter", IT="EDV", sleeps="schläft"),
    )
    found = translated(request)
    assert found.text == "das Köter SEES das EDV DOGS. IT schläft."
    assert found.problems == ("terms put in uninflected, which may not fit: 'dog' as 'Köter', 'IT' as 'EDV'",)
    assert [(use.source, use.outcome, use.form) for use in found.terms] == [
        ("dog", "forced", "Köter"),
        ("IT", "forced", "EDV"),
        ("sleeps", "kept", "schläft"),
    ]


def test_terms_that_cannot_be_had_are_told() -> None:
    glossary = glossary_of(dog="Köter")
    request = TextRequest(text="The dog.", glossary=glossary)
    translate = MadeUp(loses=["\u27e61\u27e7."])
    found = translated(request, translate)
    assert found.problems == ("terms of the glossary that the translation does not use: 'dog' as 'Köter'",)
    assert [use.outcome for use in found.terms] == ["missed"]
    assert {constraints.terms for constraints in translate.constraints} == {glossary}


def test_a_sentence_without_terms_is_not_asked_for_any() -> None:
    translate = MadeUp()
    found = translated(TextRequest(text="The cat.", glossary=glossary_of(dog="Köter")), translate)
    assert (found.terms, translate.constraints) == ((), [])


def glossary_of(**terms: str) -> Glossary:
    return Glossary(terms=tuple(Term(source=source, target=target) for source, target in terms.items()))


def test_lost_emoji_are_told() -> None:
    assert translated(TextRequest(text="The dog 🙂 sleeps."), MadeUp(loses=["🙂"])).problems == (
        "symbols that the translation has not: 🙂",
    )


# --- white space, lines, sentences ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("  The dog.  The car.\n\n\tOld. ", ["The dog.", "The car.", "Old."]),
        ("- the dog\n* the car\n  \u2022 old", ["the dog", "the car", "old"]),
        ("1. the dog\n2. the car", ["the dog", "the car"]),
        ("3. Oktober ist Feiertag", ["3. Oktober ist Feiertag"]),
        ("the old man that I\nsaw sleeps", ["the old man that I saw sleeps"]),
        ("the dog\nThe car", ["the dog", "The car"]),
        ("the dog\tthe car     old", ["the dog", "the car", "old"]),
        ("Dr. Old has 3.5 dogs. The end.", ["Dr. Old has 3.5 dogs.", "The end."]),
        ("今日は。明日は。", ["今日は。", "明日は。"]),
    ],
)
def test_what_is_read_at_a_time(text: str, lines: list[str]) -> None:
    translate = MadeUp(same=True)
    assert text_of(text, translate=translate) == text
    assert translate.lines == lines


def test_splitting_can_be_off_or_by_lines() -> None:
    for split, lines in (("off", ["The dog. The car. Old"]), ("lines", ["The dog. The car.", "Old"])):
        translate = MadeUp(same=True)
        request = TextRequest(text="The dog. The car.\nOld", split=split)  # type: ignore[arg-type]
        assert translated(request, translate).text == request.text
        assert translate.lines == lines


def test_line_ends_as_spaces() -> None:
    translate = MadeUp(reverse=True)
    found = translated(TextRequest(text="the\nRed\ncar", line_ends="spaces"), translate)
    assert translate.lines == ["the Red car"]
    assert found.text == "Auto\nrote\ndas"


def test_a_sentence_without_end_is_cut_at_a_comma_and_nothing_is_lost() -> None:
    text = ", ".join(["the red dog sleeps"] * 100)
    translate = MadeUp(same=True)
    assert text_of(text, translate=translate) == text
    assert max(map(len, translate.lines)) <= 800
    assert all(line.endswith(",") for line in translate.lines[:-1])


def test_what_the_model_has_not_read_to_the_end_is_read_in_shorter_pieces() -> None:
    class Short(MadeUp):
        async def __call__(self, lines, constraints=None, *, alignment=False):  # type: ignore[no-untyped-def]
            found = await super().__call__(lines, constraints, alignment=alignment)
            return [
                type(each)(translation=cut(each.translation, len(line) > 200), alignments=each.alignments)
                for line, each in zip(lines, found, strict=True)
            ]

    def cut(translation: Translation, is_cut: bool) -> Translation:
        return Translation(**{**vars(translation), "source_truncated": is_cut})

    text = "the red dog sleeps " * 30
    assert text_of(text, translate=Short(same=True)) == text


def test_empty_and_wordless_texts_ask_no_model() -> None:
    translate = MadeUp()
    for text in ("", "  \n", "🙂🙂", "--- 12 ---", "<p> </p>", "{name}"):
        assert translated(TextRequest(text=text, format="html"), translate).text == text
    assert translate.lines == []


# --- what is told of it -----------------------------------------------------------------------------------------------


def test_segments_links_and_alternatives() -> None:
    text = "<p>The <b>red car</b> &amp; dog.</p> <p>Old</p>"
    found = translated(TextRequest(text=text, format="html", n_best=2, alignment=True), MadeUp(reverse=True))
    first, second = found.segments
    assert (first.source.text, first.target.text) == (
        "The <b>red car</b> &amp; dog.",
        "Hund &amp; <b>Auto rote</b> das.",
    )
    assert text[second.source.start : second.source.end] == "Old"
    assert found.text[second.target.start : second.target.end] == "alte"
    linked = [
        (text[link.source[0] : link.source[1]], found.text[link.target[0] : link.target[1]]) for link in first.links
    ]
    assert ("red", "Auto</b>"[:4]) not in linked
    assert ("&amp;", "&amp;") in linked
    assert (first.score, first.log_prob) == (-0.5, -1.0)
    assert [each.text for each in first.alternatives] == ["hund &amp; <b>auto rote</b> das."]
    assert found.alternatives == ("<p>hund &amp; <b>auto rote</b> das.</p> <p>alte !</p>",)


def test_confidence_is_asked_for_each_candidate() -> None:
    def confidence(translation: Translation, candidate: Candidate) -> float:
        return 0.9 if candidate is translation.n_best[0] else 0.2

    request = TextRequest(text="The dog.", n_best=2)
    found = asyncio.run(translate_text(request, MadeUp(), confidence=confidence))
    assert found.segments[0].confidence == 0.9
    assert found.segments[0].alternatives[0].confidence == 0.2


def test_only_what_has_tags_is_aligned() -> None:
    translate = MadeUp()
    translated(TextRequest(text="<p>The dog.</p><p>The <b>car</b>.</p>", format="html"), translate)
    assert translate.aligned == ["The car."]


# --- streaming --------------------------------------------------------------------------------------------------------


def test_a_stream_gives_segments_in_order_and_then_the_same_as_at_once() -> None:
    text = " ".join(f"The dog {number} sleeps." for number in range(40))
    request = TextRequest(text=text, n_best=2)

    async def streamed() -> list[Segment | TranslatedText]:
        return [each async for each in stream_text(request, plan_of(request), MadeUp())]

    *segments, whole = asyncio.run(streamed())
    assert whole == translated(request)
    assert isinstance(whole, TranslatedText)
    assert tuple(segments) == whole.segments
    assert len(segments) == 40


def test_the_first_segment_does_not_wait_for_the_others() -> None:
    translate = MadeUp()

    async def first() -> object:
        async for each in stream_text(asked := TextRequest(text="The dog. " * 200), plan_of(asked), translate):
            return each
        return None

    assert isinstance(asyncio.run(first()), Segment)
    assert len(translate.lines) < 200


def test_errors_come_through_and_stop_the_rest() -> None:
    class Failing(MadeUp):
        async def __call__(self, lines, constraints=None, *, alignment=False):  # type: ignore[no-untyped-def]
            raise ServingError(503, "busy", "too much")

    with pytest.raises(ServingError, match="too much"):
        translated(TextRequest(text="The dog."), Failing())

    async def streamed() -> None:
        async for _ in stream_text(asked := TextRequest(text="The dog. The car."), plan_of(asked), Failing()):
            pass

    with pytest.raises(ServingError, match="too much"):
        asyncio.run(streamed())


@pytest.mark.parametrize("form", ["text", "html", "xml"])
@pytest.mark.parametrize(
    "piece",
    ["<b>a", "<a '\">", "<!--", "<![CDATA[", "&amp;", "{a", "a  ", "a\t", "1. a\n", ".", "<x id='1'/>", "</b>a"],
)
def test_hostile_repetition_takes_no_more_time_than_text_of_its_length(form: Format, piece: str) -> None:
    """Each of these had taken minutes if anything looked back over all there was before."""
    text = piece * (6_000 // len(piece))
    request = TextRequest(text=text, format=form)
    assert len(html.unescape(translated(request, MadeUp(same=True)).text)) == len(html.unescape(text))
