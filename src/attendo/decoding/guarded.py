"""Lines in, translations out: what the guards make of a line is searched, looked at, and searched again where need be.

A line is read in parts, of which nearly every line has one: itself. All parts of all lines are searched together, and
those whose translations cannot be meant are searched once more, with a rule or with a wider beam.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import get_args

from attendo.decoding.config import GuardName, SearchConfig
from attendo.decoding.constraints import Ids, NoRepeat
from attendo.decoding.guards.output import AtMostOnce, InOrder, NoStutter, has_loop, has_much_of, is_copy, is_long_loop
from attendo.decoding.guards.parts import Part, Reading, as_it_is
from attendo.decoding.guards.reading import Reader
from attendo.decoding.guards.words import word_numbers
from attendo.decoding.hypothesis import Hypothesis, length_penalty
from attendo.decoding.lengths import is_spelled, needed_tokens, piece_length
from attendo.decoding.line_constraints import Constraints, LineRules
from attendo.decoding.models import DecodingModel
from attendo.decoding.parallel import IdSearch
from attendo.decoding.tasks import NumberedLine, Task
from attendo.decoding.translation import Candidate, Counts, Translation
from attendo.decoding.watch import Watch
from attendo.decoding.words import Subwords
from attendo.errors import DataError
from attendo.text.tokenization import EOS_ID

COPY_MARGIN = 0.25
"""So much lower a score may be than that of a translation that only repeats its source, to take its place.

