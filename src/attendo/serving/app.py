"""Assembly of the server: models, queue and callers behind the APIs, all behind the gate."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from attendo import __version__
from attendo.errors import AttendoError
from attendo.serving.access.callers import Callers
from attendo.serving.access.identification import Identification, KeyParameter
from attendo.serving.access.keys import KeyRing, read_keys
from attendo.serving.apis import (
    corrections_api,
    deepl,
    deepl_files,
    documents_api,
    glossaries_api,
    libretranslate,
    native,
    omegat,
    operations,
    page,
)
from attendo.serving.config import ServingConfig
from attendo.serving.core.core import Core
from attendo.serving.core.model_names import ModelSource, with_memories
from attendo.serving.core.models import ModelPool
from attendo.serving.core.text_loop import TextLoop
from attendo.serving.corrections import Corrections
from attendo.serving.documents.background import Documents
from attendo.serving.documents.records import DocumentRecords
from attendo.serving.errors import ErrorShape, ServingError
from attendo.serving.glossaries import Glossaries
from attendo.serving.http.bodies import Bodies
from attendo.serving.http.connections import Connections
from attendo.serving.http.gate import Gate, error_headers, shaped
from attendo.serving.http.sites import Sites
from attendo.serving.keeping import Keeping, read_spent
from attendo.serving.languages.detection import Detector
from attendo.serving.logs import Log, error_place
from attendo.serving.metrics import Metrics
from attendo.serving.service import Service
from attendo.serving.state import State
from attendo.serving.status import Status

_HELPERS = 4
_QUIET_S = 1.0
"""Seconds without a request after which a server is idle."""
_DOCUMENTS = re.compile(r"/api/documents/?|/api/corrections/document/?|/v[12]/document/?|/translate_file/?")
"""Paths whose bodies are documents."""
_MULTIPART_BYTES = 64 << 10
"""Size of a multipart body beyond the document in it."""
_KEY_PARAMETERS = (
    KeyParameter(paths=libretranslate.ERRORS.paths, name="api_key"),
    KeyParameter(paths=deepl.ERRORS.paths, name="auth_key"),
    KeyParameter(paths=omegat.ERRORS.paths, name="api_key"),
)
"""Names of key parameters in the compatible APIs."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that is ready to be started."""

    app: ASGIApp
    """The ASGI application."""
    service: Service
    """The services of the server."""
    core: Core
    """The models at work."""
    pool: ModelPool
    """The models."""
    keeping: Keeping
    """The maintenance tasks."""
    status: Status
    """The status."""
    log: Log
    """The log."""
    connections: Connections = field(default_factory=lambda: Connections(ServingConfig()))
    """The open connections."""


def build(config: ServingConfig, sources: Sequence[ModelSource], *, log: Log | None = None) -> Server:
    """Assembles a server without starting anything.

    Args:
        config: the configuration.
        sources: the models.
        log: the log; None for standard error.

    Raises:
        AttendoError: a model's folder, the keys or the state are damaged.
        OSError: a file cannot be read.
    """
    log, metrics, status = log or Log(), Metrics(), Status()
    sources = with_memories(sources, config.models.memories, config.models.memory_threshold)
    pool = ModelPool(sources, config.models, metrics, log)
    core = Core(pool, config.batching, metrics, log)
    keys = KeyRing() if config.keys.file is None else read_keys(config.keys.file)
    callers = Callers(keys, config.limits, config.keys, spent=read_spent(config.keys.file))
    helpers = ThreadPoolExecutor(_HELPERS, thread_name_prefix="attendo-help")
    detector = Detector([pair.source for pair in pool.pairs()])
    state, texts = State(config.server.state_dir, log), TextLoop()
    service = Service(
        translating=core,
        config=config,
        detector=detector,
        callers=callers,
        metrics=metrics,
        documents=_documents(core, detector, config, helpers, texts, state) if config.documents.enabled else None,
        helpers=helpers,
        texts=texts,
        state=state,
    )
    keeping = Keeping(config, pool, callers, log, lambda: _is_idle(core, service.documents, status))
    parts = Server(
        app=_nothing,
        service=service,
        core=core,
        pool=pool,
        keeping=keeping,
        status=status,
        log=log,
        connections=Connections(config),
    )
    return Server(**{**vars(parts), "app": create_app(parts)})


def _documents(
    core: Core,
    detector: Detector,
    config: ServingConfig,
    helpers: ThreadPoolExecutor,
    texts: TextLoop,
    state: State,
) -> Documents:
    """Returns the documents of a server, including those of its last run if its state has them."""
    records = None if state.folder is None else DocumentRecords(state, state.folder / "documents")
    corrections = Corrections(state, config.corrections)
    return Documents(core, detector, config.documents, helpers, texts, records=records, corrections=corrections)


def _is_idle(core: Core, documents: Documents | None, status: Status) -> bool:
    """Whether nothing waits and no request has come for a while: a steady caller's next one comes soon."""
    waits = status.in_flight or core.waiting or (documents is not None and documents.waiting)
    return not waits and time.monotonic() - status.asked_at > _QUIET_S


