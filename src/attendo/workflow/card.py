"""The model card: what a model folder's README.md tells a person about the model in it."""

from typing import Any

from attendo.checkpoint import ModelDescription
from attendo.recipe import Recipe
from attendo.text.prepared import PreparationReport


def model_card(recipe: Recipe, report: PreparationReport, description: ModelDescription, num_parameters: int) -> str:
    """Writes the card, as Markdown.

    Args:
        recipe: what the model was trained by.
        report: what became of every pair of its corpora.
        description: what `config.json` says, scores included.
        num_parameters: trained numbers of the model.
    """
    languages = f"{description.source_language or 'source'} to {description.target_language or 'target'}"
    lines = [
        f"# {recipe.name}: {languages}",
        "",
        f"A Transformer of {num_parameters:,} parameters, trained with attendo.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {key} | {value} |" for key, value in _facts(recipe, description)),
        "",
        "## Data",
        "",
        "| corpus | pairs read | kept | dropped | tags |",
        "|---|---|---|---|---|",
    ]
    for corpus in report.corpora:
        dropped = ", ".join(f"{count} {reason}" for reason, count in corpus.dropped.items() if count) or "none"
        lines.append(f"| {corpus.name} | {corpus.read} | {corpus.kept} | {dropped} | {' '.join(corpus.tags)} |")
    lines += [
        "",
        "The corpora's licences are not known to attendo: name them here before the model is passed on.",
        "",
        "## Use",
        "",
        "    attendo translate PATH-OF-THIS-FOLDER < source.txt > target.txt",
        "",
    ]
    return "\n".join(lines)


def _facts(recipe: Recipe, description: ModelDescription) -> list[tuple[str, Any]]:
    shape = description.model
    facts: list[tuple[str, Any]] = [
        ("layers", f"{shape.encoder_layers} + {shape.decoder_layers}"),
        ("d_model, d_ff, heads", f"{shape.d_model}, {shape.d_ff}, {shape.num_heads}"),
        ("vocabulary", f"{description.src_vocab_size} and {description.tgt_vocab_size}, {recipe.tokenizer.type}"),
        ("steps", description.training.get("steps", "")),
        ("averaged checkpoints", f"the last {recipe.training.average_last}"),
    ]
    valid = description.training.get("valid", {})
    if "perplexity" in valid:
        facts.append(("validation perplexity, per word piece", f"{valid['perplexity']:.3f}"))
    if "bleu" in valid:
        facts.append((f"validation BLEU ({valid.get('bleu_signature', '')})", f"{valid['bleu']:.2f}"))
    return facts
