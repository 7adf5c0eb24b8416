"""A round of learning: trainings, the choice of a share, the gate, and a new model if it passes the gate.

OUTPUT.learning/       the folder of the round, in which an interrupted round resumes
  round.json           a digest of the round's texts and settings; if it differs, the round starts over
  texts/               translations of the text to replay by the model before learning; removed at the end of the round
  NAME/                a training: its run, the models of its shares, their translations; removed at the end too
  report.json          the report, written at the end of the round
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attendo.checkpoint.checksums import CARD, WEIGHTS
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import read_description, replace_card
from attendo.checkpoint.versions import VERSIONS
from attendo.decoding.scoring import PairScore, perplexity
from attendo.errors import DataError, ModelError
from attendo.files import locked, recover, sha256, write_json
from attendo.learning.averaging import write_between
from attendo.learning.calibrating import CORRECTIONS_SET, HeldOut, calibrate_anew, is_calibrated
from attendo.learning.config import LearningConfig
from attendo.learning.corrections import Correction, Corrections
from attendo.learning.gate import JudgedText, Verdict, judge
from attendo.learning.general_set import GeneralSet, general_set
from attendo.learning.parallel_lines import ParallelLines
from attendo.learning.portions import LEAST_CORRECTIONS, Portion, portions
from attendo.learning.replay import Replay, replay_of, replayed
from attendo.learning.report import LearningReport, card_section, with_learning
from attendo.learning.selection import Candidate, Selection, choose_share
from attendo.learning.translating import LearningReporter, translate_once
from attendo.learning.tuning import LearningInterruptedError, Tuning, tune
from attendo.output_folders import Origin, check_replaceable, made_folder
from attendo.reading import MAX_JSON_BYTES, parse_json, read_bounded
from attendo.terms.files import joined_glossaries, read_glossary
from attendo.terms.glossary import Glossary
from attendo.workflow.engines.translate import load

_BEGUN, _REPORT = "round.json", "report.json"


@dataclass(frozen=True, kw_only=True)
class RoundPlan:
    """The plan of a round, made before anything is trained."""

    model: Path
    """The folder of the model that learns."""
    model_name: str
    """Name of the model in reports and the card, which reveals no path of this machine."""
    languages: tuple[str, str]
    corrections: Corrections
    portions: tuple[Portion, ...]
    """The corrections of each training; empty if there are too few corrections."""
    general: GeneralSet
    replay: Replay
    glossary: Glossary | None
    """Terms that must be used as often as before; None for no terms."""
    config: LearningConfig

    @property
    def digest(self) -> str:
        """A digest of everything that determines the result of the round."""
        content = {
            "model": sha256(self.model / WEIGHTS),
            "corrections": self.corrections.digest,
            "general": asdict(self.general),
            "replay": asdict(self.replay),
            "glossary": None if self.glossary is None else self.glossary.digest,
            "config": asdict(self.config),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8")).hexdigest()


def plan_round(model: str, corrections: Corrections, config: LearningConfig) -> RoundPlan:
    """Plans a round and reads all its texts other than the corrections.

    Raises:
        ModelError: there is no such model, or it is a parser.
        DataError: the general set, a glossary or the text to replay cannot be used, or there are no corrections.
    """
    folder = find_model(model)
    description = read_description(folder)
    if description.task != "translate":
        raise ModelError(f"{folder}: is a parser; attendo learn takes models that translate")
    if not corrections.pairs:
        dropped = ", ".join(f"{file.name}: {_counts(file.dropped)}" for file in corrections.files)
        raise DataError(f"no correction is left to learn from ({dropped}); see docs/learning.md for what is dropped")
    languages = (description.source_language, description.target_language)
    sources = frozenset(pair.source for pair in corrections.pairs)
    general = general_set(config, languages, sources)
    num_replayed = max(1000, round(config.passes * len(sources) * config.replay_share / (1.0 - config.replay_share)))
    is_enough = len(corrections.pairs) >= LEAST_CORRECTIONS
    return RoundPlan(
        model=folder,
        model_name=_name(model, folder),
        languages=languages,
        corrections=corrections,
        portions=portions(corrections.pairs, config.folds) if is_enough else (),
        general=general,
        replay=replay_of(config, languages, sources | general.sources, num_replayed),
        glossary=_glossary(config, languages),
        config=config,
    )


def run_round(
    plan: RoundPlan,
    output: Path,
    reporter: LearningReporter,
    should_stop: Callable[[], bool],
    *,
    force: bool = False,
) -> LearningReport:
    """Runs a round or resumes an interrupted one; for a finished round, returns its report again.

    Args:
        plan: the plan that `plan_round` returned.
        output: the new model's folder, written only if the gate accepts the model.
        reporter: receives the progress.
        should_stop: called now and then; True interrupts the round.
        force: whether to replace whatever `output` holds.

    Raises:
        LearningInterruptedError: the round was interrupted; the same call resumes it.
        ModelError: another process is running this round, or `output` holds something other than the result of a round
            with this model.
        OSError: the disk is full, or a folder cannot be written to.
    """
    origin = Origin(command="learn", source=plan.model)
    check_replaceable(output, origin, force=force)
    work = round_folder(output)
    work.mkdir(parents=True, exist_ok=True)
    try:
        with locked(work / ".lock"):
            recover(work)
            _begin(plan, work, reporter)
            if (report := _kept_report(work)) is not None and (report.model is None or output.exists()):
                reporter.message(f"{work}: this round is over; its report again")
                return report
            return _Round(plan, work, reporter, should_stop).run(output, force=force)
    except BlockingIOError as error:
        raise ModelError(f"{work}: {error.strerror}; wait until it has ended, or name another model with -o") from None


def round_folder(output: Path) -> Path:
    """Returns the folder of the round whose new model is written to `output`."""
    return output.with_name(f"{output.name}.learning")


class _Round:
    """A running round."""

    def __init__(
        self, plan: RoundPlan, work: Path, reporter: LearningReporter, should_stop: Callable[[], bool]
    ) -> None:
        self._plan, self._work, self._reporter, self._should_stop = plan, work, reporter, should_stop

    def run(self, output: Path, *, force: bool) -> LearningReport:
        plan = self._plan
        if not plan.portions:
            return self._end(_too_few(plan), None, output, "", force=force)
        replay = replayed(plan.replay, lambda lines: self._translated(plan.model, lines, "texts", "replay", 0.0))
        tuned = {portion.name: self._train(portion, replay) for portion in plan.portions}
        selection = self._select(tuned)
        share = selection.chosen.share
        self._reporter.message(f"takes {share:g} of the fine-tuned weights")
        verdict = self._judge(tuned, share)
        confidence = self._calibrate(tuned, share) if verdict.outcome == "accepted" else ""
        return self._end(verdict, selection, output, confidence, force=force)

    def _train(self, portion: Portion, replay: ParallelLines) -> Path:
        """Trains on a portion and returns the folder of the fine-tuned model."""
        plan = self._plan
        self._reporter.message(
            f"training {plan.portions.index(portion) + 1} of {len(plan.portions)}, {portion.name}: "
            f"{len(portion.train):,} corrections, {len(replay.sources):,} pairs replayed"
        )
        tuning = Tuning(
            name=portion.name, model=plan.model, corrections=_lines(portion.train), replay=replay, config=plan.config
        )
        return tune(tuning, self._work / portion.name, self._reporter, self._should_stop)

    def _select(self, tuned: Mapping[str, Path]) -> Selection:
        """Chooses one share for all trainings, by the corrections that each reserves for the choice."""
        plan = self._plan

        def candidate(share: float) -> Candidate:
            if self._should_stop():
                raise LearningInterruptedError("choosing a share: interrupted")
            corrections, general = list[PairScore](), list[PairScore]()
            for portion in plan.portions:
                with load(self._between(portion, tuned, share)) as engine:
                    corrections += engine.score(_lines(portion.selection).pairs)
                    if portion is plan.portions[-1]:
                        general += engine.score(plan.general.selection.pairs)
            return Candidate(
                share=share, corrections=perplexity(corrections).per_token, general=perplexity(general).per_token
            )

        return choose_share(plan.config.shares, candidate)

    def _between(self, portion: Portion, tuned: Mapping[str, Path], share: float) -> Path:
        """Returns the folder of the model with a share of the fine-tuned weights, which is written if it is missing.

        The model of share 0 is the model before learning.
        """
        plan = self._plan
        if not share:
            return plan.model
        folder = self._work / portion.name / f"share-{share:g}"
        if not folder.exists():
            facts = {"learned": {"share": share, "ancestor": plan.model_name, "corrections": plan.corrections.digest}}
            write_between(plan.model, tuned[portion.name], share, folder, facts)
        return folder

    def _judge(self, tuned: Mapping[str, Path], share: float) -> Verdict:
        """Has both models translate the texts of the gate, and compares the translations."""
        plan, gate = self._plan, self._plan.general.gate
        held_out = _lines([pair for portion in plan.portions for pair in portion.held_out])
        before, after = (
            self._of_corrections(CORRECTIONS_SET, lambda part: part.held_out, tuned, model_share)
            for model_share in (0.0, share)
        )
        corrections = JudgedText(
            name=CORRECTIONS_SET, sources=held_out.sources, references=held_out.targets, before=before, after=after
        )
        before, after = (self._of_general("general set", gate, tuned, model_share) for model_share in (0.0, share))
        general = JudgedText(
            name=plan.general.name,
            sources=gate.sources,
            references=gate.targets,
            before=before,
            after=after,
            domains=[(domain.name, len(domain.lines.sources)) for domain in plan.general.domains if domain.name],
        )
        max_loss = plan.config.max_general_loss
        return judge(corrections, general, languages=plan.languages, max_loss=max_loss, glossary=plan.glossary)

    def _calibrate(self, tuned: Mapping[str, Path], share: float) -> str:
        """Calibrates the new model if its ancestor is calibrated; returns the outcome in words, or an empty string."""
        plan = self._plan
        if not is_calibrated(plan.model):
            return ""
        self._reporter.message("calibrates the confidence of the new model")
        held_out = [
            HeldOut(model=self._between(portion, tuned, share), lines=_lines(portion.held_out))
            for portion in plan.portions
            if portion.held_out
        ]
        model = self._between(plan.portions[-1], tuned, share)
        return calibrate_anew(plan.model, model, held_out, (plan.general.name, plan.general.gate))

    def _of_corrections(
        self, name: str, part: Callable[[Portion], Sequence[Correction]], tuned: Mapping[str, Path], share: float
    ) -> list[str]:
        """Translates a part of each training's corrections with the model of a share of that training."""
        return [
            text
            for portion in self._plan.portions
            for text in self._translated(
                self._between(portion, tuned, share), _lines(part(portion)).sources, portion.name, name, share
            )
        ]

    def _of_general(self, name: str, lines: ParallelLines, tuned: Mapping[str, Path], share: float) -> list[str]:
        """Translates general text with the model of a share of the last training."""
        final = self._plan.portions[-1]
        return self._translated(self._between(final, tuned, share), lines.sources, final.name, name, share)

    def _translated(self, model: Path, lines: Sequence[str], subfolder: str, name: str, share: float) -> list[str]:
        label = f"{name}, share {share:g}"
        path = self._work / subfolder / f"{label}.jsonl"
        return translate_once(model, lines, path, f"{subfolder}: {label}", self._reporter, self._should_stop)

    def _end(
        self, verdict: Verdict, selection: Selection | None, output: Path, confidence: str, *, force: bool
    ) -> LearningReport:
        """Writes the report and, if it was accepted, the new model; removes the files that are no longer needed."""
        plan = self._plan
        report = LearningReport(
            model=str(output) if verdict.outcome == "accepted" else None,
            ancestor=plan.model_name,
            ancestor_sha256=sha256(plan.model / WEIGHTS),
            corrections=len(plan.corrections.pairs),
            files=tuple(plan.corrections.files_json()),
            trainings=len(plan.portions),
            replay=plan.replay.name,
            general=plan.general.name,
            selection=None if selection is None else asdict(selection),
            confidence=confidence,
            verdict=verdict,
        )
        if selection is not None and report.model is not None:
            final = plan.portions[-1]
            folder = self._work / final.name / f"share-{selection.chosen.share:g}"
            card = with_learning((folder / CARD).read_text(encoding="utf-8"), card_section(report))
            replace_card(folder, card)
            with made_folder(output, Origin(command="learn", source=plan.model), force=force) as draft:
                shutil.copytree(folder, draft, dirs_exist_ok=True)
        write_json(self._work / _REPORT, report.to_json())
        for name in ("texts", *(portion.name for portion in plan.portions)):
            with suppress(FileNotFoundError):
                shutil.rmtree(self._work / name)
        return report


