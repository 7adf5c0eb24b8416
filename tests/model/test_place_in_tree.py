"""The decoder that is told where in a tree it is, held against plain loops and against itself without a cache."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny_parser import trees

from attendo.decoding.backends.steps import RecomputingStep, TransformerStep
from attendo.model.batch import causal_mask, collate, pad_source
from attendo.model.config import ModelConfig
from attendo.model.layers import DecoderLayer
from attendo.model.parser_stack import ParserStack, StackTop
from attendo.model.transformer import Transformer
from attendo.model.words import MAX_DEPTH, SymbolKind
from attendo.parsing.config import Order
from attendo.parsing.linearization import linearized
from attendo.parsing.tree import Tree

VOCABULARY = 30
BEGINS = {number for number in range(VOCABULARY) if number % 3 == 1}
WRITES = {number for number in range(VOCABULARY) if number % 2 == 1}
KINDS = [
    SymbolKind.WORD if number in WRITES else (SymbolKind.OTHER, *list(SymbolKind)[2:])[number // 2 % 4]
    for number in range(VOCABULARY)
]


def make_model(*, stack: bool) -> Transformer:
    torch.manual_seed(3)
    config = ModelConfig(
        d_model=32, d_ff=48, num_layers=2, num_heads=4, dropout=0.0, next_word=True, parser_stack=stack
    )
    made = Transformer(config, VOCABULARY, VOCABULARY).eval()
    assert made.next_word is not None
    made.next_word.know(*(torch.tensor([n in known for n in range(VOCABULARY)]) for known in (BEGINS, WRITES)))
    if made.parser_stack is not None:
        made.parser_stack.know(torch.tensor(KINDS))
    return made


@pytest.fixture(params=[False, True], ids=["word", "stack"])
def model(request: pytest.FixtureRequest) -> Transformer:
    return make_model(stack=request.param)


def sentences(seed: int, count: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randint(1, VOCABULARY - 1) for _ in range(rng.randint(1, 12))] + [0] for _ in range(count)]


def next_word_places(source: list[int], target_in: list[int]) -> list[int]:
    """Where in the source the word stands that is next at each position: by counting, one after the other."""
    found, written = [], 0
    starts = [place for place, token in enumerate(source) if token in BEGINS]
    for token in target_in:
        written += token in WRITES
        found.append(starts[written] if written < len(starts) else source.index(0))
    return found


def stack_tops(ids: list[int], kinds: list[SymbolKind]) -> list[tuple[int, int, int, int, int]]:
    """Depth, opened, opened at, completed, completed at behind each symbol: by a stack, one symbol after the other."""
    nothing = len(kinds), 0
    stack, completed, words, found = [nothing], nothing, 0, []
    for symbol in ids:
        kind = SymbolKind.OTHER if symbol < 0 else kinds[symbol]
        if kind == SymbolKind.WORD:
            completed = symbol, words
            words += 1
        elif kind == SymbolKind.OPENS_BEHIND:
            stack.append((symbol, completed[1]))
        elif kind == SymbolKind.OPENS_BEFORE:
            stack.append((symbol, words))
        elif kind == SymbolKind.CLOSES:
            completed = stack.pop() if len(stack) > 1 else nothing
        found.append((len(stack) - 1, *stack[-1], *completed))
    return found


def make_stack(kinds: list[SymbolKind]) -> ParserStack:
    stack = ParserStack(ModelConfig(d_model=8, d_ff=8, num_heads=2), len(kinds))
    stack.know(torch.tensor(kinds))
    return stack


@torch.no_grad()
def test_what_is_told_is_of_the_next_word() -> None:
    model = make_model(stack=False)
    source, target = sentences(1, 20), sentences(2, 20)
    batch = collate(source, target)
    memory = torch.randn(20, batch.src_ids.shape[1], 32)
    words = model.words(memory, batch.src_ids)
    assert model.next_word is not None
    assert words is not None
    told = model.next_word(words, batch.tgt_in_ids, batch.tgt_in_ids.shape[1])
    for row, (src, tgt) in enumerate(zip(source, target, strict=True)):
        places = next_word_places(src, [-1, *tgt[:-1]])
        expected = torch.stack([model.next_word.memory(memory[row, place]) for place in places])
        torch.testing.assert_close(told[row, : len(tgt)], expected)


@given(st.lists(st.integers(-1, VOCABULARY - 1), max_size=40))
def test_the_stack_is_that_of_reading_symbol_by_symbol(ids: list[int]) -> None:
    top = make_stack(KINDS).read(torch.tensor([ids], dtype=torch.int64))
    assert list(zip(*(each[0].tolist() for each in top), strict=True)) == stack_tops(ids, KINDS)


@pytest.mark.parametrize("order", ["in-order", "top-down"])
def test_each_bracket_that_closes_completes_its_constituent(order: Order) -> None:
    for tree in trees(60, seed=9):
        symbols = linearized(tree, order)
        known = sorted(set(symbols))
        opens = SymbolKind.OPENS_BEHIND if order == "in-order" else SymbolKind.OPENS_BEFORE
        kinds = [opens if "(" in s else SymbolKind.CLOSES if ")" in s else SymbolKind.WORD for s in known]
        read = make_stack(kinds).read(torch.tensor([[known.index(symbol) for symbol in symbols]]))
        closed = [place for place, symbol in enumerate(symbols) if ")" in symbol]
        found = [(known[read.completed[0, place]], int(read.completed_at[0, place])) for place in closed]
        assert found == [("(" + label, start) for label, start in constituents(tree)]
        assert read.depth[0, -1] == 0


def constituents(tree: Tree) -> list[tuple[str, int]]:
    """Label and first word of each, in the order in which they end."""
    found: list[tuple[str, int]] = []

    def visit(node: Tree, start: int) -> int:
        if node.word is not None:
            return start + 1
        end = start
        for child in node.children:
            end = visit(child, end)
        found.append((node.label, start))
        return end

    visit(tree, 0)
    return found


@torch.no_grad()
def test_what_is_told_is_of_the_stack() -> None:
    model = make_model(stack=True)
    next_word, stack = model.next_word, model.parser_stack
    assert next_word is not None
    assert stack is not None
    source, target = sentences(8, 20), sentences(9, 20)
    batch = collate(source, target)
    memory = model.encode(batch.src_ids, batch.src_mask)
    read = model.decode(batch.tgt_in_ids, batch.tgt_mask, memory, batch.src_mask, model.words(memory, batch.src_ids))
    for row, (src, tgt) in enumerate(zip(source, target, strict=True)):
        tgt_in = [-1, *tgt[:-1]]
        starts = [place for place, token in enumerate(src) if token in BEGINS] + [src.index(0)] * len(tgt_in)
        hidden = model.target_embedding(torch.tensor([tgt_in]))
        for place, (depth, opened, opened_at, completed, completed_at) in enumerate(stack_tops(tgt_in, KINDS)):
            of_opened, of_completed = stack.memory.weight.chunk(2)
            hidden[0, place] += next_word.memory(memory[row, next_word_places(src, tgt_in)[place]])
            hidden[0, place] += of_opened @ memory[row, starts[opened_at]]
            hidden[0, place] += of_completed @ memory[row, starts[completed_at]]
            hidden[0, place] += stack.depths[depth] + stack.opened[opened] + stack.completed[completed]
        for layer in model.decoder_layers:
            assert isinstance(layer, DecoderLayer)
            seen = layer.encoder_attention.look_at(memory[row : row + 1, : len(src)])
            hidden = layer(hidden, causal_mask(len(tgt_in), hidden.device), seen, None)
        torch.testing.assert_close(read[row, : len(tgt)], hidden[0], atol=1e-5, rtol=1e-4)


def test_what_is_deeper_than_the_table_is_told_as_the_deepest() -> None:
    stack = make_stack(KINDS)
    nothing = torch.tensor([0])
    told = [
        stack.labelled(StackTop(torch.tensor([depth]), nothing, nothing, nothing, nothing))
        for depth in (MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1)
    ]
    assert not torch.equal(told[0], told[1])
    assert torch.equal(told[1], told[2])


@torch.no_grad()
def test_a_padded_batch_gives_what_each_sentence_gives_alone(model: Transformer) -> None:
    source, target = sentences(4, 8), sentences(5, 8)
    together = model(collate(source, target))
    for row, (src, tgt) in enumerate(zip(source, target, strict=True)):
        torch.testing.assert_close(together[row, : len(tgt)], model(collate([src], [tgt]))[0], atol=1e-5, rtol=1e-4)


def test_a_cache_changes_nothing(model: Transformer) -> None:
    source, rng = sentences(6, 3), random.Random(7)
    cached, plain = (kind(model, *pad_source(source)) for kind in (TransformerStep, RecomputingStep))
    answers = [step.start().all() for step in (cached, plain)]
    rows = torch.tensor([[0, 0], [1, 1], [2, 2]]).numpy()
    for number in range(9):
        torch.testing.assert_close(torch.from_numpy(answers[0]), torch.from_numpy(answers[1]), atol=1e-5, rtol=1e-4)
        if number:  # the hypotheses of a sentence change places, and one sentence leaves
            rows = torch.tensor([[2 * i + rng.randint(0, 1) for _ in range(2)] for i in range(len(rows))]).numpy()
            rows = rows[1:] if number == 5 else rows
        for step in (cached, plain):
            step.select(rows)
        last = torch.tensor([rng.randint(1, VOCABULARY - 1) for _ in range(rows.size)]).numpy()
        answers = [step.advance(last).all() for step in (cached, plain)]
