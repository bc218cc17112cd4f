"""Self-play: what one policy, in both seats, did in a batch of deals, and how well it went."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from crib_training.baselines.games import Games
from crib_training.baselines.policy import Policy


class Rollout(NamedTuple):
    """Decisions of both seats, T in a row in each of N lanes.

    The rows of a lane are one timeline, whichever seat moves. So a seat that acts twice running is
    no special case. ``gains`` and ``values`` are points of seat 0; ``sign`` converts them to the
    mover's.

    Attributes:
        observations: float32[T, N, size]. masks: bool[T, N, actions]. both: float32[T, N, S],
            the input of a critic that sees both hands.
        actions: int64[T, N]. log_probabilities: float32[T, N, actions], of the policy that acted.
        gains: float32[T, N], after the decision and before the next. ended: float32[T, N], 1
            where the deal was over then.
        sign: float32[T + 1, N], 1 where seat 0 moves, -1 where seat 1 does.
        last: float32[N, S], the critic's input after the last row.
    """

    observations: Tensor
    masks: Tensor
    both: Tensor
    actions: Tensor
    log_probabilities: Tensor
    gains: Tensor
    ended: Tensor
    sign: Tensor
    last: Tensor


def both_seats(games: Games) -> Tensor:
    """Return the critic's input: the mover's bits, the other seat's, and a summary of features."""
    observations = torch.from_numpy(games.observations)
    parts = [observations[:, : games.bits], torch.from_numpy(games.others)]
    if games.size > games.bits:
        features = observations[:, games.bits :].view(len(observations), -1, games.actions)
        parts += [features.amax(2), features.amin(2)]
    return torch.cat(parts, 1)


@torch.no_grad()
def collect(games: Games, policy: Policy, steps: int, chance: torch.Generator) -> Rollout:
    """Play both seats with samples of a policy, for ``steps`` decisions in every lane."""
    rows: list[tuple[Tensor, ...]] = []
    for _ in range(steps):
        observations = torch.from_numpy(games.observations)
        masks = torch.from_numpy(games.masks)
        both, sign = both_seats(games), 1.0 - 2.0 * torch.from_numpy(games.movers).float()
        log_probabilities = policy(observations, masks).log_softmax(1)
        actions = torch.multinomial(log_probabilities.exp(), 1, generator=chance)[:, 0]
        gains, ended = games.step(actions.numpy())
        rows.append((observations, masks, both, actions, log_probabilities,
                     torch.from_numpy(gains), torch.from_numpy(ended).float(), sign))  # fmt: skip
    columns = [torch.stack(column) for column in zip(*rows, strict=True)]
    last_sign = 1.0 - 2.0 * torch.from_numpy(games.movers).float()
    columns[-1] = torch.cat([columns[-1], last_sign[None]])
    return Rollout._make([*columns, both_seats(games)])


def gae(rollout: Rollout, values: Tensor, lam: float) -> Tensor:
    """Return generalised advantages along the timeline, for seat 0, float32[T, N].

    Shapes: values float32[T + 1, N].
    """
    advantages = torch.zeros_like(rollout.gains)
    trace = torch.zeros_like(rollout.gains[0])
    for t in reversed(range(len(advantages))):
        goes_on = 1 - rollout.ended[t]
        delta = rollout.gains[t] + goes_on * values[t + 1] - values[t]
        trace = delta + lam * goes_on * trace
        advantages[t] = trace
    return advantages


def flatten(*tensors: Tensor) -> list[Tensor]:
    """Return tensors [T, N, ...] as [T * N, ...]."""
    return [one.flatten(0, 1) for one in tensors]
