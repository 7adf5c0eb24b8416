"""The component in pipelines of spaCy, with a sentencizer and the parser of tests/tiny_parser.py."""

import pickle
import shutil
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from attendo.errors import DataError, ModelError, RecipeError
from attendo.parsing.sentences import Sentence
from attendo.parsing.treebank import parse_tree
from attendo.workflow.engines.translate import load

spacy = pytest.importorskip("spacy")
component = import_module("attendo.spacy.component")

TEXT = "She sees  the old dog. The man can't\nsleep (a cat).\n It left?"
WORDS = [
    ["She", "sees", "the", "old", "dog", "."],
    ["The", "man", "ca", "n't", "sleep", "(", "a", "cat", ")", "."],
    ["It", "left", "?"],
]


@pytest.fixture(scope="module")
def pipeline(parser_folder: Path) -> Callable[..., Any]:
    """Makes a pipeline with these settings of the parser."""

    def make(**settings: Any) -> Any:
        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        nlp.add_pipe("attendo_parser", config={"model": str(parser_folder), "threads": 1, **settings})
        return nlp

    return make


@pytest.fixture(scope="module")
def nlp(pipeline: Callable[..., Any]) -> Any:
    return pipeline()


@pytest.fixture(scope="module")
def doc(nlp: Any) -> Any:
    return nlp(TEXT)


@pytest.fixture(scope="module")
def expected(parser_folder: Path) -> list[str]:
    return [str(tree) for tree in load(parser_folder).parse(WORDS)]


def test_sentences_have_the_trees_that_the_library_finds(doc: Any, expected: list[str]) -> None:
    assert [sentence._.parse_string for sentence in doc.sents] == expected
    assert doc._.parse_string == "\n".join(expected)


def test_spans_have_what_benepar_gives_them(doc: Any, expected: list[str]) -> None:
    for sentence, text in zip(doc.sents, expected, strict=True):
        tree = parse_tree(text)
        assert sentence._.labels == ("S",)
        assert sentence._.parent is None
        children = list(sentence._.children)
        assert [child._.parse_string for child in children] == [str(child) for child in tree.children]
        assert {child._.parent._.parse_string for child in children} == {text}
        everything = list(sentence._.constituents)
        assert everything[0]._.parse_string == text
        found = [(label, span.text.split()) for span in everything for label in span._.labels]
        wanted = [(span.label, list(tree.words[span.start : span.end])) for span in tree.spans]
        assert [label for label, _ in found] == [label for label, _ in wanted]
        alone = [span for span in everything if not span._.labels]
        assert all(len(span) == 1 and list(span._.children) == [] for span in alone)
    assert [span.text for span in doc._.constituents][:3] == ["She sees  the old dog.", "She", "sees  the old dog"]


def test_tokens_have_it_too(doc: Any) -> None:
    she, sees = doc[0], doc[1]
    assert (she._.labels, she._.parse_string) == (("NP",), "(NP (PRP She))")
    assert (sees._.labels, sees._.parse_string) == ((), "(VBZ sees)")
    assert sees._.parent.text == "sees  the old dog"
    assert doc[2].is_space
    assert (doc[2]._.labels, doc[2]._.parse_string, doc[2]._.parent) == ((), "", None)


def test_what_is_no_constituent_says_so(doc: Any) -> None:
    for attribute in ("labels", "parse_string", "parent", "children", "constituents"):
        with pytest.raises(DataError, match=r"^'dog\. The' is no constituent$"):
            doc[5:8]._.get(attribute)
    with pytest.raises(DataError, match=r'^the document is not parsed; nlp\.add_pipe\("attendo_parser"'):
        _ = spacy.blank("en")("It left.")[:]._.labels


def test_a_pipe_gives_what_calls_give(nlp: Any) -> None:
    texts = ["It left.", "", " \n", TEXT, "The dog sleeps 😀 (x) \x1b\x00 \u2028 ?"] * 2
    alone = [nlp(text)._.parse_string for text in texts]
    assert [doc._.parse_string for doc in nlp.pipe(texts)] == alone
    assert [doc._.parse_string for doc in nlp.pipe(texts, batch_size=3)] == alone
    assert alone[1] == alone[2] == ""
    assert all(alone[3:5])


def test_a_document_is_saved_with_its_trees(nlp: Any, doc: Any, tmp_path: Path) -> None:
    again = spacy.tokens.Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again._.parse_string == doc._.parse_string
    bank = spacy.tokens.DocBin(docs=[doc], store_user_data=True)
    bank.to_disk(tmp_path / "docs.spacy")
    [read] = spacy.tokens.DocBin().from_disk(tmp_path / "docs.spacy").get_docs(nlp.vocab)
    assert [span._.labels for span in read._.constituents] == [span._.labels for span in doc._.constituents]


