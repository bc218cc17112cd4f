"""An agent plays by the rules, or it is refused with the field that it does not know."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from crib_agents.adapters.agent_wrappers import PhasedAgent, Timed
from crib_play.table.session import Session

from commands import crib
from crib_env import discard_v0, six_card_v0
from crib_env.batch import GameBatch
from crib_env.game import Game
from crib_env.policy import Act, Agent, CompiledAgent, find_agent, one_or_many
from crib_env.rules import PRESETS, Rules
from crib_env.supported_rules import ByIdentity, refuse_rules, refuse_views
from not_played import plays
from vector_walks import lowest

AGENTS = ("random", "greedy", "rule_based", "learned", "learned_mixed", "expert", "equilibrium", "master")
CHANGED: dict[str, dict[str, Any]] = {
    "hoyle": {
        "target": 91, "flush_size": 5, "crib_flush_size": 4, "first_dealer": "high_card",
        "heels": 1, "dealt": 5, "single_count": True, "for_last": 2, "match_target": 3,
        "skunk_margin": 20, "skunk_points": 3, "double_skunk_margin": 50, "double_skunk_points": 5,
        "next_dealer": "winner",
    },
    "table_top": {
        "target": 91, "flush_size": 4, "crib_flush_size": 4, "first_dealer": "high_card",
        "heels": 1, "adjacency": False, "score_difference": True, "partners_confer": False,
    },
    "three_hand": {"players": 4},
    "four_hand": {
        "target": 91, "flush_size": 5, "crib_flush_size": 4, "first_dealer": "high_card",
        "heels": 1, "match_target": 2, "second_go_ends": True, "partners": False,
    },
}  # fmt: skip
# Fields without effect on points; agents that play to win need some of them.
FOR_POINTS = {"target", "first_dealer", "heels", "for_last", "match_target", "skunk_margin",
              "skunk_points", "double_skunk_margin", "double_skunk_points", "next_dealer",
              "score_difference", "partners_confer"}  # fmt: skip
READ = {"dealt", "single_count", "flush_size", "crib_flush_size", "adjacency", "second_go_ends", "players", "partners"}
TO_WIN = {"target", "match_target", "first_dealer", "partners_confer"}
PLAYED = {
    "random": {field for changes in CHANGED.values() for field in changes},
    "greedy": FOR_POINTS | READ,
    "rule_based": FOR_POINTS | READ,
    "learned": FOR_POINTS - {"heels"} | {"table_top.heels", "many_hand.heels"},
    "equilibrium": FOR_POINTS,
    "learned_mixed": FOR_POINTS,
    "expert": TO_WIN | {"two_hand.heels"},
    "master": TO_WIN | {"two_hand.heels"},
}
every_change = pytest.mark.parametrize(
    ("preset", "field"), [(preset, field) for preset in CHANGED for field in CHANGED[preset]]
)


def changed(preset: str, field: str) -> Rules:
    return replace(PRESETS[preset], **{field: CHANGED[preset][field]})


def episode_of(preset: str) -> str:
    return "game" if preset == "table_top" else "match"


@pytest.mark.parametrize("family", sorted({PRESETS[preset].family for preset in CHANGED}))
def test_honours_test_covers_every_field(family: str) -> None:
    presets = [preset for preset in CHANGED if PRESETS[preset].family == family]
    names = {field.name for preset in presets for field in fields(PRESETS[preset])}
    assert {field for preset in presets for field in CHANGED[preset]} == names - {"name"}


@pytest.mark.parametrize("name", AGENTS)
@every_change
def test_agent_honours_a_changed_field_or_is_rejected(name: str, preset: str, field: str) -> None:
    agent, rules = find_agent(name), changed(preset, field)
    episode = episode_of(preset)
    games = GameBatch(rules, 3, episode=episode, seed=1)
    games.reset()
    rng = np.random.default_rng(1)
    if not plays(name, rules.family):
        message = f"{name} does not play "
        with pytest.raises(ValueError, match=message):
            games.ask(agent, games.running(), rng)
    elif {field, f"{rules.family}.{field}"} & PLAYED[name]:
        refuse_rules(agent, rules, episode)
        for _ in range(6):
            games.ask(agent, games.running(), rng)
    else:
        value = CHANGED[preset][field]
        why = rf"{field} is {value}: it plays .*{preset} \({field} "
        if (name, field) == ("learned", "players"):  # it plays for four, but with partners
            field = "partners"
            why = r"partners is False: it plays four_hand \(partners True\)"
        message = rf"{name}.* does not play where {why}"
        for ask in (lambda: refuse_rules(agent, rules, episode), lambda: games.ask(agent, games.running(), rng)):
            with pytest.raises(ValueError, match=message):
                ask()
        views = games.views(games.running())
        if field in (views.dtype.names or ()):
            with pytest.raises(ValueError, match=message):
                agent.act(views, rng)
            with pytest.raises(ValueError, match=message):
                agent.act(views[0], rng)


def test_honours_names_existing_fields() -> None:
    """A field is given alone, or with its family: ``two_hand.target``."""
    known = {field.name for rules in PRESETS.values() for field in fields(rules)}
    known |= {f"{rules.family}.{one.name}" for rules in PRESETS.values() for one in fields(rules)}
    honours: Any = {name: getattr(find_agent(name), "honours", None) for name in AGENTS}
    declared = {name: fields for name, fields in honours.items() if fields}
    assert declared.keys() >= {"expert", "learned", "rule_based"}
    assert {name: fields - known for name, fields in declared.items()} == dict.fromkeys(declared, frozenset())


def test_honours_ignores_match_fields_in_a_game() -> None:
    expert = find_agent("expert")
    rules = replace(PRESETS["hoyle"], skunk_margin=20, next_dealer="winner")
    refuse_rules(expert, rules, "game")
    with pytest.raises(ValueError, match="skunk_margin is 20 and next_dealer is winner"):
        refuse_rules(expert, rules, "match")


HOUSE = "hoyle[flush_size=5]"


def sit_down(agent: Any) -> object:
    return Session(Game(HOUSE, seed=1), (agent, None), chance=1)


def change_opponent(agent: Any) -> None:
    six_card_v0.vector_env(2, rules=HOUSE, opponent="random").set_opponent(agent)


BOUND = {
    "gym": lambda agent: six_card_v0.gym_env(rules=HOUSE, opponent=agent),
    "vector": lambda agent: six_card_v0.vector_env(2, rules=HOUSE, opponent=agent),
    "shares": lambda agent: six_card_v0.vector_env(2, rules=HOUSE, opponent=[("random", 0.5), (agent, 0.5)]),
    "phase": lambda agent: discard_v0.raw_env(rules=HOUSE, pegging_policy=agent),
    "set": change_opponent,
    "table": sit_down,
}


@pytest.mark.parametrize("form", BOUND)
@pytest.mark.parametrize("name", ["expert", "learned"])
def test_environment_rejects_agent_that_does_not_honour_its_rules(form: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} does not play where flush_size is 5: it plays .*hoyle"):
        BOUND[form](find_agent(name))
    BOUND[form](find_agent("greedy"))


REFUSED = {  # agents, and a game that they do not play
    "two agents joined": ("random/greedy", "four_hand_v0"),
    "two agents joined, at Table Top": ("random/greedy", "table_top_v0"),
    "a player in plain Python": ("examples.plain_player:KeepsFives", "table_top_v0"),
    "an agent of one family": ("learned_mixed", "four_hand_v0"),
    "compiled, of one family": ("test_honours:TwoHandsAlone", "three_hand_v0"),
    "an expert of two families": ("expert", "four_hand_v0"),
    "in a process of its own": ("process:random/greedy", "four_hand_v0"),
}
COMMANDS = {
    "tournament": "tournament greedy {agent} --env {env} --pairs 1 --workers 0 --out {out}",
    "evaluate": "evaluate greedy {agent} --env {env} --pairs 1",
    "evaluate, first": "evaluate {agent} greedy --env {env} --pairs 1 --no-games",
    "rate": "rate {agent} --env {env} --pairs 1 --out {out}",
    "play": "play greedy {agent} --env {env}",
    "replay": "replay {agent} greedy --env {env} --out {out}.html",
}


class TwoHandsAlone(CompiledAgent):
    """A compiled agent of the two-hand games that does not declare which rules it honours."""

    name = "two_hands_alone"
    acts: ClassVar[dict[str, Act]] = {"two_hand": lambda view, rng, table, weights: view["hand"][0]}


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        (kind, command)
        for kind in REFUSED
        for command in COMMANDS  # every command, and every kind of agent
        if kind == "two agents joined" or command == "tournament"
    ],
)
def test_games_reject_agent_that_does_not_play_them(
    kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(*_: object) -> None:
        raise AssertionError("a game has begun")

    monkeypatch.setattr(GameBatch, "step", played)
    monkeypatch.setattr(Session, "answer", played)
    agent, env = REFUSED[kind]
    words = COMMANDS[command].format(agent=agent, env=env, out=tmp_path / "out")
    ended = crib(*words.split())
    assert ended.returncode == 2, ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert re.match(r"error: .* does not play ", ended.stderr)
    assert not list(tmp_path.rglob("*.*"))


@pytest.mark.parametrize("agent", [PhasedAgent("greedy", "expert"), Timed(find_agent("expert"))])
def test_wrapper_agent_is_rejected_for_its_inner_agent(agent: Agent) -> None:
    refuse_rules(agent, PRESETS["hoyle"])
    with pytest.raises(ValueError, match="expert does not play where flush_size is 5"):
        refuse_rules(agent, Rules.preset(HOUSE))


def agent_with(**attributes: Any) -> Any:
    return SimpleNamespace(act=find_agent("random").act, **attributes)


def test_agent_without_declaration_is_accepted() -> None:
    for rules in (changed("hoyle", field) for field in CHANGED["hoyle"]):
        refuse_rules(agent_with(name="undeclared"), rules, "match")
    six_card_v0.gym_env(rules=HOUSE, opponent=lambda view, rng: int(view["hand"][0]))


def test_agent_of_another_package_declares_honoured_fields() -> None:
    agent = agent_with(name="only_to_target", honours=frozenset({"target"}))
    refuse_rules(agent, Rules.preset("hoyle", target=31))
    with pytest.raises(ValueError, match="only_to_target does not play where dealt is 5"):
        refuse_rules(agent, changed("hoyle", "dealt"))


def test_refuse_views_names_the_unsupported_rules_of_several() -> None:
    views = np.array([Game(rules, seed=1).view(0) for rules in ("hoyle", HOUSE)])
    refuse_views(find_agent("expert"), views[:1])
    for some in (views, views[::-1], views[1:]):
        with pytest.raises(ValueError, match="flush_size is 5"):
            refuse_views(find_agent("expert"), some)


@dataclass
class Plain:
    """An ordinary data class: it has no hash, and equal ones are equal."""

    name: str = "plain"
    honours: frozenset[str] = frozenset()

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return one_or_many(lowest_of)(self, views, rng)


def lowest_of(agent: Any, views: Any, rng: np.random.Generator) -> Any:
    return np.array([lowest(view, rng) for view in views])


def test_refuse_views_takes_agents_without_a_hash() -> None:
    env = six_card_v0.gym_env(opponent=Plain())
    env.reset(seed=1)
    assert int(Plain().act(env.view(), np.random.default_rng(1))) in range(52)


def test_by_identity_forgets_objects_that_are_gone() -> None:
    known, one = ByIdentity[int](), Plain()
    known.put(one, 3)
    assert known.get(one) == 3
    assert known.get(Plain()) is None
    known.put(4, 5)  # takes no weak reference
    assert known.get(4) is None
    assert len(pickle.loads(pickle.dumps(known))) == 0
    del one
    assert len(known) == 0
