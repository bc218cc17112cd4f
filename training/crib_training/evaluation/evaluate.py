"""Compare two agents on duplicate deals.

    crib evaluate rule_based greedy --pairs 2000 --seed 1
    crib evaluate equilibrium expert --env five_card_v0 --pairs 50000 --no-games

The command plays whole games, for the shares of games won and of skunks. It also plays as many
single deals from 0-0, for the points per deal by phase and role; the last deal of a whole game is
cut short, which would bias them. Intervals are 95 %, computed over pairs of games with the same
cards and swapped seats. AIVAT adds adjusted figures where that is cheaper than more games, each
with its gain in pairs. An agent that fails loses that game, and the command ends with status 1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
from crib_agents.adapters.agent_wrappers import Timed
from crib_agents.expert import DEEPEST, ExpertAgent
from crib_agents.loading import TEXT, TakesAgents
from crib_play.replay import write_replay
from pydantic import Field

from crib_env import settings as types
from crib_env.envs.makers import EnvMaker
from crib_env.errors import check_choice
from crib_env.options import check_seed
from crib_env.policy import Agent, Opponent, find_agent
from crib_env.rules import Rules, TableTopRules
from crib_env.settings import checked_dataclass
from crib_env.supported_rules import refuse_rules
from crib_training.command_line import TRACEBACK
from crib_training.evaluation.aivat import Adjust, chosen_reference
from crib_training.evaluation.chunks import Setup, label_agents
from crib_training.evaluation.duplicate import Pairs, Sides, play_pairs
from crib_training.evaluation.figures import figures
from crib_training.evaluation.referee import Referee, counted
from crib_training.evaluation.report import comparison
from crib_training.language_models import play_models, totals
from crib_training.loading import NamesGame, in_phase, players_of, shortest_episode, sides_of
from crib_training.outputs import write_json
from crib_training.progress import Progress
from crib_training.provenance import versions

MODEL_PAIRS = 5  # pairs that a language model plays side by side
DEFAULT = Path("runs/evaluate.json")  # a language model's games are stored beside it


@checked_dataclass(frozen=True)
class Settings(NamesGame, TakesAgents):
    """Compare two agents on duplicate deals.

    Attributes:
        first: an agent: a name, a .safetensors, .zip (Stable-Baselines3) or .onnx file,
            package.module:Class, or text:MODEL for a language model.
        second: another agent, or the same.
        pairs: pairs of games, and of single deals; among three, sets of three, in which each agent
            has held every hand.
        seed: fixes all random numbers.
        games: play whole games and single deals; without it, only single deals, in a fraction of
            the time.
        budget: search depth of `expert` at Table Top; by default 3.
        adjust: reduce variance with AIVAT (six and five cards); auto does so unless both agents are
            compiled, since those can play more games in the same time.
        duplicate: play both games of a pair with the same deals. Without it, every game has its own
            deals, for opponents that must not see cards twice, and games and points are adjusted.
        json: a file to write the result to as well.
        replay: a file to write one more game of the two to, to watch in a browser.
    """

    first: types.AgentName
    second: types.AgentName
    _: KW_ONLY
    pairs: types.Count = 2000
    seed: types.Seed = 1
    games: bool = True
    budget: Annotated[types.Whole, Field(ge=1, le=DEEPEST)] | None = None
    adjust: Adjust = "auto"
    duplicate: bool = True
    json: types.NewFile | None = None
    replay: types.NewFile | None = None

    def agent(self, name: str) -> Agent:
        """Return an agent by its name on the command line."""
        if name == "expert" and self.budget is not None:
            return ExpertAgent(self.budget)
        return self.load_agent(name)


def evaluate(
    maker: EnvMaker,
    rules: str | Rules,
    first: Opponent,
    second: Opponent,
    pairs: int,
    seed: int,
    players: int | None = None,
    *,
    games: bool = True,
    adjust: Adjust = "auto",
    duplicate: bool = True,
    forfeits: bool = False,
) -> dict[str, Any]:
    """Return how ``first`` does against ``second``, ready for JSON; see `Settings`.

    In a phase environment its own policy plays the other phase. Without ``games`` the figures of
    whole games are None. ``adjust`` adds AIVAT's figures: "auto" if they cost less than more games
    and are narrower; without ``duplicate`` they are always computed. With ``forfeits`` a failure
    costs an agent the game; else it is raised.
    """
    check_choice("adjust", adjust, get_args(Adjust))
    rules = maker.find_rules(rules)
    n_sides = sides_of(rules, players)
    if n_sides > 2 and not duplicate:
        raise ValueError(f"games of {n_sides} sides have duplicate deals: leave --no-duplicate out")
    if not duplicate and adjust == "never":
        raise ValueError("--no-duplicate shows only adjusted figures: leave --adjust never out")
    adjust = adjust if duplicate else "always"
    check_seed(seed)
    first, second = find_agent(first), find_agent(second)
    names = first.name, second.name if second.name != first.name else f"{second.name} (second)"
    timed = Timed(first), Timed(second)
    one, other = (in_phase(maker, agent) for agent in timed)
    sides: Sides = (one, other)
    if forfeits:
        sides = Referee(one, name=names[0]), Referee(other, name=names[1])
    untimed = in_phase(maker, first), in_phase(maker, second)
    reference = chosen_reference(rules, untimed, adjust)
    episodes = ["game", shortest_episode(maker)] if games else [shortest_episode(maker)]
    for agent in untimed:
        refuse_rules(agent, rules, episodes[0])
    play = partial(play_pairs, rules, seed=seed, players=players, reference=reference, duplicate=duplicate)
    what = "games and deals" if games else "deals"
    total = n_sides * len(episodes) * pairs
    with Progress(f"{names[0]} against {names[1]}, {what}", total) as progress:
        played = []
        try:
            if not games:  # compile everything before the deals are timed, as games would
                play(episodes[0], *sides, 1)
            for episode in episodes:
                for agent in timed:
                    agent.decisions, agent.seconds = 0, 0.0  # the deals, which are last, are timed
                played.append(play(episode, *sides, pairs, finished=progress.advance))
        except KeyboardInterrupt:
            done = f"{progress.done:,.0f} of {progress.total:,} {what} were played"
            raise KeyboardInterrupt(f"{done}; nothing is written") from None
    deals = played[-1]
    whole = played[0] if games else deals.take(np.zeros(pairs, dtype=bool))
    speeds = [agent.decisions / agent.seconds if agent.seconds else None for agent in timed]
    return result_of(
        maker, rules, players, names, (whole, deals), seed, duplicate=duplicate, speeds=speeds, adjust=adjust
    )


def result_of(
    maker: EnvMaker,
    rules: Rules,
    players: int | None,
    names: tuple[str, str],
    played: tuple[Pairs, Pairs],
    seed: int,
    *,
    duplicate: bool = True,
    speeds: Sequence[float | None] = (None, None),
    adjust: Adjust = "auto",
) -> dict[str, Any]:
    """Return the figures of games and deals that were played, ready for JSON.

    The speeds are decisions per second of each agent. Otherwise as `evaluate`.
    """
    whole, deals = played
    return {
        "environment": maker.name,
        "first": names[0],
        "second": names[1],
        "rules": rules.name,
        "players": players_of(rules, players),
        "sides": deals.sides,
        "pairs": len(deals.won),
        "seed": seed,
        "duplicate": duplicate,
        "versions": versions(),
        **figures(rules, names, whole, deals, adjust=adjust),
        "failures": counted((*whole.failures, *deals.failures), {}),
        "decisions_per_second": dict(zip(names, speeds, strict=True)),
    }


def evaluate_models(settings: Settings, maker: EnvMaker, rules: Rules) -> dict[str, Any]:
    """Play or continue a match of a language model, stored as it is played; return its result."""
    if not (settings.games and settings.duplicate):
        raise ValueError(
            "a language model plays whole games on duplicate deals: leave out --no-games and --no-duplicate"
        )
    for option in ("budget", "replay"):
        if getattr(settings, option) is not None:
            raise ValueError(f"a match of a language model takes no --{option}: leave it out")
    folder = (settings.json or DEFAULT).with_suffix(".games")
    if folder == settings.json:
        raise ValueError(f"--json {folder} is the folder of the games: name a file {DEFAULT.name}")
    setup = Setup(
        agents=(settings.trusted(settings.first), settings.trusted(settings.second)),
        env=settings.env,
        rules=settings.rules,
        players=settings.players,
        seed=(settings.seed,),
        chunk=MODEL_PAIRS,
        adjust=settings.adjust,
    )
    first, second = label_agents(setup)
    records = play_models(setup, settings.pairs, folder, f"{first} against {second}")
    played = setup.played((0, 1), records)
    result = result_of(maker, rules, setup.players, (first, second), played, settings.seed, adjust=setup.adjust)
    return {**result, "language_models": totals(records)}


def run(settings: Settings) -> None:
    """Compare the two, print the tables and write the file."""
    maker, rules = settings.game
    if settings.budget is not None and not isinstance(rules, TableTopRules):
        raise ValueError("--budget is for Table Top")
    agents = settings.agent(settings.first), settings.agent(settings.second)
    if any(name.startswith(TEXT) for name in (settings.first, settings.second)):
        result = evaluate_models(settings, maker, rules)
    else:
        result = evaluate(
            maker,
            rules,
            *agents,
            settings.pairs,
            settings.seed,
            settings.players,
            games=settings.games,
            duplicate=settings.duplicate,
            adjust=settings.adjust,
            forfeits=not os.environ.get(TRACEBACK),
        )
    result["rules"] = settings.rules or rules.name  # with their changed fields
    print(comparison(result), flush=True)
    if settings.json:
        write_json(settings.json, result)
    if settings.replay:
        players = [in_phase(maker, agent) for agent in agents]
        write_replay(settings.replay, rules, players, settings.seed, players=settings.players)
    if result["failures"]:
        worst = result["failures"][0]
        lost = ", ".join(f"{name} {times}" for name, times in result["forfeits"].items() if times)
        raise RuntimeError(f"{worst['agent']!r} failed: {worst['why']} (forfeited: {lost})")
