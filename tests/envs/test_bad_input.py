"""Invalid input: each mistake has its exception and message, and changes nothing.

A message gives the value received and the accepted ones; `names` checks both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import VecEnv

import crib_env
from crib_env import (
    PRESETS,
    EpisodeOverError,
    IllegalActionError,
    Rules,
    find_agent,
    format_card,
    four_hand_v0,
    observation_layout,
    parse_card,
    parse_cards,
    six_card_v0,
    table_top_v0,
    three_hand_v0,
)
from crib_env.rules import TableTopRules, TwoHandRules
from stacked import Table, deal
from vector_walks import lowest

DECK = list(range(52))


class unchanged:
    """A block that must not change the environment's state, view or observation."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def picture(self) -> list[bytes]:
        env = self.env
        if not isinstance(env, crib_env.envs.aec.CribbageAEC):
            fields = ("states", "obs", "masks", "seats", "rewards", "dones")
            return [getattr(env.batch, name).tobytes() for name in fields]
        shown = [part.tobytes() for one in env.agents for part in env.observe(one).values()]
        told = (env.agents, env.agent_selection, env.events, env.scores, env.rewards,
                env._cumulative_rewards, env.terminations, env.truncations, env.infos)  # fmt: skip
        return [env.game.states.tobytes(), repr(told).encode(), *shown]

    def __enter__(self) -> None:
        self.before = self.picture()

    def __exit__(self, *exc: object) -> None:
        assert self.picture() == self.before


def names(error: pytest.ExceptionInfo[BaseException], *words: object) -> None:
    for word in words:
        assert str(word) in str(error.value), f"{word!s} is not in {error.value!s}"


def started(**keywords: Any) -> Any:
    env = six_card_v0.raw_env(**keywords)
    env.reset(seed=1)
    for _ in range(6):
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    return env


FORMS: dict[str, Callable[..., Any]] = {
    "raw_env": six_card_v0.raw_env,
    "env": six_card_v0.env,
    "gym_env": lambda **kw: six_card_v0.gym_env(**{"opponent": lowest, **kw}),
    "vector_env": lambda **kw: six_card_v0.vector_env(**{"num_envs": 2, "opponent": lowest, **kw}),
    "sb3_env": lambda **kw: six_card_v0.sb3_env(**{"num_envs": 2, "opponent": lowest, **kw}),
}
SINGLE, LEARNERS, BATCHES = list(FORMS)[:3], list(FORMS)[2:], list(FORMS)[3:]

# ---------------------------------------------------------------- making an environment


# Forms of the environment, a keyword, bad values, and words of the error.
BAD_KEYWORDS: list[tuple[Any, str, list[Any], tuple[str, ...]]] = [
    (FORMS, "rules", ["hoile"], ("did you mean 'hoyle'?", "five_card")),
    (FORMS, "rules", ["table_top"], ("hoyle", "five_card")),
    (FORMS, "rules", [PRESETS["table_top"]], ("another game", "hoyle", "five_card")),
    (FORMS, "rules", [3, {"target": 61}], ("Rules",)),
    (FORMS, "episode", ["hand"], ("deal", "game", "match")),
    (FORMS, "episode", ["games"], ("did you mean 'game'?",)),
    (FORMS, "episode", [["deal"]], ("deal", "game", "match")),
    (FORMS, "reward", ["score"], ("win", "points")),
    (FORMS, "reward", ["point", ["points"]], ("did you mean 'points'?",)),
    (FORMS, "suits", [None, ["real"]], ("real", "canonical", "ranks")),
    (FORMS, "on_illegal", ["ignore"], ("terminate", "raise", "random")),
    (FORMS, "players", [1, 3, 4, "2", 2.0, [2]], ("players",)),
    (SINGLE, "render_mode", ["video", "", 1], ("render_mode", "ansi")),
    (LEARNERS, "opponent", ["nobody"], tuple(crib_env.agent_names())),
    (LEARNERS, "opponent", ["rulebased"], ("did you mean 'rule_based'",)),
    (LEARNERS, "seat", [2, -1, "0", 0.5, 1.0, True, np.array([0])], ("seat", "0 to 1")),
    (BATCHES, "num_envs", [0, -1, 2.5, "4"], ("num_envs",)),
    (FORMS, "mask_in_observation", ["rlib"], ("did you mean 'rllib'", "tianshou")),
    (
        FORMS,
        "mask_in_observation",
        [None, "", [], 1, 0, 2],
        ("mask_in_observation must be one of True, False", "tianshou"),
    ),
    (["vector_env"], "threads", [0], ("threads",)),
    (["vector_env"], "autoreset_mode", ["nextstep"], ("autoreset_mode must be one of",)),
    (["vector_env"], "copy", ["no", 1], ("copy must be one of True, False",)),
]
OF_A_WRONG_TYPE = (int, list, dict)  # where rules are a name or `Rules`


