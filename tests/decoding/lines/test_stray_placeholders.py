"""Placeholders that a source does not have, against all texts that a small vocabulary can write."""

from collections.abc import Sequence
from itertools import product

import pytest

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules, constraints_of
from attendo.decoding.lines.stray_placeholders import StrayPlaceholders

ONE, TWO = "\u27e61\u27e7", "\u27e62\u27e7"
PIECES = ("</s>", "<unk>", ONE, TWO, "\u27e6", "2\u27e7", "<0xE2>", "<0x9F>", "<0xA6>", "a")
TEXTS = (b"", b"?", ONE.encode(), TWO.encode(), b"\xe2\x9f\xa6", b"2\xe2\x9f\xa7", b"\xe2", b"\x9f", b"\xa6", b"a")


class Listed:
    vocab_size = len(PIECES)

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        raise NotImplementedError

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [PIECES[i] for i in ids]


@pytest.mark.parametrize(("read", "kept"), [("a b", ()), (f"a {ONE}", (ONE,)), (f"{TWO} {ONE}", (ONE, TWO))])
def test_no_text_has_another_placeholder(read: str, kept: tuple[str, ...]) -> None:
    rules = StrayPlaceholders(Listed(), (ONE, TWO)).banned(Rules(max_len=9), read)
    constraints = constraints_of(rules, SearchConfig())
    num_written = 0
    for ids in product(range(1, len(PIECES)), repeat=4):
        if all(token in each.following(ids[:place]) for place, token in enumerate(ids) for each in constraints):
            text = b"".join(TEXTS[token] for token in ids).decode(errors="replace")
            num_written += 1
            if len(kept) < 2:
                assert not any(symbol in text for symbol in (ONE, TWO) if symbol not in kept), text
    assert num_written, "other texts can be written"


def test_what_the_rules_force_may_come() -> None:
    strays = StrayPlaceholders(Listed(), (ONE, TWO))
    rules = strays.banned(Rules(max_len=9, prefix=(3,), forced=((2, 9),)), "a")
    assert not rules.constraints
    once = strays.banned(Rules(max_len=9), "a")
    assert strays.banned(once, "a") is once


def test_a_vocabulary_without_placeholders_needs_no_rule() -> None:
    rules = Rules(max_len=9)
    assert StrayPlaceholders(Listed(), ()).banned(rules, "a") is rules
