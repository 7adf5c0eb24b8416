"""How a server serves: TOML sections and their defaults, which suit one machine that only it can reach."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from attendo.errors import RecipeError
from attendo.reading import read_bounded
from attendo.settings.checking import checked
from attendo.settings.overrides import Origins, override
from attendo.settings.toml import MAX_BYTES, one_line, read_toml

_HOST_NAME = re.compile(r"\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
"""What `allowed_hosts` takes: all names, all names below one, one name."""


def _below(section: Any, **least: float) -> list[str]:
    """What is wrong with numbers that have a least one; None has none."""
    values = {key: getattr(section, key) for key in least}
    return [
        f"{key} = {value} is too small; take {least[key]} or more"
        for key, value in values.items()
        if value is not None and not value >= least[key]
    ]


def _not_above(section: Any, *keys: str, than: float) -> list[str]:
    values = {key: getattr(section, key) for key in keys}
    return [f"{key} = {value} is not above {than}" for key, value in values.items() if not than < value < 1e6]


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise ValueError("; ".join(problems))


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Where it listens, and what it shows besides the APIs.

    Raises:
        ValueError: values that cannot be meant.
    """

    host: str = "127.0.0.1"
    """The address to listen on; `0.0.0.0` for all of the machine's."""
    port: int = 5000
    """The port; 0 takes a free one. 5000 is LibreTranslate's."""
    url_prefix: str = ""
    """What stands before every path, as `/attendo`, where a proxy passes it on so."""
    page: bool = True
    """Whether there is a page for people at `/`."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses, as `10.0.0.2`, or networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed; name a proxy
    alone, since whoever else has such an address can claim to be any caller."""
    allowed_hosts: tuple[str, ...] = ()
    """Names by which the server is reached, as `translate.example.org`, `*.example.org` or `*` for all. IP addresses,
    `localhost` and names that the public DNS cannot hold need not be named; other names are answered with 421."""
    cors_origins: tuple[str, ...] = ()
    """Other sites whose pages may call the APIs from a browser, as `https://example.org`; `*` for all. What changes
    something is refused with 403 where the page of another site sends it."""
    state_dir: Path | None = None
    """A folder for what outlives a restart: glossaries, translated documents and what became of them; one server's
    alone; None keeps all of it until the server ends."""
    max_connections: int = 1000
    """Open at the same time; further ones are answered with 503."""
    key_share: float = 0.2
    """The part of `max_connections` that only callers with a key may use, where there are keys."""
    header_seconds: float = 10.0
    """Until the head of a connection's next request has to be there whole, once it has begun."""
    keep_alive_seconds: float = 75.0
    """That a connection without a request stays open; longer than a load balancer's own, which it should be."""
    body_seconds: float = 30.0
    """Until a request's body has to be there whole, and the longest pause in one; `min_body_rate` adds to the first."""
    min_body_rate: int = 50_000
    """Bytes that give a body another second once they have arrived: a large document on a slow line is waited for."""
    shutdown_seconds: float = 60.0
    """That are waited for what was accepted, after SIGTERM."""
    drain_seconds: float = 0.0
    """For which it listens on after SIGTERM, while `/ready` says no: for load balancers that ask every few seconds."""
    docs: bool = True
    """Whether `/docs` and `/openapi.json` describe the APIs."""
    metrics_token: str | None = None
    """What `/metrics` wants as `Authorization: Bearer ...`; None lets everybody read it."""

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        problems = _below(self, port=0, max_connections=1, drain_seconds=0.0, min_body_rate=1, key_share=0.0)
        problems += _not_above(
            self, "header_seconds", "keep_alive_seconds", "body_seconds", "shutdown_seconds", than=0.0
        )
        if self.key_share >= 1:
            problems.append(f"key_share = {self.key_share} leaves callers without a key nothing; take 0.2")
        if self.port > 65535:
            problems.append(f"port = {self.port} is no port; take one below 65536")
        if self.url_prefix and (not self.url_prefix.startswith("/") or self.url_prefix.endswith("/")):
            problems.append(f"url_prefix = {self.url_prefix!r} does not begin, or ends, with a slash; write /attendo")
        problems += [
            f"allowed_hosts: {name!r} is no host name; write it without scheme, port and path, as translate.example.org"
            for name in self.allowed_hosts
            if not _HOST_NAME.fullmatch(name)
        ]
        _refuse(problems)


