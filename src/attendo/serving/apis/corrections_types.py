"""Requests and responses for corrections in our own API, as JSON."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictStr


class CorrectionItem(BaseModel):
    """A text with the translation that it should have."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[StrictStr, Field(min_length=1, description="What was translated.")]
    translation: Annotated[StrictStr, Field(min_length=1, description="How it should be translated.")]
    machine: Annotated[StrictStr, Field(description="What the server had written.")] = ""


class CorrectionsRequest(BaseModel):
    """Corrections to be kept."""

    model_config = ConfigDict(extra="forbid")

    source: Annotated[StrictStr, Field(max_length=35, examples=["en"], description="Language of the texts.")]
    target: Annotated[StrictStr, Field(max_length=35, examples=["de"], description="Language of the translations.")]
    model: Annotated[StrictStr | None, Field(max_length=64, description="The model that translated them.")] = None
    corrections: Annotated[list[CorrectionItem], Field(min_length=1)]


class KeptAnswer(BaseModel):
    """How many corrections were kept."""

    kept: Annotated[int, Field(description="Of this request.")]
    dropped: Annotated[dict[str, int], Field(description="Of a document: units that are no corrections, by reason.")]
    total: Annotated[int, Field(description="Of the caller.")]


class CorrectionAnswer(BaseModel):
    """A correction that is kept."""

    id: int
    source: str
    target: str
    text: str
    translation: str
    machine: str
    model: str
    created: str


class CorrectionsAnswer(BaseModel):
    """A caller's corrections."""

    corrections: list[CorrectionAnswer]
