"""The environments: the AEC loop, one Gymnasium game, many at once, and their pictures."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
import numpy as np

from benchmarks import peers
from benchmarks.timing import (
    FULL,
    Contender,
    Findings,
    Rate,
    Row,
    Settings,
    over_peers,
    race,
    rate_of,
    ratio,
)
from crib_env import five_card_v0, sample_legal, six_card_v0, table_top_v0
from crib_env.policy import CompiledAgent, find_agent
from crib_env.registration import ENVIRONMENTS

A_PIECE = 200

_random = random.Random(1).random


def sample(mask: Any) -> int:
    """Return a random legal action; NumPy's and Gymnasium's own samplers cost far more."""
    legal = mask.nonzero()[0]
    action: int = legal.item(int(_random() * legal.size))
    return action


def loop(
    env: Any, *, mask_in_info: bool = False, choose: Callable[[Any], Any] = sample
) -> Callable[[], int]:
    """Return a piece of work: whole episodes of an AEC environment, some hundred decisions."""
    env.reset(seed=1)

    def piece() -> int:
        done = 0
        while done < A_PIECE:
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, info = env.last()
                if terminated or truncated:
                    env.step(None)
                else:
                    env.step(choose((info if mask_in_info else observation)["action_mask"]))
                    done += 1
        return done

    return piece


def measure_aec(settings: Settings = FULL) -> Findings:
    """How many decisions per second does an AEC loop make, ours beside other card games?

    The loop is PettingZoo's: ``agent_iter``, ``last``, a random legal action, ``step``. It draws
    the action in the quickest way there is, half a microsecond; two rows draw it as users do.
    OpenSpiel's states and RLCard run their own shortest loops; a loop over states makes no
    observation and no mask.
    """
    raw = Contender("six_card_v0.raw_env", rate_of(loop(six_card_v0.raw_env())))
    checked = Contender("six_card_v0.env", rate_of(loop(six_card_v0.env())))
    rng, space = np.random.default_rng(1), six_card_v0.env().action_space("player_0")
    drawn = [
        Contender(
            f"six_card_v0.env, actions by {name}", rate_of(loop(six_card_v0.env(), choose=by))
        )
        for name, by in (
            ("crib_env.sample_legal", lambda mask: sample_legal(mask, rng)),
            ("action_space.sample", lambda mask: int(space.sample(mask))),
        )
    ]
    bare: list[Contender] = []
    wrapped: list[Contender] = []
    native: list[Contender] = []
    notes: list[str] = []
    if settings.peers:
        for module in peers.PETTINGZOO:
            for kind, found in (("raw_env", bare), ("env", wrapped)):
                try:
                    env = peers.pettingzoo_env(module, kind)
                except ImportError as error:
                    notes.append(f"{module}.{kind} was not measured: {error}")
                else:
                    found.append(Contender(f"{module}.{kind}", rate_of(loop(env)), peer=True))
        try:
            env = peers.shimmy_cribbage()
        except ImportError as error:
            notes.append(f"OpenSpiel cribbage through Shimmy was not measured: {error}")
        else:
            rate = rate_of(loop(env, mask_in_info=True))
            bare.append(Contender("OpenSpiel cribbage through Shimmy", rate, peer=True))
        native, missing = peers.single_games()
        notes += missing
    ours = [raw, checked]
    rows = race([*ours, *drawn, *bare, *wrapped, *native], "decisions/s", settings)
    by_name = {row.name: row for row in rows}
    against_raw = [by_name[c.name] for c in [*bare, *native]]
    against_checked = [by_name[c.name] for c in wrapped]
    ratios = over_peers(rows[0], against_raw) + over_peers(rows[1], against_checked)
    return Findings("AEC loop, one game", rows, ratios, notes)


ID = f"crib_env/{ENVIRONMENTS['six_card_v0']}"
OPPONENTS = ("random", "greedy", "rule_based")


def episodes(env: Any) -> Callable[[], int]:
    """Return a piece of work: one episode."""
    env.reset(seed=1)

    def piece() -> int:
        steps = 0
        _, info = env.reset()
        terminated = False
        while not terminated:
            _, _, terminated, _, info = env.step(sample(info["action_mask"]))
            steps += 1
        return steps

    return piece


def in_python(names: Iterable[str]) -> list[str]:
    """Return a note for every opponent that has no compiled entry, so plays in Python."""
    return [
        f"{name} has no compiled entry here: it was asked in Python"
        for name in names
        if not isinstance(find_agent(name), CompiledAgent)
    ]


def measure_gym_single(settings: Settings = FULL) -> Findings:
    """How many steps per second does one Gymnasium environment make, with an opponent?

    The loop is Gymnasium's: a random legal action, ``step``, ``reset`` at an episode's end. A step
    is about two decisions of the game, the learner's and the opponent's.
    """
    contenders = [
        Contender(f"gymnasium.make, opponent {name}", rate_of(episodes(env)))
        for name in OPPONENTS
        for env in [gymnasium.make(ID, opponent=name)]
    ]
    return Findings(
        "Gymnasium, one game", race(contenders, "steps/s", settings), notes=in_python(OPPONENTS)
    )


AGENTS = ("random", "greedy", "rule_based")
# Whose first row is held against OpenSpiel's states, and the players. OpenSpiel's loop counts the
# decisions of all seats; each of ours makes as many as the learner, one a step.
PLAYERS = {"SixCard-v0": 2, "ThreeHand-v0": 3, "FourHand-v0": 4}
# The keyword of the phase policy.
POLICIES = {"Discard-v0": "pegging_policy", "Pegging-v0": "discard_policy"}


def rate_of_steps(env: Any) -> Rate:
    """Return the rate of ``env.step``, choosing actions left out of the clock."""
    _, info = env.reset(seed=1)
    masks: Any = info["action_mask"]
    games: int = env.num_envs

    def rate(seconds: float) -> float:
        nonlocal masks
        spent = 0.0
        steps = 0
        while spent < seconds or not steps:
            actions = masks.argmax(axis=1)
            began = time.perf_counter()
            _, _, _, _, info = env.step(actions)
            spent += time.perf_counter() - began
            steps += 1
            masks = info["action_mask"]
        return steps * games / spent

    return rate


def measure_vector(settings: Settings = FULL) -> Findings:
    """How many steps per second does ``gymnasium.make_vec`` make when NumPy actions are given?

    Only ``step`` is timed. The actions are the first legal ones (``argmax`` of the mask), computed
    outside the clock. The opponent is ``random``, so a step is about two decisions of the game. The
    verdicts are on six-card cribbage; the other games are beside it for comparison, those in which
    a policy plays a phase with every such policy, and six-card with features
    (`docs/observations.md`).
    """
    n = 64 if settings.quick else 4096

    def contender(name: str, copy: bool, threads: int, **chosen: Any) -> Contender:
        env = gymnasium.make_vec(
            f"crib_env/{name}", num_envs=n, opponent="random", copy=copy, threads=threads, **chosen
        )
        how = f"copy={copy}, {threads} thread{'s' * (threads > 1)}"
        how += "".join(f", {keyword}={value}" for keyword, value in chosen.items())
        return Contender(f"make_vec {name}, N={n}, {how}", rate_of_steps(env))

    six_card, *others = ENVIRONMENTS.values()
    contenders = [
        contender(six_card, False, 1),
        contender(six_card, True, 1),
        contender(six_card, False, 2),
        contender(six_card, False, 1, features="lookahead"),
        contender(six_card, False, 1, features="reply"),
    ]
    notes = in_python(AGENTS)
    for name in others:
        policies = [{POLICIES[name]: agent} for agent in AGENTS] if name in POLICIES else [{}]
        contenders += [contender(name, False, 1, **policy) for policy in policies]
    ours = len(contenders)
    if settings.peers:
        found, missing = peers.open_spiel(tuple(PLAYERS.values()))
        contenders += found
        notes += missing
    rows = race(contenders, "steps/s", settings)
    ratios = [ratio(f"make_vec {six_card}, N={n}: 2 threads / 1 thread", rows[2], rows[0])]
    for name, players in PLAYERS.items():
        row = next(row for row in rows if f" {name}," in row.name)
        every = Row(f"{name}, decisions of all seats", "/s", tuple(players * x for x in row.values))
        ratios += [
            ratio(f"make_vec {every.name} / {peer.name}", every, peer)
            for peer in rows[ours:] if f"for {players}," in peer.name
        ]  # fmt: skip
    return Findings("Vector environment, actions given", rows, ratios, notes)


PAGES = (six_card_v0, five_card_v0, table_top_v0)
FRAMES = 8


def frames(env: Any) -> Callable[[], int]:
    """Return a piece of work: some moves, each with its frame."""
    env.reset(seed=1)
    env.render()

    def piece() -> int:
        for _ in range(FRAMES):
            observation, _, over, _, _ = env.last()
            if over:
                env.reset()
                continue
            env.step(sample(observation["action_mask"]))
            assert env.render().shape == (480, 640, 3)
        return FRAMES

    return piece


def measure_render(settings: Settings = FULL) -> Findings:
    """How many frames per second does ``render_mode="rgb_array"`` make, 640 by 480?

    Every frame is of another position: a random legal action, then ``render``; a spectator sees all
    cards, which is the most there is to draw.
    """
    contenders = []
    for page in PAGES:
        env = page.env(render_mode="rgb_array", viewer="all")
        contenders.append(Contender(env.metadata["name"], rate_of(frames(env))))
    return Findings("Pictures of 640 by 480", race(contenders, "frames/s", settings))
