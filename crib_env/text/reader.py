"""Reads the replies of a model: retries, what happens after the last, and a count of everything."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from typing import Any

from crib_env.errors import check_choice, whole_number
from crib_env.text.replies import ReplyError
from crib_env.text.words import count_tokens, parse_actions, words_of

View = Any

ON_FAILURE = ("forfeit", "random", "raise")
MOST_REMEMBERED = 10_000  # second cards of games that were broken off


@dataclass
class Tally:
    """What was counted.

    Attributes:
        decisions: actions chosen by replies, by memory or at random.
        replies: replies read.
        missing: of them, those that named no action.
        ambiguous: those that could mean several.
        illegal: those that named an illegal action.
        failed: decisions for which no reply was good.
        random: of them, those that were then drawn at random.
        errors: replies that never came: the server failed.
        prompt_tokens: sent, by `count_tokens`.
        reply_tokens: received.
        seconds: spent waiting for replies.
    """

    decisions: int = 0
    replies: int = 0
    missing: int = 0
    ambiguous: int = 0
    illegal: int = 0
    failed: int = 0
    random: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0

    def add(self, other: dict[str, Any]) -> None:
        """Add another count, as ``asdict`` gives it."""
        for name, value in other.items():
            setattr(self, name, getattr(self, name) + value)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        return asdict(self)


@dataclass
class Reader:
    """Reads replies, remembers the second card of a discard, and counts.

    Attributes:
        retries: how many more replies a decision may take.
        on_failure: what follows the last bad one: ``"forfeit"``, ``"random"`` or ``"raise"``.
        tally: the counts.
    """

    retries: int = 2
    on_failure: str = "forfeit"
    tally: Tally = field(default_factory=Tally)
    _later: dict[Hashable, list[int]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.retries = whole_number("retries", self.retries, 0)
        check_choice("on_failure", self.on_failure, ON_FAILURE)

    def remembered(self, view: View) -> int | None:
        """Return the card that an earlier reply named for this decision, None if there is none."""
        key = words_of(view).decision(view) if self._later else None
        if key is None or not (cards := self._later.get(key)):
            return None
        card = cards.pop(0)
        if not cards:
            del self._later[key]
        self.tally.decisions += 1
        return card

    def read(self, reply: str, view: View) -> int:
        """Return the action that a reply names, and remember what it names for later.

        Raises:
            ReplyError: as `crib_env.text.parse`; it is counted.
        """
        self.tally.replies += 1
        self.tally.reply_tokens += count_tokens(reply)
        try:
            action, *later = parse_actions(reply, view)
        except ReplyError as error:
            setattr(self.tally, error.kind, getattr(self.tally, error.kind) + 1)
            raise
        self.tally.decisions += 1
        if later:
            if len(self._later) >= MOST_REMEMBERED:
                self._later.pop(next(iter(self._later)))
            key = words_of(view).decision(view, action)
            self._later.setdefault(key, []).append(later[0])
        return action
