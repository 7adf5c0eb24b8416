"""Checkpoints as OPUS-MT models come, made with transformers and SentencePiece themselves."""

import json
import random
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import sentencepiece
import torch


@dataclass(frozen=True)
class Opus:
    """What a checkpoint is to be like."""

    pad: str = "zero"
    """`zero`, or `weights` for a padding token whose embedding is not zero."""
    tied: str = "all"
    """`all`, `target` or `none`: which embeddings are one."""
    activation: str = "swish"
    first: tuple[str, ...] = ("</s>", "<unk>")
    """The tokens of the first ids."""
    unnumbered: int = 0
    """Pieces of the source's file that vocab.json does not have."""
    bias: bool = True
    """Whether final_logits_bias has weights."""
    steps: int = 0
    """Of training."""
    file: str = "pytorch_model.bin"


def write_opus(folder: Path, pairs: tuple[tuple[str, str], ...], opus: Opus) -> Any:
    """Writes the checkpoint and gives the `MarianMTModel` in it."""
    import transformers

    folder.mkdir(parents=True, exist_ok=True)
    sides = [
        _spm(folder / f"{name}.spm", [pair[side] for pair in pairs]) for side, name in enumerate(("source", "target"))
    ]
    pieces = sorted({piece for side in sides for piece in side} - {"<unk>", "<s>", "</s>"})
    random.Random(1).shuffle(pieces)
    left_out = {piece for piece in sides[0] if len(piece) > 2}
    dropped = sorted(left_out - set(sides[1]))[: opus.unnumbered]
    assert len(dropped) == opus.unnumbered
    names = [*opus.first, *(piece for piece in pieces if piece not in dropped), "<pad>"]
    vocabulary = {name: number for number, name in enumerate(names)}
    pad = vocabulary["<pad>"]
    torch.manual_seed(1)
    config = transformers.MarianConfig(
        vocab_size=len(names),
        d_model=16,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        activation_function=opus.activation,
        max_position_embeddings=128,
        scale_embedding=True,
        share_encoder_decoder_embeddings=opus.tied == "all",
        tie_word_embeddings=opus.tied != "none",
        pad_token_id=pad,
        eos_token_id=vocabulary["</s>"],
        forced_eos_token_id=vocabulary["</s>"],
        decoder_start_token_id=pad,
        static_position_embeddings=True,
        normalize_before=False,
    )
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.5 * torch.randn_like(parameter)
        if opus.bias:
            model.final_logits_bias.normal_(std=0.1)
        for name in ("encoder", "decoder"):
            stack = getattr(model.model, name)
            stack.embed_positions.weight.copy_(stack.embed_positions.create_weight())
            stack.embed_tokens.weight[pad] = 1.0 if opus.pad == "weights" else 0.0
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "xx"}', encoding="utf-8")
    if opus.steps:
        _train(model, folder, pairs, opus.steps)
    weights = model.state_dict()
    if opus.file == "pytorch_model.bin":
        torch.save(weights, folder / opus.file)
    else:
        model.save_pretrained(folder)
    config.save_pretrained(folder)
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(settings | {"num_beams": 6}), encoding="utf-8")
    return model


def _spm(path: Path, sentences: list[str]) -> list[str]:
    """Learns a unigram model with SentencePiece's defaults, as OPUS-MT does, and gives its pieces."""
    written = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=written,
        vocab_size=200,
        character_coverage=1.0,
        model_type="unigram",
        num_threads=1,
        minloglevel=2,
    )
    path.write_bytes(written.getvalue())
    processor = sentencepiece.SentencePieceProcessor()
    processor.load_from_serialized_proto(written.getvalue())
    return [processor.id_to_piece(number) for number in range(len(processor))]


def _train(model: Any, folder: Path, pairs: tuple[tuple[str, str], ...], steps: int) -> None:
    """Trains it a little with its own loss, so that its probabilities are sharp."""
    import transformers

    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    batch = tokenizer(
        [pair[0] for pair in pairs[:64]],
        text_target=[pair[1] for pair in pairs[:64]],
        padding=True,
        return_tensors="pt",
    )
    batch["labels"][batch["labels"] == tokenizer.pad_token_id] = -100
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()
        with torch.no_grad():  # Marian itself has no such token
            model.model.shared.weight[tokenizer.pad_token_id] = 0.0
