"""Endpoints for operators: liveness, readiness, metrics, and the description of the APIs."""

import hmac
import json
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from attendo import __version__
from attendo.serving.apis.api_page import POLICY, api_page
from attendo.serving.apis.native import ERRORS
from attendo.serving.errors import ServingError
from attendo.serving.service import Service
from attendo.serving.status import Status


def router(service: Service, status: Status) -> APIRouter:
    """The paths for operators.

    Args:
        service: the services of the server.
        status: the server's status.
    """
    routes = APIRouter(tags=["operations"])
    token = service.config.server.metrics_token

    @routes.get("/health", summary="Is it alive?")
    async def health() -> Response:
        """Answers as long as the server runs; for whatever starts it again where it does not answer."""
        return JSONResponse({"status": "ok"})

    @routes.get("/ready", summary="Is it ready?", responses={503: ERRORS[503]})
    async def ready() -> Response:
        """Whether requests are welcome: not while models are loaded at the start, nor after SIGTERM."""
        if status.ready:
            return JSONResponse({"status": "ready"})
        raise ServingError(503, status.state, status.reason or f"the server is {status.state}", retry_after_s=1.0)

    @routes.get(
        "/metrics", summary="How is it doing?", responses={200: {"content": {"text/plain": {}}}, 401: ERRORS[401]}
    )
    async def metrics(request: Request) -> Response:
        """Prometheus' figures; none has a text, a key or an address in it."""
        shown = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        if token is not None and not hmac.compare_digest(shown, token.encode()):
            raise ServingError(401, "unauthorized", "/metrics needs the header Authorization: Bearer TOKEN")
        content = await service.in_thread(generate_latest, service.metrics.registry)
        return Response(content, headers={"content-type": CONTENT_TYPE_LATEST})

    return routes


def add_description(app: FastAPI, prefix: str) -> None:
    """Adds `/openapi.json` and the page `/docs`, which loads nothing from the network.

    Args:
        app: the app with all its other routes.
        prefix: the server's path prefix.
    """

    @cache
    def described() -> tuple[bytes, str]:
        schema: dict[str, Any] = app.openapi()
        schema.setdefault("components", {})["securitySchemes"] = _KEYS
        schema["security"] = [{name: []} for name in _KEYS] + [{}]
        return json.dumps(schema).encode(), api_page(schema)

    @app.get(f"{prefix}/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(described()[0], media_type="application/json")

    @app.get(f"{prefix}/docs", include_in_schema=False)
    async def docs() -> Response:
        headers = {"content-security-policy": POLICY, "cache-control": "no-cache"}
        return HTMLResponse(described()[1], headers=headers)


_KEYS = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "Where the server has keys."},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same."},
}
DESCRIPTION = f"""Translation by attendo {__version__}, a Transformer of "Attention Is All You Need".

Besides our own API, below `/api`, there are those of LibreTranslate, DeepL (v2) and OmegaT, for clients that speak
them.
"""
"""The server's description in `/openapi.json`."""
