"""Checks of a text's ends, spaces, punctuation, numbers and length."""

import re
import unicodedata

from attendo.formats.file import Unit
from attendo.markup.checks.findings import Finding, warning
from attendo.markup.protection import lost_numbers
from attendo.markup.units.directives import directives
from attendo.markup.units.lengths import length_limit

STOPS = ".。।۔։·෴។።"
MARKS = {
    "end_colon": ":：៖",
    "end_question": "?՞؟⸮？፧꘏⳺;",
    "end_exclamation": "!！՜᥄႟߹",
    "end_ellipsis": "…",
}
"""Final punctuation that source and translation must share, by the names of the checks."""
_SHORTEST_WITH_STOP = 4
_WITHOUT_STOPS = ("th", "lo", "jbo")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def edge_findings(source: str, target: str) -> list[Finding]:
    """Finds differences in white space at the ends, and in line ends."""
    found = []
    for check, has_newline in (
        ("begin_newline", (source.startswith("\n"), target.startswith("\n"))),
        ("end_newline", (source.endswith("\n"), target.endswith("\n"))),
    ):
        if has_newline[0] != has_newline[1]:
            where = "begin" if check == "begin_newline" else "end"
            found.append(Finding(check, f"only one of source and translation {where}s with a line end"))
    if len(source) > 1:
        for check, stripped in (("begin_space", str.lstrip), ("end_space", str.rstrip)):
            if len(source) - len(stripped(source, " ")) != len(target) - len(stripped(target, " ")):
                found.append(warning(check, "source and translation differ in the number of spaces there"))
    if "  " in target.strip() and "  " not in source.strip():
        found.append(warning("double_space", "the translation has two spaces in a row"))
    if source.count("\n") != target.count("\n"):
        found.append(
            warning("newline-count", f"{target.count(chr(10))} line ends, the source has {source.count(chr(10))}")
        )
    if source.count("\\n") != target.count("\\n"):
        found.append(warning("escaped_newline", "source and translation differ in the number of \\n"))
    if "\u200b" in target and "\u200b" not in source:
        found.append(warning("zero-width-space", "the translation has a zero-width space"))
    if _CONTROL.search(target) and not _CONTROL.search(source):
        found.append(Finding("control-characters", "the translation has a control character"))
    return found


def ending_findings(source: str, target: str, language: str) -> list[Finding]:
    """Finds punctuation at the end of only one side."""
    source, target = source.rstrip(), target.rstrip()
    found = []
    if len(source) > _SHORTEST_WITH_STOP and language not in _WITHOUT_STOPS:
        ends = [text[-1:] in STOPS and text[-1:] != "" and not text.endswith("...") for text in (source, target)]
        if ends[0] != ends[1] and not (target.endswith(("...", "…")) or source.endswith(("...", "…"))):
            found.append(warning("end_stop", "only one of source and translation ends with a full stop"))
    for check, marks in MARKS.items():
        has, wants = target[-1:] in marks and bool(target), source[-1:] in marks and bool(source)
        if check == "end_ellipsis":
            has, wants = has or target.endswith("..."), wants or source.endswith("...")
        if check == "end_question" and language != "el":
            has, wants = has and target[-1:] != ";", wants and source[-1:] != ";"
        if has != wants:
            name = unicodedata.name(marks[0]).lower()
            found.append(warning(check, f"only one of source and translation ends with a {name}"))
    return found


def number_findings(source: str, target: str, unit: Unit, language: str) -> list[Finding]:
    """Finds numbers that the translation has neither in digits nor as words."""
    texts = _without_directives(source, unit), _without_directives(target, unit)
    lost = lost_numbers(*texts, ("", language))  # a file need not name the language of its sources
    return [warning("numbers", f"the translation lacks {', '.join(lost)}")] if lost else []


def _without_directives(text: str, unit: Unit) -> str:
    rest, position = [], 0
    for one in directives(text, unit.flags):
        rest.append(text[position : one.start])
        position = one.stop
    return " ".join([*rest, text[position:]])


def length_findings(target: str, unit: Unit) -> list[Finding]:
    """Finds a translation that is longer than its unit allows."""
    limit = length_limit(unit)
    if limit is None or limit.holds(target):
        return []
    length = limit.length(target)
    return [Finding("max-length", f"{length} {limit.unit}s are more than the {limit.most} that are allowed")]
