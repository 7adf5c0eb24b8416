import pickle
from pathlib import Path

import numpy as np
import pytest

from attendo.errors import DataError
from attendo.text.corpora import CorpusConfig
from attendo.text.duplicates import pair_digest
from attendo.text.pair_rules import CleaningConfig
from attendo.text.parts import CorpusPart, corpus_parts, scan_file
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig
from attendo.workflow.preparation.parts import (
    CleanTask,
    EncodeTask,
    LearnTask,
    SampleTask,
    clean_part,
    encode_part,
    learn_vocabulary,
    sample_part,
)

CORPUS = CorpusConfig(name="mine", tsv="mine.tsv", source_tag="<bt>")
LINES = ["ka lo\tol ak", " mi\tim ", "nothing", "ka lo\tol ak", "re\ter er er er er", "so so so so\tos"]
CLEANING = CleaningConfig(max_tokens=18)


@pytest.fixture
def part(tmp_path: Path) -> CorpusPart:
    """Six lines: the second to trim, the third without a tab, the fourth a duplicate."""
    (tmp_path / "mine.tsv").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    (found,) = corpus_parts(CORPUS, [scan_file(tmp_path / "mine.tsv")], part_bytes=1000)
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A vocabulary learned as a unit learns it."""
    folder = tmp_path_factory.mktemp("model")
    for name, text in (("a", "ka lo mi re so\nka lo re\n"), ("b", "ak ol im er os\nol ak er\n")):
        (folder / name).write_text(text, encoding="utf-8")
    task = LearnTask(
        texts=(folder / "a", folder / "b"),
        config=TokenizerConfig(vocab_size=280),
        output=folder / "source.spm",
        symbols=("<bt>",),
    )
    learned = learn_vocabulary(pickle.loads(pickle.dumps(task)))
    assert learned == (folder / "source.spm").read_bytes()
    return learned


def test_cleaning_gives_the_digests_of_what_is_clean(part: CorpusPart) -> None:
    digests = clean_part(CleanTask(part=part, cleaning=CLEANING))
    pairs = [("ka lo", "ol ak"), ("mi", "im"), ("ka lo", "ol ak"), ("re", "er er er er er"), ("so so so so", "os")]
    assert digests.tobytes() == b"".join(pair_digest(*pair) for pair in pairs)


def test_a_sample_is_the_chosen_among_the_clean(part: CorpusPart) -> None:
    sample = sample_part(SampleTask(part=part, cleaning=CLEANING, rows=np.array([1, 3])))
    assert (sample.sources, sample.targets) == (b"mi\nre\n", b"im\ner er er er er\n")
    nothing = sample_part(SampleTask(part=part, cleaning=CLEANING, rows=np.array([], dtype=np.int64)))
    assert (nothing.sources, nothing.targets) == (b"", b"")


def test_encoding_gives_ids_counts_and_what_was_dropped(part: CorpusPart, model: bytes) -> None:
    duplicates = np.array([False, False, True, False, False])
    task = EncodeTask(part=part, cleaning=CLEANING, duplicates=duplicates, source_model=model, target_model=model)
    encoded = pickle.loads(pickle.dumps(encode_part(pickle.loads(pickle.dumps(task)))))
    tokenizer = Tokenizer(model)
    kept = [("<bt> ka lo", "ol ak"), ("<bt> mi", "im"), ("<bt> re", "er er er er er"), ("<bt> so so so so", "os")]
    for rows, side in ((encoded.source, 0), (encoded.target, 1)):
        ids = [tokenizer.encode(pair[side]) for pair in kept]
        assert rows.ids.tolist() == [i for sentence in ids for i in sentence]
        assert np.diff(rows.offsets).tolist() == [len(sentence) for sentence in ids]
        assert max(map(len, ids)) <= 18
    assert (encoded.counts.read, encoded.counts.kept, encoded.counts.trimmed) == (6, 4, 1)
    assert encoded.counts.dropped == {"no_tab": 1, "duplicate": 1}
    assert encoded.counts.source.total == len(encoded.source.ids)
    assert encoded.dropped == ("mine\tmine.tsv\t3\tno_tab\tnothing\t\nmine\tmine.tsv\t4\tduplicate\tka lo\tol ak\n")


def test_a_part_that_has_changed_is_refused(part: CorpusPart, model: bytes) -> None:
    few = np.array([False, False])
    with pytest.raises(DataError, match=r"mine\.tsv: was written to while it was being prepared"):
        encode_part(EncodeTask(part=part, cleaning=CLEANING, duplicates=few, source_model=model, target_model=model))
    with pytest.raises(DataError, match=r"mine\.tsv: was written to while it was being prepared"):
        sample_part(SampleTask(part=part, cleaning=CLEANING, rows=np.array([9])))
