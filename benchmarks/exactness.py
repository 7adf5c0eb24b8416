"""Whether every way to decode says the same: tokens and scores against the plainest one, and BLEU of all files.

    python benchmarks/exactness.py MODEL --source A.en B.en --reference A.de B.de [--beam-size 4] [--lines N] [--json]

The plainest way is torch in float32 with every position computed anew at each step. Beside it: the native kernels and
plain torch in float32, bfloat16 and int8. Ends with 1 if a float32 way has other tokens, or scores
that differ by more than 1e-4, or if int8 on the native kernels is not the same to the bit in another batch.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import torch

from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.backends.models import decoding_model
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.backends.steps import RecomputingStep
from attendo.decoding.backends.torch_model import TorchModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules, length_bounds
from attendo.decoding.parallel import IdSearch
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.step import Step
from attendo.evaluation.scores import corpus_bleu
from attendo.model.batch import pad_source
from attendo.native.library import describe

LARGEST_DIFFERENCE = 1e-4


class Recomputing(TorchModel):
    """Every position computed anew at each step."""

    def step(self, sources: Sequence[Sequence[int]], *, threads: int = 1) -> Step:
        return RecomputingStep(self.transformer, *pad_source(sources))


@dataclass(frozen=True, kw_only=True)
class Row:
    """One way to decode, beside the plainest."""

    way: str
    kernel: str
    other_tokens: int
    """Sentences with other tokens."""
    largest_difference: float
    """Of scores, where the tokens are the same."""
    bleu: float
    seconds: float


def main() -> int:
    args = parse_arguments()
    folder = find_model(args.model)
    sources = [line for path in args.source for line in read(path, args.lines)]
    references = [line for path in args.reference for line in read(path, args.lines)]
    assert len(sources) == len(references), "a reference line for each source line"
    print(f"{len(sources):,} lines, beam {args.beam_size}; kernels: {describe()}", file=sys.stderr)

    def decode(
        dtype: Dtype, *, native: bool, order: Sequence[int] | None = None
    ) -> tuple[str, list[Hypothesis], float]:
        return run(load_model(folder), sources, args, dtype=dtype, native=native, order=order)

    _, plainest, seconds = run(load_model(folder), sources, args, dtype="float32", native=False, recomputing=True)
    text = load_model(folder).target_tokenizer
    rows = [Row(way="float32, nothing kept", kernel="torch float32", other_tokens=0, largest_difference=0.0,
                bleu=bleu(text.decode, plainest, references), seconds=seconds)]  # fmt: skip
    dtypes: tuple[Dtype, ...] = ("float32", "bfloat16", "int8")
    for dtype, native in product(dtypes, (True, False)):
        kernel, found, seconds = decode(dtype, native=native)
        same = [(one, other) for one, other in zip(found, plainest, strict=True) if one.ids == other.ids]
        rows.append(Row(
            way=f"{dtype}, {'native' if native else 'torch'}", kernel=kernel,
            other_tokens=len(found) - len(same),
            largest_difference=max((abs(one.score - other.score) for one, other in same), default=0.0),
            bleu=bleu(text.decode, found, references), seconds=seconds,
        ))  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
        if (dtype, native) == ("int8", True):
            order = list(range(len(sources)))
            random.Random(1).shuffle(order)
            _, shuffled, _ = decode(dtype, native=native, order=order)
            moved = sum(one != other for one, other in zip(found, shuffled, strict=True))
    report(rows, moved, as_json=args.json)
    exact = all(
        row.other_tokens == 0 and row.largest_difference <= LARGEST_DIFFERENCE
        for row in rows
        if row.way.startswith("float32")
    )
    return 0 if exact and not moved else 1


def run(
    loaded: LoadedModel,
    sources: Sequence[str],
    args: argparse.Namespace,
    *,
    dtype: Dtype,
    native: bool,
    recomputing: bool = False,
    order: Sequence[int] | None = None,
) -> tuple[str, list[Hypothesis], float]:
    """The kernel's name, the best hypothesis of each line in the lines' order, and the seconds it took."""
    order = range(len(sources)) if order is None else order
    model = (
        Recomputing(loaded.transformer)
        if recomputing
        else decoding_model(loaded.transformer, dtype=dtype, native=native)
    )
    # Another order comes with another size, so that every sentence has other neighbours.
    batch = 64 if order == range(len(sources)) else 37
    config = SearchConfig(beam_size=args.beam_size, max_batch_sentences=batch)
    ids = loaded.source_tokenizer.encode_batch([sources[i] for i in order])
    rules = [Rules(max_len=length_bounds(config, len(each) - 1)[1]) for each in ids]
    started = time.perf_counter()
    found = IdSearch([model], config, threads=args.threads).search(ids, rules)
    seconds = time.perf_counter() - started
    in_order = dict(zip(order, (each[0] for each in found), strict=True))
    return model.kernel, [in_order[i] for i in range(len(sources))], seconds


def bleu(decode: Callable[[Sequence[int]], str], found: Sequence[Hypothesis], references: Sequence[str]) -> float:
    return corpus_bleu([decode(each.ids) for each in found], references, target_language="de").score


def report(rows: Sequence[Row], moved: int, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "int8_lines_that_depend_on_their_batch": moved}))
        return
    print(f"{'':24}{'other tokens':>14}{'scores by':>12}{'BLEU':>8}{'seconds':>9}  runs on")
    for row in rows:
        print(
            f"{row.way:24}{row.other_tokens:14,}{row.largest_difference:12.1e}{row.bleu:8.2f}{row.seconds:9.1f}"
            f"  {row.kernel}"
        )
    print(f"int8, native, shuffled in batches of another size: {moved} lines differ in a bit")


def read(path: Path, lines: int | None) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1][:lines]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--source", type=Path, nargs="+", required=True)
    parser.add_argument("--reference", type=Path, nargs="+", required=True)
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--lines", type=int, default=None, help="of each file")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
