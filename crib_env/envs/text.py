"""The environments in words: a Gymnasium form and an AEC form over `crib_env.text`.

    gymnasium.make("crib_env/SixCardText-v0", opponent="rule_based")
    crib_env.envs.text.text_aec("six_card_v0")

Observations are prompts and actions are replies. A reply that is no legal action is answered by the
same prompt with the reason, at reward 0, up to ``retries`` times. Then ``on_failure`` decides.
"""

from __future__ import annotations

import string
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper

from crib_env.envs.aec import CribbageAEC
from crib_env.envs.gym import CribbageEnv
from crib_env.errors import EpisodeOverError, check_choice
from crib_env.registration import env_module
from crib_env.text import STYLES, Reader, ReplyError, Tally, describe, prompt

LONGEST_PROMPT, LONGEST_REPLY = 20_000, 20_000
PROMPTS = spaces.Text(LONGEST_PROMPT, min_length=1, charset=string.printable)
REPLIES = spaces.Text(LONGEST_REPLY, min_length=0, charset=string.printable)
OVER = "The episode is over. Scores by side: {scores}."
NO_ACTION = -1  # illegal everywhere
# Keywords with the only value that text forms accept, and why.
INSTEAD = {
    "on_illegal": ("terminate", "on_failure says what follows a reply that is no legal action"),
    "suits": ("real", "prompts name the cards themselves"),
}


class _Replies:
    """The treatment of replies in both forms.

    After the last bad reply ``"forfeit"`` ends the episode at `illegal_reward`, ``"random"`` plays
    a random legal action, ``"raise"`` raises the `ReplyError`.
    """

    def __init__(self, style: str, retries: int, on_failure: str) -> None:
        check_choice("style", style, STYLES)
        self.style, self.reader = style, Reader(retries, on_failure)
        self._rng = np.random.default_rng()
        self.reset(None)

    def reset(self, seed: int | None) -> None:
        """Begin an episode; without a seed the generator continues."""
        self.error, self._bad = "", 0
        if seed is not None:
            self._rng = np.random.default_rng(seed)

    def shown(self, view: Any, rules: Any) -> str:
        """Return the prompt, with the error of the last reply."""
        return prompt(view, rules, self.style) + (f"\n\n{self.error}" if self.error else "")

    def action(self, reply: str, view: Any) -> int | None:
        """Return the action of a reply; None if another reply is due."""
        try:
            action = self.reader.read(str(reply), view)
        except ReplyError as error:
            self.error, self._bad = str(error), self._bad + 1
            if self._bad <= self.reader.retries:
                return None
            drawn = self.reader.give_up(view, self._rng)
            if self.reader.on_failure == "raise":
                raise
            action = NO_ACTION if drawn is None else drawn
        self.error, self._bad = "", 0
        return action


class TextEnv(gymnasium.Env[str, str]):
    """One game of a learner in words; ``info`` is that of the wrapped ``env``, plus ``error``."""

    observation_space, action_space = PROMPTS, REPLIES

    def __init__(self, env: CribbageEnv, replies: _Replies) -> None:
        self.env, self._replies = env, replies
        self.metadata, self.render_mode = env.metadata, env.render_mode

    @property
    def tally(self) -> Tally:
        """Counts since the environment was made."""
        return self._replies.reader.tally

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode; see `CribbageEnv.reset`."""
        _, info = self.env.reset(seed=seed, options=options)  # checks the seed
        super().reset(seed=seed)
        self._replies.reset(seed)
        return self._prompt(False), self._info(info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Act by a reply; the second of two cards to discard is played in the same step."""
        env, replies = self.env, self._replies
        if env._over:
            raise EpisodeOverError("step() without a running episode: call reset()")
        chosen = replies.action(action, env.view())
        if chosen is None:
            return self._prompt(False), 0.0, False, False, self._info(env._info())
        total, over = 0.0, False
        later: int | None = chosen
        while later is not None:
            _, reward, over, _, info = env.step(later)
            total += reward
            later = None if over else replies.reader.remembered(env.view())
        return self._prompt(over), total, over, False, self._info(info)

    def render(self) -> Any:
        """Return or show the game, as the wrapped environment does."""
        return self.env.render()

    def close(self) -> None:
        """Close the wrapped environment."""
        self.env.close()

    def _prompt(self, over: bool) -> str:
        if over:
            return OVER.format(scores=", ".join(map(str, self.env.scores)))
        return self._replies.shown(self.env.view(), self.env.rules)

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"error": self._replies.error}


