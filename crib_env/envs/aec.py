"""The PettingZoo shell: one class that plays any game of a `Family`.

It checks order and legality itself, so no wrapper is needed: the usual ones cost several times what
the game does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from crib_env.answers import whole_action
from crib_env.engine.record import NONE
from crib_env.engine.single import ILLEGAL, single_entries, unpack
from crib_env.envs.access import EnvSnapshot, GameAccess
from crib_env.envs.arrays import note_rules
from crib_env.envs.books import Books
from crib_env.envs.checks import check_choice, choose_render_mode
from crib_env.envs.phase_policy import PhasePolicy
from crib_env.envs.screen import FPS, MODES, Screen, Shows, Sight, Viewer
from crib_env.envs.settings import Setting
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import read_log
from crib_env.game import Game
from crib_env.options import check_seed, read_options


class CribbageAEC(Shows, GameAccess, Books):
    """A card game as an agent-environment cycle.

    Args:
        game: the game that is played, by the family of the reward (`family_for`).
        name: the environment's name with its version, such as ``"six_card_v0"``.
        reward: ``"win"``, +1 or -1 at the episode's end; or ``"points"``, at every step the
            acting side's points less the other's (zero-sum); or in the two-hand games
            ``"expected"`` or ``"expected_at_show"``, see `CribbageEnv`.
        render_mode: None or one of ``metadata["render_modes"]``.
        viewer: whose knowledge is rendered: a seat, ``"all"``, or None for the seat to move.
        on_illegal: ``"terminate"`` ends the episode at reward -1 for the seat that acted, as
            PettingZoo's TerminateIllegalWrapper does; ``"raise"`` an `IllegalActionError`.
        phase_policy: who makes the decisions that this environment leaves out, if any.
    """

    rules = Setting("game.rules")
    players = Setting("game.players")
    episode = Setting("game.episode")
    reward = Setting("_reward")

    def __init__(
        self,
        game: Game,
        name: str,
        *,
        reward: str = "win",
        render_mode: str | None = None,
        viewer: Viewer = None,
        on_illegal: str = "terminate",
        phase_policy: PhasePolicy | None = None,
    ) -> None:
        super().__init__(game.players, game.family.obs_size, game.family.actions)
        for space in self.observation_spaces.values():
            note_rules(space["observation"], game.rules)
        self.metadata: dict[str, Any] = {
            "name": name,
            "render_modes": list(MODES),
            "is_parallelizable": False,
            "render_fps": FPS,
        }
        check_choice("on_illegal", on_illegal, ("terminate", "raise"))
        self.game = game
        self.family = game.family
        self.render_mode = choose_render_mode(render_mode, self.metadata["render_modes"])
        self._screen = Screen(game.family, game.rules, game.players, name, viewer)
        self.on_illegal = on_illegal
        self.phase_policy = phase_policy
        size = game.players * game.family.obs_size + 52
        self.state_space = spaces.Box(0, 1, (size,), np.uint8)
        self._chance = None
        self._observed = NONE  # the seat whose observation the game's arrays hold
        self._seeded = False
        self._taken: list[EnvSnapshot] = []
        self._reward = reward
        self._points = reward != "win"
        self._unit = int(single_entries(game.family).unit(game.record))  # of gain, to a point

    # --- PettingZoo's interface -----------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: starts the generator of all deals and cuts; None goes on with it.
            options: ``decks``, ``dealer`` and ``scores``: see `crib_env.options.read_options`.

        Raises:
            ValueError: a seed or an option that does not fit; nothing has changed then.
        """
        seed = check_seed(seed)
        chosen = read_options(options, self.players, self.rules.target)
        if seed is not None or not self._seeded:
            entropy = np.random.SeedSequence(seed)
            self.game.seed(entropy)
            # Seeded by words: a generator tells what sequence it came of, and so of the deals.
            self._chance = np.random.default_rng(entropy.spawn(1)[0].generate_state(4))
            self._seeded = True
        self.game.start(chosen)
        self._resume()

    def _resume(self) -> None:
        self._taken.clear()
        self.agents = []  # until the phase policy has done its part
        self._play_phase()
        self._open_books()
        self._look(self.game.seat)
        self.agent_selection = self.possible_agents[self._observed]
        if self.game.over:  # a position of an ended game
            self._finish(0)
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Act for ``agent_selection``; a finished agent steps with None, as in any AEC environment.

        Raises:
            IllegalActionError: an illegal action with ``on_illegal="raise"``; nothing has changed.
            EpisodeOverError: there is no episode to step.
        """
        if not self.agents:
            raise EpisodeOverError(
                f"step({action!r}) without a running episode: call reset() first"
            )
        agent = self.agent_selection
        if self._over:
            if action is not None:
                raise EpisodeOverError(
                    f"step({action!r}) after the episode's end: {agent} is done and can only step "
                    "with None; reset() begins a new episode"
                )
            self._was_dead_step(None)
            return
        if type(action) is not int:
            action = whole_action(action, self.family.actions)
        try:
            code = self.game.advance(action)
        except OverflowError:  # a number that no 64 bits hold is no action either
            code = ILLEGAL
        if code < 0:
            if self.on_illegal == "raise":
                view = self.view(self._seat_of[agent])
                raise IllegalActionError(self.family.why_illegal(view, action))
            self._punish(agent)
            self._observed = NONE
            return
        self._cumulative_rewards[agent] = 0.0
        seat, over, gain = unpack(code)
        if self.phase_policy is not None and not over:
            gain += self._play_phase()
            seat, over = self.game.seat, self.game.over
        self._observed = seat
        self.agent_selection = self.possible_agents[seat]
        if over:
            self._finish(gain)
        elif self._points:
            self._pay(gain / self._unit)
        if self.render_mode == "human":
            self.render()

    # --- inside ---------------------------------------------------------------------------------

    def _sight(self) -> Sight | None:
        if not self._seeded:
            return None
        seat = self._seat_of[self.agent_selection]
        told = read_log(self.game.log, include_zero=True)
        return Sight(self.view, seat, self.game.deals, told)

    def _finish(self, gain: float) -> None:
        self._pay(gain / self._unit if self._points else float(self.game.result))
        self._observed = NONE
        self._close_books(truncated=False)

    def _play_phase(self) -> int:
        """Let the phase policy make its decisions; return side 0's points of them less side 1's.

        In units of a point. Where it fails the episode is over: no seat has an action until the
        next reset.
        """
        if self.phase_policy is None:
            return 0
        assert self._chance is not None
        agents, self.agents = self.agents, []
        gain = self.phase_policy.play(self.game, self._chance)
        self.agents = agents
        return gain
