"""A new family needs no registry edits: a missing part gives one sentence, the rest works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.analyze import analyze
from crib_agents.learned.network import find_learned
from crib_play.replay import write_replay
from crib_play.replay.frames import every_eyes, frames
from crib_play.table.family import Call, TableFamily
from crib_play.table.seats import names
from crib_play.table.session import Session
from crib_training.command_line import main
from crib_training.evaluation.duplicate import play_pairs
from crib_training.methods.deep_monte_carlo import Settings, find_self_play

import crib_env
import crib_env.text  # registers the part "words"
from crib_env import registration
from crib_env.engine.family import find_family
from crib_env.game import Game
from crib_env.policy import find_agent
from crib_env.rules import PRESETS
from toy import toy_v0
from toy.agents import HighCard

RNG = np.random.default_rng(1)


@pytest.fixture(scope="module", autouse=True)
def _toy() -> Iterator[None]:
    """Register the toy game, for these tests alone."""
    crib_env.register_environment("toy.toy_v0", "Toy-v0")
    yield
    del crib_env.ENVIRONMENTS["toy_v0"]


def views() -> Any:
    game = Game("toy", seed=1)
    return np.array([game.view(game.seat)])


def sit_down() -> Session:
    return Session(Game("toy", seed=1), (None, None), chance=1)


LACKING = {
    "table": (sit_down, "the game toy has no table"),
    "replay": (
        lambda: write_replay("x.html", "toy", (HighCard(), HighCard()), 1), "toy has no table"
    ),
    "expert": (lambda: find_agent("expert").act(views(), RNG), "the game toy has no expert"),
    "master": (lambda: find_agent("master").act(views(), RNG), "the game toy has no expert"),
    "learned": (lambda: find_agent("learned").act(views(), RNG), "learned does not play toy"),
    "equilibrium": (
        lambda: find_agent("equilibrium").act(views(), RNG), "equilibrium does not play toy"
    ),
    "greedy": (
        lambda: find_agent("greedy").act(views(), RNG),
        "greedy plays only hoyle or five_card or three_hand",
    ),
    "values": (
        lambda: registration.find_part("values", "toy"),
        "the game toy has no values of actions by expert",
    ),
    "analysis": (lambda: analyze(views()), "the game toy has no analysis"),
    "weights": (lambda: find_learned("toy"), "learned agent plays .two_hand, table_top, many"),
    "deep_monte_carlo": (
        lambda: find_self_play(Settings(env="toy_v0", out=Path("x"))), "crib train ppo"
    ),
    "features": (lambda: toy_v0.gym_env(opponent=HighCard(), features=True), "have no features"),
    "expected": (
        lambda: toy_v0.gym_env(opponent=HighCard(), reward="expected"), "not for toy: its points"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", LACKING)
def test_toy_game_missing_part_is_named_in_one_sentence(what: str) -> None:
    ask, sentence = LACKING[what]
    with pytest.raises(ValueError, match=sentence):
        ask()


def test_toy_game_picture_is_its_text() -> None:
    game = Game("toy", seed=1)
    assert "toy" in game.svg()


def test_toy_game_can_be_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    main(["evaluate", "toy.agents:HighCard", "toy.agents:HighCard", "--env", "toy_v0",
          "--pairs", "20"])  # fmt: skip
    assert "high_card" in capsys.readouterr().out


def test_toy_game_of_three_pairs_one_agent_with_two_from_every_side() -> None:
    sets = play_pairs(PRESETS["toy"], "game", HighCard(), HighCard(), 4, 1, players=3)
    assert sets.won.shape == (4, 3, 3)
    assert (sets.won[..., 0].sum(axis=1) == 1).all()


def test_toy_game_of_three_has_table_and_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TableFamily(
        "toy", None, to_choose=lambda view: 1, phase=lambda view: "pegging",
        sight=lambda view, rules: {}, opening=lambda view, rules: [],
        calls_of=lambda done: [Call(done.seat, "this one"), *(
            Call(event.seat, event.reason, event.points) for event in done.events
        )],
        counted=lambda done: [], spoken=lambda view, actions: "lays", read=lambda text, view: (0,),
        ask=lambda view: "card", how="Type a card.",
    )  # fmt: skip
    monkeypatch.setattr(registration, "_parts", dict(registration._parts))
    registration.add_parts("table", toy=table)
    game = Game("toy", players=3, seed=2)
    session = Session(game, (HighCard(), HighCard(), HighCard()), chance=1)
    while not session.over:
        assert session.winner is None
        session.answer()
    assert session.winner == game.scores.index(max(game.scores))
    mine, *others = (game.scores[side] for side in (1, 0, 2))
    assert session.result(1) == f"{mine} to {others[0]} to {others[1]}"
    moments = list(frames(session, every_eyes(3, names(session)), "toy"))
    assert moments[-1].scores == game.scores
    assert {side for moment in moments for side, _ in moment.calls} == {0, 1, 2}
    assert every_eyes(3, "abc")[3].label == "all three seats"
    page = tmp_path / "toy.html"
    write_replay(page, "toy", [HighCard()] * 3, 2, players=3, judged=False)
    data = page.read_text()
    assert re.search(r'"scores":\[\d+,\d+,\d+\]', data)
    assert re.search(r'"winner":[012]', data)


def test_family_parts_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "_parts", dict(registration._parts))
    registration.add_parts("expert", toy="toy.agents:HighCard")
    assert registration.families_with("expert") == ["two_hand", "table_top", "many_hand", "toy"]
    view = views()
    assert find_agent("expert").act(view, RNG)[0] == max(view[0]["hand"])


@pytest.mark.parametrize("kind", registration.LACKING)
def test_family_parts_of_built_in_games_are_complete(kind: str) -> None:
    ours = {rules.family for rules in PRESETS.values()} - {"toy"}
    assert set(registration.families_with(kind)) == ours
    for family in ours:
        assert find_family(family).name == family
        assert registration.find_part(kind, family) is not None


def test_family_part_of_unknown_kind_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"a part is one of .*table.*, got 'tables'"):
        registration.add_parts("tables", toy=None)


def test_rules_field_named_like_state_field_is_rejected() -> None:
    family = find_family("two_hand")
    rules = np.dtype([*family.rules.descr, ("go", np.int64)])
    with pytest.raises(ValueError, match="the name of one of the state's, go: choose another"):
        replace(family, rules=rules)