def _name(model: str, folder: Path) -> str:
    """Returns the name of a model: that of its folder or its run, or the name of its versions with the version."""
    if folder.parent.name == VERSIONS:
        return f"{folder.parent.parent.name}@{folder.name}"
    return folder.parent.name if folder.name == "model" else Path(model).name


def _glossary(config: LearningConfig, languages: tuple[str, str]) -> Glossary | None:
    glossaries = [read_glossary(path, source=languages[0], target=languages[1]) for path in config.glossary]
    return joined_glossaries(glossaries) if glossaries else None


def _begin(plan: RoundPlan, work: Path, reporter: LearningReporter) -> None:
    """Empties the folder if its round had other corrections, another model or other settings."""
    path, facts = work / _BEGUN, {"format_version": 1, "round": plan.digest}
    if _read(path) == facts:
        return
    others = [entry for entry in work.iterdir() if entry.name != ".lock"]
    if others and not path.is_file():
        raise ModelError(f"{work}: holds something else than a round of learning; move it away, or name another -o")
    if others:
        reporter.message(f"{work}: was begun with other corrections or settings; begins anew")
    for entry in others:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    write_json(path, facts)


def _kept_report(work: Path) -> LearningReport | None:
    content = _read(work / _REPORT)
    return None if content is None else LearningReport.from_json(content)


def _read(path: Path) -> Any:
    try:
        return parse_json(read_bounded(path, MAX_JSON_BYTES))
    except (OSError, ValueError):
        return None


def _too_few(plan: RoundPlan) -> Verdict:
    number = len(plan.corrections.pairs)
    return Verdict(
        outcome="not enough to tell",
        reason=f"too few corrections: {number:,}, and the gate needs {LEAST_CORRECTIONS} or more; collect more",
        checks=(),
    )


def _lines(pairs: Sequence[Correction]) -> ParallelLines:
    return ParallelLines(sources=tuple(pair.source for pair in pairs), targets=tuple(pair.target for pair in pairs))


def _counts(counts: Any) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.items()) or "empty"
