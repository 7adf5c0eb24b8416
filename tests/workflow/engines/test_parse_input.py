import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from attendo.errors import DataError
from attendo.parsing.sentences import Sentence
from attendo.parsing.treebank import parse_tree
from attendo.workflow.engines.parse_input import SentenceReader, read_lines_of, read_trees, sentence_of

TREES = """( (S (NP-SBJ-1 (NNP Ann)) (VP (VBD left) (NP (-NONE- *-1))) (. .)))
# a comment
(S (NP (-NONE- *)))
(S (NN a)) (S (NN b) )
(NP (NN cat

( (NP (-LRB- -LRB-) (NN dog) (CD 1\\/2)))
"""


def words_and_tags(found: Sentence | DataError) -> object:
    return str(found) if isinstance(found, DataError) else (list(found.words), found.tags and list(found.tags))


@pytest.mark.parametrize(
    ("words", "tags", "message"),
    [
        ("The cat", None, r"words = 'The cat' is one string; give them one by one"),
        (["a", ""], None, r"word 2, '', is empty or holds white space; divide it"),
        (["a b"], None, r"word 1, 'a b', is empty or holds white space"),
        (["x" * 200 + " "], None, r"word 1, 'x{80}'\.\.\., is empty or holds"),
        (["a", "b"], ["DT"], r"2 words have 1 tags; give each its tag, or None"),
        (["a"], ["(NP"], r"the tag of word 1, '\(NP', is empty, or holds white space or a bracket"),
        (["a"], [""], r"the tag of word 1, '', is empty"),
        (["a"], "D", r"tags = 'D' is one string"),
    ],
)
def test_what_no_tree_can_have_is_refused(words: object, tags: object, message: str) -> None:
    with pytest.raises(DataError, match=f"^{message}"):
        Sentence(words=words, tags=tags)  # type: ignore[arg-type]


def test_what_a_program_gives() -> None:
    read = SentenceReader().read
    assert read(["a", "b"]) == Sentence(words=("a", "b"))
    assert read(given := Sentence(words=["a"], tags=[None])) is given
    assert len(given) == 1
    assert read([]).words == ()
    pytest.importorskip("nltk")
    assert read("It's me.").words == ("It", "'s", "me", ".")


def test_words_have_spaces_between_them() -> None:
    reader = SentenceReader()
    assert reader.of_words(" a\tb  c\xa0d\u2028e \x0b").words == ("a", "b", "c\xa0d\u2028e")
    tagged = reader.of_tagged("1/2/CD dogs/NNS //:")
    assert (tagged.words, tagged.tags) == (("1/2", "dogs", "/"), ("CD", "NNS", ":")), "the last / counts"
    for line, problem in (("a/DT dog", "word 2, 'dog'"), ("/NN", "word 1, '/NN'"), ("dog/", "word 1, 'dog/'")):
        with pytest.raises(DataError, match=rf"^{problem}, has no tag; write it as word/TAG"):
            reader.of_tagged(line)
    with pytest.raises(DataError, match=r"^the tag of word 1, 'N\)'"):
        reader.of_tagged("dog/N)")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, zstandard.ZstdCompressor().compress])
def test_a_bad_line_stays_in_its_place(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "sentences"
    path.write_bytes(compress("\ufeffa b\r\n\n \nsch\xf6n \ud83d\n".encode("utf-8", "surrogatepass") + b"x \xff\nlast"))
    first, empty, blank, surrogate, broken, last = read_lines_of("words", path)
    assert [words_and_tags(each) for each in (first, empty, blank, last)] == [
        (["a", "b"], None), ([], None), ([], None), (["last"], None),
    ]  # fmt: skip
    assert words_and_tags(surrogate) == (
        "character 7 is a byte that is not UTF-8, or half of a surrogate pair; convert the text, for instance with "
        "iconv -f latin1 -t utf-8"
    )
    assert str(words_and_tags(broken)).startswith("character 3 is a byte that is not UTF-8")


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.mrg: "):
        list(read_trees(tmp_path / "nowhere.mrg"))
    long = tmp_path / "long"
    long.write_bytes(b"a\n" + b"x" * (5 << 20))
    lines = read_lines_of("words", long)
    assert words_and_tags(next(lines)) == (["a"], None)
    with pytest.raises(DataError, match=r"line 2 is longer than 4 MB; is this text\?"):
        next(lines)


def test_trees_are_read_as_parsers_are_trained(tmp_path: Path) -> None:
    path = tmp_path / "some.mrg"
    path.write_bytes(TREES.encode() + b"(S (NN \xff))\n")
    found = list(read_trees(path))
    trees = [each for each in found if each is not None and not isinstance(each, DataError)]
    assert [str(tree) for tree in trees] == [
        "(S (NP (NNP Ann)) (VP (VBD left)) (. .))",
        "(S (NN a))",
        "(S (NN b))",
        "(NP (-LRB- -LRB-) (NN dog) (CD 1/2))",
    ]
    assert found[1] is None, "nothing but a trace"
    assert str(found[4]).startswith("line 5: ")
    assert str(found[6]).startswith("line 8: ")
    assert "not UTF-8" in str(found[6])


def test_the_words_of_trees() -> None:
    tree = parse_tree("(NP (-LRB- -LRB-) (NN dog))")
    assert words_and_tags(sentence_of(tree, tags=False)) == (["-LRB-", "dog"], None)
    assert words_and_tags(sentence_of(tree, tags=True)) == (["-LRB-", "dog"], ["-LRB-", "NN"])
    assert words_and_tags(sentence_of(None, tags=True)) == ([], None)
    problem = DataError("no tree")
    assert sentence_of(problem, tags=True) is problem
