"""What has to come back to the letter; the expected stretches are marked by hand."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.guards.protected import emoji_at_ends, protected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Look at https://example.org/a?b=c#d, please.", ["https://example.org/a?b=c#d"]),
        ("It is on www.example.org.", ["www.example.org"]),
        ("SEE HTTPS://EXAMPLE.ORG/A OR WWW.EXAMPLE.ORG!", ["HTTPS://EXAMPLE.ORG/A", "WWW.EXAMPLE.ORG"]),
        ("(see https://example.org/x_(y))", ["https://example.org/x_(y)"]),
        ("Connect to redis://localhost:6379, then s3://a/b/.", ["redis://localhost:6379", "s3://a/b/"]),
        ("jdbc:mysql://localhost/test, dav:// or chrome://settings!", [
            "jdbc:mysql://localhost/test", "dav://", "chrome://settings",
        ]),
        ("mailto:a@example.org, tel:+49-30-1234 and ms-settings:privacy", [
            "mailto:a@example.org", "tel:+49-30-1234", "ms-settings:privacy",
        ]),
        ("Is it example.com? Or sub.example.co.uk/path!", ["example.com", "sub.example.co.uk/path"]),
        ("Write to jane.doe+news@mail.example.org.", ["jane.doe+news@mail.example.org"]),
        ("Ask @jane_doe about #winter2031!", ["@jane_doe", "#winter2031"]),
        ("Open /etc/some/file.conf or C:\\Users\\Me\\x.txt now", ["/etc/some/file.conf", "C:\\Users\\Me\\x.txt"]),
        ("It is in docs/guide/index.md.", ["docs/guide/index.md"]),
        ("~/notes/today.txt and ./run/me", ["~/notes/today.txt", "./run/me"]),
        ("Edit ~/.bashrc, then ./configure.", ["~/.bashrc", "./configure"]),
        ("%s has %1$d files, %(name)s, %5.2f", ["%s", "%1$d", "%(name)s", "%5.2f"]),
        ("Hello {name}, {{ user.first }}, ${amount}, {0!r:>10}, {}", [
            "{name}", "{{ user.first }}", "${amount}", "{0!r:>10}", "{}",
        ]),
        ("{count, plural, one {# file} other {# files}} left", ["{count, plural, one {# file} other {# files}}"]),
        ('A <b class="x">bold</b> word<br/> &amp; more', ['<b class="x">', "</b>", "<br/>", "&amp;"]),
        ("Take 12345 or 1,500.25 or 3.5, on 12.10.2031.", ["12345", "1,500.25", "3.5", "12.10.2031"]),
        ("It is -5.25 degrees.", ["5.25"]),
        ("It costs $1,500.25, € 20000 or 3.5 % of 70000£.", ["$1,500.25", "€ 20000", "3.5 %", "70000£"]),
        ("It costs $5 or 20 €.", []),
        ("On 2031-05-17 call 030-1234567.", ["2031-05-17", "030-1234567"]),
        ("Typed \u27e63\u27e7 here", ["\u27e63\u27e7"]),
        ("So \U0001f600\U0001f600 and \u2764\ufe0f!", ["\U0001f600", "\U0001f600", "\u2764\ufe0f"]),
        # A family joined, a flag, a skin tone, a keycap, the flag of Wales: one emoji each.
        ("a \U0001f468\u200d\U0001f469\u200d\U0001f467 b", ["\U0001f468\u200d\U0001f469\u200d\U0001f467"]),
        ("a \U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7 b", ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"]),
        ("a \U0001f44d\U0001f3fd b 1\ufe0f\u20e3", ["\U0001f44d\U0001f3fd", "1\ufe0f\u20e3"]),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f!", [
            "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
        ]),
        # What is the model's: years, times, ranges, shares, small numbers, words with a slash, comparisons, prose.
        ("In 2031 at 10:30, between 10-12 of 400, 1/2 or 50 % and 100% of it.", []),
        ("He and/or she, yes/no; a < b and c > d; x<y; AT&T; {see there}; 5%der", []),
        ("Note: data, about: this; a & b; tel: none", []),
        ("The end.Then more, i.e. this. Nothing else!", []),
        ("Wir kommen um 10.30 Uhr.", []),
        ("The model B-12345x #1", []),
        # Names and values of programs.
        ("The model B-12345, A4 and R2D2", ["B-12345", "A4", "R2D2"]),
        ("Set my_variable of System.IO.File, call getUser().", ["my_variable", "System.IO.File", "getUser()"]),
        ("JavaScript on a MacBook, in config.toml since v2.1", ["JavaScript", "MacBook", "config.toml", "v2.1"]),
        ("Run `ls -l` with --dry-run, -v and $HOME at f2a8fa1.", ["`ls -l`", "--dry-run", "-v", "$HOME", "f2a8fa1"]),
        ("The value `suffix' is a list. Got `echo' instead.", []),
        ("Say `print('a')` or `x['b']`.", ["`print('a')`", "`x['b']`"]),
        ("Set key=value or a.b=1,5, not x = y.", ["key=value", "a.b=1"]),
        ("If a == b && c.d != 5, or x >= y, stop.", ["a == b && c.d != 5", "x >= y"]),
        ("Run make && make install || stop", ["make && make", "install || stop"]),
        ("Run (make) && (make install)", ["&&"]),
        ("use -v", ["-v"]),
        ("-v", ["-v"]),
        ("see --all", ["--all"]),
        ("Das --enable-debug-Flag und die nuget.org-Paketseite", ["--enable-debug", "nuget.org"]),
        ("Der www.example.com-Server und www.example.com/My-Page", ["www.example.com", "www.example.com/My-Page"]),
        ("Call 555 555 55 55 or 06 12 34 56 78 now.", ["555 555 55 55", "06 12 34 56 78"]),
        ("It is (9 1 6), 4 4 6, 3 7 5 7.", ["(9 1 6), 4 4 6, 3 7 5 7"]),
        ("sicher, es ist 9 1 6 4 9 8 9 8 9 1.", ["9 1 6 4 9 8 9 8 9 1"]),
        ("Rooms 1 2 3, of 12 345 678 901 people", []),
        ("--Long-Option and example.com-based", ["--Long-Option"]),
        ("the a::b", ["a::b"]),
        ("the p->q", ["p->q"]),
        ("call open()", ["open()"]),
        ("in C++", ["C++"]),
        ("the fooBar", ["fooBar"]),
        ("_so_ and ____, z.B. u.a.m. The end.Then, LehrerInnen of a GmbH", []),
        ("", []),
    ],
)  # fmt: skip
def test_what_is_protected(text: str, expected: list[str]) -> None:
    assert [thing.text for thing in protected(text)] == expected


TRICKY = st.sampled_from(
    [
        "https://a.b/c",
        "x@y.de",
        "#tag",
        "@me",
        "<b>",
        "{x}",
        "%s",
        "\U0001f600",
        "1,234.5",
        "\u27e61\u27e7",
        "/a/b",
        "_",
    ]
)


@given(st.lists(st.one_of(TRICKY, st.text(max_size=4), st.sampled_from([" ", ".", ")", "\u200d", "\ufe0f"]))))
def test_stretches_are_where_they_say_and_do_not_overlap(stretches: list[str]) -> None:
    text = "".join(stretches)
    behind = 0
    for thing in protected(text):
        assert behind <= thing.start < thing.end <= len(text)
        assert text[thing.start : thing.end] == thing.text
        behind = thing.end


@given(st.lists(TRICKY.filter(lambda thing: thing != "_"), min_size=1))
def test_things_between_spaces_are_all_found(things: list[str]) -> None:
    assert [thing.text for thing in protected(" ".join(things))] == things


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\U0001f600 Hello there! \U0001f389\U0001f389 ", ("\U0001f600 ", "Hello there!", " \U0001f389\U0001f389 ")),
        ("Hello\U0001f600", ("", "Hello", "\U0001f600")),
        (" \U0001f600\U0001f600 ", (" \U0001f600\U0001f600 ", "", "")),
        ("Hello \U0001f600 there", ("", "Hello \U0001f600 there", "")),
        ("  Grüße ", ("", "  Grüße ", "")),
        ("“Yes”", ("", "“Yes”", "")),
        ("", ("", "", "")),
    ],
)
def test_emoji_are_cut_off_the_ends(text: str, expected: tuple[str, str, str]) -> None:
    assert emoji_at_ends(text) == expected


@given(st.text(st.sampled_from("a \t.\U0001f600\u200d\ufe0f\u2764é")))
def test_what_is_cut_off_and_the_rest_are_the_text(text: str) -> None:
    parts = emoji_at_ends(text)
    assert "".join(parts) == text
    assert not any(character.isalnum() for character in parts[0] + parts[2])


UNITS = [
    "a-",
    "a:",
    "a::",
    "_",
    "a_",
    "`a",
    "aB",
    "0f",
    "-a",
    "A1",
    "a.",
    "a@",
    "/a",
    "{",
    "{a,plural,",
    "<a b=c ",
    "1,",
    "#1",
    "%(",
    "www.",
    "\U0001f468\u200d",
    " ",
    "&#1",
]


@pytest.mark.parametrize("unit", [*UNITS, "\U0001f600 "])
def test_a_huge_line_takes_no_more_than_its_length(unit: str) -> None:
    text = (unit * 200_000)[:200_000]
    started = time.process_time()
    protected(text + "x")
    emoji_at_ends(text + "x\u2190")
    assert time.process_time() - started < 30, "a quadratic search would take minutes"
