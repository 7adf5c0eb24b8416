"""Settings: every key has an effect or is refused, and all problems are told at once."""

from pathlib import Path

import pytest

from attendo.errors import RecipeError
from attendo.serving.config_file import load_config


def test_a_file_and_what_goes_before_it(tmp_path: Path) -> None:
    path = tmp_path / "serve.toml"
    path.write_text('[server]\nport = 1\nhost = "0.0.0.0"\n[keys]\nfile = "keys.json"\n', encoding="utf-8")
    config = load_config(path, ["server.port=2", "limits.requests_per_minute=5"])
    assert (config.server.port, config.server.host) == (2, "0.0.0.0")
    assert config.keys.file == tmp_path / "keys.json"  # from the folder of the file
    assert config.limits.requests_per_minute == 5


def test_all_problems_at_once() -> None:
    with pytest.raises(RecipeError) as told:
        load_config(None, ["server.port=-1", "limits.foo=3", 'batching.threads="a"', "nothing.at=1"])
    for part in ("port = -1", "limits.foo", "batching.threads", "nothing"):
        assert part in str(told.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("server.port=70000", "no port"),
        ("server.url_prefix=attendo", "slash"),
        ("server.url_prefix=/attendo/", "slash"),
        ("server.header_seconds=0", "not above"),
        ("server.header_seconds=inf", "not above|infin"),
        ("limits.max_characters=0", "too small"),
        ("limits.n_best=50", "needs a beam"),
        ("limits.ip6_prefix=8", "ip6_prefix"),
        ("limits.max_characters=600000", "more than one caller may have waiting"),
        ("batching.caller_share=0", "caller_share"),
        ("batching.window_ms=2000", "too large"),
        ("batching.threads=0", "too small"),
        ("models.memory_mb=0", "too small"),
        ("models.dtype=float16", "none of"),
        ("documents.keep_seconds=-1", "not above"),
        ("documents.reading_memory_mb=1", "too small"),
        ("documents.reading_seconds=0", "not above"),
        ("server.key_share=1", "leaves callers without a key nothing"),
        ("server.min_body_rate=0", "too small"),
        ("limits.connections_a_caller=0", "too small"),
        ("limits.requests_at_once=0", "too small"),
        ("keys.search_bytes=-1", "too small"),
    ],
)
def test_what_cannot_be_meant(setting: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        load_config(None, [setting])


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[server", b"server = 3"])
def test_no_settings(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "serve.toml"
    path.write_bytes(content)
    with pytest.raises(RecipeError, match=r"serve\.toml"):
        load_config(path)


def test_what_others_can_reach_is_warned_of() -> None:
    assert load_config(None).warnings() == []
    open_to_all = load_config(None, ["server.host=0.0.0.0"])
    assert len(open_to_all.warnings()) == 2
    safer = ["server.host=0.0.0.0", "limits.requests_per_minute=60", "server.metrics_token=t"]
    assert load_config(None, safer).warnings() == []
