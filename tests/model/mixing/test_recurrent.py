"""The recurrence against torch's own bidirectional GRU over packed sequences, with the same weights."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attendo.model.mixing.recurrent import Recurrence


def torchs(layer: Recurrence, hidden: Tensor, lengths: list[int]) -> Tensor:
    """What `nn.GRU` gives, `(batch, length, d_model)`, zeros at padding."""
    width = hidden.shape[-1]
    both = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for name, parameter in both.named_parameters():
            own = layer.backwards if name.endswith("_reverse") else layer.onwards
            parameter.copy_(own.get_parameter(name.removesuffix("_reverse")))
    packed = pack_padded_sequence(hidden, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    output: Tensor = pad_packed_sequence(both(packed)[0], batch_first=True, total_length=hidden.shape[1])[0]
    return output


@pytest.mark.parametrize("lengths", [[1], [6], [6, 6], [2, 6, 1, 5]])
def test_it_is_torchs_gru_in_both_directions(lengths: list[int]) -> None:
    torch.manual_seed(0)
    layer, hidden = Recurrence(8), torch.randn(len(lengths), max(lengths), 8)
    tokens = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    mask = None if bool(tokens.all()) else tokens[:, None, None]
    found = layer(hidden, mask) * tokens[..., None]
    torch.testing.assert_close(found, torchs(layer, hidden, lengths))


def test_each_half_has_seen_its_side() -> None:
    torch.manual_seed(0)
    hidden = torch.randn(1, 5, 8, requires_grad=True)
    output = Recurrence(8)(hidden, None)
    for half, expected in ((slice(0, 4), [0, 1, 2]), (slice(4, 8), [2, 3, 4])):
        (gradient,) = torch.autograd.grad(output[0, 2, half].sum(), hidden, retain_graph=True)
        assert gradient[0].abs().sum(dim=1).nonzero().flatten().tolist() == expected
