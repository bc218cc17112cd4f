"""Bots in any language: messages, programs that follow the protocol, and programs that do not."""

from __future__ import annotations

import gc
import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_agents.bot import CommandAgent, command_agent, process_agent
from crib_agents.bot.messages import GAMES, MessageError, decisions, preset_of, read_decision
from crib_agents.bot.serve import Bot
from crib_agents.loading import agent_file, load_agent, of_two
from crib_training.bot_check import check
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.referee import Referee

from checkout import ROOT
from crib_env import PRESETS, Game, Rules, find_agent, six_card_v0
from crib_env.batch import GameBatch
from crib_env.policy import StochasticPolicy
from hidden import redraw

BROKEN = ROOT / "tests" / "support" / "broken_bot.py"
BOTS = ROOT / "examples" / "bots"
RNG = np.random.default_rng(1)
PLAYED: list[tuple[Rules, int | None, str]] = [
    (PRESETS["hoyle"], None, "game"),
    (PRESETS["hoyle"], None, "match"),
    (Rules.preset("hoyle", target=91, heels=1), None, "deal"),
    (PRESETS["five_card"], None, "game"),
    (PRESETS["three_hand"], None, "match"),
    (PRESETS["four_hand"], None, "game"),
    (Rules.preset("four_hand", partners=False), None, "game"),
    (PRESETS["table_top"], 2, "game"),
    (PRESETS["table_top"], 4, "game"),
    (PRESETS["table_top_ship"], 2, "round"),
    (PRESETS["table_top_ship"], 4, "game"),
]


def broken(fault: str, seconds: float = 20.0) -> CommandAgent:
    return CommandAgent([sys.executable, str(BROKEN), fault], seconds)


def some_views(n: int = 8) -> Any:
    games = GameBatch("hoyle", n, seed=5)
    games.reset()
    return games.views(games.running())


@pytest.mark.parametrize(("rules", "players", "episode"), PLAYED)
def test_read_decision_restores_the_view(rules: Rules, players: int | None, episode: str) -> None:
    games = GameBatch(rules, 3, players=players, episode=episode, seed=3)
    games.reset()
    agent = find_agent("random")
    for _ in range(120):
        if not len(lanes := games.running()):
            break
        views = games.views(lanes)
        for view, message in zip(views, decisions(views), strict=True):
            sent = json.loads(json.dumps(message)) | {"a_later_field": 1}
            assert read_decision(sent)[0] == view
        games.step(lanes, agent.act(views, RNG))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"hand": ["5H"] * 6}, "more than once"),
        ({"hand": ["5H"]}, "6 cards"),
        ({"hand": "5H"}, "list of cards"),
        ({"hand": ["ZZ", "2C", "3C", "4C", "5C", "6C"]}, "not a card"),
        ({"seat": 2}, "from 0 to 1"),
        ({"seat": "north"}, "whole number"),
        ({"game": "go fish"}, "one of six_card"),
        ({"phase": "show"}, "discard, play"),
        ({"scores": [121, 0]}, "from 0 to 120"),
        ({"scores": [0]}, "each of 2 sides"),
        ({"rules": {"dealt": 12}}, "deals 6 cards"),
        ({"rules": {"match_target": 50}}, "from 0 to 7"),
        ({"rules": {"flush_size": 3}}, "rules 'six_card' are not possible: flush_size 3 is not possible"),
        ({"rules": {"single_count": 7}}, "single_count must be True or False, got 7"),
        ({"rules": {"match_target": 0}, "episode": "match"}, r"has no match \(match_target=0\)"),
        ({"pile": ["5H"], "pile_seats": [0]}, "before all have discarded"),
        ({"legal": ["AC"]}, "but legal are"),
        ({"deal": 10**30}, "from 1"),
    ],
)
def test_read_decision_refuses_impossible_positions(change: dict[str, Any], why: str) -> None:
    (message,) = decisions(some_views(1))
    with pytest.raises(MessageError, match=why):
        read_decision({**message, **change})
    without = {name: value for name, value in message.items() if name != "hand"}
    with pytest.raises(MessageError, match="hand' is missing"):
        read_decision(without)


@pytest.mark.parametrize("game", GAMES)
def test_decisions_hold_nothing_hidden(game: str) -> None:
    """Redraw every card hidden from the seat: its messages stay equal to the byte."""
    rules = preset_of(game)
    episode = Game(rules, seed=4)
    agent = find_agent("random")
    rng = np.random.default_rng(2)
    for _ in range(30):
        if episode.over:
            break
        view = np.array([episode.view(episode.seat)])
        told = json.dumps(decisions(view))
        other = episode.copy()
        assert redraw(other, rng, episode.seat)
        assert json.dumps(decisions(np.array([other.view(episode.seat)]))) == told
        episode.step(int(agent.act(view, rng)[0]))


