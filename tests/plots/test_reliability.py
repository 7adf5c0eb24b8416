"""The reliability curve: a panel a test set, points where the figures are, and the same in words."""

from xml.etree import ElementTree

import numpy as np
import pytest

from attendo.evaluation.reliability import reliability
from attendo.plots.figure_files import figure_bytes
from attendo.plots.reliability import description, draw_reliability
from attendo.workflow.confidence import ConfidenceQuality


def measured(name: str, learned_from: bool) -> ConfidenceQuality:
    close = [place % 3 > 0 for place in range(200)]
    return ConfidenceQuality(
        name=name,
        learned_from=learned_from,
        kernel="none",
        people=None,
        people_sentences=0,
        confidence=reliability([0.5 + place / 1000 for place in range(200)], close),
        token_probability=reliability([0.3] * 200, close),
    )


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_every_set_has_a_panel_and_every_bin_a_point(count: int) -> None:
    sets = [measured(f"set {number}", number == 0) for number in range(count)]
    figure = draw_reliability(sets, "mine")
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left").split("\n")[0] for axes in panels] == [one.name for one in sets]
    for axes, one in zip(panels, sets, strict=True):
        [curve] = [line for line in axes.lines if line.get_marker() == "o"]
        bins = one.confidence.bins
        np.testing.assert_array_equal(curve.get_xdata(), [each.confidence for each in bins])
        np.testing.assert_array_equal(curve.get_ydata(), [each.share for each in bins])


def test_it_is_told_in_words_too() -> None:
    sets = [measured("captions", True)]
    told = description(sets)
    assert "captions: calibration error" in told
    assert "200 sentences" in told
    root = ElementTree.fromstring(figure_bytes(draw_reliability(sets, "mine"), ".svg", "How sure", told))
    assert root.findtext("{http://www.w3.org/2000/svg}desc") == told
