"""What is done to a translation's text after decoding, on translations that are given."""

from dataclasses import replace

import pytest

from attendo.decoding.config import GuardConfig
from attendo.decoding.lines.restored import NOTHING, written_well
from attendo.decoding.lines.translation import Translation


def translation(source: str, text: str) -> Translation:
    candidate = replace(NOTHING, text=text)
    return Translation(
        source=source, text=text, score=0.0, log_prob=0.0, n_best=(candidate,), source_truncated=False, read=source
    )


@pytest.mark.parametrize("languages", [("fr", "en"), ("fr", "de")])
@pytest.mark.parametrize("values", [True, False])
def test_hours_that_no_english_clock_has_are_afternoon_ones(languages: tuple[str, str], values: bool) -> None:
    given = translation("De 9 heures à 17 heures.", "From 9 to 17 o'clock.")
    found = written_well(given, GuardConfig(values=values), languages)
    if values and languages[1] == "en":
        assert (found.text, found.n_best[0].text, found.guards) == ("From 9 to 5 pm.",) * 2 + (("values",),)
        assert found.n_best[0].words == ((0,), (1,), (2,), (3,), (4,))
    else:
        assert found == given
