"""`attendo_parser` for spaCy's pipelines, and its extensions of documents, spans and tokens, like benepar's.

Importing this module registers both with spaCy; an installed attendo is found by `nlp.add_pipe` without an import.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from attendo.errors import DataError
from attendo.parsing.sentences import Sentence
from attendo.spacy.constituents import Constituents, Range
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load

NAME = "attendo_parser"
DATA = "attendo_constituents"
"""The extension of a document that holds everything, as values that are saved with it."""

_SPACE = re.compile(r"[ \t\n\v\f\r]+")
_TAG = re.compile(r"[^ \t\n\v\f\r()]+")
_DEFAULTS: dict[str, Any] = {
    "ensemble": [],
    "search": {},
    "use_tags": False,
    "dtype": None,
    "device": "auto",
    "threads": None,
}


class ConstituencyParser:
    """Parses the sentences of documents; spaCy's tokens are the words.

    A saved pipeline has the model's path and settings in its `config.cfg`, not the model. If the model has moved:
    `spacy.load(FOLDER, config={"components": {"attendo_parser": {"model": PATH}}})`.

    Args:
        settings: the arguments of `make_parser` without the pipeline.

    Raises:
        ModelError: the model is missing, damaged or not a parser.
        RecipeError: a search setting is invalid.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        own = {key: settings[key] for key in ("ensemble", "search", "dtype", "device", "threads")}
        self.engine: Engine = load(settings["model"], **own)
        """The parsing engine."""
        self.engine.parse([])  # rejects at once a model that is not a parser

    def __reduce__(self) -> tuple[Callable[..., "ConstituencyParser"], tuple[dict[str, Any]]]:
        """Another process loads the model again."""
        return ConstituencyParser, (self._settings,)

    def __call__(self, doc: Doc) -> Doc:
        """Parses a document.

        Raises:
            DataError: it has no sentence boundaries.
        """
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parses documents as they arrive, the sentences of several at a time.

        Args:
            stream: the documents.
            batch_size: number of documents at a time.

        Yields:
            The documents, in order.

        Raises:
            DataError: one has no sentence boundaries.
        """
        remaining = iter(stream)
        while docs := list(islice(remaining, batch_size)):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        """Adds the trees to documents; a sentence that cannot be parsed gets a warning and no tree."""
        wanted = [(doc, tokens) for doc in docs for tokens in _sentences(doc)]
        parses = self.engine.parse_n_best([self._sentence(tokens) for _, tokens in wanted])
        found = {id(doc): Constituents(spans=[], tags=[""] * len(doc)) for doc in docs}
        for (doc, tokens), parse in zip(wanted, parses, strict=True):
            if parse.n_best:
                found[id(doc)].add(parse.tree, [token.i for token in tokens])
            else:
                beginning = doc[tokens[0].i : tokens[0].i + 8].text
                warnings.warn(f"{NAME}: no parse of the sentence {beginning!r}...: {parse.problem}", stacklevel=3)
        for doc in docs:
            doc._.set(DATA, {"spans": found[id(doc)].spans, "tags": found[id(doc)].tags})

    def _sentence(self, tokens: Sequence[Token]) -> Sentence:
        tags = [_tag(token) for token in tokens] if self._settings["use_tags"] else None
        return Sentence(words=[_word(token) for token in tokens], tags=tags)


def make_parser(
    nlp: Language,
    name: str,
    model: str,
    ensemble: list[str],
    search: dict[str, Any],
    use_tags: bool,
    dtype: Literal["float32", "bfloat16", "int8"] | None,
    device: Literal["auto", "cpu", "cuda"],
    threads: int | None,
) -> ConstituencyParser:
    """Makes the component; called by spaCy.

    Args:
        nlp: the pipeline.
        name: the name of the component.
        model: a model folder, a run folder or the name of a shipped model.
        ensemble: further models; the mean of all models' probabilities is searched.
        search: settings to change, such as `{"beam_size": 8}`.
        use_tags: whether the words keep the tags (`token.tag_`) from a tagger.
        dtype: the dtype of the matrix products; None for the models' own.
        device: the device; `auto` uses a GPU if there is one.
        threads: processor threads, for this whole process; None for torch's default.
    """
    return ConstituencyParser(
        {
            "model": model,
            "ensemble": ensemble,
            "search": search,
            "use_tags": use_tags,
            "dtype": dtype,
            "device": device,
            "threads": threads,
        }
    )


def _sentences(doc: Doc) -> Iterator[list[Token]]:
    """The words of each sentence that has words."""
    if not doc.has_annotation("SENT_START"):
        raise DataError(
            f"{NAME} needs sentence boundaries, and the document has none; put a component that sets them before it, "
            'such as nlp.add_pipe("sentencizer")'
        )
    for sentence in doc.sents:
        tokens = [token for token in sentence if not token.is_space]
        if tokens:
            yield tokens


def _word(token: Token) -> str:
    """A token as a tree may have it; a token merged from several words contains spaces."""
    return _SPACE.sub("_", token.text)


def _tag(token: Token) -> str | None:
    """A token's tag; None if it has none that is valid in a tree, unlike German's `$(`."""
    return token.tag_ if _TAG.fullmatch(token.tag_) else None


# --- the extensions of spans, tokens and documents ------------------------------------------------------------------


def _found(span: Span) -> tuple[Constituents, Range] | None:
    """The document's constituents, and the one that a span is; None for white space, which is in no tree.

    Raises:
        DataError: the span is no constituent, or has no parse.
    """
    data = span.doc._.get(DATA)
    if data is None:
        raise DataError(f'the document is not parsed; nlp.add_pipe("{NAME}", config={{"model": ...}}) does that')
    if not _has_words(span):
        return None
    constituents = Constituents(spans=data["spans"], tags=data["tags"])
    try:
        return constituents, constituents.found(span.start, span.end)
    except DataError as error:
        raise DataError(f"{span.text[:80]!r} {error}") from error


def _labels(span: Span) -> tuple[str, ...]:
    found = _found(span)
    return found[0].labels(found[1]) if found else ()


def _parse_string(span: Span) -> str:
    found = _found(span)
    return str(found[0].tree(found[1], [_word(token) for token in span], span.start)) if found else ""


def _parent(span: Span) -> Span | None:
    found = _found(span)
    parent = found[0].parent(found[1]) if found else None
    return None if parent is None else span.doc[slice(*parent)]


def _children(span: Span) -> Iterator[Span]:
    found = _found(span)
    return (span.doc[slice(*child)] for child in (found[0].children(found[1]) if found else ()))


def _constituents(span: Span) -> Iterator[Span]:
    found = _found(span)
    return (span.doc[slice(*each)] for each in (found[0].within(found[1]) if found else ()))


_OF_SPANS: dict[str, Callable[[Span], Any]] = {
    "labels": _labels,
    "parse_string": _parse_string,
    "parent": _parent,
    "children": _children,
    "constituents": _constituents,
}
"""The extensions of a span that is a constituent; a DataError for any other span."""


def _has_words(span: Span) -> bool:
    return any(not token.is_space for token in span)


def _parsed_sentences(doc: Doc) -> Iterator[Span]:
    """The sentences that have a tree."""
    data = doc._.get(DATA) or {"tags": []}
    return (sentence for sentence in doc.sents if any(data["tags"][sentence.start : sentence.end]))


def _document_trees(doc: Doc) -> str:
    """The trees of all sentences, one per line."""
    return "\n".join(map(_parse_string, _parsed_sentences(doc)))


def _document_constituents(doc: Doc) -> Iterator[Span]:
    return (each for sentence in _parsed_sentences(doc) for each in _constituents(sentence))


def _of_token(get: Callable[[Span], Any]) -> Callable[[Token], Any]:
    return lambda token: get(token.doc[token.i : token.i + 1])


# force: also where the module is read again, or benepar has been there before.
Doc.set_extension(DATA, default=None, force=True)
Doc.set_extension("parse_string", getter=_document_trees, force=True)
Doc.set_extension("constituents", getter=_document_constituents, force=True)
for _key, _get in _OF_SPANS.items():
    Span.set_extension(_key, getter=_get, force=True)
for _key in ("labels", "parse_string", "parent"):
    Token.set_extension(_key, getter=_of_token(_OF_SPANS[_key]), force=True)
Language.factory(
    NAME,
    default_config=_DEFAULTS,
    requires=["doc.sents"],
    assigns=["doc._.parse_string", "doc._.constituents", *(f"span._.{key}" for key in _OF_SPANS)],
    func=make_parser,
)
