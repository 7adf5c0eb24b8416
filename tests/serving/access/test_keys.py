"""Keys: random, digests alone at rest, one file that only its owner reads."""

import hashlib
import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.serving.access.keys import KeyRing, changed_keys, new_key, read_keys, write_keys


def test_what_is_kept_is_a_digest(tmp_path: Path) -> None:
    secret, key = new_key("Ada", characters_per_month=1000)
    assert key.digest == hashlib.sha256(secret.encode()).hexdigest()
    path = tmp_path / "keys.json"
    write_keys(path, [key])
    assert secret not in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_keys(path).keys == (key,)
    assert read_keys(path).find(secret) == key
    assert read_keys(path).find(secret + "x") is None
    assert KeyRing().find(secret) is None


def test_two_keys_are_never_alike() -> None:
    secrets = {new_key("same name")[0] for _ in range(100)}
    assert len(secrets) == 100
    assert all(len(each) == 47 and each.isascii() for each in secrets)  # 4 and 43, of 32 bytes in base64


def test_lone_surrogates_are_no_key_and_no_error() -> None:
    assert KeyRing([new_key("a")[1]]).find("\ud800") is None


def test_expiry() -> None:
    _, key = new_key("a", expires="2026-01-31T12:00:00+01:00")
    assert not key.has_expired(datetime(2026, 1, 31, 10, 59, 59, tzinfo=UTC))
    assert key.has_expired(datetime(2026, 1, 31, 11, 0, 0, tzinfo=UTC))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "control"),
        ({"requests_per_minute": 0}, "too small"),
        ({"expires": "tomorrow"}, "no time"),
        ({"expires": "2026-01-31T12:00:00"}, "zone"),
        ({"id": "a b"}, "id"),
        ({"digest": "ABC"}, "hexadecimal"),
        ({"more": 1}, "more"),
        ({"requests_per_minute": "many"}, "requests_per_minute"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    key = {"id": "a1", "name": "Ada", "digest": "0" * 64, "created": "2026-01-01T00:00:00+00:00"} | changes
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"format_version": 1, "keys": [key]}), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_keys(path)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"format_version": 2, "keys": []}', '{"format_version": 1}'])
def test_no_file_of_keys(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="keys"):
        read_keys(path)


def test_an_id_is_one_keys(tmp_path: Path) -> None:
    _, key = new_key("a")
    write_keys(tmp_path / "keys.json", [key, key])
    with pytest.raises(DataError, match="two keys have one id"):
        read_keys(tmp_path / "keys.json")


def test_changes_are_written_whole_or_not(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    with changed_keys(path) as keys:
        keys.append(new_key("first")[1])

    def fail() -> None:
        with changed_keys(path) as keys:
            keys.clear()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [key.name for key in read_keys(path).keys] == ["first"]
