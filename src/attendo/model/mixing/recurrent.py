"""The recurrent layer of Table 1: n steps, one after the other, each with matrices of the width of the model."""

import torch
from torch import Tensor, nn


class Recurrence(nn.Module):
    """A recurrence over the positions in both directions, side by side: a GRU of d_model / 2 for each.

    An encoder's position has to know what comes behind it as well, which one direction cannot tell. Two of half the
    width give a state of d_model numbers in all; they have 4.5 d_model^2 weights, where self-attention has 4 d_model^2.

    Args:
        d_model: width of what comes in and goes out, an even number.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.onwards = nn.GRU(d_model, d_model // 2, batch_first=True)
        self.backwards = nn.GRU(d_model, d_model // 2, batch_first=True)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Reads each sequence from its first position to its last, and from its last to its first.

        Args:
            hidden: `(batch, length, d_model)`.
            mask: boolean `(batch, 1, 1, length)`, True at tokens, which come before the padding; None where nothing is
                padded.

        Returns:
            `(batch, length, d_model)`: the half that has seen what lies behind, then the half that has seen what lies
            ahead. At padding it means nothing.
        """
        turned = _turned_places(hidden, mask)
        behind: Tensor = self.onwards(hidden)[0]
        ahead: Tensor = self.backwards(_picked(hidden, turned))[0]
        return torch.cat((behind, _picked(ahead, turned)), dim=-1)


def _turned_places(hidden: Tensor, mask: Tensor | None) -> Tensor:
    """Returns the source index of each position of a reversed sequence, int64 `(batch, length)`.

    The padding is not in the way of a recurrence that reads it last. So nothing needs to be packed, for which lengths
    would have to be known in main memory, and a GPU be waited for.
    """
    batch, length, _ = hidden.shape
    places = torch.arange(length, device=hidden.device)
    if mask is None:
        return places.flip(0).expand(batch, length)
    lengths = mask.view(batch, length).sum(dim=1, keepdim=True)
    return torch.where(places < lengths, lengths - 1 - places, places)


def _picked(hidden: Tensor, places: Tensor) -> Tensor:
    """The positions of each sequence in another order, `(batch, length, width)`."""
    return hidden.gather(1, places.unsqueeze(-1).expand_as(hidden))