class TextAEC(BaseWrapper[str, str, "str | None"]):
    """A game in words as an agent-environment cycle; a waiting seat observes its knowledge."""

    def __init__(self, env: CribbageAEC, style: str, retries: int, on_failure: str) -> None:
        super().__init__(env)
        self.game_env = env
        self._replies_of = {agent: _Replies(style, retries, on_failure) for agent in env.possible_agents}

    @property
    def tallies(self) -> dict[str, Tally]:
        """Counts for each agent since the environment was made."""
        return {agent: one.reader.tally for agent, one in self._replies_of.items()}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of prompts."""
        return PROMPTS

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of replies."""
        return REPLIES

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode; see `CribbageAEC.reset`."""
        self.game_env.reset(seed=seed, options=options)
        for seat, replies in enumerate(self._replies_of.values()):
            replies.reset(None if seed is None else seed + seat)

    def observe(self, agent: str) -> str:
        """Return the prompt if the agent is to move, else its knowledge in words."""
        env = self.game_env
        env._check_begun()
        if env._over:
            return OVER.format(scores=", ".join(map(str, env.scores)))
        view = env.view(env.possible_agents.index(agent))
        if agent == env.agent_selection:
            return self._replies_of[agent].shown(view, env.rules)
        return describe(view, env.rules)

    def last(self, observe: bool = True) -> tuple[str | None, float, bool, bool, dict[str, Any]]:
        """Return ``agent_selection``'s observation, reward since it last acted, ends and info."""
        _, *others = self.game_env.last(False)
        agent = self.game_env.agent_selection
        seen: Any = (self.observe(agent) if observe else None, *others)
        return seen  # type: ignore[no-any-return]

    def step(self, action: str | None) -> None:
        """Act by a reply; the second of two cards to discard is played in the same step."""
        env, agent = self.game_env, self.game_env.agent_selection
        if action is None or env._over:
            env.step(action)  # type: ignore[arg-type]  # after the end it raises
            return
        replies, seat = self._replies_of[agent], env.possible_agents.index(agent)
        chosen = replies.action(action, env.view(seat))
        if chosen is None:
            env.rewards = dict.fromkeys(env.agents, 0.0)
            env._cumulative_rewards[agent] = 0.0
            return
        later: int | None = chosen
        earned = 0.0
        while later is not None:
            env.step(later)
            env._cumulative_rewards[agent] += earned
            earned = env._cumulative_rewards[agent]
            same = env.agent_selection == agent and not bool(env._over)
            later = replies.reader.remembered(env.view(seat)) if same else None


def text_env(
    environment: str, *, style: str = "compact", retries: int = 2, on_failure: str = "forfeit", **keywords: Any
) -> TextEnv:
    """Return the Gymnasium form of an environment in words.

    Args:
        environment: its name, such as ``"six_card_v0"``.
        style: ``"compact"`` or ``"full"``; see `crib_env.text.prompt`.
        retries: how many more replies a decision may take.
        on_failure: ``"forfeit"``, ``"random"`` or ``"raise"``.
        keywords: those of ``gym_env``, such as ``opponent``; those in `INSTEAD` have one value.

    Raises:
        ValueError: a value that a text form does not accept.
    """
    replies = _Replies(style, retries, on_failure)
    return TextEnv(env_module(environment).maker.gym_env(**_fitting(keywords)), replies)


def text_aec(
    environment: str, *, style: str = "compact", retries: int = 2, on_failure: str = "forfeit", **keywords: Any
) -> TextAEC:
    """Return the PettingZoo form of an environment in words; see `text_env` and ``env``."""
    env = env_module(environment).maker.env(**_fitting(keywords))
    return TextAEC(env, style, retries, on_failure)


def _fitting(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of the wrapped environment; refuse values other than `INSTEAD`'s."""
    for name, (value, why) in INSTEAD.items():
        if keywords.get(name, value) != value:
            raise ValueError(f"{name}={keywords[name]!r} does not go with words: {why}")
    return keywords
