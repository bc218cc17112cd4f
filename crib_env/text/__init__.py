"""Games in words, for language models: `prompt` writes a seat's knowledge, `parse` reads replies.

    >>> from crib_env import Game
    >>> from crib_env.text import parse, prompt
    >>> game = Game("hoyle", seed=1)
    >>> print(prompt(game.view(game.seat), game.rules))
    hoyle to 121, you are p1, deal 1, crib p0's
    Score: you 0, p0 0
    Your hand: JS 6H TD 9H 2C 7S
    Discard two of: JS 6H TD 9H 2C 7S
    Answer: <action>5H JC</action>, for example.
    >>> game.step(parse("I'll throw the jack.", game.view(game.seat)))
    []

Both read a view, which holds nothing that its seat may not know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from crib_env.arrays import View
from crib_env.encoding import encode
from crib_env.engine.family import family_of
from crib_env.errors import check_choice, whole_number
from crib_env.policy import SecondDiscards, sample_legal
from crib_env.rules import Rules, as_rules
from crib_env.text import hands, table_top
from crib_env.text.replies import ReplyError as ReplyError

# Each family in words: `state`, `news`, `rules_text`, `ask` and `chosen` of a view.
WORDS: dict[str, ModuleType] = {"two_hand": hands, "many_hand": hands, "table_top": table_top}
ON_FAILURE = ("forfeit", "random", "raise")
STYLES = ("compact", "full")
ANSWER = "Answer: <action>{example}</action>, for example."


def words_of(view: View) -> ModuleType:
    """Return the module that puts the game of a view into words."""
    return WORDS[family_of(view).name]


def prompt(view: View, rules: str | Rules, style: str = "compact") -> str:
    """Return the knowledge of a view's seat in words, and its legal actions by name.

    Args:
        view: a view of a seat to move, as ``env.unwrapped.view()`` returns it.
        rules: the rules that are played, or their name.
        style: ``"compact"``, at most 120 tokens (`count_tokens`), or ``"full"``, which explains the
            game and lists the others' actions since the seat's last decision.

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
        lines = [words.rules_text(view, played), "", *words.news(view), *lines]
    return "\n".join(lines)


def describe(view: View, rules: str | Rules) -> str:
    """Return the knowledge of a view's seat while another seat is to move."""
    return "\n".join([*words_of(view).state(view, as_rules(rules)), "Another player is to move."])


def parse_actions(reply: str, view: View) -> tuple[int, ...]:
    """Return the actions that a reply names, the first to be made now; see `parse`."""
    chosen: tuple[int, ...] = words_of(view).chosen(view, reply)
    return chosen


def parse(reply: str, view: View) -> int:
    """Return the action that a reply names.

    The last answer in ``<action>...</action>`` counts, so a model may reason before it. A reply
    without one must name one legal choice and no other. Of two cards to discard this is the first;
    `parse_actions` has both, and a `Reader` remembers the second.

    Args:
        reply: the model's text.
        view: the view that it was shown.

    Raises:
        ReplyError: the reply names no action, several, or an illegal one. Its message can be sent
            back to the model.
    """
    return parse_actions(reply, view)[0]


def count_tokens(text: str) -> int:
    """Return how many words and marks a text has: a plain count that depends on no model."""
    return len(re.findall(r"\w+|[^\w\s]", text))


@dataclass
class Tally:
    """Counts of replies and tokens."""

    decisions: int = 0  # actions chosen by replies, by memory or at random
    replies: int = 0  # read
    missing: int = 0  # of them, those that named no action
    ambiguous: int = 0  # those that could mean several
    illegal: int = 0  # those that named an illegal action
    failed: int = 0  # decisions for which no reply was good
    random: int = 0  # of them, those that were then drawn at random
    errors: int = 0  # replies that never came: the server failed
    prompt_tokens: int = 0  # sent, by `count_tokens`
    reply_tokens: int = 0  # received
    seconds: float = 0.0  # spent waiting for replies

    def add(self, other: dict[str, Any]) -> None:
        """Add the counts of another tally, given as a dict."""
        for name, value in other.items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Reader:
    """Reads replies, remembers the second card of a discard, and counts."""

    retries: int = 2  # how many more replies a decision may take
    on_failure: str = "forfeit"  # after the last bad one: one of `ON_FAILURE`
    tally: Tally = field(default_factory=Tally)
    _later: SecondDiscards = field(default_factory=SecondDiscards, repr=False)

    def __post_init__(self) -> None:
        self.retries = whole_number("retries", self.retries, 0)
        check_choice("on_failure", self.on_failure, ON_FAILURE)

    def remembered(self, view: View) -> int | None:
        """Return the card that an earlier reply named for this decision, None if there is none."""
        card = self._later.take(view)
        if card is not None:
            self.tally.decisions += 1
        return card

    def read(self, reply: str, view: View) -> int:
        """Return the action that a reply names, and store its further actions; count errors."""
        self.tally.replies += 1
        self.tally.reply_tokens += count_tokens(reply)
        try:
            action, *later = parse_actions(reply, view)
        except ReplyError as error:
            setattr(self.tally, error.kind, getattr(self.tally, error.kind) + 1)
            raise
        self.tally.decisions += 1
        if later:
            self._later.put(view, action, later[0])
        return action

    def give_up(self, view: View, rng: np.random.Generator) -> int | None:
        """Count a decision without a good reply; by `on_failure` return a random action or None."""
        self.tally.failed += 1
        if self.on_failure != "random":
            return None
        self.tally.random += 1
        self.tally.decisions += 1
        return int(sample_legal(encode(view)[1][0], rng))
