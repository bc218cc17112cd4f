"""An agent of ours as a bot: it reads decisions line by line and answers each with an action.

    python -m crib_agents.bot expert

``crib bot expert`` is the same. The answer to ``decision`` is the agent's action, to ``analyze``
every choice with its value, to ``probabilities`` the agent's probability of each legal action.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from threading import Thread
from typing import IO, Any, NoReturn

import numpy as np

from crib_agents.analyze import analyze
from crib_agents.bot.messages import GAMES, PROTOCOL, Message, MessageError, preset_of, read_decision, written
from crib_agents.files import shown
from crib_agents.honours import read_rules
from crib_agents.loading import load_agent
from crib_env.engine.family import family_of
from crib_env.errors import NoResultError
from crib_env.policy import Agent, StochasticPolicy, Views, action_probabilities, check_actions
from crib_env.supported_rules import refuse_rules

AT_ONCE = 64  # most lines per call of `Bot.answers`
LOOK_EVERY = 0.2  # seconds between checks that the parent is alive
AUTHOR = "crib-env"


class Bot:
    """Answers the lines of the protocol with an agent."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        # An agent that draws nothing acts on a batch of views; others need each line's seed.
        self.together = not getattr(agent, "draws", True)

    def answers(self, lines: Sequence[str | bytes]) -> list[Message]:
        """Return the answers to lines, in their order; some lines have none."""
        messages = [_read(line) for line in lines]
        answers: list[Message | None] = [self._answer(message) for message in messages]
        asked = [i for i, one in enumerate(messages) if answers[i] is None and one.get("type") == "decision"]
        views: list[tuple[int, Views]] = []
        for i in asked:
            try:
                views.append((i, read_decision(messages[i])))
            except MessageError as error:
                answers[i] = {"error": str(error)}
        groups: dict[Any, list[tuple[int, Views]]] = {}  # by dtype, or one view each
        for i, view in views:
            groups.setdefault(view.dtype if self.together else i, []).append((i, view))
        for group in groups.values():
            self._play(group, messages, answers)
        return [answer for answer in answers if answer is not None]

    def _play(self, group: list[tuple[int, Views]], messages: list[Message], answers: list[Message | None]) -> None:
        views = np.concatenate([view for _, view in group])
        family = family_of(views)
        seed = messages[group[0][0]].get("seed")
        rng = np.random.default_rng(seed if isinstance(seed, int) and seed >= 0 else None)
        try:
            actions = check_actions(self.agent.act(views, rng), len(views))
            for (i, _), action in zip(group, actions.tolist(), strict=True):
                answers[i] = {"action": written(action, family)}
        except BaseException as error:  # SystemExit too: the caller learns why
            for i, _ in group:
                answers[i] = _failed(error)

    def _answer(self, message: Message) -> Message | None:
        """Return the answer to a message; None for a decision, and for messages without one."""
        kind = message.get("type")
        answers: dict[Any, Callable[[Message], Message]] = {
            "hello": self._greet,
            "accepts": self._accepts,
            "analyze": _analyze,
            "probabilities": self._probabilities,
        }
        if kind not in answers:
            known = kind in ("decision", "new_game", "game_over", "quit")
            return None if known else {"error": message.get("error", f"no type {shown(kind)}")}
        try:
            return answers[kind](message)
        except MessageError as error:
            return {"error": str(error)}
        except BaseException as error:
            return _failed(error)

    def _greet(self, message: Message) -> Message:
        """Return the greeting; version 1 is the only one."""
        if message.get("protocol") != PROTOCOL:
            raise MessageError(f"this bot speaks protocol {PROTOCOL}, got {shown(message.get('protocol'))}")
        plays = []
        for game in GAMES:
            try:
                refuse_rules(self.agent, preset_of(game), "game")
                plays.append(game)
            except ValueError:
                pass
        return {
            "name": self.agent.name,
            "author": AUTHOR,
            "games": 1_000_000,
            "plays": plays,
            "rules": "ask",
            "analyze": True,
            "probabilities": isinstance(self.agent, StochasticPolicy),
        }

    def _accepts(self, message: Message) -> Message:
        """Return whether the agent plays by the rules of a message."""
        given, episode = dict(message.get("rules", {})), message.get("episode")
        if message.get("game") not in GAMES:
            raise MessageError(f'"game" must be one of {", ".join(GAMES)}')
        name = given.pop("name", "rules")
        try:
            refuse_rules(self.agent, read_rules(preset_of(message["game"]).family, name, given), episode)
        except ValueError as error:
            return {"accepts": False, "why": str(error)}
        return {"accepts": True}

    def _probabilities(self, message: Message) -> Message:
        """Return the agent's probability of each action, in the order of ``legal``."""
        views = read_decision(message)
        family = family_of(views)
        rng = np.random.default_rng(0)  # unused by an agent that draws nothing
        (found,) = action_probabilities(self.agent, views, family.actions, rng)
        names = [written(action, family) for action in range(family.actions)]
        shares = {str(name): float(share) for name, share in zip(names, found, strict=True)}
        legal = message.get("legal")
        if not isinstance(legal, list):
            raise MessageError('"legal" must name the legal actions')
        return {"probabilities": [shares[str(name)] for name in legal]}


def _analyze(message: Message) -> Message:
    """Return every choice in a position with its value, the best first."""
    return {"choices": [asdict(choice) for choice in analyze(read_decision(message))]}


def _failed(error: BaseException) -> Message:
    """Return the answer for an error; ``no_result`` tells `ProcessAgent` that it costs no game."""
    no_result = {"no_result": True} if isinstance(error, NoResultError) else {}
    return {"error": f"{type(error).__name__}: {error}", **no_result}


def _read(line: str | bytes) -> Message:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {"type": "unreadable", "error": "that was no line of JSON"}
    if not isinstance(message, dict):
        return {"type": "unreadable", "error": "a message is a JSON object"}
    return message


def end_group() -> NoReturn:
    """End this process, which leads its group, and all that its agent started."""
    os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _end_with(parent: int) -> None:
    """End the group once the process that started it is gone, even by a kill."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    end_group()


def serve(agent: Agent, lines: IO[bytes], answers: IO[bytes]) -> None:
    """Answer lines, from an unbuffered stream, until ``quit`` or the end of the input."""
    bot, own = Bot(agent), os.getpid()
    rest = b""
    while data := lines.read(1 << 16):
        *whole, rest = (rest + data).split(b"\n")
        whole = [line for line in whole if line.strip()]
        for at in range(0, len(whole), AT_ONCE):
            some = whole[at : at + AT_ONCE]
            found = bot.answers(some)
            if os.getpid() != own:
                os._exit(0)  # a fork made by the agent
            for answer in found:
                answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()
            if any(_read(line).get("type") == "quit" for line in some if b'"quit"' in line):
                return


def main(name: str, leads: bool = False) -> None:
    """Serve a named agent over stdin and stdout; ``leads``: end its group with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller handles Ctrl-C and ends this process
    if leads:
        Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # The agent's prints must not mix with the answers: redirect them to stderr.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    lines = os.fdopen(os.dup(0), "rb", buffering=0)
    try:
        serve(load_agent(name), lines, answers)
    except BrokenPipeError:
        pass
    except BaseException as error:  # the agent cannot be made; its code may call sys.exit
        refusal = {"name": f"{type(error).__name__}: {error}", "refused": True}
        answers.write(json.dumps(refusal).encode() + b"\n")
        if not leads:
            raise
    if leads:
        end_group()
