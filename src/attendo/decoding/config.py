"""The recipe's `search` section: settings of the search for translations, with the paper's settings as its defaults."""

import math
from dataclasses import dataclass, fields
from typing import Literal, get_args

GuardName = Literal[
    "spaces",
    "scripts",
    "verbatim",
    "sentences",
    "protected",
    "casing",
    "shorthand",
    "fragments",
    "repetition",
    "copies",
    "values",
    "quotes",
]
"""The guards, in the order in which they are applied to a line."""

_MAX_HYPOTHESES = 1 << 20
_MAX_MORE_TOKENS = 10_000
_MAX_TOKENS = 100_000
_MAX_BATCH_TOKENS = 1 << 20
_LIMITS: dict[str, tuple[int, int]] = {
    "beam_size": (1, _MAX_HYPOTHESES),
    "max_len_offset": (0, _MAX_MORE_TOKENS),
    "min_len": (0, _MAX_MORE_TOKENS),
    "max_len": (0, _MAX_TOKENS),
    "n_best": (1, _MAX_HYPOTHESES),
    "no_repeat_ngram": (0, _MAX_TOKENS),
    "beam_groups": (1, _MAX_HYPOTHESES),
    "sample_top_k": (0, 2**31 - 1),
    "seed": (0, 2**63 - 1),
    "alignment_layer": (1, 1000),
    "alignment_head": (1, 1000),
    "max_source_tokens": (1, _MAX_TOKENS),
    "max_batch_tokens": (1, _MAX_BATCH_TOKENS),
    "max_batch_sentences": (1, 10_000),
    "window_lines": (1, 1 << 20),
}
"""The minimum and maximum of each count."""


