"""The games of the tables, by name."""

from __future__ import annotations

from dataclasses import dataclass

from crib_env.engine.family import find_family
from crib_env.errors import unknown
from crib_env.parts import find_part
from crib_env.rules import Rules
from crib_play.table.family import TableFamily


@dataclass(frozen=True)
class TableGame:
    """A game to sit down to.

    Attributes:
        name: what a command line calls it.
        title: what a screen calls it.
        rules: the rules as a word, such as ``"hoyle"`` or ``"four_hand[partners=False]"``.
        players: how many sit down.
        episode: what one sitting is.
        about: one sentence for those who do not know it.
    """

    name: str
    title: str
    rules: str
    players: int
    episode: str
    about: str

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of each seat."""
        rules = Rules.preset(self.rules)
        return find_family(rules.engine).sides_under(rules, self.players)

    @property
    def has_partners(self) -> bool:
        """Whether one plays with a partner."""
        return len(set(self.sides)) < self.players

    @property
    def family(self) -> TableFamily:
        """What the table knows of its family."""
        family: TableFamily = find_part("table", Rules.preset(self.rules).family)
        return family


GAMES: dict[str, TableGame] = {
    game.name: game
    for game in (
        TableGame("six", "Six-card cribbage", "hoyle", 2, "game", "The game of today, to 121."),
        TableGame(
            "match", "Six-card match", "hoyle", 2, "match",
            "Games to 121, skunks counted, to seven game points.",
        ),
        TableGame(
            "five", "Five-card cribbage", "five_card", 2, "game",
            "The old game, to 61: one count to 31, three for last.",
        ),
        TableGame(
            "three", "Three hands", "three_hand", 3, "game",
            "Three players, five cards each: one goes to the crib. Each plays alone, to 121.",
        ),
        TableGame(
            "four", "Four hands", "four_hand", 4, "game",
            "Partners sit opposite each other and score together, to 121.",
        ),
        TableGame(
            "cut-throat", "Four hands, cut-throat", "four_hand[partners=False]", 4, "game",
            "Four players, each plays alone, to 121.",
        ),
        TableGame(
            "table-top", "Table Top", "table_top", 2, "game",
            "Cards on a five by five layout: one side scores the rows, the other the columns.",
        ),
        TableGame(
            "partners", "Table Top for four", "table_top", 4, "game",
            "Two partnerships; partners sit opposite and see each other's card in turn.",
        ),
        TableGame(
            "ship", "Ship's variation", "table_top_ship", 2, "game",
            "Any vacant cell will do; only the difference scores, to 31.",
        ),
        TableGame(
            "ship-partners", "Ship's variation for four", "table_top_ship", 4, "game",
            "Ship's variation in two partnerships.",
        ),
    )
}  # fmt: skip


def table_game(name: str) -> TableGame:
    """Return a game by name.

    Raises:
        ValueError: there is none; the message lists those there are.
    """
    if name not in GAMES:
        raise unknown("game", name, GAMES)
    return GAMES[name]
