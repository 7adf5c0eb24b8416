"""Checks of the parts of a text that programs read: placeholders, inline codes, ICU messages, XML, accelerators."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from xml.parsers import expat

from attendo.errors import DataError
from attendo.formats.contents import Content, codes, plain
from attendo.markup.checks.findings import Finding
from attendo.markup.units.accelerators import accelerator_sign, count_of, without_accelerator
from attendo.markup.units.directives import Directive, can_be_numbered, directives
from attendo.markup.units.icu import looks_branched, parse_icu, shape

_NUMBERED = re.compile(r"%(\d+)\$")
_PRINTF = frozenset(("c-format", "python-format", "php-format", "objc-format", "java-printf-format", "perl-format"))
_SHOWN = 60


def arguments(text: str, flags: Collection[str]) -> Counter[tuple[int, str]]:
    """Returns the argument of each placeholder of a text with its spelling; 0 if it is named, or has none."""
    found: Counter[tuple[int, str]] = Counter()
    place = 0
    for directive in directives(text, flags):
        if directive.is_literal:
            continue
        number = _NUMBERED.match(directive.raw)
        if number:
            found[int(number[1]), _NUMBERED.sub("%", directive.raw)] += 1
        elif directive.is_positional:
            place += 1
            found[place, directive.raw] += 1
        else:
            found[0, directive.raw] += 1
    return found


def placeholder_findings(
    sources: Sequence[str], target: str, flags: Collection[str], *, may_lack_number: bool
) -> list[Finding]:
    """Finds placeholders that a translation lacks or has in addition.

    Args:
        sources: texts of which one has the required placeholders: the form's own first, then those of other forms,
            which count if they lack none of its own.
        target: the translation.
        flags: the unit's flags.
        may_lack_number: whether the form is of a single number, so that a placeholder may be left out.
    """
    present = arguments(target, flags)
    own, *others = (arguments(source, flags) for source in sources)
    wanted = [own, *(other for other in others if not own - other)]
    if any(_fits(present, each, flags) or (may_lack_number and not present - each) for each in wanted):
        return _stray_percent(sources[0], target, flags)
    missing, added = own - present, present - own
    if Counter(raw for _, raw in missing.elements()) == Counter(raw for _, raw in added.elements()):
        return [Finding("placeholders", f"the order of {_listed(missing)} is another")]
    messages = [f"lacks {_listed(missing)}"] if missing else []
    messages += [f"has {_listed(added)}, which the source has not"] if added else []
    return [Finding("placeholders", f"the translation {' and '.join(messages)}")]


def _fits(there: Counter[tuple[int, str]], wanted: Counter[tuple[int, str]], flags: Collection[str]) -> bool:
    if there == wanted:
        return True
    numbers_only = {raw for number, raw in wanted if number} | {raw for number, raw in there if number}
    # Without a format's flag nothing is known of arguments, only that each placeholder should be there.
    is_known = can_be_numbered(flags) or not _PRINTF.isdisjoint(flags) or "python-brace-format" in flags
    return not is_known and bool(numbers_only) and _raws(there) == _raws(wanted)


def _raws(found: Counter[tuple[int, str]]) -> Counter[str]:
    return Counter(raw for _, raw in found.elements())


def _listed(found: Counter[tuple[int, str]]) -> str:
    return ", ".join(raw[:_SHOWN] for _, raw in found.elements())


def _stray_percent(source: str, target: str, flags: Collection[str]) -> list[Finding]:
    """Finds a per cent sign that begins no placeholder, where programs expect one."""
    if _PRINTF.isdisjoint(flags) or "%" in _without(source, directives(source, flags)):
        return []
    if "%" in _without(target, directives(target, flags)) and directives(source, flags):
        return [Finding("placeholders", "a % in the translation begins no placeholder; %% stands for the sign")]
    return []


def _without(text: str, found: Sequence[Directive]) -> str:
    rest, position = [], 0
    for one in found:
        rest.append(text[position : one.start])
        position = one.stop
    return "".join([*rest, text[position:]])


def code_findings(source: Content, target: Content) -> list[Finding]:
    """Finds inline codes that a translation lacks, repeats or has in addition."""
    of_source, of_target = codes(source), codes(target)
    if not of_source and not of_target:
        return []
    wanted = Counter((code.id, code.kind, code.raw) for code in of_source)
    present = Counter((code.id, code.kind, code.raw) for code in of_target)
    # A translation that people made may write a code in its own way: a link to a page of its language.
    by_id = Counter((name, kind) for name, kind, _ in wanted.elements())
    if by_id == Counter((name, kind) for name, kind, _ in present.elements()):
        return []
    missing, added = wanted - present, present - wanted
    messages = [f"lacks {', '.join(raw[:_SHOWN] for _, _, raw in missing.elements())}"] if missing else []
    messages += [f"has {', '.join(raw[:_SHOWN] for _, _, raw in added.elements())} too often"] if added else []
    return [Finding("codes", f"the translation {' and '.join(messages)}")]


def icu_findings(source: str, target: str, flags: Collection[str]) -> list[Finding]:
    """Finds errors in the translation of an ICU message."""
    if "icu-message-format" not in flags and not looks_branched(source):
        return []
    try:
        wanted = shape(parse_icu(source))
    except DataError:
        return []  # a text that is no message cannot become one
    try:
        target_shape = shape(parse_icu(target))
    except DataError as error:
        return [Finding("icu_message_format", str(error))]
    known, written = set(wanted), set(target_shape)
    missing = [part for part in wanted if part not in written and part != ("argument", "#")]
    added = [
        part
        for part in target_shape
        if part not in known and part != ("argument", "#") and not part[-1].endswith("number}")
    ]
    if not missing and not added:
        return []
    names = ", ".join(" ".join(part[1:])[:_SHOWN] for part in [*missing, *added])
    return [Finding("icu_message_format", f"arguments or choices differ from the source's: {names}")]


def xml_findings(source: str, target: str) -> list[Finding]:
    """Finds markup that is well formed in the source but not in the translation."""
    if "<" not in source or not _is_xml(source) or _is_xml(target):
        return []
    return [Finding("xml-invalid", "the markup in the translation is not well formed")]


def _is_xml(text: str) -> bool:
    parser = expat.ParserCreate()
    try:
        parser.Parse(f"<x>{text}</x>".encode("utf-8", "replace"), True)
    except expat.ExpatError:
        return False
    return True


def accelerator_findings(source: Content, target: Content, flags: Collection[str]) -> list[Finding]:
    """Finds an accelerator that the translation does not have exactly once."""
    found = without_accelerator(source, flags)[1]
    sign = found.sign if found else accelerator_sign(flags)
    if sign is None:
        return []
    wanted, count = count_of(plain(source), sign), count_of(plain(target), sign)
    if wanted == count:
        return []
    return [Finding("accelerator", f"the translation has {count} of the sign {sign}, the source {wanted}")]
