"""Reads the parts of lines as the guards require, makes tasks of them, and searches these."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.line_constraints import LineRules
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.guards.parts import Part, Reading, as_it_is
from attendo.decoding.guards.reading import Reader
from attendo.decoding.guards.words import has_few_words
from attendo.decoding.lines.lengths import is_spelled, needed_tokens, piece_length
from attendo.decoding.lines.omissions import Omissions
from attendo.decoding.lines.ranking import Ranking
from attendo.decoding.lines.restored import candidates
from attendo.decoding.lines.search_variants import SearchVariants
from attendo.decoding.lines.stray_placeholders import StrayPlaceholders
from attendo.decoding.lines.tasks import NumberedLine, Task
from attendo.decoding.parallel import IdSearch
from attendo.decoding.watch import Watch

Encode = Callable[[Sequence[str]], tuple[list[list[int]], list[bool]]]
"""Sources' ids, cut at the longest that can be read, and whether they were."""


class PartSearch:
    """Reads lines in parts and searches these.

    Args:
        models: the mean of their probabilities is searched.
        config: search settings.
        source_tokenizer: the tokenizer of the source language.
        target_tokenizer: the tokenizer of the target language.
        encode: a source's ids, cut at the longest that can be read, and whether they were.
        max_positions: tokens that the model can write, for learned positions.
        languages: source and target, as ISO 639-1 codes; empty where not known.
        threads: number of threads that may work.
        ranking: ranks the candidates of the ordinary search; None for their own order.
    """

    def __init__(
        self,
        models: Sequence[DecodingModel],
        config: SearchConfig,
        source_tokenizer: Subwords,
        target_tokenizer: Subwords,
        *,
        encode: Encode,
        max_positions: int | None,
        languages: tuple[str, str],
        threads: int,
        ranking: Ranking | None = None,
    ) -> None:
        self._config, self._ranking = config, ranking
        self._source_tokenizer, self._tokenizer = source_tokenizer, target_tokenizer
        self._encode = encode
        self._rules = LineRules(target_tokenizer, config, max_positions)
        self.variants = SearchVariants(models, config, threads=threads, ranked=ranking is not None)
        """The search with other settings."""
        self.omissions = Omissions(models, config, source_tokenizer, languages)
        """What translations leave out."""
        self.placeholders: tuple[str, ...] = tuple(
            symbol for symbol in source_tokenizer.placeholders if symbol in target_tokenizer.placeholders
        )
        """The placeholders that both languages have."""
        self.reader = Reader(
            config.guards,
            source_tokenizer,
            placeholders=self.placeholders,
            languages=languages,
            # Limits of a whole translation, several of them and chance cannot be had sentence by sentence.
            one_by_one=config.n_best == 1 and not config.sampling and not config.min_len and config.max_len is None,
        )
        """Reads lines according to the guards."""

    @cached_property
    def strays(self) -> StrayPlaceholders:
        """Forbids placeholders that a source does not have."""
        return StrayPlaceholders(self._tokenizer, self.placeholders)

    @cached_property
    def _piece_length(self) -> float:
        return piece_length(self._source_tokenizer)

    def read(self, line: NumberedLine) -> Reading:
        """Returns a line as the model reads it; constraints apply to the line as written."""
        if self._config.guards.is_off or line.constraints.limits_search:
            return as_it_is(line.text)
        line.give_way()
        return self.reader.read(line.text)

    def tasks(self, parts: Sequence[tuple[NumberedLine, Part]]) -> list[Task]:
        """Returns the search tasks of parts."""
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

    def new_tasks(self, parts: Sequence[tuple[NumberedLine, Part]]) -> list[Task]:
        """Returns the search tasks of parts that have been read again."""
        return [self.without_strays(task) for task in self.tasks(parts)]

    def without_strays(self, task: Task) -> Task:
        """A task whose translation has no placeholder but the part's."""
        rules = self.strays.banned(task.rules, task.part.read)
        return task if rules is task.rules else replace(task, rules=rules)

    def _is_spelled(self, line: NumberedLine, part: Part, tokens: int) -> bool:
        """Whether a part is searched as text that its vocabulary can only spell out; see `Task.spelled`."""
        config = self._config
        if not config.guards.verbatim or line.constraints.limits_search or config.n_best > 1 or config.min_len:
            return False
        return not config.sampling and (has_few_words(part.text) or is_spelled(part.read, tokens, self._piece_length))

    def searched(self, tasks: Sequence[Task], search: IdSearch | None = None) -> list[Task]:
        """Tasks with their candidates, none for cancelled lines; spelled-out text is searched greedily."""
        found = list(tasks)
        for spelled in (False, True):
            places = [place for place, task in enumerate(tasks) if task.spelled is spelled]
            if places:
                now = self.variants.narrow if spelled else search or self.variants.own
                for place, task in zip(
                    places, self._with_candidates([tasks[place] for place in places], now), strict=True
                ):
                    found[place] = task
        if self._ranking is not None and search is None:
            found = self._ranking.ranked(found)
        return found

    def _with_candidates(self, tasks: Sequence[Task], search: IdSearch) -> list[Task]:
        """Tasks with the candidates of a search; identical short parts are searched once."""
        keys = [task.key if not self._config.sampling else None for task in tasks]
        distinct = {place if key is None else key: tasks[place] for place, key in enumerate(keys)}
        searched = list(distinct.values())
        watch = Watch(between_steps=tasks[0].line.between_steps, lines=[task.line.number for task in searched])
        hypotheses = search.search([task.src_ids for task in searched], [task.rules for task in searched], watch)
        found = dict(zip(distinct, (candidates(its, self._tokenizer) for its in hypotheses), strict=True))
        return [
            task.found(found[place if key is None else key])
            for place, (key, task) in enumerate(zip(keys, tasks, strict=True))
        ]
