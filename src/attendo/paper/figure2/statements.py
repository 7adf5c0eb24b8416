"""What the paper says of attention in Figure 2 and Section 3.2, and the same read off a structure."""

from attendo.diagrams.attention import INNER, OUTER
from attendo.diagrams.structure import Structure
from attendo.model.config import ModelConfig
from attendo.paper.drawn.comparison import Row

_SYMBOLS = {"Scale": "Scale", "Mask (opt.)": "Mask", "Mask": "Mask"}


def statements(structure: Structure, config: ModelConfig) -> tuple[Row, ...]:
    """The paper's statements, and what the structure has.

    Args:
        structure: of an attention.
        config: of its model.
    """
    heads = structure.layers[0]
    single = 4 * config.d_model * config.d_model
    total = sum(block.parameters for block in structure.column(OUTER))
    return (
        Row(what="function", paper="Scaled Dot-Product Attention", here=structure.block(INNER).title),
        Row(
            what="steps in one head",
            paper="MatMul, Scale, Mask, SoftMax, MatMul",
            here=", ".join(one_head(structure)),
        ),
        Row(what="scale", paper="1/√d_k", here=_scale(structure, config)),
        Row(
            what="steps of all heads",
            paper="Linear of V, K and Q; attention; Concat; Linear",
            here=_all_heads(structure),
        ),
        Row(what="h", paper="8", here=str(heads.times)),
        Row(what="d_k", paper="64", here=str(config.key_size)),
        Row(what="d_v", paper="64", here=str(config.value_size)),
        Row(what="W_O", paper="h d_v × d_model", here=_output(structure, config)),
        Row(what="parameters, by those of one wide head", paper="1.00", here=f"{total / single:.2f}"),
    )


def one_head(structure: Structure) -> list[str]:
    """What happens in one head, in its order."""
    return [_SYMBOLS.get(block.title, block.title) for block in structure.column(INNER) if block.kind != "input"]


def _scale(structure: Structure, config: ModelConfig) -> str:
    found = [block.details[0] for block in structure.column(INNER) if block.title == "Scale"]
    return "1/√d_k" if found == [f"by 1/√{config.key_size}"] else ", ".join(found) or "none"


def _all_heads(structure: Structure) -> str:
    above = [block for block in structure.column(OUTER) if block.kind != "input"]
    linear = [block.name.removeprefix("linear ") for block in above if block.name.startswith("linear ")]
    rest = ["attention" if block.name == INNER else block.title for block in above[len(linear) :]]
    return f"Linear of {', '.join(linear[:-1])} and {linear[-1]}; {'; '.join(rest)}"


def _output(structure: Structure, config: ModelConfig) -> str:
    size = f"{config.num_heads * config.value_size:,} → {config.d_model:,}"
    return "h d_v × d_model" if structure.block("output").details == (size,) else structure.block("output").details[0]
