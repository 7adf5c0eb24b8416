"""The stages of a preparation: each hands its units of work to the workers, and combines their results.

Results are in the order of the corpora's parts, for any workers, so that the folder's bytes do not depend on the number
of workers. Only a few parts of the corpora, and one bit per pair, are held in memory.
"""

import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, Protocol, TextIO, TypeVar

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.files import sha256
from attendo.formats.pairs.table import unit_reader
from attendo.text.accounting import CorpusReport, PairCounts, corpus_report, file_names, is_other_encoding
from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.duplicates import DigestBuckets, HeldOut, RowSet, repeated_rows
from attendo.text.encoding_advice import encoding_advice
from attendo.text.files.encodings import UTF8, is_wide
from attendo.text.parts import PART_BYTES, CorpusPart, ScannedFile, changed_error, corpus_parts, scan_file, scan_stream
from attendo.text.shards import ShardWriter
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig
from attendo.workers import InProcess, Workers
from attendo.workflow.preparation.parts import (
    CleanTask,
    DropTask,
    EncodedPart,
    EncodeTask,
    LearnTask,
    SampleTask,
    clean_part,
    drop_part,
    encode_part,
    learn_vocabulary,
    sample_part,
)
from attendo.workflow.preparation.unit_text import ExtractTask, extract_units

Stage = Literal["scanning", "cleaning", "learning", "encoding"]

_DROPPED_HEADER = "corpus\tfiles\tline\treason\tsource\ttarget\n"
_BUCKET_PAIRS = 1 << 20
_MAX_BUCKETS = 512
# Maxima for a compressed corpus: gzip makes a byte of 1,032 that repeat, and two are the shortest line with its end.
_PAIRS_A_BYTE = 516
_UNITS = "units.tmp"
"""The folder of the lines made from files of units."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a preparation."""

    stage: Stage
    done_bytes: int
    """Bytes of the corpus files read in this stage."""
    total_bytes: int
    """Bytes of all corpus files; each stage reads all of them, the first also those of the validation set."""


@dataclass(frozen=True, kw_only=True)
class CleaningResult:
    """The results of the first reading that the other two need."""

    part_rows: tuple[int, ...]
    """Number of pairs that `clean` keeps of each part, over all corpora in order; a row is one of these pairs."""
    duplicates: RowSet
    """Duplicates among them."""
    in_valid: Counter[str]
    """Number of kept pairs of each corpus that are also in the validation set."""

    @property
    def num_kept(self) -> int:
        """Number of pairs that neither `clean` nor the search for duplicates dropped."""
        return sum(self.part_rows) - len(self.duplicates)

    def part_duplicates(self) -> Iterator[npt.NDArray[np.bool_]]:
        """Yields for each part the mask of its duplicate rows, `(num_rows,)`."""
        start = 0
        for num_rows in self.part_rows:
            yield self.duplicates.between(start, start + num_rows)
            start += num_rows


class NothingKeptError(DataError):
    """A corpus keeps no pair; `counts` has the outcomes for each corpus."""

    def __init__(self, message: str, counts: Sequence[PairCounts]) -> None:
        super().__init__(message)
        self.counts = counts


class _PartTask(Protocol):
    """A task on a part."""

    @property
    def part(self) -> CorpusPart: ...


PartTaskT = TypeVar("PartTaskT", bound=_PartTask)
ResultT = TypeVar("ResultT")


