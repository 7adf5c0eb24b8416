"""Dependencies, anaphors, constituents and roles: a planted head is found, and no other."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.paper.heads.conftest import HEADS, LAYERS, PLANTED, MakeLooks, look_of

from attendo.paper.heads.figure3 import relations
from attendo.paper.heads.figure4 import anaphors
from attendo.paper.heads.head_attention import Head, SentenceAttention
from attendo.paper.heads.pictures import lines_picture
from attendo.paper.heads.roles import RoleScore, innermost, roles, structure
from attendo.paper.heads.sentences import anaphor_pairs, dependency_pairs
from attendo.synthetic.annotated.markup import links

HEAD = Head(kind="encoder", layer=PLANTED[0], head=PLANTED[1])


def rows(look: SentenceAttention, target: Callable[[int], int]) -> NDArray[np.float64]:
    """A head that gives 0.8 to one place, and the rest to all."""
    length = len(look.words.source)
    weights = np.full((length, length), 0.2 / length)
    for row in range(length):
        weights[row, target(row)] += 0.8
    return weights


def governor_to_partner(look: SentenceAttention) -> NDArray[np.float64]:
    ends = look.source.dependency
    return rows(look, lambda row: ends[1] if ends is not None and row == ends[0] else len(look.source.words))


def all_to_partner(look: SentenceAttention) -> NDArray[np.float64]:
    ends = look.source.dependency
    return rows(look, lambda row: ends[1] if ends is not None else row)


def to_previous(look: SentenceAttention) -> NDArray[np.float64]:
    return rows(look, lambda row: max(row - 1, 0))


def test_a_planted_head_follows_dependencies_onwards_and_no_other_does(make_looks: MakeLooks) -> None:
    found = relations(make_looks(dependency_pairs(480, 1), governor_to_partner))
    onwards = [one for one in found if one.head.kind == "encoder" and one.direction == "onwards"]
    assert len(onwards) == 4  # English has no auxiliary and no modal verb far from its verb
    for one in onwards:
        assert one.head == HEAD
        assert one.also == ()
        assert one.hits == one.chosen_hits == 1.0
        assert one.share > 0.8
        assert one.rule_hits < 1.0
        assert one.follows
    assert not any(one.follows or one.leans for one in found if one not in onwards)


def test_a_word_that_everything_looks_at_is_not_followed(make_looks: MakeLooks) -> None:
    found = relations(make_looks(dependency_pairs(480, 1), all_to_partner))
    onwards = [one for one in found if one.head == HEAD and one.direction == "onwards"]
    assert len(onwards) == 4
    assert all(one.hits == 1.0 and one.p_hits < 0.05 for one in onwards)
    assert not any(one.follows for one in found)


def test_a_fixed_place_is_not_followed(make_looks: MakeLooks) -> None:
    def seven_on(look: SentenceAttention) -> NDArray[np.float64]:
        return rows(look, lambda row: min(row + 7, len(look.source.words)))

    found = relations(make_looks(dependency_pairs(480, 1), seven_on))
    assert any(one.hits > 0 for one in found)
    assert not any(one.follows or one.leans for one in found)


def test_the_decoder_looks_back_at_what_it_has_written(make_looks: MakeLooks) -> None:
    looks = make_looks(dependency_pairs(480, 1))
    for look in looks.all:
        assert look.target.dependency is not None
        first, last = look.target.dependency
        # Row `last` writes the partner; the word `first` stands one column to the right of its number.
        look.words.decoder[PLANTED][last] = 0
        look.words.decoder[PLANTED][last, first + 1] = 1
    found = relations(looks)
    decoder = [one for one in found if one.head.kind == "decoder"]
    assert {one.name for one in decoder} == {look.pair.template for look in looks.all}
    assert {one.direction for one in decoder} == {"back"}
    for one in decoder:
        assert (one.head.layer, one.head.head) == PLANTED
        assert one.hits == 1.0
        assert one.follows
    assert not any(one.follows for one in found if one.head.kind == "encoder")


def test_a_planted_head_links_anaphors_and_no_other_does(make_looks: MakeLooks) -> None:
    def to_antecedent(look: SentenceAttention) -> NDArray[np.float64]:
        side = look.source
        return rows(look, lambda row: side.antecedent if row == side.anaphor and side.antecedent is not None else row)

    found = anaphors(make_looks(anaphor_pairs(96, 1), to_antecedent))
    assert (found.num_chosen_on, found.num_held_out) == (24, 24)
    best, *others = found.heads
    assert best.head == HEAD
    assert (best.right, best.both_right, best.both_wrong, best.hits) == (1.0, 24, 0, 1.0)
    assert best.links
    assert len(others) == LAYERS * HEADS - 1
    assert not any(one.tells for one in others)
    assert [one.right for one in others] == [0.5] * len(others)  # ties
    assert sum(count for _, count, _, _ in found.by_template) == 24
    assert all(first == 1.0 and second == 0.5 for _, _, first, second in found.by_template)


def test_a_head_that_does_not_read_the_anaphor_is_right_half_the_time(make_looks: MakeLooks) -> None:
    def to_first_person(look: SentenceAttention) -> NDArray[np.float64]:
        side = look.source
        assert side.antecedent is not None
        assert side.rival is not None
        first = min(side.antecedent, side.rival)
        return rows(look, lambda row: first if row == side.anaphor else row)

    found = anaphors(make_looks(anaphor_pairs(96, 1), to_first_person))
    [one] = [each for each in found.heads if each.head == HEAD]
    assert one.right == 0.5
    assert one.p == 1.0
    assert not one.links


def test_faint_attention_tells_but_does_not_link(make_looks: MakeLooks) -> None:
    def faintly(look: SentenceAttention) -> NDArray[np.float64]:
        side, weights = look.source, np.zeros((len(look.words.source),) * 2)
        assert side.anaphor is not None
        assert side.antecedent is not None
        weights[:, -1] = 1.0
        weights[side.anaphor, [side.antecedent, -1]] = (0.01, 0.99)
        return weights

    found = anaphors(make_looks(anaphor_pairs(96, 1), faintly))
    one = found.heads[-1]  # behind all that look there
    assert one.head == HEAD
    assert one.tells
    assert not one.links


def test_constituents_around_words() -> None:
    [pair] = [each for each in dependency_pairs(12, 1) if each.template == "made so" and not each.held_out]
    side = pair.english
    for word, (first, last) in innermost(side).items():
        assert first <= word <= last
        assert last - first >= 2
        assert (first, last) in side.constituents
        smaller = [each for each in side.constituents if each[0] <= word <= each[1] and each[1] - each[0] >= 2]
        assert all(last - first <= each[1] - each[0] for each in smaller)


def test_a_planted_head_keeps_to_constituents_and_no_other_does(make_looks: MakeLooks) -> None:
    def inside(look: SentenceAttention) -> NDArray[np.float64]:
        length = len(look.words.source)
        weights = np.eye(length)
        for word, (first, last) in innermost(look.source).items():
            weights[word] = [first <= place <= last for place in range(length)]
        normed: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return normed

    found = structure(make_looks(dependency_pairs(96, 1), inside))
    best, *others = found.heads
    assert best.head == HEAD
    assert best.inside == pytest.approx(1.0)
    assert best.by_place < 1.0
    assert best.follows
    assert not any(one.follows for one in others)
    # All other heads look at everything alike; the twin's average is over short and long sentences.
    assert others[0].inside == pytest.approx(found.uniform)
    assert others[0].by_place == pytest.approx(found.uniform, abs=0.01)


def test_a_head_of_places_keeps_to_no_constituents(make_looks: MakeLooks) -> None:
    found = structure(make_looks(dependency_pairs(96, 1), to_previous))
    [one] = [each for each in found.heads if each.head == HEAD]
    assert one.inside > 0.5  # a neighbour is mostly in the same constituent
    assert one.inside == pytest.approx(one.by_place, abs=0.05)
    assert not one.follows


def of(scores: tuple[RoleScore, ...], role: str) -> RoleScore:
    return next(score for score in scores if score.role == role)


def test_roles_of_the_encoder(make_looks: MakeLooks) -> None:
    looks = make_looks((*dependency_pairs(24, 1), *anaphor_pairs(24, 1)), to_previous).all
    scores = roles(looks)["encoder"]
    previous = of(scores, "previous word")
    assert previous.hits[PLANTED] == 1.0
    lengths = [len(look.words.source) for look in looks for _ in range(len(look.source.words))]  # all but the first
    assert previous.num_queries == len(lengths)
    assert previous.chance == pytest.approx(np.mean([1 / length for length in lengths]))
    assert previous.shares[0, 0] == pytest.approx(previous.chance)
    assert previous.shares[PLANTED] == pytest.approx(0.8 + 0.2 * previous.chance)
    own = of(scores, "own word")
    assert own.hits[PLANTED] == pytest.approx(len(looks) / own.num_queries)  # the first word has none before it
    assert of(scores, "antecedent").num_queries == 24
    assert of(scores, "dependency").num_queries == 2 * sum(look.source.dependency is not None for look in looks)
    repeated = sum(
        [word.lower() for word in look.source.words].count(word.lower()) > 1
        for look in looks
        for word in look.source.words
        if word not in ".,"
    )
    assert of(scores, "same word").num_queries == repeated


def test_roles_of_the_decoder_and_between() -> None:
    looks = [look_of(pair) for pair in dependency_pairs(24, 1)]
    for look in looks:
        look.words.decoder[PLANTED] = np.eye(len(look.words.target))  # row t at column t: the word before
        look.words.cross[PLANTED] = 0
        for row in range(len(look.words.target)):
            sources = [source for source, target in links(look.source, look.target) if target == row - 1]
            look.words.cross[PLANTED][row, sources or [-1]] = 1 / max(1, len(sources))
    found = roles(looks)
    assert of(found["decoder"], "last word written").shares[PLANTED] == 1.0
    assert of(found["decoder"], "start").shares[PLANTED] < 0.2  # at the first row alone
    assert of(found["decoder"], "the one before").shares[PLANTED] == 0
    assert of(found["cross"], "aligned to the last").shares[PLANTED] == pytest.approx(1.0)
    assert of(found["cross"], "aligned word").shares[PLANTED] < 0.2
    unplanted = of(found["cross"], "aligned word")
    assert unplanted.shares[0, 0] == pytest.approx(unplanted.chance)


def test_a_picture_tells_in_words_where_the_drawn_words_look(make_looks: MakeLooks) -> None:
    [look] = (look for look in make_looks(dependency_pairs(8, 1), to_previous).all[:1])
    length = len(look.words.source)
    heads = tuple(Head(kind="encoder", layer=PLANTED[0], head=head) for head in (0, PLANTED[1]))
    before, word = look.source.words[1:3]
    picture = lines_picture("it", look, heads, "A sentence.", (word,))
    planted = f"head {PLANTED[1] + 1} at {before} ({0.8 + 0.2 / length:.0%})"
    first = f"head 1 at {look.source.words[0]} ({1 / length:.0%})"
    assert picture.alt.endswith(f"{look.source.text} What they look at most from {word}: {first}, {planted}.")
    german = tuple(Head(kind="decoder", layer=0, head=head) for head in range(HEADS))
    assert look.target.text in lines_picture("it", look, german, "A sentence.").alt
