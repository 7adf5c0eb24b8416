"""The data behind the pictures: what is refused, what JSON holds, what can be shown."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from attendo.attention_maps.weights import KINDS, START_LABEL, AttentionMap, Kind, to_json, visible
from attendo.errors import DataError

MakeMap = Callable[..., AttentionMap]
SOURCE = ("▁a", "b", "</s>")
TARGET = ("▁c", "</s>")


@pytest.mark.parametrize(
    ("kind", "queries", "keys"),
    [
        ("encoder", ("▁a", "b", "</s>"), ("▁a", "b", "</s>")),
        # The decoder reads what it has written so far, one position behind what it writes (Figure 1: shifted right).
        ("decoder", ("▁c", "</s>"), (START_LABEL, "▁c")),
        ("cross", ("▁c", "</s>"), ("▁a", "b", "</s>")),
    ],
)
def test_rows_and_columns_of_each_kind(
    kind: Kind, queries: tuple[str, ...], keys: tuple[str, ...], random_map: MakeMap
) -> None:
    attention = random_map(SOURCE, TARGET, 5)
    assert attention.queries(kind) == queries
    assert attention.keys(kind) == keys
    assert attention.weights(kind).shape[2:] == (len(queries), len(keys))


def test_every_wrong_shape_is_named(random_map: MakeMap) -> None:
    right = random_map(SOURCE, TARGET, 5)
    with pytest.raises(DataError) as caught:
        AttentionMap(
            source=right.source,
            target=right.target,
            encoder=right.weights("encoder")[0],
            decoder=right.decoder,
            cross=right.cross.swapaxes(2, 3),
        )
    assert "encoder: shape (5, 3, 3), expected (num_layers, num_heads, 3, 3)" in str(caught.value)
    assert "cross: shape (2, 5, 3, 2), expected (num_layers, num_heads, 2, 3)" in str(caught.value)
    assert "decoder" not in str(caught.value)


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan")])
def test_what_is_no_weight_is_refused(wrong: float, random_map: MakeMap) -> None:
    right = random_map(SOURCE, TARGET, 5)
    cross = right.cross.copy()
    cross[0, 0, 0, 0] = wrong
    with pytest.raises(DataError, match="cross: weights outside 0 to 1; give them after the softmax"):
        AttentionMap(
            source=right.source,
            target=right.target,
            encoder=right.encoder,
            decoder=right.decoder,
            cross=cross,
        )


def test_pair_without_a_piece_is_refused(random_map: MakeMap) -> None:
    with pytest.raises(DataError, match="encoder: shape"):
        random_map((), TARGET)


def test_an_encoder_without_attention_has_no_map(random_map: MakeMap) -> None:
    attention = replace(random_map(SOURCE, TARGET), encoder=None)
    assert attention.kinds == ("decoder", "cross")
    assert "encoder" not in json.loads(to_json(attention))
    with pytest.raises(DataError, match=r"the encoder's layers are not attention.*take one of decoder, cross"):
        attention.weights("encoder")


def test_json_holds_every_weight(random_map: MakeMap) -> None:
    attention = random_map(("▁a", '"\ud800', "</s>"), TARGET)
    text = to_json(attention)
    found = json.loads(text.encode("utf-8"))
    assert found["source"] == list(attention.source)
    assert found["target"] == list(attention.target)
    assert found["unit"] == "pieces"
    for kind in KINDS:
        assert found[kind]["rows"] == list(attention.queries(kind))
        assert found[kind]["columns"] == list(attention.keys(kind))
        np.testing.assert_allclose(np.array(found[kind]["weights"]), attention.weights(kind), atol=5.1e-7)


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        ("▁Haus", "▁Haus"),
        ("日本", "日本"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("\x00a\tb", "[U+0000]a[U+0009]b"),
        ("\u202eabc", "[U+202E]abc"),  # would turn the text around
        ("\ud800", "[U+D800]"),  # cannot be written as UTF-8
        ("\ufffe\u2028\u00a0", "[U+FFFE][U+2028][U+00A0]"),
    ],
)
def test_invisible_characters_become_visible(piece: str, shown: str) -> None:
    assert visible(piece) == shown
