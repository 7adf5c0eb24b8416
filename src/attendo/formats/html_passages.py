"""The texts of HTML: the text between block elements, with inline elements as codes, and displayed attributes."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape

from attendo.formats.contents import Code, Content, in_one_line, joined, paired
from attendo.formats.encoded import EncodedText
from attendo.formats.file import Edit, Languages, Span, base_language, is_same_language
from attendo.formats.html_tokens import WITHOUT_MARKUP, Attribute, HtmlToken, attributes_of, html_tokens
from attendo.formats.passages import WHITE, Passage, Piece, edges, paired_codes, passage_of

BLOCK_NAMES = frozenset(
    """address article aside base basefont blockquote body br button canvas caption center col colgroup dd details
    dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header
    hgroup hr html iframe input legend li link main map menu meta nav noframes noscript ol optgroup option p param
    picture pre progress script section select source style summary table tbody td template textarea tfoot th thead
    title tr track ul video audio""".split()  # noqa: SIM905
) - {"br", "input", "script", "style", "template", "textarea"}
"""Elements that end a sentence."""
_WORDS = frozenset(("code", "kbd", "samp", "var", "tt", "svg", "math"))
_FIXED = _WORDS | {"script", "style", "template", "textarea"}
"""Elements whose content is not natural language, or not part of the page's text."""
_ATTRIBUTES = frozenset(
    ("title", "alt", "placeholder", "aria-label", "aria-description", "aria-placeholder", "aria-valuetext")
)
_META_NAMES = frozenset(
    ("description", "keywords", "og:title", "og:description", "twitter:title", "twitter:description")
)
_REFERENCE = re.compile(r"&(?:#[xX][0-9a-fA-F]{1,8}|#[0-9]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});?")
_SPACE = re.compile(f"[{WHITE}]+")
_LINE = re.compile(r"[^\r\n]+|\r\n|\r|\n")
_NOT_IN_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class HtmlReader:
    """Collects the passages of HTML.

    Args:
        text: the HTML document, or a document that contains HTML.
        languages: source and target language; elements in other languages than the source are not translated.
        is_xml: whether it is XHTML.
    """

    def __init__(self, text: EncodedText, languages: Languages, *, is_xml: bool = False) -> None:
        self.text, self.languages, self._is_xml = text, languages, is_xml
        self.passages: list[Passage] = []
        self.edits: list[Edit] = []
        """Declarations of the source language, which are replaced by the target language."""
        self.declared: str | None = None
        """The language that the `html` element names."""
        self._pieces: list[tuple[Piece, str, bool]] = []  # with the name of a tag and whether it closes
        self._pre = 0
        self._context = ""

    def read(self, span: Span) -> None:
        """Reads a part of the document.

        Raises:
            DataError: it declares entities.
        """
        tokens = html_tokens(self.text.text, span, is_xml=self._is_xml)
        number = 0
        while number < len(tokens):
            number = self._read_token(tokens, number)
        self._end_passage()

    def _read_token(self, tokens: Sequence[HtmlToken], number: int) -> int:
        """Reads a token, or the whole of an element that is not translated; returns the number of the next token."""
        token = tokens[number]
        if token.kind == "text":
            self._read_text(token.span)
            return number + 1
        if token.kind == "other":
            self._add_code(token.span)
            return number + 1
        if token.kind != "close":
            attributes = attributes_of(self.text.text, token.span)
            self._read_language(token, attributes)
            is_fixed = self._is_fixed(token, attributes)
            if not is_fixed:
                self._read_attributes(token.name, attributes)
            if (is_fixed or token.name in _FIXED) and (last := _last_of(tokens, number)) is not None:
                if token.name in BLOCK_NAMES:
                    self._end_passage()
                else:
                    span = Span(token.span.start, tokens[last].span.stop)
                    self._add_code(span, is_word=is_fixed or token.name in _WORDS)
                return last + 1
        if token.name in BLOCK_NAMES:
            self._end_passage()
            self._context = "" if token.kind == "close" else token.name
            if token.name == "pre" and token.partner >= 0:
                self._pre += 1 if token.kind == "open" else -1
        else:
            self._add_code(token.span, token.name if token.kind != "empty" else "", is_closing=token.kind == "close")
        return number + 1

    def _read_text(self, span: Span) -> None:
        raw = self.text.text[span.start : span.stop]
        if not self._pre:
            self._add_text(raw, span.start)
            return
        for line in _LINE.finditer(raw):
            if line[0][0] in "\r\n":
                self._end_passage()
            else:
                self._add_text(line[0], span.start + line.start())

    def _add_text(self, raw: str, start: int) -> None:
        """Adds characters; white space at the edges becomes separate pieces, which can be left out."""
        for span in edges(raw, start):
            self._pieces.append((Piece(span=span, text=raw[span.start - start : span.stop - start]), "", False))

    def _add_code(self, span: Span, name: str = "", *, is_closing: bool = False, is_word: bool = False) -> None:
        code = Code(id="", raw=self.text.text[span.start : span.stop])
        self._pieces.append((Piece(span=span, code=code, is_word=is_word), name, is_closing))

    def _end_passage(self) -> None:
        """Ends the current passage."""
        pieces, self._pieces = self._pieces, []
        if not any(piece.text.strip() for piece, _, _ in pieces):
            return
        halves = paired([(name, is_closing) for _, name, is_closing in pieces])
        raw = "".join(piece.text for piece, _, _ in pieces)
        characters: list[Piece] = []
        tags: list[tuple[Code, int | None]] = []
        for number, (piece, _, _) in enumerate(pieces):
            if piece.code is not None:
                pair = halves[number][0] if number in halves else None
                tags.append((Code(id=str(number), raw=piece.code.raw), pair))
        codes = iter(paired_codes(tags))
        for piece, _, _ in pieces:
            if piece.code is not None:
                characters.append(Piece(span=piece.span, code=next(codes), is_word=piece.is_word))
            else:
                characters += html_pieces(piece.text, piece.span.start, keeps_space=bool(self._pre))
        writer = html_writer(self.text.encoding, spelling_of(raw))
        passage = passage_of(characters, writer, context=self._context)
        if passage is not None:
            self.passages.append(passage)

    def _read_language(self, token: HtmlToken, attributes: Mapping[str, Attribute]) -> None:
        """Records a declaration of the source language, which the target language replaces."""
        found = [attributes[name] for name in ("lang", "xml:lang") if name in attributes]
        equivalent = attributes.get("http-equiv")
        if token.name == "meta" and equivalent and equivalent.value.lower() == "content-language":
            found += [attributes["content"]] if "content" in attributes else []
        if token.name == "html" and found and self.declared is None:
            self.declared = found[0].value
        source = self.languages.source or self.declared
        for attribute in found:
            is_source = token.name == "html" or (source and is_same_language(attribute.value, source))
            if is_source and self.languages.target:
                value = self.languages.target.replace("_", "-")
                self.edits.append(Edit(attribute.span, value if attribute.quote else f'"{value}"'))

    def _is_fixed(self, token: HtmlToken, attributes: Mapping[str, Attribute]) -> bool:
        """Whether an element is not to be translated, or is in another language."""
        if (found := attributes.get("translate")) is not None and found.value.strip().lower() == "no":
            return True
        if (found := attributes.get("class")) is not None and "notranslate" in found.value.split():
            return True
        language = attributes.get("lang") or attributes.get("xml:lang")
        source = self.languages.source or self.declared
        if token.name == "html" or language is None or not source or not language.value.strip():
            return False
        return base_language(language.value.strip()) != base_language(source)

    def _read_attributes(self, element: str, attributes: Mapping[str, Attribute]) -> None:
        """Adds the passages of attributes that people read."""
        names = set(_ATTRIBUTES) if element not in ("link", "meta") else set()
        if element in ("option", "optgroup", "track", "menu"):
            names.add("label")
        if element == "input" and "type" in attributes and attributes["type"].value.lower() in _BUTTONS:
            names.add("value")
        described = attributes.get("name") or attributes.get("property")
        if element == "meta" and described is not None and described.value.strip().lower() in _META_NAMES:
            names.add("content")
        for name in sorted(names & attributes.keys()):
            attribute = attributes[name]
            if unescape(attribute.value).strip():
                self.passages.append(_attribute_passage(self.text, attribute, name))


