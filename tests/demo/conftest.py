"""The demo draws its learning curves, which are on its page."""

import pytest

from attendo.workflow.runs import curves, train


@pytest.fixture(autouse=True)
def _real_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "draw_curves", curves.draw_curves)
