"""The depth of computations whose graphs are known: chains, trees, parts of a tensor, views."""

import torch
from torch import Tensor, nn

from attendo.paper.table1.paths import longest_chain


def test_a_chain_is_as_deep_as_it_is_long() -> None:
    def chain() -> Tensor:
        value = torch.ones(3, 3)
        for _ in range(5):
            value = (value @ value).tanh()
        return value

    found = longest_chain(chain)
    # torch.ones makes an empty tensor and fills it, which is one operation.
    assert (found.operations, found.products) == (1 + 10, 5)


def test_a_tree_is_as_deep_as_its_height() -> None:
    leaves = [torch.ones(2) for _ in range(8)]

    def tree() -> Tensor:
        level = leaves
        while len(level) > 1:
            level = [one + other for one, other in zip(level[::2], level[1::2], strict=True)]
        return level[0]

    assert longest_chain(tree).operations == 3


def test_what_does_not_lead_to_the_result_does_not_count() -> None:
    start = torch.ones(2)

    def call() -> Tensor:
        other = start
        for _ in range(9):
            other = other * 2
        return start + 1

    assert longest_chain(call).operations == 1


def test_parts_written_one_by_one_are_no_chain() -> None:
    start = torch.ones(4)

    def call() -> Tensor:
        result = torch.empty(4)
        for place in range(4):
            result[place] = start[place] * 2
        return result

    assert longest_chain(call).operations == 2  # a product, and the copy to its place


def test_parts_that_need_each_other_are_a_chain() -> None:
    start = torch.ones(4)

    def call() -> Tensor:
        result = start.clone()
        for place in range(1, 4):
            result[place] += result[place - 1]
        return result

    found = longest_chain(call)
    # The copy; then for each place an addition in place, which `result[place] = ...` copies upon itself.
    assert found.operations == 1 + 2 * 3


def test_what_is_overwritten_is_forgotten() -> None:
    start = torch.ones(4)

    def call() -> Tensor:
        value = start.exp().exp().exp()
        value.copy_(start)
        return value.t().view(2, 2)

    assert longest_chain(call).operations == 1


def test_one_part_waits_for_that_part_alone() -> None:
    start = torch.ones(2, 3)

    def call() -> Tensor:
        value = start.clone()
        value[0] = value[0].exp().exp().exp()
        return value[1] + 1

    assert longest_chain(call).operations == 2


def test_torchs_own_layers() -> None:
    # A GRU: the input's product with its matrix lies beside the first step's, then a product a step. Attention: the
    # projection of the input, QK^T, weights times V, the projection of the output.
    hidden = torch.zeros(1, 12, 8)
    gru, attention = nn.GRU(8, 8, batch_first=True), nn.MultiheadAttention(8, 2, batch_first=True)
    attention.train()
    assert longest_chain(lambda: gru(hidden)[0]).products == 1 + 11
    assert longest_chain(lambda: attention(hidden, hidden, hidden)[0]).products == 4