@dataclass(frozen=True, kw_only=True)
class GuardConfig:
    """Guards for lines that a model trained on clean sentences translates badly; see docs/translating.md.

    A guard acts only on the lines it is for; all others are translated to the same tokens as without it.
    """

    spaces: bool = True
    """Read tabs and runs of spaces as one space; drop spaces at the ends of a line, and invisible characters."""
    scripts: bool = True
    """Return a line unchanged if most of its letters are in a script that the source vocabulary does not cover; such
    words within another line are copied, if the vocabulary has placeholders."""
    verbatim: bool = True
    """Copy text that is not language (base64, hashes, minified code, endless repetitions, tables of symbols) and
    translate the words around it."""
    sentences: bool = True
    """Translate the sentences of a line one by one. Applies to a single translation without constraints, and only if
    `min_len` and `max_len` are not set; other limits, such as `max_len_offset`, then hold for each sentence."""
    protected: bool = True
    """Copy URLs, e-mail addresses, markup, identifiers, versions, file names, options, code in backticks, emoji and the
    like, and write long numbers as the target language does; needs a vocabulary with placeholders, except for emoji at
    the ends of a line. A line without any letter, such as a number alone, is copied in any case."""
    casing: bool = True
    """Translate a line in CAPITALS in lower case and capitalise the result again; translate Title Case in lower
    case; begin a translation with a capital if its source does."""
    shorthand: bool = True
    """Read what people abbreviate in messages as it is written in full: *dont*, *pls*, *see u tmrw*, *2 hrs* (English,
    German and French)."""
    fragments: bool = True
    """Also translate fragments of up to three words without a final mark as a sentence, with `.` and with `!`, and keep
    the translation with the best score, without the added mark. Applies to a single translation."""
    repetition: bool = True
    """Search again, without repeated words, if the translation repeats itself and its source does not."""
    copies: bool = True
    """Replace a translation that only repeats its source by the best one that does not, if that scores about as
    well."""
    values: bool = True
    """Search again if the translation has lost, changed or invented a number, an identifier or the like, or has lost a
    day, a month, a small number in words, a sign of a currency or of degrees, or has a negation too few or too many;
    report what still differs in `Translation.problems`."""
    quotes: bool = True
    """Give quotation marks that do not match the pair that the target language writes (English and German)."""

    @classmethod
    def off(cls) -> "GuardConfig":
        """Turns all guards off."""
        return cls(**dict.fromkeys(get_args(GuardName), False))

    @property
    def is_off(self) -> bool:
        """Whether nothing is done."""
        return not any(getattr(self, each.name) for each in fields(self))


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """Beam search as in Section 6.1, what else can be asked of a search, and how much is worked on at a time.

    Raises:
        ValueError: a setting that cannot be searched with; all of them at once.
    """

    beam_size: int = 4
    """Hypotheses kept at each step; 1 is greedy search."""
    length_penalty: float = 0.6
    """Exponent alpha of Wu et al.'s length penalty ((5 + length) / 6)^alpha; 0 ranks by log-probability alone."""
    completeness: float = 0.0
    """Beam search: added to `length_penalty` when the `beam_size` best hypotheses are ranked in the end; above 0 it
    prefers those that leave nothing out. With a larger `length_penalty` instead the search itself seeks long
    translations, and finds some that repeat themselves."""
    reverse_weight: float = 0.5
    """With a reverse model: weight of the score by which it finds the source probable, given the translation, beside
    the score of the search (Yee et al., 2019); 0 for none."""
    max_len_offset: int = 50
    """A translation may have this many tokens more than its source; neither side counts its `</s>`."""
    min_len: int = 0
    """Minimum length of a translation in tokens, without `</s>`; takes precedence over `max_len_offset`."""
    max_len: int | None = None
    """Maximum length of a translation in tokens, without `</s>`, where `max_len_offset` allows more; None for none."""
    draft: bool = True
    """Whether greedy search of a single sentence takes several tokens a step, where the model has a drafter
    (`model.draft_tokens`); the result is the same."""
    n_best: int = 1
    """Number of translations to return for each sentence, the best first; at most `beam_size` unless sampled."""
    no_repeat_ngram: int = 0
    """Forbid repeating any n-gram of this length within a translation; 0 disables the check."""
    forbidden_words: tuple[str, ...] = ()
    """Words or phrases that must not occur in a translation, however they divide into pieces; case matters."""
    beam_groups: int = 1
    """Diverse beam search (Vijayakumar et al., 2016): number of groups of the beam, kept different; 1 turns it off."""
    diversity_penalty: float = 0.5
    """Diverse beam search: penalty on a token for each hypothesis of an earlier group that has just taken it."""
    sampling: bool = False
    """Draw `n_best` independent translations at random instead of searching for the best; ignores `beam_size`."""
    temperature: float = 1.0
    """Sampling: divides the log-probabilities; below 1 probable tokens are drawn more often."""
    sample_top_k: int = 0
    """Sampling: draw from this many of the most probable tokens; 0 draws from all."""
    sample_top_p: float = 1.0
    """Sampling: draw from the most probable tokens that together have this probability (Holtzman et al., 2020)."""
    seed: int = 0
    """Sampling: equal seeds give equal translations, whatever else is in a batch."""
    alignment_layer: int | None = None
    """Decoder layer, from 1, whose attention aligns words; None takes the last but one (Garg et al., 2019)."""
    alignment_head: int | None = None
    """The head of that layer, from 1, whose attention aligns words; None takes the mean of all."""
    alignment_step: Literal["writes", "reads"] = "writes"
    """The step whose attention aligns a target token: the one that writes it, or that reads it (Chen et al., 2020)."""
    max_source_tokens: int = 1024
    """Source tokens, without `</s>`, after which a line is cut; `Translation.source_truncated` says so."""
    max_batch_tokens: int = 2048
    """Source tokens of a batch, padding included."""
    max_batch_sentences: int = 64
    """Sentences of a batch; each has `beam_size` hypotheses."""
    window_lines: int = 512
    """Lines read from a stream before they are sorted by length and translated."""
    guards: GuardConfig = GuardConfig()
    """The treatment of noisy input."""

    @property
    def final_length_penalty(self) -> float:
        """The exponent of the length penalty by which the hypotheses that have been found are ranked."""
        return self.length_penalty + self.completeness

    def __post_init__(self) -> None:
        """Refuses invalid values, and reports all problems at once."""
        problems = []
        for key, (least, most) in _LIMITS.items():
            value = getattr(self, key)
            if value is not None and value < least:
                problems.append(f"{key} = {value} is too small; take {least} or more")
            elif value is not None and value > most:
                problems.append(f"{key} = {value} is too large; take {most} or less")
        problems += self._numbers_out_of_range()
        problems += self._contradictions()
        if problems:
            raise ValueError("; ".join(problems))

    def _numbers_out_of_range(self) -> list[str]:
        problems = []
        if not (math.isfinite(self.length_penalty) and abs(self.length_penalty) <= 10):
            problems.append(f"length_penalty = {self.length_penalty} is not between -10 and 10; take one such as 0.6")
        if not 0 <= self.completeness <= 10:
            problems.append(f"completeness = {self.completeness} is not within 0 and 10; take one such as 0.6")
        if not 0 <= self.reverse_weight <= 100:
            problems.append(f"reverse_weight = {self.reverse_weight} is not within 0 and 100; take one such as 0.5")
        if not (math.isfinite(self.diversity_penalty) and self.diversity_penalty >= 0):
            problems.append(f"diversity_penalty = {self.diversity_penalty} is not 0 or more; take one such as 0.5")
        elif self.diversity_penalty > 1000:
            problems.append(f"diversity_penalty = {self.diversity_penalty} is too large; take one such as 0.5")
        if self.temperature > 0 and not 0.001 <= self.temperature <= 1000:  # beyond, float32 has no weights to draw by
            problems.append(f"temperature = {self.temperature} is not within 0.001 and 1000; take one such as 0.7")
        elif not self.temperature > 0:
            problems.append(
                f"temperature = {self.temperature} is not above 0; take one such as 0.7, or "
                "beam_size = 1 without sampling for always the most probable token"
            )
        if not 0 < self.sample_top_p <= 1:
            problems.append(f"sample_top_p = {self.sample_top_p} is not above 0 and at most 1; take one such as 0.9")
        if not all(word.strip() for word in self.forbidden_words):
            problems.append("forbidden_words has a word without a letter; leave it out")
        return problems

    def _contradictions(self) -> list[str]:
        """Pairs of settings that do not go together."""
        problems = []
        if self.n_best > max(self.beam_size, 1) and not self.sampling:
            problems.append(
                f"n_best = {self.n_best} is more than beam_size = {self.beam_size} can hold; "
                f"take beam_size = {self.n_best} or more"
            )
        if self.max_len is not None and self.min_len > self.max_len:
            problems.append(
                f"min_len = {self.min_len} is more than max_len = {self.max_len}; take min_len = {self.max_len} or less"
            )
        if self.sampling and self.beam_groups > 1:
            problems.append(
                f"beam_groups = {self.beam_groups} are for beam search, but sampling is on; take beam_groups = 1"
            )
        elif self.beam_groups > 0 and self.beam_size % self.beam_groups:
            problems.append(
                f"beam_size = {self.beam_size} does not divide into beam_groups = {self.beam_groups}; "
                f"take beam_size = {self.beam_size + -self.beam_size % self.beam_groups}"
            )
        return problems
