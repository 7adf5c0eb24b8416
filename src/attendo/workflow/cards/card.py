"""The model card: a description of the model for people, in its folder's README.md."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attendo.checkpoint.model_folder import ModelDescription
from attendo.recipe import Recipe, to_toml
from attendo.text.accounting import CorpusReport
from attendo.text.corpora import FILE_KEYS, CorpusConfig, DataConfig
from attendo.text.prepared import PreparationReport
from attendo.workflow.cards.card_evaluations import EVALUATIONS_START


def model_card(recipe: Recipe, report: PreparationReport, description: ModelDescription, num_parameters: int) -> str:
    """Writes the card, as Markdown.

    Args:
        recipe: the recipe by which the model was trained.
        report: the report on every pair of its corpora.
        description: the content of `config.json`, scores included.
        num_parameters: number of trained weights of the model.
    """
    return "\n".join(
        [
            f"# {recipe.name}: {_purpose(description)}",
            "",
            f"A Transformer of {num_parameters:,} parameters, trained with attendo.",
            "",
            "| | |",
            "|---|---|",
            *(f"| {key} | {_cell(value)} |" for key, value in _facts(recipe, description)),
            "",
            "## Use",
            "",
            f"    attendo {_use(description)}",
            "",
            *_data(recipe, report, description),
            "## Scores",
            "",
            *_validation(report, description),
            EVALUATIONS_START,
            "",
            "## Limits",
            "",
            *(f"- {limit}" for limit in _limits(report, description)),
            "",
            "## Recipe",
            "",
            f"`attendo train {recipe.name}.toml` with this file. What it leaves out has its default, which is the "
            "paper's where the",
            "paper says something; `data.folder` is where the corpora lie.",
            "",
            "```toml",
            *_written_recipe(recipe, _beginning(description)),
            "```",
            "",
        ]
    )


def _purpose(description: ModelDescription) -> str:
    if description.task == "parse":
        return f"constituency trees of sentences ({description.source_language or 'language not told'})"
    return _languages(description)


def _use(description: ModelDescription) -> str:
    if description.task == "parse":
        reads_tags = description.parsing is not None and description.parsing.read_tags
        return f"parse PATH-OF-THIS-FOLDER {'--input tagged ' * reads_tags}< sentences.txt > trees.txt"
    return "translate PATH-OF-THIS-FOLDER < source.txt > target.txt"


def _unit(description: ModelDescription) -> str:
    return "trees" if description.task == "parse" else "pairs"


def _languages(description: ModelDescription) -> str:
    return f"{description.source_language or 'source'} to {description.target_language or 'target'}"


def _facts(recipe: Recipe, description: ModelDescription) -> list[tuple[str, Any]]:
    shape, training = description.model, description.training
    beginning = _beginning(description)
    return [
        *([("fine-tuned from", beginning)] if beginning else []),
        ("layers", ", ".join((f"{shape.encoder_layers} + {shape.decoder_layers}", *shape.other_layers))),
        ("d_model, d_ff, heads", f"{shape.d_model}, {shape.d_ff}, {shape.num_heads}"),
        ("vocabulary", f"{description.src_vocab_size} and {description.tgt_vocab_size}, {recipe.tokenizer.type}"),
        ("steps", training.get("steps", "")),
        ("averaged checkpoints", f"the last {recipe.training.average_last}"),
    ]


def _beginning(description: ModelDescription) -> str:
    """Describes the model that this one was fine-tuned from; empty for random initial weights."""
    origin = description.training.get("init_from")
    return str(origin.get("model", "")) if isinstance(origin, dict) else ""


def _data(recipe: Recipe, report: PreparationReport, description: ModelDescription) -> list[str]:
    """Describes the training and validation data, with licences."""
    configs = {corpus.name: corpus for corpus in recipe.data.corpora} if recipe.data else {}
    lines = [
        "## Data",
        "",
        f"| corpus | {_unit(description)} read | kept | dropped | tokens: source, target | licence | tags |",
        "|---|---|---|---|---|---|---|",
    ]
    for corpus in report.corpora:
        dropped = ", ".join(f"{count} {reason}" for reason, count in corpus.dropped.items() if count) or "none"
        cells = (
            corpus.name,
            corpus.read,
            corpus.kept,
            dropped,
            f"{corpus.source_tokens:,}, {corpus.target_tokens:,}",
            _licence(configs.get(corpus.name)) or "not known",
            " ".join(corpus.tags),
        )
        lines.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    lines.append("")
    if report.valid is not None:
        valid = recipe.data.valid if recipe.data else None
        lines += [f"Validated on {report.valid.kept:,} {_unit(description)} of {_valid_name(valid, report.valid)}.", ""]
    named = [(name, config.attribution) for name, config in configs.items() if config.attribution]
    lines += [f"- **{name}**: {' '.join(text.split())}" for name, text in named]
    lines += [""] if named else []
    unknown = [corpus.name for corpus in report.corpora if not _licence(configs.get(corpus.name))]
    if beginning := _beginning(description):
        lines += [f"{beginning} brings its own data and licences along: see the card of that model.", ""]
    if unknown:
        lines += [
            f"The licence of {', '.join(unknown)} is not known to attendo: name it here before the model is passed on,",
            "or in the recipe (`licence` and `attribution` of a corpus) before it is trained.",
            "",
        ]
    return lines


def _licence(config: CorpusConfig | None) -> str:
    return config.licence if config else ""


def _valid_name(config: CorpusConfig | None, report: CorpusReport) -> str:
    if len(report.files) > 2:
        return f"{len(report.files)} files" + (f" ({config.licence})" if config and config.licence else "")
    files = " and ".join(Path(name).name for name in report.files)
    return files + (f" ({config.licence})" if config and config.licence else "")


def _validation(report: PreparationReport, description: ModelDescription) -> list[str]:
    """The figures that training chose the checkpoint by."""
    valid = description.training.get("valid", {})
    rows = []
    if "perplexity" in valid:
        rows.append(("validation perplexity, per word piece", f"{valid['perplexity']:.3f}"))
    if "bleu" in valid:
        rows.append((f"validation BLEU ({valid.get('bleu_signature', '')})", f"{valid['bleu']:.2f}"))
    if "f1" in valid:
        rows.append((f"validation F1 ({valid.get('f1_signature', '')})", f"{valid['f1']:.2f}"))
    if not rows:
        return ["It was not validated while it trained.", ""]
    repeated = sum(corpus.in_valid for corpus in report.corpora)
    lines = ["| while it trained | |", "|---|---|", *(f"| {_cell(key)} | {value} |" for key, value in rows), ""]
    lines += ["The checkpoint was chosen by them, so they flatter it a little; figures of other test sets stand below."]
    if repeated:
        lines.append(
            f"{repeated:,} {_unit(description)} of the corpora are in the validation set too: that flatters it further."
        )
    return [*lines, ""]


def _limits(report: PreparationReport, description: ModelDescription) -> list[str]:
    """Describes the model's limits, as far as its data and shape show them."""
    pairs = sum(corpus.kept for corpus in report.corpora)
    tokens = sum(corpus.source_tokens for corpus in report.corpora)
    limits = _parser_limits(description) if description.task == "parse" else _translator_limits(description)
    if pairs:
        limits.append(
            f"Its corpora have {tokens / pairs:.1f} subwords in a source on the average; much longer sentences are "
            "rare in them, and worse."
        )
    single = sum(corpus.source_byte_tokens for corpus in report.corpora)
    if single and tokens:
        limits.append(
            f"Characters that the vocabulary lacks are spelled in bytes, {100 * single / tokens:.2g} % of the source; "
            "it knows little of words made of them."
        )
    return limits


