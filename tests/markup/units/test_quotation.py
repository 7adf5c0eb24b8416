"""Quotation marks around placeholders, as translations of programs' messages lost them."""

import re

import pytest
from tests.markup.made_up import MadeUp, shown, translated

from attendo.formats.contents import Code, Content, joined
from attendo.markup.units.quotation import with_quotation_marks


def text(written: str) -> Content:
    """A content in which placeholders of Python are codes."""
    parts = re.split(r"(\{\w*\})", written)
    return joined([Code(id=part, raw=part) if part.startswith("{") else part for part in parts])


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ('Delete file "{0}". {1}', "Datei löschen {0}. {1}", 'Datei löschen "{0}". {1}'),
        ("Open “{a}” now", "Öffnen von »{a} jetzt", "Öffnen von »{a}« jetzt"),
        ("Open “{a}” now", "Öffnen von „{a} jetzt", "Öffnen von „{a}“ jetzt"),
        ("“{a}” is in “{b}”", "»{a}« ist in {b}”", "»{a}« ist in “{b}”"),
        ("in file `{a}'.", "in Datei `{a}.", "in Datei `{a}'."),
        ("copy '{0}' to '{1}': {2}", "'{0}' kopieren: {2} {1}'", "'{0}' kopieren: {2} '{1}'"),
        ("A='{2}', B='{3}'", "A='{2}, B='{3}", "A='{2}', B='{3}'"),
        # As many marks as in the source, or none around the placeholder there: nothing is known to be lacking.
        ('the "{1}" and "{2}" SDKs', 'die "{1}" und "{2} SDKs"', 'die "{1}" und "{2} SDKs"'),
        ("'{0}' is", "das ‚{0}‘ ist", "das ‚{0}‘ ist"),
        ("Say {0}", 'Sag {0}"', 'Sag {0}"'),
        ("It's {0}'s", "Es gehört {0}", "Es gehört {0}"),
        ('the file "{0} of {1}"', "die Datei {0} von {1}", "die Datei {0} von {1}"),
    ],
)
def test_marks_that_are_lost_come_back(source: str, translation: str, expected: str) -> None:
    assert shown(with_quotation_marks(text(source), text(translation))) == expected


def test_a_translation_of_a_message_has_them() -> None:
    made_up = MadeUp(lambda line: [word.replace('"', "") for word in line.split()])
    assert translated('open "%s" now', "c-format", made_up=made_up) == 'open "%s" now'
