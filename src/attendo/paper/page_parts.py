"""Parts that the pages of several results have: what is left to do, the runs, how to repeat it."""

from collections.abc import Iterable, Sequence

from attendo.paper.experiment import Order
from attendo.paper.report import Paragraph, Section, Shell
from attendo.paper.run_results import RunFacts, RunResult
from attendo.recipe import Recipe


def each(texts: Iterable[object]) -> str:
    """What some things have, told once where it is the same."""
    return "; ".join(dict.fromkeys(map(str, texts)))


def corpora_of(recipe: Recipe) -> str:
    """The names of a recipe's corpora."""
    return ", ".join(corpus.name for corpus in recipe.data.corpora) if recipe.data else ""


def seeds_of(order: Order) -> str:
    """How many seeds, in words."""
    return f"{order.seeds} {'seed' if order.seeds == 1 else 'seeds'}"


def still_open(done: int, num_runs: int, failures: Sequence[str]) -> list[str]:
    """Paragraphs on what a study lacks: runs that are not done, and those that failed."""
    parts = []
    if done < num_runs:
        parts.append(f"This is a study in progress: {done} of {num_runs} runs are done.")
    return [*parts, *(f"Failed: {failure}" for failure in failures)]


def versions_of(results: Iterable[RunFacts]) -> str:
    """The software that runs were made with."""
    return each(", ".join(f"{name} {version}" for name, version in result.versions.items()) for result in results)


def signatures_of(results: Iterable[RunResult]) -> str:
    """By which of sacreBLEU's settings runs were validated."""
    return each(result.bleu_signature for result in results)


def how_to_repeat(order: Order, results: Sequence[RunResult], bleu: str) -> Section:
    """The command, and what it was done with.

    Args:
        order: how the study is wanted.
        results: of its runs; none where it has none yet.
        bleu: a sentence on whose BLEU it is.
    """
    if not results:
        return Section(title="How to repeat it", blocks=(Shell(lines=(order.command,)),))
    return Section(
        title="How to repeat it",
        blocks=(
            Shell(lines=(order.command,)),
            Paragraph(text=bleu),
            Paragraph(text=f"Versions: {versions_of(results)}"),
        ),
    )


def run_cells(result: RunResult) -> tuple[str, ...]:
    """Seed, perplexity, BLEU and minutes."""
    return str(result.seed), f"{result.perplexity:.3f}", f"{result.bleu:.2f}", f"{result.seconds / 60:.1f}"
