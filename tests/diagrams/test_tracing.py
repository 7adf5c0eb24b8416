"""Recording what modules do, on small ones whose data flow is known."""

import pytest
import torch
from torch import Tensor, nn

from attendo.diagrams.tracing import Source, Step, traced


class Doubled(nn.Module):
    """y = 3 (f(x) + x), with f = outer(inner(x)) a module of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 4))
        self.other = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        """`(batch, 4)` to the same."""
        scaled: Tensor = (self.inner(x).view(-1, 4) + x) * 3.0
        return scaled


def steps_of(module: Doubled, *whole: type[nn.Module]) -> tuple[Step, ...]:
    x = torch.empty(2, 4)
    return traced(module, lambda: module(x), {"x": x}, whole=whole)


def test_modules_and_operations_come_in_their_order_with_what_they_read() -> None:
    steps = steps_of(Doubled())
    assert [(step.operation, step.path) for step in steps] == [
        ("input", "x"), ("module", "inner.0"), ("module", "inner.1"), ("add", ""), ("mul", ""),
    ]  # fmt: skip
    read = [[source.step for source in step.inputs] for step in steps]
    assert read == [[], [0], [1], [2, 0], [3]]  # the view between is no step
    assert steps[-1].factor == 3


def test_a_whole_module_is_one_step() -> None:
    steps = steps_of(Doubled(), nn.Sequential)
    assert [(step.operation, step.path) for step in steps] == [
        ("input", "x"), ("module", "inner"), ("add", ""), ("mul", ""),
    ]  # fmt: skip
    assert isinstance(steps[1].module, nn.Sequential)


def test_a_part_called_from_outside_hands_on_what_it_read() -> None:
    class Halved(Doubled):
        def forward(self, x: Tensor) -> Tensor:
            given = self.inner[0](x)
            first, second = given.split(4, dim=1)
            summed: Tensor = self.inner(first) + self.other(second)
            return summed

    x, module = torch.empty(2, 4), Halved()
    module.inner[1] = nn.Linear(8, 4)
    steps = traced(module, lambda: module(x), {"x": x}, whole=(nn.Sequential,))
    assert [step.path for step in steps] == ["x", "inner", "other", ""]
    assert steps[2].inputs == (Source(step=0, output=1),), "the second half of what came of x"


def test_nothing_is_left_behind() -> None:
    module = Doubled()
    steps_of(module)
    assert all(not each._forward_hooks and not each._forward_pre_hooks for each in module.modules())
    assert module(torch.ones(1, 4)).requires_grad


def test_an_error_takes_the_hooks_away_too() -> None:
    module = Doubled()

    def fail() -> None:
        raise RuntimeError("as planned")

    with pytest.raises(RuntimeError, match="as planned"):
        traced(module, fail, {}, whole=())
    assert all(not each._forward_hooks and not each._forward_pre_hooks for each in module.modules())


def test_masks_are_told_by_their_shape_and_are_no_scales() -> None:
    class Masked(nn.Module):
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            return (x * mask).masked_fill(~mask, 0.0) * (2 + torch.ones(()))

    x, mask, module = torch.empty(2, 4), torch.ones(2, 4, dtype=torch.bool), Masked()
    steps = traced(module, lambda: module(x, mask), {"x": x}, whole=(Doubled,))
    assert [(step.operation, step.mask_shape) for step in steps if step.module is None] == [
        ("input", ()), ("masked_fill", (2, 4)),
    ]  # fmt: skip
