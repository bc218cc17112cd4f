"""What puts a family of games into words, and how a reply names actions.

The answer stands in ``<action>5H</action>``, or all names in the reply count.
Without the tag a reply must name one choice and no other. No grammar is read: "not the 5H" names
the 5H.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from crib_env.arrays import View
from crib_env.rules import Rules

LONGEST = 20_000  # characters of a reply that are read, the last ones
TAGGED = re.compile(r"<action>(.*?)(?:</action>|(?=<action>)|$)", re.IGNORECASE | re.DOTALL)
THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
NUMBERED = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]+(?=\S)", re.MULTILINE)  # lines of a list


@dataclass(frozen=True)
class Words:
    """How a family of games is put into words."""

    state: Callable[[View, Rules], list[str]]  # all that matters to the seat's decision
    news: Callable[[View], list[str]]  # the others' actions since the seat's last decision
    rules: Callable[[View, Rules], str]  # how the game is played, in some 300 words
    ask: Callable[[View], tuple[str, str]]  # the question with the legal actions, and an answer
    chosen: Callable[[View, str], tuple[int, ...]]  # named by a reply, in order, or `ReplyError`


class ReplyError(ValueError):
    """A reply that is no legal action; the message can be sent back to the model.

    Attributes:
        kind: ``"missing"``, ``"ambiguous"`` or ``"illegal"``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[ReplyError], tuple[str, str]]:
        return type(self), (self.kind, str(self))


@dataclass(frozen=True)
class Names:
    """How the legal actions of a view are named.

    Attributes:
        full: a name that stands for one action.
        short: a shorter name; it counts where no full one names a legal action.
        read: returns the actions that a name may mean, legal or not; None if it is no name.
        legal: the legal actions.
        why: returns why what names mean is illegal.
        question: the question that the reply answers, with an example, for messages.
        past: actions made already in the same decision, which a reply may name again.
    """

    full: re.Pattern[str]
    short: re.Pattern[str]
    read: Callable[[re.Match[str]], frozenset[int] | None]
    legal: frozenset[int]
    why: Callable[[frozenset[int]], str]
    question: str
    past: frozenset[int] = frozenset()


def legal_names(reply: str, names: Names) -> list[frozenset[int]]:
    """Return the legal actions that each name in a reply may mean.

    A tagged answer must be legal as a whole; of other replies the legal names count.

    Raises:
        ReplyError: it names nothing, or nothing legal.
    """
    text = reply[-LONGEST:].replace("\ufe0f", "")
    answers = TAGGED.findall(text)
    text = answers[-1] if answers else THOUGHT.sub("", text)
    if len(NUMBERED.findall(text)) > 1:
        text = NUMBERED.sub("", text)
    illegal: frozenset[int] | None = None
    for pattern in (names.full, names.short):
        found = [one for match in pattern.finditer(text) if (one := names.read(match)) is not None]
        found = [one for one in found if not one or not one <= names.past] or found
        bad = [one for one in found if not one & names.legal]
        if len(bad) < len(found) and not (bad and answers):
            return [one & names.legal for one in found if one & names.legal]
        if bad:
            illegal = bad[0] if illegal is None else illegal
            if answers:
                break
    if illegal is None:
        raise ReplyError("missing", f"Your reply names no choice. {names.question}")
    raise ReplyError("illegal", f"{names.why(illegal)}. {names.question}")
