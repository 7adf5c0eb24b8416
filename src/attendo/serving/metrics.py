"""Metrics for Prometheus; they contain no text and no addresses.

A request's path is a label only as the route's template, so that clients cannot fill the server's memory with paths.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_STEP_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5)
_LINES = (1, 2, 4, 8, 16, 32, 64, 128)
_TOKENS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class Metrics:
    """The figures of one server.

    Args:
        registry: the registry of the figures; by default a new one.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        r = self.registry
        self.requests = Counter("attendo_http_requests", "Requests answered.", ["method", "path", "status"], registry=r)
        self.request_seconds = Histogram(
            "attendo_http_request_seconds", "From head to answer.", ["path"], buckets=_SECONDS, registry=r
        )
        self.in_flight = Gauge("attendo_http_requests_in_flight", "Requests not answered yet.", registry=r)
        self.gone = Counter("attendo_http_clients_gone", "Requests whose client left before the answer.", registry=r)
        self.errors = Counter("attendo_errors", "Requests refused or failed, by reason.", ["code"], registry=r)
        self.characters = Counter("attendo_characters", "Characters of texts taken.", ["model"], registry=r)
        self.lines = Counter("attendo_lines", "Sentences worked on.", ["model", "work"], registry=r)
        self.tokens = Counter("attendo_tokens", "Tokens read and written.", ["model", "side"], registry=r)
        self.dropped = Counter(
            "attendo_lines_dropped", "Sentences taken out of the queue: nobody waits any more, or too late.", registry=r
        )
        self.batch_lines = Histogram("attendo_batch_lines", "Sentences of a batch.", buckets=_LINES, registry=r)
        self.batch_tokens = Histogram(
            "attendo_batch_estimated_tokens", "Source tokens of a batch, estimated.", buckets=_TOKENS, registry=r
        )
        self.batch_seconds = Histogram(
            "attendo_batch_seconds", "Working on a batch.", ["model"], buckets=_SECONDS, registry=r
        )
        self.queue_seconds = Histogram(
            "attendo_queue_seconds", "From arrival to the start of work, a sentence.", buckets=_SECONDS, registry=r
        )
        self.waiting_lines = Gauge("attendo_waiting_lines", "Sentences in the queue.", registry=r)
        self.waiting_characters = Gauge("attendo_waiting_characters", "Characters in the queue.", registry=r)
        self.busy_threads = Gauge("attendo_busy_threads", "Batches that are being worked on, one a thread.", registry=r)
        self.held_up = Gauge("attendo_batches_held_up", "Batches in work that have given way to others.", registry=r)
        self.cancelled = Counter(
            "attendo_lines_cancelled", "Sentences stopped in work: nobody waits any more, or too late.", registry=r
        )
        self.put_back = Counter(
            "attendo_lines_put_back", "Sentences taken out of a batch that kept those of others waiting.", registry=r
        )
        self.step_seconds = Histogram(
            "attendo_step_seconds",
            "The longest step of a batch, with what is encoded for it: until then it cannot be stopped or held up.",
            buckets=_STEP_SECONDS,
            registry=r,
        )
        self.longest_step = Gauge("attendo_longest_step_seconds", "The longest such step so far.", registry=r)
        self.model_loads = Counter("attendo_model_loads", "Models read from disk.", ["model", "reason"], registry=r)
        self.model_load_failures = Counter(
            "attendo_model_load_failures", "Models that could not be read.", ["model"], registry=r
        )
        self.models_in_memory = Gauge("attendo_models_in_memory", "Models that are loaded.", registry=r)
        self.model_bytes = Gauge("attendo_model_bytes", "Memory of a loaded model, estimated.", ["model"], registry=r)
