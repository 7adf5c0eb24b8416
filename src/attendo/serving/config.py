"""Settings of `attendo serve`: TOML sections, whose defaults suit a server for its own machine only."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attendo.serving.corrections_config import CorrectionsConfig

_HOST_NAME = re.compile(r"\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
"""Patterns of `allowed_hosts`: all names, all names below one, or one name."""


def _below(section: Any, **least: float) -> list[str]:
    """Reports numbers below their minimum; None has no minimum."""
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
    """Network and state settings of the server, and its optional pages.

    Raises:
        ValueError: a value is impossible.
    """

    host: str = "127.0.0.1"
    """The address to listen on; `0.0.0.0` for all addresses of the machine."""
    port: int = 5000
    """The port to listen on, by default LibreTranslate's; 0 takes a free one."""
    url_prefix: str = ""
    """A prefix of every path, such as `/attendo`, for a proxy that does not remove it."""
    page: bool = True
    """Whether to serve the page at `/`."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses, such as `10.0.0.2`, or networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Name
    only the proxy: anyone else with such an address can claim to be any caller."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names of the server, such as `translate.example.org`, `*.example.org` or `*` for all. IP addresses,
    `localhost` and names that the public DNS cannot contain are always accepted; requests for other names are answered
    with 421."""
    cors_origins: tuple[str, ...] = ()
    """Other sites whose pages may call the APIs from a browser, such as `https://example.org`; `*` for all. Requests
    from other sites' pages that would change something are refused with 403."""
    state_dir: Path | None = None
    """A folder for what outlives a restart: glossaries, translated documents, and the state of the others. It belongs
    to one server; None keeps everything until the server ends."""
    max_connections: int = 1000
    """Maximum number of open connections; further ones are answered with 503."""
    key_share: float = 0.2
    """Share of `max_connections` reserved for callers with a key, if there are keys."""
    header_seconds: float = 10.0
    """Maximum number of seconds in which a request's headers must arrive, from their first byte."""
    keep_alive_seconds: float = 75.0
    """Number of seconds that an idle connection stays open; it should be longer than a load balancer's."""
    body_seconds: float = 30.0
    """Maximum number of seconds in which a request's body must arrive, extended by `min_body_rate`; also the longest
    pause within it."""
    min_body_rate: int = 50_000
    """Number of received bytes that give a body another second, so that large documents on slow connections arrive."""
    shutdown_seconds: float = 60.0
    """Maximum number of seconds to finish accepted requests after SIGTERM."""
    drain_seconds: float = 0.0
    """Number of seconds that the server keeps listening after SIGTERM while `/ready` answers 503, for load balancers
    that check every few seconds."""
    docs: bool = True
    """Whether `/docs` and `/openapi.json` describe the APIs."""
    metrics_token: str | None = None
    """The token that `/metrics` requires as `Authorization: Bearer ...`; None lets everybody read it."""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
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
    """Limits of a request and of a caller; a key can have limits of its own.

    Raises:
        ValueError: a value is impossible.
    """

    max_characters: int = 20_000
    """Maximum number of Unicode characters in all texts of a request together."""
    max_attention_characters: int = 500
    """Maximum number of characters of a sentence and its translation in a request for attention; the response grows
    with their square."""
    max_items: int = 128
    """Maximum number of texts in a request."""
    max_body_bytes: int = 1 << 20
    """Maximum size of a request's body in bytes; documents have their own limit."""
    max_bodies_bytes: int = 256 << 20
    """Maximum size in bytes of all bodies being received or answered, together."""
    request_seconds: float = 60.0
    """Maximum number of seconds for a request; then it is cancelled and answered with an error."""
    n_best: int = 10
    """Maximum number of translations of a text that a request can ask for."""
    beam_size: int = 12
    """Maximum beam size that a request can ask for."""
    requests_per_minute: int | None = None
    """Maximum number of requests per minute of a caller without a key, identified by address; None sets no limit."""
    characters_per_minute: int | None = None
    """Maximum number of characters per minute of a caller without a key; None sets no limit."""
    connections_a_caller: int = 200
    """Maximum number of open connections of a caller, identified by key or address; above it, the caller's longest idle
    connections are closed."""
    requests_at_once: int = 100
    """Maximum number of requests of a caller being received or answered at the same time; further ones are answered
    with 429."""
    ip6_prefix: int = 64
    """Number of leading bits of an IPv6 address that identify a caller: a household has a whole network."""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
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
    """The forming of batches from waiting requests.

    Raises:
        ValueError: a value is impossible.
    """

    threads: int | None = None
    """Number of threads that translate, each a batch of its own; None takes one for each processor core that this
    process may use."""
    max_batch_tokens: int = 1024
    """Maximum number of source tokens in a batch, estimated from characters."""
    max_batch_lines: int = 32
    """Maximum number of sentences in a batch."""
    window_ms: float = 0.0
    """Number of milliseconds that an idle thread waits for more lines if there are fewer than a batch takes."""
    max_waiting_characters: int = 1_000_000
    """Maximum number of characters in all waiting lines; further requests are answered with 503."""
    max_waiting_lines: int = 20_000
    """Maximum number of waiting lines; further requests are answered with 503."""
    caller_share: float = 0.5
    """Share of both limits that the lines of one caller may use; further requests of that caller are answered with
    429."""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        counts = ("threads", "max_batch_tokens", "max_batch_lines", "max_waiting_characters", "max_waiting_lines")
        problems = _below(self, **dict.fromkeys(counts, 1), window_ms=0.0)
        if not 0 < self.caller_share <= 1:
            problems.append(f"caller_share = {self.caller_share} is not above 0 and at most 1; take 0.5")
        if self.window_ms > 1000:
            problems.append(f"window_ms = {self.window_ms} is too large; take 1000 or less")
        _refuse(problems)


