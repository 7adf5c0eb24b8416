"""Placeholders, from the descriptions of printf(3), Python, Java, Qt, i18next and Laravel."""

import pytest

from attendo.markup.units.directives import directives, numbered


@pytest.mark.parametrize(
    ("text", "flags", "expected"),
    [
        ("100%% of %s", "c-format", ["%%", "%s"]),
        ("%1$s, %2$-5.2f and %*d of %lu", "c-format", ["%1$s", "%2$-5.2f", "%*d", "%lu"]),
        ("100% of them", "c-format", ["% o"]),
        ("100% of them", "", []),
        ("%(name)s has %(n)03d", "python-format", ["%(name)s", "%(n)03d"]),
        ("{0!r:>{width}} and {} and {{", "python-brace-format", ["{0!r:>{width}}", "{}", "{{"]),
        ("%@ and %2$lld, %#@n@", "objc-format", ["%@", "%2$lld", "%#@n@"]),
        ("%1$tF at %<tT", "java-printf-format", ["%1$tF", "%<tT"]),
        ("{0,number,#.##} of {1}", "auto-java-messageformat", ["{0,number,#.##}", "{1}"]),
        ("%n files in %1, %L2", "qt-plural-format qt-format", ["%n", "%1", "%L2"]),
        ("{{count, number}} $t(common:x)", "i18next-interpolation", ["{{count, number}}", "$t(common:x)"]),
        ("Dear :name, 10:30", "laravel-format", [":name"]),
        ("$NAME$ and %NAME% and ${a.b}", "placeholders", ["$NAME$", "%NAME%", "${a.b}"]),
        ("the word URL stays", "placeholders:URL", ["URL"]),
        ("%'d %I64d %<x>s { $name } @string/x", "", ["%'d", "%I64d", "%<x>s", "{ $name }", "@string/x"]),
        ("$if2(a,%b%[,c]) and $10 (about)", "", ["$if2(a,%b%[,c])"]),
        ("\\u00a0 `ls -l` --all", "", ["\\u00a0", "`ls -l`", "--all"]),
        ("`source_suffix' is a list. Got `%r' of `a b'.", "python-format", ["%r"]),
        ("Say `f'x'` and `users'`.", "", ["`f'x'`", "`users'`"]),
    ],
)
def test_placeholders_by_flags(text: str, flags: str, expected: list[str]) -> None:
    assert [one.raw for one in directives(text, flags.split())] == expected


def test_only_placeholders_without_name_and_number_take_their_argument_by_their_place() -> None:
    text = "%s %1$s %(a)s {} {0} {a} %% %d"
    found = [
        one.raw for one in directives(text, ["c-format", "python-format", "python-brace-format"]) if one.is_positional
    ]
    assert found == ["%s", "{}", "%d"]


def test_a_number_says_which_argument() -> None:
    assert numbered("%-5.2f", 2) == "%2$-5.2f"
