"""What Figures 1 and 2 share: the model that is drawn, the comparison with the paper, and the page."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.bench.machine import this_machine, versions
from attendo.checkpoint.finding import shipped_models
from attendo.diagrams.png import to_png
from attendo.diagrams.shapes import Diagram
from attendo.diagrams.structure import Structure
from attendo.diagrams.svg import to_svg
from attendo.errors import DataError, ModelError
from attendo.files import write_json
from attendo.model.attention import SelfAttention, scaled_dot_product_attention
from attendo.model.config import ModelConfig
from attendo.paper.declared import declared
from attendo.paper.experiment import Order, Outcome, Reporter, ShouldStop
from attendo.paper.page_text import page_text
from attendo.paper.report import Picture, Report, Section, Shell, write_report
from attendo.paper.study_folder import alone
from attendo.plots.subject import Subject, find_subject

# --- worked out again -------------------------------------------------------------------------------------------------

_BATCH, _LENGTH, _HIDDEN = 2, 23, 5
"""Two sentences of some length, the second of which ends so many positions earlier."""


@dataclass(frozen=True, kw_only=True)
class Equality:
    """The largest differences that were found over all seeds; activations are near 1."""

    seeds: int
    equation: float
    """Between the model's function and Equation 1 in float64 as it is printed, products first and then the scale."""
    heads: float
    """Between the model's attention and one head after the other with matrices of its own, side by side, times W_O."""

    def to_json(self) -> dict[str, float]:
        """All of it."""
        return asdict(self)


def measured_equality(config: ModelConfig, seeds: int) -> Equality:
    """Compares on random numbers.

    Args:
        config: whose attention it is; its function is the scaled one.
        seeds: how many times.
    """
    equation, heads = 0.0, 0.0
    for seed in range(1, seeds + 1):
        generator = torch.Generator().manual_seed(seed)
        equation = max(equation, _of_equation(config, generator))
        heads = max(heads, _of_heads(config, generator, seed))
    return Equality(seeds=seeds, equation=equation, heads=heads)


def _mask() -> Tensor:
    mask = torch.ones(_BATCH, 1, 1, _LENGTH, dtype=torch.bool)
    mask[1, :, :, -_HIDDEN:] = False
    return mask


def _printed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Equation 1 in the order in which Figure 2 has it: products, scale, mask, softmax, products."""
    logits = torch.einsum("...qd,...kd->...qk", query.double(), key.double()) / math.sqrt(query.shape[-1])
    weights = torch.softmax(torch.where(mask, logits, -math.inf), dim=-1)
    return torch.einsum("...qk,...kd->...qd", weights, value.double())


def _of_equation(config: ModelConfig, generator: torch.Generator) -> float:
    sizes = (config.key_size, config.key_size, config.value_size)
    shape = (_BATCH, config.num_heads, _LENGTH)
    query, key, value = (torch.randn(*shape, size, generator=generator) for size in sizes)
    ours = scaled_dot_product_attention(query, key, value, _mask()).context
    return float((ours - _printed(query, key, value, _mask())).abs().max())


def _of_heads(config: ModelConfig, generator: torch.Generator, seed: int) -> float:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        attention = SelfAttention(config).eval()
    hidden = torch.randn(_BATCH, _LENGTH, config.d_model, generator=generator)
    h, d_k, d_v = config.num_heads, config.key_size, config.value_size
    weight, bias = attention.query_key_value.weight, attention.query_key_value.bias
    joined = []
    with torch.no_grad():
        for head in range(h):
            starts = (head * d_k, h * d_k + head * d_k, 2 * h * d_k + head * d_v)
            rows = [slice(start, start + size) for start, size in zip(starts, (d_k, d_k, d_v), strict=True)]
            query, key, value = (
                F.linear(hidden.double(), weight[own].double(), None if bias is None else bias[own].double())
                for own in rows
            )
            joined.append(_printed(query, key, value, _mask()[:, 0]))
        output = attention.output
        own_bias = None if output.bias is None else output.bias.double()
        expected = F.linear(torch.cat(joined, dim=-1), output.weight.double(), own_bias)
        return float((attention(hidden, _mask()) - expected).abs().max())


# --- the page ---------------------------------------------------------------------------------------------------------

BASE = "base"
"""The recipe of the paper's base model."""
_RECIPES = {"tiny": "tiny", "paper": BASE}
_SHIPPED = "en-de"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A statement of the paper, and what was found in the model."""

    what: str
    paper: str
    here: str

    @property
    def agrees(self) -> bool:
        """Whether the model is as the paper's."""
        return self.paper == self.here


def stated(figure: str, **here: str) -> tuple[Row, ...]:
    """The paper's statements for a figure, and what was found of each.

    Args:
        figure: the table of `statements.toml`.
        here: what was found, by the statements' keys.
    """
    paper = declared("drawn/statements.toml", figure, dict[str, dict[str, str]])
    return tuple(Row(**paper[key], here=found) for key, found in here.items())


def verdict(rows: Sequence[Row], model: str) -> str:
    """How many statements hold, and which do not.

    Args:
        rows: the statements.
        model: what they are of, as `this model`.
    """
    others = [row.what for row in rows if not row.agrees]
    if not others:
        return f"All {len(rows)} statements of the paper hold for {model}."
    held = f"{len(rows) - len(others)} of {len(rows)} statements of the paper hold for {model}."
    return f"{held} What differs: {'; '.join(others)}."