@dataclass(frozen=True, kw_only=True)
class ModelsConfig:
    """The models in memory.

    Raises:
        ValueError: a value is impossible.
    """

    memory_mb: int | None = None
    """Maximum size of all models in memory, in MiB; the least recently used one is unloaded first. None keeps all."""
    eager: bool = False
    """Whether all models are loaded before the server is ready; otherwise the first translation model is loaded at the
    start, and the others with their first request."""
    watch_seconds: float = 5.0
    """Number of seconds between two checks of the models' folders for changes; changed models are loaded again. 0 never
    checks."""
    dtype: str | None = None
    """Numbers to calculate with: `float32`, `bfloat16` or `int8`; None for those in which each model is stored."""
    memories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files of translation memories by the names of models; a line that one of them has is answered from it."""
    memory_threshold: int = 75
    """Minimum similarity of a similar text in these memories, in per cent of its words, from 50 to 100. At 100 no
    similar text guides the search."""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        problems = _below(self, memory_mb=1, watch_seconds=0.0)
        if not 50 <= self.memory_threshold <= 100:
            problems.append(f"memory_threshold = {self.memory_threshold} is out of range; take one from 50 to 100")
        if self.dtype not in (None, "float32", "bfloat16", "int8"):
            problems.append(f'dtype = {self.dtype!r} is none of "float32", "bfloat16", "int8"')
        _refuse(problems)


@dataclass(frozen=True, kw_only=True)
class KeysConfig:
    """API keys of the server's users.

    Raises:
        ValueError: a value is impossible.
    """

    file: Path | None = None
    """The file of API keys, as `attendo keys` writes it; None for no keys."""
    required: bool = True
    """Whether requests need a key if there is a file of keys; the page then asks for one."""
    search_bytes: int = 65_536
    """Maximum number of bytes of a body that are read before the caller is known, to find the key that some APIs have
    there. A key that comes later has to be in a header; 0 accepts keys in headers only."""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        _refuse(_below(self, search_bytes=0))


@dataclass(frozen=True, kw_only=True)
class DocumentsConfig:
    """Limits of documents, which are translated in the background.

    Raises:
        ValueError: a value is impossible.
    """

    enabled: bool = True
    """Whether the server translates documents."""
    max_bytes: int = 10 << 20
    """Maximum size of a document in bytes."""
    max_characters: int = 1_000_000
    """Maximum number of characters in a document's text."""
    max_tokens: int = 400_000
    """Maximum number of tokens in a document's text, an estimate of its cost: a token for four characters of words, and
    a token for each character of long runs without white space, such as base64."""
    reading_seconds: float = 60.0
    """Maximum number of seconds of processor time to read a document or to write its translation."""
    reading_memory_mb: int = 1024
    """Maximum memory to read a document or to write its translation, in MiB."""
    max_waiting: int = 50
    """Maximum number of unfinished documents of all callers; further ones are answered with 503."""
    max_waiting_a_caller: int = 10
    """Maximum number of unfinished documents of one caller; further ones are answered with 429."""
    keep_seconds: float = 3600.0
    """Number of seconds that a translated document is kept if nobody fetches it."""
    max_kept_bytes: int = 500 << 20
    """Maximum size in bytes of all kept documents, sources and results; further ones are answered with 503."""

    def __post_init__(self) -> None:
        """Refuses impossible values."""
        counts = ("max_bytes", "max_characters", "max_tokens", "max_waiting", "max_waiting_a_caller", "max_kept_bytes")
        problems = _below(self, **dict.fromkeys(counts, 1), reading_memory_mb=64)
        _refuse(problems + _not_above(self, "keep_seconds", "reading_seconds", than=0.0))


