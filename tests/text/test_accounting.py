from collections import Counter

import numpy as np
import pytest

from attendo.errors import DataError
from attendo.text.accounting import PairCounts, TokenCounts, corpus_report, file_names
from attendo.text.cleaning import DROP_REASONS
from attendo.text.corpora import CorpusConfig

CONFIG = CorpusConfig(name="mine", source="a.en", target="a.de", tags=("new",))


def counts(*pairs: tuple[list[int], list[int]], dropped: str = "", trimmed: int = 0) -> PairCounts:
    sides = [np.array([i for pair in pairs for i in pair[side]], dtype=np.uint16) for side in (0, 1)]
    return PairCounts(
        kept=len(pairs),
        trimmed=trimmed,
        dropped=Counter(dropped.split()),
        source=TokenCounts.of(sides[0]),
        target=TokenCounts.of(sides[1]),
    )


def test_every_pair_is_counted_once() -> None:
    first = counts(([300, 257, 0], [2, 3, 1, 0]), dropped="ratio")
    second = counts(([300, 0], [400, 0]), dropped="empty ratio", trimmed=1)
    total = PairCounts() + first + second
    assert total.read == 5
    report = corpus_report(CONFIG, "mine", total, in_valid=1)
    assert (report.name, report.files, report.tags) == ("mine", ("a.en", "a.de"), ("new",))
    assert (report.read, report.kept, report.trimmed, report.in_valid) == (5, 2, 1, 1)
    assert list(report.dropped) == list(DROP_REASONS)
    assert {reason: count for reason, count in report.dropped.items() if count} == {"empty": 1, "ratio": 2}
    # 2 to 257 are bytes, 1 is <unk>.
    assert (report.source_tokens, report.source_byte_tokens) == (5, 1)
    assert (report.target_tokens, report.target_byte_tokens, report.unknown_tokens) == (6, 2, 1)


def test_the_bytes_may_have_other_ids() -> None:
    ids = np.array([2, 7, 8, 9, 300, 0], dtype=np.uint16)
    assert TokenCounts.of(ids, (7, 9)).single_bytes == 2
    assert TokenCounts.of(ids, ()).single_bytes == 0
    assert TokenCounts.of(np.array([65535, 0], dtype=np.uint16), (65535,)).single_bytes == 1
    assert TokenCounts.of(ids[:0]) == TokenCounts()


def test_files_are_named_as_the_recipe_names_them() -> None:
    assert file_names(CorpusConfig(name="a", tsv="sub/a.tsv")) == ("sub/a.tsv",)


def test_a_corpus_of_which_nothing_is_kept_is_refused() -> None:
    with pytest.raises(DataError, match=r"corpus mine \(a\.en a\.de\): none of its 2 pairs is kept \(2 ratio\)"):
        corpus_report(CONFIG, "mine", counts(dropped="ratio ratio"), in_valid=0)
    with pytest.raises(DataError, match=r"none of its 0 pairs is kept \(it is empty\)"):
        corpus_report(CONFIG, "mine", PairCounts(), in_valid=0)
