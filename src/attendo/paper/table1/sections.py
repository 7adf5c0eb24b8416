"""The parts of Table 1's page that show figures: operations, dependencies, time, memory, the crossing."""

import math
from collections.abc import Sequence

from attendo.model.attention import MANY_LOGITS
from attendo.paper.report import Block, Paragraph, Picture, Section, Table
from attendo.paper.statistics import line, power_law
from attendo.paper.table1.findings import Exponent, Findings, TimedCrossing, graphs_of, units
from attendo.paper.table1.layers import LAYERS, Layer, layers_that_reach
from attendo.paper.table1.picture import crossing_png, growth_png, paths_png
from attendo.paper.table1.points import GRAPH_WINDOW, Plan


def the_table(found: Findings) -> Section:
    """The paper's formulas, and beside each what was found."""
    rows, lengths = [], (0, 0)
    for layer in LAYERS:
        graphs = graphs_of(layer, found)
        first, last = graphs[0], graphs[-1]
        lengths = (first.sizes.n, last.sizes.n)
        rows.append(
            (
                layer.name,
                layer.work,
                layer.steps,
                layer.path,
                units(layer, found)[2],
                f"{first.chain.products}, {last.chain.products}",
                f"{_count(first.from_the_middle)}, {_count(last.from_the_middle)}",
                f"{_count(first.from_end_to_end)}, {_count(last.from_end_to_end)}",
            )
        )
    table = Table(
        caption=f"The paper's formulas, then what was found; of two figures, for n = {lengths[0]} and n = {lengths[1]}",
        columns=("layer", "work", "steps", "path", "counted / work", "products in a row", "layers", "end to end"),
        rows=tuple(rows),
        words=4,
    )
    note = (
        "Counted / work: additions and multiplications by the formula; a term of a product is two. Layers: how many on "
        "top of each other it takes until the gradients of the first and of the last output come to the input in the "
        "middle. Then a position's view is n wide, which is what n / k, log_k n and n / r say. End to end: until the "
        "gradient of the last output comes to the first input, and the other way round. A recurrent layer is one "
        "layer, but its path leads from position to position: see the products in a row, and the "
        "operations on the way below."
    )
    return Section(title="The table", blocks=(table, Paragraph(text=note)))


def operations(plan: Plan, found: Findings, exponents: Sequence[Exponent]) -> Section:
    """What torch's counter counts, with the share of the projections."""
    attention = [
        (
            layer.name,
            str(sizes.n),
            str(sizes.d),
            f"{one.mixing:,}",
            f"{one.projections:,}",
            f"{one.projections / one.total:.0%}",
        )
        for layer in LAYERS
        if layer.leaves_out_projections
        for sizes in dict.fromkeys(each for name in "nd" for each in plan.sweep(layer, name, plan.counted_lengths))
        for one in [found.operations[layer.name, sizes]]
    ]
    projections = Table(
        caption="Attention alone and its projections, operations forward",
        columns=("layer", "n", "d", "attention", "projections", "share"),
        rows=tuple(attention),
        words=1,
    )
    text = (
        "Counted by torch's FlopCounterMode for one sequence, forward; it leaves out the softmax and all else that "
        "works on single numbers. The formula of self-attention leaves out the matrices W_Q, W_K, W_V and W_O, which "
        "are 8 n d² operations: more than attention itself as long as n is below 2 d. Both are shown. What the "
        "matrices of a recurrence do is its work, and counted."
    )
    counts = {key: float(one.mixing) for key, one in found.operations.items()}
    png = growth_png(plan, plan.counted_lengths, counts, "operations, forward, attention alone")
    blocks: tuple[Block, ...] = (
        Paragraph(text=text),
        _exponent_table("Exponents of the counted operations", exponents),
        _growth_picture("operations", "counted operations", png),
        projections,
    )
    return Section(title="Operations", blocks=blocks)


