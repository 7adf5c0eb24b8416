"""Requests and responses for documents: their schemas in `/openapi.json`."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from attendo.serving.documents.options import CHOICES, ENDINGS, FORMAT_NAMES


class FindingAnswer(BaseModel):
    """A unit in whose translation something was found."""

    unit: Annotated[str, Field(description="Its id in the file.")]
    line: Annotated[int | None, Field(description="Where its text is written, from 1.")]
    source: str
    target: str
    problems: Annotated[list[str], Field(description="What checks found, and what could not be kept.")]
    failed: Annotated[bool, Field(description="Whether a check found an error, or the unit was left as it was.")]
    confidence: Annotated[float | None, Field(description="0 to 1; null where the model is not calibrated.")]


class ConfidenceAnswer(BaseModel):
    """Confidence of the translations, 0 to 1."""

    mean: float
    least: float


class SummaryAnswer(BaseModel):
    """Summary of a document's units."""

    format: str
    units: int
    translated: Annotated[int, Field(description="Units that got a translation.")]
    kept: Annotated[int, Field(description="Units that were not to be translated.")]
    left: Annotated[int, Field(description="Units that no translation fitted, which stay as they were.")]
    failed: Annotated[int, Field(description="Units whose translation, written or not, has an error.")]
    marked: Annotated[int, Field(description="Units that are marked for review.")]
    checks: Annotated[dict[str, int], Field(description="How often each check found something.")]
    terms: Annotated[dict[str, int], Field(description="What became of the terms of the glossary.")] = {}
    confidence: ConfidenceAnswer | None
    findings: Annotated[list[FindingAnswer], Field(description="The first units in which something was found.")]
    findings_left_out: Annotated[int, Field(description="More of them, which the report has.")]


class DocumentAnswer(BaseModel):
    """State of a document."""

    id: str
    status: Literal["queued", "translating", "done", "error"]
    name: str
    progress: Annotated[float, Field(description="0 to 1.")]
    source: str
    target: str
    characters: int
    message: Annotated[str, Field(description="What went wrong.")]
    problems: Annotated[list[str], Field(description="What was found in its translations, each message once.")]
    seconds_remaining: Annotated[int | None, Field(description="About; while it is not done.")] = None
    summary: Annotated[SummaryAnswer | None, Field(description="Once it is done.")] = None


_DESCRIBED = {
    "only": "Units to translate: those without a translation, those to be reviewed, or all that are not approved.",
    "mark": "Translations to mark for review: all, those with problems, or none.",
    "check": "Checks: not at all, reported, or said in `message` where one fails.",
}
_FIELDS = {
    "file": {"type": "string", "format": "binary", "description": f"Its name says the format: {', '.join(ENDINGS)}"},
    "target": {"type": "string", "description": "A language's code, such as de, or with a region, de-AT."},
    "source": {"type": "string", "description": "A language's code, or auto.", "default": "auto"},
    "glossary": {"type": "string", "description": "The id of one of the caller's glossaries."},
    "template": {
        "type": "string",
        "format": "binary",
        "description": "The file with the sources, where `file` is its translation, of which missing texts are made; "
        "for formats of one language a file.",
    },
    "format": {"type": "string", "enum": list(FORMAT_NAMES), "description": "Where the name does not say it."},
} | {
    name: {"type": "string", "enum": list(CHOICES[name]), "default": CHOICES[name][0], "description": text}
    for name, text in _DESCRIBED.items()
}
FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "required": ["file", "target"], "properties": _FIELDS},
            }
        },
    }
}
"""The body of `POST /api/documents`."""
