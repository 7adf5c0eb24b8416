"""Trees of a small language of our own, and parsers that learn it in seconds."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attendo.checkpoint.weights import named_weights
from attendo.cli.main import run
from attendo.parsing.tree import Tree
from attendo.recipe import load_recipe
from attendo.workflow.preparation.prepare import prepare
from attendo.workflow.runs.model_folder import write_model
from attendo.workflow.runs.run_model import build_model

_WORDS = {
    "DT": ("the", "a", "this"),
    "JJ": ("old", "red", "small"),
    "NN": ("dog", "cat", "man", "bird", "king", "house"),
    "PRP": ("she", "he", "it"),
    "VBZ": ("sees", "likes", "hears"),
    "VBD": ("slept", "left"),
    "MD": ("ca", "wo"),
    "RB": ("n't",),
    "VB": ("sleep", "leave"),
    "VBP": ("think", "know"),
    "NNS": ("dogs", "men"),
    "IN": ("with", "in", "near"),
}

PUNCTUATION = {",", ":", "``", "''", "."}
"""The tags of words that EVALB leaves out by COLLINS.prm."""

RECIPE = """
task = "parse"
[data]
source_language = "en"
target_language = "trees"
[[data.corpora]]
name = "mine"
trees = "train.mrg"
[data.valid]
trees = "valid.mrg"
[tokenizer]
vocab_size = 300
character_coverage = 1.0
joint = false
target_symbols = true
[model]
d_model = 48
d_ff = 96
num_layers = 1
num_heads = 4
dropout = 0.0
shared_embeddings = "target"
next_word = true
[training]
max_steps = {steps}
max_tokens = 800
peak_learning_rate = 5e-3
warmup_steps = {warmup}
cooldown_steps = {cooldown}
label_smoothing = 0.0
checkpoint_steps = 1000
average_last = 1
eval_steps = 1000
eval_bleu = false
threads = 1
[search]
beam_size = 4
length_penalty = 0.0
max_len_offset = 60
[parsing]
"""


def trees(number: int, seed: int) -> list[Tree]:
    """Sentences of three to some twenty words, with clauses in clauses, a contraction and brackets."""
    generator = random.Random(seed)
    return [_sentence(generator) for _ in range(number)]


def brackets(tree: Tree) -> Counter[tuple[str, tuple[int, ...]]]:
    """Constituents as EVALB counts them: labels with the numbers of their words that are no punctuation.

    Labels here have no functions, and none of those that EVALB takes for the same.
    """
    numbered = [number for number, tag in enumerate(tree.tags) if tag not in PUNCTUATION]
    spans = ((span.label, tuple(n for n in numbered if span.start <= n < span.end)) for span in tree.spans)
    return Counter((label, words) for label, words in spans if words)


def train_parser(folder: Path, steps: int = 160) -> Path:
    """Trains a parser on 300 trees, in-order; gives its model folder.

    Args:
        folder: to work in.
        steps: of training.
    """
    recipe = _write_recipe(folder, 'order = "in-order"', steps)
    with pytest.MonkeyPatch.context() as patch:  # curves take longer than all else
        patch.setattr("attendo.workflow.runs.train.draw_curves", lambda *paths: None)
        status = run(["train", str(recipe), "-o", str(folder / "run"), "--prepared", str(folder / "prepared")])
    assert status == 0
    return folder / "run" / "model"


def random_parser(folder: Path, parsing: str, seed: int = 1, told: Sequence[str] = ("next_word",)) -> Path:
    """Prepares the same trees for a parser that has learned nothing; gives its model folder.

    Args:
        folder: to work in.
        parsing: the recipe's section.
        seed: of the weights.
        told: what the decoder is told, as the section `model` of recipes names it.
    """
    recipe = load_recipe(str(_write_recipe(folder, parsing, steps=10)))
    model = replace(recipe.model, next_word="next_word" in told, parser_stack="parser_stack" in told)
    recipe = replace(recipe, model=model)
    assert recipe.data is not None
    prepared = prepare(recipe.data, recipe.tokenizer, folder / "prepared", base_folder=folder, parsing=recipe.parsing)
    torch.manual_seed(seed)
    write_model(folder / "model", recipe, prepared, named_weights(build_model(recipe, prepared)), {})
    return folder / "model"


def _write_recipe(folder: Path, parsing: str, steps: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, number, seed in (("train", 300, 1), ("valid", 20, 2)):
        (folder / f"{name}.mrg").write_text("".join(f"( {tree} )\n" for tree in trees(number, seed)))
    recipe = folder / "parser.toml"
    recipe.write_text(RECIPE.format(steps=steps, warmup=steps // 5, cooldown=steps // 2) + parsing + "\n")
    return recipe


def _word(tag: str, generator: random.Random) -> Tree:
    return Tree(tag, word=generator.choice(_WORDS[tag]))


def _noun_phrase(generator: random.Random, depth: int) -> Tree:
    kind = generator.random()
    if kind < 0.25:
        return Tree("NP", (_word("PRP", generator),))
    adjective = (_word("JJ", generator),) if kind < 0.5 else ()
    phrase = Tree("NP", (_word("DT", generator), *adjective, _word("NN", generator)))
    if kind > 0.8 and depth < 2:
        place = Tree("PP", (_word("IN", generator), _noun_phrase(generator, depth + 1)))
        return Tree("NP", (phrase, place))
    return phrase


def _clause(generator: random.Random, depth: int) -> tuple[Tree, ...]:
    """A subject and its verb phrase."""
    kind = generator.random()
    if kind < 0.25 and depth < 2:
        inner = Tree("SBAR", (Tree("S", _clause(generator, depth + 1)),))
        verb = Tree("VP", (_word("VBP", generator), inner))
        return Tree("NP", (_word("NNS", generator),)), verb
    if kind < 0.4:
        can = (_word("MD", generator), _word("RB", generator), Tree("VP", (_word("VB", generator),)))
        return _noun_phrase(generator, depth), Tree("VP", can)
    if kind < 0.6:
        return _noun_phrase(generator, depth), Tree("VP", (_word("VBD", generator),))
    seen = _word("VBZ", generator), _noun_phrase(generator, depth)
    return _noun_phrase(generator, depth), Tree("VP", seen)


def _sentence(generator: random.Random) -> Tree:
    clause = _clause(generator, 0)
    if generator.random() < 0.2:
        aside = Tree("-LRB-", word="-LRB-"), _noun_phrase(generator, 1), Tree("-RRB-", word="-RRB-")
        clause = (*clause, Tree("PRN", aside))
    return Tree("S", (*clause, Tree(".", word=generator.choice(".?"))))
