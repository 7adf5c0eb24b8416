# ruff: noqa: E501  (lines of code and logs are as long as they are)
"""The pieces that hostile text is drawn from: keys, code, data and letters, each by a generator of random numbers."""

import base64
import json
import quopri
import string
from collections.abc import Callable, Sequence
from random import Random
from urllib.parse import quote

from tests.hostile.ordinary import sentence

Draw = Callable[[Random, int], str]

WORDS = [
    "the",
    "old",
    "house",
    "stands",
    "near",
    "river",
    "children",
    "play",
    "garden",
    "every",
    "morning",
    "when",
    "sun",
    "rises",
    "over",
    "hills",
    "people",
    "walk",
    "market",
    "buy",
    "bread",
    "fruit",
    "talk",
    "about",
    "weather",
    "nothing",
    "ever",
    "happens",
    "here",
    "except",
    "sometimes",
    "train",
    "stops",
    "station",
    "stranger",
    "asks",
    "way",
    "town",
    "hall",
    "nobody",
    "knows",
    "him",
    "smiles",
    "gives",
    "directions",
    "then",
    "goes",
    "home",
    "tells",
    "family",
    "story",
    "evening",
    "lamp",
    "light",
]
NAMES = (
    "user",
    "order",
    "price",
    "list",
    "name",
    "value",
    "index",
    "count",
    "file",
    "path",
    "token",
    "config",
    "error",
)
SYLLABLES = ("ka", "lo", "min", "ter", "schu", "ver", "and", "pol", "ri", "ge", "ung", "haus", "bahn", "fest", "tal")


# --- parts ------------------------------------------------------------------------------------------------------------


def filled(random: Random, size: int, piece: Callable[[Random], str], between: str = "") -> str:
    """Pieces until there are so many characters."""
    pieces: list[str] = []
    length = 0
    while length < size:
        pieces.append(piece(random))
        length += len(pieces[-1]) + len(between)
    return between.join(pieces)


def lines(piece: Callable[[Random], str]) -> Draw:
    """Pieces, one a line."""
    return lambda random, size: filled(random, size, piece, "\n")


def joined(piece: Callable[[Random], str], between: str = "") -> Draw:
    """Pieces in one line."""
    return lambda random, size: filled(random, size, piece, between)


def letters(alphabet: str | Sequence[str]) -> Draw:
    """Characters drawn one by one, without white space unless the alphabet has it."""
    return lambda random, size: "".join(random.choices(alphabet, k=size))


