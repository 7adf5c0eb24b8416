"""What a type checker makes of the public interface: mypy reads this file, as it reads all tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import attendo


def test_results_have_the_types_that_a_checker_expects(model_folder: Path, parser_folder: Path) -> None:
    settings: attendo.SearchSettings = {"beam_size": 2, "guards": {"casing": False}}
    with attendo.load(model_folder, dtype="int8") as engine:
        assert_type(engine, attendo.Engine)
        one = assert_type(engine.translate("one"), attendo.Translation)
        several = assert_type(engine.translate(["one"], beam_size=1), list[attendo.Translation])
        assert_type(engine.translate(iter(["one"]), [attendo.Constraints()], **settings), list[attendo.Translation])
        assert_type(engine.stream(["one"], n_best=2), Iterator[attendo.Translation])
        assert_type(engine.score([("one", "eno")]), Iterator[attendo.PairScore])
        assert_type(engine.with_search(beam_size=1), attendo.Engine)
        assert isinstance(one, attendo.Translation)
        assert isinstance(several, list)
    with attendo.load(parser_folder) as parser:
        assert_type(parser.parse(attendo.Sentence(words=["it", "left"])), attendo.Tree)
        assert_type(parser.parse([["it", "left"]]), list[attendo.Tree])


def wrong(engine: attendo.Engine) -> None:
    """Never called: an ignored error that is none is an error of mypy's."""
    engine.translate("one", beamsize=1)  # type: ignore[call-overload]
    engine.translate("one", beam_size="many")  # type: ignore[call-overload]
    engine.translate(b"one")  # type: ignore[arg-type]
    engine.stream(None)  # type: ignore[arg-type]
    engine.score([("one",)])  # type: ignore[list-item]
