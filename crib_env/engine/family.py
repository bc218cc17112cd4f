"""A family of games, as all other code sees it: its records, its kernels, its words.

A family is one package with an attribute ``FAMILY``; all other code plays the games through it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from crib_env.engine.jit import Entry, kernel, plain
from crib_env.engine.notation import Notation
from crib_env.engine.record import Array, array_of, count_sides
from crib_env.errors import check_choice
from crib_env.rules import Rules, games_of

Reward = Literal["win", "points", "expected", "expected_at_show"]
Suits = Literal["real", "canonical", "ranks"]
REWARDS, SUITS = get_args(Reward), get_args(Suits)
EXPECTED = REWARDS[2:]

Kernel = Callable[..., Any]


class Slice(NamedTuple):
    """A slice of an observation, or of a row of features: numbers of one meaning."""

    name: str
    size: int  # how many numbers
    meaning: str  # with their unit
    low: float = 0
    high: float = 1


Layout = tuple[Slice, ...]


class Features(NamedTuple):
    """What ``features=True`` writes behind the bits of an observation."""

    state: Layout  # of the view as a whole
    rows: int  # how many rows follow, one for each action that may be legal at a time
    # The row of an action: first 1 + the action, second its certain or mean gain, in points (with
    # ``places`` in fours of points). A row without an action is all 0.
    row: Layout
    # For each action, the rows that it adds to. If given, a row stands for a place, such as a line,
    # instead of an action; its first number is negative if the place scores for the other side; and
    # ``state`` ends with the slice ``legal``, the action mask.
    places: tuple[tuple[int, ...], ...] | None = None
    # Bits before this one name cards by id; networks do better with the features' ranks alone.
    first: int = 0

    @property
    def width(self) -> int:
        """The length of a row."""
        return sum(one.size for one in self.row)

    @property
    def size(self) -> int:
        """The length of all features."""
        return sum(one.size for one in self.state) + self.rows * self.width


def check_features(features: object) -> None:
    """Raise a ValueError unless this is a value of the keyword ``features``."""
    if features is not None and not isinstance(features, (bool, np.bool_)):
        raise ValueError(f"features must be True, False or None, got {features!r}")


@kernel
def whole_points(rules):
    """Return 1: the gain of a state counts points."""
    return 1


@dataclass(frozen=True, eq=False)
class Kernels:
    """The kernels of a family, under the names by which every entry calls them.

    ``s`` is a state, ``rules`` a rules record, ``v`` a view, ``log`` int64[LOG_SIZE]. A seat
    chooses an *action*; `step` takes a *move*: at Table Top the action, in the games with hands the
    card's place among those dealt, which `find_move` looks up once.
    """

    begin_episode: Kernel  # (s, rules, decks, dealer, log); dealer a seat, or NONE to cut
    find_move: Kernel  # (s, rules, action) -> move, NONE if the action, any number, is not legal
    draw_move: Kernel  # (s, rules, rng) -> a legal move, uniformly
    step: Kernel  # (s, rules, decks, table, move, log), for the seat to move
    view: Kernel  # (s, rules, seat, v): the one gate to a seat's knowledge
    encode: Kernel  # (v, obs), the observation
    encode_mask: Kernel  # (v, mask), the legal actions
    write_features: Kernel  # (v, table, out float32[size]); all 0 where the seat is not to move
    tally_column: Kernel  # (reason) -> column of a tally, for points of this reason; or NONE
    unit: Kernel = whole_points  # (rules) -> how many of a state's ``gain`` make a point


class CanonicalSuits(NamedTuple):
    """Kernels of ``suits="canonical"`` and ``"ranks"``: equal situations look equal."""

    kernels: dict[str, Kernel]  # that replace those of `Kernels`, by name
    relabel_views: Entry  # (views): writes canonical cards, and hides fields by these suits


@dataclass(frozen=True, eq=False)
class Family:
    """A family of games."""

    name: str  # that of its package
    rules: np.dtype[np.void]  # the record of the rules
    state: np.dtype[np.void]  # the record of a game's full state
    view: np.dtype[np.void]  # the record of a seat's view
    kernels: Kernels
    episodes: Mapping[str, int]  # their names, with their numbers in the rules record
    actions: int  # the size of the action space
    layout: Layout  # the observation's slices
    phases: tuple[str, str, str]  # the three kinds of points that a tally keeps apart
    features: Features  # what `Kernels.write_features` writes
    # (view) -> the ids of the cards that its seat holds; at Table Top the card in turn, if its own.
    hand: Callable[[Any], list[int]]
    # (state) -> the id of a card that seats may not know: the starter, which no seat knows until it
    # is turned; at Table Top the card in turn.
    hidden_card: Callable[[Any], int]
    why_illegal: Callable[[Any, int], str]  # (view, action) -> why it is illegal, as a sentence
    text: Callable[..., str]  # (view, rules, name, number of the deal, events)
    notation: Notation  # how its positions are written and read
    # (rules record, whether the reward pays means) -> the most points that a side can lose to the
    # mean of the others until the episode's end: the cost of an illegal action.
    worst_loss: Callable[[Any, bool], int]
    # (views of some seats at one moment, a `Scene`) -> the parts of a drawing for
    # `crib_env.render.svg.document`. The first view's seat is below. Part 0 is the background,
    # which stays the same in a game.
    draw: Callable[..., list[str]]
    # (all seats' views before a deal's last turn, its actions, the scores before and after, whether
    # hands are shown) -> their views while the deal is counted.
    closing: Callable[..., list[Any]]
    # The kernels that replace the luck of a show by its mean, by reward: see `family_for`.
    expected: Mapping[str, Kernels] = field(default_factory=dict)
    canonical: Mapping[str, CanonicalSuits] = field(default_factory=dict)  # by the value of suits
    reward: str = "points"  # the arguments of `family_for` that gave this family
    suits: str = "real"

    def __reduce__(self) -> tuple[Callable[..., Family], tuple[str, str, str]]:
        return family_for, (self.name, self.reward, self.suits)

    @property
    def obs_size(self) -> int:
        """The length of an observation."""
        return sum(one.size for one in self.layout)

    def layout_with(self, features: bool | None) -> Layout:
        """Return the slices of an observation, with those of ``features`` if wanted."""
        check_features(features)
        if not features:
            return self.layout
        rows, width = self.features.rows, self.features.width
        return (*self.layout, *self.features.state, Slice("rows", rows * width, f"{rows} rows of {width} numbers"))

    @property
    def types(self) -> tuple[Any, Any, Any]:
        """Numba's types of arrays of states, of rules and of views."""
        return array_of(self.state), array_of(self.rules), array_of(self.view)

    def units(self, record: Array) -> int:
        """Return how many units of a `margin` make a point, by a rules record [1]."""
        return int((record["sides"][0] - 1) * plain(self.kernels.unit)(record[0]))

    def illegal_reward(self, rules: Rules, episode: str, reward: str, players: int | None) -> float:
        """Return the reward of an illegal action that ends the episode: legal play pays no less."""
        if reward == "win":
            return -1.0
        record = self.rules_record(rules, episode, players)[0]
        return -float(self.worst_loss(record, reward in EXPECTED))

    def check_episode(self, rules: Rules, episode: str) -> None:
        """Raise a ValueError unless the family and the rules have such an episode."""
        check_choice("episode", episode, self.episodes)
        if (why := rules.why_refused(episode)) is not None:
            raise ValueError(why)

    def rules_record(self, rules: Rules, episode: str, players: int | None = None) -> Array:
        """Return the rules, an episode and the number of players as a record, shape [1]."""
        self.check_episode(rules, episode)
        sides = rules.sides_for(players)
        record = np.zeros(1, dtype=self.rules)
        for name in self.rules.names or ():
            if hasattr(rules, name):
                record[name] = getattr(rules, name)
        record["players"] = len(sides)
        record["sides"] = count_sides(sides)
        record["side_of"][0, : len(sides)] = sides
        record["episode"] = self.episodes[episode]
        return record


