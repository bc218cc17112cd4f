"""A family of games, as all other code sees it: its records, its kernels, its words.

A family is one package with an attribute ``FAMILY``. Code written against `Family` (one game, many
games, environments, agents, the GPU) plays every game of every family.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from crib_env.engine.jit import Entry, kernel
from crib_env.engine.notation import Notation
from crib_env.engine.record import Array, array_of, count_sides, win_return
from crib_env.errors import check_choice
from crib_env.render.svg.document import Scene, lines
from crib_env.rules import Rules, games_of

EXPECTED = ("expected", "expected_at_show")
REWARDS = ("win", "points", *EXPECTED)
SUITS = ("real", "canonical", "ranks")
SHARED = {"dealt", "players"}  # names of fields of the rules that a state may have too

Layout = tuple[tuple[str, int, str], ...]
Kernel = Callable[..., Any]


class Feature(NamedTuple):
    """Some numbers that a network reads besides the bits.

    Attributes:
        name: of their slice.
        size: how many they are.
        low, high: their bounds.
        meaning: their meaning, with their unit.
    """

    name: str
    size: int
    low: float
    high: float
    meaning: str


class Features(NamedTuple):
    """What ``features=True`` writes behind the bits of an observation.

    Attributes:
        state: of the view as a whole.
        rows: how many rows follow, one for each action that may be legal at a time.
        row: of an action; the first is 1 + the action, and 0 in a row without one, whose other
            numbers are 0 too. The second is the certain gain, in points.
        places: None, or for each action the places whose rows it adds to. Then rows are of places
            in place of actions, the first number of one that counts for the other side is
            negative, and ``state`` ends with a feature ``legal``, the mask.
        first: bits before this one name cards by id, which the features say by rank: a network does
            better without them.
    """

    state: tuple[Feature, ...]
    rows: int
    row: tuple[Feature, ...]
    places: tuple[tuple[int, ...], ...] | None = None
    first: int = 0

    @property
    def width(self) -> int:
        """The numbers in a row."""
        return sum(one.size for one in self.row)

    @property
    def size(self) -> int:
        """All numbers."""
        return sum(one.size for one in self.state) + self.rows * self.width


@kernel
def whole_points(rules):
    """Return 1: the gain of a state counts points."""
    return 1


@kernel
def no_features(v, table, out):
    """Write nothing: the family has no features."""


@dataclass(frozen=True, eq=False)
class Kernels:
    """The kernels of a family, under the names by which every entry calls them.

    ``s`` is a state, ``rules`` a rules record, ``v`` a view, ``log`` int64[log_size]. A seat
    chooses an *action*; `step` takes a *move*: at Table Top the action, in the two-hand games
    the place of the card among those dealt, so that it is looked for once.

    Attributes:
        begin_episode: ``(s, rules, decks, dealer, log)``; ``dealer`` a seat, or NONE to cut.
        find_move: ``(s, rules, action) -> move``, NONE if the action, any number, is not legal.
        draw_move: ``(s, rules, rng) -> move``, each legal one as likely.
        action_of: ``(s, move) -> action``.
        step: ``(s, rules, decks, table, move, log)``, for the seat to move.
        view: ``(s, rules, seat, v)``: the one gate to a seat's knowledge.
        encode: ``(v, obs)``, the observation. encode_mask: ``(v, mask)``, the legal actions.
        tally_column: ``(reason) -> column`` of a tally, for points of this reason; or NONE.
        returns: ``(s, rules, side) -> float``, an ended episode's return of a side; over the sides
            it sums to zero.
        unit: ``(rules) -> n``, how many of a state's ``gain`` make a point.
        write_features: ``(v, table, out)``, the features, float32[size]; all 0 where the seat is
            not to move.
    """

    begin_episode: Kernel
    find_move: Kernel
    draw_move: Kernel
    action_of: Kernel
    step: Kernel
    view: Kernel
    encode: Kernel
    encode_mask: Kernel
    tally_column: Kernel
    returns: Kernel = win_return
    unit: Kernel = whole_points
    write_features: Kernel = no_features


class CanonicalSuits(NamedTuple):
    """Kernels of ``suits="canonical"`` and ``"ranks"``: equal situations look equal.

    Attributes:
        kernels: those that take the place of the ones in `Kernels`, by name.
        relabel_views: ``(views)``, an entry: writes canonical cards over the cards of each view,
            and hides the fields that these suits hide.
    """

    kernels: dict[str, Kernel]
    relabel_views: Entry


class RecordTypes(NamedTuple):
    """Numba's types of arrays of a family's records."""

    states: Any
    rules: Any
    views: Any


@dataclass(frozen=True, eq=False)
class Family:
    """A family of games.

    Attributes:
        name: that of its package.
        rules: the dtype of the rules in numbers.
        state: the dtype of a game's full state.
        view: the dtype of a seat's view.
        kernels: its kernels.
        sides: the side of each seat, by the number of players; the first is the default. Seats of
            one side score together. Partners opposite each other: ``{4: (0, 1, 0, 1)}``. Rules may
            say otherwise: see `sides_under`.
        episodes: the names of episodes, with their numbers in the rules record.
        actions: the size of the action space.
        layout: the observation's slices: name, size, meaning.
        log_size: the length of an event log.
        phases: the three kinds of points that a tally keeps apart.
        hand: of a view, the ids of the cards that its seat may use.
        hidden_card: of a state, a card that no seat, or only one, knows: the starter; the card in
            turn.
        why_illegal: of a view and an action that is not legal for its seat: why, as a sentence.
        text: of a view, rules, name, number of the deal and events: the game in text.
        notation: how its positions are written and read.
        worst_loss: of a rules record and whether the reward pays means: the most points that a side
            can lose to the mean of the others until the episode's end. An illegal action costs it.
        closing: of all seats' views before the last turn of a deal, its actions, the scores before
            and after, and whether hands are shown: their views while the deal is counted.
        picture: of views of some seats at one moment and a `Scene`: the parts of a drawing, as
            `crib_env.render.svg.document` takes them; None where the text is all there is.
        features: what `Kernels.write_features` writes.
        expected: the kernels that replace the luck of a show by its mean, by the name of the
            reward; see `family_for`.
        canonical: the kernels for ``suits`` other than ``"real"``, by name; none if all count.
        reward, suits: the arguments of `family_for` that gave this family.
    """

    name: str
    rules: np.dtype[np.void]
    state: np.dtype[np.void]
    view: np.dtype[np.void]
    kernels: Kernels
    sides: Mapping[int, tuple[int, ...]]
    episodes: Mapping[str, int]
    actions: int
    layout: Layout
    log_size: int
    phases: tuple[str, str, str]
    hand: Callable[[Any], list[int]]
    hidden_card: Callable[[Any], int]
    why_illegal: Callable[[Any, int], str]
    text: Callable[..., str]
    notation: Notation
    worst_loss: Callable[[Any, bool], int]
    picture: Callable[..., list[str]] | None = None
    closing: Callable[..., list[Any]] | None = None
    features: Features | None = None
    expected: Mapping[str, Kernels] = field(default_factory=dict)
    canonical: Mapping[str, CanonicalSuits] = field(default_factory=dict)
    reward: str = "points"
    suits: str = "real"

    def __post_init__(self) -> None:
        taken = {*(self.rules.names or ())} & {*(self.state.names or ())} - SHARED
        if taken:
            raise ValueError(
                f"a field of the rules has the name of one of the state's, "
                f"{', '.join(sorted(taken))}: choose another name"
            )

    def __reduce__(self) -> tuple[Callable[..., Family], tuple[str, str, str]]:
        return family_for, (self.name, self.reward, self.suits)

    @property
    def players(self) -> tuple[int, ...]:
        """How many seats a game can have; the first is the default."""
        return tuple(self.sides)

    def sides_under(self, rules: Rules, players: int | None = None) -> tuple[int, ...]:
        """Return the side of each seat, as ``rules`` have it or else the family.

        Args:
            rules: the rules.
            players: seats in a game; None for the default.

        Raises:
            ValueError: no game by these rules has this number of players.
        """
        known = rules.seating or self.sides
        if players is None:
            return next(iter(known.values()))
        if isinstance(players, bool) or players not in known:
            choices = " or ".join(map(str, known))
            raise ValueError(f"a game by rules={rules.name!r} has {choices} players, got players={players!r}")
        return known[players]

    @property
    def obs_size(self) -> int:
        """The length of an observation."""
        return sum(size for _, size, _ in self.layout)

    def features_for(self, features: object) -> Features | None:
        """Return the features that a keyword asks for: those of the family, or None.

        Raises:
            ValueError: it is neither True, False nor None, or the family has no features.
        """
        if features is None or features is False:
            return None
        if features is not True:
            raise ValueError(f"features must be True or False, got {features!r}")
        if self.features is None:
            raise ValueError("features=True: these games have no features")
        return self.features

    def layout_with(self, features: object) -> Layout:
        """Return the slices of an observation, with those of ``features`` if wanted."""
        found = self.features_for(features)
        if found is None:
            return self.layout
        meaning = f"{found.rows} rows of {found.width} numbers"
        rows = ("rows", found.rows * found.width, meaning)
        state = ((one.name, one.size, one.meaning) for one in found.state)
        return (*self.layout, *state, rows)

    def draw(self, views: Sequence[Any], scene: Scene) -> list[str]:
        """Return the parts of a drawing of ``views``; the first seat sits below.

        The first part is the ground, which stays the same from one moment to the next.

        Args:
            views: view records of one seat or of several, at one moment.
            scene: the parts that are the same for all.
        """
        if self.picture is not None:
            return self.picture(views, scene)
        text = self.text(views[0], scene.rules, scene.title, scene.deals, scene.events)
        return lines(text)

    @property
    def types(self) -> RecordTypes:
        """Numba's types of arrays of the records."""
        return RecordTypes(array_of(self.state), array_of(self.rules), array_of(self.view))

    def illegal_reward(self, rules: Rules, episode: str, reward: str, players: int | None) -> float:
        """Return the reward of an illegal action that ends an episode: no legal course pays less.

        Args:
            rules, episode, players: as of `rules_record`.
            reward: one of `REWARDS`; by ``"win"`` a loss is -1 at most.
        """
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
        """Return the rules, an episode and the number of players as a record, shape [1].

        Raises:
            ValueError: an unknown episode, one that the rules leave out, or a number of players
                that no game of the family has.
        """
        self.check_episode(rules, episode)
        sides = self.sides_under(rules, players)
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
    """Return a family by its name.

    Raises:
        ValueError: there is none of that name.
    """
    check_choice("family", name, FAMILIES)
    found: Family = import_module(f"{__package__}.{name}").FAMILY
    return found


