"""The recipe's `search` section: how translations are looked for, with the paper's settings as its defaults."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Beam search as in Section 6.1, and how much is worked on at a time.

    Raises:
        ValueError: a setting that cannot be searched with; all of them at once.
    """

    beam_size: int = 4
    """Hypotheses kept at each step; 1 is greedy search."""
    length_penalty: float = 0.6
    """Exponent alpha of Wu et al.'s length penalty ((5 + length) / 6)^alpha; 0 ranks by log-probability alone."""
    max_len_offset: int = 50
    """A translation has at most as many tokens as its source and this many more; neither side counts its `</s>`."""
    n_best: int = 1
    """Translations given for each sentence, best first; at most `beam_size`."""
    max_source_tokens: int = 1024
    """Source tokens, without `</s>`, after which a line is cut; the translation says so."""
    max_batch_tokens: int = 2048
    """Source tokens of a batch, padding included."""
    max_batch_sentences: int = 64
    """Sentences of a batch; each has `beam_size` hypotheses."""
    window_lines: int = 512
    """Lines read from a stream before they are sorted by length and translated."""

    def __post_init__(self) -> None:
        """Refuses what cannot be meant, all problems at once."""
        least = {
            "beam_size": 1,
            "max_len_offset": 0,
            "n_best": 1,
            "max_source_tokens": 1,
            "max_batch_tokens": 1,
            "max_batch_sentences": 1,
            "window_lines": 1,
        }
        problems = [
            f"{key} = {getattr(self, key)} is too small; take {limit} or more"
            for key, limit in least.items()
            if getattr(self, key) < limit
        ]
        if not (math.isfinite(self.length_penalty) and abs(self.length_penalty) <= 10):
            problems.append(f"length_penalty = {self.length_penalty} is not between -10 and 10; take one such as 0.6")
        if self.n_best > self.beam_size:
            problems.append(
                f"n_best = {self.n_best} is more than beam_size = {self.beam_size} can hold; "
                f"take beam_size = {self.n_best} or more"
            )
        if problems:
            raise ValueError("; ".join(problems))