FAMILIES = ("two_hand", "many_hand", "table_top")  # packages beside this module


def find_family(name: str) -> Family:
    """Return a family by its name."""
    check_choice("family", name, FAMILIES)
    found: Family = import_module(f"{__package__}.{name}").FAMILY
    return found


@cache
def _family_of_dtype(dtype: np.dtype[np.void]) -> Family | None:
    return next((family for family in map(find_family, FAMILIES) if family.view == dtype), None)


def family_of(views: np.void | Array) -> Family:
    """Return the family of views, records [B], or of one view.

    Raises:
        ValueError: not views of a known game.
    """
    family = _family_of_dtype(views.dtype)
    if family is not None and views.ndim <= 1:
        return family
    fields = ", ".join(views.dtype.names or ()) or "none"
    raise ValueError(
        "views are records [B] of what a seat may know, as agents receive them and as "
        f"env.unwrapped.view() returns one: got an array {list(views.shape)} of "
        f"{views.dtype.kind!r} with the fields {fields}"
    )


def check_family(name: str, views: Array, played: Collection[str]) -> Family:
    """Return the family of views; refuse a family that the agent ``name`` does not play."""
    family = family_of(views)
    if family.name not in played:
        raise ValueError(f"{name} does not play {games_of(family.name)}: it plays {games_of(*played)}")
    return family


