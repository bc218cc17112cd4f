"""Past policies as opponents: self-play against a pool, drawn by recency or by results.

A pool copies each policy with `frozen`, so later training does not change it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from types import FunctionType
from typing import Any, Literal

import numpy as np

from crib_agents.adapters.models import SB3Score, TorchScore
from crib_env.arrays import Doubles
from crib_env.errors import check_choice, whole_number
from crib_env.policy import Agent, Opponent, find_agent

By = Literal["recency", "results", "uniform"]
WAYS: tuple[By, ...] = ("recency", "results", "uniform")
ENDING = ("seat", "winner", "opponent")  # keys of the info of an ended episode


class Pool:
    """Policies that a learner plays against, most of them its own past.

    After every few updates, add the policy, sample some of the pool, and hand them to
    ``set_opponent`` of any environment::

        pool = Pool(10, by="results", seed=1)
        pool.add(net, name="update 20")
        envs.set_opponent([("rule_based", 1), *pool.sample(3)])

    Args:
        size: the most policies it holds; the oldest are dropped.
        by: ``"recency"``: a policy is drawn ``decay`` times as often as the next newer one.
            ``"results"``: one is drawn in proportion to the share of games that the learner does
            not win against it, to the power of ``sharpness`` (prioritised fictitious self-play);
            `record` counts the results. ``"uniform"``: all with the same probability.
        decay: from 0 to 1, for ``"recency"``.
        sharpness: 0 or more, for ``"results"``: the greater, the more often the hardest are drawn.
        seed: of the draws.

    Raises:
        ValueError: one of the arguments is out of its range.
    """

    def __init__(
        self, size: int = 20, *, by: By = "recency", decay: float = 0.8, sharpness: float = 1.0, seed: int | None = None
    ) -> None:
        check_choice("by", by, WAYS)
        if not _is_number(decay) or not 0 < decay <= 1:
            raise ValueError(f"decay must be above 0 and at most 1, got {decay!r}")
        if not _is_number(sharpness) or not 0 <= sharpness < np.inf:
            raise ValueError(f"sharpness must be 0 or more, got {sharpness!r}")
        self.size = whole_number("size", size, 1)
        self.by = by
        self.decay = decay
        self.sharpness = sharpness
        self._agents: list[Agent] = []  # the newest last
        self._games: Counter[str] = Counter()
        self._won: dict[str, float] = {}  # by the learner
        self._rng = np.random.default_rng(seed)

    def __len__(self) -> int:
        """Return the number of policies."""
        return len(self._agents)

    def __iter__(self) -> Iterator[Agent]:
        """Yield the policies, the oldest first."""
        return iter(self._agents)

    def add(self, policy: Opponent | Any, name: str | None = None) -> Agent:
        """Add a copy of a policy; if the pool is full, drop the oldest.

        The copy is made by `copy.deepcopy`: later training changes neither its networks nor its
        arrays. An agent that plays by a function is refused, since a function cannot be copied with
        the variables that it reads. Past policies usually draw their actions:
        ``from_torch(net, sample=True, ...)``.

        Args:
            policy: anything that an environment takes as its opponent.
            name: its name in results, unique in the pool; by default the policy's own.

        Returns:
            the agent in the pool.

        Raises:
            ValueError: a name that is in the pool already, or a policy that cannot be copied.
            TypeError: the value is no agent and cannot be converted to one.
        """
        if name is not None and not _is_name(name):
            raise ValueError(f"name must be a text of one letter or more, got {name!r}")
        agent = frozen(find_agent(policy))
        if name is not None:
            agent.name = name
        if any(agent.name == other.name for other in self._agents):
            raise ValueError(
                f"a policy named {agent.name!r} is in the pool already: "
                'pool.add(policy, name=f"update {n}") tells them apart'
            )
        self._agents.append(agent)
        for dropped in self._agents[: -self.size]:
            self._games.pop(dropped.name, None)
            self._won.pop(dropped.name, None)
        del self._agents[: -self.size]
        return agent

    def record(self, envs: Any, dones: Any, info: Any) -> None:
        """Note the winners of the episodes that a step ended; see ``"results"``.

        Args:
            envs: the environment: Gymnasium, vector, tensors or Stable-Baselines3.
            dones: whether the episode ended, as its step returned it; of N games [N].
            info: the step's info; with Stable-Baselines3 the list of infos.

        Raises:
            ValueError: an opponent has the name of a policy in the pool, but is not that policy.
        """
        names, batch = envs.unwrapped.opponent_names, envs.unwrapped.batch
        policies = {agent.name: agent for agent in self._agents}
        for agent in batch.opponents.agents:
            if policies.get(agent.name, agent) is not agent:
                raise ValueError(
                    f"an opponent is called {agent.name!r}, as a policy in the pool is, so their "
                    "results cannot be told apart: name it otherwise, such as "
                    "from_torch(net, name=...), or the policy: pool.add(net, name=...)"
                )
        for seat, winner, opponent in zip(*_endings(dones, info), strict=True):
            self.note(names[opponent], 0.5 if winner < 0 else float(winner == batch.sides[seat]))

    def note(self, name: str, won: float) -> None:
        """Note one episode against a policy; one that is not in the pool is ignored.

        Args:
            name: the policy's name.
            won: 1 if the learner won, 0 if it lost, a half if neither did.

        Raises:
            ValueError: ``won`` is not from 0 to 1.
        """
        if not _is_number(won) or not 0 <= won <= 1:
            raise ValueError(f"won must be from 0 to 1, got {won!r}")
        if any(name == agent.name for agent in self._agents):
            self._games[name] += 1
            self._won[name] = self._won.get(name, 0.0) + won

    def win_rates(self) -> dict[str, float]:
        """Return by name the share of episodes that the learner won, one half before the first.

        One game won and one lost are added to each, so few games do not decide.
        """
        return {
            agent.name: (self._won.get(agent.name, 0.0) + 1) / (self._games[agent.name] + 2) for agent in self._agents
        }

    def probabilities(self) -> Doubles:
        """Return the probability of drawing each policy, float64[len(pool)], the oldest first."""
        weights = np.ones(len(self))
        if self.by == "recency":
            weights *= self.decay ** np.arange(len(self))[::-1]
        elif self.by == "results" and len(self):
            lost = 1 - np.array(list(self.win_rates().values()))
            weights *= (lost / lost.max()) ** self.sharpness
        total: Doubles = weights / weights.sum()
        return total

    def sample(self, count: int = 1) -> list[tuple[Agent, float]]:
        """Return policies with their shares, as ``set_opponent`` takes them.

        Args:
            count: how many to draw, without replacement; all if the pool has no more. Each
                policy costs a call of its network per step.

        Returns:
            ``[(agent, share), ...]``; the shares are equal and add up to 1. If all policies are
            returned, their shares are `probabilities`.

        Raises:
            ValueError: the pool is empty, or a count below 1.
        """
        if not self._agents:
            raise ValueError("the pool is empty: add(policy) first")
        count = whole_number("count", count, 1)
        likely = self.probabilities()
        if count >= np.count_nonzero(likely):
            return [(one, float(p)) for one, p in zip(self._agents, likely, strict=True) if p > 0]
        drawn = self._rng.choice(len(self), count, replace=False, p=likely)
        return [(self._agents[at], 1 / count) for at in sorted(drawn)]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _endings(dones: Any, info: Any) -> list[list[int]]:
    """Return three lists: seat, winner and opponent of each episode that a step ended."""
    ended = np.flatnonzero(np.atleast_1d(np.asarray(dones))).tolist()
    if not ended:
        return [[] for _ in ENDING]
    if isinstance(info, Sequence):
        return [[int(info[lane][key]) for lane in ended] for key in ENDING]
    about = info.get("final_info", info)
    return [np.atleast_1d(np.asarray(about[key]))[ended].tolist() for key in ENDING]


CALLED = (FunctionType, partial)


def frozen(agent: Agent) -> Agent:
    """Return a deep copy of an agent, with its networks, arrays and objects."""
    _refuse_functions(agent, agent)
    try:
        return deepcopy(agent)
    except Exception as error:  # a class may define its copy in any way
        why = " ".join(f"{type(error).__name__}: {error}".split()).partition(". ")[0]
        raise ValueError(
            f"{agent.name!r} cannot be copied ({why}), and without a copy later training changes "
            "it: give an agent that copy.deepcopy can copy, such as from_torch of a module"
        ) from error


def _refuse_functions(agent: Agent, held: Any) -> None:
    """Raise a ValueError if an agent plays by a function, whose variables deepcopy would share."""
    slots = [slot for kind in type(held).__mro__ for slot in getattr(kind, "__slots__", ())]
    for value in [*getattr(held, "__dict__", {}).values(), *(getattr(held, slot, None) for slot in slots)]:
        if isinstance(value, CALLED):
            raise ValueError(
                f"{agent.name!r} plays by a function, and a copy of a function reads the same "
                "variables, so later training changes it: give a module, from_torch of one, or "
                "an agent that holds its networks as attributes"
            )
        if not isinstance(value, type) and isinstance(value, Agent | TorchScore | SB3Score):
            _refuse_functions(agent, value)