@pytest.mark.parametrize(
    ("form", "keyword", "given", "words"),
    [
        (form, keyword, value, words)
        for forms, keyword, values, words in BAD_KEYWORDS
        for value in values
        for form in forms
    ],
)
def test_make_rejects_keywords_with_impossible_values(
    form: str, keyword: str, given: Any, words: tuple[str, ...]
) -> None:
    wrong_type = keyword == "rules" and isinstance(given, OF_A_WRONG_TYPE)
    with pytest.raises(TypeError if wrong_type else ValueError, match=r".") as error:
        FORMS[form](**{keyword: given})
    names(error, repr(given.name if isinstance(given, Rules) else given), *words)


# An environment, keywords that its game cannot have, and words of the error.
OUTSIDE_THE_GAME: list[tuple[Any, dict[str, Any], tuple[str, ...]]] = [
    (four_hand_v0, {"rules": "three_hand", "players": 4}, ("a game by rules='three_hand' has 3 players, got", "4")),
    (four_hand_v0, {"players": 3}, ("a game by rules='four_hand' has 4 players, got", "3")),
    (six_card_v0, {"partners": True}, ("six_card_v0", "partners=True", "four_hand_v0")),
    (table_top_v0, {"partners": False}, ("table_top_v0", "partners=False", "four_hand_v0")),
    (three_hand_v0, {"partners": True}, ("partners sit opposite", "3 players have none")),
    (four_hand_v0, {"partners": "no"}, ("partners must be True or False", "'no'")),
    (four_hand_v0, {"partner": "greedy", "partners": False}, ("each of the four players plays alone",)),
    (three_hand_v0, {"partner": "greedy"}, ("each of the three players plays alone",)),
    (six_card_v0, {"partner": "greedy"}, ("each of the two players plays alone",)),
    (table_top_v0, {"partner": "greedy"}, ("partner='greedy' needs a game of partners", "two", "partners=True")),
]


@pytest.mark.parametrize(("module", "keywords", "words"), OUTSIDE_THE_GAME)
def test_make_rejects_players_and_partners_outside_the_game(
    module: Any, keywords: dict[str, Any], words: tuple[str, ...]
) -> None:
    for form in ("gym_env", "vector_env") if "partner" in keywords else ("env", "gym_env", "vector_env"):
        with pytest.raises(ValueError, match=r"players|partner") as error:
            getattr(module, form)(**keywords)
        names(error, *words)


def test_find_agent_takes_import_path() -> None:
    assert find_agent("crib_agents.greedy:GreedyAgent").name == "greedy"
    for missing in ("crib_agents.greedy:Nobody", "nowhere:Agent", "crib_agents.greedy:", "crib_agents:greedy"):
        with pytest.raises(ValueError, match=f"^there is no agent at '{missing}': .*write package.module:name"):
            find_agent(missing)


def test_step_rejects_non_integer_answer_of_function_opponent() -> None:
    env = crib_env.six_card_v0.gym_env(opponent=lambda view, rng: float(view["hand"][0]), seat=1)
    with pytest.raises(ValueError, match="integers"):
        env.reset(seed=0, options={"dealer": 1})  # so that the opponent begins


def test_find_agent_rejects_agent_class_and_other_values() -> None:
    class Mine:
        name = "mine"

        def act(self, views: Any, rng: np.random.Generator) -> Any:
            raise NotImplementedError

    assert find_agent(Mine()).name == "mine"
    with pytest.raises(TypeError, match="Mine"):
        find_agent(Mine)
    for given in (3, None, ["random"]):
        with pytest.raises(TypeError, match=r"^an opponent is a name, .* function of a view .*, got ") as error:
            find_agent(given)
        names(error, repr(given))


