"""Strings made up for training: of one line, repeatable, seldom the same, and of all the kinds there are."""

import random
import re

from attendo.text.made_up import name, number, program_string

STRINGS = [program_string(random.Random(seed)) for seed in range(3000)]


def test_they_are_words_of_one_line_without_spaces_at_their_ends() -> None:
    assert all(string and string == string.strip() and "\n" not in string for string in STRINGS)
    assert all(string.replace(" = ", "").isprintable() for string in STRINGS)
    assert all(" " not in string.replace(" = ", "") for string in STRINGS)


def test_they_follow_from_the_seed_and_are_seldom_the_same() -> None:
    assert [program_string(random.Random(seed)) for seed in range(100)] == STRINGS[:100]
    assert len(set(STRINGS)) > 0.95 * len(STRINGS)


def test_there_are_all_kinds() -> None:
    kinds = {
        "version": r"v?\d+(\.\d+){1,3}(-beta|-rc\d)?",
        "snake_case": r"[a-z]+(_[a-z]+)+",
        "camelCase": r"[a-z]+([A-Z][a-z]+)+",
        "article number": r"[A-Z]{1,4}-?\d{2,5}(-[A-Z]\d{0,2})?",
        "hash": r"[0-9a-f]{40}",
        "file": r"[a-z_-]+\.(txt|md|py|json|tar\.gz)",
        "path": r"(~|\.)?(/[a-z_-]+){2,}(\.[a-z.]+)?",
        "Windows path": r"[CDE]:(\\[A-Za-z_-]+)+\.[a-z.]+",
        "option": r"--[a-z]+(-[a-z]+)*(=\w+)?",
        "variable": r"\$[A-Z]+(_[A-Z]+)+",
        "code": r"`.+`",
        "call": r"[a-z_]+\(\)",
        "Arabic": r"[\u0620-\u064a]+",
        "Chinese": r"[\u4e00-\u9fff]+",
    }
    found = {kind: sum(bool(re.fullmatch(pattern, string)) for string in STRINGS) for kind, pattern in kinds.items()}
    assert min(found.values()) >= 5, found


def test_letters_of_other_scripts_are_letters() -> None:
    foreign = "".join(string for string in STRINGS if not string.isascii())
    assert foreign.isalpha()


def test_names_and_numbers() -> None:
    assert all(re.fullmatch(r"[^\W\d_]{2,}", name(random.Random(seed))) for seed in range(200))
    lengths = {len(number(random.Random(seed))) for seed in range(300)}
    assert lengths == set(range(1, 9))
