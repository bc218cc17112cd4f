"""Finds the last statement of an action in a reply.

A statement is a verb of action with what it names (``I'll throw the 5H and the JC``), or a line or
a sentence of nothing else (``5H``). A sentence that denies, supposes or tells of another player
states no action. Without any statement the last sentence that names something counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

LONGEST = 20_000  # characters of a reply that are read, the last ones
WAIT = 4  # other words between a verb and what it names


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
class Grammar:
    """What names an action in a reply to one view."""

    names: re.Pattern[str]
    alone: re.Pattern[str]  # names that count only by themselves or after a verb
    # What a name stands for: actions that it may mean, possibly none that is legal; or None.
    read: Callable[[re.Match[str]], frozenset[int] | None]
    expected: str  # what a reply should name, for the message of one that names nothing
    silent: frozenset[str] = frozenset()  # words that may stand among names besides the usual ones


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS = _words(
    "play discard throw lay toss choose pick lead put place send select drop pitch give answer "
    "action move choice decision plays discards"
)
GERUNDS = _words("playing discarding throwing laying tossing choosing leading placing sending")
SILENT = _words(
    "the a an my i i'll i'd i'm will would shall is are be am to of on in at into it its this that "
    "both two cards card and with final away down now here then cell no number me let let's going "
    "following as for ok okay best crib's away"
) - _words("as for")
STOPS = _words(
    "keep keeping keeps hold holding held hand leave leaving legal options option instead rather "
    "than over because since but while against before after or crib starter count discarded score"
)
DENIES = _words(
    "not never don't dont won't wont cannot can't cant shouldn't wouldn't isn't avoid without nor "
    "neither didn't refuse"
)
SUPPOSES = _words(
    "if when could might may should unless suppose would've had he she they opponent opponents "
    "pone partner dealer player_0 player_1 player_2 player_3 who you your their his her"
)
TURNS = _words("but so instead then therefore thus hence")
ENDS = ".!?;\n"
JOINS = ",&+()[]*_`'\"-:<>/#|={}~"


@dataclass
class _Scan:
    """What has been read of a reply so far."""

    stated: list[frozenset[int]] = field(default_factory=list)  # by the last statement
    named: list[frozenset[int]] = field(default_factory=list)  # in the last sentence with a name
    here: list[frozenset[int]] = field(default_factory=list)  # in this sentence
    run: list[frozenset[int]] = field(default_factory=list)  # after the last verb, or bare
    bare: bool = True  # nothing but names in this sentence yet
    verb: str = ""
    waited: int = 0
    denies: bool = False
    supposes: bool = False

    def close(self) -> None:
        """End a statement, if there is one."""
        if self.run and self.verb and not (self.denies or self.supposes):
            self.stated = self.run
        self.run, self.verb = [], ""

    def end(self) -> None:
        """End a sentence."""
        if self.bare and self.run:
            self.stated, self.run = self.run, []
        self.close()
        if self.here and not (self.denies or self.supposes):
            self.named = self.here
        elif self.here:
            self.named = []
        self.here, self.run, self.bare, self.denies, self.supposes = [], [], True, False, False


def last_statement(reply: str, grammar: Grammar) -> list[frozenset[int]]:
    """Return what the last statement of an action names: possible actions by name."""
    text = reply[-LONGEST:].replace("’", "'").replace("\ufe0f", "")
    tagged = text.lower().rfind("<action>")
    if tagged >= 0:
        text = re.split(r"</?action>", text[tagged + 8 :], maxsplit=1, flags=re.IGNORECASE)[0]
    scan = _Scan()
    at = 0
    while at < len(text):
        at = _read_token(text, at, grammar, scan)
    scan.end()
    found = scan.stated or scan.named
    if not found:
        raise ReplyError("missing", f"Your reply names no choice. {grammar.expected}")
    return found


def _read_token(text: str, at: int, grammar: Grammar, scan: _Scan) -> int:
    """Read a name, a word or a mark; return where the next begins."""
    alone = scan.verb or (scan.bare and not scan.here)
    patterns = (grammar.names, grammar.alone) if alone or scan.run else (grammar.names,)
    for pattern in patterns:
        found = pattern.match(text, at)
        actions = grammar.read(found) if found else None
        if found and actions is not None:
            scan.here.append(actions)
            if scan.verb or scan.bare:
                scan.run.append(actions)
            return found.end()
    word = re.compile(r"[\w']+").match(text, at)
    if word is None:
        mark = text[at]
        if mark in ENDS:
            scan.end()
        elif mark == ",":
            scan.supposes = scan.supposes and bool(scan.run)
        elif not (mark.isspace() or mark in JOINS):
            scan.bare = scan.bare and not scan.here
        return at + 1
    _read_word(word[0].lower().strip("'_"), grammar, scan)
    return word.end()


def _read_word(word: str, grammar: Grammar, scan: _Scan) -> None:
    if word in DENIES:
        scan.close()
        scan.denies, scan.bare = True, False
    elif word in TURNS:
        scan.close()
        scan.denies = scan.supposes = scan.bare = False
    elif word in SUPPOSES:
        scan.close()
        scan.supposes, scan.bare = True, False
    elif word in VERBS or word in GERUNDS:
        scan.close()
        scan.verb, scan.waited, scan.bare = word, 0, False
    elif word in SILENT or word in grammar.silent or not word:
        return
    elif scan.run:
        if scan.verb in GERUNDS and word not in STOPS:  # "playing 5H would give a run"
            scan.run, scan.verb = [], ""
        scan.close()
        scan.bare = False
    elif word in STOPS:
        scan.verb, scan.bare = "", False
    else:
        scan.bare = False
        scan.waited += 1
        if scan.waited > WAIT:
            scan.verb = ""
