"""`attendo reproduce figure1`: the architecture, drawn from a model's computation, beside the paper's statements."""

import time
from collections.abc import Sequence

from attendo.diagrams.architecture import architecture, steps_of, structure_from, without_numbers
from attendo.diagrams.architecture_layout import draw_architecture
from attendo.diagrams.structure import Block, Layers, Structure
from attendo.model.config import ModelConfig
from attendo.model.weights.parameters import num_weights
from attendo.paper.drawn.page import DrawnFigure, FigureContent, Row, drawn_model, of_base, stated, verdict
from attendo.paper.experiment import StudyRequest
from attendo.paper.page_text import page_text
from attendo.plots.subject import Subject

_TEXT = "drawn/figure1.md"
POST_NORM = "LayerNorm(x + Sublayer(x))"
PRE_NORM = "x + Sublayer(LayerNorm(x))"
_SUB_LAYERS = ("attention", "mixing", "feed-forward")
_PAPER_VOCABULARY = 37_000


def statements(structure: Structure, config: ModelConfig) -> tuple[Row, ...]:
    """Compares a structure with the paper's statements on the base model in Sections 3.1 to 3.5 and 5.4.

    Args:
        structure: structure of a model.
        config: config of the model, for its sizes; everything that the figure shows is read from the structure.
    """
    encoder = [layers for layers in structure.layers if layers.name.startswith("encoder")]
    decoder = [layers for layers in structure.layers if layers.name.startswith("decoder")]
    embedding = structure.block("source_embedding")
    return stated(
        "figure1",
        encoder=_total(encoder),
        decoder=_total(decoder),
        encoder_layer=sub_layers(structure, encoder),
        decoder_layer=sub_layers(structure, decoder),
        around=surroundings(structure),
        residual=_residual_dropout(structure),
        sums=_dropout(_sums(structure)),
        memory=memory(structure),
        positions=_positions(structure),
        matrices=_num_matrices(structure),
        scale=_scale(embedding, config),
        d_model=f"{config.d_model}",
        d_ff=f"{config.d_ff}",
        h=f"{config.num_heads}",
        widths=_widths(config),
    )


def sub_layers(structure: Structure, layers: Sequence[Layers]) -> str:
    """Lists the sub-layers of a stack's layers from below, once if all layers are alike."""
    kinds = [
        ", ".join(_short(block.title) for block in map(structure.block, group.blocks) if block.kind in _SUB_LAYERS)
        for group in layers
    ]
    return "; then ".join(dict.fromkeys(kinds))


def _short(title: str) -> str:
    return title.lower().replace("multi-head attention", "attention")


def surroundings(structure: Structure) -> str:
    """Lists the distinct kinds of connections around the sub-layers: post-norm, pre-norm or another."""
    inside = [structure.block(name) for layers in structure.layers for name in layers.blocks]
    return "; ".join(dict.fromkeys(_around(structure, block) for block in inside if block.kind in _SUB_LAYERS))


def _around(structure: Structure, block: Block) -> str:
    """The kind of connection around a sub-layer, from the source of its input and the target of its output."""
    [onwards] = [edge.target for edge in structure.edges if edge.source == block.name]
    below = next(edge.source for edge in structure.edges if edge.target == block.name and edge.role == "flow")
    added = [edge.source for edge in structure.edges if edge.target == onwards and edge.role == "residual"]
    if structure.block(onwards).title == "Add & Norm" and added == [below]:
        return POST_NORM
    if structure.block(onwards).title == "Add" and structure.block(below).title == "Norm":
        x = next(edge.source for edge in structure.edges if edge.target == below)
        return PRE_NORM if added == [x] else "another connection"
    return "another connection"


def memory(structure: Structure) -> str:
    """Names the parts of the encoder that the decoder reads: `its output` if that is the last block alone."""
    read = {edge.source for edge in structure.edges if edge.role == "memory"}
    last = structure.column("encoder")[-1].name
    return "its output" if read == {last} else ", ".join(sorted(read)) or "nothing"


def _total(layers: Sequence[Layers]) -> str:
    return str(sum(group.times for group in layers))


def _sums(structure: Structure) -> list[Block]:
    return [block for block in structure.blocks if block.kind == "sum"]


def _residual_dropout(structure: Structure) -> str:
    added = {edge.target for edge in structure.edges if edge.role == "residual"}
    return _dropout([structure.block(name) for name in sorted(added)])


def _dropout(blocks: Sequence[Block]) -> str:
    rates = [
        next((detail.removeprefix("dropout ") for detail in block.details if detail.startswith("dropout ")), "0")
        for block in blocks
    ]
    return ", ".join(dict.fromkeys(rates))


def _positions(structure: Structure) -> str:
    blocks = [block for block in structure.blocks if block.kind == "positions"]
    kinds = ", ".join(dict.fromkeys(" ".join(block.details) for block in blocks))
    both = {block.column for block in blocks} == {"encoder", "decoder"}
    return f"{kinds}, in both stacks" if both else kinds


def _num_matrices(structure: Structure) -> str:
    """The number of embedding and projection blocks that do not share another block's matrix."""
    blocks = [block for block in structure.blocks if block.kind == "embedding" or block.name == "linear"]
    return str(sum(not any(detail.startswith("one matrix with") for detail in block.details) for block in blocks))


def _scale(embedding: Block, config: ModelConfig) -> str:
    factor = next((detail.removeprefix("times ") for detail in embedding.details if detail.startswith("times ")), "1")
    return "√d_model" if factor == f"√{config.d_model:,}" else factor


def _widths(config: ModelConfig) -> str:
    if config.key_size == config.value_size:
        return str(config.key_size)
    return f"{config.key_size} and {config.value_size}"


def _drawn(request: StudyRequest) -> FigureContent:
    started = time.process_time()
    subject = drawn_model(request)
    model = without_numbers(subject.config, subject.src_vocab_size, subject.tgt_vocab_size)
    steps = steps_of(model)
    structure = structure_from(steps, model, f"The Transformer: {subject.name}")
    rows = statements(structure, subject.config)
    return FigureContent(
        structure=structure,
        diagram=draw_architecture(structure),
        statements=rows,
        findings=(verdict(rows, "this model"), *of_base(request, _of_model), _parameters_text(structure)),
        values={
            "subject": subject.note,
            "num_steps": f"{len(steps):,}",
            "structure_parameters": f"{structure.parameters:,}",
            "model_parameters": f"{model.num_parameters:,}",
            "num_residuals": sum(edge.role == "residual" for edge in structure.edges),
        },
        data={"model": subject.name, "parameters": model.num_parameters, "steps": len(steps)},
        processor_s=time.process_time() - started,
    )


def _parameters_text(structure: Structure) -> str:
    """The note on the number of parameters, beside that of the paper's base model."""
    base = num_weights(ModelConfig(), _PAPER_VOCABULARY, _PAPER_VOCABULARY) / 1e6
    return page_text(_TEXT).note(
        "parameters", parameters=f"{structure.parameters:,}", base=f"{base:.1f}", vocabulary=f"{_PAPER_VOCABULARY:,}"
    )


def _of_model(subject: Subject) -> tuple[Row, ...]:
    config = subject.config
    return statements(architecture(config, subject.src_vocab_size, subject.tgt_vocab_size, subject.name), config)


FIGURE1 = DrawnFigure(
    name="figure1",
    file="architecture",
    title="Figure 1: the Transformer, drawn from what a model does",
    text=_TEXT,
    draw=_drawn,
    other_models="attendo draw architecture RECIPE -o architecture.svg",
)
