"""`Game` and `GameBatch`: cribbage without any RL library."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from weakref import ref

import numpy as np
import pytest

from crib_env import EpisodeOverError, Game, GameBatch, Rules, encode, find_agent
from crib_env.cards import parse_card
from crib_env.engine.hands.records import PEGGING
from crib_env.options import ResetOptions
from hidden import redraw
from vector_walks import lowest

KINDS: dict[str, dict[str, Any]] = {
    "six-card game": {"rules": "hoyle"},
    "six-card match": {"rules": "hoyle[target=31,match_target=2]", "episode": "match"},
    "five-card deal": {"rules": "five_card", "episode": "deal"},
    "table top for two": {"rules": "table_top"},
    "table top for four": {"rules": "table_top_ship", "players": 4, "episode": "round"},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def made(kind: str, seed: int = 1) -> Game:
    return Game(**KINDS[kind], seed=seed)


def walk(game: Game, seed: int) -> Iterator[int]:
    """Play at random to the end, yielding each action before it is taken."""
    rng = np.random.default_rng(seed)
    while not game.over:
        action = int(rng.choice(game.legal_actions))
        yield action
        game.step(action)


def position(game: Game) -> Any:
    return game.notation(), game.seat, game.legal_actions, game.scores, game.events


@every_kind
def test_position_and_repr_read_back(kind: str) -> None:
    game = made(kind)
    for turn, _ in enumerate(walk(game, seed=8)):
        if turn % 9 == 0:
            text = game.notation()
            assert "\n" not in text
            for again in (Game.from_notation(text), eval(repr(game), {"Game": Game})):
                assert again == game
                assert again.notation() == text
                assert (again.legal_actions, again.scores, again.dealer) == (
                    game.legal_actions,
                    game.scores,
                    game.dealer,
                )
    again = eval(repr(game), {"Game": Game})
    assert (again.over, again.returns, again.legal_actions) == (True, game.returns, [])
    # With its generator in the line, the game continues with the same deals.
    start = made(kind)
    again = Game.from_notation(start.notation())
    assert [start.notation() for _ in walk(start, seed=9)] == [again.notation() for _ in walk(again, seed=9)]


@every_kind
def test_text_and_view_hide_other_seats_cards(kind: str) -> None:
    game = made(kind)
    assert len({game.text(seat) for seat in range(game.players)}) > 1
    for seat in range(game.players):
        other = game.copy()
        assert redraw(other, rng(), seat)
        assert other != game
        assert other.text(seat) == game.text(seat)
        assert other.view(seat) == game.view(seat)
    assert game.text() == game.text(game.seat)
    assert game.text(name="my_table").startswith("my_table, ")
    assert int(game.view(game.seat)["to_move"]) == 1
    with pytest.raises(ValueError, match="seat must be from 0 to"):
        game.view(game.players)


def test_reset_takes_decks_dealer_and_scores() -> None:
    game = Game("five_card", seed=1)
    game.reset(decks=[list(range(52))], dealer=1, scores=(10, 20))
    assert (game.dealer, game.seat, game.scores, game.deals) == (1, 0, (10, 20), 1)
    assert game.legal_actions == [0, 2, 4, 6, 8]
    assert not game.events  # three for last (F1) are not pegged on top of given scores
    assert Game.from_notation(game.notation()) == game
    assert game.log[0] == 0
    hoyle = Game("hoyle", seed=1)
    hoyle.reset(scores=(0, 0))  # there are no points for last
    assert hoyle.log[0] == 0
    before = game.states.tobytes()
    nested = {"options": {"dealer": 1}}
    for wrong in ({"dealer": 2}, {"decks": [[1]]}, {"scores": (61, 0)}, {"seed": -1}, {"deck": 1}, nested):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            game.reset(**wrong)
        assert game.states.tobytes() == before


def test_repr_shows_unreachable_positions() -> None:
    game = made("six-card game")
    game.states["scores"] = 100, 100
    with pytest.raises(ValueError, match="not a position of a game: see its scores"):
        game.notation()
    assert repr(game) == "<Game: the state is not a position of a game: see its scores>"


@every_kind
def test_game_equality_compares_rules_episode_players_and_position(kind: str) -> None:
    game = made(kind)
    assert game == made(kind)
    assert game != made(kind, seed=2)
    assert game != "a game"
    twin = game.copy()
    game.push(game.legal_actions[0])
    assert game != twin
    game.pop()
    assert game == twin
    twin.seed(np.random.SeedSequence(5))
    assert game != twin  # other deals follow
    with pytest.raises(TypeError, match="unhashable"):
        hash(game)


def test_game_equality_differs_by_rules_and_episode() -> None:
    line = Game("hoyle", seed=1).notation()
    others = line.replace("hoyle", "hoyle[skunk_points=3]", 1), line.replace(" game ", " match ", 1)
    assert Game.from_notation(line) not in map(Game.from_notation, others)


@every_kind
def test_text_observation_and_legal_actions_agree_with_view(kind: str) -> None:
    game = made(kind)
    for turn, _ in enumerate(walk(game, seed=12)):
        views = [game.view(seat) for seat in range(game.players)]
        hands = [game.hand(view) for view in views]
        if game.rules.family == "two_hand":
            assert set(game.legal_actions) <= set(hands[game.seat])
            assert not set(hands[0]) & set(hands[1])
            if views[0]["phase"] == PEGGING:
                assert len(hands[1 - game.seat]) == views[game.seat]["held_n"][1]
        else:
            cards = [int(view["card"]) for view in views]
            assert hands == [[card] if s == game.seat else [] for s, card in enumerate(cards)]
        if turn % 4:
            continue
        assert str(game) == game.text(game.seat)
        for seat, view in enumerate(views):
            observation, mask = game.observe(seat)
            expected, masks = encode(view)
            assert np.array_equal(observation, expected[0])
            assert np.array_equal(mask, masks[0])
        mine, mask = game.observe(game.seat)
        assert np.array_equal(game.obs, mine)  # looking from other seats changes nothing
        assert game.legal_actions == np.flatnonzero(mask).tolist()
        taken = game.copy()
        for action in game.legal_actions:
            taken.push(action)
            taken.pop()
        assert taken == game
    with pytest.raises(ValueError, match="seat must be from 0 to"):
        game.observe(-1)


def test_set_position_is_atomic() -> None:
    game, other = made("six-card game"), made("six-card game", seed=9)
    game.push(game.legal_actions[0])
    game.set_position(other.notation())
    assert game == other
    assert game.legal_actions == other.legal_actions
    with pytest.raises(IndexError, match="push"):
        game.pop()  # the moves of the position before are gone
    bare = other.notation().partition(" rng=")[0]
    before = game.states["rng"].copy()
    game.set_position(bare)
    assert np.array_equal(game.states["rng"], before)  # keeps its own generator
    here = game.copy()
    with pytest.raises(ValueError, match="takes what snapshot"):
        game.restore(other.notation())  # type: ignore[arg-type]
    for line, why in ((bare[:-2], "pile"), (bare.replace(" game ", " match "), "episode 'match', not 'game'")):
        with pytest.raises(ValueError, match=why):
            game.set_position(line)
    with pytest.raises(ValueError, match="episode 'match', not 'game'"):
        game.restore(Game("hoyle", episode="match", seed=1).snapshot())
    assert game == here
    assert np.array_equal(game.mask, here.mask)


def test_game_points_exist_only_in_a_match() -> None:
    game = Game(episode="match", seed=1)
    for _ in walk(game, seed=1):
        pass
    assert max(game.match_score) >= game.rules.match_target
    with pytest.raises(AttributeError, match="no matches"):
        _ = Game("table_top").match_score
    with pytest.raises(ValueError, match="episode must be one of"):
        Game("table_top", episode="match")
    with pytest.raises(ValueError, match="has 2 players, got players=4"):
        Game(players=4)


# ---------------------------------------------------------------- many at once


@every_kind
def test_game_batch_plays_as_single_games(kind: str) -> None:
    """Game by game: from the same generators the same deals, views and results."""
    keywords = {key: value for key, value in KINDS[kind].items() if key != "rules"}
    games = GameBatch(Rules.preset(KINDS[kind]["rules"]), 4, **keywords, seed=3)
    singles = [made(kind) for _ in range(4)]
    for lane, one in enumerate(singles):
        one.states["rng"] = games.states["rng"][lane]
        one.reset()
    games.reset()
    rng = np.random.default_rng(3)
    while len(lanes := games.running()):
        views = games.views(lanes)
        seats = games.movers(lanes)
        actions = []
        for lane, view, seat in zip(lanes, views, seats, strict=True):
            assert singles[lane].view(seat) == view
            actions.append(int(rng.choice(singles[lane].legal_actions)))
            singles[lane].step(actions[-1])
        assert games.step(lanes, np.array(actions)) is None
    assert games.returns().tolist() == [one.returns for one in singles]
    assert games.states["scores"].tolist() == [list(one.scores) for one in singles]


def test_game_batch_takes_every_second_game() -> None:
    """Sliced arrays, which are not contiguous, and read-only arrays are accepted."""
    games = GameBatch("hoyle", 6, seed=1)
    games.reset()
    half = games.running()[::2]
    seats = np.repeat(games.movers(half), 2)[::2]
    assert (games.views(half, seats) == games.views(half.copy())).all()
    actions = np.repeat(games.views(half)["hand"][:, 0], 2)[::2]
    assert games.step(half, actions) is None
    assert games.states["discarded"].any(axis=1).tolist() == [True, False] * 3
    games.reset(half)
    assert not games.states["discarded"].any()
    for decks in (None, np.arange(52)[None]):
        games.reset(half, decks=decks, dealer=0)
        assert (games.states["deals"] == 1).all()
    held = games.views(games.running())["hand"][:, 0].copy()
    for array in (half := half.copy(), held, seats):  # and those of Ray and JAX
        array.setflags(write=False)
    assert len(games.views(half, seats)) == 3
    assert games.step(half, held[::2]) is None
    games.reset(half)


@every_kind
def test_game_batch_copies_are_independent(kind: str) -> None:
    """A copy plays as its original and does not change it."""
    keywords = {name: value for name, value in KINDS[kind].items() if name != "rules"}
    games, rng = GameBatch(KINDS[kind]["rules"], 3, **keywords, seed=7), np.random.default_rng(1)
    games.reset()
    greedy, lanes = find_agent("greedy"), np.arange(3)
    for _ in range(6):
        games.ask(greedy, lanes, rng)
    calls: list[int] = []
    games.on_step = lambda game, seat, log: calls.append(game)
    states, tally = games.states.copy(), games.tally.copy()
    copies = games.copies([2, 0, 2])
    assert (copies.n, copies.tally.any()) == (3, False)
    for _ in copies.play(greedy, rng):
        pass
    assert (games.states == states).all()
    assert (games.tally == tally).all()
    assert not calls
    games.on_step = None
    for _ in games.play(greedy, rng):
        pass
    assert (copies.states == games.states[[2, 0, 2]]).all()
    assert (copies.tally == (games.tally - tally)[[2, 0, 2]]).all()
    with pytest.raises(ValueError, match="games must be whole numbers from 0 to 2"):
        games.copies([3])


def test_game_batch_tallies_points_by_phase() -> None:
    games = GameBatch(Rules.preset("hoyle"), 200, episode="deal", seed=1)
    games.reset(scores=(50, 40))
    decisions = sum(len(lanes) for lanes in games.play(find_agent("greedy"), rng()))
    assert decisions == 200 * 12
    assert not len(games.running())
    assert (games.tally.sum(axis=2) == games.states["scores"] - (50, 40)).all()
    pone = 1 - games.states["dealer"]
    assert not games.tally[np.arange(200), pone, 2].any()  # the crib is the dealer's
    games.reset(np.array([3]))
    assert games.running().tolist() == [3]
    assert not games.tally[3].any()
    assert games.tally[4].any()


def test_tally_equals_the_points_of_events() -> None:
    deck = np.random.default_rng(4).permutation(52)[None]
    game, games = Game("hoyle", episode="deal"), GameBatch("hoyle", 1, episode="deal", seed=1)
    for one in (game, games):
        one.reset(decks=deck, dealer=1)
    made = np.zeros((2, 3))
    while not game.over:
        action = game.legal_actions[0]
        game.push(action)
        games.step(np.zeros(1, dtype=np.int64), np.array([action]))
        for event in game.events:
            made[event.seat, {"hand": 1, "crib": 2}.get(event.reason, 0)] += event.points
    assert made.all(axis=0).tolist() == [True, True, False]  # the crib is the dealer's
    assert games.tally[0].tolist() == made.tolist()


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_game_batch_reset_takes_dealer_scores_and_decks() -> None:
    decks = np.array([np.random.default_rng(i).permutation(52) for i in range(2)])
    games = GameBatch(Rules.preset("hoyle"), 3, seed=1)
    games.reset(decks=decks, dealer=1)
    assert (games.states["dealt"] == games.states["dealt"][0]).all()
    games.reset_each([ResetOptions(decks[:1], 0), ResetOptions(decks[1:], 1, (7, 9)), ResetOptions()])
    assert games.states["starter"][:2].tolist() == [decks[0][12], decks[1][12]]
    assert games.states["dealer"][:2].tolist() == [0, 1]
    assert games.states["scores"].tolist() == [[0, 0], [7, 9], [0, 0]]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([parse_card("AC")], "expected 2 integers"),
        ([0.5, 0.5], "expected 2 integers"),
        ([[0], [0]], "expected 2 integers"),
        ([99, 99], "99 is not an action"),
    ],
)
def test_game_batch_names_the_agent_of_an_illegal_action(answer: Any, message: str) -> None:
    games = GameBatch(Rules.preset("hoyle"), 2, seed=1)
    games.reset()
    oracle = SimpleNamespace(name="oracle", act=lambda views, rng: answer if len(views) else [])
    with pytest.raises(ValueError, match=f"'oracle' failed: {message}"):
        games.ask(oracle, np.arange(2), rng())
    games.ask(oracle, np.arange(0), rng())  # no games: no agent is called


def test_game_batch_ask_rejects_name_of_agent() -> None:
    batch = GameBatch("hoyle", 2, seed=1)
    batch.reset()
    with pytest.raises(TypeError, match="got 'greedy': find_agent makes one"):
        batch.ask("greedy", np.arange(2), np.random.default_rng(1))  # type: ignore[arg-type]


def test_game_batch_asks_no_agent_without_running_episode() -> None:
    games, greedy = GameBatch("hoyle", 2, episode="deal", seed=1), find_agent("greedy")
    with pytest.raises(EpisodeOverError, match=r"^game 0 has no running episode: call reset\(\)"):
        next(games.play(greedy, rng()))
    games.reset()
    for _ in games.play(greedy, rng()):
        pass
    games.reset([0])
    with pytest.raises(EpisodeOverError, match=r"^game 1 has no"):
        games.ask(greedy, np.arange(2), rng())


def test_pop_takes_back_no_move_from_before_a_restore() -> None:
    game = made("six-card game")
    before = game.snapshot()
    game.push(game.legal_actions[0])
    game.restore(before)
    game.step(game.legal_actions[1])
    here = game.copy()
    with pytest.raises(IndexError, match="push"):
        game.pop()
    assert game == here


@pytest.mark.parametrize("games", [[0], [1, 2]])
def test_game_batch_reset_with_decks_leaves_other_games_alone(games: list[int]) -> None:
    deck, other = list(range(52)), list(range(51, -1, -1))
    batch = GameBatch("hoyle", 4, seed=1)
    batch.reset(decks=np.array([other, other]), dealer=0)
    before = batch.states.copy()
    batch.reset(np.array(games), decks=np.array([deck]), dealer=1)
    rest = np.setdiff1d(np.arange(4), games)
    for name in set(batch.states.dtype.names) - {"given", "given_end"}:
        assert np.array_equal(batch.states[name][rest], before[name][rest]), name
    dealt = Game("hoyle", seed=1)
    dealt.reset(decks=[deck], dealer=1)
    assert (batch.states["dealt"][games] == dealt.states["dealt"]).all()
    while (first := rest[batch.states["deals"][rest] == 1]).size:
        batch.ask(find_agent(lowest), first, np.random.default_rng(1))
    assert {tuple(sorted(row)) for row in batch.states["dealt"][rest].tolist()} == {
        tuple(range(40, 52))
    }  # the second deck that they were given


@pytest.mark.parametrize(
    "wrong",
    [{"dealer": 2}, {"dealer": -1}, {"scores": (121, 0)}, {"scores": (1, 2, 3)}, {"decks": np.arange(52)[None] + 1}],
    ids=repr,
)
def test_game_batch_reset_rejects_options_unchanged(wrong: dict[str, Any]) -> None:
    batch = GameBatch("hoyle", 2, seed=1)
    batch.reset()
    before = batch.states.copy()
    with pytest.raises(ValueError, match=next(iter(wrong))):
        batch.reset(**wrong)
    assert np.array_equal(batch.states, before)


def test_game_batch_step_and_views_take_one_number_a_game() -> None:
    batch = GameBatch("hoyle", 2, seed=1)
    batch.reset()
    games = np.arange(2)
    with pytest.raises(ValueError, match="1 actions for 2 games"):
        batch.step(games, np.array([0]))
    with pytest.raises(ValueError, match="1 seats for 2 games"):
        batch.views(games, np.array([0]))


@pytest.mark.parametrize("wrong", [[0.0, 1.0], [True, False], [[0], [1]], 0, ["0", "1"], [0, 2]], ids=str)
def test_game_batch_refuses_wrong_numbers_unchanged(wrong: Any) -> None:
    batch, games = GameBatch("hoyle", 2, seed=1), np.arange(2)
    batch.reset()
    before = batch.states.tobytes()
    calls: list[tuple[str, Callable[[], object]]] = [
        ("games", lambda: batch.reset(wrong)),
        ("games", lambda: batch.views(wrong)),
        ("games", lambda: batch.step(wrong, games)),
        ("seats", lambda: batch.views(games, wrong)),
    ]
    if wrong != [0, 2]:  # which are illegal actions
        calls.append(("actions", lambda: batch.step(games, wrong)))
    for name, call in calls:
        with pytest.raises(ValueError, match=rf"^{name} must be whole numbers.* \[K\], got "):
            call()
    assert batch.states.tobytes() == before
    with pytest.raises(ValueError, match="n must be a whole number from 0 up, got -1"):
        GameBatch("hoyle", -1)
    with pytest.raises(ValueError, match="seed must be None or a whole number from 0 up"):
        GameBatch("hoyle", 2, seed=-1)


@pytest.mark.parametrize("given", [np.int32, np.uint64, np.ndarray.tolist])
def test_game_batch_takes_whole_numbers_of_any_type(given: Any) -> None:
    batch, games = GameBatch("hoyle", np.int64(3), seed=1), np.arange(3)
    batch.reset(given(games[::2]))
    batch.reset(given(games[:0]))
    batch.reset(given(games), dealer=0)
    views = batch.views(given(games), given(np.ones(3, dtype=np.int64)))
    actions = find_agent("greedy").act(views, np.random.default_rng(1))
    assert batch.step(given(games), given(actions)) is None
    assert (batch.states["to_move"] == 1).all()


def test_game_batch_reset_of_some_games_uses_no_decks_given_before() -> None:
    batch = GameBatch("hoyle", 2, seed=1)
    batch.reset(decks=np.array([range(52)] * 3), dealer=0)
    batch.reset(np.array([0]), dealer=0)
    assert batch.states["dealt"][0].tolist() != batch.states["dealt"][1].tolist()
    assert batch.states["given"][0] == batch.states["given_end"][0]


def test_game_batch_reset_of_no_games_takes_decks() -> None:
    deck = np.arange(52).reshape(1, 52)
    GameBatch("hoyle", 0).reset(decks=deck)
    batch = GameBatch("hoyle", 2, seed=1)
    batch.reset()
    before = batch.states.copy()
    batch.reset(np.zeros(0, dtype=np.int64), decks=deck)
    assert np.array_equal(batch.states, before)


def test_game_batch_asks_agents_without_keeping_them_alive() -> None:
    batch, rng = GameBatch("hoyle", 2, seed=1), np.random.default_rng(1)
    batch.reset()
    agents = []
    for _ in range(5):
        agent = find_agent(lowest)
        batch.ask(agent, batch.running(), rng)
        agents.append(ref(agent))
    del agent
    gc.collect()
    assert not any(one() for one in agents)
