"""The corpora available to `attendo data get`: the training data and test sets of WMT 2014.

The locations of files are taken from mtdata for corpora, and from sacreBLEU for test sets. Corpora without an entry in
mtdata are listed here with their addresses.
"""

from dataclasses import dataclass

from attendo.errors import DataError

_WMT14_TERMS = (
    "provided for research by the organisers of WMT 2014, who ask for their overview paper to be cited "
    "(statmt.org/wmt14/translation-task.html)"
)
_WMT14_PAPER = "Bojar et al. (2014): Findings of the 2014 Workshop on Statistical Machine Translation"


@dataclass(frozen=True, kw_only=True)
class MtdataEntry:
    """A corpus that mtdata's index has."""

    id: str
    """Identifier as printed by `mtdata list --id`."""


@dataclass(frozen=True, kw_only=True)
class SacrebleuSet:
    """A test set that sacreBLEU has."""

    name: str
    """Name as printed by `sacrebleu --list`."""


@dataclass(frozen=True, kw_only=True)
class ArchiveMembers:
    """Two files in an archive unknown to mtdata and sacreBLEU."""

    url: str
    members: tuple[str, str]
    """The file in the source language and that in the target language."""


@dataclass(frozen=True, kw_only=True)
class ParallelText:
    """A corpus or a test set of a dataset: two files of lines, `NAME.en` and `NAME.de`."""

    name: str
    """Name of its files, without the language."""
    title: str
    pairs: int
    """Number of lines of each side, as reported by its users."""
    origin: MtdataEntry | SacrebleuSet | ArchiveMembers
    owner: str
    """Owner or collector of the text."""
    terms: str = _WMT14_TERMS
    """Terms of use, and their source."""
    citation: str = _WMT14_PAPER


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Corpora that are fetched together under one name."""

    name: str
    title: str
    source_language: str
    """Two-letter code."""
    target_language: str
    texts: tuple[ParallelText, ...]


@dataclass(frozen=True, kw_only=True)
class PublishedArchive:
    """Published facts about an archive."""

    bytes: int
    sha256: str | None


PUBLISHED = {
    # tensorflow/datasets: url_checksums/wmt14_translate.txt
    "training-parallel-europarl-v7.tgz": PublishedArchive(
        bytes=657_632_379, sha256="0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7"
    ),
    "training-parallel-commoncrawl.tgz": PublishedArchive(
        bytes=918_311_367, sha256="c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5"
    ),
    "training-parallel-nc-v9.tgz": PublishedArchive(
        bytes=80_418_416, sha256="cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485"
    ),
    # its size alone, as translation tutorials of its time held the download against it
    "training-giga-fren.tar": PublishedArchive(bytes=2_595_102_720, sha256=None),
}
"""Published facts by file name. For other archives, the checksum of the first download is recorded with the files."""


def _europarl(code: str, pairs: int) -> ParallelText:
    return ParallelText(
        name="train.europarl",
        title="Europarl v7",
        pairs=pairs,
        origin=MtdataEntry(id=f"Statmt-europarl_wmt13-7-{code}-eng"),
        owner="the European Parliament's proceedings, collected by Philipp Koehn",
        terms="its collector knows of no copyright restrictions of the material (statmt.org/europarl)",
        citation="Koehn (2005): Europarl: A Parallel Corpus for Statistical Machine Translation",
    )


def _common_crawl(code: str, pairs: int) -> ParallelText:
    return ParallelText(
        name="train.common-crawl",
        title="Common Crawl corpus",
        pairs=pairs,
        origin=MtdataEntry(id=f"Statmt-commoncrawl_wmt13-1-{code}-eng"),
        owner="web pages of many owners, found in the crawl of the Common Crawl Foundation",
        terms=f"{_WMT14_TERMS}; Common Crawl's terms of use hold for the crawl (commoncrawl.org/terms-of-use)",
        citation="Smith et al. (2013): Dirt Cheap Web-Scale Parallel Text from the Common Crawl",
    )


def _news_commentary(language: str, pairs: int) -> ParallelText:
    stem = f"training/news-commentary-v9.{language}-en"
    return ParallelText(
        name="train.news-commentary",
        title="News Commentary v9",
        pairs=pairs,
        # mtdata has v13 and later, with which the paper's own figures are not to be compared.
        origin=ArchiveMembers(
            url="https://www.statmt.org/wmt14/training-parallel-nc-v9.tgz", members=(f"{stem}.en", f"{stem}.{language}")
        ),
        owner="Project Syndicate's commentaries",
    )


def _test_sets() -> tuple[ParallelText, ...]:
    return (
        ParallelText(
            name="newstest2013",
            title="newstest2013, the development set",
            pairs=3000,
            origin=SacrebleuSet(name="wmt13"),
            owner="news articles of many publishers, translated for WMT",
            citation="Bojar et al. (2013): Findings of the 2013 Workshop on Statistical Machine Translation",
        ),
        ParallelText(
            name="newstest2014",
            title="newstest2014, the test set (all 3,003 sentences: sacreBLEU's wmt14/full)",
            pairs=3003,
            origin=SacrebleuSet(name="wmt14/full"),
            owner="news articles of many publishers, translated for WMT",
        ),
    )


DATASETS = {
    "wmt14-en-de": Dataset(
        name="wmt14-en-de",
        title="WMT 2014, English to German",
        source_language="en",
        target_language="de",
        texts=(
            _europarl("deu", 1_920_209),
            _common_crawl("deu", 2_399_123),
            _news_commentary("de", 201_288),
            *_test_sets(),
        ),
    ),
    "wmt14-en-fr": Dataset(
        name="wmt14-en-fr",
        title="WMT 2014, English to French",
        source_language="en",
        target_language="fr",
        texts=(
            _europarl("fra", 2_007_723),
            _common_crawl("fra", 3_244_152),
            ParallelText(
                name="train.un",
                title="UN corpus",
                pairs=12_886_831,
                origin=ArchiveMembers(
                    url="https://www.statmt.org/wmt13/training-parallel-un.tgz",
                    members=("un/undoc.2000.fr-en.en", "un/undoc.2000.fr-en.fr"),
                ),
                owner="documents of the United Nations, collected by Andreas Eisele and Yu Chen",
                citation="Eisele and Chen (2010): MultiUN: A Multilingual Corpus from United Nation Documents",
            ),
            _news_commentary("fr", 183_251),
            ParallelText(
                name="train.giga",
                title="10^9 French-English corpus",
                pairs=22_520_400,
                origin=ArchiveMembers(
                    url="https://www.statmt.org/wmt10/training-giga-fren.tar",
                    members=("giga-fren.release2.fixed.en.gz", "giga-fren.release2.fixed.fr.gz"),
                ),
                owner="Canadian, European and international web pages, crawled by Chris Callison-Burch",
                citation="Callison-Burch et al. (2009): Findings of the 2009 Workshop on Machine Translation",
            ),
            *_test_sets(),
        ),
    ),
}
"""Datasets by their names for `attendo data get`."""


def find_dataset(name: str) -> Dataset:
    """Returns the dataset of a name.

    Raises:
        DataError: there is none; the message lists the available ones.
    """
    if name not in DATASETS:
        raise DataError(f"{name}: no dataset of this name is known; take one of {', '.join(DATASETS)}")
    return DATASETS[name]
