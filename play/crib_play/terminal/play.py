"""Sit down at a table in the terminal: `crib play`; with two agents, watch them.

    crib play                           six-card cribbage against expert
    crib play greedy --env table_top_v0
    crib play rule_based --env table_top_v0 --players 4 --partner learned
    crib play expert greedy             expert against greedy

The table calls the counts aloud. Type `?` for the other commands.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, fields, replace
from pathlib import Path
from typing import Any

from crib_agents.loading import ENDINGS, TakesAgents

from crib_env.settings import AgentName, Seat, Seed, checked_dataclass
from crib_play.drill import ask_count
from crib_play.table import Counted, Session, TakesGame, Turn, review
from crib_play.table.advice import Advised, advised, look_back
from crib_play.table.seats import names, sit_down, usual_opponent
from crib_play.terminal.screen import SCORES, TABLES, Screen
from crib_play.user_files import Preferences, Speed, load_preferences, preferences_file, save_preferences

HELP = """
  hint        show what {judge} would do
  best        show {judge}'s value of the eight best choices
  undo        take your last turn back
  coach       show the cost of each turn, or stop showing it
  muggins     count your hands yourself, or stop; what you miss is claimed
  board       show the board with its pegs
  speed N     set the count speed, 1 (fastest) to 3
  keep        save game, opponent, speed, coach and muggins for next time
  quit        leave the table"""
SHOWN = 8  # choices listed by `best`


@checked_dataclass(frozen=True)
class Settings(TakesGame, TakesAgents):
    """Play a game in the terminal, against any agent; with two agents, watch them play.

    Defaults are the saved choices: save with --keep, or type keep at the table.

    Attributes:
        opponent: a level (beginner, casual), or an agent: its name, a file of weights, or
            package.module:Class. The default is expert, with three and four hands learned.
        second: a second agent: the two play, with every card open, and you watch; the second has
            every side but the first.
        partner: your partner with four players; by default the same agent as the opponent.
        seat: your seat; with four players, seats 0 and 2 score the rows.
        seed: the seed of the deals; by default random.
        speed: the count speed, 1 (fastest, without a pause) to 3.
        coach: show the cost of each of your turns.
        muggins: count your hands yourself; an opponent claims what you miss. This is to practise
            counting: the score counts every hand in full.
        keep: save game, opponent, speed, coach and muggins for next time.
    """

    opponent: AgentName | None = None
    second: AgentName | None = None
    _: KW_ONLY
    partner: AgentName | None = None
    seat: Seat = 0
    seed: Seed | None = None
    speed: Speed | None = None
    coach: bool | None = None
    muggins: bool | None = None
    keep: bool = False

    def __post_init__(self) -> None:
        if self.second is None:
            return
        for own in fields(self):  # settings of a person
            changed = getattr(self, own.name) != own.default
            if changed and own.name in ("partner", "seat", "coach", "muggins", "keep"):
                raise ValueError(f"{own.name} is for your own game: leave --{own.name} out to watch two agents")


class Leave(Exception):
    """Raised when the person leaves the table."""


class Player:
    """A person at a terminal; ``chosen`` are the choices that `keep` saves."""

    def __init__(self, session: Session, seat: int, screen: Screen, chosen: Preferences) -> None:
        self.session, self.seat, self.screen, self.chosen = session, seat, screen, chosen
        self.names = names(session, seat)
        self.judge = session.family.judge
        self.counts: list[int] = []  # points missed in each of the player's counts
        self.commands = {
            "hint": self.hint,
            "best": self.best,
            "undo": self.undo,
            "board": self.board,
            "coach": self.coach,
            "muggins": self.muggins,
            "keep": self.keep,
            "help": self.help,
            "?": self.help,
        }

    def play(self) -> None:
        """Play to the end, then look back."""
        self.welcome()
        try:
            while not self.session.over:
                if self.session.waits:
                    self.choose()
                else:
                    self.hear(self.session.answer())
        except (Leave, EOFError, KeyboardInterrupt):
            self.screen.line("")
            self.screen.line("You leave the table.")
        else:
            self.result()
        self.look_back()

    def welcome(self) -> None:
        """Print the game and its players."""
        rules = self.session.game.rules
        sitting = ", ".join(f"{name} in seat {seat}" for seat, name in enumerate(self.names))
        self.screen.title(f"{rules.name} to {rules.target}: {sitting}")
        self.screen.line(f"{self.session.family.how} Type ? for more.", style="dim")
        self.screen.say(self.session.opening, self.names)

    def choose(self) -> None:
        """Ask until the person takes a turn or takes one back."""
        sight = self.session.sight(self.seat)
        own = ("rows", "columns")[self.seat % 2]
        if self.chosen.muggins and own in sight:  # the player counts them
            sight[own] = ["?"] * len(sight[own])
        self.screen.line("")
        TABLES[self.session.family.name](self.screen, sight, self.names)
        view = self.session.game.view(self.seat)
        while True:
            typed = input(f"{self.session.family.ask(view)}> ").strip()
            word, _, rest = typed.lower().partition(" ")
            if word in ("quit", "exit", "q"):
                raise Leave
            try:
                if word == "speed":
                    self.speed(rest)
                elif word in self.commands:
                    self.commands[word]()
                    if word == "undo":
                        return
                elif typed:
                    actions = self.session.family.read(typed, view)
                    self.hear(self.session.act(self.seat, actions))
                    return
            except ValueError as error:
                self.screen.problem(str(error))

    def hear(self, turn: Turn) -> None:
        """Print a turn, its cost if it is the person's and the coach is on, and a new score."""
        self.screen.calls(self.session, turn, self.names, self.counted)
        if turn.seat == self.seat and self.chosen.coach:
            looked = look_back(self.session, len(self.session.turns) - 1)
            if looked and looked.loss > 0:
                cost = f"{100 * looked.loss:.1f} %"
                self.screen.line(f"  coach: that cost {cost}: {looked.best} ({looked.why})")
            elif looked:
                self.screen.line(f"  coach: {self.judge} would have done the same.")
        if turn.counted:
            self.board()

    def counted(self, one: Counted) -> bool:
        """Ask for the count of the player's cards if muggins is on; return whether it asked."""
        if not (self.chosen.muggins and self.session.counts(self.seat, one)):
            return False
        missed = ask_count(one, self.screen)
        if missed is not None:
            self.counts.append(missed)
        if missed is not None and missed > 0:
            self.screen.line(f"  {self.names[self.session.claims(self.seat)]}: {missed} by muggins")
        return True

    # --- commands -------------------------------------------------------------------------------

    def hint(self) -> None:
        """Print the judge's choice."""
        best = self.advised()[0]
        self.screen.line(f"  {self.judge}: {best.text} ({best.why})")

    def best(self) -> None:
        """List the best choices with their values, and say how many are left out."""
        found = self.advised()
        for one in found[:SHOWN]:
            self.screen.line(f"  {100 * one.win:5.1f} %  {one.text}: {one.why}")
        if left := found[SHOWN:]:
            worst = f"{100 * left[-1].win:.1f} %"
            self.screen.line(f"  and {len(left)} more, down to {worst}: crib analyze lists them all")

    def advised(self) -> list[Advised]:
        """Return the choices, the best first."""
        return advised(self.session.family, self.session.game.view(self.seat))

    def undo(self) -> None:
        """Take back the person's last turn and all turns after it."""
        if self.session.undo(self.seat):
            self.screen.line("  taken back")
        else:
            self.screen.problem("you have no turn to take back")

    def board(self) -> None:
        """Show the board."""
        SCORES[self.session.family.name](self.screen, self.session.sight(self.seat), self.names)

    def coach(self) -> None:
        """Turn the coach on or off."""
        self.chosen = replace(self.chosen, coach=not self.chosen.coach)
        self.screen.line(f"  the coach is {'listening' if self.chosen.coach else 'silent'}")

    def muggins(self) -> None:
        """Turn muggins on or off: whether the person counts their own hands."""
        self.chosen = replace(self.chosen, muggins=not self.chosen.muggins)
        own = "yours to count; the score counts them in full whatever you miss"
        self.screen.line(f"  your hands are {own if self.chosen.muggins else 'counted for you'}")

    def speed(self, typed: str) -> None:
        """Set the count speed."""
        given: Any = int(typed) if typed.isdecimal() else typed
        self.chosen = replace(self.chosen, speed=given)
        self.screen.speed = self.chosen.speed

    def keep(self) -> None:
        """Save the choices for next time."""
        problem = save_preferences(self.chosen)
        self.screen.line(f"  not saved: {problem}" if problem else "  saved for next time")

    def help(self) -> None:
        """Show the commands."""
        self.screen.line(f"  {self.session.family.how}{HELP.format(judge=self.judge)}")

    # --- the end --------------------------------------------------------------------------------

    def result(self) -> None:
        """Print the winner."""
        mine = self.session.game.sides[self.seat]
        words = "You have won" if self.session.winner == mine else "You have lost"
        self.screen.title(f"{words}, {self.session.result(mine)}.")

    def look_back(self) -> None:
        """Print how the person counted, and the review."""
        if self.counts:
            right, missed = self.counts.count(0), sum(max(0, one) for one in self.counts)
            self.screen.line(
                f"You counted {right} of {len(self.counts)} right; {missed} claimed by muggins, "
                "which the score leaves out."
            )
        looked = review(self.session, self.seat)
        if not looked.decisions:
            return
        self.screen.title(f"Review: the cost of your decisions, by {self.judge}'s judgement")
        for phase, (n, loss) in looked.by_phase.items():
            self.screen.line(f"  {phase:12} {n:3} decisions, {100 * loss:.2f} % each")
        for one in looked.worst:
            self.screen.line(
                f"  turn {one.turn + 1}: {one.did} cost {100 * one.loss:.1f} %; better: {one.best} ({one.why})"
            )
        if looked.luck is not None:
            self.screen.line(f"  luck: {100 * looked.luck:+.1f} % of a win")


