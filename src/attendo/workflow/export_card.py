"""The card of an exported or imported model: what the folder is, how to use it, and what the model itself is."""

from attendo.checkpoint import CARD, LoadedModel

_USE = {
    "ctranslate2": """\
```python
import ctranslate2
import sentencepiece

pieces = sentencepiece.SentencePieceProcessor(model_file="source.spm")
translator = ctranslate2.Translator(".")
result = translator.translate_batch([pieces.encode("A sentence.", out_type=str)], beam_size=4)[0]
print({target}.decode_pieces(result.hypotheses[0]))
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
argos-translate --from {source} --to {target_language} "A sentence."
```

LibreTranslate serves it once it is installed.""",
}


def export_card(model: LoadedModel, kind: str, values: dict[str, str], quantization: str, version: str) -> str:
    """The `README.md` of an export, as Markdown.

    Args:
        model: what was exported, whose own card follows.
        kind: the format.
        values: what the format's instructions name.
        quantization: of the matrices.
        version: of attendo.
    """
    description = model.description
    languages = f"{description.source_language or 'source'} to {description.target_language or 'target'}"
    use = _USE[kind]
    for name, value in values.items():
        use = use.replace(f"{{{name}}}", value)
    own = (model.folder / CARD).read_text(encoding="utf-8") if (model.folder / CARD).is_file() else ""
    return f"""# {languages}, for {kind}

A Transformer written by attendo {version} in {quantization}, with the same log-probabilities and greedy outputs as
there; its own card follows below.

## Use

{use}

## The model

{own.strip()}
"""
