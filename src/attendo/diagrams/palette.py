"""Colours of diagrams, light and dark; they add nothing to the words in a block."""

from dataclasses import dataclass

from attendo.diagrams.shapes import Role


@dataclass(frozen=True, kw_only=True)
class Theme:
    """The colours of one background."""

    page: str
    text: str
    quiet: str
    line: str
    panels: dict[Role, tuple[str, str]]
    """Fill and edge colours of panels by role."""


LIGHT = Theme(
    page="#ffffff",
    text="#16181d",
    quiet="#4a4f5a",
    line="#3b404b",
    panels={
        "attention": ("#ffdfb5", "#c26a00"),
        "mixing": ("#bfe8dc", "#00785a"),
        "feed-forward": ("#c9e4f6", "#0072b2"),
        "norm": ("#f6f1bd", "#9a8600"),
        "embedding": ("#f8d6e4", "#b2487f"),
        "positions": ("#ffffff", "#8a909c"),
        "told": ("#ffffff", "#8a909c"),
        "sum": ("#ffffff", "#3b404b"),
        "linear": ("#dfdcf6", "#5a4fb0"),
        "softmax": ("#d3efc9", "#3c8031"),
        "step": ("#e9ebef", "#6b7280"),
        "frame": ("#f3f4f6", "#b3b9c4"),
        "piece": ("#dceaf8", "#0072b2"),
    },
)
DARK = Theme(
    page="#14161a",
    text="#eceef2",
    quiet="#b9bec9",
    line="#aab0bc",
    panels={
        "attention": ("#4d300c", "#f0a24a"),
        "mixing": ("#0d3f32", "#4fc7a4"),
        "feed-forward": ("#113a52", "#56b4e9"),
        "norm": ("#403a08", "#dccb50"),
        "embedding": ("#4a2036", "#e58fb8"),
        "positions": ("#14161a", "#8d94a1"),
        "told": ("#14161a", "#8d94a1"),
        "sum": ("#14161a", "#aab0bc"),
        "linear": ("#2e2a55", "#a79ff0"),
        "softmax": ("#1e3f19", "#86cf78"),
        "step": ("#2b2f37", "#9aa1ae"),
        "frame": ("#1d2026", "#4a515e"),
        "piece": ("#12324a", "#56b4e9"),
    },
)
