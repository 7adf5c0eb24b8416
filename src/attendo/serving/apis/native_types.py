"""What our own API takes and gives, as JSON: the schemas of `/openapi.json`, and what checks requests."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

Text = Annotated[StrictStr | list[StrictStr], Field(description="One text or several, in Unicode.")]
Code = Annotated[
    StrictStr, Field(max_length=35, examples=["en"], description="A language's code, as `/api/models` has it.")
]
Model = Annotated[
    StrictStr | None, Field(max_length=64, description="A served model's name; left out, the first that fits.")
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TranslateRequest(_Request):
    """Texts to translate."""

    text: Text
    source: Annotated[
        StrictStr, Field(max_length=35, examples=["en"], description="Its language's code, or `auto`.")
    ] = "auto"
    target: Annotated[StrictStr | None, Field(max_length=35, examples=["de"], description="Left out, the model's.")] = (
        None
    )
    model: Model = None
    format: Annotated[Literal["text", "html", "xml"], Field(description="How the texts are written.")] = "text"
    split: Annotated[
        Literal["sentences", "lines", "off"],
        Field(description="What the model reads at a time; the rest stays as it is."),
    ] = "sentences"
    n_best: Annotated[StrictInt, Field(ge=1, le=100, description="Translations of each segment, best first.")] = 1
    alignment: Annotated[StrictBool, Field(description="Whether words are linked with words.")] = False
    beam_size: Annotated[
        StrictInt | None, Field(ge=1, le=1000, description="Hypotheses kept at each step; left out, the model's own.")
    ] = None
    length_penalty: Annotated[
        StrictFloat | StrictInt | None,
        Field(ge=-10, le=10, description="Higher prefers longer translations; left out, the model's own."),
    ] = None
    glossary: Annotated[
        StrictStr | None, Field(max_length=64, description="The id of one of the caller's glossaries.")
    ] = None
    stream: Annotated[
        StrictBool, Field(description="Whether segments are sent as they are ready, as server-sent events.")
    ] = False


class TermJson(_Request):
    """A term of a glossary."""

    source: Annotated[StrictStr, Field(max_length=200)]
    target: Annotated[StrictStr, Field(max_length=200, description="Its translation; empty to forbid words only.")] = ""
    forms: Annotated[list[StrictStr], Field(max_length=100, description="Inflected forms of the target.")] = []
    alternatives: Annotated[list[StrictStr], Field(max_length=20, description="Other accepted translations.")] = []
    forbidden: Annotated[list[StrictStr], Field(max_length=20, description="Translations that are not used.")] = []
    comment: Annotated[StrictStr, Field(max_length=1000)] = ""


class GlossaryRequest(_Request):
    """A glossary to make, or to put in the place of one that is there."""

    name: Annotated[StrictStr, Field(min_length=1, max_length=200)]
    source: Annotated[StrictStr, Field(max_length=35, examples=["en"], description="The language of the terms.")]
    target: Annotated[StrictStr, Field(max_length=35, examples=["de"], description="That of their translations.")]
    terms: Annotated[list[TermJson], Field(max_length=5_000)]


class GlossaryFileRequest(_Request):
    """The content of a glossary file."""

    content: Annotated[StrictStr, Field(max_length=2_000_000)]
    ending: Annotated[StrictStr, Field(max_length=8, examples=[".csv"], description="How the file's name ends.")]
    source: Annotated[StrictStr, Field(max_length=35, examples=["en"])]
    target: Annotated[StrictStr, Field(max_length=35, examples=["de"])]


class GlossaryAnswer(BaseModel):
    """A glossary; lists of glossaries leave its terms out."""

    id: str
    name: str
    source: str
    target: str
    created: str
    entries: int
    terms: list[TermJson] | None = None


class GlossariesAnswer(BaseModel):
    """The caller's glossaries."""

    glossaries: list[GlossaryAnswer]


class TermsAnswer(BaseModel):
    """What a glossary file has."""

    terms: list[TermJson]
    notes: Annotated[list[str], Field(description="What is unusual in it, or left out; sentences for people.")]


