"""A player in plain Python, and how it does against the built-in agents.

    crib tournament examples.plain_player:KeepsFives rule_based random --pairs 500

It implements the two methods of `PlainAgent`, and reads other facts of the deal from ``self.deal``:
no arrays, no compiled code.
"""

from __future__ import annotations

from crib_agents.adapters.plain import PlainAgent

RANKS = "A23456789TJQK"


def pip(card: str) -> int:
    """Return how much a card adds to the count."""
    return min(RANKS.index(card[0]) + 1, 10)


class KeepsFives(PlainAgent):
    """Keeps fives and pairs, and plays for fifteen and thirty-one."""

    name = "keeps_fives"

    def choose_discard(self, hand: list[str], is_dealer: bool, scores: tuple[int, int]) -> list[str]:
        """Discard the two cards that look least useful."""
        ranks = [card[0] for card in hand]

        def use(card: str) -> tuple[bool, int]:
            return card[0] == "5", ranks.count(card[0])

        return sorted(hand, key=use)[:2]

    def choose_card(
        self,
        hand: list[str],
        pile: list[str],
        count: int,
        gone: list[str],
        starter: str,
        is_dealer: bool,
        scores: tuple[int, int],
    ) -> str:
        """Make fifteen or thirty-one, else pair the last card, else play the highest that fits.

        Alone, once the other has said go, the lowest: more cards fit after it.
        """
        fitting = [card for card in hand if count + pip(card) <= 31]
        alone = any(not go.mine and go.after > len(gone) for go in self.deal.gos)

        def use(card: str) -> tuple[bool, bool, int]:
            pairs = bool(pile) and pile[-1][0] == card[0]
            return count + pip(card) in (15, 31), pairs, -pip(card) if alone else pip(card)

        return max(fitting, key=use)
