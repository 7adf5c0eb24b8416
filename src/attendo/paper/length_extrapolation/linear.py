"""The linear-offset property on the page: in closed form, fitted, and as angles between positions."""

from collections.abc import Sequence

from attendo.paper.length_extrapolation.offsets import ROUNDING, ClosedForm
from attendo.paper.length_extrapolation.picture import similarity_png
from attendo.paper.length_extrapolation.tables import OFFSETS, Tables
from attendo.paper.report import Paragraph, Picture, Section, Table
from attendo.paper.statistics import Estimate


def linear(closed_forms: Sequence[ClosedForm], tables: Tables, limit: int) -> Section:
    """Says how far PE(pos + k) is a linear function of PE(pos).

    Args:
        closed_forms: of sinusoids.
        tables: the trained models'.
        limit: tokens of the longest source that short training texts have.
    """
    closed = Table(
        caption="The closed form against the table that models read: the largest error over all pos, k and columns",
        columns=("layout", "d_model", "pos", "k", "largest error", "rounding allows"),
        rows=tuple(
            (
                found.layout,
                str(found.d_model),
                f"0 to {found.positions - 1:,}",
                f"1 to {found.offsets:,}",
                f"{found.largest_error:.2e}",
                f"{ROUNDING:.2e}",
            )
            for found in closed_forms
        ),
        words=1,
    )
    fits = Table(
        caption="What fitted linear maps leave unsaid of rows they were not fitted to: a share of their variance",
        columns=("table", "rows", *(f"k = {offset}" for offset in OFFSETS)),
        rows=tuple(
            (
                fit.title,
                str(fit.rows),
                *(_residual(fit.by_offset.get(offset)) for offset in OFFSETS),
            )
            for fit in tables.fits
        ),
        words=1,
    )
    exact = (
        "For sinusoids the map from PE(pos) to PE(pos + k) is known: each pair of a sine and a cosine of frequency w "
        "turns by the angle w k, whatever pos is. The matrix is zero but for these turns, 2 by 2 on its diagonal where "
        "sines and cosines stand by turns (interleaved), and with the same entries in other places where all sines "
        "come first (halves). It is exact; what is left is the rounding of the table to 32 bits."
    )
    fitted = (
        "Learned positions have no such form. So the best linear map is fitted to half of the positions, by ridge "
        "regression with the ridge that does best for each table, and tried on the other half: 0 is an exact "
        "map, 1 no better than knowing the mean row. Often trained are the rows that at least 1 of 20 training texts "
        "reaches; rows never trained stay as they were drawn, and show what no structure at all comes to."
    )
    return Section(
        title="PE(pos + k) as a linear function of PE(pos)",
        blocks=(
            Paragraph(text=exact),
            closed,
            Paragraph(text=fitted),
            fits,
            Picture(
                name="similarity.png",
                png=similarity_png(tables.similarity, tables.curves, limit, tables.shown),
                alt="Heat maps of the cosines between positions, of sinusoids and of learned tables, and their means "
                "by distance",
                caption="Cosines between positions of the source. Dashed: the longest short training text. Sinusoids "
                "depend on the distance alone; learned rows take structure from training, and have none beyond it. At "
                "the right the means within the often trained rows; of learned tables, those of the first seed.",
            ),
        ),
    )


def _residual(found: Estimate | None) -> str:
    if found is None:
        return ""
    half = "" if found.half_width is None else f" ± {found.half_width:.2f}"
    return f"{found.mean:.1e}" if found.mean < 0.005 else f"{found.mean:.2f}{half}"
