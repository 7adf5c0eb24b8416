"""The web page: its files, which come with the package, and the reliability curve of its confidences."""

import hashlib
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from attendo.attention_maps.page import SCRIPTS
from attendo.errors import ModelError
from attendo.serving.errors import not_found
from attendo.serving.service import Service
from attendo.workflow.confidence import Calibration, read_calibration

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)
"""Content security policy: the page may load and run only the server's own files, and call only the server."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",  # cached, but revalidated: a new version is shown at once
}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A file of the page."""

    content: bytes
    """The content."""
    media_type: str
    """The media type with its character set."""
    etag: str
    """The entity tag, by which a browser checks its copy."""


def router(service: Service) -> APIRouter:
    """The page's paths.

    Args:
        service: the services of the server.
    """
    routes = APIRouter(include_in_schema=False)
    found = assets()

    @routes.get("/")
    async def page(request: Request) -> Response:
        return _answer(request, found["index.html"])

    @routes.get("/attention")
    async def attention(request: Request) -> Response:
        return _answer(request, found["attention.html"])

    @routes.get("/static/{name:path}")
    async def file(request: Request, name: str) -> Response:
        if name not in found or name.endswith(".html"):
            raise not_found("the page has no such file")
        return _answer(request, found[name])

    @routes.get("/api/confidence")
    async def confidence(model: str) -> Response:
        calibration = await service.in_thread(_calibration, service, model)
        return JSONResponse(asdict(calibration))

    return routes


@lru_cache(maxsize=1)
def assets() -> dict[str, Asset]:
    """Returns all files of the page by name: its own, and those of `attendo attention` below `attention/`."""
    own = files("attendo.serving") / "static"
    shared = files("attendo.attention_maps") / "assets"
    found = {each.name: each.read_bytes() for each in own.iterdir() if not each.name.startswith((".", "_"))}
    found["attention.html"] = found["attention.html"].replace(b"{{SCRIPTS}}", " ".join(SCRIPTS).encode())
    found |= {f"attention/{name}": (shared / name).read_bytes() for name in (*SCRIPTS, "page.css")}
    return {name: _asset(name, content) for name, content in found.items()}


def _asset(name: str, content: bytes) -> Asset:
    kind = _TYPES[name[name.rindex(".") :]]
    return Asset(
        content=content,
        media_type=f"{kind}; charset=utf-8",
        etag=f'"{hashlib.sha256(content).hexdigest()[:32]}"',
    )


def _answer(request: Request, asset: Asset) -> Response:
    headers = {**_HEADERS, "ETag": asset.etag}
    if asset.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)


def _calibration(service: Service, model: str) -> Calibration:
    try:
        calibration = read_calibration(service.translating.folder(model))
    except ModelError:
        calibration = None  # torn: then no confidence is shown either
    if calibration is None:
        raise not_found(f"the model {model!r:.80} has no calibrated confidence; see attendo calibrate")
    return calibration
