"""Words of a source that nothing in its translation corresponds to, by the attention that aligns words.

Attention is computed only for translations that are somewhat short: of those of usual length hardly any lacks a clause,
and computing it takes half as long as the translation.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.batches import length_batches
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.words import Subwords
from attendo.decoding.guards.completeness import relative_length
from attendo.decoding.lines.alignment import attention_batch, word_texts, words_of
from attendo.decoding.lines.tasks import Task
from attendo.decoding.step import FloatArray
from attendo.text.subwords.tokenization import EOS_ID

_SHORT = 0.75
"""Times the usual length, below which a translation is looked at."""
_SHORTEST, _LONGEST = 60, 2000
"""Characters of the parts of lines that are looked at."""
_WINDOW = 5
"""Words that are looked at together: a single word without a counterpart is often a matter of grammar."""
_COVERED = 0.3
"""Mean attention, in tokens of the translation per word, below which a window has no counterpart."""
_BATCH_TOKENS = 512
"""Source tokens that are aligned at a time."""
_LONG_WORD, _LONG_WORDS = 4, 3
"""Letters and number of the words without a counterpart that matter: short words are mostly grammar.

Of 1,500 human translations of documentation and news each between English and German or French, 1 to 2 of 1,000 are
short and have such a stretch, and 39 to 51 % of 700 from which a clause of five words or more was cut."""


class Omissions:
    """Finds what translations leave out.

    Args:
        models: the models that translated.
        config: the search settings, which name the attention that aligns words.
        source_tokenizer: the tokenizer of the source language.
        languages: source and target, as ISO 639-1 codes; empty where not known.
    """

    def __init__(
        self,
        models: Sequence[DecodingModel],
        config: SearchConfig,
        source_tokenizer: Subwords,
        languages: tuple[str, str],
    ) -> None:
        self._models, self._config, self._tokenizer, self._languages = models, config, source_tokenizer, languages

    def marked(self, tasks: list[Task]) -> list[Task]:
        """Tasks with what their best translations leave out; all unchanged if it is not known which head aligns.

        Args:
            tasks: tasks with their candidates.
        """
        if self._config.alignment_head is None:  # the mean of all heads is too blurred
            return tasks
        tasks = list(tasks)
        places = [place for place, task in enumerate(tasks) if self._is_short(task)]
        lengths = [len(tasks[place].src_ids) for place in places]
        for batch in length_batches(lengths, max_tokens=_BATCH_TOKENS, max_sentences=len(places) or 1):
            its_tasks = [tasks[places[number]] for number in batch]
            weights = attention_batch(
                self._models,
                [task.src_ids for task in its_tasks],
                [[*task.candidates[0].ids, EOS_ID] for task in its_tasks],
                layer=self._config.alignment_layer,
                head=self._config.alignment_head,
                step=self._config.alignment_step,
                between=its_tasks[0].line.between_steps,
            )
            for number, task, its_weights in zip(batch, its_tasks, weights, strict=True):
                tasks[places[number]] = replace(task, omitted=self._without_counterpart(task, its_weights))
        return tasks

    def _is_short(self, task: Task) -> bool:
        if not task.candidates or task.cut or not _SHORTEST <= len(task.part.read) <= _LONGEST:
            return False
        length = relative_length(task.part.read, task.candidates[0].text, self._languages)
        return length is not None and length < _SHORT

    def _without_counterpart(self, task: Task, weights: FloatArray) -> str:
        """The longest stretch of words that receive hardly any attention; empty if there is none."""
        pieces = self._tokenizer.pieces(task.src_ids)[:-1]
        words = words_of(pieces)
        # The last row is of `</s>`, which needs no word.
        received = weights[:-1].sum(axis=0, dtype=np.float64)
        covered = np.array([received[list(word)].sum() for word in words])
        begin, end = uncovered(covered)
        texts = word_texts(words, pieces)
        missing = [text for text, its in zip(texts[begin:end], covered[begin:end], strict=True) if its < _COVERED]
        if sum(len(text) >= _LONG_WORD for text in missing) < _LONG_WORDS:
            return ""
        text = " ".join(texts[begin:end])
        for each in task.part.kept:
            text = text.replace(each.symbol, each.source)
        return text


def uncovered(covered: npt.NDArray[np.float64]) -> tuple[int, int]:
    """The longest stretch of words without a counterpart: begin and end, which are equal if there is none.

    Args:
        covered: float64 `(words,)`: what each word of a source receives of a translation's attention.
    """
    if len(covered) < _WINDOW:
        return 0, 0
    means = np.convolve(covered, np.full(_WINDOW, 1 / _WINDOW), mode="valid")
    longest, first, end = (0, 0), 0, 0
    for place in (means < _COVERED).nonzero()[0].tolist():
        if place >= end:
            first = place
        end = place + _WINDOW
        longest = max(longest, (first, end), key=lambda span: span[1] - span[0])
    begin, end = longest
    while begin < end and covered[begin] >= _COVERED:
        begin += 1
    while end > begin and covered[end - 1] >= _COVERED:
        end -= 1
    return begin, end
