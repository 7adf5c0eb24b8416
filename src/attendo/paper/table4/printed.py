"""Table 4 as it is printed: F1 on section 23 of the Wall Street Journal."""

from dataclasses import dataclass
from typing import Literal

Training = Literal["WSJ only, discriminative", "semi-supervised", "multi-task", "generative"]


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """A row of the paper's table."""

    parser: str
    training: Training
    f1: float
    is_transformer: bool = False


ROWS = (
    PrintedRow(parser="Vinyals & Kaiser et al. (2014)", training="WSJ only, discriminative", f1=88.3),
    PrintedRow(parser="Petrov et al. (2006)", training="WSJ only, discriminative", f1=90.4),
    PrintedRow(parser="Zhu et al. (2013)", training="WSJ only, discriminative", f1=90.4),
    PrintedRow(parser="Dyer et al. (2016)", training="WSJ only, discriminative", f1=91.7),
    PrintedRow(parser="Transformer (4 layers)", training="WSJ only, discriminative", f1=91.3, is_transformer=True),
    PrintedRow(parser="Zhu et al. (2013)", training="semi-supervised", f1=91.3),
    PrintedRow(parser="Huang & Harper (2009)", training="semi-supervised", f1=91.3),
    PrintedRow(parser="McClosky et al. (2006)", training="semi-supervised", f1=92.1),
    PrintedRow(parser="Vinyals & Kaiser et al. (2014)", training="semi-supervised", f1=92.1),
    PrintedRow(parser="Transformer (4 layers)", training="semi-supervised", f1=92.7, is_transformer=True),
    PrintedRow(parser="Luong et al. (2015)", training="multi-task", f1=93.0),
    PrintedRow(parser="Dyer et al. (2016)", training="generative", f1=93.3),
)
"""In the paper's order."""
