"""Lookup in translation memories: the same text, a text with other values, or one with similar words."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from attendo.decoding.lines.translation import MemoryMatch
from attendo.errors import RecipeError
from attendo.memory.index import Entry, Index
from attendo.memory.substitution import is_kept, with_values_of
from attendo.memory.texts import Pattern, pattern_of, same_text, text_hash, with_edges_of

MIN_THRESHOLD = 50
_SAME_WORDS = 99
"""Maximum similarity of a match whose text is not the same."""
_MIN_WORDS = 3
"""Minimum number of words for a similarity search."""
_MAX_WORDS = 400
_TRIED = 8
"""Number of similar entries that are read, of which the best is used."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of a text, which distinguish it from the same text elsewhere."""

    contexts: Collection[str] = ()
    """The message context or identifiers."""
    before: str | None = None
    """The text before it; None if unknown."""


NOWHERE = Surroundings()


class Memory:
    """Translation memories that are looked up together.

    Args:
        indexes: indexes of the same languages; of equally good matches, that of the first index is used.
        threshold: the minimum similarity of a match in per cent of the words.

    Raises:
        RecipeError: the threshold is out of range.
    """

    def __init__(self, indexes: Sequence[Index], threshold: int = 75) -> None:
        if not MIN_THRESHOLD <= threshold <= 100:
            raise RecipeError(
                f"the threshold of the translation memory is {threshold}; take one from {MIN_THRESHOLD} to 100"
            )
        self._indexes, self.threshold = tuple(indexes), threshold
        self.languages = indexes[0].languages

    @property
    def digests(self) -> tuple[str, ...]:
        """The SHA-256 digests of all files."""
        return tuple(digest for index in self._indexes for digest in index.files)

    @property
    def num_entries(self) -> int:
        """The number of distinct pairs in all indexes."""
        return sum(index.num_entries for index in self._indexes)

    def close(self) -> None:
        """Closes the files."""
        for index in self._indexes:
            index.close()

    def match(self, text: str, surroundings: Surroundings = NOWHERE) -> MemoryMatch | None:
        """Returns the best match of a text; None if none reaches the threshold.

        Args:
            text: a text, with marks for its codes.
            surroundings: the surroundings of the text.

        Raises:
            DataError: an index is damaged.
        """
        found = self.exact(text, surroundings)
        return found if found is not None or self.threshold > _SAME_WORDS else self._similar(text)

    def exact(self, text: str, surroundings: Surroundings = NOWHERE) -> MemoryMatch | None:
        """Returns the translation of the same text, or of one with other values; None if there is none."""
        same = same_text(text)
        if not same:
            return None
        for index in self._indexes:
            entries = [entry for entry in index.same_texts(same) if same_text(entry.source) == same]
            if entries:
                return _chosen(text, entries, surroundings)
        if self.threshold > _SAME_WORDS:
            return None
        pattern = pattern_of(same, self.languages[0])
        if not pattern.values:
            return None
        for index in self._indexes:
            for entry in sorted(index.same_patterns(pattern.text), key=_rank):
                known = pattern_of(same_text(entry.source), self.languages[0])
                target = self._with_values(pattern, same, known, entry)
                if target is not None:
                    return MemoryMatch(
                        kind="changed",
                        score=_SAME_WORDS,
                        source=entry.source,
                        target=entry.target,
                        text=with_edges_of(target, text),
                    )
        return None

    def _with_values(self, pattern: Pattern, text: str, known: Pattern, entry: Entry) -> str | None:
        if known.text != pattern.text or not is_kept(entry.source, entry.target, self.languages):
            return None
        return with_values_of(pattern, text, known, entry.target, self.languages)

    def _similar(self, text: str) -> MemoryMatch | None:
        pattern = pattern_of(same_text(text), self.languages[0])
        words = pattern.word_ids
        if not _MIN_WORDS <= len(words) <= _MAX_WORDS:
            return None
        scored = []
        for place, index in enumerate(self._indexes):
            for candidate in index.candidates(words, self.threshold):
                score = Levenshtein.normalized_similarity(words, candidate.words, score_cutoff=self.threshold / 100)
                if score > 0:
                    scored.append((-score, place, candidate.entry))
        tried = [(-negative, self._indexes[place].entry(number)) for negative, place, number in sorted(scored)[:_TRIED]]
        if not tried:
            return None
        # Among entries with the same words, the one with the same characters: letter case, or a number.
        score, entry = max(tried, key=lambda one: (one[0], Levenshtein.normalized_similarity(text, one[1].source)))
        per_cent = min(int(score * 100), _SAME_WORDS)
        return MemoryMatch(kind="fuzzy", score=per_cent, source=entry.source, target=entry.target, text="")


def _chosen(text: str, entries: Sequence[Entry], surroundings: Surroundings) -> MemoryMatch:
    """Returns the best of a text's translations: one with the same context, the most frequent, or the latest."""
    before = None if surroundings.before is None else text_hash(same_text(surroundings.before))

    def nearness(entry: Entry) -> tuple[bool, bool]:
        return entry.context in surroundings.contexts, before is not None and entry.before == before

    best = max(entries, key=lambda entry: (*nearness(entry), entry.uses, entry.latest))
    others = {entry.target for entry in entries if nearness(entry) >= nearness(best)} - {best.target}
    is_in_context = (bool(best.context) and best.context in surroundings.contexts) or nearness(best)[1]
    return MemoryMatch(
        kind="exact",
        score=101 if is_in_context else 100,
        source=best.source,
        target=best.target,
        text=with_edges_of(best.target, text),
        num_others=len(others),
    )


def _rank(entry: Entry) -> tuple[int, int]:
    return -entry.uses, -entry.latest