def dependencies(plan: Plan, found: Findings) -> Section:
    """Steps and paths as found in the graphs of real computations."""
    rows = tuple(
        (
            layer.name,
            str(graph.sizes.n),
            str(graph.chain.products),
            str(graph.chain.operations),
            _count(graph.from_the_middle),
            str(layers_that_reach(layer, graph.sizes, graph.sizes.n // 2)),
            _count(graph.from_end_to_end),
            _count(graph.on_the_way),
        )
        for layer in LAYERS
        for graph in graphs_of(layer, found)
    )
    table = Table(
        caption=f"Found for k = {plan.kernels[0]} and r = {GRAPH_WINDOW}",
        columns=("layer", "n", "products", "operations", "layers", "expected", "end to end", "on the way"),
        rows=rows,
        words=1,
    )
    texts = (
        "Products, operations: the longest chain of matrix products, and of all operations, that each need the one "
        "before, in one layer. Every operation that torch hands to a kernel is recorded with the numbers in memory "
        "that it reads and writes. A recurrence makes n steps each way, side by side.",
        "Layers, end to end: the smallest stacks in which the gradients, in float64, are not zero where they have to "
        "come to; in the stack of one layer less they were found to be zero. Expected is what follows from what one "
        "layer sees. On the way: the fewest operations from the first input to the last output of the stack that joins "
        "the ends, along autograd's graph of it, only where a part of the gradient flows that comes to the first "
        "input. So the way through a recurrent layer is measured as that through a stack is.",
        "Dilations grow by the factor k from layer to layer until the middle sees the whole sequence, and start anew. "
        "If they only grew, many pairs of positions near the ends would never be joined: each distance has one way "
        "through such a stack, and near the ends it leads out of the sequence, into the padding. So log_k n is the "
        "path from the middle; end to end it can be up to two passages through the dilations.",
    )
    fits = Table(
        caption="Exponents over n, with half of the 95% interval; layers of dilated convolutions also as a line over "
        "log_k n, whose slope is 1 by the formula",
        columns=("layer", "products", "layers", "on the way", "layers over log_k n"),
        rows=tuple(_path_fits(layer, plan, found) for layer in LAYERS),
        words=1,
    )
    picture = Picture(
        name="paths.png",
        png=paths_png(found),
        alt="Over n: matrix products in a row within a layer, layers that join the middle of a sequence with its ends, "
        "and operations on the way from the first to the last position",
        caption="Steps and paths, as found. All scales are logarithmic: a level line does not grow, a straight one "
        "grows like a power of n, dilated convolutions bend.",
    )
    return Section(title="Steps and paths", blocks=(*(Paragraph(text=text) for text in texts), fits, picture, table))


def times(plan: Plan, found: Findings, exponents: Sequence[Exponent]) -> Section:
    """The measured times and how they grow."""
    table = Table(
        caption=f"Milliseconds forward and back: median of the medians of {found.rounds} rounds, smallest, largest",
        columns=("layer", "n", "d", "k", "r", "median", "from", "to"),
        rows=tuple(
            (
                name,
                *(str(size) for size in (sizes.n, sizes.d, sizes.k, sizes.r)),
                *(f"{1e3 * seconds:.4g}" for seconds in (spread.median, spread.low, spread.high)),
            )
            for (name, sizes), spread in found.seconds.items()
        ),
        words=1,
    )
    text = (
        "A passage of one sequence forward and back, with the gradients of input and weights; attention with its "
        "projections, and the formula beside it is that of both. At small sizes time is that of calling operations, "
        "whatever they compute, and exponents come out below the formula's; the exponent between the two largest sizes "
        "says where it goes. A recurrence calls as many operations as it has positions, so that its time grows with n "
        "from the first position on, and hardly with d as long as a step's products take less than their calls."
    )
    unit = "milliseconds"
    if found.on_a_processor:
        unit = "milliseconds of the processor"
        text += (
            " Seconds are those that the processor worked for the one thread that is measured, not a clock's. Other "
            "work of the machine does not count, but it takes cache and memory away: look at the rounds' spread."
        )
    seconds = {key: 1e3 * spread.median for key, spread in found.seconds.items()}
    picture = _growth_picture("time", "time forward and back", growth_png(plan, plan.lengths, seconds, unit))
    blocks = (Paragraph(text=text), _exponent_table("Exponents of the time", exponents), picture, table)
    return Section(title="Time", blocks=blocks)


def memory(plan: Plan, found: Findings, exponents: Sequence[Exponent]) -> Section:
    """The measured memory and how it grows."""
    table = Table(
        caption="MiB held at the most, above what was held before",
        columns=("layer", "n", "d", "MiB"),
        rows=tuple(
            (name, str(sizes.n), str(sizes.d), f"{peak / 2**20:.3f}") for (name, sizes), peak in found.memory.items()
        ),
        words=1,
    )
    text = (
        "The most memory that a passage forward and back holds at a time, with the gradients that it gives, as torch's "
        "allocator tells it piece by piece; what oneDNN and MKL take for themselves is not seen. The paper has no such "
        "column. Over n the growth is compared with what has to be kept: n x n weights for each head where "
        "self-attention writes them out, else n positions. The gradients of the weights, which do not grow with n, "
        "make exponents smaller as long as n is not large beside d."
    )
    if found.on_a_processor:
        text += (
            f" Self-attention writes out up to {MANY_LOGITS:,} weights; where there are more, torch's fused attention "
            "makes them block by block, forward and again on the way back, and keeps none: the work is that of the "
            "formula, and memory grows like n."
        )
    bent = ("self-attention",) if found.on_a_processor else ()
    mebibytes = {key: peak / 2**20 for key, peak in found.memory.items()}
    picture = _growth_picture("memory", "memory", growth_png(plan, plan.memory_lengths, mebibytes, "MiB", bent=bent))
    blocks = (Paragraph(text=text), _exponent_table("Exponents of the memory", exponents), picture, table)
    return Section(title="Memory", blocks=blocks)


def crossing(found: Findings, crossings: Sequence[TimedCrossing]) -> Section:
    """Where self-attention meets recurrence."""
    counted = Table(
        caption="The smallest n at which self-attention makes as many operations as recurrence, or more",
        columns=("d", "formulas", "counted, attention alone", "counted, with projections"),
        rows=tuple((str(one.d), str(one.d), str(one.alone), str(one.with_projections)) for one in found.crossings),
        words=0,
    )
    timed = Table(
        caption="The n at which it takes as much time",
        columns=("d", "measured", "expected", "longest n", "time there, by recurrence's"),
        rows=tuple(
            (
                str(one.d),
                "none" if one.measured is None else f"{one.measured:,.0f}",
                "" if one.measured is not None else f"{one.expected:,.0f}",
                f"{one.lengths[-1]:,}",
                f"{one.ratios[-1]:.3f}",
            )
            for one in crossings
        ),
        words=0,
    )
    text = (
        "By the formulas, n² d and n d², self-attention makes fewer operations where n is below d. Formulas leave out "
        "constants: attention is 4 n² d operations (QK^T, and weights times V), with its projections 4 n² d + 8 n d², "
        "and this recurrence, a GRU each way of width d / 2, is 9 n d². So the first two meet at n = 9/4 d, the others "
        "at n = d/4; with another recurrent cell it would be another multiple of d. In time a recurrence makes its "
        "steps one after the other, each a few small products, where attention makes a few large ones: times meet at "
        "longer sequences than operations do, if they meet. 'Expected' is where they would meet if beyond the longest "
        "measured n self-attention's time grew like n² and that of recurrence like n, as their formulas do."
    )
    picture = Picture(
        name="crossing.png",
        png=crossing_png(found, crossings),
        alt="Operations and time of self-attention as multiples of those of recurrence, over n / d",
        caption="Below 1 self-attention is the cheaper one. Both scales are logarithmic.",
    )
    return Section(
        title="Where self-attention meets recurrence", blocks=(Paragraph(text=text), counted, timed, picture)
    )


def _path_fits(layer: Layer, plan: Plan, found: Findings) -> tuple[str, ...]:
    graphs = graphs_of(layer, found)
    lengths = [graph.sizes.n for graph in graphs]

    def exponent(values: Sequence[int | None]) -> str:
        known = [(n, value) for n, value in zip(lengths, values, strict=True) if value is not None]
        if len(known) < 2:
            return "none"
        return power_law([n for n, _ in known], [value for _, value in known]).to_text()

    layers = [graph.from_the_middle for graph in graphs]
    straight = ""
    if layer.name == "dilated-convolutional" and None not in layers:
        logarithms = [math.log(n, plan.kernels[0]) for n in lengths]
        straight = line(logarithms, [count for count in layers if count is not None]).to_text()
    return (
        layer.name,
        exponent([graph.chain.products for graph in graphs]),
        exponent(layers),
        exponent([graph.on_the_way for graph in graphs]),
        straight,
    )


def _exponent_table(caption: str, exponents: Sequence[Exponent]) -> Table:
    return Table(
        caption=f"{caption}: slopes of least squares through the logarithms, with half of the 95% interval",
        columns=("layer", "over", "growth", "formula", "found", "points", "last two"),
        rows=tuple(
            (
                one.layer,
                one.variable,
                one.verdict,
                "" if one.expected is None else f"{one.expected:.2f}",
                one.found.to_text(),
                str(one.found.count),
                f"{one.last:.2f}",
            )
            for one in exponents
        ),
        words=3,
    )


def _growth_picture(name: str, words: str, png: bytes) -> Picture:
    return Picture(
        name=f"{name}.png",
        png=png,
        alt=f"The {words} of each layer type over n and over d, with the slopes of the lines through the points",
        caption=f"The {words}. Both scales are logarithmic, so that a line's slope is an exponent.",
    )


def _count(found: int | None) -> str:
    return "" if found is None else str(found)
