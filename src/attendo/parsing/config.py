"""The form of trees as symbols and of sentences as words: the section `parsing` of a recipe."""

from dataclasses import dataclass
from typing import Literal

Order = Literal["top-down", "in-order", "bottom-up"]
"""Position of a constituent's label: before its parts, after the first part, or after the last."""

MAX_UNARY = 16
"""Maximum number of constituents over exactly the same words; treebanks have at most five or six."""
MAX_SYMBOLS_PER_WORD = 100


@dataclass(frozen=True, kw_only=True)
class ParsingConfig:
    """The input and output of a parser.

    Raises:
        ValueError: a value is invalid; the message suggests a valid one.
    """

    order: Order = "top-down"
    """Linearisation of trees. `top-down`: a constituent is opened before its children and closed by its label, as in
    the paper (Vinyals et al., 2015). `in-order`: it is opened after its first child (Liu and Zhang, 2017). `bottom-up`:
    it is built once all its children are complete, as in shift-reduce parsing."""
    tags: Literal["kept", "XX"] = "kept"
    """Symbol for a word: its part-of-speech tag (`kept`), so that the parser also tags, or always `XX`, as in the
    paper."""
    read_tags: bool = False
    """Read the tags as part of the input and copy them to the output."""
    max_unary: int = 4
    """Maximum number of nested constituents over the same words in the search."""
    constrained: bool = True
    """Restrict the search to well-formed trees over the sentence's words. If false, decoding is free, as in the paper,
    and malformed output is repaired."""
    symbols_per_word: float = 6.0
    """Raise the length limit of a tree to this many symbols per word of its sentence, if `search.max_len_offset` allows
    fewer; 0 disables it. Trees in treebanks have up to five symbols per word."""

    def __post_init__(self) -> None:
        if not 1 <= self.max_unary <= MAX_UNARY:
            raise ValueError(f"max_unary = {self.max_unary} is outside 1 to {MAX_UNARY}; take 4")
        if not 0 <= self.symbols_per_word <= MAX_SYMBOLS_PER_WORD:
            raise ValueError(
                f"symbols_per_word = {self.symbols_per_word} is outside 0 to {MAX_SYMBOLS_PER_WORD}; take 6.0"
            )
        if self.read_tags and self.tags == "XX":
            raise ValueError('read_tags = true gives the tags that tags = "XX" leaves out; take tags = "kept"')

    @property
    def needs_tags(self) -> bool:
        """Whether a tree has only the tags that are given, because they are part of the input or not written."""
        return self.read_tags or self.tags == "XX"

    def linearization(self) -> dict[str, str | bool]:
        """Returns the settings that the symbols of a tree depend on."""
        return {"order": self.order, "tags": self.tags, "read_tags": self.read_tags}
