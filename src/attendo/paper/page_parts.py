"""Parts that several pages share: open runs and failures, totals over runs, the command that repeats the study."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from attendo.paper.experiment import StudyRequest
from attendo.paper.report import Paragraph, Section, Shell
from attendo.paper.run_results import RunFacts, RunResult
from attendo.recipe import Recipe


def each(texts: Iterable[object]) -> str:
    """Joins the distinct texts of some items with semicolons."""
    return "; ".join(dict.fromkeys(map(str, texts)))


def corpora_of(recipe: Recipe) -> str:
    """The names of a recipe's corpora, separated by commas."""
    return ", ".join(corpus.name for corpus in recipe.data.corpora) if recipe.data else ""


def budget_of(recipe: Recipe) -> str:
    """The number of updates and the batch size of a recipe, in words."""
    return f"{recipe.training.max_steps:,} updates of up to {recipe.training.max_tokens:,} tokens a side"


def seeds_of(request: StudyRequest) -> str:
    """The number of seeds with its noun, such as `3 seeds`."""
    return f"{request.seeds} {'seed' if request.seeds == 1 else 'seeds'}"


def scale_note(request: StudyRequest, subject: str) -> tuple[str, ...]:
    """Returns a caveat about the scale `tiny`; nothing at other scales.

    Args:
        request: options of the study.
        subject: the question that so little training cannot answer.
    """
    if request.scale != "tiny":
        return ()
    return (f"This scale shows that the study works. So little training says nothing about {subject}.",)


def still_open(done: int, num_runs: int, failures: Sequence[str]) -> list[str]:
    """Returns a paragraph on the runs that are still to do, and one for each failure."""
    parts = []
    if done < num_runs:
        parts.append(f"This study is in progress: {done} of {num_runs} runs are done.")
    return [*parts, *(f"Failed: {failure}" for failure in failures)]


def result_key(name: str) -> str:
    """The key of a result's name in `result.json`: `table` for tables, else `result`."""
    return "table" if name.startswith("table") else "result"


def head_data(request: StudyRequest, name: str) -> dict[str, Any]:
    """Returns the first entries of `result.json`: the study's name, the scale and the command.

    Args:
        request: options of the study.
        name: name of the study in the command.
    """
    return {result_key(name): name, "scale": request.scale, "command": request.command}


def request_values(request: StudyRequest, recipe: Recipe) -> dict[str, str]:
    """Returns the values of `$scale`, `$seeds`, `$corpora` and `$budget` in the texts of pages.

    Args:
        request: options of the study.
        recipe: recipe of the runs.
    """
    return {
        "scale": request.scale,
        "seeds": seeds_of(request),
        "corpora": corpora_of(recipe),
        "budget": budget_of(recipe),
    }


def totals(results: Sequence[RunFacts]) -> dict[str, str]:
    """Returns the runs' total cost, threads, parameters and machines, by the names that the texts of pages use."""
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
    """The versions of the software that the runs used."""
    return each(", ".join(f"{name} {version}" for name, version in result.versions.items()) for result in results)


def signatures_of(results: Iterable[RunResult]) -> str:
    """The signatures of sacreBLEU with which the runs were validated."""
    return each(result.bleu_signature for result in results)


def how_to_repeat(request: StudyRequest, results: Sequence[RunResult], bleu: str) -> Section:
    """Returns the section with the command and, if there are runs, the kind of BLEU and the software versions.

    Args:
        request: options of the study.
        results: results of the finished runs.
        bleu: sentence that states which BLEU it is.
    """
    blocks: list[Shell | Paragraph] = [Shell(lines=(request.command,))]
    if results:
        blocks += [Paragraph(text=bleu), Paragraph(text=f"Versions: {versions_of(results)}")]
    return Section(title="How to repeat it", blocks=tuple(blocks))


def means(results: Iterable[RunFacts]) -> list[dict[str, object]]:
    """Returns the name, number of runs and millions of parameters of each row, and the means over its runs.

    Args:
        results: results of all rows; rows keep the order of their first result.
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