@dataclass(frozen=True, kw_only=True)
class LogConfig:
    """The contents of the log: a JSON object per line on standard error."""

    requests: bool = True
    """Whether to log each request: method, path, status, seconds, characters and the caller's key id, but no text."""
    text: bool = False
    """Whether to log the text too. It is other people's; leave it off."""
    addresses: bool = False
    """Whether to log the caller's address."""


@dataclass(frozen=True, kw_only=True)
class ServingConfig:
    """All settings, by section.

    Raises:
        ValueError: two sections contradict each other.
    """

    server: ServerConfig = field(default_factory=ServerConfig)
    """Network and state settings of the server, and its optional pages."""
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    """Limits of a request and of a caller."""
    batching: BatchingConfig = field(default_factory=BatchingConfig)
    """The forming of batches from waiting requests."""
    models: ModelsConfig = field(default_factory=ModelsConfig)
    """The models in memory."""
    keys: KeysConfig = field(default_factory=KeysConfig)
    """API keys of the server's users."""
    documents: DocumentsConfig = field(default_factory=DocumentsConfig)
    """Limits of documents."""
    corrections: CorrectionsConfig = field(default_factory=CorrectionsConfig)
    """Corrections that callers send."""
    log: LogConfig = field(default_factory=LogConfig)
    """The contents of the log."""

    def __post_init__(self) -> None:
        """Rejects sections that contradict each other."""
        waiting = self.batching.max_waiting_characters * self.batching.caller_share
        if self.limits.max_characters > waiting:
            raise ValueError(
                f"limits.max_characters = {self.limits.max_characters} is more than one caller may have waiting, "
                f"{waiting:.0f}; take a larger batching.max_waiting_characters"
            )

    def warnings(self) -> list[str]:
        """Warns of settings that are unsafe for a server that others can reach, one sentence each."""
        if self.server.host in ("127.0.0.1", "::1", "localhost"):
            return []
        found = []
        limits = self.limits
        limited = limits.requests_per_minute is not None or limits.characters_per_minute is not None
        if self.keys.file is None and not limited:
            found.append(
                f"anyone who reaches {self.server.host} can send any number of requests; use --keys FILE, or set "
                "limits.requests_per_minute"
            )
        if self.server.metrics_token is None:
            found.append(f"anyone who reaches {self.server.host} can read /metrics; set server.metrics_token")
        return found
