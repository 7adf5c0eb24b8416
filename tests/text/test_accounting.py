import pytest

from attendo.errors import DataError
from attendo.text.accounting import Account
from attendo.text.corpora import DROP_REASONS, CorpusConfig
from attendo.text.tokenization import BYTE_IDS, EOS_ID, UNK_ID

CONFIG = CorpusConfig(name="mine", source="a.en", target="a.de", weight=2.0, tags=("news",))


def test_the_account_by_hand() -> None:
    account = Account(CONFIG, "mine")
    account.keep([300, BYTE_IDS[0], BYTE_IDS[255], EOS_ID], [301, UNK_ID, EOS_ID], trimmed=True)
    account.keep([258, EOS_ID], [257, 258, EOS_ID])
    for reason in ("empty", "empty", "ratio"):
        account.drop(reason)
    report = account.close(in_valid=1)
    assert (report.name, report.files, report.tags) == ("mine", ("a.en", "a.de"), ("news",))
    assert (report.read, report.kept, report.trimmed, report.in_valid) == (5, 2, 1, 1)
    assert report.dropped == {**dict.fromkeys(DROP_REASONS, 0), "empty": 2, "ratio": 1}
    assert (report.source_tokens, report.target_tokens) == (6, 6)
    assert (report.source_byte_tokens, report.target_byte_tokens, report.unknown_tokens) == (2, 1, 1)


def test_bytes_are_where_the_vocabulary_has_them() -> None:
    account = Account(CONFIG, "mine", source_byte_ids=(7, 9), target_byte_ids=())
    account.keep([2, 7, 8, 9, 7, 4000, EOS_ID], [2, 7, 8, 9, EOS_ID])
    report = account.close(in_valid=0)
    assert (report.source_byte_tokens, report.target_byte_tokens) == (3, 0)


def test_many_tokens_are_counted_over_all_blocks() -> None:
    account = Account(CONFIG, "mine")
    for _ in range(1000):
        account.keep([2] * 100, [1] * 201)
    report = account.close(in_valid=0)
    assert (report.source_tokens, report.source_byte_tokens) == (100_000, 100_000)
    assert (report.target_tokens, report.unknown_tokens) == (201_000, 201_000)


def test_a_corpus_of_which_nothing_is_kept_is_an_error() -> None:
    account = Account(CONFIG, "mine")
    with pytest.raises(DataError, match=r"corpus mine \(a\.en a\.de\): none of its 0 pairs is kept \(it is empty\)"):
        account.close(in_valid=0)
    account.drop("encoding")
    with pytest.raises(DataError, match=r"none of its 1 pairs is kept \(1 encoding\); correct the files"):
        account.close(in_valid=0)
