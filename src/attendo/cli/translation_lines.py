"""How `attendo translate` writes a line's translations: as text or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from attendo.cli.options import json_number
from attendo.reading import line_end_of

if TYPE_CHECKING:
    from attendo.decoding.lines.alignment import Alignment
    from attendo.decoding.lines.translation import Candidate, Translation


@dataclass(frozen=True, kw_only=True)
class WrittenLines:
    """The format of a line's translations, on one machine and on a cluster."""

    as_json: bool
    """A JSON object a line, in place of text."""
    scores: bool
    """In text, also write score and log-probability."""

    def __call__(
        self, translation: "Translation", number: int, alignments: "Sequence[Alignment]", *, n_best: int
    ) -> str:
        """Formats a line's translations, each with a line end; for the arguments see `format_translation`."""
        if self.as_json:
            return json_line(translation, n_best=n_best, alignments=alignments)
        return format_translation(translation, number, n_best=n_best, scores=self.scores, alignments=alignments)


def format_translation(
    translation: "Translation",
    number: int,
    *,
    n_best: int = 1,
    scores: bool = False,
    alignments: "Sequence[Alignment]" = (),
) -> str:
    """One line's translations as they are printed, each ending as the line does.

    If the line has no line end, as the last line of a file may not, its last translation has none either.

    Args:
        translation: the line and its translations.
        number: the line's number, from 1.
        n_best: number of translations requested; if above 1, each line begins with the line's number.
        scores: whether score and log-probability are printed too.
        alignments: one for each translation, whose links are printed; empty to print none.
    """
    lines = []
    for place, candidate in enumerate(translation.n_best[:n_best]):
        fields = [str(number)] if n_best > 1 else []
        if scores:
            fields += [f"{candidate.score:.6f}", f"{candidate.log_prob:.6f}"]
        if alignments:
            fields.append(alignments[place].pharaoh)
        # Bytes may spell a line end, and line n of the output must stay the translation of line n of the input.
        fields.append(candidate.text.replace("\r", " ").replace("\n", " "))
        lines.append("\t".join(fields))
    end = line_end_of(translation.source)
    return (end or "\n").join(lines) + end


def json_line(translation: "Translation", *, n_best: int = 1, alignments: "Sequence[Alignment]" = ()) -> str:
    """One line and its best translation as a JSON object, with its line end.

    Args:
        translation: the line and its translations.
        n_best: number of translations requested; if above 1, all of them are under `n_best`.
        alignments: one for each translation; empty to write none.
    """
    candidates = [
        _json_candidate(candidate, alignments[place] if alignments else None)
        for place, candidate in enumerate(translation.n_best)
    ]
    document = {
        "source": translation.source.removesuffix(line_end_of(translation.source)),
        "source_truncated": translation.source_truncated,
        "guards": translation.guards,
        "problems": translation.problems,
        "read": translation.read,
        **candidates[0],
    }
    if translation.terms:
        document["terms"] = [asdict(use) for use in translation.terms]
    if translation.match is not None:
        document["match"] = translation.match.as_json()
    if n_best > 1:
        document["n_best"] = candidates
    # Escaped to ASCII, so that a Unicode line end such as U+2028 does not split the line in any reader.
    return json.dumps(document) + "\n"


def _json_candidate(candidate: "Candidate", alignment: "Alignment | None") -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": candidate.text,
        "score": json_number(candidate.score),
        "log_prob": json_number(candidate.log_prob),
        "finished": candidate.finished,
        "tokens": candidate.pieces,
        "token_log_probs": [json_number(log_prob) for log_prob in candidate.token_log_probs],
    }
    if alignment is not None:
        found["alignment"] = alignment.links
        found["source_words"], found["target_words"] = alignment.source_words, alignment.target_words
    return found
