"""The account of a preparation in words: where little is kept, why, with examples, also where preparing fails."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attendo.errors import DataError
from attendo.files import write_bytes
from attendo.text.accounting import CorpusReport, is_other_encoding, keeps_little
from attendo.text.corpora import DataConfig
from attendo.workflow.preparation.stages import CleaningResult, NothingKeptError, Preparation

_EXAMPLES = 2
"""Number of dropped pairs shown for each reason."""
_EXAMPLE_CHARACTERS = 60


def dropped_beside(output: Path) -> Path:
    """Returns the path of the list of dropped pairs of a failed preparation, next to the missing folder."""
    return output.with_name(f"{output.name}.dropped.tsv")


@contextmanager
def account_kept(
    preparation: Preparation, cleaned: CleaningResult, data: DataConfig, draft: Path, output: Path
) -> Iterator[None]:
    """Adds the counts to an error that ends a preparation with few pairs kept, and keeps the list of dropped pairs.

    Args:
        preparation: the preparation in progress.
        cleaned: the result of its first reading.
        data: the section with resolved corpora.
        draft: the folder in the making, which is lost with the error.
        output: the folder that was to be made.

    Raises:
        DataError: the error of the block, with the counts by reason, examples, and the path of the list of all dropped
            pairs.
    """
    try:
        yield
    except DataError as error:
        all_counts = error.counts if isinstance(error, NothingKeptError) else preparation.account(cleaned)
        kept, listed = dropped_beside(output), draft / "dropped.tsv"
        messages = [
            account_text(config.name, counts.kept, counts.dropped, listed, preparation.encoding_advice(config, counts))
            for config, counts in zip(data.corpora, all_counts, strict=True)
            if keeps_little(counts.kept, counts.read)
        ]
        if not messages:
            raise
        write_bytes(kept, listed.read_bytes())
        raise DataError("\n".join([str(error), *messages, f"every dropped pair stands in {kept}"])) from error


def account_messages(reports: Sequence[CorpusReport], dropped: Path) -> Iterator[str]:
    """Yields messages about prepared corpora of which little was kept, or which are in another encoding.

    Args:
        reports: the reports on all corpora.
        dropped: the folder's `dropped.tsv`.
    """
    for report in reports:
        if report.keeps_little or is_other_encoding(report.dropped.get("encoding", 0), report.read):
            text = account_text(report.name, report.kept, report.dropped, dropped, report.encoding_advice)
            yield f"{text}\nevery dropped pair stands in {dropped}"


def account_text(
    name: str, kept: int, dropped: Mapping[str, int], listed: Path, encoding_advice: str | None = None
) -> str:
    """Reports the outcome of a corpus's pairs: counts by reason, some examples of each, and remedies.

    Args:
        name: the corpus.
        kept: pairs kept.
        dropped: pairs dropped by reason.
        listed: the `dropped.tsv` that has them.
        encoding_advice: the encoding to set.
    """
    total = kept + sum(dropped.values())
    reasons = ", ".join(
        f"{count:,} {reason}" for reason, count in sorted(dropped.items(), key=lambda item: -item[1]) if count
    )
    lines = [f"corpus {name}: only {kept:,} of {total:,} pairs are kept; dropped: {reasons}"]
    if not keeps_little(kept, total):
        lines = [f"corpus {name}: {total - kept:,} of {total:,} pairs are dropped: {reasons}"]
    lines += [f"  {example}" for example in _examples(name, dropped, listed)]
    if encoding_advice:
        lines.append(f"  {dropped['encoding']:,} are not in the encoding of {name}: {encoding_advice}")
    return "\n".join(lines)


def _examples(name: str, dropped: Mapping[str, int], listed: Path) -> Iterator[str]:
    """Yields the first dropped pairs of each reason."""
    seen: dict[str, int] = {}
    missing = sum(min(count, _EXAMPLES) for count in dropped.values())
    with listed.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            if not missing:  # the list may be longer than anybody reads
                return
            corpus, files, number, reason, source, target = line.rstrip("\n").split("\t")
            seen[reason] = seen.get(reason, 0) + (corpus == name)
            if corpus == name and seen[reason] <= _EXAMPLES:
                missing -= 1
                yield f"{reason}: line {number} of {files}: {_shortened(source)} | {_shortened(target)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _EXAMPLE_CHARACTERS else f"{text[:_EXAMPLE_CHARACTERS]}…"
