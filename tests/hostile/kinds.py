"""Text that nobody would have translated, by kind, for tests of what a text may cost.

`KINDS[name](random, size)` gives a text of about `size` characters, at most a line more or less. Equal states of
`random` give equal texts, so that any seed can be tried again:

    for name, draw in KINDS.items():
        text = draw(Random(7), 20_000)

Nothing here is taken from anywhere: keys, certificates, logs and addresses are drawn.
"""

import html
import string
import uuid
from collections.abc import Mapping

from tests.hostile.ordinary import sentences
from tests.hostile.pieces import (
    WORDS,
    Draw,
    address,
    ascii_art,
    base32,
    base64_lines,
    base64_text,
    base85,
    camel_case,
    code_points,
    compound,
    csv_row,
    date,
    diff_hunk,
    emoji_sequence,
    escapes,
    flag,
    hex_dump,
    hostnames,
    joined,
    jwt,
    latex,
    letters,
    lines,
    log_line,
    long_url,
    markup,
    mashed,
    minified_css,
    minified_js,
    minified_json,
    morse,
    nested,
    number,
    octets,
    palindrome,
    pem,
    percent_encoded,
    quoted_printable,
    regex,
    repeated,
    roman,
    rot13,
    snake_case,
    spreadsheet_row,
    stack_trace,
    table_row,
    unknown_name,
    zalgo,
)

CJK = code_points((0x4E00, 0x9FA5))
LATIN_AND_OTHERS = [
    *string.ascii_letters,
    *code_points((0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA), (0x3041, 0x3096)),
]
CONTROLS = code_points((1, 8), (0xE, 0x1F), (0x7F, 0x9F))

