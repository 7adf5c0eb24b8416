"""Translates a set with one setting and measures the result; this is done once and kept.

DIR/models/seed-N-average-M/                      the mean of a run's last M checkpoints, a model folder
DIR/decoded/seed-N/SET/SETTING.json               the result of a setting, which is not decoded again
DIR/decoded/SET.json                              the number and the digest of a set's sentences
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter
from sacrebleu.metrics.bleu import BLEU, BLEUScore

from attendo.checkpoint.checksums import read_json
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.decoding.lines.translation import Translation
from attendo.errors import ModelError
from attendo.evaluation.scores import metrics
from attendo.files import write_json
from attendo.paper.search_settings.rows import Sentences, Setting
from attendo.paper.study_folder import keep, kept
from attendo.workflow.engines.engine import Engine
from attendo.workflow.machine.device import choose_device
from attendo.workflow.runs.average import average


@dataclass(frozen=True, kw_only=True)
class DecodedSet:
    """The translations of a set with one setting, and their measurements."""

    setting: Setting
    outputs: tuple[str, ...]
    bleu: float
    bleu_signature: str
    length_ratio: float
    """Ratio of the translations' words to the references' words, as BLEU counts them."""
    tokens: float
    """Mean number of tokens in a translation, `</s>` included."""
    log_prob: float
    """Mean log-probability of a translation under the model, in nats."""
    log_probs: tuple[float, ...]
    """Log-probability of each translation, in nats."""
    unfinished: int
    """Number of translations that the length limit ended."""
    seconds: float
    """Wall time of translating the set, in seconds."""
    processor_s: float
    """Processor time of translating the set, in seconds, summed over all threads."""
    kernel: str
    """Description of the kernels and numbers that calculated products."""

    @property
    def processor_ms(self) -> float:
        """Processor time per sentence, in milliseconds."""
        return 1000 * self.processor_s / len(self.outputs)


_KEPT = TypeAdapter(DecodedSet)
_KEPT_SCORES = TypeAdapter(tuple[float, ...])


def averaged_model(run: Path, last: int, folder: Path) -> Path:
    """Returns a model folder with the mean of a run's last checkpoints; makes it if it is missing.

    Raises:
        ModelError: the run has fewer checkpoints, or damaged ones.
    """
    if not (folder / "config.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        average(run, last, folder)
    return folder


def decode(
    model: LoadedModel, setting: Setting, sentences: Sentences, should_stop: Callable[[], bool]
) -> DecodedSet | None:
    """Translates a set, without guards, so that only the search is measured.

    Args:
        model: the average that the setting asks for.
        setting: the setting of the search.
        sentences: the set.
        should_stop: asked after every few hundred sentences.

    Returns:
        The translations and their measurements; None if stopped.
    """
    search = SearchConfig(
        beam_size=setting.beam,
        length_penalty=setting.alpha,
        max_len_offset=setting.offset,
        n_best=setting.beam if setting.all_of_the_beam else 1,
        guards=GuardConfig.off(),
    )
    engine = Engine([model], search, dtype="float32", device=choose_device("auto"))
    started, processor_started = time.monotonic(), time.process_time()
    translations: list[Translation] = []
    for translation in engine.stream(sentences.sources):
        translations.append(translation)
        if len(translations) % search.window_lines == 0 and should_stop():
            return None
    seconds, processor_s = time.monotonic() - started, time.process_time() - processor_started
    outputs = tuple(translation.text for translation in translations)
    metric = metrics(engine.description.target_language)["bleu"]
    assert isinstance(metric, BLEU)
    score = metric.corpus_score(outputs, [sentences.references])
    assert isinstance(score, BLEUScore)
    best = [translation.n_best[0] for translation in translations]
    return DecodedSet(
        setting=setting,
        outputs=outputs,
        bleu=float(score.score),
        bleu_signature=str(metric.get_signature()),
        length_ratio=score.sys_len / score.ref_len,
        tokens=sum(len(candidate.token_log_probs) for candidate in best) / len(best),
        log_prob=sum(candidate.log_prob for candidate in best) / len(best),
        log_probs=tuple(candidate.log_prob for candidate in best),
        unfinished=sum(not candidate.finished for candidate in best),
        seconds=seconds,
        processor_s=processor_s,
        kernel=engine.kernel,
    )


def decode_once(
    path: Path, load: Callable[[], LoadedModel], setting: Setting, sentences: Sentences, should_stop: Callable[[], bool]
) -> DecodedSet | None:
    """Returns the kept result of `decode`; if there is none, decodes and keeps the result in a file.

    Args:
        path: the file.
        load: loads the model; called only if it is needed.
        setting: the setting of the search.
        sentences: the set.
        should_stop: as for `decode`.

    Raises:
        ModelError: the kept result has another setting or another number of sentences.
        OSError: the file cannot be written.
    """
    known = kept(path, _KEPT)
    if known is None:
        decoded = decode(load(), setting, sentences, should_stop)
        if decoded is not None:
            keep(path, decoded)
        return decoded
    if known.setting != setting or len(known.outputs) != len(sentences.sources):
        raise ModelError(f"{path}: is of another study; name another folder with -o, or remove {path.parent}")
    return known


def reference_log_probs(path: Path, load: Callable[[], LoadedModel], sentences: Sentences) -> tuple[float, ...]:
    """Returns the log-probability of each reference under a model, in nats; kept in a file.

    Args:
        path: the file.
        load: loads the model; called only if it is needed.
        sentences: the set.
    """
    scores = kept(path, _KEPT_SCORES)
    if scores is None:
        engine = Engine([load()], SearchConfig(), dtype="float32", device=choose_device("auto"))
        pairs = zip(sentences.sources, sentences.references, strict=True)
        scores = tuple(score.log_prob for score in engine.score(pairs))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, scores)
    return scores


class Models:
    """The averages of a run, each made and loaded when it is first needed; only the last one loaded stays in memory.

    Args:
        run: the run folder.
        folder: the folder for the averages.
        seed: seed of the run.
    """

    def __init__(self, run: Path, folder: Path, seed: int) -> None:
        self._run, self._folder, self._seed = run, folder, seed
        self._held: tuple[int, LoadedModel] | None = None

    def load(self, last: int) -> LoadedModel:
        """Returns the mean of this many last checkpoints.

        Raises:
            ModelError: as for `averaged_model`.
        """
        if self._held is None or self._held[0] != last:
            folder = averaged_model(self._run, last, self._folder / f"seed-{self._seed}-average-{last}")
            self._held = last, load_model(folder)
        return self._held[1]


def check_set(path: Path, sentences: Sentences) -> None:
    """Checks that the results beside a file are of these sentences; writes their digest to the file if it is missing.

    Raises:
        ModelError: the results are of other sentences, such as those of a test set that has changed since.
        OSError: the file cannot be written.
    """
    lines = "\n".join((*sentences.sources, *sentences.references))
    facts = {"sentences": len(sentences.sources), "sha256": hashlib.sha256(lines.encode()).hexdigest()}
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, facts)
    elif read_json(path, ModelError(f"{path}: cannot be read")) != facts:
        raise ModelError(
            f"{path}: what is decoded here is of other sentences than those of {sentences.name}; name another folder "
            f"with -o, or remove {path.parent}"
        )


def differing(one: Sequence[str], other: Sequence[str]) -> int:
    """Returns the number of sentences whose translations differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def without_outputs(decoded: DecodedSet) -> dict[str, object]:
    """Returns a result for `result.json`, without its thousands of sentences."""
    data = asdict(replace(decoded, outputs=(), log_probs=()))
    del data["outputs"], data["log_probs"]
    return data | {"sentences": len(decoded.outputs)}