class Preparation:
    """A preparation in progress: the corpora, the folder being written, and the workers."""

    def __init__(
        self,
        data: DataConfig,
        base_folder: Path,
        output: Path,
        workers: Workers,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        """Stores the settings of the preparation.

        Args:
            data: the corpora, resolved (`CorpusConfig.resolved`), and the rules for cleaning them; their files exist.
            base_folder: the folder to which `data.folder` is relative.
            output: the folder being written.
            workers: the workers.
            progress: called after each scanned file and each finished part.
        """
        self._data, self._output, self._progress = data, output, progress
        self._languages = data.source_language, data.target_language
        self._folder = base_folder / data.folder
        files = [self._folder / name for corpus in data.corpora for name in corpus.files]
        self._total = sum(path.stat().st_size for path in files)
        # A single part would be done before a process had started.
        self._workers: Workers = workers if self._total > PART_BYTES else InProcess()
        self._scanned: dict[Path, ScannedFile] = {}
        self._extracted: dict[CorpusConfig, ScannedFile] = {}

    def scan(self) -> None:
        """Reads the files of the corpora and of the validation set once, for where their lines are.

        Files of units are written as lines into the folder being written.

        Raises:
            DataError: a file is UTF-16, or has units that cannot be read.
        """
        configs = [*self._data.corpora, *([self._data.valid] if self._data.valid else [])]
        is_stream = {
            self._folder / name: config.has_units or any(map(is_wide, config.encodings))
            for config in configs
            for name in config.files
        }
        total, done = sum(path.stat().st_size for path in is_stream), 0
        for unit, wanted in ((scan_file, False), (scan_stream, True)):
            for path, scanned in self._workers.map(unit, [path for path in is_stream if is_stream[path] is wanted]):
                self._scanned[path] = scanned
                done += scanned.size
                self._report("scanning", done, total)
        self._extract()

    def _extract(self) -> None:
        """Writes the units of corpora as lines, and counts from now on in bytes of these."""
        units = [file_set for corpus in self._data.corpora for file_set in corpus.file_sets if file_set.has_units]
        if not units:
            return
        folder = self._output / _UNITS
        folder.mkdir()
        tasks = (
            ExtractTask(corpus=unit, folder=self._folder, languages=self._languages, output=folder / f"{number}.tsv")
            for number, unit in enumerate(units)
        )
        for task, scanned in self._workers.map(extract_units, tasks):
            self._extracted[task.corpus] = scanned
        self._total = sum(file.size for _, files in self._file_sets() for file in files)

    def _file_sets(self) -> Iterator[tuple[CorpusConfig, list[ScannedFile]]]:
        """Yields the corpora as sets of corresponding files; for units, the lines made from them."""
        for file_set in (file_set for corpus in self._data.corpora for file_set in corpus.file_sets):
            if (extracted := self._extracted.get(file_set)) is not None:
                yield replace(file_set, encoding=UTF8), [extracted]
            else:
                yield file_set, [self._scanned[self._folder / name] for name in file_set.files]

    def clean(self, valid: tuple[Sequence[str], Sequence[str]]) -> CleaningResult:
        """Finds the repeated pairs, and counts those that are also in the validation set.

        Raises:
            DataError: a file is broken, or the two of a corpus differ in their number of lines.
        """
        cleaning = self._data.cleaning
        held_out = HeldOut(valid, once=cleaning.drop_duplicates, near=cleaning.near_duplicates)
        folder = self._output / "digests.tmp"
        buckets = DigestBuckets(folder, min(_MAX_BUCKETS, 1 + self._most_pairs() // _BUCKET_PAIRS))
        part_rows: list[int] = []
        duplicates = RowSet()
        in_valid: Counter[str] = Counter()
        tasks = (CleanTask(part=part, cleaning=cleaning, languages=self._languages) for part in self._parts())
        for task, digests in self._map("cleaning", clean_part, tasks):
            part_rows.append(len(digests))
            in_valid[task.part.corpus.name] += held_out.count(digests)
            duplicates.grow(len(digests))
            if cleaning.drop_duplicates:
                duplicates.add(buckets.add(digests))
        for _, rows in self._workers.map(repeated_rows, buckets.paths):
            duplicates.add(rows)
        shutil.rmtree(folder)
        return CleaningResult(part_rows=tuple(part_rows), duplicates=duplicates, in_valid=in_valid)

    def learn(
        self, cleaned: CleaningResult, config: TokenizerConfig, tags: tuple[str, ...]
    ) -> tuple[tuple[Tokenizer, Tokenizer], int]:
        """Learns one or two vocabularies from a sample; returns source's and target's, and the sample's size.

        `tags` are symbols in sources, a piece each.

        Raises:
            DataError: the text cannot fill the vocabulary, or has too many characters for it.
        """
        num_sampled = min(cleaned.num_kept, config.sample_pairs)
        texts = self._output / "sample.source.tmp", self._output / "sample.target.tmp"
        tasks = self._sample_tasks(cleaned, num_sampled, config.seed)
        with texts[0].open("wb") as sources, texts[1].open("wb") as targets:
            for _, sample in self._map("learning", sample_part, tasks):
                sources.write(sample.sources)
                targets.write(sample.targets)
        outputs = self._output / "source.spm", self._output / "target.spm"
        if config.joint:
            learning = [LearnTask(texts=texts, config=config, output=outputs[0], symbols=tags)]
        else:
            learning = [
                LearnTask(texts=texts[:1], config=config, output=outputs[0], symbols=tags),
                LearnTask(texts=texts[1:], config=config, output=outputs[1], only_symbols=config.target_symbols),
            ]
        learned = [
            Tokenizer(serialized, str(task.output))
            for task, serialized in self._workers.map(learn_vocabulary, learning)
        ]
        for path in texts:
            path.unlink()
        return (learned[0], learned[-1]), num_sampled

    def encode(self, cleaned: CleaningResult, tokenizers: tuple[Tokenizer, Tokenizer]) -> list[CorpusReport]:
        """Writes the shards of every corpus, and `dropped.tsv`; returns a report on each corpus's pairs.

        Raises:
            NothingKeptError: a corpus keeps no pair; `dropped.tsv` is complete nevertheless.
        """
        vocab_size = max(tokenizer.vocab_size for tokenizer in tokenizers)
        results = self._map("encoding", encode_part, self._encode_tasks(cleaned, tokenizers))
        with self._dropped() as dropped:
            all_counts = []
            # Each corpus has at least one part, even without lines.
            for config, (_, parts) in zip(self._data.corpora, groupby(results, key=_corpus_name), strict=True):
                counts = PairCounts()
                with ShardWriter(self._output / "shards", config.name, vocab_size) as shards:
                    for _, encoded in parts:
                        shards.extend(encoded.source, encoded.target)
                        counts += encoded.counts
                        dropped.write(encoded.dropped)
                all_counts.append(counts)
        shutil.rmtree(self._output / _UNITS, ignore_errors=True)
        return self._reports(all_counts, cleaned.in_valid)

    def account(self, cleaned: CleaningResult) -> list[PairCounts]:
        """Counts kept and dropped pairs of each corpus without a vocabulary, and writes `dropped.tsv`.

        It is for a preparation that fails before there is a vocabulary.
        """
        duplicates = cleaned.part_duplicates()
        tasks = (
            DropTask(part=part, cleaning=self._data.cleaning, duplicates=found, languages=self._languages)
            for part, found in zip(self._parts(), duplicates, strict=False)
        )
        found: dict[str, PairCounts] = {corpus.name: PairCounts() for corpus in self._data.corpora}
        with self._dropped() as dropped:
            for task, part in self._map("cleaning", drop_part, tasks):
                found[task.part.corpus.name] += part.counts
                dropped.write(part.dropped)
        return list(found.values())

    def encoding_advice(self, config: CorpusConfig, counts: PairCounts) -> str | None:
        """Advice on the encoding of a corpus, if many pairs are dropped because they are in another one."""
        if not is_other_encoding(counts.dropped["encoding"], counts.read):
            return None
        read = unit_reader(*self._languages)
        advice = encoding_advice(config, self._folder, languages=self._languages, read=read)
        return None if advice is None else advice.text

    def _reports(self, all_counts: Sequence[PairCounts], in_valid: Counter[str]) -> list[CorpusReport]:
        """Closes the accounts of all corpora."""
        reports, problems = [], []
        for config, counts in zip(self._data.corpora, all_counts, strict=True):
            advice = self.encoding_advice(config, counts) if counts.kept else None
            try:
                reports.append(
                    corpus_report(config, config.name, counts, in_valid=in_valid[config.name], encoding_advice=advice)
                )
            except DataError as error:
                problems.append(str(error))
        if problems:
            raise NothingKeptError("\n".join(problems), all_counts)
        return reports

    @contextmanager
    def _dropped(self) -> Iterator[TextIO]:
        """Opens a new `dropped.tsv` for writing."""
        with (self._output / "dropped.tsv").open("w", encoding="utf-8", newline="\n") as dropped:
            dropped.write(_DROPPED_HEADER)
            yield dropped

    def corpus_files(self) -> dict[str, dict[str, Any]]:
        """Returns size, SHA-256 and time of change of the files that were read, under the recipe's names for them.

        Raises:
            DataError: one has changed since it was scanned.
        """
        found = {}
        for name, path in self._names().items():
            file, status = self._scanned[path], path.stat()
            if (status.st_size, status.st_mtime_ns) != (file.size, file.mtime_ns):
                raise changed_error(path)
            found[name] = {"bytes": file.size, "sha256": file.sha256, "mtime_ns": file.mtime_ns}
        return found

    def written_files(self) -> dict[str, dict[str, Any]]:
        """Returns size and SHA-256 of the files in the folder, under their names in it."""
        written = sorted(path for path in self._output.rglob("*") if path.is_file())
        return {
            path.relative_to(self._output).as_posix(): {"bytes": path.stat().st_size, "sha256": checksum}
            for path, checksum in self._workers.map(sha256, written)
        }

    def _names(self) -> dict[str, Path]:
        """Returns every file under the name the recipe has for it."""
        configs = [*self._data.corpora, *([self._data.valid] if self._data.valid else [])]
        return {name: self._folder / name for config in configs for name in file_names(config)}

    def _most_pairs(self) -> int:
        """Returns an upper bound on the number of pairs; that of a compressed corpus is unknown."""
        most = 0
        for one, files in self._file_sets():
            size = sum(file.size for file in files)
            if any(file.lines_before is None for file in files):
                most += _PAIRS_A_BYTE * size
            else:
                most += size if any(map(is_wide, one.encodings)) else files[0].num_lines
        return most

    def _parts(self) -> Iterator[CorpusPart]:
        """Yields the parts of all corpora, in order."""
        for one, scanned in self._file_sets():
            yield from corpus_parts(one, scanned, part_bytes=PART_BYTES)

    def _sample_tasks(self, cleaned: CleaningResult, num_sampled: int, seed: int) -> Iterator[SampleTask]:
        # Knuth's selection sampling: an exact sample of known size in one reading, without holding it.
        rng, wanted, left = random.Random(seed), num_sampled, cleaned.num_kept
        for part, duplicates in zip(self._parts(), cleaned.part_duplicates(), strict=False):
            chosen = []
            for row in np.flatnonzero(~duplicates).tolist():
                if rng.random() * left < wanted:
                    wanted -= 1
                    chosen.append(row)
                left -= 1
            rows = np.array(chosen, dtype=np.int64)
            yield SampleTask(part=part, cleaning=self._data.cleaning, rows=rows, languages=self._languages)

    def _encode_tasks(self, cleaned: CleaningResult, tokenizers: tuple[Tokenizer, Tokenizer]) -> Iterator[EncodeTask]:
        models = [tokenizer.serialized for tokenizer in tokenizers]
        # A compressed file that changes can have other parts than before; `corpus_files` then reports that.
        for part, duplicates in zip(self._parts(), cleaned.part_duplicates(), strict=False):
            yield EncodeTask(
                part=part,
                cleaning=self._data.cleaning,
                duplicates=duplicates,
                source_model=models[0],
                target_model=models[1],
                languages=self._languages,
            )

    def _map(
        self, stage: Stage, unit: Callable[[PartTaskT], ResultT], tasks: Iterator[PartTaskT]
    ) -> Iterator[tuple[PartTaskT, ResultT]]:
        """Runs tasks, one for each part, and reports the progress of the stage."""
        done = 0
        for task, result in self._workers.map(unit, tasks):
            done += task.part.num_bytes
            self._report(stage, done, self._total)
            yield task, result

    def _report(self, stage: Stage, done: int, total: int) -> None:
        if self._progress:
            self._progress(Progress(stage=stage, done_bytes=done, total_bytes=total))


def _corpus_name(done: tuple[EncodeTask, EncodedPart]) -> str:
    return done[0].part.corpus.name
