"""Every variant of the kernels that this processor can run, for tests of training with them."""

from typing import Any

import pytest

from attendo.native.build import problem
from attendo.native.library import VARIANTS, available_kernels
from attendo.training.passes.kernels import TrainingKernels


def _variants() -> list[Any]:
    found = {kernels.variant: TrainingKernels(kernels) for kernels in available_kernels()}
    reason = problem() or "this processor or this build does not have them"
    return [
        pytest.param(found.get(name), id=name, marks=[] if name in found else pytest.mark.skip(reason=reason))
        for name in VARIANTS
    ]


@pytest.fixture(params=_variants())
def kernels(request: pytest.FixtureRequest) -> TrainingKernels:
    found: TrainingKernels = request.param
    return found