def test_make_rejects_unknown_environment() -> None:
    with pytest.raises(ValueError, match="seven_card_v0") as error:
        observation_layout("seven_card_v0")
    names(error, "six_card_v0")
    with pytest.raises(ValueError, match="did you mean 'six_card_v0'"):
        observation_layout("six_card")
    with pytest.raises(ValueError, match="no environment is called 'crib_env/Sixcard-v0'"):
        observation_layout("crib_env/Sixcard-v0")
    assert observation_layout("crib_env/SixCard-v0") == observation_layout("six_card_v0")
    with pytest.raises(AttributeError, match="seven_card_v0"):
        _ = crib_env.seven_card_v0
    with pytest.raises(gymnasium.error.NameNotFound, match="`SevenCard` doesn't exist in namespace crib_env"):
        gymnasium.make("crib_env/SevenCard-v0")


@pytest.mark.parametrize(
    ("module", "gym_name", "words"),
    [
        ("my_games.toy", "Toy-v0", ("'toy'", "_v0")),
        ("my_games.toy_v0", "Toy", ("'Toy'", "-v0")),
        ("my_games.six_card_v0", "Toy-v0", ("'six_card_v0'", "crib_env.six_card_v0")),
        ("crib_env.toy_v0", "SixCard-v0", ("'SixCard-v0'", "crib_env.six_card_v0")),
    ],
)
def test_register_environment_rejects_names_unchanged(module: str, gym_name: str, words: tuple[str, ...]) -> None:
    before = dict(crib_env.ENVIRONMENTS)
    with pytest.raises(ValueError, match="an environment") as error:
        crib_env.register_environment(module, gym_name)
    names(error, *words)
    assert before == crib_env.ENVIRONMENTS
    assert not [name for name in gymnasium.registry if "toy" in name.lower()]


# ---------------------------------------------------------------- reset

BAD_SEEDS = [-1, 1.5, 3.0, "7", True, False, np.float64(3), [1]]


def reset(env: Any, seed: Any, options: Any = None) -> None:
    """Reset an environment through its library's methods."""
    if isinstance(env, VecEnv):
        env.seed(seed)
        env.set_options(options)
        env.reset()
    else:
        env.reset(seed=seed, options=options)


@pytest.mark.parametrize(
    ("form", "seed"),
    [
        (form, seed)
        for form in FORMS
        for seed in BAD_SEEDS
        if form != "sb3_env" or isinstance(seed, float) or seed == -1  # SB3 adds to the others
    ],
    ids=repr,
)
def test_reset_rejects_negative_and_non_integer_seeds(form: str, seed: Any) -> None:
    env = FORMS[form]()
    reset(env, 4)
    with unchanged(env), pytest.raises(ValueError, match="seed") as error:
        reset(env, seed)
    names(error, repr(seed))


def state_after(env: Any, **reset: Any) -> bytes:
    """Return the state, its generator included, after a reset."""
    env.reset(**reset)
    state: bytes = env.game.states.tobytes()
    return state


@pytest.mark.parametrize("seed", [0, 2**32, 2**100, np.int64(3), np.uint8(5)])
def test_reset_takes_integer_seeds_of_any_size_and_type(seed: Any) -> None:
    env = six_card_v0.raw_env()
    found = state_after(env, seed=seed)
    assert found == state_after(env, seed=int(seed)) != state_after(env, seed=int(seed) + 1)


def deck_with(**changes: Any) -> list[Any]:
    deck: list[Any] = list(DECK)
    for at, card in changes.items():
        deck[int(at[1:])] = card
    return deck


