"""The switch to oneDNN: exact where it is used, and put back behind the block."""

import torch

from attendo.model.products import fast_float32_products, is_exact


def test_products_are_as_exact_as_float32() -> None:
    torch.manual_seed(0)
    left, right = torch.randn(64, 300), torch.randn(300, 80)
    with fast_float32_products(torch.device("cpu")) as used:
        found = left @ right
    assert used == is_exact()
    exact = left.double() @ right.double()
    assert ((found.double() - exact).abs().max() / exact.abs().max()).item() < 1e-5


def test_the_setting_is_put_back() -> None:
    setting = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before = setting.fp32_precision
    with fast_float32_products(torch.device("cpu")):
        pass
    assert setting.fp32_precision == before
    with fast_float32_products(torch.device("meta")) as used:
        assert not used
