"""What is in a picture, and that it keeps inside it."""

from collections.abc import Callable

import numpy as np
import pytest

from attendo.attention_maps.drawing import Drawing, draw, sentence
from attendo.attention_maps.heat_maps import MOST_LABELLED
from attendo.attention_maps.lines import ROW
from attendo.attention_maps.shapes import Box, Cells, Curves, Text, cut, text_width
from attendo.attention_maps.view import View
from attendo.attention_maps.weights import AttentionMap, Kind
from attendo.attention_maps.words import joined

MakeMap = Callable[..., AttentionMap]


def texts(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Text)]


def cells(drawing: Drawing) -> list[Cells]:
    return [shape for shape in drawing.shapes if isinstance(shape, Cells)]


def curves(drawing: Drawing) -> list[Curves]:
    return [shape for shape in drawing.shapes if isinstance(shape, Curves)]


def test_picture_shows_every_head_of_every_layer_and_all_words(random_map: MakeMap) -> None:
    drawing = draw(random_map(("▁ein", "▁Satz", "</s>"), ("▁a", "</s>"), num_heads=4), View())
    heads = [one.title.split(";")[0] for one in cells(drawing)]
    assert heads == [
        f"layer {layer}, head {head}"
        for num_layers in (1, 2, 2)
        for layer in range(1, num_layers + 1)
        for head in (1, 2, 3, 4)
    ]
    for label in ("Encoder self-attention", "Decoder self-attention", "Encoder-decoder attention", "▁Satz", "⟨start⟩"):
        assert label in texts(drawing)
    assert "ein Satz" in texts(drawing)


def test_title_names_the_strongest_weight(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "▁b"), ("▁c", "▁d"), num_heads=1)
    attention.cross[0, 0] = [[0.1, 0.9], [0.5, 0.5]]
    titles = [one.title for one in cells(draw(attention, View(kinds=("cross",))))]
    assert titles[0] == "layer 1, head 1; strongest: ▁c → ▁b 0.90"


@pytest.mark.parametrize("style", ["maps", "lines"])
@pytest.mark.parametrize(("num_heads", "src_len"), [(1, 1), (1, 12), (16, 1), (16, 12), (6, 50)])
def test_nothing_is_drawn_outside_the_picture(num_heads: int, src_len: int, style: str, random_map: MakeMap) -> None:
    attention = random_map(("▁wort",) * src_len, ("▁word", "</s>"), num_heads)
    drawing = draw(attention, View(style="lines" if style == "lines" else "maps"))
    for shape in drawing.shapes:
        match shape:
            case Text():
                length = text_width(shape.text, shape.size)
                left = shape.x - length if shape.anchor == "end" else shape.x
                right, top, bottom = shape.x if shape.anchor == "end" else shape.x + length, shape.y, shape.y
                if shape.turned:
                    left, right, top = shape.x, shape.x, shape.y - length
            case Curves():
                left, right = shape.x1, shape.x2
                heights = [y for one in shape.curves for y in (one.y1, one.y2)] or [0.0]
                top, bottom = min(heights), max(heights)
            case Box() | Cells():
                left, right, top, bottom = shape.x, shape.x + shape.width, shape.y, shape.y + shape.height
        assert 0 <= left <= right <= drawing.width
        assert 0 <= top <= bottom <= drawing.height


def test_many_words_are_printed_for_one_head_alone(random_map: MakeMap) -> None:
    source = tuple(f"▁w{index}" for index in range(MOST_LABELLED + 1))
    attention = random_map(source, ("▁x", "</s>"))
    every = draw(attention, View(kinds=("encoder",)))
    one = draw(attention, View(kinds=("encoder",), layers=(1,), heads=(2,)))
    assert not set(source) & set(texts(every))
    assert set(source) <= set(texts(one))
    assert max(each.width for each in cells(every)) < 200 < cells(one)[0].width
    few = draw(random_map(source[:MOST_LABELLED], ("▁x", "</s>")), View(kinds=("encoder",)))
    assert set(source[:MOST_LABELLED]) <= set(texts(few))