BAD_OPTIONS: list[tuple[Any, tuple[str, ...]]] = [
    ({"Dealer": 1}, ("'Dealer'", "decks", "dealer", "scores")),
    ({"decks": [deck_with(_0=1)]}, ("'decks'", "AD", "more than once")),
    ({"options": {"dealer": 1}}, ("there is no option 'options'", "decks", "dealer", "scores")),
    ({"dealer": 2}, ("'dealer'", "2", "0 to 1")),
    ({"scores": (121, 0)}, ("'scores'", "121", "0 to 120")),
    ("dealer", ("options", "dict")),
    # The values of an option are read by the same code in every form.
    ({"decks": DECK}, ("'decks'", "52")),
    ({"decks": "AC 2C"}, ("'decks'", "AC 2C")),
    ({"decks": [DECK[:51]]}, ("'decks'", "51 cards")),
    ({"decks": [deck_with(_0=52)]}, ("'decks'", "0 to 51")),
    ({"decks": [deck_with(_0=0.0)]}, ("'decks'", "0 to 51")),
    ({"decks": [deck_with(_1=True)]}, ("'decks'", "0 to 51")),
    ({"decks": [deck_with(_0="AC")]}, ("'decks'", "52")),
    ({"decks": [DECK, deck_with(_9=3)]}, ("'decks'", "1", "AS", "more than once")),
    ({"decks": [[float("nan")] * 52]}, ("'decks'",)),
    ({"decks": np.arange(52.0).reshape(1, 52)}, ("'decks'",)),
    ({"decks": [(card + 0.5 for card in DECK)]}, ("'decks'", "0 to 51")),
    ({"dealer": "player_0"}, ("'dealer'", "player_0", "0 to 1")),
    ({"dealer": True}, ("'dealer'", "True", "0 to 1")),
    ({"scores": (0, -1)}, ("'scores'", "-1", "0 to 120")),
    ({"scores": (0, 0, 0)}, ("'scores'", "two")),
    ({"scores": "12"}, ("'scores'", "'12'", "two")),
    ({"scores": (1.0, 2.0)}, ("'scores'", "1.0")),
    ({"scores": {"player_0": 3}}, ("'scores'", "player_0")),
    ({"scores": np.array(3)}, ("'scores'", "array(3)")),
    ({"decks": np.array(3)}, ("'decks'", "array(3)")),
    ({"decks": {}}, ("'decks'", "{}")),
]
EACH_FORM = 6  # of these


@pytest.mark.parametrize(
    ("form", "options", "words"),
    [(form, *bad) for form in FORMS for bad in (BAD_OPTIONS if form == "raw_env" else BAD_OPTIONS[:EACH_FORM])],
    ids=lambda given: repr(given)[:40],
)
def test_reset_rejects_invalid_options(form: str, options: Any, words: tuple[str, ...]) -> None:
    env = FORMS[form]()
    reset(env, 5)
    with unchanged(env), pytest.raises(ValueError, match="option") as error:
        reset(env, 6, options)
    names(error, *words)


def test_reset_options_none_equals_empty_dict() -> None:
    empty = (None, {}, {"decks": None, "dealer": None, "scores": None}, {"decks": []})
    env = six_card_v0.raw_env()
    assert len({state_after(env, seed=8, options=options) for options in empty}) == 1


# ---------------------------------------------------------------- step


def test_step_rejects_card_not_held() -> None:
    table = Table(deal("KC 5D 9H 9S / 2C 2D", "QD 6H 7S 8C / 2H 2S", "AC"))
    with unchanged(table.env), pytest.raises(IllegalActionError, match="is not held") as error:
        table.play("p:JC")
    names(error, "JC", 40, "player_0", "KC", "5D", "9H", "9S", "2C", "2D")


NO_ACTIONS = [
    -1, 52, 10**30, -(1 << 40), None, 3.0, "5H", np.array([1, 2]), np.True_, (3,), [],
    torch.tensor([1, 2]), torch.zeros(0, dtype=int),
]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "action"),
    [
        *(("AEC", action) for action in NO_ACTIONS),
        *(("Gymnasium", action) for action in NO_ACTIONS if not isinstance(action, tuple)),
    ],
    ids=repr,
)
def test_step_rejects_action_outside_card_ids(form: str, action: Any) -> None:
    env = started()
    if form == "Gymnasium":
        env = six_card_v0.gym_env(opponent=lowest, on_illegal="raise")
        env.reset(seed=1)
    with unchanged(env), pytest.raises(IllegalActionError, match="0 to 51") as error:
        env.step(action)
    names(error, repr(action))


@pytest.mark.parametrize("form", FORMS)
def test_step_before_reset_raises(form: str) -> None:
    single = form in SINGLE
    with pytest.raises(EpisodeOverError, match=r"step\(3\).*reset" if form in ("env", "raw_env") else "reset"):
        FORMS[form]().step(3 if single else np.array([3, 3]))


@pytest.mark.parametrize("method", ["observe", "last", "state", "render"])
def test_observe_before_reset_raises(method: str) -> None:
    env = six_card_v0.raw_env(render_mode="ansi")
    with pytest.raises(EpisodeOverError, match="reset"):
        getattr(env, method)(*["player_0"] * (method == "observe"))