def of_base(order: Order, statements: Callable[[Subject], tuple[Row, ...]]) -> tuple[str, ...]:
    """How many statements hold for the paper's base model, where another one is drawn.

    Args:
        order: how the figure is wanted.
        statements: those of a model, beside what it has.
    """
    if order.scale == "paper":
        return ()
    told = verdict(statements(find_subject(BASE)), f"the recipe {BASE}, the paper's base model")
    return (f"{told} The scale 'paper' draws it.",)


def drawn_model(order: Order) -> Subject:
    """The paper's base model at the scale `paper`, the shipped English-German one at `small`, a recipe's at `tiny`.

    Raises:
        ModelError: the shipped model is missing.
    """
    if order.scale != "small":
        return find_subject(_RECIPES[order.scale])
    folder = shipped_models().get(_SHIPPED)
    if folder is None:
        raise ModelError(f"{_SHIPPED}: does not come with this attendo; take --scale paper")
    return find_subject(str(folder))


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A figure, and what its page says."""

    structure: Structure
    diagram: Diagram
    statements: tuple[Row, ...]
    """The paper's, beside what is there."""
    findings: tuple[str, ...]
    """Sentences above the statements."""
    values: Mapping[str, object]
    """What else fills the words of the page."""
    data: Mapping[str, object]
    """Figures for `result.json`, behind the name and before the statements."""
    processor_s: float
    """That finding, drawing and checking took, of all threads together."""


@dataclass(frozen=True, kw_only=True)
class DrawnFigure:
    """The description of a figure that is drawn of a model: nothing is trained, and nothing is kept."""

    name: str
    """As the command has it, `figure1`."""
    file: str
    """The name of its files, `architecture`."""
    title: str
    """Of the page."""
    text: str
    """The file with the words of the page, for `page_text`."""
    draw: Callable[[Order], Drawn]
    """Draws it and compares it with the paper."""
    other_models: str
    """The command that draws another model."""
    unit: str = "pictures"
    """What the progress is counted in."""

    def reproduce(self, order: Order, reporter: Reporter, should_stop: ShouldStop) -> Outcome:
        """Draws the figure anew and writes its page.

        Args:
            order: how it is wanted; its processes have nothing to do here.
            reporter: who is told.
            should_stop: asked once, before the work of a second.

        Raises:
            AttendoError: data is given, which nothing here reads; or another process is at this folder.
            OSError: the folder cannot be written to.
        """
        self._check_no_data(order)
        with alone(order.folder):
            if should_stop():
                return Outcome(report=None, interrupted=True)
            reporter.running(0, 1, self.name)
            report = self._write(order, self.draw(order))
            reporter.running(1, 1, "")
        return Outcome(report=report)

    def forecast(self, order: Order, reporter: Reporter) -> Report:
        """What will be drawn.

        Raises:
            AttendoError: data is given, which nothing here reads.
        """
        self._check_no_data(order)
        reporter.running(0, 1, self.name)
        of = drawn_model(order).note
        files = [f"{self.file}.svg", f"{self.file}.png", f"{self.file}.json", "index.html"]
        return Report(
            title=f"{self.name.replace('figure', 'Figure ')} at the scale '{order.scale}', in {order.folder}",
            introduction=(page_text("drawn/page.md").note("forecast", of=of, files=", ".join(files)),),
            sections=(Section(title="To start", blocks=(Shell(lines=(order.command,)),)),),
            data={"scale": order.scale, "model": of, "files": files},
        )

    def _check_no_data(self, order: Order) -> None:
        if order.data is not None:
            raise DataError(f"--data: {self.name} draws a model and reads no corpora; leave it out")

    def _write(self, order: Order, drawn: Drawn) -> Report:
        """Writes the picture, the data and the page."""
        text, shared = page_text(self.text), page_text("drawn/page.md")
        picture = Picture(
            name=f"{self.file}.png",
            png=to_png(drawn.diagram),
            svg=to_svg(drawn.diagram),
            alt=drawn.diagram.description,
            caption=text.note("caption"),
        )
        structure = drawn.structure.to_json()
        words = text.fill(
            picture=picture,
            findings=drawn.findings,
            statements=[(row, "yes" if row.agrees else "no") for row in drawn.statements],
            **drawn.values,
        )
        how_to_repeat = shared.sections(
            command=order.command,
            file=self.file,
            other_models=self.other_models,
            processor_s=f"{drawn.processor_s:.1f}",
            machine=this_machine().to_text(),
            versions=", ".join(f"{name} {version}" for name, version in versions().items()),
        )
        report = Report(
            title=self.title,
            introduction=words.introduction,
            sections=(*words.sections, *how_to_repeat),
            data={
                "figure": self.name,
                **drawn.data,
                "statements": [{**asdict(row), "agrees": row.agrees} for row in drawn.statements],
                "scale": order.scale,
                "command": order.command,
                "structure": structure,
            },
        )
        write_json(order.folder / f"{self.file}.json", structure)
        write_report(order.folder, report)
        return report
