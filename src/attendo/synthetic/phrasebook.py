"""The parallel text of the demo: an English-German phrasebook, generated from templates.

Pairs come from hand-written templates and a hand-written lexicon, with computed agreement (gender, case, number, verb
forms, separable verbs, word order). The phrasebook is small: a closed vocabulary of about a thousand word forms per
language and some hundred kinds of sentences. A model that scores high on it has learnt this phrasebook, including how
to combine its words in new ways; the score says nothing about real text.

Pairs are held out by combination: if the valid or the test split has a template with certain content words (verb, noun,
adjective ...), the training split does not have that template with those words in any form, person or tense.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.synthetic.choices import Chooser
from attendo.synthetic.templates import daily_life, everyday, linked, people, shopping, stays, things, travel
from attendo.synthetic.words import Phrase

Template = Callable[[Chooser], Phrase]

TEMPLATES: dict[str, tuple[Template, int]] = {
    "going on": (everyday.going_on, 4),
    "arranged": (everyday.arranged, 4),
    "routine": (everyday.routine, 3),
    "how often": (everyday.how_often, 2),
    "routine question": (everyday.routine_question, 2),
    "past event": (everyday.past_event, 4),
    "past event fronted": (everyday.past_event_fronted, 3),
    "past question": (everyday.past_question, 3),
    "past negated": (everyday.past_negated, 3),
    "negated": (everyday.negated, 3),
    "already": (everyday.already, 3),
    "already question": (everyday.already_question, 2),
    "wish": (everyday.wish, 4),
    "wish fronted": (everyday.wish_fronted, 3),
    "wish negated": (everyday.wish_negated, 3),
    "had to": (everyday.had_to, 3),
    "modal question": (everyday.modal_question, 3),
    "future": (everyday.future, 3),
    "polite request": (everyday.polite_request, 2),
    "imperative": (everyday.imperative, 2),
    "among friends": (everyday.among_friends, 3),
    "why and when": (everyday.why, 2),
    "who": (everyday.who, 2),
    "because": (linked.no_time_because, 3),
    "glad because": (linked.glad_because, 2),
    "opinion": (linked.opinion, 3),
    "indirect question": (linked.indirect_question, 3),
    "condition": (linked.condition, 3),
    "infinitive": (linked.infinitive, 3),
    "purpose": (linked.purpose, 2),
    "two people": (linked.two_people, 3),
    "price question": (shopping.price_question, 2),
    "price": (shopping.price, 2),
    "other colour": (shopping.other_colour, 1),
    "misfit": (shopping.misfit, 2),
    "show": (shopping.show, 2),
    "taste": (shopping.taste, 2),
    "comparison": (shopping.comparison, 2),
    "where to buy": (shopping.where_to_buy, 2),
    "shop wish": (shopping.shop_wish, 2),
    "order": (shopping.order, 3),
    "at the market": (shopping.at_the_market, 1),
    "bring us": (shopping.bring_us, 2),
    "without": (shopping.without, 1),
    "complaint": (shopping.complaint, 1),
    "tasting": (shopping.tasting, 1),
    "reserve table": (shopping.reserve_table, 2),
    "preference": (shopping.preference, 2),
    "way": (travel.way, 2),
    "nearby": (travel.nearby, 1),
    "turn": (travel.turn, 2),
    "located": (travel.located, 2),
    "on foot": (travel.on_foot, 2),
    "departure question": (travel.departure_question, 1),
    "departure": (travel.departure, 2),
    "delay": (travel.delay, 1),
    "tickets": (travel.tickets, 1),
    "ride": (travel.ride, 3),
    "stops": (travel.stops, 1),
    "opening hours": (travel.opening_hours, 2),
    "book room": (stays.book_room, 2),
    "broken": (stays.broken, 1),
    "is there": (stays.is_there, 1),
    "wake up": (stays.wake_up, 1),
    "what time": (stays.what_time, 1),
    "weather": (stays.weather, 2),
    "rain": (stays.rain, 1),
    "because of": (stays.because_of, 2),
    "sights": (stays.sights, 2),
    "was in": (stays.was_in, 2),
    "age": (people.age, 1),
    "named": (people.named, 1),
    "person comparison": (people.person_comparison, 1),
    "profession": (people.profession, 2),
    "lives": (people.lives, 2),
    "belongs": (things.belongs, 3),
    "describe": (people.describe, 3),
    "who works": (people.who_works, 2),
    "that was bought": (things.that_was_bought, 3),
    "position": (things.position, 2),
    "put": (things.put, 2),
    "giving": (things.giving, 4),
    "hurts": (daily_life.hurts, 1),
    "ailment": (daily_life.ailment, 1),
    "remedy": (daily_life.remedy, 1),
    "dose": (daily_life.dose, 1),
    "event": (daily_life.event, 2),
    "looking forward": (daily_life.looking_forward, 1),
    "interest": (things.interest, 1),
    "liking": (things.liking, 2),
    "daily": (daily_life.daily, 3),
    "tired because": (daily_life.tired_because, 2),
    "speaks": (people.speaks, 1),
    "greeting": (people.greeting, 1),
    "introduction": (people.introduction, 1),
    "birthday": (people.birthday, 1),
}
"""The templates by name, with their weights, which are relative frequencies."""

_PATIENCE = 400
"""Number of successive draws without a new pair after which a template counts as exhausted."""
_HELD_OUT_SHARE = 0.25
"""Maximum share of a template's combinations in the held-out splits."""


