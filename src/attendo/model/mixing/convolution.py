"""The convolutional layers of Table 1: contiguous, dilated and separable.

They are linear, like the operations that Table 1 counts: the non-linear part of a layer is the feed-forward network
after them. (ConvS2S has gated linear units in their place, which take twice the matrix.)
"""

from torch import Tensor, nn


class Convolution(nn.Module):
    """A convolution from all channels to all: k n d^2 work for n positions of d channels.

    Args:
        d_model: number of channels.
        kernel_size: k, the number of positions seen, odd.
        dilation: distance between them.
    """

    def __init__(self, d_model: int, kernel_size: int, dilation: int = 1) -> None:
        super().__init__()
        padding = dilation * (kernel_size // 2)
        self.convolution = nn.Conv1d(d_model, d_model, kernel_size, padding=padding, dilation=dilation)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Convolves `kernel_size` positions around each; positions outside of the sequence are 0.

        Args:
            hidden: `(batch, length, d_model)`.
            mask: boolean `(batch, 1, 1, length)`, True at tokens; None without padding.

        Returns:
            `(batch, length, d_model)`.
        """
        output: Tensor = self.convolution(_without_padding(hidden, mask).transpose(1, 2)).transpose(1, 2)
        return output


class SeparableConvolution(nn.Module):
    """A convolution within each channel, then a matrix over the channels at each position: k n d + n d^2 work.

    Args:
        d_model: d, channels.
        kernel_size: k, positions seen, an odd number.
    """

    def __init__(self, d_model: int, kernel_size: int) -> None:
        super().__init__()
        self.within_channels = nn.Conv1d(
            d_model, d_model, kernel_size, padding=kernel_size // 2, groups=d_model, bias=False
        )
        self.output = nn.Linear(d_model, d_model)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Convolves `kernel_size` positions around each; arguments and result as for `Convolution`."""
        mixed = self.within_channels(_without_padding(hidden, mask).transpose(1, 2)).transpose(1, 2)
        output: Tensor = self.output(mixed)
        return output


def _without_padding(hidden: Tensor, mask: Tensor | None) -> Tensor:
    """`hidden`, `(batch, length, d_model)`, with zeros in place of the padding, as after the end of a sequence."""
    return hidden if mask is None else hidden * mask.view(*hidden.shape[:2], 1)
