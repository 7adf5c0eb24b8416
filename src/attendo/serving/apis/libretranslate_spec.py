"""LibreTranslate's endpoints as Swagger 2 describes them, for tools that read `/spec`."""

from typing import Any

from attendo import __version__
from attendo.serving.documents.options import CHOICES

_STRING = {"type": "string"}
_ERROR = {"type": "object", "properties": {"error": _STRING}}
_DETECTED = {
    "type": "object",
    "properties": {"confidence": {"type": "number", "minimum": 0, "maximum": 100}, "language": _STRING},
}
_LANGUAGE = {
    "type": "object",
    "properties": {"code": _STRING, "name": _STRING, "targets": {"type": "array", "items": _STRING}},
}
_TRANSLATED_TEXT = {
    "type": "object",
    "properties": {
        "translatedText": _STRING,
        "detectedLanguage": {"$ref": "#/definitions/detected"},
        "alternatives": {"type": "array", "items": _STRING},
    },
    "required": ["translatedText"],
}


def specification(base_path: str) -> dict[str, Any]:
    """The description of all endpoints.

    Args:
        base_path: the prefix of every path.
    """
    return {
        "swagger": "2.0",
        "info": {"title": "attendo: LibreTranslate's API", "version": __version__},
        "basePath": base_path,
        "consumes": ["application/json", "application/x-www-form-urlencoded"],
        "produces": ["application/json"],
        "paths": {
            "/translate": _translate(),
            "/detect": _post(
                "Detect the language of a text",
                _field("q", "The text", required=True),
                _field("api_key", "API key"),
                answer={"type": "array", "items": {"$ref": "#/definitions/detected"}},
            ),
            "/languages": _languages(),
            "/translate_file": _translate_file(),
            "/suggest": _suggest(),
            "/frontend/settings": {
                "get": {"summary": "Limits", "tags": ["frontend"], "responses": {"200": {"description": "limits"}}}
            },
        },
        "definitions": {"detected": _DETECTED, "error": _ERROR},
    }


def _translate() -> dict[str, Any]:
    return _post(
        "Translate text from a language to another",
        _field("q", "The text, or several", required=True),
        _field("source", "The language's code, or auto", required=True),
        _field("target", "The language's code", required=True),
        _field("format", "text or html"),
        _field("alternatives", "How many other translations", kind="integer"),
        _field("api_key", "API key"),
        answer=_TRANSLATED_TEXT,
    )


def _languages() -> dict[str, Any]:
    return {
        "get": {
            "summary": "The languages that are served",
            "tags": ["translate"],
            "responses": {"200": {"description": "languages", "schema": {"type": "array", "items": _LANGUAGE}}},
        }
    }


def _translate_file() -> dict[str, Any]:
    return _post(
        "Translate a document",
        _field("file", "The document", required=True, kind="file"),
        _field("source", "The language's code, or auto", required=True),
        _field("target", "The language's code, also with a region", required=True),
        *(_field(name, " or ".join(values)) for name, values in CHOICES.items()),
        _field("format", "The file's format, where its name does not say it"),
        _field("api_key", "API key"),
        answer={"type": "object", "properties": {"translatedFileUrl": _STRING, "summary": {"type": "object"}}},
        consumes=("multipart/form-data",),
    )


def _suggest() -> dict[str, Any]:
    return _post(
        "Keep a better translation of one's own, where the server keeps them",
        _field("q", "The text", required=True),
        _field("s", "Its better translation", required=True),
        _field("source", "The language's code, or auto", required=True),
        _field("target", "The language's code", required=True),
        _field("api_key", "API key"),
        answer={"type": "object", "properties": {"success": {"type": "boolean"}}},
    )


def _field(name: str, description: str, *, required: bool = False, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "formData", "description": description, "required": required, "type": kind}


def _post(
    summary: str, *fields: dict[str, Any], answer: dict[str, Any], consumes: tuple[str, ...] = ()
) -> dict[str, Any]:
    answers: dict[str, Any] = {"200": {"description": "done", "schema": answer}}
    for status, description in (("400", "bad request"), ("403", "refused"), ("429", "slow down"), ("500", "failed")):
        answers[status] = {"description": description, "schema": {"$ref": "#/definitions/error"}}
    call: dict[str, Any] = {"summary": summary, "tags": ["translate"], "parameters": list(fields), "responses": answers}
    if consumes:
        call["consumes"] = list(consumes)
    return {"post": call}