def test_command_agent_has_the_programs_probabilities_and_draws_by_the_given_generator() -> None:
    agent, same = command_agent(f"{sys.executable} -m crib_agents.bot learned_mixed"), find_agent("learned_mixed")
    views = some_views()
    assert agent.name == "learned_mixed"
    assert isinstance(agent, StochasticPolicy)
    assert isinstance(same, StochasticPolicy)
    assert np.allclose(agent.action_probabilities(views), same.action_probabilities(views))
    assert not isinstance(broken("none"), StochasticPolicy)
    actions, again, others = (agent.act(views, np.random.default_rng(n)) for n in (3, 3, 4))
    assert (actions == again).all()
    assert (actions != others).any()
    agent.close()


def test_command_agent_discards_both_cards_at_once() -> None:
    agent = command_agent(f"{sys.executable} {BOTS / 'simple_bot.py'}")
    games = GameBatch("hoyle", 5, seed=2)
    games.reset()
    lanes = games.running()
    asked: list[int] = []
    ask = agent._ask
    agent._ask = lambda messages: asked.append(len(messages)) or ask(messages)  # type: ignore[func-returns-value, method-assign]
    for _ in range(4):
        assert games.step(lanes, agent.act(games.views(lanes), RNG)) is None
    assert asked == [5, 0, 5, 0]
    agent.close()


def c_bot(folder: Path) -> str:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    program = folder / "simple_bot"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", program, BOTS / "simple_bot.c"], check=True)
    return str(program)


@pytest.mark.parametrize("language", ["python", "javascript", "c"])
def test_reference_bots_follow_the_protocol(language: str, tmp_path: Path) -> None:
    """The three play by the same rules, so they play the same cards."""
    if language == "javascript" and shutil.which("node") is None:
        pytest.skip("no Node")
    python = f"{sys.executable} {BOTS / 'simple_bot.py'}"
    command = {
        "python": lambda: python,
        "c": lambda: c_bot(tmp_path),
        "javascript": lambda: f"node {BOTS / 'simple_bot.js'}",
    }[language]()
    agent = load_agent(f"command:{command}")
    assert isinstance(agent, CommandAgent)
    assert check(agent, "six_card", 5, 1) == 60
    views = some_views(40)
    first = load_agent(f"command:{python}")
    assert (agent.act(views, RNG) == first.act(views, RNG)).all()


@pytest.mark.parametrize(
    ("fault", "kind", "why"),
    [
        ("illegal", "raised", "must be one of"),
        ("not held", "raised", "must be one of"),
        ("twice", "raised", "twice"),
        ("malformed", "raised", "no line of JSON"),
        ("raw escape", "raised", r"\\x1b[31mred"),
        ("nan", "raised", "must be one of"),
        ("no result", "raised", "the program says 'no idea'"),
        ("nested", "raised", "no line of JSON"),
        ("two answers", "raised", "answered 3 lines to 1 decisions"),
        ("dies", "raised", r"exit code 3; it said '\\x1b[31mlast words'"),
        ("closes", "raised", "closed its output"),
        ("half", "over time", "no answer within"),
        ("endless", "raised", "a line of more than"),
        ("deaf", "over time", "no answer within"),
    ],
)
def test_broken_bots_forfeit_and_are_started_again(
    fault: str, kind: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="crib_agents.bot")
    agent = broken(fault, 0.5)
    agent._allowance = 5.0
    referee = Referee(agent)
    views = some_views(1)
    assert [referee.ask(views, RNG)[1] for _ in range(2)] == [{}, {}]
    failure = referee.ask(views, RNG)[1][0]
    assert failure.kind == kind
    assert why.replace(r"\\", "\\") in failure.why
    assert "\x1b" not in failure.why
    assert (r"\x1b[31mlast words" in caplog.text) is (fault == "dies")
    assert "\x1b" not in caplog.text
    agent._allowance = 20.0
    assert referee.ask(views, RNG)[1] == {}
    agent.close()


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("bad name", 'its greeting must have a "name", got '),
        ("bad games", '"games" must be a whole number from 1, got 0'),
        ("bad plays", '"plays" must name some of six_card, .*go fish'),
        ("bad rules", '"rules" must be "presets", "any" or "ask", got \'some\''),
        ("no greeting", "it wrote no line of JSON: "),
    ],
)
def test_command_agent_refuses_a_wrong_greeting(fault: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"is no bot: {why}"):
        broken(fault)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("too few", "be a number for each legal action"),
        ("no number", "be a number for each legal action"),
        ("too much", "sum to 1"),
        ("below zero", "sum to 1"),
    ],
)
def test_command_agent_refuses_wrong_probabilities(fault: str, why: str) -> None:
    agent: Any = command_agent(f"{sys.executable} {BROKEN} '{fault}'")
    with pytest.raises(ValueError, match=f'"probabilities" must {why}, got '):
        agent.action_probabilities(some_views(1))
    agent.close()