ONE_DEAL = ("deal", "round")  # what players call it differs by the game; both words are taken


def episode_name(episode: str, known: Collection[str]) -> str:
    """Return the name of an episode; of one of a single deal, the word that is known of the two."""
    if episode in ONE_DEAL and episode not in known:
        return next((word for word in ONE_DEAL if word in known), episode)
    return episode


@cache
def family_for(name: str, reward: str = "points", suits: str = "real") -> Family:
    """Return the family of a name with the kernels for a reward and for a form of suits.

    Args:
        name: as of `find_family`.
        reward: one of `REWARDS`; those in `EXPECTED` replace the luck of a show by its mean.
        suits: one of `SUITS`; by all but ``"real"``, views and actions use canonical cards.

    Raises:
        ValueError: no such reward or suits, or the family has no such kernels.
    """
    family = find_family(name)
    check_choice("reward", reward, REWARDS)
    check_choice("suits", suits, SUITS)
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

# What `encode_need` writes, by points: to copy it is cheaper than to count out the tens.
NEEDS = np.array(
    [
        [i < points // 10 if i < TENS else i - TENS == points % 10 for i in range(NEED)]
        for points in range(10 * TENS + 10)
    ],
    dtype=np.uint8,
)


def offsets(layout: tuple[tuple[str, int, str], ...]) -> dict[str, int]:
    """Return where each slice of a layout begins, and under ``"end"`` the vector's length."""
    begins, at = {}, 0
    for name, size, _ in layout:
        begins[name] = at
        at += size
    begins["end"] = at
    return begins


@kernel
def encode_need(obs, at, need):
    """Write points still to make: a thermometer of tens, then the units one-hot."""
    row = (need if need < 10 * TENS else 10 * TENS + need % 10) & M16
    at &= M16  # both so that the compiler knows no index is negative
    for i in range(NEED):
        obs[at + i] = NEEDS[row, i]
