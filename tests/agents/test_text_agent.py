"""Language models as agents: any function, and a local server with good and bad answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from crib_agents.loading import load_agent
from crib_agents.text_agent import TextAgent, agent_of, rules_of
from crib_training.evaluation.duplicate import play_pairs
from crib_training.evaluation.referee import Referee

from crib_env import PRESETS, Game, find_agent, six_card_v0
from crib_env.batch import GameBatch
from crib_env.errors import NoResultError
from crib_env.text import ReplyError
from model_server import ModelServer, first_legal, model_server


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    pytest.importorskip("openai")
    with model_server() as running:
        yield running


def named(server: ModelServer, model: str, **options: object) -> Any:
    words = "&".join(f"{name}={value}" for name, value in options.items())
    return find_agent(f"text:{model}?base_url={server.url}&server_retries=0&{words}")


def words_model(messages: list[dict[str, str]]) -> str:
    return first_legal(messages[0]["content"])


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_text_agent_plays_every_game(rules: str) -> None:
    agent = TextAgent(words_model)
    outcome = play_pairs(
        PRESETS[rules], "round" if "table" in rules else "deal", Referee(agent), Referee(find_agent("greedy")), 3, 1
    )
    assert not outcome.failures
    assert agent.tally.decisions > 10
    assert agent.tally.missing == agent.tally.illegal == 0


@pytest.mark.parametrize("rules", sorted(PRESETS))
def test_rules_of_view_finds_the_rules(rules: str) -> None:
    game = Game(rules, seed=1)
    assert rules_of(game.view(game.seat)).name == rules


def test_text_agent_returns_bad_reply_with_the_reason() -> None:
    asked: list[list[dict[str, str]]] = []

    def complete(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return "hmm" if len(messages) < 5 else words_model(messages)

    game = Game("hoyle", seed=1)
    agent = TextAgent(complete)
    assert agent.act(game.view(game.seat), rng()) in game.legal_actions
    assert [len(one) for one in asked] == [1, 3, 5]
    assert asked[1][1] == {"role": "assistant", "content": "hmm"}
    assert "names no choice" in asked[1][2]["content"]
    assert (agent.tally.replies, agent.tally.missing, agent.tally.failed) == (3, 2, 0)


def test_text_agent_uses_policy_after_the_last_retry() -> None:
    game = Game("hoyle", seed=1)
    view = game.view(game.seat)
    for on_failure in ("forfeit", "raise"):
        agent = TextAgent(lambda _: "hmm", retries=1, on_failure=on_failure)
        with pytest.raises(ReplyError, match="names no choice"):
            agent.act(view, rng())
        assert (agent.tally.replies, agent.tally.failed) == (2, 1)
    agent = TextAgent(lambda _: "hmm", retries=1, on_failure="random")
    assert agent.act(view, rng()) in game.legal_actions
    assert (agent.tally.failed, agent.tally.random) == (1, 1)


def test_text_agent_bad_reply_costs_one_game_and_no_repeated_calls() -> None:
    """The referee repeats the call for each single view; the replies are cached."""
    calls: list[str] = []
    games = GameBatch(PRESETS["hoyle"], 8, seed=3)
    games.reset()
    views = games.views(np.arange(8))
    bad = {str(views[i]["hand"]) for i in (2, 5)}

    def complete(messages: list[dict[str, str]]) -> str:
        content = messages[0]["content"]  # threads call at once: calls[-1] may be another's
        calls.append(content)
        if sum(str(one["hand"]) in bad and _same_hand(one, content) for one in views):
            return "hmm"
        return words_model(messages)

    _, failures = Referee(TextAgent(complete, retries=0)).ask(views, rng())
    assert sorted(failures) == [2, 5]
    assert "names no choice" in failures[2].why
    assert len(calls) == 8


def test_text_agent_asks_again_after_a_failure() -> None:
    calls = []

    def complete(messages: list[dict[str, str]]) -> str:
        calls.append(messages)
        if len(calls) < 3:
            raise ConnectionError("the line is bad")
        return words_model(messages)

    game, agent = Game("hoyle", seed=1), TextAgent(complete)
    assert agent.act(game.view(game.seat), rng()) in game.legal_actions
    assert calls[0] == calls[1] == calls[2]
    assert (agent.tally.errors, agent.tally.replies) == (2, 1)


def test_text_agent_failures_stop_play_without_a_result() -> None:
    calls = []

    def complete(messages: list[dict[str, str]]) -> str:
        calls.append(messages)
        raise ConnectionError("the server is\n down")

    games = GameBatch(PRESETS["hoyle"], 40, seed=3)
    games.reset()
    agent = TextAgent(complete, workers=2)
    with pytest.raises(NoResultError, match="text: no reply in 3 tries: ConnectionError: the serv"):
        Referee(agent).ask(games.views(np.arange(40)), rng())
    assert len(calls) <= 6


def _same_hand(view: Any, words: str) -> bool:
    from crib_env import format_cards

    return f"Your hand: {format_cards(view['hand'][: view['hand_n']].tolist())}\n" in words


@pytest.mark.parametrize(
    ("model", "why"), [("empty", r"names no choice"), ("hostile", r"names no choice|not in your hand|both cards")]
)
def test_text_agent_bad_replies_cost_their_games_and_are_named(server: ModelServer, model: str, why: str) -> None:
    agent = named(server, model, retries=0)
    outcome = play_pairs(PRESETS["hoyle"], "deal", Referee(agent), Referee(find_agent("greedy")), 2, 1)
    assert len(outcome.failures) == 4
    assert outcome.forfeits[..., 0].all()
    for failure in outcome.failures:
        assert failure.agent == f"text:{model}"
        assert re.search(why, failure.why), failure.why


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("500", r"InternalServerError.*no such luck"),
        ("closes", r"Connection error|APIConnectionError|closed connection|incomplete"),
        ("hang", r"timed out|Timeout"),
        ("nothing", r"no choices"),
        ("drips", r"not whole after 0.5 s"),
    ],
)
def test_text_agent_bad_server_stops_play_and_is_named(server: ModelServer, model: str, why: str) -> None:
    seconds = 0.5 if model in ("hang", "drips") else 30
    agent = named(server, model, timeout=seconds, retries=0)
    with pytest.raises(NoResultError, match=f"(?s)text:{model}: no reply in 3 tries: .*({why})"):
        play_pairs(PRESETS["hoyle"], "deal", Referee(agent), Referee(find_agent("greedy")), 2, 1)


SECRETS = {
    "OPENAI_API_KEY": "secret-1",
    "OPENAI_ORG_ID": "secret-2",
    "OPENAI_PROJECT_ID": "secret-3",
    "OPENAI_ADMIN_KEY": "secret-4",
    "OPENAI_CUSTOM_HEADERS": "X-Token: secret-5\nX-More: secret-6",
}


@pytest.mark.parametrize("own", [True, False])
def test_text_agent_key_goes_only_to_its_server(
    own: bool, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent's name may come from a stranger's file of results, with any base_url."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url if own else "http://127.0.0.1:1/v1")
    game = Game("hoyle", seed=1)
    named(server, "good").act(game.view(game.seat), rng())
    sent = {value for value in SECRETS.values() if value in str(server.headers)}
    assert sent == ({"secret-1", "secret-2", "secret-3"} if own else set())
    assert ("secret-5" in str(server.headers)) == own


def test_text_agent_name_works_everywhere(server: ModelServer) -> None:
    name = f"text:meta/model-good?base_url={server.url}&style=full"
    assert load_agent(name).name == "text:meta/model-good"
    env = six_card_v0.gym_env(opponent=name, episode="deal")
    env.reset(seed=1)
    over = False
    while not over:
        *_, over, _, _ = env.step(int(env.action_masks().argmax()))
    assert server.asked["meta/model-good"] > 3


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("", "names no model"),
        ("m?stile=full", "did you mean 'style'"),
        ("m?timeout=soon", "timeout of text:m must be a number"),
        ("m?style=long&base_url=http://x", "style must be one of"),
        ("m?timeout=nan", "timeout must be a number of seconds above 0, got nan"),
        ("m?max_tokens=0", "max_tokens must be a whole number from 1 up, got 0"),
        ("m?server_retries=-1", "server_retries must be a whole number from 0 up, got -1"),
    ],
)
def test_text_agent_rejects_bad_names(given: str, why: str) -> None:
    pytest.importorskip("openai")
    with pytest.raises(ValueError, match=re.escape(why)):
        agent_of(given)
