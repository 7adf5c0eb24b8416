"""Decoding on several variants of the kernels, by turns in one run, beside CTranslate2 and Hugging Face if wanted.

    python benchmarks/kernel_variants.py avx512bf16 avx512amx [--dtypes int8 bfloat16] [--peers] [--threads N]

The paper's base model with random weights translates random sentences of 25 tokens. For each setting the table has
every system's median of sentences a second, and the medians over the turns of its ratio to the first variant: of
sentences a second, and of sentences a second of processor time, which other programs disturb less. Beside them stands
the share of sentences that have the very tokens of the first variant.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from attendo.bench.compare import agreement, make_settings
from attendo.bench.decode import paper_work
from attendo.bench.peers import ctranslate2_systems, huggingface_systems, missing_peers
from attendo.bench.systems import AttendoSystem, System
from attendo.bench.work import Sentence, Work, take
from attendo.decoding.backends.native_model import Dtype, NativeModel
from attendo.native.library import VARIANTS, Kernels, available_kernels

CPU = torch.device("cpu")


@dataclass
class Turns:
    """What one system did with one setting, turn by turn."""

    wall_s: list[float] = field(default_factory=list)
    processor_s: list[float] = field(default_factory=list)
    ids: list[Sentence] = field(default_factory=list)

    def translate(self, system: System, sources: Sequence[Sentence], *, beam: int, batch: int) -> None:
        """Adds a turn."""
        started = time.process_time()
        timed = system.translate(sources, beam=beam, batch=batch)
        self.processor_s.append(time.process_time() - started)
        self.wall_s.append(timed.seconds)
        self.ids = timed.ids


def make_systems(work: Work, kernels: Sequence[Kernels], dtype: Dtype, *, threads: int, peers: bool) -> list[System]:
    """The variants in their order, then the peers that are installed and have the type."""
    systems: list[System] = []
    for variant in kernels:
        model = NativeModel(work.model, dtype=dtype, kernels=variant)
        systems.append(AttendoSystem(work, dtype, threads=threads, device=CPU, model=model))
    missing = missing_peers(["ctranslate2", "huggingface"])
    if peers and "ctranslate2" not in missing:
        systems += ctranslate2_systems(work, dtype, threads=threads, device=CPU)
    if peers and "huggingface" not in missing:
        systems += huggingface_systems(work, dtype, threads=threads, device=CPU)
    return systems


def print_rows(systems: Sequence[System], turns: Sequence[Turns], *, sentences: int, batch: int, label: str) -> None:
    for system, own in zip(systems, turns, strict=True):
        wall, processor = (
            statistics.median(first / each for first, each in zip(firsts, its, strict=True))
            for firsts, its in ((turns[0].wall_s, own.wall_s), (turns[0].processor_s, own.processor_s))
        )
        print(
            f"{label:22} {system.name:12} {system.kernel:27} {system.layout(sentences, batch):4} "
            f"{sentences / statistics.median(own.wall_s):8.1f}/s {wall:6.2f}x {processor:6.2f}x of processor time "
            f"{agreement(own.ids, turns[0].ids):6.0%} the same",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="+", choices=VARIANTS)
    parser.add_argument("--dtypes", nargs="+", default=["int8", "bfloat16"], choices=["float32", "bfloat16", "int8"])
    parser.add_argument("--beams", nargs="+", type=int, default=[1, 4])
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 32, 128])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--peers", action="store_true", help="CTranslate2 and Hugging Face too, if installed")
    options = parser.parse_args()
    found = {kernels.variant: kernels for kernels in available_kernels()}
    if missing := [name for name in options.variants if name not in found]:
        print(f"this processor or this build does not have {', '.join(missing)}", file=sys.stderr)
        return 1
    work = paper_work(length=25, sentences=options.threads * max(options.batches))
    settings = make_settings(options.beams, options.batches, threads=options.threads)
    for dtype in options.dtypes:
        kernels = [found[name] for name in options.variants]
        systems = make_systems(work, kernels, dtype, threads=options.threads, peers=options.peers)
        for setting in settings:
            sources, turns = take(work, setting.sentences), [Turns() for _ in systems]
            for system in systems:
                system.translate(sources[: min(len(sources), 32)], beam=setting.beam, batch=setting.batch)
            for repetition in range(options.repetitions):
                for number in range(len(systems)):
                    place = (repetition + number) % len(systems)
                    turns[place].translate(systems[place], sources, beam=setting.beam, batch=setting.batch)
            label = f"{dtype} beam {setting.beam} of {setting.batch}"
            print_rows(systems, turns, sentences=setting.sentences, batch=setting.batch, label=label)
    return 0


if __name__ == "__main__":
    sys.exit(main())