def create_app(server: Server) -> ASGIApp:
    """Makes the application of a server.

    Args:
        server: the parts of the server.
    """
    config = server.service.config
    prefix = config.server.url_prefix
    app = FastAPI(
        title="attendo",
        version=__version__,
        description=operations.DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=lambda app: running(server),
    )
    _include_routers(app, server, prefix)
    if config.server.docs:
        operations.add_description(app, prefix)
    shapes = [libretranslate.ERRORS, deepl.ERRORS, omegat.ERRORS]
    _add_error_answers(app, prefix, shapes)
    _add_middleware(app, server, shapes)
    return app


def _include_routers(app: FastAPI, server: Server, prefix: str) -> None:
    """Adds the routes of every API, and of the page if it is served."""
    service = server.service
    glossaries = Glossaries(service.state)
    app.include_router(native.router(service, glossaries), prefix=prefix)
    app.include_router(glossaries_api.router(service, glossaries), prefix=prefix)
    app.include_router(documents_api.router(service, glossaries), prefix=prefix, responses=native.ERRORS)
    app.include_router(corrections_api.router(service), prefix=prefix, responses=native.ERRORS)
    for routes in (
        libretranslate.router(service),
        deepl.router(service, glossaries),
        deepl_files.router(service, glossaries),
        omegat.router(service),
        operations.router(service, server.status),
    ):
        app.include_router(routes, prefix=prefix)
    if service.config.server.page:
        app.include_router(page.router(service), prefix=prefix)


def _add_middleware(app: FastAPI, server: Server, shapes: Sequence[ErrorShape]) -> None:
    """Adds the middleware that every request passes before its route; the last one added is the outermost."""
    config = server.service.config
    app.add_middleware(Bodies, config=config, max_bytes=lambda path: _max_body_bytes(config, path))
    app.add_middleware(
        Identification,
        config=config,
        callers=server.service.callers,
        connections=server.connections,
        parameters=_KEY_PARAMETERS,
    )
    app.add_middleware(Sites, config=config.server, log=server.log)
    app.add_middleware(
        Gate,
        config=config,
        shapes=shapes,
        metrics=server.service.metrics,
        log=server.log,
        status=server.status,
        is_lasting=lambda path: _DOCUMENTS.fullmatch(path) is not None,
    )
    if config.server.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=config.server.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key"],
            expose_headers=["Retry-After", "X-Request-Id"],
            max_age=86_400,
        )


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[None]:
    """Runs the parts of a server: its threads and maintenance tasks.

    Models are loaded meanwhile, so that `/health` answers at once and `/ready` when they are there.
    """
    server.core.start()
    tasks = [asyncio.create_task(_load(server)), asyncio.create_task(server.keeping.run())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if server.service.documents is not None:
            await server.service.documents.close()
        await server.service.texts.stop()
        server.service.state.close()
        await server.core.stop()
        await server.pool.close()
        server.keeping.write_spent()
        server.service.helpers.shutdown(wait=False)


async def _load(server: Server) -> None:
    """Loads everything that the server needs to be ready."""
    try:
        await server.pool.load_first()
        if server.pool.pairs():
            await server.service.in_thread(server.service.detector.detect, "Hello")  # reads its model
    except Exception as error:
        reason = str(error) if isinstance(error, AttendoError | OSError) else error_place(error)
        server.status.state, server.status.reason = "failed", str(reason)
        return
    if server.status.state == "starting":
        server.status.state = "ready"
        server.log.info("ready", models=list(server.pool.names()), threads=server.core.threads)
    if server.service.documents is not None:
        await server.service.documents.warm()


def _max_body_bytes(config: ServingConfig, path: str) -> int:
    if config.documents.enabled and _DOCUMENTS.fullmatch(path.removeprefix(config.server.url_prefix)):
        return config.documents.max_bytes + _MULTIPART_BYTES
    return config.limits.max_body_bytes


def _add_error_answers(app: FastAPI, prefix: str, shapes: Sequence[ErrorShape]) -> None:
    """Formats every error in the shape of the API that was called."""

    def answer(request: Request, error: ServingError) -> Response:
        request.state.error = error.code
        status, body = shaped(error, request.url.path.removeprefix(prefix), shapes)
        return JSONResponse(body, status_code=status, headers=error_headers(error))

    async def of_ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, ServingError)
        return answer(request, error)

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = {404: "not-found", 405: "method-not-allowed", 400: "bad-request"}.get(error.status_code, "http")
        response = answer(request, ServingError(error.status_code, code, str(error.detail)))
        response.headers.update(error.headers or {})
        return response

    async def of_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer(request, ServingError(400, "bad-request", _problems(error.errors())))

    app.add_exception_handler(ServingError, of_ours)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_validation)


def _problems(errors: Sequence[Any]) -> str:
    """Describes the faults of a request without repeating its content, which may be invalid or huge."""
    problems = []
    for error in errors[:5]:
        where = ".".join(str(part)[:40] for part in error["loc"][1:] if not str(part).startswith("function-"))
        message = f"{where}: {error['msg']}" if where else str(error["msg"])
        problems.append(message.encode("ascii", errors="backslashreplace").decode()[:300])
    return "; ".join(dict.fromkeys(problems))


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    """Placeholder for the application until it is made."""
