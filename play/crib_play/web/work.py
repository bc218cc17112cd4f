"""The work of processes beside the server: compile, and analyse finished games.

Each task is a line of JSON on standard input, each answer a line on standard output.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from crib_agents.loading import load_agent

from crib_play.replay import replay_page
from crib_play.table import GAMES, Session, review, table_game, why_unjudged
from crib_play.table.advice import choices
from crib_play.table.seats import refusal
from crib_play.web.messages import review_payload
from crib_play.web.store import StoredTable
from crib_play.web.tables import wake


def prepare_rules(games: Sequence[str]) -> None:
    """Compile what plays these games."""
    for game in games:
        kind = table_game(game)
        session = Session.begin(kind, [None] * kind.players, seed=0)
        session.sight(session.seat)
        session.act(session.seat, session.game.legal_actions[: session.to_choose])


def prepare_advice(games: Sequence[str]) -> None:
    """Compile what judges every choice in these games."""
    for game in games:
        kind = table_game(game)
        session = Session.begin(kind, [None] * kind.players, seed=0)
        if why_unjudged(session):
            continue
        for _ in range(kind.players + 1):
            choices(session.game.view(session.seat))
            session.act(session.seat, session.game.legal_actions[: session.to_choose])


def prepare_agent(agent: str, games: Sequence[str]) -> dict[str, str]:
    """Compile what an agent needs for these games; return why it plays some of them not."""
    try:
        loaded = load_agent(agent)
        found = {game: refusal(loaded, GAMES[game]) for game in games}
    except Exception as error:  # whatever an agent's own code raises
        return dict.fromkeys(games, f"{agent} cannot play: {type(error).__name__}: {error}")
    return {game: why for game, why in found.items() if why is not None}


def _session(stored: dict[str, Any]) -> Session:
    seats = [None if name is None else load_agent(name) for name in stored["seats"]]
    return wake(StoredTable(**stored), seats)


def replay(stored: dict[str, Any]) -> str:
    """Return the page of a game that is over."""
    return replay_page(_session(stored), table_game(stored["game"]).title)


def look_back(stored: dict[str, Any], seat: int) -> str:
    """Return the review of a seat's decisions, as JSON."""
    return json.dumps(review_payload(review(_session(stored), seat)))


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task
    for task in (prepare_rules, prepare_advice, prepare_agent, replay, look_back)
}


def main() -> None:
    """Do the tasks on standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what an agent prints is no answer
    for line in sys.stdin:
        task = json.loads(line)
        try:
            answer = {"answer": TASKS[task["task"]](**task["given"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        try:
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
        except BrokenPipeError:  # the server was killed
            os._exit(1)


if __name__ == "__main__":
    main()
