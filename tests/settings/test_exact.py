"""What is made without pydantic is what pydantic makes; all else is left to pydantic."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.checkpoint.finding import SHIPPED
from attendo.checkpoint.model_folder import ModelDescription
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.reading import parse_json
from attendo.settings.exact import checked_table, exactly
from attendo.settings.validated import validated


@dataclass(frozen=True, kw_only=True)
class Inner:
    """A table in a table."""

    share: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Table:
    """One key of each kind."""

    count: int
    size: float | None = None
    start: Literal["zero"] | int = "zero"
    mixed: float | int = 0
    name: str = ""
    is_on: bool = False
    words: tuple[str, ...] = ()
    tags: dict[str, list[str]] | None = None
    inner: Inner = field(default_factory=Inner)
    free: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count is too small")


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**53 + 1, 2**63, -(2**64)]),
    st.floats(allow_nan=False),
    st.sampled_from(["zero", "none", "1", "\ud800", ""]),
    st.lists(st.sampled_from(["a", 1, None]), max_size=2),
    st.fixed_dictionaries({}, optional={"share": st.sampled_from([1, 0.25, "1", None]), "other": st.just(1)}),
    st.dictionaries(st.sampled_from(["a", "b"]), st.lists(st.sampled_from(["x", 2]), max_size=2), max_size=2),
)


@given(content=st.dictionaries(st.sampled_from([*(item.name for item in fields(Table)), "other"]), VALUES))
def test_what_is_exact_is_what_pydantic_makes(content: dict[str, Any]) -> None:
    content = {"count": 1, **content}
    made = exactly(Table, content)
    if made is not None:
        expected, problems = validated(Table, content)
        assert problems == []
        assert repr(made) == repr(expected)  # 1 and 1.0 are equal, and not the same


@pytest.mark.parametrize(
    "content",
    [
        {"count": 1, "size": 2, "start": 7, "mixed": 3, "words": ["a", "b"], "tags": {"x": ["y"]}},
        {"count": 0, "size": None, "start": "zero", "mixed": 1.5, "is_on": True, "inner": {"share": 1}},
        {"count": 2, "inner": Inner(share=0.1), "free": {"any": [1, {"thing": None}]}},
    ],
)
def test_usual_tables_need_no_pydantic(content: dict[str, Any]) -> None:
    assert exactly(Table, content) is not None


@pytest.mark.parametrize(
    "content",
    [{}, {"count": True}, {"count": "1"}, {"count": 1.0}, {"count": -1}, {"count": 1, "other": 2}, [], None],
)
def test_all_else_is_left_to_pydantic(content: Any) -> None:
    assert exactly(Table, content) is None
    assert checked_table(Table, content)[0] == validated(Table, content)[0]
    assert checked_table(Table, content)[1] == validated(Table, content)[1]


def test_shipped_models_and_all_settings_need_none() -> None:
    for path in SHIPPED.glob("*/config.json"):
        content = parse_json(path.read_bytes())
        assert exactly(ModelDescription, content) == validated(ModelDescription, content)[0]
    assert exactly(SearchConfig, asdict(SearchConfig(guards=GuardConfig.off()))) == SearchConfig(
        guards=GuardConfig.off()
    )