def run(settings: Settings) -> None:
    """Play, or watch."""
    chosen = load_preferences().with_those_given(speed=settings.speed, coach=settings.coach, muggins=settings.muggins)
    kind = settings.table_game(chosen.game)
    opponent = settings.opponent or usual_opponent(chosen.opponent, kind)
    if opponent.endswith(ENDINGS) and Path(opponent).exists():
        opponent = str(Path(opponent).absolute())  # a saved path must hold from any folder
    screen = Screen(chosen.speed)
    if settings.second is not None:
        first, second = map(settings.trusted, (opponent, settings.second))
        watch(sit_down(kind, None, second, first, settings.seed), screen, kind.title)
        return
    saved, chosen = chosen.opponent, replace(chosen, game=kind.name, opponent=opponent)
    partner = None if settings.partner is None else settings.trusted(settings.partner)
    try:
        session = sit_down(kind, settings.seat, settings.trusted(opponent), partner, settings.seed)
    except ValueError as error:
        if settings.opponent is None and opponent == saved != Preferences().opponent and partner is None:
            raise ValueError(f"{error}; the opponent {opponent} is saved in {preferences_file()}") from error
        raise
    if settings.keep and (problem := save_preferences(chosen)):
        screen.problem(f"not saved: {problem}")
    Player(session, settings.seat, screen, chosen).play()


# --- two agents, with every card open -------------------------------------------------------------


def watch(session: Session, screen: Screen, title: str) -> None:
    """Show the game turn by turn."""
    called = names(session)
    screen.title(f"{title}: {', '.join(called)}")
    screen.say(session.opening, called)
    try:
        while not session.over:
            turn = session.answer()
            if not turn.calls[0].cards:  # cards hidden from the players
                spoken = session.family.spoken(turn.view, turn.actions)
                screen.line(f"  {called[turn.seat]}: {spoken}", style="dim")
                turn = replace(turn, calls=turn.calls[1:])
            screen.calls(session, turn, called)
            if turn.counted:
                SCORES[session.family.name](screen, session.sight(0), called)
    except KeyboardInterrupt:
        screen.line("")
        screen.line("You stop watching.")
        return
    winner = session.winner
    if winner is not None:
        name = called[session.game.sides.index(winner)]
        screen.title(f"{name} wins, {session.result(winner)}.")
