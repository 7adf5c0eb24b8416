"""Corpora to a prepared folder: the vocabulary, the token shards, and an account of every pair kept or dropped.

The corpora are cut into parts (`text.parts`), and the parts are read three times by independent units of work
(`workflow.preparation.parts`): once to clean them and to find duplicates, once to take the sample for learning the
vocabulary (not if a model's is kept), once to write the tokens. `workflow.preparation.stages` combines the results of
the units.
"""

import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.files import atomic_folder, write_json, write_text
from attendo.output_folders import check_dispensable, check_output_folder, contents, followed, listed
from attendo.parsing.config import ParsingConfig
from attendo.text.accounting import CorpusReport, PairCounts, TokenCounts, corpus_report
from attendo.text.cleaning import read_valid
from attendo.text.corpora import VALID_NAME, CorpusConfig, DataConfig
from attendo.text.prepared import (
    FORMAT_VERSION,
    MANIFEST_NAME,
    VALID_TREES,
    WORD_TAGS,
    PreparationReport,
    PreparedData,
    Vocabulary,
    fingerprint,
    is_prepared,
    open_prepared,
    report_as_json,
)
from attendo.text.shards import ShardWriter, TokenRows, id_dtype
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig
from attendo.text.text_check import check_files, check_text
from attendo.workers import InProcess, Workers
from attendo.workflow.preparation.account import account_kept, dropped_beside
from attendo.workflow.preparation.stages import Preparation, Progress
from attendo.workflow.preparation.treebank_text import check_unchanged, file_facts, linearization_facts, treebank_text
from attendo.workflow.preparation.unit_text import translated_units_reader

__all__ = ["PreparedData", "Progress", "fingerprint", "is_prepared", "open_prepared", "prepare"]

_WRITTEN = {
    *("source.spm", "target.spm", "shards", "dropped.tsv", "report.json", MANIFEST_NAME),
    *("valid.source.txt", "valid.target.txt", WORD_TAGS, VALID_TREES, "unread.tsv"),
}
"""Files that may be in a prepared folder."""
_TREES = "trees.tmp"
"""The folder of the pairs made from treebanks."""


def prepare(
    data: DataConfig,
    tokenizer: TokenizerConfig,
    output: Path,
    *,
    base_folder: Path,
    vocabulary: Vocabulary | None = None,
    parsing: ParsingConfig | None = None,
    progress: Callable[[Progress], None] | None = None,
    workers: Workers | None = None,
    force: bool = False,
) -> PreparedData:
    """Learns the vocabulary, or keeps a model's, writes the token shards and accounts for every pair.

    The folder appears under its name when it is complete, and replaces an older one.

    Args:
        data: the corpora, and the rules for cleaning them.
        tokenizer: the vocabulary to learn.
        output: the prepared folder to make.
        base_folder: the folder to which `data.folder` is relative.
        vocabulary: the vocabulary of a model to fine-tune, in place of a learned one.
        parsing: the linearization of trees, if the corpora are treebanks; `unread.tsv` has the invalid trees.
        progress: called after each scanned file and each finished part of a corpus.
        workers: the workers, such as `workers.WorkerProcesses`; None for this process, which also does the work if it
            is hardly more than one part. They do not affect the folder's bytes, except the seconds in its report (and
            so that file's checksum in the manifest).
        force: replace any content of `output`.

    Returns:
        The folder, opened.

    Raises:
        DataError: a corpus file is missing (all of those in one message), not lines of text, broken, or differs from
            its counterpart in the number of lines; a corpus keeps no pair; the validation set has a bad line; the
            vocabulary is too large for the text; or `output` contains anything but prepared data.
        AttendoError: a worker was lost.
    """
    started = time.monotonic()
    resolved = _checked(data, output, base_folder, force=force)
    with atomic_folder(followed(output)) as folder:
        tree_files = None if parsing is None else file_facts(resolved, base_folder)
        pairs, tag_symbols = resolved, resolved.source_tags
        if parsing is not None:
            pairs, tag_symbols = _pairs_of_treebanks(resolved, base_folder, folder, parsing)
        left_out: Counter[str] = Counter()
        valid = _validation_pairs(pairs, base_folder / data.folder, left_out)
        preparation = Preparation(pairs, base_folder, folder, workers or InProcess(), progress)
        preparation.scan()
        cleaned = preparation.clean(valid)
        with account_kept(preparation, cleaned, pairs, folder, output):
            if vocabulary is None:
                tokenizers, num_sampled = preparation.learn(cleaned, tokenizer, tag_symbols)
            else:
                tokenizers, num_sampled = _keep(vocabulary, folder), 0
            corpora = tuple(preparation.encode(cleaned, tokenizers))
        report = PreparationReport(
            corpora=corpora,
            valid=_write_valid(folder, pairs.valid, valid, tokenizers, left_out) if pairs.valid else None,
            source_vocab_size=tokenizers[0].vocab_size,
            target_vocab_size=tokenizers[1].vocab_size,
            sampled_pairs=num_sampled,
            seconds=round(time.monotonic() - started, 3),
            vocabulary_from=vocabulary.origin if vocabulary else None,
        )
        if tree_files is not None:
            check_unchanged(resolved, base_folder, tree_files)
            shutil.rmtree(folder / _TREES)
            report = _with_treebanks(report, resolved, base_folder)
        write_json(folder / "report.json", report_as_json(report))
        manifest = {
            **_facts(data, tokenizer, vocabulary, parsing),  # the fingerprint is that of the unresolved section
            "corpus_files": preparation.corpus_files() if tree_files is None else tree_files,
            "files": preparation.written_files(),
        }
        write_json(folder / MANIFEST_NAME, manifest)  # would declare the files of a failed start complete
    dropped_beside(output).unlink(missing_ok=True)  # of an earlier start that failed
    return open_prepared(output)


