"""How a reply names actions.

The answer stands in ``<action>5H</action>``, or all names in the reply count. Without the tag a
reply must name one choice and no other. Grammar is ignored: "not the 5H" names the 5H.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 20_000  # characters of a reply that are read, the last ones
TAGGED = re.compile(r"<action>(.*?)(?:</action>|(?=<action>)|$)", re.IGNORECASE | re.DOTALL)
THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
NUMBERED = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]+(?=\S)", re.MULTILINE)  # lines of a list


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
    """How the legal actions of a view are named."""

    full: re.Pattern[str]  # a name that stands for one action
    short: re.Pattern[str]  # a shorter name; it counts where no full one names a legal action
    # Returns the actions that a name may mean, legal or not; None if it is no name.
    read: Callable[[re.Match[str]], frozenset[int] | None]
    legal: frozenset[int]  # actions
    why: Callable[[frozenset[int]], str]  # returns why the named actions are illegal
    question: str  # that the reply answers, with an example, for messages
    past: frozenset[int] = frozenset()  # made already in the same decision; may be named again


def legal_names(reply: str, names: Names) -> list[frozenset[int]]:
    """Return the legal actions that each name in a reply may mean; a `ReplyError` if none is.

    A tagged answer must be legal as a whole; of other replies the legal names count.
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
