"""What a view finds in a map, and how what is not there is named."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from attendo.attention_maps.view import View, select
from attendo.attention_maps.weights import KINDS, AttentionMap
from attendo.errors import DataError

MakeMap = Callable[..., AttentionMap]


@pytest.fixture
def attention(random_map: MakeMap) -> AttentionMap:
    return random_map(("▁it", "▁is", "▁it", "</s>"), ("▁es", "▁ist", "</s>"))


def test_everything_is_the_default(attention: AttentionMap) -> None:
    found = select(attention, View())
    assert [one.kind for one in found] == list(KINDS)
    assert [one.layers for one in found] == [(0,), (0, 1), (0, 1)]
    assert all(one.heads == (0, 1, 2) and not one.has_focus for one in found)


def test_layers_and_heads_count_from_1(attention: AttentionMap) -> None:
    [found] = select(attention, View(kinds=("cross",), layers=(2,), heads=(3, 1)))
    assert (found.layers, found.heads) == ((1,), (2, 0))


def test_a_word_is_all_its_occurrences_where_lines_leave_it_or_else_where_they_reach_it(
    attention: AttentionMap,
) -> None:
    found = {one.kind: (one.queries, one.keys) for one in select(attention, View(words=("it",)))}
    assert found == {"encoder": ((0, 2), None), "cross": (None, (0, 2))}, "the decoder's own words have no 'it'"


def test_the_last_token_can_be_a_word(attention: AttentionMap) -> None:
    found = select(attention, View(kinds=("cross",), words=("</s>", "es")))
    assert [one.queries for one in found] == [(0, 2)]


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (View(layers=(3,)), "encoder self-attention has no layer 3; take 1 to 1; decoder .* no layer 3; take 1 to 2"),
        (View(kinds=("cross",), layers=(0,)), "encoder-decoder attention has no layer 0; take 1 to 2"),
        (View(kinds=("cross",), heads=(1, 4)), "no head 4; take 1 to 3"),
        (View(kinds=("decoder",), words=("it",)), "there is no piece 'it'; there are: es, ist, </s>"),
    ],
)
def test_what_is_not_there_is_named(view: View, message: str, attention: AttentionMap) -> None:
    with pytest.raises(DataError, match=message):
        select(attention, view)


def test_a_kind_that_the_model_has_not_is_left_out_or_named(attention: AttentionMap) -> None:
    convolutional = replace(attention, encoder=None)
    assert [one.kind for one in select(convolutional, View())] == ["decoder", "cross"]
    with pytest.raises(DataError, match="the encoder's layers are not attention"):
        select(convolutional, View(kinds=("encoder",)))
