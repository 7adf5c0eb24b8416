"""Converts a Marian checkpoint of Hugging Face to our format, and verifies that it gives the same results here."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from attendo.checkpoint.model_folder import LoadedModel, ModelDescription, load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.interop.huggingface_runtime import HuggingFaceRuntime, text_differences
from attendo.interop.marian_checkpoint import ImportedModel, read_marian
from attendo.output_folders import Origin, check_replaceable, made_folder
from attendo.workflow.exchange.export import PACKAGES, REMARKS, prove
from attendo.workflow.exchange.export_card import imported_card
from attendo.workflow.exchange.parity_report import ParityReport, SampleSource, chosen
from attendo.workflow.extras import need_packages

PADDING_REMARK = (
    "Hugging Face never writes the padding token but gives it a share of the probability; here, as in Marian itself, "
    "it has none, and it is left out of what is compared"
)


def import_model(
    path: Path,
    output: Path,
    *,
    sample: SampleSource,
    threads: int | None = None,
    version: str = "",
    force: bool = False,
    say: Callable[[ParityReport], None] = lambda report: None,
) -> None:
    """Reads a checkpoint folder and writes it as a model; the model appears when its parity is verified.

    Args:
        path: the checkpoint's folder.
        output: the model folder to write.
        sample: returns sentences to verify it with, for the model's languages; None for random pieces.
        threads: processor threads; None for torch's default.
        version: the version of attendo, for report and card.
        force: replace any content of `output`.
        say: called with the report before parity is judged.

    Raises:
        AttendoError: a package is missing.
        DataError: no sentence has a suitable length.
        ModelError: the checkpoint is damaged or has unsupported features, or `output` contains something else
            (`output_folders`).
        ParityError: the model gives other results here; nothing is written.
    """
    need_packages((*PACKAGES["huggingface"], "google.protobuf"), "export")
    origin = Origin(command="import", source=path)
    check_replaceable(output, origin, force=force)
    imported = read_marian(path)
    with made_folder(output, origin, force=force) as draft:
        model = _write(imported, path, draft, version)
        writable = imported.target.their_ids[: imported.target.num_writable]
        theirs = HuggingFaceRuntime(
            path,
            tgt_vocab_size=len(imported.target.names),
            source_ids=imported.source.their_ids,
            target_ids=writable,
        )
        report = prove(
            model,
            theirs,
            chosen(sample, model),
            what=f"{output} (from {path})",
            exact=True,
            threads=threads or torch.get_num_threads(),
            version=version,
            remarks=(*REMARKS["huggingface"], PADDING_REMARK),
            text_check=partial(
                text_differences, path, model, source_ids=imported.source.their_ids, target_ids=writable
            ),
        )
        say(report)
        report.check()


def _write(imported: ImportedModel, path: Path, draft: Path, version: str) -> LoadedModel:
    """Writes the model folder and reads it again, so that the comparison uses the stored model."""
    description = ModelDescription(
        source_language=imported.source_language,
        target_language=imported.target_language,
        src_vocab_size=len(imported.source.names),
        tgt_vocab_size=len(imported.target.names),
        model=imported.transformer.config,
        search=imported.search,
        training={"recipe": f"imported from {path.name}"},
    )
    save_model(
        draft,
        description,
        named_weights(imported.transformer),
        imported.source_tokenizer,
        imported.target_tokenizer,
        imported_card(path.name, imported.card, version),
    )
    return load_model(draft)
