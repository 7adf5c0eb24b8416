"""The card of an exported or imported model: the folder, its use, and the model itself."""

from attendo.checkpoint.checksums import CARD
from attendo.checkpoint.model_folder import LoadedModel
from attendo.interop.argos import package_name
from attendo.interop.huggingface import obstacles, start_id

_USE = {
    "ctranslate2": """\
```python
import ctranslate2
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file="source.spm")
translator = ctranslate2.Translator(".")
result = translator.translate_batch([pieces.encode("A sentence.", out_type=str)], beam_size=4)[0]
print({target_pieces}.decode_pieces(result.hypotheses[0]))
```

`</s>` is added to the source by CTranslate2; give it the pieces alone.""",
    "huggingface": """\
```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(".")
model = AutoModelForSeq2SeqLM.from_pretrained(".")
written = model.generate(**tokenizer(["A sentence."], return_tensors="pt", padding=True))
print(tokenizer.batch_decode(written, skip_special_tokens=True))
```""",
    "onnx": """\
`encoder_model.onnx` reads the source's ids with its `</s>` (0), `decoder_model.onnx` a target from its start
({start}), and `decoder_with_past_model.onnx` what follows, given the keys and values that came before. Names and axes
are those of Hugging Face's exporters.{settings}""",
    "argos": """\
```sh
argospm install {package}.argosmodel
argos-translate --from {source_language} --to {target_language} "A sentence."
```

LibreTranslate serves it once it is installed.""",
}


def export_card(model: LoadedModel, kind: str, quantization: str, version: str) -> str:
    """The `README.md` of an export, as Markdown.

    Args:
        model: the exported model, whose own card follows.
        kind: the format.
        quantization: the number type of the matrices.
        version: the version of attendo.
    """
    description = model.description
    own = (model.folder / CARD).read_text(encoding="utf-8") if (model.folder / CARD).is_file() else ""
    if kind == "attendo":
        changed = quantization != description.dtype
        return f"{own.rstrip()}\n\n{_weights_section(quantization, version)}" if changed else own
    languages = f"{description.source_language or 'source'} to {description.target_language or 'target'}"
    use = _USE[kind]
    for name, value in _values(model).items():
        use = use.replace(f"{{{name}}}", value)
    same = "the same as" if quantization == "float32" else "near to"
    return f"""# {languages}, for {kind}

A Transformer written by attendo {version} in {quantization}; its log-probabilities and greedy outputs were compared
with attendo's and are {same} those. Its own card follows below.

## Use

{use}

## The model

{own.strip()}
"""


def _weights_section(quantization: str, version: str) -> str:
    """Writes the card's section on matrices that are now stored in another type."""
    if quantization == "int8":
        description = (
            "Every matrix is in int8 with a scale for each row, norms and biases are in float32. They were made by "
            f"attendo {version}\nof the model in float32, which decodes to the same bits with `--dtype int8`."
        )
    else:
        description = f"The matrices are in {quantization}: what those in int8 stand for, written by attendo {version}."
    return f"## Weights in {quantization}\n\n{description}\n"


def imported_card(name: str, own: str, version: str) -> str:
    """The `README.md` of an imported model, as Markdown.

    Args:
        name: the checkpoint's folder.
        own: the checkpoint's card; empty if it has none.
        version: the version of attendo.
    """
    return f"""# {name}

A Marian checkpoint imported by attendo {version}; its log-probabilities and greedy outputs were compared with those of
Hugging Face's transformers and are the same. Its data and licence are what its own card says.

## Use

    attendo translate PATH-OF-THIS-FOLDER < source.txt > target.txt

## Its own card

{own.strip() or "It came with none: name its data and licence here before it is passed on."}
"""


def _values(model: LoadedModel) -> dict[str, str]:
    """Returns the values that the instructions mention."""
    description, joint = model.description, model.target_tokenizer is model.source_tokenizer
    settings = "" if obstacles(description.model) else " With `config.json` and the tokenizer's files they load there."
    return {
        "target_pieces": "pieces" if joint else 'sentencepiece.SentencePieceProcessor(model_file="target.spm")',
        "start": str(start_id(model.transformer)),
        "settings": settings,
        "package": package_name(model),
        "source_language": description.source_language,
        "target_language": description.target_language,
    }
