"""Recipes of half a second each, that between them have all that a run's state has to hold; and their corpus."""

import random
from pathlib import Path

MARK = "four"
"""A word of one pair alone, of the recipe `marked`."""
WORDS = {"one": "ba", "two": "bado", "three": "lodi", MARK: "fu"}
MARKED_LINE = 57
"""Where that pair is, from 1."""

_FRAME = """
[data]
source_language = "en"
target_language = "xx"
cleaning.drop_duplicates = false
corpora = [{name = "counted", source = "source.txt", target = "target.txt"}]
valid = {source = "valid.source.txt", target = "valid.target.txt"}
[tokenizer]
vocab_size = 280
%s
[model]
d_model = 16
d_ff = 32
num_layers = 1
num_heads = 2
[search]
beam_size = 2
[training]
max_tokens = 200
warmup_steps = 3
average_last = 3
threads = 1
device = "cpu"
%s
"""

_PLAIN = """
max_steps = 28
peak_learning_rate = 0.01
checkpoint_steps = 4
eval_steps = 4
patience = 2
log_steps = 3
"""

_REWRITTEN = """
max_steps = 21
peak_learning_rate = 0.06
weight_decay = 0.01
checkpoint_steps = 3
eval_steps = 7
patience = 4
log_steps = 4
augmentation = {joined = 0.3, typos = 0.1, casing = 0.2}
"""

_IN_PIECES = """
max_steps = 18
dtype = "bfloat16"
max_tokens_at_once = 100
max_gradient_norm = 1.0
cooldown_steps = 8
peak_learning_rate = 0.1
checkpoint_steps = 3
eval_steps = 5
eval_bleu = false
log_steps = 4
"""

_BY_TIME = """
max_steps = 21
peak_learning_rate = 0.05
checkpoint_minutes = 0.0005
eval_steps = 7
average_last = 1
log_steps = 2
"""

_LARGE = """
[data]
source_language = "en"
target_language = "xx"
cleaning = {drop_duplicates = false, max_tokens = 1000}
corpora = [{name = "long", source = "long.source.txt", target = "long.target.txt"}]
[tokenizer]
vocab_size = 280
[model]
d_model = 64
d_ff = 2048
num_layers = 1
num_heads = 2
dropout = 0.0
[training]
max_steps = 3
max_tokens = 20000
peak_learning_rate = 0.001
warmup_steps = 2
checkpoint_steps = 2
eval_steps = "none"
log_steps = 1
threads = 1
device = "cpu"
"""

RECIPES = {
    "plain": _FRAME % ("", _PLAIN),
    "rewritten": _FRAME % ("bpe_dropout = 0.1", _REWRITTEN),
    "pieces": _FRAME % ("", _IN_PIECES),
    "sharded": _FRAME % ("", _PLAIN + 'sharding = "full"\n'),
    "marked": _FRAME.replace('= "source', '= "marked.source').replace('= "target', '= "marked.target') % ("", _PLAIN),
    "large": _LARGE,
    "time": _FRAME.replace("average_last = 3\n", "") % ("", _BY_TIME),
}
"""`plain`: BLEU, and an end by patience; `rewritten`: augmentation and BPE-dropout, validation at other steps than
checkpoints; `pieces`: bfloat16, accumulation and perplexity; `sharded`: FSDP2, of several processes; `marked`: has a
word for `faults`; `large`: its updates take some hundred MB; `time`: checkpoints whenever 30 ms have passed."""


def write_recipes(folder: Path) -> None:
    """Writes all of them, `NAME.toml`, and their corpus: a language of three words of unequal frequency.

    BLEU is above 0 as soon as the model knows the most frequent one.
    """
    rng = random.Random(1)
    lines = [rng.choices(list(WORDS), weights=(7, 2, 1, 0), k=rng.randint(4, 9)) for _ in range(200)]
    marked = [[*line, MARK] if number == MARKED_LINE else line for number, line in enumerate(lines, start=1)]
    for prefix, chosen in (("", lines), ("marked.", marked), ("valid.", lines[::5])):
        source = "".join(f"{' '.join(line)}.\n" for line in chosen)
        target = "".join(f"{' '.join(WORDS[word] for word in line)}.\n" for line in chosen)
        (folder / f"{prefix}source.txt").write_text(source, encoding="utf-8")
        (folder / f"{prefix}target.txt").write_text(target, encoding="utf-8")
    long = [rng.choices(list(WORDS), weights=(7, 2, 1, 0), k=rng.randint(60, 90)) for _ in range(400)]
    for side, of in (("source", str), ("target", WORDS.__getitem__)):
        text = "".join(f"{' '.join(of(word) for word in line)}.\n" for line in long)
        (folder / f"long.{side}.txt").write_text(text, encoding="utf-8")
    for name, recipe in RECIPES.items():
        (folder / f"{name}.toml").write_text(recipe, encoding="utf-8")
