"""A round of learning: trainings, the choice of a share, the gate; and a new model where the gate lets it through.

OUTPUT.learning/       the folder of the round; an interrupted one goes on in it
  round.json           what the round learns from and how, as digests: another round begins anew
  texts/               what is replayed, and translations by the model as it was
  NAME/                a training: its run, models of its shares, their translations; gone when the round is over
  report.json          the end of the round
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
from attendo.errors import DataError, ModelError
from attendo.files import locked, recover, sha256, write_json
from attendo.learning.averaging import write_between
from attendo.learning.config import LearningConfig
from attendo.learning.corrections import Correction, Corrections
from attendo.learning.gate import JudgedText, Verdict, judge
from attendo.learning.portions import LEAST_CORRECTIONS, Portion, portions
from attendo.learning.report import LearningReport, card_section, with_learning
from attendo.learning.selection import Selection, SelectionOutputs, choose_share
from attendo.learning.texts import GeneralSet, ParallelLines, ReplaySource, general_set, replay_source, replayed
from attendo.learning.translating import LearningReporter, translate_once
from attendo.learning.tuning import Tuning, tune
from attendo.output_folders import Origin, check_replaceable, made_folder
from attendo.reading import MAX_JSON_BYTES, parse_json, read_bounded

_BEGUN, _REPORT = "round.json", "report.json"
_CORRECTIONS_TEXT = "corrections kept aside"


@dataclass(frozen=True, kw_only=True)
class RoundPlan:
    """What a round will do, known before anything is trained."""

    model: Path
    """The folder of the model that learns."""
    model_name: str
    """What reports and the card call it; no path of this machine."""
    languages: tuple[str, str]
    corrections: Corrections
    portions: tuple[Portion, ...]
    """The trainings; empty where there are too few corrections."""
    general: GeneralSet
    replay: ReplaySource
    config: LearningConfig

    @property
    def digest(self) -> str:
        """A digest of all that decides what comes of the round."""
        content = {
            "model": sha256(self.model / WEIGHTS),
            "corrections": self.corrections.digest,
            "general": asdict(self.general),
            "replay": asdict(self.replay),
            "config": asdict(self.config),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf-8")).hexdigest()


def plan_round(model: str, corrections: Corrections, config: LearningConfig) -> RoundPlan:
    """Works out what a round does; reads the texts beside the corrections.

    Raises:
        ModelError: there is no such model, or it is a parser.
        DataError: the general set or what is replayed cannot be used, or there is no correction at all.
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
    excluded = sources | frozenset(general.gate.sources) | frozenset(general.selection.sources)
    wanted = max(1000, round(config.passes * len(sources) * config.replay_share / (1.0 - config.replay_share)))
    is_enough = len(corrections.pairs) >= LEAST_CORRECTIONS
    return RoundPlan(
        model=folder,
        model_name=_name(model, folder),
        languages=languages,
        corrections=corrections,
        portions=portions(corrections.pairs, config.folds) if is_enough else (),
        general=general,
        replay=replay_source(config, languages, excluded, wanted),
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
    """Runs a round, or goes on with one that was interrupted; one that is over gives its report again.

    Args:
        plan: as `plan_round` gave it.
        output: the new model's folder, written only where the gate lets the model through.
        reporter: who is told.
        should_stop: asked now and then.
        force: replace whatever `output` holds.

    Raises:
        LearningInterruptedError: it was interrupted; the same call goes on.
        ModelError: another process works on this round, or `output` holds something that no round has made of this
            model.
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
    """The folder of the round whose new model goes to `output`."""
    return output.with_name(f"{output.name}.learning")


class _Round:
    """A round at work."""

    def __init__(
        self, plan: RoundPlan, work: Path, reporter: LearningReporter, should_stop: Callable[[], bool]
    ) -> None:
        self._plan, self._work, self._reporter, self._should_stop = plan, work, reporter, should_stop

    def run(self, output: Path, *, force: bool) -> LearningReport:
        plan = self._plan
        if not plan.portions:
            return self._end(_too_few(plan), None, output, force=force)
        replay = replayed(plan.replay, lambda name, lines: self._translated(plan.model, lines, "texts", name))
        tuned = {portion.name: self._train(portion, replay) for portion in plan.portions}
        selection = self._select(tuned)
        self._reporter.message(f"takes {selection.chosen.share:g} of the fine-tuned weights")
        return self._end(self._judge(tuned, selection.chosen.share), selection, output, force=force)

    def _train(self, portion: Portion, replay: ParallelLines) -> Path:
        """Trains on a portion; gives the folder of the fine-tuned model."""
        plan = self._plan
        self._reporter.message(f"{portion.name}: {len(portion.train):,} corrections, {len(replay.sources):,} replayed")
        tuning = Tuning(
            name=portion.name, model=plan.model, corrections=_lines(portion.train), replay=replay, config=plan.config
        )
        return tune(tuning, self._work / portion.name, self._reporter, self._should_stop)

    def _select(self, tuned: Mapping[str, Path]) -> Selection:
        """Chooses one share for all trainings, by what each has kept aside for that."""
        plan, final = self._plan, self._plan.portions[-1]

        def outputs(share: float) -> SelectionOutputs:
            corrections: list[str] = []
            for portion in plan.portions:
                sources = [pair.source for pair in portion.selection]
                model = self._between(portion, tuned, share)
                corrections += self._translated(model, sources, portion.name, f"corrections to choose by, {share:g}")
            model, sources = self._between(final, tuned, share), list(plan.general.selection.sources)
            general = self._translated(model, sources, final.name, f"general text to choose by, {share:g}")
            return SelectionOutputs(corrections=corrections, general=general)

        references = SelectionOutputs(
            corrections=[pair.target for portion in plan.portions for pair in portion.selection],
            general=list(plan.general.selection.targets),
        )
        return choose_share(plan.config.shares, references, outputs, plan.languages[1])

    def _between(self, portion: Portion, tuned: Mapping[str, Path], share: float) -> Path:
        """The folder of the model of a share, written where it is missing; that of share 0 is the model as it was."""
        plan = self._plan
        if not share:
            return plan.model
        folder = self._work / portion.name / f"share-{share:g}"
        if not folder.exists():
            facts = {"learned": {"share": share, "ancestor": plan.model_name, "corrections": plan.corrections.digest}}
            write_between(plan.model, tuned[portion.name], share, folder, facts)
        return folder

    def _judge(self, tuned: Mapping[str, Path], share: float) -> Verdict:
        """Has both models translate what decides, and compares."""
        plan, final = self._plan, self._plan.portions[-1]
        held_out = [(portion, [pair.source for pair in portion.held_out]) for portion in plan.portions]

        def of_corrections(share: float) -> list[str]:
            name = f"corrections kept aside, {share:g}"
            return [
                text
                for portion, sources in held_out
                for text in self._translated(self._between(portion, tuned, share), sources, portion.name, name)
            ]

        def of_general(share: float) -> list[str]:
            model = self._between(final, tuned, share)
            return self._translated(model, plan.general.gate.sources, final.name, f"general set, {share:g}")

        corrections = JudgedText(
            name=_CORRECTIONS_TEXT,
            sources=[source for _, sources in held_out for source in sources],
            references=[pair.target for portion in plan.portions for pair in portion.held_out],
            before=of_corrections(0.0),
            after=of_corrections(share),
        )
        general = JudgedText(
            name=plan.general.name,
            sources=plan.general.gate.sources,
            references=plan.general.gate.targets,
            before=of_general(0.0),
            after=of_general(share),
        )
        return judge(corrections, general, languages=plan.languages, max_loss=plan.config.max_general_loss)

    def _translated(self, model: Path, lines: Sequence[str], where: str, name: str) -> list[str]:
        path = self._work / where / f"{name}.jsonl"
        return translate_once(model, lines, path, f"{where}: {name}", self._reporter, self._should_stop)

    def _end(self, verdict: Verdict, selection: Selection | None, output: Path, *, force: bool) -> LearningReport:
        """Writes the new model, where it is accepted, and the report; removes what the round no longer needs."""
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
    """What a model is called: by the name of its folder, of its run, or of its versions with the version."""
    if folder.parent.name == VERSIONS:
        return f"{folder.parent.parent.name}@{folder.name}"
    return folder.parent.name if folder.name == "model" else Path(model).name


def _begin(plan: RoundPlan, work: Path, reporter: LearningReporter) -> None:
    """Empties the folder of a round of other corrections, another model or other settings."""
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
    found = _read(work / _REPORT)
    return None if found is None else LearningReport.from_json(found)


def _read(path: Path) -> Any:
    try:
        return parse_json(read_bounded(path, MAX_JSON_BYTES))
    except (OSError, ValueError):
        return None


def _too_few(plan: RoundPlan) -> Verdict:
    number = len(plan.corrections.pairs)
    return Verdict(
        outcome="not enough to tell",
        reason=f"{number:,} corrections, and the gate judges by {LEAST_CORRECTIONS} at least: collect more",
        checks=(),
    )


def _lines(pairs: Sequence[Correction]) -> ParallelLines:
    return ParallelLines(sources=tuple(pair.source for pair in pairs), targets=tuple(pair.target for pair in pairs))


def _counts(counts: Any) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.items()) or "empty"
