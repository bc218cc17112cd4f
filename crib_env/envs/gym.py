"""The Gymnasium environment: one learner against an opponent."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from crib_env.envs.config import MODES, EnvConfig, Setting
from crib_env.envs.learner import LARGEST_ACTION, UNDECIDED, LearnerBatch, LearnerSettings
from crib_env.envs.opponents import OpponentSpec
from crib_env.envs.renderer import FPS, ShowsGame
from crib_env.envs.spaces import Observation
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event
from crib_env.game import Game, Snapshot
from crib_env.notation import Position
from crib_env.options import check_seed, read_options
from crib_env.policy import Agent, whole_action


class CribbageEnv(ShowsGame, LearnerSettings, gymnasium.Env[Observation, np.int64]):
    """One game for a learner; an opponent plays the other seat inside ``step``.

    The observation is flat; the legal actions are in ``info["action_mask"]`` (int8) and
    `action_masks` (bool, as sb3-contrib's MaskablePPO expects them). The info has the same keys at
    every reset and step, all of NumPy: ``scores`` int64[sides] and ``winner`` (by side, see
    `Game.sides`; -1 if no side won, or not yet), ``skunk`` (1, a double skunk 2, else 0), the
    learner's ``seat``, the number of its ``opponent`` (of several, see `opponent_names`), and the
    ``illegal_action`` that ended the episode or was replaced in this step (-1 if none was, -2 for
    any below 0).

    Its keywords are described at `EnvConfig`; `crib_env.six_card_v0.gym_env` lists them.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": FPS}  # noqa: RUF012

    seat = Setting("_seat")  # the learner's in this episode

    def __init__(self, config: EnvConfig) -> None:
        self._show(config)
        self.batch = batch = LearnerBatch(config, autoreset=False, keeps_events=True)
        self.name = config.spec.name
        self.observation_space = batch.masking.space
        self.action_space = spaces.Discrete(batch.family.actions)
        self._over = True
        self._action = np.zeros(1, dtype=np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode and return the learner's first observation and info.

        Args:
            seed: starts all generators, the opponent's included; None continues with them.
            options: ``decks``, ``dealer`` and ``scores``: see `crib_env.options.read_options`.

        Raises:
            ValueError: an invalid seed or option; nothing has changed then.
        """
        seed = check_seed(seed)
        chosen = read_options(options, self.batch.sides, self.rules.target)
        super().reset(seed=seed)
        if seed is not None:
            self.batch.seed(seed)
        self._over = True  # until the opponent's first moves are made
        self.batch.reset([chosen] if options else None)
        self._over = False
        self._ending = UNDECIDED | {"seat": self.batch.seats[0]}
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the learner's action, then the opponent's; return Gymnasium's five results.

        Raises:
            IllegalActionError: an illegal action with ``on_illegal="raise"``; nothing has changed.
            EpisodeOverError: before a reset, or after the episode's end.
        """
        if self._over:
            raise EpisodeOverError(f"step({action!r}) without a running episode: call reset()")
        batch = self.batch
        if type(action) is not int:
            action = whole_action(action, batch.family.actions)
        inside = 0 <= action < batch.family.actions
        if not inside and batch.config.on_illegal == "raise":
            raise IllegalActionError(batch.family.why_illegal(batch.view(0), int(action)))
        self._action[0] = action if inside else min(max(action, -1), LARGEST_ACTION)
        batch.step(self._action)
        self._over = bool(batch.dones[0])
        if self._over:
            batch.masks[0] = 0
        if self.render_mode == "human":
            self.render()
        info = self._info()
        if self._over:
            info |= {name: by_game[0] for name, by_game in batch.ended().items()}
        return self._observation(), float(batch.rewards[0]), self._over, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are legal, bool[actions]; none after the end."""
        legal: npt.NDArray[np.bool_] = self.batch.masks[0].astype(np.bool_)
        return legal

    @property
    def game(self) -> Game:
        """A copy of the game in its present state, for positions, drawings and trial moves.

        Its events are the points pegged since the learner's last decision.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun()
        batch = self.batch
        game = Game(self.rules, players=self.players, episode=self.episode, family=batch.family)
        position = Position(batch.states, game.rules, game.episode, game.players)
        game.restore(Snapshot(position, batch.history, batch.games.decks))
        return game

    def set_opponent(self, opponent: OpponentSpec) -> None:
        """Replace the opponent at once, also in a running game; for leagues and curricula.

        Args:
            opponent: one, or several with their shares, ``[(opponent, share), ...]``.

        Raises:
            ValueError, TypeError: an invalid opponent or share; nothing has changed.
        """
        self.batch.set_opponent(opponent)

    def view(self) -> np.void:
        """Return the learner's view record.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun()
        return self.batch.view(0)

    @property
    def _seat(self) -> int:
        return int(self.batch.seats[0])

    @property
    def _begun(self) -> bool:
        return self.batch.begun

    def _observation(self) -> Observation:
        batch = self.batch
        return batch.masking.copied(batch.observations[0], batch.masks[0])

    def _info(self) -> dict[str, Any]:
        batch = self.batch
        return {
            "action_mask": batch.masks[0].copy(),
            "scores": batch.scores[0].copy(),
            "opponent": batch.opponents.playing[0],
            **self._ending,
            "illegal_action": batch.illegal[0],
        }

    def _opponents(self) -> Agent:
        return self.batch.opponents[0]

    @property
    def events(self) -> list[Event]:
        """The points pegged since the learner's last decision, in order."""
        return self.batch.events

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores of the present game, by side."""
        return tuple(self.batch.scores[0].tolist())
