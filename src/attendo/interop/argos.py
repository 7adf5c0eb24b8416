"""Packages of Argos Translate and LibreTranslate: a file `*.argosmodel`, which is a zip of one folder.

The folder holds a CTranslate2 model, one SentencePiece file for both languages and metadata. It has no sentence
splitter; Argos then uses its own, MiniSBD, and downloads its model for the language by itself.
"""

import shutil
import zipfile
from pathlib import Path

from attendo.checkpoint.model_folder import LoadedModel
from attendo.errors import ModelError
from attendo.files import write_json
from attendo.interop.ctranslate2 import Quantization, save, to_spec, vocabulary

VERSION = "1.0"
"""Version of the package, which Argos compares when it looks for updates."""
MODEL, PIECES, METADATA = "model", "sentencepiece.model", "metadata.json"

LANGUAGES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sq": "Albanian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""Names of languages in the lists that people choose from; other languages appear by their code."""


def package_name(model: LoadedModel) -> str:
    """Returns the name of the folder in the package, which is also that of the package without its ending."""
    description = model.description
    return f"translate-{description.source_language}_{description.target_language}-{VERSION.replace('.', '_')}"


def write_package(model: LoadedModel, folder: Path, card: str, *, quantization: Quantization = "float32") -> Path:
    """Writes a package.

    Args:
        model: the model to write.
        folder: an existing folder for the package.
        card: Markdown for the package's `README.md`.
        quantization: number type of the matrices.

    Returns:
        The path of the package.

    Raises:
        ModelError: the model has something that Argos or CTranslate2 cannot represent.
    """
    _check(model)
    name = package_name(model)
    package, pieces = folder / name, vocabulary(model.source_tokenizer)
    spec = to_spec(model.transformer, source_tokens=pieces, target_tokens=pieces)
    save(spec, package / MODEL, quantization=None if quantization == "float32" else quantization)
    model.source_tokenizer.save(package / PIECES)
    write_json(package / METADATA, _metadata(model))
    (package / "README.md").write_text(card, encoding="utf-8")
    path = folder / f"{name}.argosmodel"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(package.rglob("*")):
            archive.write(file, file.relative_to(folder))
    shutil.rmtree(package)
    return path


def unpack(path: Path, folder: Path) -> Path:
    """Unpacks a package as Argos installs it, and returns the folder that was in it.

    Raises:
        ModelError: the file is not a package of Argos Translate.
    """
    if not zipfile.is_zipfile(path):
        raise ModelError(f"{path}: is not a zip file, so it is not a package of Argos Translate")
    with zipfile.ZipFile(path) as archive:
        tops = {Path(name).parts[0] for name in archive.namelist()}
        archive.extractall(folder)  # never writes outside the folder, whatever the names say
    if len(tops) != 1 or not (folder / min(tops) / METADATA).is_file():
        raise ModelError(f"{path}: has no single folder with {METADATA}, so it is not a package of Argos Translate")
    return folder / tops.pop()


def _check(model: LoadedModel) -> None:
    problems = []
    if model.target_tokenizer is not model.source_tokenizer:
        problems.append("it has a vocabulary for each language, but a package has one SentencePiece file for both")
    missing = [key for key in ("source_language", "target_language") if not getattr(model.description, key)]
    if missing:
        problems.append(f"its config.json has no {' and no '.join(missing)}, by which Argos finds a package")
    if problems:
        raise ModelError(f"Argos Translate cannot represent this model: {'; '.join(problems)}")


def _metadata(model: LoadedModel) -> dict[str, object]:
    source, target = model.description.source_language, model.description.target_language
    return {
        "package_version": VERSION,
        "argos_version": "1.9.0",
        "from_code": source,
        "from_name": LANGUAGES.get(source, source),
        "to_code": target,
        "to_name": LANGUAGES.get(target, target),
        "links": [],
    }