class TermUseAnswer(BaseModel):
    """What became of a term in a segment."""

    source: str
    target: str
    outcome: Literal["kept", "inflected", "forced", "missed"]
    form: Annotated[str, Field(description="The words of the translation that stand for it; empty where missed.")]


class DetectRequest(_Request):
    """A text whose language is asked for."""

    text: StrictStr


class AttentionRequest(_Request):
    """A sentence, and its translation where it is not the model's own."""

    text: StrictStr
    target: Annotated[StrictStr | None, Field(description="Its translation; left out, the model's own.")] = None
    source: Annotated[StrictStr | None, Field(max_length=35, description="Language of the sentence.")] = None
    target_lang: Annotated[StrictStr | None, Field(max_length=35, description="Language of the translation.")] = None
    model: Model = None


class ParseRequest(_Request):
    """Sentences to parse."""

    text: Annotated[Text, Field(description="A text, which is split into sentences, or a list of sentences.")]
    model: Model = None
    n_best: Annotated[StrictInt, Field(ge=1, le=100, description="Trees of each sentence, best first.")] = 1


class Fault(BaseModel):
    """Why a request was not answered."""

    code: Annotated[str, Field(description="For programs.", examples=["too-large"])]
    message: Annotated[str, Field(description="For people.")]
    retry_after_s: Annotated[float | None, Field(description="When to try again; also in Retry-After.")] = None


class ErrorAnswer(BaseModel):
    """An error."""

    error: Fault


class SpanAnswer(BaseModel):
    """A stretch of a text, in Unicode characters from 0."""

    start: int
    end: int
    text: str


class AlternativeAnswer(BaseModel):
    """Another translation of a segment."""

    text: str
    score: float | None
    confidence: float | None


class LinkAnswer(BaseModel):
    """A word of the source and one of the translation: where each begins and ends in its whole text."""

    source: tuple[int, int]
    target: tuple[int, int]


class SegmentAnswer(BaseModel):
    """What was read at a time, usually a sentence."""

    source: SpanAnswer
    target: SpanAnswer
    confidence: Annotated[float | None, Field(description="0 to 1; null where the model is not calibrated.")]
    score: float | None
    log_prob: float | None
    alternatives: list[AlternativeAnswer]
    alignment: list[LinkAnswer]
    problems: Annotated[list[str], Field(description="What of the source could not be kept.")]
    terms: Annotated[list[TermUseAnswer], Field(description="What became of the glossary's terms.")]
    corrected: Annotated[bool, Field(description="Whether it is a correction that the caller sent before.")] = False


class TranslationAnswer(BaseModel):
    """A text's translation."""

    text: str
    alternatives: list[str]
    confidence: Annotated[float | None, Field(description="The mean of the segments', by their lengths.")]
    segments: list[SegmentAnswer]
    problems: list[str]


class DetectedAnswer(BaseModel):
    """A language."""

    language: str
    confidence: float


class TranslateAnswer(BaseModel):
    """Texts, translated."""

    model: str
    source: str
    target: str
    detected: DetectedAnswer | None
    translations: list[TranslationAnswer]
    characters: int
    seconds: float


class DetectAnswer(BaseModel):
    """Languages a text may be in, likeliest first."""

    detected: list[DetectedAnswer]


class ModelAnswer(BaseModel):
    """A model that is served."""

    name: str
    task: str
    source: str
    target: str
    loaded: bool
    parameters: int
    dtype: str
    beam_size: int | None


class ModelsAnswer(BaseModel):
    """All of them, in the order in which they are preferred."""

    models: list[ModelAnswer]


class TreeAnswer(BaseModel):
    """A sentence's tree."""

    words: list[str]
    tree: str | None
    svg: str | None
    score: float | None
    problem: str | None
    n_best: Annotated[list[dict[str, str | float | None]], Field(description="The next trees, each with its score.")]


class ParseAnswer(BaseModel):
    """Sentences, parsed."""

    model: str
    trees: list[TreeAnswer]