@dataclass(frozen=True, kw_only=True)
class PhrasePair:
    """A sentence in both languages, with its template and content words."""

    source: str
    """The English sentence."""
    target: str
    """The German sentence."""
    template: str
    """Name of the template, a key of `TEMPLATES`."""
    content: tuple[str, ...]
    """The content words drawn, in German."""

    @property
    def combination(self) -> tuple[str, ...]:
        """The template with the content words; training and held-out splits share no combination."""
        return (self.template, *self.content)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Three lists of pairs whose combinations are disjoint."""

    train: list[PhrasePair]
    valid: list[PhrasePair]
    test: list[PhrasePair]


def draw(template: str, generator: random.Random) -> PhrasePair:
    """Draws one pair from a template."""
    choose = Chooser(generator)
    phrase = TEMPLATES[template][0](choose)
    return PhrasePair(source=phrase.en, target=phrase.de, template=template, content=choose.content)


def generate(num_pairs: int, seed: int) -> list[PhrasePair]:
    """Draws pairs of which no two have the same English or the same German sentence.

    Args:
        num_pairs: number of pairs.
        seed: seed of the draws; the same seed gives the same pairs on every platform.

    Returns:
        The pairs in random order.

    Raises:
        DataError: the phrasebook does not have that many distinct pairs.
    """
    generator = random.Random(seed)
    wheel = [name for name, (_, weight) in TEMPLATES.items() for _ in range(weight)]
    fruitless: Counter[str] = Counter()
    sources: set[str] = set()
    targets: set[str] = set()
    pairs: list[PhrasePair] = []
    while len(pairs) < num_pairs:
        if not wheel:
            raise DataError(
                f"the phrasebook was asked for {num_pairs:,} distinct pairs and has about {len(pairs):,}; ask for fewer"
            )
        name = wheel[int(generator.random() * len(wheel))]
        pair = draw(name, generator)
        if pair.source in sources or pair.target in targets:
            fruitless[name] += 1
            if fruitless[name] == _PATIENCE:
                wheel = [other for other in wheel if other != name]
            continue
        fruitless[name] = 0
        sources.add(pair.source)
        targets.add(pair.target)
        pairs.append(pair)
    return pairs


def tokens(text: str) -> list[str]:
    """Returns the words of a sentence in lower case, without punctuation marks."""
    return text.lower().translate(str.maketrans("", "", ".,?!'")).split()


def split(seed: int, num_train: int = 40_000, num_valid: int = 500, num_test: int = 500) -> Split:
    """Draws a training, a validation and a test split by combination.

    Every word of the held-out pairs occurs in training, in the same form; their combinations of template and content
    words do not, and no two held-out pairs share a combination.

    Args:
        seed: seed of the draws; the same seed gives the same splits on every platform.
        num_train: number of pairs for training.
        num_valid: number of pairs for validation.
        num_test: number of pairs for testing.

    Returns:
        The three lists, each in random order.

    Raises:
        DataError: the phrasebook has too few pairs for such splits.
    """
    num_held_out = num_valid + num_test
    surplus = 200 + 6 * num_held_out
    pool = generate(num_train + surplus, seed)
    held_out = _held_out(pool, num_held_out)
    forbidden = {pair.combination for pair in held_out}
    train = [pair for pair in pool if pair.combination not in forbidden][:num_train]
    if len(held_out) < num_held_out or len(train) < num_train:
        raise DataError(
            f"the phrasebook gives {len(train):,} training and {len(held_out):,} held-out pairs here, "
            f"not {num_train:,} and {num_held_out:,}; ask for a smaller held-out part or more training pairs"
        )
    return Split(train=train, valid=held_out[:num_valid], test=held_out[num_valid:])


def _held_out(pool: list[PhrasePair], number: int) -> list[PhrasePair]:
    """Returns a pair of each of `number` combinations, leaving all words and most of each template for training."""
    # A combination is only held out if each of its words still occurs at least 20 times in the rest.
    groups: dict[tuple[str, ...], list[PhrasePair]] = {}
    for pair in pool:
        groups.setdefault(pair.combination, []).append(pair)
    remaining = Counter(word for pair in pool for word in _words([pair]))
    room = Counter(combination[0] for combination in groups)
    room = Counter({name: int(count * _HELD_OUT_SHARE) for name, count in room.items()})
    chosen: list[PhrasePair] = []
    for combination, members in groups.items():
        if len(chosen) == number:
            break
        removed = Counter(_words(members))
        if room[combination[0]] == 0 or any(remaining[word] - count < 20 for word, count in removed.items()):
            continue
        remaining.subtract(removed)
        room[combination[0]] -= 1
        chosen.append(members[0])
    return chosen


def _words(pairs: Iterable[PhrasePair]) -> list[tuple[str, str]]:
    """Returns the words of both sides, each with its language."""
    return [
        (language, word)
        for pair in pairs
        for language, text in (("en", pair.source), ("de", pair.target))
        for word in tokens(text)
    ]