@dataclass(frozen=True, kw_only=True)
class LimitsConfig:
    """What one request and one caller may have; a key can have limits of its own.

    Raises:
        ValueError: values that cannot be meant.
    """

    max_characters: int = 20_000
    """Of all texts of a request together, in Unicode characters."""
    max_attention_characters: int = 500
    """Of a sentence whose attention is asked for, with its translation; the answer grows with their square."""
    max_items: int = 128
    """Texts of a request."""
    max_body_bytes: int = 1 << 20
    """Of a request's body; documents have their own limit."""
    max_bodies_bytes: int = 256 << 20
    """Of all bodies that are being received or answered, together."""
    request_seconds: float = 60.0
    """Until a request is answered, or told that it is overdue."""
    n_best: int = 10
    """Translations of a text that can be asked for."""
    beam_size: int = 12
    """The widest beam that can be asked for."""
    requests_per_minute: int | None = None
    """Of a caller without a key, known by its address; None sets no limit."""
    characters_per_minute: int | None = None
    """Of a caller without a key; None sets no limit."""
    connections_a_caller: int = 200
    """Open connections of one caller, known by its key or address; beyond, its longest idle ones are closed."""
    requests_at_once: int = 100
    """Requests of one caller that are received or answered at the same time; beyond, 429."""
    ip6_prefix: int = 64
    """Bits of an IPv6 address that are one caller: a household has a whole network."""

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        least_one = ("max_characters", "max_attention_characters", "max_items", "n_best", "beam_size")
        problems = _below(self, **dict.fromkeys(least_one, 1), max_body_bytes=1024, max_bodies_bytes=1024)
        problems += _below(self, requests_per_minute=1, characters_per_minute=1)
        problems += _below(self, connections_a_caller=1, requests_at_once=1)
        problems += _not_above(self, "request_seconds", than=0.0)
        if not 16 <= self.ip6_prefix <= 128:
            problems.append(f"ip6_prefix = {self.ip6_prefix} is not within 16 and 128; take 64")
        if self.n_best > self.beam_size:
            problems.append(f"n_best = {self.n_best} needs a beam as wide; take beam_size = {self.n_best} or more")
        _refuse(problems)


@dataclass(frozen=True, kw_only=True)
class BatchingConfig:
    """How much waits, and how much of it is worked on together.

    Raises:
        ValueError: values that cannot be meant.
    """

    threads: int | None = None
    """That translate, a batch each; None takes one for each processor core this process may use."""
    max_batch_tokens: int = 1024
    """Source tokens of a batch, estimated from characters."""
    max_batch_lines: int = 32
    """Sentences of a batch."""
    window_ms: float = 0.0
    """That an idle thread waits for more, when fewer lines than a batch takes are there."""
    max_waiting_characters: int = 1_000_000
    """Of all lines that wait; beyond, requests are answered with 503."""
    max_waiting_lines: int = 20_000
    """That wait; beyond, requests are answered with 503."""
    caller_share: float = 0.5
    """The part of both that one caller may have waiting; beyond, it is answered with 429."""

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        counts = ("threads", "max_batch_tokens", "max_batch_lines", "max_waiting_characters", "max_waiting_lines")
        problems = _below(self, **dict.fromkeys(counts, 1), window_ms=0.0)
        if not 0 < self.caller_share <= 1:
            problems.append(f"caller_share = {self.caller_share} is not above 0 and at most 1; take 0.5")
        if self.window_ms > 1000:
            problems.append(f"window_ms = {self.window_ms} is too large; take 1000 or less")
        _refuse(problems)


@dataclass(frozen=True, kw_only=True)
class ModelsConfig:
    """Which models are in memory.

    Raises:
        ValueError: values that cannot be meant.
    """

    memory_mb: int | None = None
    """Of all models in memory, in MiB; the one used longest ago leaves first. None keeps all."""
    eager: bool = False
    """Whether all are loaded at the start, before the server says it is ready; otherwise each with its first request,
    and at the start the first that translates alone."""
    watch_seconds: float = 5.0
    """Between two looks at the models' folders, for changed ones, which are loaded anew; 0 never looks."""
    dtype: str | None = None
    """What is calculated with, `float32`, `bfloat16` or `int8`; None as each model is stored."""

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        problems = _below(self, memory_mb=1, watch_seconds=0.0)
        if self.dtype not in (None, "float32", "bfloat16", "int8"):
            problems.append(f'dtype = {self.dtype!r} is none of "float32", "bfloat16", "int8"')
        _refuse(problems)


@dataclass(frozen=True, kw_only=True)
class KeysConfig:
    """Who may ask.

    Raises:
        ValueError: values that cannot be meant.
    """

    file: Path | None = None
    """The keys, as `attendo keys` writes them; None knows none."""
    required: bool = True
    """Whether nobody is answered without one, where there is a file; the page asks for it."""
    search_bytes: int = 65_536
    """Of a body that are read before the caller is known, to find the key that some APIs have there; 0 takes keys from
    the head alone. Where the key comes later, it has to be in a header."""

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        _refuse(_below(self, search_bytes=0))


