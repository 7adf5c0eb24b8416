"""Terms of glossaries in the search, with a model whose texts and their probabilities are a table."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.decoding.lines.test_guarded import TableModel

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.line_constraints import Constraints
from attendo.decoding.lines.translation import Translation
from attendo.decoding.lines.translator import Translator
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.terms.glossary import Glossary
from attendo.terms.term import Term
from attendo.text.subwords.learning import learn_tokenizer
from attendo.text.subwords.tokenization import Tokenizer, TokenizerConfig

TEXT = (
    "the old house stands here", "where is the station", "we see the dogs and the boat", "see https://a.org now",
    "das alte Haus steht hier", "wo ist der Bahnhof", "wo ist die Haltestelle", "die Haltestellen sind alt",
    "wir sehen die Hunde und das Boot", "der Hund sieht die K\u00f6ter", "der K\u00f6ter ist alt", "ja und nein 12 13",
)  # fmt: skip
Make = Callable[..., Translator]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder: Path = tmp_path_factory.mktemp("spm")
    return learn_tokenizer(
        [line for line in TEXT for _ in range(9)], TokenizerConfig(vocab_size=340, placeholders=8), folder / "a.spm"
    )


@pytest.fixture(scope="module")
def make(tokenizer: Tokenizer) -> Make:
    shape: dict[str, Any] = {"d_model": 8, "d_ff": 8, "num_layers": 1, "num_heads": 1}
    transformer = Transformer(ModelConfig(**shape), tokenizer.vocab_size, tokenizer.vocab_size)

    def make(table: Mapping[str, Mapping[str, float]], **search: Any) -> Translator:
        model = TableModel(transformer, tokenizer, table.__getitem__)
        config = SearchConfig(**{"beam_size": 4, **search})
        return Translator([model], tokenizer, tokenizer, config, languages=("en", "de"))

    return make


def glossary_of(*terms: Term) -> Glossary:
    return Glossary(terms=terms, source_language="en", target_language="de")


def translated(translator: Translator, lines: Sequence[str], glossary: Glossary) -> list[Translation]:
    return translator.translate(lines, [Constraints(terms=glossary)] * len(lines))


STATION = glossary_of(Term(source="station", target="Haltestelle"))
WHERE = "where is the station"


def test_a_translation_with_a_form_is_accepted_as_it_is(make: Make) -> None:
    translator = make({"we see the stations": {"wir sehen die Haltestellen": 1.0}})
    [found] = translated(translator, ["we see the stations"], STATION)
    assert found.text == "wir sehen die Haltestellen"
    assert [(use.outcome, use.form) for use in found.terms] == [("inflected", "Haltestellen")]
    assert found.problems == ()
    assert translator.counts.terms == {"inflected": 1}


def test_a_missing_term_comes_with_the_words_around_it_that_fit(make: Make) -> None:
    # It would say "der Bahnhof"; "der Haltestelle" begins likelier than "die Haltestelle", since it begins as it would.
    table = {"wo ist der Bahnhof": 0.94, "wo ist der Haltestelle": 0.01, "wo ist die Haltestelle": 0.05}
    translator = make({WHERE: table})
    [found] = translated(translator, [WHERE], STATION)
    assert found.text == "wo ist die Haltestelle"
    assert [(use.outcome, use.form) for use in found.terms] == [("forced", "Haltestelle")]
    [without] = make({WHERE: table}).translate([WHERE])
    assert (without.text, without.terms) == ("wo ist der Bahnhof", ())


def test_forbidden_words_are_not_used(make: Make) -> None:
    glossary = glossary_of(Term(source="dog", target="", forbidden=("Hund",)))
    table = {"we see the dogs": {"wir sehen die Hunde": 0.8, "wir sehen die K\u00f6ter": 0.2}}
    [found] = translated(make(table), ["we see the dogs"], glossary)
    assert found.text == "wir sehen die K\u00f6ter"
    assert [(use.target, use.outcome) for use in found.terms] == [("not Hund", "forced")]


def test_a_term_that_would_cost_something_else_is_missed_and_said(make: Make) -> None:
    # With the term the number would be lost, or the term stand behind the sentence.
    source = "where is the station 12"
    table = {"wo ist der Bahnhof 12": 0.9, "wo ist die Haltestelle": 0.1}
    translator = make({source: table})
    [found] = translated(translator, [source], STATION)
    assert found.text == "wo ist der Bahnhof 12"
    assert found.problems == ("terms of the glossary that the translation does not use: 'station' as 'Haltestelle'",)
    assert translator.counts.missed_terms == ((1, "'station' as 'Haltestelle'"),)
    assert (translator.counts.terms, translator.counts.problems) == ({"missed": 1}, 0)


def test_a_term_behind_the_sentence_is_missed_and_said(make: Make) -> None:
    source = "where is the station."
    table = {"wo ist der Bahnhof.": 0.9, "wo ist das alte Haus. Haltestelle": 0.1}
    [found] = translated(make({source: table}), [source], STATION)
    assert found.text == "wo ist der Bahnhof."
    assert [use.outcome for use in found.terms] == ["missed"]


def test_a_compound_that_has_a_term_is_not_torn_apart_for_another(make: Make) -> None:
    source = "the last station and the boat"
    table = {
        "die Endhaltestelle und das Haus": 0.9,
        "die End Haltestelle und das Boot": 0.04,
        "die Endhaltestelle und das Boot": 0.06,
    }
    glossary = glossary_of(Term(source="station", target="Haltestelle"), Term(source="boat", target="Boot"))
    [found] = translated(make({source: table}), [source], glossary)
    assert found.text == "die Endhaltestelle und das Boot"
    assert [(use.outcome, use.form) for use in found.terms] == [("inflected", "Endhaltestelle"), ("forced", "Boot")]


@pytest.mark.parametrize(
    "changes", [{"sampling": True, "sample_top_k": 1}, {"max_len": 2}], ids=["sampling", "no room"]
)
def test_where_nothing_is_searched_again_the_term_is_missed(make: Make, changes: dict[str, Any]) -> None:
    glossary = glossary_of(Term(source="station", target="alte Haltestelle am Haus"))
    translator = make({WHERE: {"wo ist der Bahnhof": 1.0}}, **changes)
    [found] = translated(translator, [WHERE], glossary)
    assert [use.outcome for use in found.terms] == ["missed"]


def test_of_the_n_best_the_first_with_the_term_comes_first(make: Make) -> None:
    table = {WHERE: {"wo ist der Bahnhof": 0.6, "wo ist die Haltestelle": 0.4}}
    [found] = translated(make(table, n_best=2), [WHERE], STATION)
    assert [candidate.text for candidate in found.n_best] == ["wo ist die Haltestelle", "wo ist der Bahnhof"]
    assert [use.outcome for use in found.terms] == ["kept"]


def test_what_is_copied_behind_a_placeholder_is_no_place_for_terms(make: Make) -> None:
    glossary = glossary_of(Term(source="a.org", target="b.de"), Term(source="https://a.org", target="https://a.org"))
    read = "we see \u27e61\u27e7 and the boat"
    table = {read: {"wir sehen \u27e61\u27e7 und das Boot": 1.0}}
    [found] = translated(make(table), ["we see https://a.org and the boat"], glossary)
    assert found.text == "wir sehen https://a.org und das Boot"
    assert [(use.target, use.outcome) for use in found.terms] == [("https://a.org", "kept")]


def test_only_what_lacks_a_term_is_searched_again(make: Make) -> None:
    tables = {
        WHERE: {"wo ist der Bahnhof": 0.9, "wo ist die Haltestelle": 0.1},
        "where is the old house": {"wo ist das alte Haus": 1.0},
    }
    translator = make(tables)
    first = [str(each) for each in translated(translator, [WHERE, "where is the old house"], STATION)]
    assert first == ["wo ist die Haltestelle", "wo ist das alte Haus"]
    alone: Sequence[str] = [str(translated(translator, [line], STATION)[0]) for line in tables]
    assert list(alone) == first, "a line's translation does not depend on the others"
