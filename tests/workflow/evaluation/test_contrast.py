"""Preferences between right and wrong translations, against the scores of each worked out one by one."""

from pathlib import Path

from attendo.evaluation.contrastive import KINDS
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.contrast import measure_contrast, pairs_for

SOURCES = ["I met Anna in 1998 here.", "The dog saw Peter.", "Nobody likes the old house much."]
REFERENCES = ["Ich traf Anna hier im Jahr 1998.", "Der Hund sah Peter.", "Das alte Haus ist nicht sehr beliebt."]


def test_prefers_what_beam_search_would_rank_first(model_folder: Path) -> None:
    engine = load(model_folder, search={"length_penalty": 2.0})
    pairs = pairs_for(engine, SOURCES, REFERENCES)
    steps: list[tuple[int, int]] = []
    found = measure_contrast(engine, pairs, progress=lambda *step: steps.append(step))
    assert steps == [(number, 2 * len(pairs)) for number in range(1, 2 * len(pairs) + 1)]
    for alpha, by_kind in ((2.0, found.preferred), (0.0, found.more_probable)):
        expected = dict.fromkeys(KINDS, 0)
        for pair in pairs:
            scores = []
            for text in (pair.right, pair.wrong):
                (score,) = engine.score([(pair.source, text)])
                scores.append(sum(score.token_log_probs) / ((5 + len(score.token_log_probs)) / 6) ** alpha)
            expected[pair.kind] += scores[0] > scores[1]
        assert {kind: each.preferred for kind, each in by_kind.items()} == {
            kind: count for kind, count in expected.items() if any(pair.kind == kind for pair in pairs)
        }
        assert by_kind["omission"].pairs == 3