def play_out(env: Any) -> None:
    while not all(env.terminations.values()):
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))


@pytest.mark.parametrize("form", ["raw_env", "env"])
def test_step_after_the_end_raises(form: str) -> None:
    env = FORMS[form](episode="deal")
    env.reset(seed=9)
    play_out(env)
    with unchanged(env), pytest.raises(EpisodeOverError, match=r"step\(3\).*end.*None.*reset"):
        env.step(3)
    env.step(None)
    with unchanged(env), pytest.raises(EpisodeOverError, match=r"step\(3\).*reset"):
        env.step(3)
    env.step(None)
    with unchanged(env), pytest.raises(EpisodeOverError, match="reset"):
        env.step(None)
    env.reset()
    play_out(env)


def test_gymnasium_step_after_the_end_raises() -> None:
    env = six_card_v0.gym_env(opponent=lowest, episode="deal")
    env.reset(seed=9)
    while env.action_masks().any():
        env.step(int(env.action_masks().argmax()))
    with unchanged(env), pytest.raises(EpisodeOverError, match=r"step\(3\).*reset"):
        env.step(3)


@pytest.mark.parametrize(
    ("method", "given", "error", "says"),
    [
        *(
            ("view", seat, ValueError, "^seat must be from 0 to 1, got ")
            for seat in (2, -1, "0", None, 0.5, 1.0, True, np.array([1]))
        ),
        *(
            (method, "player_9", KeyError, "^'player_9'$")
            for method in ("observe", "observation_space", "action_space")
        ),
    ],
)
def test_look_rejects_unknown_seats_and_agents(method: str, given: Any, error: type[Exception], says: str) -> None:
    env = started()
    with unchanged(env), pytest.raises(error, match=says) as raised:
        getattr(env, method)(given)
    names(raised, repr(given))


# ---------------------------------------------------------------- many games


BAD_BATCHES = [
    np.zeros(2, dtype=int),
    np.zeros((3, 1), dtype=int),
    np.zeros(3),
    np.zeros(3, dtype=bool),
    5,
    None,
    ["5H"] * 3,
]


@pytest.mark.parametrize("actions", BAD_BATCHES, ids=repr)
def test_torch_step_rejects_actions_of_wrong_shape_or_dtype(actions: Any) -> None:
    env = six_card_v0.torch_env(3, opponent=lowest)
    env.reset(seed=1)
    given = [actions, torch.as_tensor(actions)] if isinstance(actions, np.ndarray) else [actions]
    for one in given:
        with unchanged(env), pytest.raises(ValueError, match="actions must be 3 whole numbers"):
            env.step(one)


def test_torch_step_takes_array_with_negative_strides() -> None:
    env, other = (six_card_v0.torch_env(3, opponent=lowest) for _ in range(2))
    env.reset(seed=1)
    actions = other.reset(seed=1)[1]["action_mask"].int().argmax(1).numpy()
    env.step(actions[::-1].copy()[::-1])
    other.step(actions)
    assert env.batch.states.tobytes() == other.batch.states.tobytes()


@pytest.mark.parametrize("actions", BAD_BATCHES, ids=repr)
def test_batch_step_rejects_actions_of_wrong_shape_or_dtype(actions: Any) -> None:
    env = six_card_v0.vector_env(3, opponent=lowest)
    env.reset(seed=1)
    with unchanged(env), pytest.raises(ValueError, match="actions") as error:
        env.step(actions)
    names(error, 3)


@pytest.mark.parametrize("wrong", [-1, 52, -(1 << 40), "not held"], ids=repr)
@pytest.mark.parametrize("opponent", [lowest, "greedy"])
@pytest.mark.parametrize("on_illegal", ["raise", "terminate"])
def test_batch_step_illegal_action_raises_unchanged_or_ends_its_game(
    on_illegal: Any, opponent: Any, wrong: Any
) -> None:
    env = six_card_v0.vector_env(3, opponent=opponent, on_illegal=on_illegal)
    _, info = env.reset(seed=1)
    actions = info["action_mask"].argmax(axis=1)
    actions[1] = np.flatnonzero(info["action_mask"][1] == 0)[0] if wrong == "not held" else wrong
    if on_illegal == "raise":
        with unchanged(env), pytest.raises(IllegalActionError, match=r"game 1") as error:
            env.step(actions)
        names(error, actions[1])
        return
    _, rewards, ends, truncations, _ = env.step(actions)
    assert ends.tolist() == [False, True, False]
    assert rewards.tolist() == [0.0, -1.0, 0.0]
    assert not truncations.any()


