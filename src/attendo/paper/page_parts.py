"""Parts that the pages of several results have: what is left to do, the runs, how to repeat it."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

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


def budget_of(recipe: Recipe) -> str:
    """How long a recipe trains and how large its batches are."""
    return f"{recipe.training.max_steps:,} updates of up to {recipe.training.max_tokens:,} tokens a side"


def seeds_of(order: Order) -> str:
    """How many seeds, in words."""
    return f"{order.seeds} {'seed' if order.seeds == 1 else 'seeds'}"


def scale_note(order: Order, subject: str) -> tuple[str, ...]:
    """What the scale `tiny` is worth; nothing at the other scales.

    Args:
        order: how the study is wanted.
        subject: what so little training says nothing about.
    """
    if order.scale != "tiny":
        return ()
    return (f"This scale shows that the study works. So little training says nothing about {subject}.",)


def still_open(done: int, num_runs: int, failures: Sequence[str]) -> list[str]:
    """Paragraphs on what a study lacks: runs that are not done, and those that failed."""
    parts = []
    if done < num_runs:
        parts.append(f"This study is in progress: {done} of {num_runs} runs are done.")
    return [*parts, *(f"Failed: {failure}" for failure in failures)]


def result_key(name: str) -> str:
    """The key in `result.json` of what a result is called: tables have had one of their own from the beginning."""
    return "table" if name.startswith("table") else "result"


def head_data(order: Order, name: str) -> dict[str, Any]:
    """The head of `result.json`: what it is of, the scale and the command.

    Args:
        order: how the study is wanted.
        name: of the study, as the command has it.
    """
    return {result_key(name): name, "scale": order.scale, "command": order.command}


def order_values(order: Order, recipe: Recipe) -> dict[str, str]:
    """What the texts of pages call `$scale`, `$seeds`, `$corpora` and `$budget`.

    Args:
        order: how the study is wanted.
        recipe: of what is trained.
    """
    return {
        "scale": order.scale,
        "seeds": seeds_of(order),
        "corpora": corpora_of(recipe),
        "budget": budget_of(recipe),
    }


def totals(results: Sequence[RunFacts]) -> dict[str, str]:
    """What all runs took together, by the names that the texts of pages have for it."""
    seconds = sum(result.seconds for result in results)
    return {
        "num_runs": str(len(results)),
        "hours": f"{seconds / 3600:.2f}",
        "minutes": f"{seconds / 60:.1f}",
        "tokens": f"{sum(result.target_tokens for result in results):,}",
        "flops": f"{sum(result.flops for result in results):.2e}",
        "threads": each(result.threads for result in results),
        "parameters": each(f"{result.parameters:,}" for result in results),
        "machine": each(result.machine for result in results),
    }


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
    blocks: list[Shell | Paragraph] = [Shell(lines=(order.command,))]
    if results:
        blocks += [Paragraph(text=bleu), Paragraph(text=f"Versions: {versions_of(results)}")]
    return Section(title="How to repeat it", blocks=tuple(blocks))


def means(results: Iterable[RunFacts]) -> list[dict[str, object]]:
    """Of each row its name, the number of its runs, and by the fields of runs what these have on average.

    Args:
        results: of all rows; the rows are in the order in which they come first.
    """
    rows: dict[str, list[RunFacts]] = {}
    for result in results:
        rows.setdefault(result.row, []).append(result)
    return [
        {
            "row": row,
            "runs": len(runs),
            "minutes": fmean(run.seconds for run in runs) / 60,
            "score": fmean(getattr(run, run.score) for run in runs),
            "millions": runs[0].millions,
            **{key: fmean(getattr(run, key) for run in runs) for key in ("target_tokens", "flops")},
        }
        for row, runs in rows.items()
    ]
