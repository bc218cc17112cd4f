"""The settings that all methods share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from crib_env.rules import TwoHandRules
from crib_env.settings import Count, CountOrNone, Folder, NewFolder, Seed, Whole, checked_dataclass
from crib_training.loading import find_game


@checked_dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings that all methods share.

    Attributes:
        method: the method.
        env: the environment, six_card_v0 or five_card_v0; each episode is one deal.
        decisions: decisions to learn from, of both seats; a decision without a choice does not
            count.
        seed: seed of the deals, the networks and the batches.
        num_envs: deals side by side.
        hidden_sizes: sizes of the hidden layers of each network.
        features: per-action features beside the bits, as in the environments.
        suits: canonical, or ranks: while pegging the policy does not see its discards, so its
            exploitability is exact.
        num_evals: number of measurements of exploitability; 0 for none, as six_card_v0 takes.
        eval_hands: hands per measurement, always the same.
        save_seconds: seconds between checkpoints.
        out: the folder for results.
        resume: the folder of a stopped run to continue.
        progress: show progress.
    """

    method: str = ""
    env: str = "five_card_v0"
    decisions: Count = 10_000_000
    seed: Seed = 1
    num_envs: Count = 256
    hidden_sizes: tuple[Annotated[Whole, Field(ge=1, le=4096)], ...] = (256, 256)
    features: Literal["lookahead", "reply"] | None = "lookahead"
    suits: Literal["canonical", "ranks"] = "canonical"
    num_evals: CountOrNone = 10
    eval_hands: Annotated[Whole, Field(ge=2, le=10_000)] = 40
    save_seconds: Annotated[float, Field(ge=1, le=1e6)] = 300
    out: NewFolder = Path("runs/baseline")
    resume: Folder | None = None
    progress: bool = True

    def __post_init__(self) -> None:
        if not self.hidden_sizes:
            raise ValueError("hidden_sizes must name a size at least, got ()")
        if self.rules.dealt != 5 and self.num_evals:  # it would query every hand of six cards
            raise ValueError(f"num_evals must be 0 in {self.env}, got {self.num_evals}: "
                             "exploitability is measured in five_card_v0; use crib evaluate "
                             "on the policy")  # fmt: skip

    @property
    def rules(self) -> TwoHandRules:
        """The rules of the game."""
        maker, rules = find_game(self.env)
        if maker.phase is not None or not isinstance(rules, TwoHandRules):
            raise ValueError(f"{self.method} learns whole deals of two hands: env must be "
                             f"six_card_v0 or five_card_v0, got {self.env!r}")  # fmt: skip
        return rules


@checked_dataclass(frozen=True, kw_only=True)
class RolloutSettings(RunSettings):
    """Settings of methods that play some decisions in every lane between updates.

    Attributes:
        steps: decisions per lane between updates.
    """

    steps: Count = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_envs * self.steps < 2:
            raise ValueError("num_envs times steps must be 2 or more: one decision has no variance")
