"""A set translated with one setting, and what came of it: measured once, and kept.

DIR/models/seed-N-average-M/                      the mean of a run's last M checkpoints, a model folder
DIR/decoded/seed-N/SET/SETTING.json               what came of a setting: it is done
DIR/decoded/SET.json                              which sentences these are
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
class Decoded:
    """A set's translations with one setting."""

    setting: Setting
    outputs: tuple[str, ...]
    bleu: float
    bleu_signature: str
    length_ratio: float
    """Words of the translations to words of the references, as BLEU counts them."""
    tokens: float
    """Of a translation, `</s>` included, on average."""
    log_prob: float
    """Of a translation by the model, in nats, on average."""
    log_probs: tuple[float, ...]
    """Of each."""
    unfinished: int
    """Translations that the length limit has ended."""
    seconds: float
    """Wall time of translating the set."""
    processor_s: float
    """Time of all processor threads."""
    kernel: str
    """What was calculated on and in."""

    @property
    def processor_ms(self) -> float:
        """Processor time a sentence, in milliseconds."""
        return 1000 * self.processor_s / len(self.outputs)


_KEPT = TypeAdapter(Decoded)
_KEPT_SCORES = TypeAdapter(tuple[float, ...])


def averaged_model(run: Path, last: int, folder: Path) -> Path:
    """The mean of a run's last checkpoints as a model folder; made where it is missing.

    Raises:
        ModelError: the run has fewer checkpoints, or torn ones.
    """
    if not (folder / "config.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        average(run, last, folder)
    return folder


def decode(
    model: LoadedModel, setting: Setting, sentences: Sentences, should_stop: Callable[[], bool]
) -> Decoded | None:
    """Translates a set, without guards: it is the search that is measured.

    Args:
        model: of the setting's average.
        setting: how to search.
        sentences: the set.
        should_stop: asked behind every few hundred sentences.

    Returns:
        What came of it; None where it was to stop.
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
    found: list[Translation] = []
    for translation in engine.stream(sentences.sources):
        found.append(translation)
        if len(found) % search.window_lines == 0 and should_stop():
            return None
    seconds, processor_s = time.monotonic() - started, time.process_time() - processor_started
    outputs = tuple(each.text for each in found)
    metric = metrics(engine.description.target_language)["bleu"]
    assert isinstance(metric, BLEU)
    score = metric.corpus_score(outputs, [sentences.references])
    assert isinstance(score, BLEUScore)
    best = [each.n_best[0] for each in found]
    return Decoded(
        setting=setting,
        outputs=outputs,
        bleu=float(score.score),
        bleu_signature=str(metric.get_signature()),
        length_ratio=score.sys_len / score.ref_len,
        tokens=sum(len(each.token_log_probs) for each in best) / len(best),
        log_prob=sum(each.log_prob for each in best) / len(best),
        log_probs=tuple(each.log_prob for each in best),
        unfinished=sum(not each.finished for each in best),
        seconds=seconds,
        processor_s=processor_s,
        kernel=engine.kernel,
    )


def decode_once(
    path: Path, load: Callable[[], LoadedModel], setting: Setting, sentences: Sentences, should_stop: Callable[[], bool]
) -> Decoded | None:
    """What `decode` gives; kept in a file, so that it is done once.

    Args:
        path: the file.
        load: gives the model, where it is needed.
        setting: how to search.
        sentences: the set.
        should_stop: as for `decode`.

    Raises:
        ModelError: what is kept is of other sentences or another setting.
        OSError: the file cannot be written.
    """
    known = kept(path, _KEPT)
    if known is None:
        found = decode(load(), setting, sentences, should_stop)
        if found is not None:
            keep(path, found)
        return found
    if known.setting != setting or len(known.outputs) != len(sentences.sources):
        raise ModelError(f"{path}: is of another study; name another folder with -o, or remove {path.parent}")
    return known


def reference_log_probs(path: Path, load: Callable[[], LoadedModel], sentences: Sentences) -> tuple[float, ...]:
    """What a model gives each reference, in nats; kept in a file.

    Args:
        path: the file.
        load: gives the model, where it is needed.
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
    """The averages of a run, each made and read when it is first asked for; the last one read is held.

    Args:
        run: the run folder.
        folder: for the averages.
        seed: the run's.
    """

    def __init__(self, run: Path, folder: Path, seed: int) -> None:
        self._run, self._folder, self._seed = run, folder, seed
        self._held: tuple[int, LoadedModel] | None = None

    def load(self, last: int) -> LoadedModel:
        """The mean of the last so many checkpoints.

        Raises:
            ModelError: as for `averaged_model`.
        """
        if self._held is None or self._held[0] != last:
            folder = averaged_model(self._run, last, self._folder / f"seed-{self._seed}-average-{last}")
            self._held = last, load_model(folder)
        return self._held[1]


def check_set(path: Path, sentences: Sentences) -> None:
    """Makes sure that what is kept beside a file is of these sentences, and keeps their digest in it.

    Raises:
        ModelError: it is of others, as of a test set that has changed since.
        OSError: the file cannot be written.
    """
    lines = "\n".join((*sentences.sources, *sentences.references))
    found = {"sentences": len(sentences.sources), "sha256": hashlib.sha256(lines.encode()).hexdigest()}
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, found)
    elif read_json(path, ModelError(f"{path}: cannot be read")) != found:
        raise ModelError(
            f"{path}: what is decoded here is of other sentences than those of {sentences.name}; name another folder "
            f"with -o, or remove {path.parent}"
        )


def differing(one: Sequence[str], other: Sequence[str]) -> int:
    """How many translations of a set differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def without_outputs(decoded: Decoded) -> dict[str, object]:
    """A result for `result.json`, where thousands of sentences would be in the way."""
    found = asdict(replace(decoded, outputs=(), log_probs=()))
    del found["outputs"], found["log_probs"]
    return found | {"sentences": len(decoded.outputs)}
