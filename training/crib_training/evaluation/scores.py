"""What a deal does to the chance of winning, by the score at which it is dealt.

    python -m crib_training.evaluation.scores master expert --env five_card_v0 --pairs 10000

A whole game says little of where an agent wins it. Here single deals are played, each twice with
the seats swapped, from scores as games of `rule_based` come to them; what a deal ends with is
valued by the table of the chance of winning that `expert` judges by. So it takes less play than
games do, and every score is seen by itself. Printed is what the first agent gains a deal
and a game, by how many points the nearer seat still has to make: as if it played so from those
scores alone, and as the second agent from all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from crib_agents.expert.two_hand.judge.win import WON, probabilities
from crib_agents.loading import TakesAgents

from crib_env.batch import GameBatch
from crib_env.options import set_scores
from crib_env.policy import Agent, find_agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Positional, Seed, Several
from crib_training.command_line import start
from crib_training.evaluation.duplicate import PAIRS_AT_ONCE, Estimate, estimate
from crib_training.evaluation.markdown import table
from crib_training.loading import find_game
from crib_training.progress import steps

Array = npt.NDArray[Any]

GAMES = 4000  # of which the scores are taken
DEALER = 1  # the seat that deals
BOUNDS = (0, 5, 10, 15, 20, 30, 40, 60, 80, 121)
HEAD = ("to make", "deals of all", "gains a deal, %", "gains a game, %")


def dealt_at(rules: TwoHandRules, entropy: np.random.SeedSequence) -> tuple[Array, float]:
    """Return the scores at which deals begin in games of `rule_based`, and how many a game has.

    Returns:
        int64[N, 2], pone's score and the dealer's; the mean number of deals of a game.
    """
    cards, chance = entropy.spawn(2)
    games, rng = GameBatch(rules, GAMES, seed=cards), np.random.default_rng(chance)
    games.reset()
    found, dealt, lanes = [], np.zeros(GAMES, dtype=np.int64), games.running()
    while len(lanes):
        new = lanes[games.states["deals"][lanes] > dealt[lanes]]
        dealers = games.states["dealer"][new]
        roles = np.stack([1 - dealers, dealers], axis=1)
        found.append(np.take_along_axis(games.states["scores"][new], roles, axis=1))
        dealt[new] += 1
        games.ask(find_agent("rule_based"), lanes, rng)
        lanes = games.running(lanes)
    return np.concatenate(found), float(dealt.mean())


def play_deals(
    rules: TwoHandRules,
    scores: Array,
    agents: tuple[Agent, Agent],
    swapped: int,
    cards: np.random.SeedSequence,
    rngs: list[np.random.Generator],
) -> Array:
    """Play one deal from each of the scores; ``agents[swapped]`` is pone.

    Returns:
        float64[N], the first agent's chance of winning when the deal has ended.
    """
    games = GameBatch(rules, len(scores), seed=cards)
    games.reset(dealer=DEALER)
    begun = games.states.copy()
    set_scores(begun, scores)
    games.states[:] = begun
    lanes = games.running()
    while len(lanes):
        mover = games.movers(lanes) ^ swapped
        for player, agent in enumerate(agents):
            games.ask(agent, lanes[mover == player], rngs[player])
        lanes = games.running(lanes)
        lanes = lanes[games.states["deals"][lanes] == 1]
    left = np.maximum(rules.target - games.states["scores"], 0)
    deals_next = int(swapped != DEALER)  # pone does
    wins = probabilities(rules.dealt, rules.target)[..., WON].sum(axis=3)
    expected = wins[deals_next, left[:, swapped], left[:, 1 - swapped]]
    over = games.states["over"] == 1
    won: Array = games.states["winner"] == swapped
    ended: Array = np.where(over, won, expected)
    return ended


def gains(
    rules: TwoHandRules, agents: tuple[Agent, Agent], scores: Array, entropy: np.random.SeedSequence
) -> Array:
    """Return what the first agent gains in each deal, the mean over both seats, float64[N]."""
    parts = np.array_split(scores, -(-len(scores) // PAIRS_AT_ONCE))
    found = []
    said = f"{agents[0].name} against {agents[1].name}, deals, in parts"
    for part, one in zip(steps(parts, said), entropy.spawn(len(parts)), strict=True):
        cards, *chance = one.spawn(3)
        rngs = [np.random.default_rng(of_agent) for of_agent in chance]
        both = [play_deals(rules, part, agents, swapped, cards, rngs) for swapped in (0, 1)]
        found.append((both[0] + both[1]) / 2 - 0.5)
    return np.concatenate(found)


@dataclass(frozen=True)
class Settings(TakesAgents):
    """Say what a deal between two agents does to the chance of winning, by the score.

    Attributes:
        first: an agent.
        second: another.
        env: the environment.
        pairs: duplicate pairs of deals.
        seed: fixes everything.
    """

    first: Positional[str]
    second: Positional[str]
    env: Literal["six_card_v0", "five_card_v0"] = "six_card_v0"
    pairs: Several = 10_000
    seed: Seed = 1


def shown(value: Estimate, scale: float) -> str:
    """Return an estimate as text, in percent."""
    return f"{scale * value.mean:+.2f} ± {scale * value.half:.2f}"


def run(settings: Settings) -> None:
    """Play the deals and print the table."""
    _, rules = find_game(settings.env)
    assert isinstance(rules, TwoHandRules)
    agents = settings.load_agent(settings.first), settings.load_agent(settings.second)
    of_scores, drawn, played = np.random.SeedSequence(settings.seed).spawn(3)
    known, deals = dealt_at(rules, of_scores)
    scores = known[np.random.default_rng(drawn).integers(len(known), size=settings.pairs)]
    gained = gains(rules, agents, scores, played)
    to_make = rules.target - scores.max(axis=1)
    rows = []
    for low, high in pairwise(BOUNDS):
        here = (to_make > low) & (to_make <= high)
        if here.any():
            rows.append([f"{low + 1} to {min(high, rules.target)}", f"{100 * here.mean():.0f} %",
                         shown(estimate(gained[here]), 100),
                         shown(estimate(gained * here), 100 * deals)])  # fmt: skip
    rows.append(["all", "100 %", shown(estimate(gained), 100),
                 shown(estimate(gained), 100 * deals)])  # fmt: skip
    print(table(HEAD, rows))
    print(f"\n{settings.env}: {agents[0].name} against {agents[1].name}, {settings.pairs} pairs of "
          f"deals, seed {settings.seed}; {deals:.2f} deals a game")  # fmt: skip


if __name__ == "__main__":
    start(Settings, run)