def repeated(choices: Sequence[str]) -> Draw:
    """One of several texts, again and again."""

    def draw(random: Random, size: int) -> str:
        text = random.choice(choices)
        return (text * (size // len(text) + 1))[:size]

    return draw


def code_points(*ranges: tuple[int, int]) -> list[str]:
    """The characters of ranges, both ends included."""
    return [chr(code) for first, last in ranges for code in range(first, last + 1)]


def octets(random: Random, size: int) -> bytes:
    return random.randbytes(max(1, size))


def wrapped(text: str, width: int) -> str:
    return "\n".join(text[place : place + width] for place in range(0, len(text), width))


def identifier(random: Random) -> list[str]:
    return random.choices(NAMES, k=random.randint(2, 4))


# --- encodings and keys -----------------------------------------------------------------------------------------------


def base64_text(random: Random, size: int) -> str:
    return base64.b64encode(octets(random, size * 3 // 4)).decode()


def base64_lines(random: Random, size: int) -> str:
    return wrapped(base64_text(random, size), 76)


def base32(random: Random, size: int) -> str:
    return base64.b32encode(octets(random, size * 5 // 8)).decode()


def base85(random: Random, size: int) -> str:
    return base64.b85encode(octets(random, size * 4 // 5)).decode()


def hex_dump(random: Random, size: int) -> str:
    def row(number: int) -> str:
        content = octets(random, 16)
        shown = "".join(chr(each) if 32 <= each < 127 else "." for each in content)
        return f"{16 * number:08x}  {content.hex(' ')}  |{shown}|"

    return "\n".join(row(number) for number in range(size // 79 + 1))


def jwt(random: Random) -> str:
    parts = [octets(random, 27), octets(random, random.randint(40, 150)), octets(random, 32)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def pem(random: Random) -> str:
    name = random.choice(("PRIVATE KEY", "CERTIFICATE", "RSA PUBLIC KEY"))
    return f"-----BEGIN {name}-----\n{wrapped(base64_text(random, 800), 64)}\n-----END {name}-----"


def percent_encoded(random: Random) -> str:
    return quote("".join(random.choices("äöüßéñçøЖЩ中日本 &?=", k=40)))


def quoted_printable(random: Random) -> str:
    return quopri.encodestring("".join(random.choices("äöüßéñçøåžščřłńđ", k=30)).encode()).decode()


def escapes(random: Random) -> str:
    return "".join(
        f"\\ud{random.randrange(0x800, 0xC00):03x}\\ud{random.randrange(0xC00, 0x1000):03x}" for _ in range(8)
    )


def rot13(random: Random) -> str:
    small = string.ascii_lowercase
    turned = small[13:] + small[:13]
    return sentence(random).translate(str.maketrans(small + small.upper(), turned + turned.upper()))


# --- code and data ----------------------------------------------------------------------------------------------------


def minified_js(random: Random) -> str:
    a, b, c = random.choices(string.ascii_lowercase, k=3)
    return random.choice(
        (
            f"function({a},{b}){{var {c}={a}.length;for(let i=0;i<{c};i++){b}[{a}[i]]=!{random.randrange(2)};return {b}}}",
            f"{a}.exports=function({b}){{return {b}&&{b}.__esModule?{b}:{{default:{b}}}}},",
            f'"object"==typeof {a}&&"undefined"!=typeof {b}?{c}({a}):{b}.push([{random.randrange(999)},{{{c}:1}}]);',
            f"({a}={b}.call({c},{random.randrange(99)}))instanceof Promise||{a}.then({b}=>{c}[{b}]++,0);",
        )
    )


def minified_css(random: Random) -> str:
    name = random.choice(NAMES)
    return f".{name[:3]}-{random.randrange(99)}>{name}:hover{{margin:0 {random.randrange(9)}px;color:#{random.randrange(1 << 24):06x}}}"


def minified_json(random: Random) -> str:
    value = {random.choice(NAMES): random.randrange(10**6), "id": octets(random, 6).hex(), "ok": random.random() < 0.5}
    return json.dumps(value, separators=(",", ":"))


def log_line(random: Random) -> str:
    level = random.choice(("INFO", "WARN", "ERROR", "DEBUG"))
    return (
        f"2024-{random.randint(1, 12):02}-{random.randint(1, 28):02}T{random.randrange(24):02}:{random.randrange(60):02}:"
        f"{random.randrange(60):02}.{random.randrange(1000):03}Z {level} [pool-{random.randrange(9)}-thread-"
        f"{random.randrange(99)}] com.example.{random.choice(NAMES)}.Handler - {random.choice(NAMES)}="
        f"{octets(random, 4).hex()} took {random.randrange(9999)} ms"
    )


def stack_trace(random: Random) -> str:
    name, other = random.choices(NAMES, k=2)
    return f"\tat org.{name}.{other.capitalize()}Impl.get{name.capitalize()}({other.capitalize()}.java:{random.randrange(900)})"


def long_url(random: Random) -> str:
    query = "&".join(f"{random.choice(NAMES)}={octets(random, 8).hex()}" for _ in range(random.randint(4, 40)))
    return f"https://{random.choice(NAMES)}.example.org/{random.choice(NAMES)}?{query}"


def csv_row(random: Random) -> str:
    return f'{random.randrange(10**5)},"{random.choice(NAMES)}",{random.uniform(0, 99):.2f},{octets(random, 3).hex()},{random.choice("YN")},,'


def diff_hunk(random: Random) -> str:
    start = random.randrange(900)
    old, new = identifier(random), identifier(random)
    return (
        f"@@ -{start},3 +{start},3 @@\n-  {'_'.join(old)} = {old[0]}[{start}];\n+  {'_'.join(new)} = {new[0]}({start});"
    )


def latex(random: Random) -> str:
    a, b = random.choices(string.ascii_lowercase, k=2)
    return random.choice(
        (
            f"\\frac{{\\partial^2 {a}}}{{\\partial {b}^{{{random.randrange(9)}}}}}",
            f"\\sum_{{{a}=0}}^{{\\infty}}{{\\alpha_{{{a}}}\\,{b}^{{2{a}+1}}}}",
            f"\\begin{{pmatrix}}{a}&{b}\\\\{random.randrange(9)}&-{a}\\end{{pmatrix}}",
        )
    )


def regex(random: Random) -> str:
    return random.choice(
        (
            r"(?:[^\W\d_]+|\d{2,4})*?",
            r"(?<=\()[A-Za-z0-9+/=]{8,}(?!\))",
            r"^\s*#?(\w+)\s*[:=]\s*(.+)$",
            r"\b(?!00)\d{3}-\d+\b|",
        )
    )


def markup(random: Random) -> str:
    name = random.choice(("div", "span", "p", "ul", "b"))
    return f'<{name} class="{random.choice(NAMES)}">'


def spreadsheet_row(random: Random) -> str:
    return "\t".join(random.choice((str(random.randrange(999)), random.choice(NAMES), "", "x", "-")) for _ in range(9))


def table_row(random: Random) -> str:
    return "| " + " | ".join(random.choice(("---", "x", "", str(random.randrange(99)), "*")) for _ in range(8)) + " |"


def hostnames(random: Random) -> str:
    return f"{random.choice(NAMES)}-{octets(random, 3).hex()}.{random.choice(NAMES)}.internal:{random.randrange(65536)}"


def address(random: Random) -> str:
    return f"{octets(random, 5).hex()}@{random.choice(NAMES)}-{random.randrange(99)}.example.com"


# --- letters that are no words ----------------------------------------------------------------------------------------


def mashed(random: Random) -> str:
    row = random.choice(("asdfghjkl", "qwertyuiop", "zxcvbnm", "asdfjkl"))
    return "".join(random.choices(row, k=random.randint(4, 12)))


def palindrome(random: Random) -> str:
    half = "".join(random.choices(string.ascii_lowercase, k=random.randint(3, 20)))
    return half + half[::-1]


def zalgo(random: Random) -> str:
    marks = code_points((0x300, 0x36F))
    return "".join(letter + "".join(random.choices(marks, k=random.randint(4, 12))) for letter in random.choice(WORDS))


def camel_case(random: Random) -> str:
    return "".join(each.capitalize() for each in random.choices(NAMES, k=30))


def snake_case(random: Random) -> str:
    return "_".join(random.choices(NAMES, k=30))


def compound(random: Random) -> str:
    return "".join(random.choices(SYLLABLES, k=random.randint(30, 60)))


def unknown_name(random: Random) -> str:
    return "".join(random.choices("łŁżŻźŹćĆńŃśŚđĐőŐűŰǆƒɓʃŋ", k=random.randint(4, 9)))


def morse(random: Random) -> str:
    return "".join(random.choices(".-", k=random.randint(1, 5)))


def roman(random: Random) -> str:
    return "".join(random.choices("IVXLCDM", k=random.randint(1, 8)))


def date(random: Random) -> str:
    return f"{random.randint(1, 28)}.{random.randint(1, 12)}.{random.randint(1900, 2099)}"


def number(random: Random) -> str:
    return random.choice(
        (str(random.randrange(10**4)), f"{random.uniform(0, 10**6):.3f}", f"{random.randrange(10**9):,}")
    )


def ascii_art(random: Random) -> str:
    return "".join(random.choices(r"/\|_-=+*#@.,' ", k=72))


def emoji_sequence(random: Random) -> str:
    people = random.choices(("\U0001f468", "\U0001f469", "\U0001f467", "\U0001f466"), k=random.randint(2, 4))
    return "\u200d".join(person + random.choice(("", "\U0001f3fd")) for person in people)


def flag(random: Random) -> str:
    return "".join(random.choices(code_points((0x1F1E6, 0x1F1FF)), k=2))


def nested(random: Random, size: int) -> str:
    opened = "".join(random.choices("([{<", k=size // 2))
    return opened + "".join({"(": ")", "[": "]", "{": "}", "<": ">"}[each] for each in opened[::-1])
