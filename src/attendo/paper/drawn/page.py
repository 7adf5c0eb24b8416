"""The parts that Figures 1 and 2 share: the drawn model, the comparison with the paper, and the page."""

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
from attendo.paper.experiment import Outcome, Reporter, ShouldStop, StudyRequest
from attendo.paper.page_text import page_text
from attendo.paper.report import Picture, Report, Section, Shell, write_report
from attendo.paper.study_folder import alone
from attendo.plots.subject import Subject, find_subject

# --- numerical comparison ---------------------------------------------------------------------------------------------

_BATCH, _LENGTH, _HIDDEN = 2, 23, 5
"""Number of sentences, their length, and the number of masked positions at the end of the second one."""


@dataclass(frozen=True, kw_only=True)
class Equality:
    """The largest absolute differences over all seeds; activations are of the order of 1."""

    seeds: int
    equation: float
    """Difference between the model's function and Equation 1 as printed, in float64: products first, then the scale."""
    heads: float
    """Difference between the model's attention and separate heads with their own matrices, concatenated, times W_O."""

    def to_json(self) -> dict[str, float]:
        """Returns all fields."""
        return asdict(self)


def measured_equality(config: ModelConfig, seeds: int) -> Equality:
    """Compares a model's attention with the paper's equations on random numbers.

    Args:
        config: config of the model; its attention function is the scaled one.
        seeds: number of comparisons, each with its own seed.
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
    """Computes Equation 1 in float64, in the order of Figure 2: products, scale, mask, softmax, products."""
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
                F.linear(hidden.double(), weight[part].double(), None if bias is None else bias[part].double())
                for part in rows
            )
            joined.append(_printed(query, key, value, _mask()[:, 0]))
        output = attention.output
        output_bias = None if output.bias is None else output.bias.double()
        expected = F.linear(torch.cat(joined, dim=-1), output.weight.double(), output_bias)
        return float((attention(hidden, _mask()) - expected).abs().max())


# --- the page ---------------------------------------------------------------------------------------------------------

BASE = "base"
"""Name of the recipe of the paper's base model."""
_RECIPES = {"tiny": "tiny", "paper": BASE}
_SHIPPED = "en-de"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A statement of the paper, beside the model's value."""

    what: str
    """The property that the statement is about."""
    paper: str
    """The paper's value."""
    here: str
    """The model's value."""

    @property
    def agrees(self) -> bool:
        """Whether the model's value is the paper's."""
        return self.paper == self.here


def stated(figure: str, **here: str) -> tuple[Row, ...]:
    """Returns the paper's statements for a figure, beside the model's values.

    Args:
        figure: name of the table in `statements.toml`.
        here: the model's values, by the statements' keys.
    """
    paper = declared("drawn/statements.toml", figure, dict[str, dict[str, str]])
    return tuple(Row(**paper[key], here=value) for key, value in here.items())


def verdict(rows: Sequence[Row], model: str) -> str:
    """States how many statements hold for a model, and which do not.

    Args:
        rows: the statements.
        model: name of the model in the sentence, such as `this model`.
    """
    others = [row.what for row in rows if not row.agrees]
    if not others:
        return f"All {len(rows)} statements of the paper hold for {model}."
    held = f"{len(rows) - len(others)} of {len(rows)} statements of the paper hold for {model}."
    return f"{held} What differs: {'; '.join(others)}."


def of_base(request: StudyRequest, statements: Callable[[Subject], tuple[Row, ...]]) -> tuple[str, ...]:
    """States how many statements hold for the paper's base model; nothing if that is the drawn model.

    Args:
        request: options of the figure.
        statements: returns the paper's statements beside a model's values.
    """
    if request.scale == "paper":
        return ()
    text = verdict(statements(find_subject(BASE)), f"the recipe {BASE}, the paper's base model")
    return (f"{text} The scale 'paper' draws it.",)


def drawn_model(request: StudyRequest) -> Subject:
    """Returns the paper's base model at the scale `paper`, the shipped `en-de` at `small`, the recipe `tiny` at `tiny`.

    Raises:
        ModelError: the shipped model is missing.
    """
    if request.scale != "small":
        return find_subject(_RECIPES[request.scale])
    folder = shipped_models().get(_SHIPPED)
    if folder is None:
        raise ModelError(f"{_SHIPPED}: does not come with this attendo; take --scale paper")
    return find_subject(str(folder))


@dataclass(frozen=True, kw_only=True)
class FigureContent:
    """A drawn figure, and the content of its page."""

    structure: Structure
    diagram: Diagram
    statements: tuple[Row, ...]
    """The paper's statements, beside the model's values."""
    findings: tuple[str, ...]
    """Sentences above the statements."""
    values: Mapping[str, object]
    """Further values for the page's text."""
    data: Mapping[str, object]
    """Further data for `result.json`, between the name and the statements."""
    processor_s: float
    """Processor seconds of all threads for reading the model, drawing and checking."""


@dataclass(frozen=True, kw_only=True)
class DrawnFigure:
    """The description of a figure that is drawn from a model: nothing is trained, and no measurements are kept."""

    name: str
    """Name in the command, such as `figure1`."""
    file: str
    """Name of its files without the ending, such as `architecture`."""
    title: str
    """Title of the page."""
    text: str
    """File with the text of the page, for `page_text`."""
    draw: Callable[[StudyRequest], FigureContent]
    """Draws the figure and compares it with the paper."""
    other_models: str
    """Command that draws another model, shown on the page."""
    unit: str = "pictures"
    """The unit that the progress is counted in."""

    def reproduce(self, request: StudyRequest, reporter: Reporter, should_stop: ShouldStop) -> Outcome:
        """Draws the figure again and writes its page.

        Args:
            request: options; `jobs` has no effect.
            reporter: receives the progress.
            should_stop: called once, before drawing, which takes about a second.

        Raises:
            AttendoError: a data folder is given, which figures do not read; or another process holds the folder.
            OSError: the folder cannot be written to.
        """
        self._check_no_data(request)
        with alone(request.folder):
            if should_stop():
                return Outcome(report=None, interrupted=True)
            reporter.running(0, 1, self.name)
            report = self._write(request, self.draw(request))
            reporter.running(1, 1, "")
        return Outcome(report=report)

    def forecast(self, request: StudyRequest, reporter: Reporter) -> Report:
        """Returns a report of the model and files that will be drawn.

        Raises:
            AttendoError: a data folder is given, which figures do not read.
        """
        self._check_no_data(request)
        reporter.running(0, 1, self.name)
        model = drawn_model(request).note
        files = [f"{self.file}.svg", f"{self.file}.png", f"{self.file}.json", "index.html"]
        return Report(
            title=f"{self.name.replace('figure', 'Figure ')} at the scale '{request.scale}', in {request.folder}",
            introduction=(page_text("drawn/page.md").note("forecast", of=model, files=", ".join(files)),),
            sections=(Section(title="To start", blocks=(Shell(lines=(request.command,)),)),),
            data={"scale": request.scale, "model": model, "files": files},
        )

    def _check_no_data(self, request: StudyRequest) -> None:
        if request.data is not None:
            raise DataError(f"--data: {self.name} draws a model and reads no corpora; leave it out")

    def _write(self, request: StudyRequest, drawn: FigureContent) -> Report:
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
            command=request.command,
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
                "scale": request.scale,
                "command": request.command,
                "structure": structure,
            },
        )
        write_json(request.folder / f"{self.file}.json", structure)
        write_report(request.folder, report)
        return report