def _checked(data: DataConfig, output: Path, base_folder: Path, *, force: bool) -> DataConfig:
    """Checks the corpora and the output before anything is written; returns the section with its patterns resolved."""
    if not data.corpora:
        raise DataError("data.corpora names no corpus: there is nothing to prepare")
    corpora = base_folder / data.folder
    resolved = data.resolved(corpora)
    check_files(resolved, base_folder)
    check_text(resolved, base_folder)
    _check_replaceable(output, corpora, force=force)
    return resolved


def _validation_pairs(data: DataConfig, corpora: Path, left_out: Counter[str]) -> tuple[list[str], list[str]]:
    """Reads the validation set, if there is one; counts the skipped units."""
    languages = data.source_language, data.target_language
    read = translated_units_reader(languages, left_out)
    return read_valid(data.valid, corpora, languages=languages, read=read) if data.valid else ([], [])


def _pairs_of_treebanks(
    data: DataConfig, base_folder: Path, folder: Path, parsing: ParsingConfig
) -> tuple[DataConfig, tuple[str, ...]]:
    """Writes the pairs made from treebanks; returns the section with pairs in their place, and the symbols of tags."""
    treebanks = treebank_text(data, base_folder, folder / _TREES, parsing)
    write_json(folder / WORD_TAGS, treebanks.word_tags)
    write_text(folder / "unread.tsv", f"corpus\tfile\tline\tproblem\n{treebanks.unread}")
    if treebanks.data.valid:
        write_text(folder / VALID_TREES, "".join(f"{tree}\n" for tree in treebanks.valid))
    return treebanks.data, treebanks.tag_symbols


def _facts(
    data: DataConfig, tokenizer: TokenizerConfig, vocabulary: Vocabulary | None, parsing: ParsingConfig | None
) -> dict[str, Any]:
    """Returns the manifest's facts about the recipe and the vocabulary."""
    linearization = None if parsing is None else linearization_facts(parsing)
    return {
        "format_version": FORMAT_VERSION,
        "fingerprint": fingerprint(data, tokenizer, vocabulary, linearization),
        "source_language": data.source_language,
        "target_language": data.target_language,
        "joint": vocabulary.joint if vocabulary else tokenizer.joint,
        "vocabulary": {"from": vocabulary.origin, "sha256": vocabulary.checksums} if vocabulary else None,
        "seed": tokenizer.seed,
    }


def _with_treebanks(report: PreparationReport, data: DataConfig, base_folder: Path) -> PreparationReport:
    """A report that names the treebanks' files in place of the files made from them."""
    folder = base_folder / data.folder

    def named(config: CorpusConfig, found: CorpusReport) -> CorpusReport:
        return replace(found, files=config.names(folder))

    return replace(
        report,
        corpora=tuple(named(*both) for both in zip(data.corpora, report.corpora, strict=True)),
        valid=None if data.valid is None or report.valid is None else named(data.valid, report.valid),
    )


def _check_replaceable(output: Path, corpora: Path, *, force: bool) -> None:
    """Rejects replacing a folder that is not prepared data, or has other files in it."""
    check_output_folder(output)
    names = contents(output)
    if not names:
        return
    if force:
        check_dispensable(output, corpora)
    elif MANIFEST_NAME not in names:
        raise DataError(
            f"{output}: exists and is not a prepared folder ({listed(names)}); name another one, or replace all of it "
            "with attendo prepare --force"
        )
    elif others := [name for name in names if name not in _WRITTEN]:
        raise DataError(
            f"{output}: holds files beside the prepared data ({listed(others)}); move them, or replace all of it with "
            "attendo prepare --force"
        )


def _keep(vocabulary: Vocabulary, folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Writes a model's vocabulary unchanged; returns its two sides."""
    vocabulary.source.save(folder / "source.spm")
    if not vocabulary.joint:
        vocabulary.target.save(folder / "target.spm")
    return vocabulary.source, vocabulary.target


def _write_valid(
    folder: Path,
    config: CorpusConfig,
    valid: tuple[list[str], list[str]],
    tokenizers: tuple[Tokenizer, Tokenizer],
    left_out: Counter[str],
) -> CorpusReport:
    """Writes the validation set's shards and sentences, its tag before the sources; counts its skipped units."""
    sides = [config.tagged(source) for source in valid[0]], valid[1]
    vocab_size = max(tokenizer.vocab_size for tokenizer in tokenizers)
    source, target = (
        TokenRows.of([tokenizer.encode(sentence) for sentence in sentences], id_dtype(vocab_size))
        for tokenizer, sentences in zip(tokenizers, sides, strict=True)
    )
    with ShardWriter(folder / "shards", VALID_NAME, vocab_size) as shards:
        shards.extend(source, target)
    for side, sentences in zip(("source", "target"), sides, strict=True):
        write_text(folder / f"valid.{side}.txt", "".join(f"{sentence}\n" for sentence in sentences))
    counts = PairCounts(
        kept=len(source),
        dropped=left_out,
        source=TokenCounts.of(source.ids, tokenizers[0].byte_ids),
        target=TokenCounts.of(target.ids, tokenizers[1].byte_ids),
    )
    return corpus_report(config, VALID_NAME, counts, in_valid=0)
