import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attendo.errors import AttendoError
from attendo.parsing.tokenizing import TreebankTokenizer

nltk_tokenize = pytest.importorskip("nltk.tokenize")

ANY = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\"'`.,:;()[]-“”‘’n tsdm"), max_size=40)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # By the rules of the Penn Treebank's tokenizer.sed (MacIntyre, 1995), but for quotation marks.
        ('"I can\'t go."', '" I ca n\'t go . "'),
        ("They'll say he's gone, won't they?", "They 'll say he 's gone , wo n't they ?"),
        ("Mr. Smith paid $3.88 (about 3,36 euros)...", "Mr. Smith paid $ 3.88 ( about 3,36 euros ) ..."),
        ("We cannot gimme it -- now.", "We can not gim me it -- now ."),
        # As typed, to the letter.
        ("“Don’t” – she’s here", "“ Do n’t ” – she ’s here"),
        ("He said ``yes'' and \"no\".", "He said `` yes '' and \" no \" ."),
        ("a\u2028b\tc  d \n", "a b c d"),
        (" \t", ""),
    ],
)
def test_text_is_split_as_the_treebank_is(text: str, words: str) -> None:
    assert TreebankTokenizer().words(text) == words.split()


@given(ANY)
@example("\"\"\"''``'")
@example("(\"'tis'' \"")
def test_no_character_changes(text: str) -> None:
    assert "".join(TreebankTokenizer().words(text)) == "".join(text.split())


@given(ANY.map(lambda text: text.replace('"', "").replace("’", "").replace("'", "").replace("`", "")))
def test_without_quotes_it_is_what_nltk_says(text: str) -> None:
    assert TreebankTokenizer().words(text) == nltk_tokenize.NLTKWordTokenizer().tokenize(text)


def test_without_nltk_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nltk.tokenize.destructive", None)
    with pytest.raises(AttendoError, match=r'by the package nltk, .*; pip install "attendo\[parse\]", or give the'):
        TreebankTokenizer()
