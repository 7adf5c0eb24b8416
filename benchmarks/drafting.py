"""Greedy decoding of one sentence at a time, with a model's drafter and without: time, tokens a step, the same output.

    python benchmarks/drafting.py MODEL FILE... [--dtypes int8 float32] [--lines 500] [--repeats 5] [--json FILE]

MODEL has a drafter (docs/drafting.md). Each line is translated alone, on one thread, with and without it by turns, so
that a busy machine meets both. Every line's translations are compared: ids, log-probabilities and all. Two times are
told: of the whole, from text to text, and of the search alone, from ids to ids. Ratios are of a repetition's total
times, their median with the smallest and the largest.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.backends.models import DecodingModel, decoding_model
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.lines.translator import Translator
from attendo.decoding.searches.blockwise import blockwise_search
from attendo.decoding.searches.greedy import greedy_search
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.step import can_draft
from attendo.text.subwords.tokenization import EOS_ID

GREEDY = SearchConfig(beam_size=1, max_batch_sentences=1)
PLAIN = SearchConfig(beam_size=1, max_batch_sentences=1, draft=False)


def main() -> None:
    """Measures all and prints a row each."""
    arguments = parse_arguments()
    torch.set_num_threads(1)
    rows = []
    for dtype in arguments.dtypes:
        loaded = load_model(find_model(arguments.model))
        model = decoding_model(loaded.transformer, dtype=dtype, device=torch.device(arguments.device))
        for path in arguments.files:
            lines = path.read_text(encoding="utf-8").splitlines()[: arguments.lines]
            row = {
                "file": path.name,
                "dtype": dtype,
                "kernel": model.kernel,
                **measured(loaded, model, lines, arguments),
            }
            rows.append(row)
            print(told(row), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"model": arguments.model, "rows": rows}, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--dtypes", nargs="+", default=["int8", "float32"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def measured(
    loaded: LoadedModel, model: DecodingModel, lines: Sequence[str], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Times and counts of one file."""
    sources = loaded.source_tokenizer.encode_batch(lines)
    rules = [Rules(max_len=len(source) + GREEDY.max_len_offset) for source in sources]
    steps = 0

    def greedily() -> list[Hypothesis]:
        return [
            greedy_search(model.step([source]), [rule], eos_id=EOS_ID, config=GREEDY)[0][0]
            for source, rule in zip(sources, rules, strict=True)
        ]

    def in_blocks() -> list[Hypothesis]:
        nonlocal steps
        steps, found = 0, []
        for source, rule in zip(sources, rules, strict=True):
            step = model.step([source])
            assert can_draft(step)
            drafted = blockwise_search(step, rule, eos_id=EOS_ID, config=GREEDY)
            steps += drafted.steps
            found.append(drafted.hypothesis)
        return found

    with model.at_work():
        search_ratios, search_times, hypotheses = by_turns(greedily, in_blocks, arguments.repeats)
    plain, drafting = (
        Translator([model], loaded.source_tokenizer, loaded.target_tokenizer, config) for config in (PLAIN, GREEDY)
    )
    whole_ratios, whole_times, translations = by_turns(
        lambda: [plain.translate([line])[0] for line in lines],
        lambda: [drafting.translate([line])[0] for line in lines],
        arguments.repeats,
    )
    tokens = sum(len(each.token_log_probs) for each in hypotheses[0])
    return {
        "lines": len(lines),
        "same_hypotheses": sum(one == other for one, other in zip(*hypotheses, strict=True)),
        "same_ids": sum(one.ids == other.ids for one, other in zip(*hypotheses, strict=True)),
        "same_translations": sum(one.text == other.text for one, other in zip(*translations, strict=True)),
        "tokens_a_line": tokens / len(lines),
        "tokens_a_step": tokens / steps,
        "search_ms": [1e3 * statistics.median(each) / len(lines) for each in search_times],
        "search_ratios": search_ratios,
        "whole_ms": [1e3 * statistics.median(each) / len(lines) for each in whole_times],
        "whole_ratios": whole_ratios,
    }


def by_turns(
    plain: Callable[[], list[Any]], drafted: Callable[[], list[Any]], repeats: int
) -> tuple[list[float], tuple[list[float], list[float]], tuple[list[Any], list[Any]]]:
    """Ratios of times, the times in seconds, and the results; the first time, which warms up, does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    found: list[list[Any]] = [[], []]
    for _ in range(repeats + 1):
        for which, work in enumerate((plain, drafted)):
            start = time.perf_counter()
            found[which] = work()
            times[which].append(time.perf_counter() - start)
    for each in times:
        del each[0]
    return [one / other for one, other in zip(*times, strict=True)], times, (found[0], found[1])


def told(row: dict[str, Any]) -> str:
    """A row in a line."""

    def ratio(ratios: Sequence[float]) -> str:
        return f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})"

    search, whole = row["search_ms"], row["whole_ms"]
    return (
        f"{row['file']}, {row['dtype']}: {row['tokens_a_step']:.2f} tokens a step; "
        f"search {search[0]:.2f} ms a line, drafted {search[1]:.2f}, {ratio(row['search_ratios'])}; "
        f"text to text {whole[0]:.2f}, drafted {whole[1]:.2f}, {ratio(row['whole_ratios'])}; "
        f"the same: {row['same_hypotheses']} hypotheses, {row['same_ids']} lines of ids, "
        f"{row['same_translations']} translations of {row['lines']}"
    )


if __name__ == "__main__":
    main()