Text of the target language is rightly given back as it is: of 400 such lines a model of 12,000 pieces copied 9, and
what it held for second best in other words was further below than this in all but one."""
_FORCED_BEAM = 12
_FEW_THINGS = 3
_DIVERSE_BEAM, _DIVERSE_GROUPS = 8, 4
_NO_REPEAT = 3
_MARKS = (".", "!")

_UNCONSTRAINED = Constraints()
_ORDER: tuple[GuardName, ...] = get_args(GuardName)
_NOTHING = Candidate(text="", ids=(), pieces=(), log_prob=0.0, score=0.0, token_log_probs=(), finished=True)


class GuardedSearch:
    """Translates lines, guarded as the settings say.

    Args:
        models: the mean of their probabilities is searched.
        config: search settings.
        source_tokenizer: of the source language.
        target_tokenizer: of the target language.
        encode: a source's ids, cut at the longest that can be read, and whether they were.
        max_positions: tokens that the model can write, for learned positions.
        languages: source and target, as ISO 639-1 codes; empty where not known.
        threads: that may work.
        counts: where to count what is done.
    """

    def __init__(
        self,
        models: Sequence[DecodingModel],
        config: SearchConfig,
        source_tokenizer: Subwords,
        target_tokenizer: Subwords,
        *,
        encode: Callable[[Sequence[str]], tuple[list[list[int]], list[bool]]],
        max_positions: int | None,
        languages: tuple[str, str],
        threads: int,
        counts: Counts,
    ) -> None:
        self._models, self._config, self._threads = models, config, threads
        self._search = IdSearch(models, config, threads=threads)
        self._source_tokenizer, self._tokenizer = source_tokenizer, target_tokenizer
        self._encode = encode
        self._rules = LineRules(target_tokenizer, config, max_positions)
        self._placeholders = tuple(
            symbol for symbol in source_tokenizer.placeholders if symbol in target_tokenizer.placeholders
        )
        self._reader = Reader(
            config.guards,
            source_tokenizer,
            placeholders=self._placeholders,
            languages=languages,
            # Limits of a whole translation, several of them and chance cannot be had sentence by sentence.
            one_by_one=config.n_best == 1 and not config.sampling and not config.min_len and config.max_len is None,
        )
        self.counts = counts
        """What has been done so far, for warnings and figures."""

    def translate(self, lines: Sequence[NumberedLine]) -> list[Translation | None]:
        """Translates lines, all of them sorted by length together.

        Args:
            lines: with line ends or without.

        Returns:
            A translation a line, in the lines' order; None for one that is cancelled.

        Raises:
            DataError: a line holds a lone surrogate, or constraints cannot be fulfilled.
            ModelError: the models' probabilities are not numbers.
        """
        readings = [self._read(line) for line in lines]
        parts = [(line, part) for line, reading in zip(lines, readings, strict=True) for part in reading.parts]
        tasks = self._searched(self._tasks([(line, part) for line, part in parts if part.is_searched]))
        tasks = self._looked_at(tasks)
        remaining = iter(tasks)
        translations: list[Translation | None] = []
        for line, reading in zip(lines, readings, strict=True):
            its_tasks = [next(remaining) if part.is_searched else None for part in reading.parts]
            if any(task is not None and not task.candidates for task in its_tasks):
                translations.append(None)
                continue
            translation = self._translation(line, reading, its_tasks)
            self.counts.add(translation, sum(len(task.src_ids) for task in its_tasks if task is not None))
            translations.append(translation)
        return translations

    def _read(self, line: NumberedLine) -> Reading:
        """A line as the model reads it; constraints are meant for the line as it stands."""
        if self._config.guards.is_off or line.constraints != _UNCONSTRAINED:
            return as_it_is(line.text)
        return self._reader.read(line.text)

    # --- searching ----------------------------------------------------------------------------------------------------

    def _tasks(self, parts: Sequence[tuple[NumberedLine, Part]]) -> list[Task]:
        """What is to be searched of parts."""
        sources, cut = self._encode([part.read for _, part in parts])
        needed = [needed_tokens(self._source_tokenizer, ids) for ids in sources]
        return [
            Task.new(
                line,
                part,
                src_ids=ids,
                cut=its_cut,
                needed=its_needed,
                rules=self._rules.of(line.number, its_needed, line.constraints),
                spelled=self._is_spelled(line, part, len(ids) - 1),
            )
            for (line, part), ids, its_cut, its_needed in zip(parts, sources, cut, needed, strict=True)
        ]

    def _is_spelled(self, line: NumberedLine, part: Part, tokens: int) -> bool:
        """Whether a part is searched as what its vocabulary can only spell; see `Task.spelled`."""
        config = self._config
        is_guarded = config.guards.verbatim and line.constraints == _UNCONSTRAINED
        one = config.n_best == 1 and not config.sampling and not config.min_len
        return is_guarded and one and is_spelled(part.read, tokens, self._piece_length)

    def _searched(self, tasks: Sequence[Task], search: IdSearch | None = None) -> list[Task]:
        """Tasks with their candidates, none for lines that are cancelled; what is only spelled is searched greedily."""
        found = list(tasks)
        for spelled in (False, True):
            places = [place for place, task in enumerate(tasks) if task.spelled is spelled]
            if places:
                now = self._narrow_search if spelled else search or self._search
                for place, task in zip(places, self._found([tasks[place] for place in places], now), strict=True):
                    found[place] = task
        return found

    def _found(self, tasks: Sequence[Task], search: IdSearch) -> list[Task]:
        """Tasks with what a search has found; of short parts that are the same one is searched."""
        keys = [task.key if not self._config.sampling else None for task in tasks]
        distinct = {place if key is None else key: tasks[place] for place, key in enumerate(keys)}
        searched = list(distinct.values())
        watch = Watch(between_steps=tasks[0].line.between_steps, lines=[task.line.number for task in searched])
        hypotheses = search.search([task.src_ids for task in searched], [task.rules for task in searched], watch)
        found = dict(zip(distinct, (tuple(map(self._candidate, its)) for its in hypotheses), strict=True))
        return [
            task.found(found[place if key is None else key])
            for place, (key, task) in enumerate(zip(keys, tasks, strict=True))
        ]

    def _candidate(self, hypothesis: Hypothesis) -> Candidate:
        return Candidate(
            text=self._tokenizer.decode(hypothesis.ids),
            pieces=tuple(self._tokenizer.pieces([*hypothesis.ids, EOS_ID])),
            **vars(hypothesis),
        )

    # --- looking again ------------------------------------------------------------------------------------------------

    def _looked_at(self, tasks: list[Task]) -> list[Task]:
        """Tasks, those that a guard finds fault with searched again."""
        guards = self._config.guards
        if guards.protected and self._placeholders:
            tasks = self._again(tasks, self._lacks_things, self._with_things)
            tasks = list(map(self._with_verbatim, tasks))
            tasks = self._again(tasks, self._lacks_things, self._without_placeholders)
        if self._config.sampling:  # what chance has drawn stays
            return tasks
        if guards.fragments and self._config.n_best == 1:
            tasks = self._again(tasks, lambda task: task.part.is_fragment and not task.spelled, self._as_sentences)
        if guards.repetition:
            tasks = self._again(tasks, self._loops, self._without_loops)
        if guards.copies and self._config.n_best == 1:
            tasks = self._again(tasks, lambda task: _copies(task) and not task.spelled, self._other_words)
        return tasks

    def _again(
        self,
        tasks: list[Task],
        is_wrong: Callable[[Task], bool],
        repaired: Callable[[list[Task]], list[Task]],
    ) -> list[Task]:
        """Tasks, those that are wrong repaired; those with constraints, or whose budget is spent, are left alone."""
        wrong = {
            place: again
            for place, task in enumerate(tasks)
            if task.candidates
            and task.line.constraints == _UNCONSTRAINED
            and is_wrong(task)
            and (again := task.retry()) is not None
        }
        if not wrong:
            return tasks
        tasks = list(tasks)
        for place, task in zip(wrong, repaired(list(wrong.values())), strict=True):
            tasks[place] = task
        return tasks

    def _lacks_things(self, task: Task) -> bool:
        """Whether a candidate has not each of the part's placeholders once, tags in order, or one the part has not."""
        texts = [candidate.text for candidate in task.candidates]
        if any(not task.part.is_whole(text) for text in texts):
            return True
        read = task.part.read
        return any(symbol in text and symbol not in read for text in texts for symbol in self._placeholders)

    def _with_things(self, tasks: list[Task]) -> list[Task]:
        """Searched again with the placeholders forced to occur, once each; where there is no room, as they were."""
        ruled = [self._with_forced(task) for task in tasks]
        if self._config.sampling:
            return self._searched(ruled)
        # Where much has to occur, a wide beam costs as much as ten sentences, and words between are few.
        is_few = [len(task.part.kept) <= _FEW_THINGS for task in ruled]
        wide = iter(self._searched([task for task, few in zip(ruled, is_few, strict=True) if few], self._wide_search))
        others = iter(self._searched([task for task, few in zip(ruled, is_few, strict=True) if not few]))
        return [next(wide if few else others) for few in is_few]

    def _with_forced(self, task: Task) -> Task:
        wanted = [self._placeholder_ids[each.symbol] for each in task.part.kept]
        once = AtMostOnce(frozenset(wanted), frozenset(self._placeholder_ids.values()).difference(wanted))
        in_order = InOrder([self._placeholder_ids[symbol] for symbol in task.part.tags])
        constraints = (*task.rules.constraints, once, in_order)
        forced: tuple[Ids, ...] = tuple((token,) for token in wanted)
        guards = _added(task.guards, "protected")
        try:
            rules = replace(task.rules, forced=forced, constraints=constraints)
        except DataError:  # the length limit leaves no room for all
            rules = replace(task.rules, constraints=constraints)
        return replace(task, rules=rules, guards=guards)

    def _without_placeholders(self, tasks: list[Task]) -> list[Task]:
        """The text itself is read instead, as far as it has things."""
        plain = self._tasks([(task.line, self._reader.unprotected(task.part)) for task in tasks])
        return self._searched(
            [replace(now, steps=min(now.steps, task.steps)) for now, task in zip(plain, tasks, strict=True)]
        )

    def _with_verbatim(self, task: Task) -> Task:
        """Copied as a whole where the model has lost text that is no language: it is not to read that."""
        if not task.part.copied or not self._lacks_things(task):
            return task
        return replace(task, part=self._reader.unprotected(task.part), candidates=(_NOTHING,))

    def _as_sentences(self, tasks: list[Task]) -> list[Task]:
        """Fragments with a final mark, where their translations are more probable so."""
        marked = [(task.line, task.part.as_sentence(mark)) for mark in _MARKS for task in tasks]
        found = self._searched(self._tasks(marked))
        best = list(tasks)
        for place, after in enumerate(found):
            before = best[place % len(tasks)]
            if not (before.candidates and after.candidates):
                best[place % len(tasks)] = replace(before, candidates=())
                continue
            steps = before.steps - len(after.candidates[0].token_log_probs)
            if _is_better(after, before) and not self._lacks_things(after):
                before = replace(after, guards=_added(before.guards, "fragments"))
            best[place % len(tasks)] = replace(before, steps=steps)
        return best

    def _loops(self, task: Task) -> bool:
        pieces = task.candidates[0].pieces[:-1]
        if not has_loop(pieces) and not is_long_loop(pieces, len(task.src_ids) - 1):
            return False
        return not has_loop(self._source_tokenizer.pieces(task.src_ids[:-1]))

    def _without_loops(self, tasks: list[Task]) -> list[Task]:
        """Searched again without repeated n-grams; the first translation stays where that is no better."""
        more = (NoRepeat(_NO_REPEAT), NoStutter())
        found = self._searched(
            [replace(task, rules=replace(task.rules, constraints=(*task.rules.constraints, *more))) for task in tasks]
        )
        return [
            replace(before, steps=after.steps)
            if after.candidates and self._loops(after)
            else replace(after, guards=_added(before.guards, "repetition"))
            for before, after in zip(tasks, found, strict=True)
        ]

    def _other_words(self, tasks: list[Task]) -> list[Task]:
        """The best of a diverse beam that is no copy and about as good as the copy; else the copy."""
        found = self._searched(tasks, self._diverse_search)
        return [
            self._other_candidate(before, after.candidates) if after.candidates else after
            for before, after in zip(tasks, found, strict=True)
        ]

    def _other_candidate(self, task: Task, candidates: Sequence[Candidate]) -> Task:
        [copy] = task.candidates
        for candidate in candidates:
            if candidate.score < copy.score - COPY_MARGIN:
                break
            other = replace(task, candidates=(candidate,))
            is_good = candidate.finished and not self._lacks_things(other) and not self._loops(other)
            if is_good and not has_much_of(task.part.read, candidate.text):
                return replace(other, guards=_added(task.guards, "copies"))
        return task

    @cached_property
    def _narrow_search(self) -> IdSearch:
        """Greedy: for what no beam makes better."""
        config = replace(self._config, beam_size=1, beam_groups=1)
        return IdSearch(self._models, config, threads=self._threads)

    @cached_property
    def _piece_length(self) -> float:
        return piece_length(self._source_tokenizer)

    @cached_property
    def _wide_search(self) -> IdSearch:
        """With a beam that has room for forced tokens beside what the model likes."""
        beam_size = max(_FORCED_BEAM, self._config.beam_size)
        return IdSearch(self._models, replace(self._config, beam_size=beam_size, beam_groups=1), threads=self._threads)

    @cached_property
    def _diverse_search(self) -> IdSearch:
        config = replace(self._config, beam_size=_DIVERSE_BEAM, beam_groups=_DIVERSE_GROUPS, n_best=_DIVERSE_BEAM)
        return IdSearch(self._models, config, threads=self._threads)

    @cached_property
    def _placeholder_ids(self) -> dict[str, int]:
        pieces = self._tokenizer.pieces(range(self._tokenizer.vocab_size))
        return {symbol: pieces.index(symbol) for symbol in self._placeholders}

    # --- putting together ---------------------------------------------------------------------------------------------

    def _translation(self, line: NumberedLine, reading: Reading, tasks: Sequence[Task | None]) -> Translation:
        """A line's translation of those of its parts; None for a part that was not searched."""
        parts = [part if task is None else task.part for part, task in zip(reading.parts, tasks, strict=True)]
        names = {name for part in parts for name in part.guards} | set(reading.guards)
        names |= {name for task in tasks if task is not None for name in task.guards}
        if reading.is_plain and parts == list(reading.parts):
            candidates = (tasks[0].candidates if tasks[0] is not None else ()) or (_NOTHING,)
            words = None
        elif len(parts) == 1:
            written = (tasks[0].candidates if tasks[0] is not None else ()) or (_NOTHING,)
            candidates = tuple(self._put_together(parts, [candidate]) for candidate in written)
            words = word_numbers(parts[0].source_segments())
        else:
            best = [task.candidates[0] if task is not None else _NOTHING for task in tasks]
            candidates = (self._put_together(parts, best),)
            words = word_numbers([segment for part in parts for segment in part.source_segments()])
        return Translation(
            source=line.text,
            text=candidates[0].text,
            score=candidates[0].score,
            log_prob=candidates[0].log_prob,
            n_best=candidates,
            source_truncated=any(task is not None and task.cut for task in tasks),
            guards=tuple(name for name in _ORDER if name in names),
            read=replace(reading, parts=tuple(parts)).read,
            words=words,
        )

    def _put_together(self, parts: Sequence[Part], candidates: Sequence[Candidate]) -> Candidate:
        """The parts' translations as one, with what was taken out of them."""
        segments = [
            segment
            for part, candidate in zip(parts, candidates, strict=True)
            for segment in part.target_segments(candidate.text)
        ]
        ids = tuple(token for candidate in candidates for token in candidate.ids)
        log_probs = tuple(log_prob for candidate in candidates for log_prob in candidate.token_log_probs)
        log_prob = sum(candidate.log_prob for candidate in candidates)
        return Candidate(
            text="".join(text for _, text in segments),
            ids=ids,
            pieces=tuple(piece for candidate in candidates for piece in candidate.pieces),
            log_prob=log_prob,
            score=log_prob / length_penalty(max(1, len(log_probs)), self._config.length_penalty),
            token_log_probs=log_probs,
            finished=all(candidate.finished for candidate in candidates),
            words=word_numbers(segments),
        )


def _is_better(task: Task, than: Task) -> bool:
    """Whether the best translation of a task is more probable than that of another."""
    return task.candidates[0].score > than.candidates[0].score


def _copies(task: Task) -> bool:
    """Whether the translation is the source again."""
    return is_copy(task.part.read, task.candidates[0].text)


def _added(names: tuple[GuardName, ...], name: GuardName) -> tuple[GuardName, ...]:
    return names if name in names else (*names, name)