def _last_of(tokens: Sequence[HtmlToken], number: int) -> int | None:
    """Returns the last token of an element; None if it is never closed."""
    token = tokens[number]
    if token.kind == "empty":
        return number
    if token.partner < 0 and token.name in WITHOUT_MARKUP:  # to the end of the document
        return min(number + 1, len(tokens) - 1)
    return token.partner if token.partner >= 0 else None


_BUTTONS = frozenset(("submit", "button", "reset"))


def _attribute_passage(text: EncodedText, attribute: Attribute, name: str) -> Passage:
    pieces = html_pieces(attribute.value, attribute.span.start, keeps_space=True)
    write = html_writer(text.encoding, spelling_of(attribute.value))
    quote = attribute.quote or '"'
    entity = "&quot;" if quote == '"' else "&#39;"

    def written(parts: Content) -> str:
        raw = "".join(part.raw if isinstance(part, Code) else write((part,)).replace(quote, entity) for part in parts)
        return raw if attribute.quote else f'"{raw}"'

    source = joined([piece.text if piece.code is None else piece.code for piece in pieces])
    return Passage(span=attribute.span, source=source, written=written, context=name)


def html_pieces(raw: str, start: int, *, keeps_space: bool) -> list[Piece]:
    """Returns the characters of HTML text; references that HTML does not define are codes.

    Args:
        raw: the text.
        start: its position.
        keeps_space: whether white space is kept, as in `pre`; elsewhere it counts as one space.
    """
    pieces: list[Piece] = []
    last = 0
    for found in _REFERENCE.finditer(raw):
        character = unescape(found[0])
        if character == found[0] and not found[0].endswith(";"):
            continue
        _add_plain(pieces, raw[last : found.start()], start + last, keeps_space=keeps_space)
        span = Span(start + found.start(), start + found.end())
        if character == found[0]:
            pieces.append(Piece(span=span, code=Code(id=f"entity@{found.start()}", raw=found[0]), is_word=True))
        else:
            pieces.append(Piece(span=span, text=character))
        last = found.end()
    _add_plain(pieces, raw[last:], start + last, keeps_space=keeps_space)
    return pieces


