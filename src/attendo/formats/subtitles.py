"""Parts that SRT and WebVTT share: tags in a cue's text, and sentences of one or several cues as units."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from attendo.formats.contents import ALONE, Code, Content, joined, paired, plain
from attendo.formats.encoded import EncodedText
from attendo.formats.file import Edit, File, Form, Result, Span, UniqueIds, Unit, WriteOptions
from attendo.formats.subtitle_lines import divided, goes_on, has_lines_of_its_own, in_lines

TAGS = r"<(/?)([A-Za-z0-9][\w:.]*)[^<>\n]*>"
"""Tags in angle brackets; the groups are the slash and the name."""
_TIME = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)[,.](\d{1,3})")
_MAX_CUES = 8
"""Maximum number of cues per sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cue:
    """A text with the times at which it is shown."""

    name: str
    span: Span
    """The span of its text."""
    text: Content
    start_s: float
    stop_s: float


def cue(text: EncodedText, name: str, times: str, span: Span, syntax: "Syntax") -> Cue:
    """Makes a cue of its name, the line with its times, and the place of its text."""
    seconds = [_seconds(found) for found in _TIME.finditer(times)]
    source = syntax.read(text.text[span.start : span.stop].replace("\r\n", "\n"))
    return Cue(name=name, span=span, text=source, start_s=seconds[0], stop_s=seconds[1])


def _seconds(time: re.Match[str]) -> float:
    return 3600 * int(time[1] or 0) + 60 * int(time[2]) + int(time[3]) + float(f"0.{time[4]}")


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax of a cue's text."""

    tags: re.Pattern[str]
    decode: Callable[[str], str]
    """Returns the characters of a piece of text."""
    encode: Callable[[str], str]
    """Writes characters as a piece of text."""

    def read(self, raw: str) -> Content:
        """Reads a text with its tags as codes; a tag without a counterpart is single."""
        tags = list(self.tags.finditer(raw))
        halves = paired([((tag[2] or "").partition(".")[0], bool(tag[1])) for tag in tags])
        parts: list[str | Code] = []
        last = 0
        for number, tag in enumerate(tags):
            parts.append(self.decode(raw[last : tag.start()]))
            pair, kind = halves.get(number, (number, ALONE))
            parts.append(Code(id=str(pair), raw=tag[0], kind=kind))
            last = tag.end()
        return joined([*parts, self.decode(raw[last:])])

    def written(self, parts: Content, line_end: str) -> str:
        """Writes a text for a cue, without empty lines, which would end the cue."""
        raw = "".join(part.raw if isinstance(part, Code) else self.encode(part) for part in parts)
        return re.sub(r"\n\s*\n+", "\n", raw.strip("\n")).replace("\n", line_end)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Framed:
    """A cue without the codes around its text, which stay in place."""

    cue: Cue
    before: tuple[Code, ...]
    core: Content
    after: tuple[Code, ...]

    @property
    def lines(self) -> list[str]:
        """The lines of the text, without codes."""
        return plain(self.core).split("\n")

    def source(self) -> Content:
        """The text to translate: in one line, unless its lines are separate texts."""
        if has_lines_of_its_own(plain(self.core)):
            return self.core
        return joined([re.sub(r"[ \t]*\n[ \t]*", " ", part) if isinstance(part, str) else part for part in self.core])

    def goes_on_in(self, other: "_Framed") -> bool:
        """Whether the sentence continues in another cue."""
        has_codes = any(isinstance(part, Code) for part in (*self.core, *other.core))
        frames = ([code.raw for code in (*one.before, *one.after)] for one in (self, other))
        is_framed_alike = next(frames) == next(frames)
        pause_s = other.cue.start_s - self.cue.stop_s
        return not has_codes and is_framed_alike and goes_on(plain(self.core), plain(other.core), pause_s)


def cue_file(name: str, text: EncodedText, cues: Iterable[Cue], syntax: Syntax) -> File:
    """Makes a file of cues; a sentence over several cues is one unit.

    Args:
        name: the name of the format.
        text: the file.
        cues: the cues in the order of the file.
        syntax: the syntax of their texts.
    """
    ids, units, groups = UniqueIds(), [], {}
    for group in _groups([_framed(one) for one in cues]):
        first, last = group[0].cue.name, group[-1].cue.name
        source = group[0].source()
        for framed in group[1:]:
            source = joined([*source, " ", *framed.source()])
        is_translatable = bool(plain(source).strip())
        unit = Unit(
            id=ids.of(first if len(group) == 1 else f"{first}-{last}"),
            forms=(Form(source=source),),
            is_translatable=is_translatable,
            spans=tuple(framed.cue.span for framed in group) if is_translatable else (),
        )
        units.append(unit)
        groups[unit.id] = group
    return File(format=name, text=text, units=tuple(units), editor=_CueEditor(text, groups, syntax))


def _groups(cues: Sequence[_Framed]) -> list[list[_Framed]]:
    """Groups the cues of a sentence."""
    groups = [[cues[0]]] if cues else []
    for before, following in pairwise(cues):
        if len(groups[-1]) < _MAX_CUES and before.goes_on_in(following):
            groups[-1].append(following)
        else:
            groups.append([following])
    return groups


def _framed(cue: Cue) -> _Framed:
    """Separates a cue's text from single codes at its edges, such as positions, and from pairs around all of it."""
    parts, before, after = list(cue.text), list[Code](), list[Code]()
    while parts:
        first, last = parts[0], parts[-1]
        if isinstance(first, Code) and first.kind == "single":
            before.append(first)
            del parts[0]
        elif isinstance(last, Code) and last.kind == "single":
            after.insert(0, last)
            del parts[-1]
        elif isinstance(first, Code) and isinstance(last, Code) and first is not last and first.id == last.id:
            before.append(first)
            after.insert(0, last)
            parts = parts[1:-1]
        else:
            break
    return _Framed(cue=cue, before=tuple(before), core=tuple(parts), after=tuple(after))


@dataclass(frozen=True, slots=True)
class _CueEditor:
    """Puts translations into cues; that of several cues is divided by their durations."""

    text: EncodedText
    groups: Mapping[str, Sequence[_Framed]]
    syntax: Syntax

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits of each cue."""
        del options
        for name, found in results.items():
            group = self.groups[name]
            texts = [found.texts[0]]
            if len(group) > 1:
                durations = [max(framed.cue.stop_s - framed.cue.start_s, 0.0) for framed in group]
                pieces = divided(" ".join(plain(found.texts[0]).split()), durations)
                texts = [(piece,) if piece else () for piece in pieces]
            for framed, parts in zip(group, texts, strict=True):
                whole = (*framed.before, *in_lines(parts, framed.lines), *framed.after)
                yield Edit(framed.cue.span, self.syntax.written(whole, self.text.line_end))