# ---------------------------------------------------------------- cards


@pytest.mark.parametrize("text", ["", "5", "H5", "5X", "5HH", None, 18])
def test_parse_card_rejects_other_text(text: Any) -> None:
    with pytest.raises(ValueError, match="not a card") as error:
        parse_card(text)
    names(error, repr(text), "A23456789TJQK", "CDHS", "5H")
    with pytest.raises(ValueError, match="'5X'"):
        parse_cards("5H 5X JS")
    for cards in (None, 18, ["5H"]):
        with pytest.raises(ValueError, match="is not a card") as error:
            parse_cards(cards)  # type: ignore[arg-type]
        names(error, repr(cards))


@pytest.mark.parametrize("read", [format_card, crib_env.card_name])
def test_format_card_rejects_unknown_id(read: Any) -> None:
    for card in (-1, 52, 1000, 1.0, float("nan"), True, None, "5H"):
        with pytest.raises(ValueError, match=rf"^{card!r} .*0 to 51"):
            read(card)


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("preset", "changes", "words"),
    [
        ("hoyle", {"targets": 61}, ("'targets'", "target", "dealt")),
        ("hoyle", {"target": 1000}, ("target", "1000", "1 to")),
        ("hoyle", {"target": "121"}, ("target", "'121'", "whole")),
        ("hoyle", {"target": True}, ("target", "True", "whole")),
        ("hoyle", {"dealt": 4}, ("dealt", "4", "5 to 6")),
        ("hoyle", {"dealt": 7}, ("dealt", "7", "5 to 6")),
        ("hoyle", {"flush_size": 3}, ("flush_size", "3", "4")),
        ("five_card", {"flush_size": 5}, ("flush_size", "5")),
        ("hoyle", {"crib_flush_size": 3}, ("crib_flush_size", "3", "4 to 5")),
        ("hoyle", {"single_count": 1}, ("single_count", "1", "True or False")),
        ("hoyle", {"for_last": 121}, ("for_last", "121", "0 to 120")),
        ("hoyle", {"heels": 10}, ("heels must be a whole number from 0 to 9",)),
        ("hoyle", {"name": ""}, ("name", "''")),
        ("hoyle", {"match_target": 8}, ("match_target", "8", "0 to 7")),
        ("hoyle", {"double_skunk_margin": 20}, ("double_skunk_margin", "20", "30")),
        ("hoyle", {"skunk_points": 5}, ("double_skunk_points", "4", "5")),
        ("hoyle", {"first_dealer": "oldest"}, ("first_dealer", "'oldest'", "low_card")),
        ("hoyle", {"next_dealer": "nobody"}, ("next_dealer", "'nobody'", "loser", "winner")),
        ("hoyle", {"adjacency": False}, ("'hoyle'", "'adjacency'", "dealt", "for_last")),
        ("table_top", {"single_count": True}, ("'single_count'", "score_difference")),
        ("table_top_ship", {"adjacency": 0}, ("adjacency", "0", "True or False")),
        ("fivecard", {}, ("did you mean 'five_card'?",)),
    ],
)
def test_rules_impossible_values_are_rejected_with_a_reason(
    preset: str, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        Rules.preset(preset, **changes)
    names(error, *words)


def test_rules_of_unknown_game_are_rejected() -> None:
    with pytest.raises(TypeError, match=r"make a TwoHandRules, .* TableTopRules"):
        Rules(name="mine")
    with pytest.raises(ValueError, match=r"choose from hoyle, five_card$"):
        TwoHandRules.preset("table_top")
    assert TableTopRules.preset("table_top") is not None
    with pytest.raises(TypeError, match="adjacency"):
        TwoHandRules(name="mine", adjacency=False)  # type: ignore[call-arg]


def test_rules_take_the_scalars_of_numpy_and_keep_plain_numbers() -> None:
    rules = Rules.preset("hoyle", target=np.int32(91), single_count=np.bool_(True))
    assert rules == Rules.preset("hoyle", target=91, single_count=True)
    assert type(rules.target) is int
    assert rules.single_count is True
