"""How much faster decoding is with its key-value cache than without, as a ratio in one run.

    python benchmarks/decode_cache.py [--d-model 256 --num-layers 3 --vocab-size 10000] [--beam-size 4] [--json]

Both ways go through the same search over the same random weights and sentences, by turns, so that a machine that slows
down slows both. Every translation is made as long as its source: the work is the same whatever the weights say.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from attendo.decoding.backends.steps import RecomputingStep, TransformerStep
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.searches.search import search
from attendo.decoding.step import Step
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

MakeStep = Callable[[Transformer, Tensor, Tensor | None], Step]


def main() -> None:
    args = parse_arguments()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    shape = ModelConfig(
        d_model=args.d_model, d_ff=4 * args.d_model, num_layers=args.num_layers, num_heads=4, output_bias=True
    )
    model = Transformer(shape, args.vocab_size, args.vocab_size).eval()
    assert model.output_bias is not None
    with torch.no_grad():
        model.output_bias[0] = -1000.0  # `</s>` comes only where the length limit puts it
    rows = []
    for length in args.lengths:
        src_ids = torch.randint(2, args.vocab_size, (args.batch, length + 1))
        src_ids[:, -1] = 0
        rows.append(compare(model, src_ids, SearchConfig(beam_size=args.beam_size), args.repeats))
        if not args.json:
            print(
                "length {length}: cached {cached:.1f} sentences/s, uncached {uncached:.1f}, ratio {ratio:.1f}, "
                "same tokens {same:.0%}".format(**rows[-1]),
                flush=True,
            )
    if args.json:
        print(json.dumps({"rows": rows}))


def compare(model: Transformer, src_ids: Tensor, config: SearchConfig, repeats: int) -> dict[str, float]:
    steps: dict[str, MakeStep] = {"cached": TransformerStep, "uncached": RecomputingStep}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    found: dict[str, list[list[Hypothesis]]] = {}
    for repeat in range(repeats + 1):
        for name, make_step in steps.items():
            started = time.perf_counter()
            rules = [Rules(max_len=src_ids.shape[1] - 1)] * len(src_ids)
            found[name] = search(make_step(model, src_ids, None), rules, eos_id=0, config=config)
            if repeat:  # the first round warms up
                seconds[name].append(time.perf_counter() - started)
    same = [one[0].ids == other[0].ids for one, other in zip(found["cached"], found["uncached"], strict=True)]
    cached, uncached = (len(src_ids) / statistics.median(seconds[name]) for name in ("cached", "uncached"))
    return {
        "length": src_ids.shape[1] - 1,
        "cached": cached,
        "uncached": uncached,
        "ratio": cached / uncached,
        "same": statistics.mean(same),
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--d-model", type=int, default=256)
    parser.add_argument("--num-layers", type=int, default=3)
    parser.add_argument("--vocab-size", type=int, default=10_000)
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lengths", type=int, nargs="+", default=[12, 25, 50])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