@pytest.mark.parametrize(("kind", "queries", "keys"), [("encoder", [0, 2], None), ("cross", None, [0, 2])])
def test_a_words_lines_leave_it_or_reach_it(
    kind: Kind, queries: list[int] | None, keys: list[int] | None, random_map: MakeMap
) -> None:
    attention = random_map(("▁it", "▁is", "▁it", "</s>"), ("▁es", "▁ist", "</s>"), num_heads=2)
    drawing = draw(attention, View(kinds=(kind,), style="lines", words=("it",)))
    for head, drawn in enumerate(curves(drawing)[:2]):
        weights = attention.weights(kind)[0, head]
        expected = {
            (row, column)
            for row in range(weights.shape[0])
            for column in range(weights.shape[1])
            if weights[row, column] >= 0.03 and (queries is None or row in queries) and (keys is None or column in keys)
        }
        first = min(shape.y for shape in drawing.shapes if isinstance(shape, Text) and shape.text in ("▁it", "▁es"))
        places = {(round((one.y1 - first) / ROW), round((one.y2 - first) / ROW)) for one in drawn.curves}
        assert places == expected
    bold = [shape.text for shape in drawing.shapes if isinstance(shape, Text) and shape.bold and shape.size == 12]
    assert bold == ["▁it"] * (2 * (1 if kind == "encoder" else 2))


def test_bands_beside_words_are_as_deep_as_the_root_of_the_weight(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "▁b"), ("▁c", "▁d"), num_heads=1)
    attention.cross[0, 0] = [[0.36, 0.64], [0.5, 0.5]]
    drawing = draw(attention, View(kinds=("cross",), layers=(1,), style="lines", words=("c",)))
    bands = [shape.opacity for shape in drawing.shapes if isinstance(shape, Box)]
    np.testing.assert_allclose(bands, [0.6, 0.8], atol=1e-6)


def test_the_caption_says_what_was_chosen(random_map: MakeMap) -> None:
    attention = random_map(("▁it", "</s>"), ("▁es", "</s>"))
    drawing = draw(attention, View(kinds=("cross",), layers=(2,), heads=(1, 3), style="lines", words=("es",)))
    assert "Encoder-decoder attention, layer 2 of 2, heads 1, 3 of 3: es" in texts(drawing)


def test_the_description_says_whose_lines_of_which_heads(random_map: MakeMap) -> None:
    attention = random_map(("▁it", "</s>"), ("▁es", "</s>"))

    def described(kind: Kind, layer: int, *words: str, heads: tuple[int, ...] = ()) -> str:
        return draw(
            attention, View(kinds=(kind,), layers=(layer,), heads=heads, style="lines", words=words)
        ).description

    thick = "thick where the weight is high."
    assert described("cross", 2, "es", heads=(1, 3)) == (
        f"Encoder-decoder attention, layer 2 of 2, heads 1, 3 of 3: lines from es to the words it looks at, {thick}"
    )
    assert described("decoder", 1) == (
        f"Decoder self-attention, layer 1 of 2, all 3 heads: lines from each word to the words it looks at, {thick}"
    )
    assert "lines from it to the words that look at it" in described("cross", 2, "it")
    assert "its one layer and all 3 heads" in described("encoder", 1)


@pytest.mark.parametrize(("num_words", "is_whole"), [(5, True), (30, True), (100, False)])
def test_a_picture_is_as_wide_as_its_sentences_up_to_a_width(
    num_words: int, is_whole: bool, random_map: MakeMap
) -> None:
    words = (*("▁an",) * num_words, "</s>")
    drawing = draw(random_map(words, ("▁ein", "</s>")), View(kinds=("decoder",), style="lines"))
    assert (" ".join(["an"] * num_words) in texts(drawing)) == is_whole
    assert any(text.startswith("an an an") and text.endswith("…") for text in texts(drawing)) != is_whole


def test_sentences_are_text_again(random_map: MakeMap) -> None:
    pieces = ("▁Well", ",", "▁it", "▁(", "al", "so", ")", "▁didn", "'", "t", ".", "</s>")
    attention = random_map(pieces, pieces)
    assert sentence(attention, attention.source) == "Well, it (also) didn't."
    words = joined(attention)
    assert sentence(words, words.source) == "Well, it ( also) didn't."


def test_long_labels_are_cut() -> None:
    assert cut("Donaudampfschiff", 16) == "Donaudampfschiff"
    assert cut("Donaudampfschiff", 6) == "Donau…"
    assert cut("日本日本", 5) == "日本…"  # a wide character takes 1.75
