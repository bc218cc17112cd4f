"""A toy deal solved exactly: the linear programme over the sequences of both seats.

Koller, Megiddo, von Stengel (1996): a seat's plan gives each of its sequences of actions a weight;
the guaranteed value of a plan is a linear programme, whose dual is the other seat's plan.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack

from .deal_tree import Action, Key, State, Strategy, Toy

ROOT = 0


class SequenceForm:
    """A toy deal as matrices.

    Attributes:
        payoff: pone's points by sequence of pone and of the dealer, times the deal's probability.
        sequences: for each seat the number of a sequence by key and action; `ROOT` is the empty.
        parents: for each seat the sequence that leads to a key.
    """

    def __init__(self, toy: Toy) -> None:
        self.sequences: list[dict[tuple[Key, Action], int]] = [{}, {}]
        self.parents: list[dict[Key, int]] = [{}, {}]
        self.actions: dict[Key, list[Action]] = {}
        self.entries: dict[tuple[int, int], float] = defaultdict(float)
        for chance, state in toy.deals:
            self._walk(chance, state, (ROOT, ROOT))
        sizes = [1 + len(numbers) for numbers in self.sequences]
        rows, columns = zip(*self.entries, strict=True)
        values = list(self.entries.values())
        self.payoff = coo_array((values, (rows, columns)), shape=(sizes[0], sizes[1])).tocsr()

    def _walk(self, chance: float, state: State, at: tuple[int, int]) -> None:
        seat = state.player
        if seat is None:
            self.entries[at] += chance * state.payoff()
            return
        key = state.key()
        self.parents[seat].setdefault(key, at[seat])
        assert self.parents[seat][key] == at[seat], "a seat forgot what it did"
        self.actions[key] = state.actions()
        numbers = self.sequences[seat]
        for action in self.actions[key]:
            number = numbers.setdefault((key, action), 1 + len(numbers))
            after = (number, at[1]) if seat == 0 else (at[0], number)
            self._walk(chance, state.after(action), after)

    def constraints(self, seat: int) -> coo_array:
        """Return E, by which a plan x is valid if E x = (1, 0, 0, ...)."""
        rows, columns, values = [0], [ROOT], [1.0]
        for row, (key, parent) in enumerate(self.parents[seat].items(), start=1):
            rows.append(row)
            columns.append(parent)
            values.append(-1.0)
            for action in self.actions[key]:
                rows.append(row)
                columns.append(self.sequences[seat][key, action])
                values.append(1.0)
        shape = (1 + len(self.parents[seat]), 1 + len(self.sequences[seat]))
        return coo_array((values, (rows, columns)), shape=shape).tocsr()

    def solve(self) -> tuple[float, Strategy]:
        """Return the deal's value for pone, and a strategy of both seats that guarantees it."""
        ones, others = self.constraints(0), self.constraints(1)
        payoffs = (self.payoff, -self.payoff.T.tocsr())
        plans, values = [], []
        for mine, theirs, payoff in ((ones, others, payoffs[0]), (others, ones, payoffs[1])):
            # Maximise v[0] over my plan x and the prices v of their keys, with F' v <= A' x.
            bound = hstack([-payoff.T, theirs.T]).tocsr()
            equal = hstack([mine, coo_array((mine.shape[0], theirs.shape[0]))]).tocsr()
            goal = np.zeros(bound.shape[1])
            goal[mine.shape[1]] = -1.0
            first = np.eye(1, mine.shape[0]).ravel()
            bounds = [(0, None)] * mine.shape[1] + [(None, None)] * theirs.shape[0]
            found = linprog(
                goal, A_ub=bound, b_ub=np.zeros(bound.shape[0]), A_eq=equal, b_eq=first, bounds=bounds, method="highs"
            )
            assert found.success, found.message
            plans.append(found.x[: mine.shape[1]])
            values.append(-found.fun)
        assert abs(values[0] + values[1]) < 1e-7, "the two programmes are each other's dual"
        return values[0], self._strategy(plans)

    def _strategy(self, plans: Sequence[np.ndarray]) -> Strategy:  # type: ignore[type-arg]
        def probabilities(key: Key, actions: Sequence[Action]) -> dict[Action, float]:
            seat = key[0]
            weights = [max(0.0, plans[seat][self.sequences[seat][key, one]]) for one in actions]
            total = sum(weights)
            if total < 1e-12:  # the plan never reaches this key
                return dict.fromkeys(actions, 1 / len(actions))
            return {one: w / total for one, w in zip(actions, weights, strict=True)}

        return probabilities
