"""The search settings as keywords of a call."""

from collections.abc import Mapping
from typing import Literal, TypedDict


class SearchSettings(TypedDict, total=False):
    """Search settings that hold for one call, such as `engine.translate(text, beam_size=1)`.

    Each has the name and meaning that it has in a recipe's section `search`. Settings that are left out are the
    engine's. `guards` is a whole section, such as `{"casing": False}`: guards that it leaves out are on.
    """

    beam_size: int
    length_penalty: float
    completeness: float
    reverse_weight: float
    max_len_offset: int
    min_len: int
    max_len: int | None
    draft: bool
    n_best: int
    no_repeat_ngram: int
    forbidden_words: tuple[str, ...] | list[str]
    beam_groups: int
    diversity_penalty: float
    sampling: bool
    temperature: float
    sample_top_k: int
    sample_top_p: float
    seed: int
    alignment_layer: int | None
    alignment_head: int | None
    alignment_step: Literal["writes", "reads"]
    max_source_tokens: int
    max_batch_tokens: int
    max_batch_sentences: int
    window_lines: int
    guards: Mapping[str, bool]