def test_a_pipeline_is_saved_with_the_models_path(
    pipeline: Callable[..., Any], parser_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(parser_folder, tmp_path / "model")
    made = pipeline(model=str(tmp_path / "model"), search={"beam_size": 2})
    expected = made(TEXT)._.parse_string
    made.to_disk(tmp_path / "pipeline")
    assert not list((tmp_path / "pipeline").rglob("*.safetensors")), "the path alone"
    read = spacy.load(tmp_path / "pipeline")
    assert read.get_pipe("attendo_parser").engine.search.beam_size == 2
    assert read(TEXT)._.parse_string == expected
    assert pipeline(search={"beam_size": 2}).from_bytes(made.to_bytes())(TEXT)._.parse_string == expected
    (tmp_path / "model").rename(tmp_path / "moved")
    with pytest.raises(ModelError, match="no such model or run folder"):
        spacy.load(tmp_path / "pipeline")
    config = {"components": {"attendo_parser": {"model": str(tmp_path / "moved")}}}
    assert spacy.load(tmp_path / "pipeline", config=config)(TEXT)._.parse_string == expected


def test_other_processes_read_the_model_anew(nlp: Any, expected: list[str]) -> None:
    again = pickle.loads(pickle.dumps(nlp.get_pipe("attendo_parser")))
    doc = spacy.blank("en")("It left?")
    doc[0].is_sent_start = True
    doc[1].is_sent_start = doc[2].is_sent_start = False
    assert again(doc)._.parse_string == expected[2]


def test_tags_are_used_where_that_is_asked_for(pipeline: Callable[..., Any], parser_folder: Path) -> None:
    def tagged(nlp: Any, last: str = "") -> str:
        doc = nlp.make_doc("It left.")
        doc[0].tag_, doc[1].tag_, doc[2].tag_ = "PRP", "VBZ", last
        for name in nlp.pipe_names:
            doc = nlp.get_pipe(name)(doc)
        return str(doc._.parse_string)

    [with_tags, without] = load(parser_folder).parse(
        [Sentence(words=["It", "left", "."], tags=["PRP", "VBZ", None]), ["It", "left", "."]]
    )
    assert with_tags.tags[1] == "VBZ" != without.tags[1]
    assert tagged(pipeline(use_tags=True)) == str(with_tags)
    assert tagged(pipeline(use_tags=True), "$(") == str(with_tags), "no tree has that tag: it is open too"
    assert tagged(pipeline()) == str(without)


def test_merged_tokens_are_one_word(nlp: Any) -> None:
    doc = nlp.make_doc("The old dog left.")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:3])
    for name in nlp.pipe_names:
        doc = nlp.get_pipe(name)(doc)
    assert parse_tree(doc._.parse_string).words == ("The", "old_dog", "left", ".")


def test_a_sentence_that_cannot_be_parsed_is_warned_of(pipeline: Callable[..., Any]) -> None:
    nlp = pipeline(search={"max_source_tokens": 10})
    with pytest.warns(UserWarning, match=r"attendo_parser: no parse of the sentence 'the the .*: too long: 11 tokens"):
        doc = nlp("It left. " + "the " * 10 + ". It left.")
    first, second, third = doc.sents
    assert doc._.parse_string == f"{first._.parse_string}\n{third._.parse_string}"
    assert parse_tree(third._.parse_string).words == ("It", "left", ".")
    with pytest.raises(DataError, match=r"^'the the .* has no parse$"):
        _ = second._.labels
    assert len(list(doc._.constituents)) == len(list(first._.constituents)) + len(list(third._.constituents))


def test_what_cannot_be_meant(pipeline: Callable[..., Any], model_folder: Path) -> None:
    with pytest.raises(ModelError, match=r"^this model translates and does not parse"):
        pipeline(model=str(model_folder))
    with pytest.raises(ModelError, match=r"^nowhere: no such model"):
        pipeline(model="nowhere")
    with pytest.raises(RecipeError, match=r"search\.beam = 3: there is no such key; did you mean search\.beam_size"):
        pipeline(search={"beam": 3})
    nlp = spacy.blank("en")
    parser = pipeline().get_pipe("attendo_parser")
    with pytest.raises(DataError, match=r'needs sentence boundaries, .* such as nlp\.add_pipe\("sentencizer"\)'):
        parser(nlp("It left."))


def test_an_installed_attendo_is_found_by_spacy() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["attendo_parser"].partition(":")
    assert getattr(import_module(module), name) is component.make_parser
    assert spacy.blank("en").get_factory_meta("attendo_parser").requires == ["doc.sents"]
