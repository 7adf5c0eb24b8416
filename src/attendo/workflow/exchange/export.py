"""A model for another program, or for this one in int8, and the verification that it gives the same results there."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import torch

from attendo.checkpoint.checksums import CARD, SOURCE_SPM, TARGET_SPM
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.decoding.backends.models import decoding_model
from attendo.errors import ModelError
from attendo.interop import argos, ctranslate2, huggingface, huggingface_runtime, onnx, onnx_runtime
from attendo.interop.ctranslate2 import Quantization
from attendo.interop.parity import AttendoRuntime, ParityError, Runtime, compare
from attendo.model.weights.quantization import matrix_names, to_int8
from attendo.output_folders import Origin, check_replaceable, made_folder
from attendo.workflow.exchange.export_card import export_card
from attendo.workflow.exchange.parity_report import ParityReport, Sample, SampleSource, bleu_of, chosen
from attendo.workflow.extras import need_packages

Format = Literal["attendo", "ctranslate2", "huggingface", "onnx", "argos"]

PACKAGES: dict[Format, tuple[str, ...]] = {
    "attendo": (),
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("transformers",),
    "onnx": ("onnx", "onnxruntime"),
    "argos": ("ctranslate2",),
}
"""Packages that writing and verifying a format need."""

QUANTIZABLE: tuple[Format, ...] = ("attendo", "ctranslate2", "argos")
"""Formats that can be written in int8."""

REMARKS: dict[Format, tuple[str, ...]] = {
    "attendo": (
        "the folder was read again: decoding it gives to the last bit what decoding the model it was made of gives in "
        "the same --dtype, for the weights, in int8 their codes and scales, are the same",
    ),
    "ctranslate2": (
        "beam scores are defined differently: CTranslate2 ranks by log-probability / length^alpha, attendo by "
        "log-probability / ((5 + length) / 6)^alpha, so that beams may choose another output",
    ),
    "huggingface": (
        "beam scores are defined differently: Hugging Face ranks by log-probability / length^alpha, attendo by "
        "log-probability / ((5 + length) / 6)^alpha, so that beams may choose another output",
        "Hugging Face takes </s>, <unk> and <pad> in a text for control symbols and drops white space at its ends",
    ),
    "onnx": ("ONNX carries the model alone: the search is what the program around it does",),
    "argos": (
        "beam scores are defined differently: Argos ranks by log-probability / length^0.2, attendo by "
        "log-probability / ((5 + length) / 6)^alpha, so that beams may choose another output",
        "Argos splits text into sentences by itself, and writes a space for every underscore",
    ),
}
"""Differences between the programs that do not depend on the weights."""


@dataclass(frozen=True, kw_only=True)
class _Work:
    """The input of a writer."""

    model: LoadedModel
    folder: Path
    """The folder to fill."""
    quantization: Quantization
    threads: int
    card: str
    version: str
    """The version of attendo."""


def export(
    name: str,
    kind: Format,
    output: Path,
    *,
    sample: SampleSource,
    quantization: Quantization = "float32",
    threads: int | None = None,
    version: str = "",
    force: bool = False,
    say: Callable[[ParityReport], None] = lambda report: None,
) -> None:
    """Writes a model for another program; the folder appears when its parity is verified.

    Args:
        name: a model or run folder, or a shipped model.
        kind: the format.
        output: the folder to write.
        sample: returns sentences to verify the export with, for the model's languages; None for random pieces.
        quantization: the numbers of the matrices, for the formats in `QUANTIZABLE`.
        threads: number of processor threads of both programs; None for torch's default.
        version: the version of attendo, for the report.
        force: replace any content of `output`.
        say: called with the report before parity is judged.

    Raises:
        AttendoError: a package is missing.
        DataError: no sentence has a suitable length.
        ModelError: the model is missing or damaged, the format does not support it, or `output` contains something
            else (`output_folders`).
        ParityError: the exported model gives other results; nothing is written.
    """
    need_packages(PACKAGES[kind], "export")
    if quantization != "float32" and kind not in QUANTIZABLE:
        known = ", ".join(QUANTIZABLE)
        raise ModelError(f"--quantization {quantization} is for {known}; {kind} is written in float32")
    folder = find_model(name)
    origin = Origin(command="export", source=folder, options={"format": kind, "quantization": quantization})
    check_replaceable(output, origin, force=force)
    model = load_model(folder)
    if model.description.parsing is not None and kind != "attendo":
        raise ModelError(f"{name}: is a parser, and {kind} has no place for its grammar; take --format attendo")
    sentences = chosen(sample, model)
    with made_folder(output, origin, force=force) as draft:
        work = _Work(
            model=model,
            folder=draft,
            quantization=quantization,
            threads=threads or torch.get_num_threads(),
            card=export_card(model, kind, quantization, version),
            version=version,
        )
        (draft / CARD).write_text(work.card, encoding="utf-8")
        report = prove(
            model,
            WRITERS[kind](work),
            sentences,
            what=f"{output} ({kind}, {quantization})",
            exact=quantization == "float32",
            threads=work.threads,
            version=version,
            remarks=REMARKS[kind],
            text_check=partial(huggingface_runtime.text_differences, draft, model) if kind == "huggingface" else None,
        )
        say(report)
        report.check()


def prove(
    model: LoadedModel,
    theirs: Runtime,
    sample: Sample,
    *,
    what: str,
    exact: bool,
    threads: int,
    version: str,
    remarks: tuple[str, ...],
    text_check: Callable[..., list[str]] | None = None,
) -> ParityReport:
    """Compares a model with another program's.

    Args:
        model: our model.
        theirs: the other program's model.
        sample: the sentences.
        what: the subject of the comparison.
        exact: whether both compute in float32.
        threads: number of our processor threads.
        version: the version of attendo.
        remarks: differences in definition there.
        text_check: returns the texts that differ, given source lines and written ids.
    """
    ours = AttendoRuntime(decoding_model(model.transformer), threads=threads, version=version)
    parity = compare(ours, theirs, model.source_tokenizer.encode_batch(sample.sources))
    return ParityReport(
        what=what,
        origin=sample.origin,
        parity=parity,
        exact=exact,
        bleu=bleu_of(parity, sample, model),
        differing_texts=None if text_check is None else tuple(text_check(sample.sources, parity.our_outputs)),
        remarks=remarks,
    )


def _attendo(work: _Work) -> Runtime:
    description = replace(work.model.description, dtype=work.quantization)
    weights = named_weights(work.model.transformer)
    save_model(work.folder, description, weights, work.model.source_tokenizer, work.model.target_tokenizer, work.card)
    written = load_model(work.folder).transformer
    matrices = matrix_names(written) if work.quantization == "int8" else ()
    given, found = (to_int8(each, matrices) for each in (weights, named_weights(written)))
    if wrong := [name for name, value in given.items() if not torch.equal(value, found[name])]:
        raise ParityError(f"{work.folder}: {wrong[0]} differs when it is read back")
    return AttendoRuntime(decoding_model(written, dtype=work.quantization), threads=work.threads, version=work.version)


def _ctranslate2(work: _Work) -> Runtime:
    ctranslate2.write_folder(work.model, work.folder, quantization=work.quantization)
    return _ctranslate2_runtime(work, work.folder)


def _ctranslate2_runtime(work: _Work, folder: Path) -> Runtime:
    sides = (work.model.source_tokenizer, work.model.target_tokenizer)
    source, target = (ctranslate2.vocabulary(tokenizer) for tokenizer in sides)
    return ctranslate2.CTranslate2Runtime(folder, source, target, threads=work.threads, quantization=work.quantization)


def _huggingface(work: _Work) -> Runtime:
    huggingface.write_folder(work.model, work.folder)
    return huggingface_runtime.HuggingFaceRuntime(work.folder, tgt_vocab_size=work.model.transformer.tgt_vocab_size)


def _onnx(work: _Work) -> Runtime:
    model = work.model.transformer
    onnx.write_graphs(model, work.folder)
    if not huggingface.obstacles(model.config):
        huggingface.write_settings(work.model, work.folder)
    else:  # Hugging Face has no configuration for it; the graphs work all the same
        work.model.source_tokenizer.save(work.folder / SOURCE_SPM)
        work.model.target_tokenizer.save(work.folder / TARGET_SPM)
    return onnx_runtime.OnnxRuntime(
        work.folder,
        start_id=huggingface.start_id(model),
        tgt_vocab_size=model.tgt_vocab_size,
        threads=work.threads,
    )


def _argos(work: _Work) -> Runtime:
    package = argos.write_package(work.model, work.folder, work.card, quantization=work.quantization)
    with tempfile.TemporaryDirectory(prefix="attendo-argos-") as unpacked:
        return _ctranslate2_runtime(work, argos.unpack(package, Path(unpacked)) / argos.MODEL)  # reads all of it


WRITERS: dict[Format, Callable[[_Work], Runtime]] = {
    "attendo": _attendo,
    "ctranslate2": _ctranslate2,
    "huggingface": _huggingface,
    "onnx": _onnx,
    "argos": _argos,
}
"""Functions that fill the folder and return the other program, which reads from it."""