def test_command_agent_names_a_program_that_cannot_start() -> None:
    for command, why in (("./no-such-bot", "cannot be started"), ("", "names no program")):
        with pytest.raises(ValueError, match=why):
            load_agent(f"command:{command}")
    assert broken("named to harm").name == "[31mred"


def test_play_pairs_tells_bots_of_their_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "messages"
    monkeypatch.setenv("BOT_LOG", str(log))
    agent = broken("single")
    pairs = play_pairs(PRESETS["hoyle"], "game", Referee(agent), Referee(find_agent("greedy")), 2, 3)
    agent.close()
    messages = [json.loads(line) for line in log.read_text().splitlines()]
    kinds = [one["type"] for one in messages]
    assert kinds[0] == "hello"
    assert kinds[-1] == "quit"
    assert kinds.count("new_game") == kinds.count("game_over") == 4
    current, pegged, scores = None, {}, {}
    for one in messages[1:-1]:
        if one["type"] == "new_game":
            assert current is None  # one game at a time
            current, pegged = one["id"], {0: 0, 1: 0}
            assert one["rules"]["skunk_margin"] == 30
        assert one["id"] == current
        for event in one.get("events", ()):
            pegged[event["side"]] += event["points"]
        if one["type"] == "decision":
            scores = one["scores"]
            assert [pegged[0], pegged[1]] == scores
        if one["type"] == "game_over":
            current = None
            assert max(one["scores"]) == 121
    won = [one["won"] for one in messages if one["type"] == "game_over"]
    assert sum(won) == round(float(pairs.shares_won.sum() * 2))


def test_bot_answers_every_choice_with_its_value() -> None:
    (message,) = decisions(some_views(1))
    bot = Bot(find_agent("expert"))
    (answer,) = bot.answers([json.dumps({**message, "type": "analyze"})])
    assert len(answer["choices"]) == 15
    assert answer["choices"][0]["win"] >= answer["choices"][-1]["win"]
    (action,) = bot.answers([json.dumps(message)])
    assert action["action"] in answer["choices"][0]["discard"].split()
    for line in (b"\xff", b"[]", b'{"type": "dance"}', b'{"type": "decision"}', b'{"type": "hello", "protocol": 2}'):
        assert "error" in bot.answers([line])[0]


def test_refuse_rules_by_greeting() -> None:
    simple = load_agent(f"command:{sys.executable} {BOTS / 'simple_bot.py'}")
    with pytest.raises(ValueError, match="does not play table_top"):
        simple.refuse_rules(PRESETS["table_top"])  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="where target is 91"):
        six_card_v0.gym_env(opponent=simple, rules=Rules.preset("hoyle", target=91))
    with pytest.raises(ValueError, match="expert"):
        process_agent("expert").refuse_rules(Rules.preset("hoyle", flush_size=5))


def test_refuse_rules_leaves_the_allowance_to_the_first_decision() -> None:
    agent = broken("slow start", 0.2)
    agent.refuse_rules(PRESETS["hoyle"])
    assert len(agent.act(some_views(1), RNG)) == 1
    agent.close()


def test_load_agent_limits_the_time_of_both_joined_agents() -> None:
    program = f"command:{sys.executable} {BOTS / 'simple_bot.py'}"
    assert load_agent(f"greedy/{program}", 1.5).pegging.move_seconds == 1.5  # type: ignore[attr-defined]


def test_names_of_programs_are_one_agent() -> None:
    name = f"command:{sys.executable} {BOTS / 'simple_bot.py'}"
    assert of_two(name) is None
    assert agent_file(name) == BOTS / "simple_bot.py"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_command_agent_leaks_nothing() -> None:
    def open_files() -> int:
        gc.collect()  # programs of earlier tests end too
        return len(os.listdir("/proc/self/fd"))

    before = open_files()
    for _ in range(5):
        agent = broken("dies")
        for _ in range(2):
            agent.act(some_views(1), RNG)
        with pytest.raises(RuntimeError, match="died with exit code 3"):
            agent.act(some_views(1), RNG)
        agent.close()
    assert open_files() <= before
