"""The server asked by schemathesis, by its own description: never a 5xx, never a hang, answers as described."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.serving.live import Live, live

OURS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
TIMEOUT_S = 30


@pytest.fixture(scope="module")
def server(model_folder: Path) -> Iterator[Live]:
    # A beam of random weights never ends by itself: little is enough to see all paths.
    limits = ("limits.max_characters=300", "limits.beam_size=4", "limits.n_best=3", "documents.max_characters=300")
    with live([f"m={model_folder}"], *limits) as found:
        yield found


@pytest.mark.parametrize("examples", [3, pytest.param(300, marks=pytest.mark.slow)])
def test_whatever_is_asked_is_answered(server: Live, examples: int) -> None:
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    asked: Counter[str] = Counter()
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]  # our description is a good one, or this raises
        for mode in GenerationMode:

            @settings(
                max_examples=examples,
                deadline=None,
                derandomize=True,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                checks = OURS if case.path.startswith("/api/") else [not_a_server_error]
                answer = case.call_and_validate(checks=checks, timeout=TIMEOUT_S, headers={"User-Agent": "fuzz"})
                asked[f"{answer.status_code // 100}xx"] += 1

            with suppress(Unsatisfiable):  # nothing can be wrong in a request that has nothing to say
                ask()
    print(f"\n{asked.total()} requests: {dict(asked)}")
    assert asked.total() > 20
    assert asked["2xx"]
    assert asked["4xx"]
    assert server.translate("one red dogs").status == 200
    assert not [each for each in server.events if each["level"] == "error"]
