"""Java's properties. Expected bytes are written by hand after the documentation of java.util.Properties."""

import pytest

from attendo.formats.contents import plain
from attendo.formats.file import result
from attendo.formats.table import read_file


def rewritten(data: bytes, texts: dict[str, str]) -> bytes:
    return read_file(data, "a.properties").write({name: result(text) for name, text in texts.items()})


@pytest.mark.parametrize(
    ("raw", "key", "source"),
    [
        (b"k=v", "k", "v"),
        (b"  k  :  v w ", "k", "v w "),
        (b"k v", "k", "v"),
        (b"a\\ b\\=c = v", "a b=c", "v"),
        (b"k=a \\\n    b\\\r\n\tc", "k", "a bc"),
        (b"k=\\u00e9\\t\\\\\\n\\z", "k", "é\t\\\nz"),
        (b"k=\\uD83D\\uDE00", "k", "😀"),
        (b"k=\xe9", "k", "é"),
        ("k=é".encode(), "k", "é"),
        (b"! c\n\n# note\nk=v", "k", "v"),
        (b"k={0} it''s", "k", "{0} it's"),
        (b"k=\\", "k", "\\"),
    ],
)
def test_values_are_read(raw: bytes, key: str, source: str) -> None:
    file = read_file(raw, "a.properties")
    (unit,) = file.units
    assert (unit.id, plain(unit.source)) == (key, source)
    assert file.write({}) == raw


def test_values_are_written_in_the_style_of_the_file() -> None:
    ascii_file = b"# c\r\nk : caf\\u00e9 {0} it''s\r\nl=x \\\r\n  y\r\nm \\u00C9\r\nk=twin"  # cases 29, 30
    out = rewritten(ascii_file, {"k": "L'\u00fc {0}", "l": "b\\c\nd", "k#2": "\u00e9"})
    assert out == b"# c\r\nk : L''\\u00fc {0}\r\nl=b\\\\c\\nd\r\nm \\u00C9\r\nk=\\u00e9"
    assert rewritten(b"k=\\u00C9", {"k": "\u00fc😀"}) == b"k=\\u00FC\\uD83D\\uDE00"
    assert rewritten("k=é\nl=x".encode(), {"l": " ü"}) == "k=é\nl=\\ ü".encode()
    assert rewritten(b"k=\xe9\nl=x", {"l": "\u00fc\u0142"}) == b"k=\xe9\nl=\xfc\\u0142"
    assert rewritten(b"k=x", {"k": "it's"}) == b"k=it's"


def test_empty_values_and_comments() -> None:
    file = read_file(b"# note\nk=\nl\n#n\nm=v\n", "a.properties")
    assert [(unit.id, unit.is_translatable, unit.notes) for unit in file.units] == [
        ("k", False, ("note",)),
        ("l", False, ()),
        ("m", True, ("n",)),
    ]