def _translator_limits(description: ModelDescription) -> list[str]:
    return [
        f"It translates {_languages(description)} and no other way; a line is all it sees, so that what an earlier one "
        "said of a *she* or a *bank* is not known in the next.",
        "A translation can be fluent and wrong: something left out, added or turned into its opposite. Where it "
        "matters, a person has to read it.",
        "It has the words, the tone and the prejudices of its corpora, and on other text it is worse than the scores "
        "of text like them say; measure it on yours: `attendo evaluate MODEL --source F --reference F --robustness`.",
    ]


def _parser_limits(description: ModelDescription) -> list[str]:
    text = "It takes a line for a sentence, split into words as treebanks split them."
    if description.parsing is not None and description.parsing.read_tags:
        text += " It reads words with their tags, which something else has to give."
    return [
        text,
        "Every sentence gets a tree, also one that is none of its language; labels, tags and attachments can be wrong, "
        "however probable a tree is to the model.",
        "It has the labels and habits of its treebanks, and on other kinds of text it is worse than the scores of text "
        "like them say; measure it on yours: `attendo evaluate MODEL --trees GOLD`.",
    ]


def _written_recipe(recipe: Recipe, beginning: str) -> list[str]:
    """The recipe as TOML without defaults, and without paths of the machine it was trained on."""
    defaults = _keys(
        to_toml(Recipe(name="", folder=Path(), data=DataConfig(corpora=(CorpusConfig(name="x", tsv="x"),))))
    )
    lines, header = [], ""
    for line in to_toml(_shareable(recipe, beginning)).splitlines():
        header = line if line.startswith("[") else header
        if line and (line.startswith("[") or (header, line) not in defaults):
            lines.append(line)
    return _without_empty_tables(lines)


def _keys(toml: str) -> set[tuple[str, str]]:
    """Each line of a key with the header of its table; a validation set's keys count as those of a corpus."""
    found, header = set(), ""
    for line in toml.splitlines():
        header = line if line.startswith("[") else header
        found.add((header, line))
        if header == "[[data.corpora]]":
            found.add(("[data.valid]", line))
    return found


def _without_empty_tables(lines: Sequence[str]) -> list[str]:
    kept = []
    for line, following in zip(lines, [*lines[1:], "["], strict=True):
        if line.startswith("["):
            if following.startswith("["):
                continue
            kept.append("")
        kept.append(line)
    return kept


def _shareable(recipe: Recipe, beginning: str) -> Recipe:
    """A recipe with absolute paths shortened to the file's name, or to the name of the initial model."""
    training = recipe.training
    if training.init_from is not None:
        training = replace(training, init_from=beginning or _name_only(training.init_from))
    if recipe.data is None:
        return replace(recipe, training=training)
    data = replace(
        recipe.data,
        folder="",
        corpora=tuple(map(_shareable_corpus, recipe.data.corpora)),
        valid=_shareable_corpus(recipe.data.valid) if recipe.data.valid else None,
    )
    return replace(recipe, data=data, training=training)


def _shareable_corpus(corpus: CorpusConfig) -> CorpusConfig:
    files: dict[str, Any] = {key: _names_only(paths) for key in FILE_KEYS if (paths := getattr(corpus, key))}
    return replace(corpus, **files)


def _names_only(paths: str | tuple[str, ...]) -> str | tuple[str, ...]:
    return _name_only(paths) if isinstance(paths, str) else tuple(map(_name_only, paths))


def _name_only(path: str) -> str:
    return Path(path).name if Path(path).is_absolute() else path


def _cell(value: Any) -> str:
    """A value in a table's cell."""
    return " ".join(str(value).split()).replace("|", "\\|")