KINDS: Mapping[str, Draw] = {
    # Encodings and keys.
    "base64": base64_text,
    "base64 lines": base64_lines,
    "base64url": lambda random, size: base64_text(random, size).replace("+", "-").replace("/", "_"),
    "base32": base32,
    "base58": letters("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"),
    "base85": base85,
    "hex": lambda random, size: octets(random, size // 2).hex(),
    "hex hashes": joined(lambda random: octets(random, random.choice((16, 20, 32))).hex(), " "),
    "hex dump": hex_dump,
    "uuids": lines(lambda random: str(uuid.UUID(int=random.getrandbits(128), version=4))),
    "uuids in a line": joined(lambda random: str(uuid.UUID(int=random.getrandbits(128), version=4)), ", "),
    "jwts": lines(jwt),
    "pem keys": lines(pem),
    "percent-encoding": joined(percent_encoded),
    "quoted-printable": lines(quoted_printable),
    "html entities": joined(
        lambda random: html.escape("<>&\"'"[random.randrange(5)]) + f"&#{random.randrange(160, 9999)};"
    ),
    "unicode escapes": joined(escapes, " "),
    "rot13": joined(rot13, " "),
    "binary digits": letters("01"),
    "dna": letters("ACGT"),
    "proteins": letters("ACDEFGHIKLMNPQRSTVWY"),
    "keys in sentences": joined(lambda random: f"The key {base64_text(random, 44)} is no longer used.", " "),
    # Code and data.
    "minified javascript": joined(minified_js),
    "minified css": joined(minified_css),
    "minified json": joined(minified_json, ","),
    "log lines": lines(log_line),
    "stack traces": lines(stack_trace),
    "long urls": lines(long_url),
    "one endless url": lambda random, size: "https://example.org/?q=" + base64_text(random, size),
    "host names": lines(hostnames),
    "e-mail addresses": joined(address, ", "),
    "csv": lines(csv_row),
    "tsv": lines(spreadsheet_row),
    "markdown tables": lines(table_row),
    "diff hunks": lines(diff_hunk),
    "latex": joined(latex, " "),
    "regular expressions": lines(regex),
    "brainfuck": letters("><+-.,[]"),
    "unclosed tags": joined(markup),
    "nested brackets": nested,
    # Repetitions.
    "repeated letter": repeated(list(string.ascii_letters)),
    "repeated word": repeated(("dog ", "house ", "and ", "x ", "no, ")),
    "repeated sentence": repeated(("Go. ", "I see the dog. ", "No! ")),
    "repeated emoji": repeated(("\U0001f600", "\u2764\ufe0f", "\U0001f44d\U0001f3fd")),
    "repeated punctuation": repeated((".", "!", "?!", "-", "=-", "_", "…")),
    "letters and tabs": repeated(("a\t", "b\t\t", "q \t")),
    "letters and signs": repeated(("a@", "x#", "a-", "k/")),
    "tabs": lambda random, size: "\t" * size,
    "newlines": lambda random, size: "\n" * size,
    "letters, one a line": lines(lambda random: random.choice(string.ascii_letters)),
    "signs, one a line": lines(lambda random: random.choice(string.punctuation)),
    "short sentences": joined(lambda random: random.choice(string.ascii_lowercase) + ".", " "),
    "short sentences, capitals": joined(lambda random: "".join(random.choices(string.ascii_uppercase, k=2)) + ".", " "),
    # Letters that are no words.
    "keyboard mashing": joined(mashed, " "),
    "keyboard mashing, unspaced": joined(mashed),
    "random letters": letters(string.ascii_lowercase),
    "random letters and spaces": letters(string.ascii_lowercase + "   "),
    "random ascii": letters(string.printable[:95]),
    "palindromes": joined(palindrome, " "),
    "all capitals": lambda random, size: sentences(random, size).upper(),
    "no capitals, no marks": joined(lambda random: random.choice(WORDS), " "),
    "no spaces": lambda random, size: sentences(random, size * 6 // 5).replace(" ", ""),
    "camel case": lines(camel_case),
    "snake case": lines(snake_case),
    "long compounds": joined(compound, " "),
    "unknown names": joined(unknown_name, " "),
    "roman numerals": joined(roman, " "),
    "numbers": joined(number, " "),
    "numbers, one a line": lines(number),
    "dates": joined(date, " "),
    "morse": joined(morse, " "),
    "ascii art": lines(ascii_art),
    # Scripts and code points.
    "mixed scripts": letters(LATIN_AND_OTHERS),
    "chinese": letters(CJK),
    "thai": letters(code_points((0xE01, 0xE30), (0xE32, 0xE33), (0xE40, 0xE45))),
    "arabic with all marks": letters([*code_points((0x621, 0x64A)), *code_points((0x64B, 0x652)) * 3, " "]),
    "hangul jamo": letters(code_points((0x1100, 0x1112), (0x1161, 0x1175), (0x11A8, 0x11C2))),
    "mathematical letters": letters([*code_points((0x1D400, 0x1D454)), " "]),
    "zalgo": joined(zalgo, " "),
    "combining marks": letters(code_points((0x300, 0x36F))),
    "zero width": letters("\u200b\u200c\u200d\u2060\ufeff"),
    "zero width between letters": joined(lambda random: random.choice(string.ascii_lowercase) + "\u200b\u2060"),
    "bidi controls": letters([*string.ascii_lowercase, *code_points((0x202A, 0x202E), (0x2066, 0x2069)) * 3]),
    "private use": letters(code_points((0xE000, 0xE7FF))),
    "astral planes": letters(code_points((0x10000, 0x100FA), (0x1F300, 0x1F5FF), (0x20000, 0x20FFF))),
    "control characters": letters(CONTROLS),
    "nul": lambda random, size: "\0" * size,
    "replacement characters": repeated(("\ufffd", "\ufffd ")),
    "box drawing": letters([*code_points((0x2500, 0x257F)), " "]),
    "braille": letters(code_points((0x2800, 0x28FF))),
    "emoji sequences": joined(emoji_sequence),
    "emoji between letters": joined(lambda random: random.choice(string.ascii_letters) + emoji_sequence(random)),
    "flags": joined(flag),
}
"""What draws a text of each kind: a generator of random numbers and a number of characters go in."""
