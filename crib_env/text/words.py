"""Prompts and replies of any game: what a family says of itself, and the two functions over it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.encoding import family_of
from crib_env.errors import check_choice
from crib_env.registration import find_part
from crib_env.rules import Rules, as_rules
from crib_env.text.replies import Grammar, last_statement

View = Any

STYLES = ("compact", "full")
ANSWER = "Answer: <action>{example}</action>, for example."


@dataclass(frozen=True)
class Words:
    """How a family of games is put into words.

    Attributes:
        state: of a view and the rules: lines with all that matters to the seat's decision.
        news: of a view: lines on what others did since the seat's last decision.
        rules: of a view and the rules: how the game is played, in some 300 words.
        ask: of a view: the question with the legal actions by name, and an answer as an example.
        grammar: of a view: what in a reply names an action.
        chosen: of a view and the actions that a statement names: those meant, in order; raises a
            `ReplyError`.
        decision: of a view and an action made in it: what tells the seat's next choice of the same
            decision from all others; None where a decision is one action.
    """

    state: Callable[[View, Rules], list[str]]
    news: Callable[[View], list[str]]
    rules: Callable[[View, Rules], str]
    ask: Callable[[View], tuple[str, str]]
    grammar: Callable[[View], Grammar]
    chosen: Callable[[View, list[frozenset[int]]], tuple[int, ...]]
    decision: Callable[..., Hashable]


def words_of(view: View) -> Words:
    """Return how the game of a view is put into words."""
    found: Words = find_part("words", family_of(np.array(view).reshape(1)).name)
    return found


def prompt(view: View, rules: str | Rules, style: str = "compact") -> str:
    """Return what the seat of a view may know, in words, and its legal actions by name.

    Args:
        view: a view of a seat to move, as ``env.unwrapped.view()`` returns it.
        rules: the rules that are played, or their name.
        style: ``"compact"``, at most 120 tokens (`count_tokens`), or ``"full"``, which explains the
            game and says what others did since the seat's last decision.

    Raises:
        ValueError: no such style, or a view of a seat that is not to move.
    """
    check_choice("style", style, STYLES)
    words, played = words_of(view), as_rules(rules)
    if not view["to_move"]:
        raise ValueError(f"player_{int(view['seat'])} is not to move: there is nothing to choose")
    question, example = words.ask(view)
    lines = [*words.state(view, played), question, ANSWER.format(example=example)]
    if style == "full":
        lines = [words.rules(view, played), "", *words.news(view), *lines]
    return "\n".join(lines)


def describe(view: View, rules: str | Rules) -> str:
    """Return what the seat of a view may know while another seat is to move."""
    return "\n".join([*words_of(view).state(view, as_rules(rules)), "Another player is to move."])


def parse_actions(reply: str, view: View) -> tuple[int, ...]:
    """Return the actions that a reply names, the first to be made now; see `parse`."""
    words = words_of(view)
    return words.chosen(view, last_statement(reply, words.grammar(view)))


def parse(reply: str, view: View) -> int:
    """Return the action that a reply names.

    The last statement of an action counts, so a model may reason before it. Of two cards to discard
    this is the first; `parse_actions` has both, and a `Reader` remembers the second.

    Args:
        reply: what the model wrote.
        view: the view that it was shown.

    Raises:
        ReplyError: the reply names no action, several, or an illegal one. Its message can be sent
            back to the model.
    """
    return parse_actions(reply, view)[0]


def count_tokens(text: str) -> int:
    """Return how many words and marks a text has: a plain count that depends on no model."""
    return len(re.findall(r"\w+|[^\w\s]", text))
