"""Apple's string catalogues. Expected bytes are written by hand in the layout that Xcode writes."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import File, Languages, WriteOptions, result
from attendo.formats.table import read_file


def catalogue(strings: str) -> str:
    return f'{{\n  "sourceLanguage" : "en",\n  "strings" : {{\n{strings}\n  }},\n  "version" : "1.0"\n}}'


def read(strings: str, target: str = "de") -> File:
    return read_file(catalogue(strings).encode(), "L.xcstrings", Languages(target=target))


def unit(language: str, state: str, value: str) -> str:
    return (
        f'        "{language}" : {{\n          "stringUnit" : {{\n            "state" : "{state}",\n'
        f'            "value" : "{value}"\n          }}\n        }}'
    )


def entry(*units: str, more: str = "") -> str:
    joined = ",\n".join(units)
    return f'    "Hello %@" : {{\n{more}      "localizations" : {{\n{joined}\n      }}\n    }}'


def test_a_key_without_languages_gets_one() -> None:
    text = '    "Hello %@" : {\n\n    }'
    file = read(text)
    assert (plain(file.units[0].source), file.units[0].state) == ("Hello %@", "new")
    out = file.write({"Hello %@": result('Hallo "%@"')}).decode()
    assert out == catalogue(entry(unit("de", "needs_review", 'Hallo \\"%@\\"')))
    assert file.write({}) == catalogue(text).encode()


def test_a_language_is_added_in_the_order_of_the_alphabet() -> None:
    for code in ("ar", "fr"):
        file = read(entry(unit(code, "translated", "x")))
        out = file.write({"Hello %@": result("D")}, WriteOptions(mark="none")).decode()
        units = sorted([unit(code, "translated", "x"), unit("de", "translated", "D")])
        assert out == catalogue(entry(*units))


def test_a_translation_that_is_there_is_replaced_with_its_state() -> None:
    file = read(entry(unit("de", "needs_review", "x"), unit("en", "new", "Hi %@")))
    assert (plain(file.units[0].source), file.units[0].state) == ("Hi %@", "fuzzy")
    out = file.write({"Hello %@": result("D")}, WriteOptions(mark="none")).decode()
    assert out == catalogue(entry(unit("de", "translated", "D"), unit("en", "new", "Hi %@")))


def test_a_language_without_a_text_gets_one_in_its_place() -> None:
    file = read(entry('        "de" : {\n          "note" : "x"\n        }'))
    out = file.write({"Hello %@": result("D")}).decode()
    added = '"stringUnit" : {\n            "state" : "needs_review",\n            "value" : "D"\n          }'
    assert out == catalogue(entry(f'        "de" : {{\n          "note" : "x",\n          {added}\n        }}'))


def variation(*forms: str) -> str:
    joined = ",\n".join(forms)
    opening = '{\n          "variations" : {\n            "plural" : {\n'
    return f"{opening}{joined}\n            }}\n          }}\n        }}"


def form(name: str, state: str, value: str) -> str:
    return (
        f'              "{name}" : {{\n                "stringUnit" : {{\n                  "state" : "{state}",\n'
        f'                  "value" : "{value}"\n                }}\n              }}'
    )


def test_plural_variations_are_those_of_the_target_language() -> None:
    english = f'        "en" : {variation(form("one", "new", "%d file"), form("other", "new", "%d files"))}'
    file = read(entry(english), "pl")
    assert [(one.name, plain(one.source)) for one in file.units[0].forms] == [
        ("one", "%d file"),
        ("few", "%d files"),
        ("many", "%d files"),
        ("other", "%d files"),
    ]
    out = file.write({"Hello %@": result("a", "b", "c", "d")}).decode()
    texts = {"few": "b", "many": "c", "one": "a", "other": "d"}
    polish = variation(*(form(name, "needs_review", text) for name, text in texts.items()))
    assert out == catalogue(entry(english, f'        "pl" : {polish}'))
    # What a person wrote stays where categories are added.
    half = f'        "pl" : {variation(form("one", "translated", "x"), form("other", "translated", "y"))}'
    out = read(entry(english, half), "pl").write({"Hello %@": result("a", "b", "c", "d")}).decode()
    states = [("few", "needs_review", "b"), ("many", "needs_review", "c")]
    forms = [form(*one) for one in [*states, ("one", "translated", "x"), ("other", "translated", "y")]]
    assert out == catalogue(entry(english, f'        "pl" : {variation(*forms)}'))


@pytest.mark.parametrize("more", ['      "shouldTranslate" : false,\n', '      "extractionState" : "stale",\n'])
def test_keys_that_are_not_to_be_translated(more: str) -> None:
    (found,) = read(entry(unit("fr", "translated", "x"), more=more)).units
    assert not found.is_translatable


def test_the_target_language_has_to_be_said() -> None:
    message = r"L\.xcstrings: a string catalogue holds several languages; name the target language"
    with pytest.raises(DataError, match=message):
        read_file(catalogue("").encode(), "L.xcstrings")
    with pytest.raises(DataError, match="not a string catalogue"):
        read_file(b'{"a": "b"}', "L.xcstrings", Languages(target="de"))