@dataclass(frozen=True, kw_only=True)
class DocumentsConfig:
    """Documents, which are translated in the background.

    Raises:
        ValueError: values that cannot be meant.
    """

    enabled: bool = True
    """Whether they are taken."""
    max_bytes: int = 10 << 20
    """Of a document."""
    max_characters: int = 1_000_000
    """Of a document's text."""
    max_tokens: int = 400_000
    """Of a document's text, estimated: what it costs. Words are a token for four characters, long runs without white
    space, such as base64, a token for each character."""
    reading_seconds: float = 60.0
    """Of processor time, to read a document or to write its translation."""
    reading_memory_mb: int = 1024
    """In MiB, to read a document or to write its translation."""
    max_waiting: int = 50
    """Documents of all callers that are not done; beyond, 503."""
    max_waiting_a_caller: int = 10
    """Documents of one caller that are not done; beyond, 429."""
    keep_seconds: float = 3600.0
    """That a translated document is kept, if nobody fetches it."""
    max_kept_bytes: int = 500 << 20
    """Of all documents that are kept, sources and results; beyond, 503."""

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        counts = ("max_bytes", "max_characters", "max_tokens", "max_waiting", "max_waiting_a_caller", "max_kept_bytes")
        problems = _below(self, **dict.fromkeys(counts, 1), reading_memory_mb=64)
        _refuse(problems + _not_above(self, "keep_seconds", "reading_seconds", than=0.0))


@dataclass(frozen=True, kw_only=True)
class LogConfig:
    """What is written down, a JSON object a line on standard error."""

    requests: bool = True
    """Whether each request gets a line: method, path, status, seconds, characters, a caller's key id; no text."""
    text: bool = False
    """Whether the line has the text too. It is other people's; leave it off."""
    addresses: bool = False
    """Whether the line has the caller's address."""


@dataclass(frozen=True, kw_only=True)
class ServingConfig:
    """All of it, a section each.

    Raises:
        ValueError: two sections contradict each other.
    """

    server: ServerConfig = field(default_factory=ServerConfig)
    """Where it listens."""
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    """What a request and a caller may have."""
    batching: BatchingConfig = field(default_factory=BatchingConfig)
    """How requests are worked on together."""
    models: ModelsConfig = field(default_factory=ModelsConfig)
    """Which models are in memory."""
    keys: KeysConfig = field(default_factory=KeysConfig)
    """Who may ask."""
    documents: DocumentsConfig = field(default_factory=DocumentsConfig)
    """Documents."""
    log: LogConfig = field(default_factory=LogConfig)
    """What is written down."""

    def __post_init__(self) -> None:
        """Refuses sections that contradict each other."""
        waiting = self.batching.max_waiting_characters * self.batching.caller_share
        if self.limits.max_characters > waiting:
            raise ValueError(
                f"limits.max_characters = {self.limits.max_characters} is more than one caller may have waiting, "
                f"{waiting:.0f}; take a larger batching.max_waiting_characters"
            )

    def warnings(self) -> list[str]:
        """What a server that others can reach should not be like, a sentence each."""
        if self.server.host in ("127.0.0.1", "::1", "localhost"):
            return []
        found = []
        limits = self.limits
        limited = limits.requests_per_minute is not None or limits.characters_per_minute is not None
        if self.keys.file is None and not limited:
            found.append(
                f"everybody who reaches {self.server.host} may ask as much as he likes; give --keys FILE, or set "
                "limits.requests_per_minute"
            )
        if self.server.metrics_token is None:
            found.append(f"everybody who reaches {self.server.host} can read /metrics; set server.metrics_token")
        return found


class _Document(BaseModel):
    """A configuration's TOML. Strict: no "3" for 3; and no key that is not ours, here or in a section."""

    model_config = ConfigDict(extra="forbid", strict=True)

    server: ServerConfig = ServerConfig()
    limits: LimitsConfig = LimitsConfig()
    batching: BatchingConfig = BatchingConfig()
    models: ModelsConfig = ModelsConfig()
    keys: KeysConfig = KeysConfig()
    documents: DocumentsConfig = DocumentsConfig()
    log: LogConfig = LogConfig()


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> ServingConfig:
    """Reads a configuration.

    Args:
        path: a TOML file; None for the defaults. A path in it starts from its folder.
        overrides: `SECTION.KEY=VALUE` each, which go before the file.

    Raises:
        RecipeError: keys or values that cannot be meant, all of them at once.
        OSError: the file cannot be read.
    """
    origin = "configuration" if path is None else one_line(str(path))
    document: dict[str, Any] = {}
    if path is not None:
        try:
            # Editors on Windows begin a file with a byte order mark, which TOML does not know.
            text = read_bounded(path, MAX_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise RecipeError(f"{origin}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error
        document = read_toml(text, origin)
        for section, key in (("keys", "file"), ("server", "state_dir")):
            if isinstance(table := document.get(section), dict) and isinstance(table.get(key), str):
                table[key] = str(path.parent / table[key])
    origins = Origins(file=origin, overrides=tuple(override(document, setting) for setting in overrides))
    found = checked(document, _Document, origins)
    try:
        return ServingConfig(**{section.name: getattr(found, section.name) for section in fields(ServingConfig)})
    except ValueError as error:
        raise RecipeError(f"{origins.of_text(str(error))}: {error}") from error