ONE_DEAL = ("deal", "round")  # games differ in the word; both are accepted


def episode_name(episode: str, known: Collection[str]) -> str:
    """Return an episode's name; of ``"deal"`` and ``"round"``, the one in ``known``."""
    if episode in ONE_DEAL and episode not in known:
        return next((word for word in ONE_DEAL if word in known), episode)
    return episode


def family_for(name: str, reward: str = "points", suits: str = "real") -> Family:
    """Return a family with the kernels for a reward and for a form of suits.

    Rewards in `EXPECTED` replace the luck of a show by its mean; with any suits but ``"real"``,
    views and actions use canonical cards.
    """
    check_choice("reward", reward, REWARDS)  # before the cache hashes them
    check_choice("suits", suits, SUITS)
    return _family_for(name, reward, suits)


@cache
def _family_for(name: str, reward: str, suits: str) -> Family:
    family = find_family(name)
    if reward in EXPECTED and reward not in family.expected:
        raise ValueError(
            f"reward={reward!r} is not for {games_of(family.name)}: its points have no show whose "
            "mean is known before it; choose 'points' or 'win'"
        )
    if suits != "real" and not family.canonical:
        raise ValueError(
            f"suits={suits!r} is not for {games_of(family.name)}: its suits count in full; leave suits as 'real'"
        )
    kernels = family.expected.get(reward, family.kernels)
    if suits != "real":
        kernels = replace(kernels, **family.canonical[suits].kernels)
    elif kernels is family.kernels:
        return family
    return replace(family, kernels=kernels, reward=reward, suits=suits)


# --- shared by the observations of all families -------------------------------------------------

TENS = 20  # thermometer of the tens of points still to make
NEED = TENS + 10
M16 = 0xFFFF

# The bits that `encode_need` writes, by points: copying is cheaper than computing them.
NEEDS = np.array(
    [
        [i < points // 10 if i < TENS else i - TENS == points % 10 for i in range(NEED)]
        for points in range(10 * TENS + 10)
    ],
    dtype=np.uint8,
)


def offsets(slices: Layout) -> Any:
    """Return a named tuple of the start of each slice, and their total length as ``end``.

    Kernels read it as a constant.
    """
    kind = namedtuple("Offsets", [*(one.name for one in slices), "end"])  # type: ignore[misc]
    return kind(*accumulate((one.size for one in slices), initial=0))


@kernel
def encode_need(obs, at, need):
    """Write points still to make: a thermometer of tens, then the units one-hot."""
    row = (need if need < 10 * TENS else 10 * TENS + need % 10) & M16
    at &= M16  # both so that the compiler knows no index is negative
    for i in range(NEED):
        obs[at + i] = NEEDS[row, i]