def _add_plain(pieces: list[Piece], raw: str, start: int, *, keeps_space: bool) -> None:
    if raw:
        text = raw if keeps_space else _SPACE.sub(" ", raw)
        pieces.append(Piece(span=Span(start, start + len(raw)), text=text))


def spelling_of(raw: str) -> dict[str, str]:
    """Returns the references that a text has for characters, without those for ASCII letters and white space."""
    spelling: dict[str, str] = {}
    for found in _REFERENCE.finditer(raw):
        character = unescape(found[0])
        if len(character) == 1 and found[0].endswith(";") and (not character.isascii() or character in "<>\"'"):
            spelling.setdefault(character, found[0])
    return spelling


def html_writer(encoding: str, spelling: Mapping[str, str]) -> Callable[[Content], str]:
    """Returns a function that writes text as HTML.

    Args:
        encoding: the file's encoding; characters that it lacks become references.
        spelling: characters that the replaced text writes as references.
    """
    table = str.maketrans({"<": "&lt;", **spelling, "&": "&amp;"})

    def write(text: str) -> str:
        text = _NOT_IN_HTML.sub("\ufffd", text).translate(table).replace("]]>", "]]&gt;")
        # An empty line ends HTML within Markdown, and elsewhere line ends are spaces.
        text = in_one_line(text)
        return text.encode(encoding, "xmlcharrefreplace").decode(encoding)

    return lambda parts: "".join(part.raw if isinstance(part, Code) else write(part) for part in parts)
