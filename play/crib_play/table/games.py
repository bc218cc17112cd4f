"""The games and the families of games that have a table, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crib_env.errors import unknown
from crib_env.registration import env_module
from crib_env.rules import Rules
from crib_env.settings import EnvName
from crib_play.table import hands, table_top
from crib_play.table.family import TableFamily


@dataclass(frozen=True)
class TableGame:
    """A game to sit down to."""

    name: str  # its key in pages and stored games
    title: str  # its name on screen
    rules: str  # as a word, such as "hoyle" or "four_hand[partners=False]"
    players: int
    episode: str = "game"

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of each seat."""
        rules = Rules.preset(self.rules)
        return rules.sides_for(self.players)

    @property
    def has_partners(self) -> bool:
        """Whether seats have partners."""
        return len(set(self.sides)) < self.players

    @property
    def family(self) -> TableFamily:
        """The table functions of its family."""
        return FAMILIES[Rules.preset(self.rules).family]


GAMES: dict[str, TableGame] = {
    game.name: game
    for game in (
        TableGame("six", "Six-card cribbage", "hoyle", 2),
        TableGame("match", "Six-card match", "hoyle", 2, "match"),
        TableGame("five", "Five-card cribbage", "five_card", 2),
        TableGame("three", "Three hands", "three_hand", 3),
        TableGame("four", "Four hands", "four_hand", 4),
        TableGame("cut-throat", "Four hands, cut-throat", "four_hand[partners=False]", 4),
        TableGame("table-top", "Table Top", "table_top", 2),
        TableGame("partners", "Table Top for four", "table_top", 4),
        TableGame("ship", "Ship's variation", "table_top_ship", 2),
        TableGame("ship-partners", "Ship's variation for four", "table_top_ship", 4),
    )
}


def table_game(name: str) -> TableGame:
    """Return a game by name."""
    if name not in GAMES:
        raise unknown("game", name, GAMES)
    return GAMES[name]


@dataclass(frozen=True, kw_only=True)
class TakesGame:
    """The base of the settings of commands that play a game at a table.

    Attributes:
        env: the environment whose game to play, such as three_hand_v0; by default six_card_v0, or
            the saved game for crib play and Table Top for crib drill table-top.
        rules: a preset other than the environment's own, or a preset with changes:
            table_top_ship, four_hand[partners=False].
        players: how many play, by default the fewest the rules allow.
        episode: one game, the default, or a match of several.
    """

    env: EnvName | None = None
    rules: str | None = None
    players: Literal[2, 3, 4] | None = None
    episode: Literal["game", "match"] | None = None

    def table_game(self, default: str = "six") -> TableGame:
        """Return the game that these settings name, the default where they name none."""
        episode: str = self.episode or "game"
        players: int | None = self.players
        if (self.env, self.rules, self.players) == (None,) * 3:
            kind = table_game(default)
            episode, players, rules = self.episode or kind.episode, kind.players, Rules.preset(kind.rules)
        else:
            maker = env_module(self.env or "six_card_v0").maker
            if maker.phase is not None:
                why = "is one phase of a deal, for learners, and has no table: name six_card_v0"
                raise ValueError(f"{maker.name} {why}")
            rules = maker.find_rules(self.rules)
        same = [one for one in GAMES.values() if Rules.preset(one.rules) == rules]
        for game in same:
            if game.episode == episode and players in (None, game.players):
                return game
        known = "; ".join(f"{one.rules}, {one.players} players, {one.episode}" for one in same or GAMES.values())
        seats = "" if players is None else f", {players} players"
        raise ValueError(f"there is no table for {rules.name}{seats}, {episode}: there are tables for {known}")


FAMILIES: dict[str, TableFamily] = {
    family.name: family for family in (hands.TWO_HAND, hands.MANY_HAND, table_top.FAMILY)
}
