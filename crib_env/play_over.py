"""Plays the deal of a notation line on the engine, so every parsed position is possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.batch import GameBatch
from crib_env.cards import DECK_SIZE, format_card
from crib_env.engine.notation import Deal, Line, Notation, Scores, format_scores
from crib_env.engine.record import NONE
from crib_env.events import Event, read_log
from crib_env.rules import LARGEST_TARGET, Rules

State = npt.NDArray[np.void]

LANE = np.zeros(1, dtype=np.int64)


def play_over(line: Line, notation: Notation) -> State:
    """Return the state that the moves of a line lead to, a record [1]."""
    deal, episode = line.deal, line.episode
    if episode not in notation.one_deal:
        episode = notation.one_deal[0]
    elif line.number > 1:
        raise ValueError(f"an episode of one {episode} has no deal #{line.number}")
    # First to a target that nobody reaches, for what was scored; then as the line has it.
    none = (0,) * len(deal.scores)
    trial = _games(line, replace(line.rules, target=LARGEST_TARGET), episode, none)
    last = _make_moves(trial, deal)
    made = trial.states["scores"][0]
    if trial.states["over"][0] and not deal.over:
        raise ValueError("every card has been used: a game that goes on has its next deal")
    error = ValueError("nobody has won the game, nor is the deal over")
    for before in _scores_before(line, made, last):
        try:
            return _reach(line, notation, before)
        except ValueError as reason:
            error = reason
    raise error


def _reach(line: Line, notation: Notation, before: Scores) -> State:
    """Return the state that the moves lead to from the scores ``before`` the deal."""
    if line.number == 1 and before != line.start:
        raise ValueError(
            f"the scores {format_scores(line.deal.scores)} do not follow from start="
            f"{format_scores(line.start)}: before this first deal they would have been "
            f"{format_scores(before)}"
        )
    board = notation.read_before(line, before)
    games = _games(line, line.rules, line.episode, before)
    state = games.states
    for name, by_side in board.items():
        state[name][:, : len(by_side)] = by_side
    _make_moves(games, line.deal)
    state["start"][:, : len(line.start)] = line.start
    state["deals"] = line.number
    state["given"] = state["given_end"] = 0
    if line.deal.moves or line.number > 1:
        state["gain"] = 0  # paid already
    over, winner = bool(state["over"][0]), int(state["winner"][0])
    if over != line.deal.over:
        raise ValueError("the episode is over" if over else "nobody has won: the episode goes on")
    if winner != (NONE if line.winner is None else line.winner):
        raise ValueError("nobody has won, so there is no winner=" if winner == NONE else
                         f"winner={winner} has won")  # fmt: skip
    rear = line.deal.rear
    if rear and tuple(state["rear"][0, : len(rear)]) != rear:
        raise ValueError(f"the rear pegs must be at {format_scores(state['rear'][0])} after these "
                         f"cards, got {format_scores(rear)}")  # fmt: skip
    return state


def _games(line: Line, rules: Rules, episode: str, scores: Scores) -> GameBatch:
    """Return one game in which the deal of the line has just been dealt."""
    known = line.deal.deck
    deck = known + [card for card in range(DECK_SIZE) if card not in known]
    games = GameBatch(rules, 1, players=line.players, episode=episode, seed=0)
    games.reset(dealer=line.dealer, decks=np.array([deck], dtype=np.int64), scores=scores)
    return games


def _make_moves(games: GameBatch, deal: Deal) -> list[Event]:
    """Make the moves; return what the last one scored."""
    for seat, action, card in deal.moves:
        if games.states["over"][0]:
            raise ValueError(f"{format_card(card)} was used after the end")
        mover = int(games.states["to_move"][0])
        if mover != seat:
            raise ValueError(f"seat {seat} used {format_card(card)} when seat {mover} was to move")
        if games.step(LANE, np.array([action])) is not None:
            raise ValueError(f"a move was not allowed: {games.why_illegal(0, action)}")
    return read_log(games.log) if deal.moves else []


def _scores_before(line: Line, made: Any, last: list[Event]) -> list[Scores]:
    """Return what the scores can have been before the deal, in which ``made`` was scored at most.

    Where the game ends as soon as a side has the target, the last points of the winner are cut off
    there and nothing after them is scored (C5): they moved its peg from the rear to the front.
    """
    scores, rear, w = line.deal.scores, line.deal.rear, line.winner
    if w is None or rear is None:
        return [tuple(peg - int(points) for peg, points in zip(scores, made, strict=False))]
    found = []
    for k, event in enumerate(last):
        if event.seat == w:
            before = [int(made[side]) for side in range(len(scores))]
            for later in last[k:]:
                before[later.seat] -= later.points
            left = [peg - points for peg, points in zip(scores, before, strict=True)]
            left[w] = rear[w] - before[w]
            found.append(tuple(left))
    return found
