"""Sentences of the phrasebook as samples of English or German."""

from attendo.synthetic.phrasebook import generate
from attendo.workflow.exchange.parity_report import SENTENCES, Sample


def phrasebook_sample(source_language: str, target_language: str, *, seed: int = 1) -> Sample | None:
    """Returns sentences in the source language, with translations if the phrasebook has the target language too.

    Args:
        source_language: a code such as `en`, `eng` or `en-GB`.
        target_language: a code of the same form.
        seed: seed of the generator; the same seed gives the same sentences.

    Returns:
        The sentences; None if the source is neither English nor German.
    """
    languages = {"en": "source", "de": "target"}
    source, target = (languages.get(code.lower()[:2]) for code in (source_language, target_language))
    if source is None:
        return None
    pairs = generate(SENTENCES, seed)
    has_references = target is not None and target != source
    return Sample(
        origin="the phrasebook of attendo demo",
        sources=tuple(getattr(pair, source) for pair in pairs),
        references=tuple(getattr(pair, str(target)) for pair in pairs) if has_references else None,
    )
