"""The recurrent layer of Table 1: n sequential steps, each with matrices of the width of the model."""

import torch
from torch import Tensor, nn


class Recurrence(nn.Module):
    """A recurrence over the positions in both directions, side by side: a GRU of d_model / 2 for each.

    An encoder's position needs the positions after it too, which a single direction cannot provide. Two of half the
    width have a state of d_model numbers in total; they have 4.5 d_model^2 weights, where self-attention has 4
    d_model^2.

    Args:
        d_model: width of input and output, an even number.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.onwards = nn.GRU(d_model, d_model // 2, batch_first=True)
        self.backwards = nn.GRU(d_model, d_model // 2, batch_first=True)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Reads each sequence from its first position to its last, and from its last to its first.

        Args:
            hidden: `(batch, length, d_model)`.
            mask: boolean `(batch, 1, 1, length)`, True at tokens, which precede the padding; None without padding.

        Returns:
            `(batch, length, d_model)`: the half that has read the preceding positions, then the half that has read the
            following ones. Meaningless at padding.
        """
        turned = _turned_places(hidden, mask)
        behind: Tensor = self.onwards(hidden)[0]
        ahead: Tensor = self.backwards(_picked(hidden, turned))[0]
        return torch.cat((behind, _picked(ahead, turned)), dim=-1)


def _turned_places(hidden: Tensor, mask: Tensor | None) -> Tensor:
    """Returns the source index of each position of a reversed sequence, int64 `(batch, length)`.

    Padding that is read last does not disturb the recurrence. So packing is unnecessary, which would require lengths in
    main memory and waiting for a GPU.
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
