"""Opponents for the environments of `crib_env`, found there by name.

``random``, ``greedy``, ``rule_based`` and ``learned`` play every game: by one function with two
hands, one with three and four, one at Table Top. ``expert`` plays with two hands and at Table Top.
Each is a class without constructor arguments; ``crib_env.find_agent("rule_based")`` makes one.
"""

from crib_agents.adapters.agent_wrappers import PhasedAgent
from crib_agents.adapters.models import from_sb3, from_torch
from crib_agents.adapters.onnx import from_onnx, to_onnx
from crib_agents.expert import ExpertAgent
from crib_agents.greedy import GreedyAgent
from crib_agents.learned import MonteCarloAgent
from crib_agents.opponent_pool import Pool
from crib_agents.policy_net import PolicyNetAgent, ScoredAgent
from crib_agents.random_agent import RandomAgent
from crib_agents.rule_based import RuleBasedAgent

__all__ = [
    "ExpertAgent",
    "GreedyAgent",
    "MonteCarloAgent",
    "PhasedAgent",
    "PolicyNetAgent",
    "Pool",
    "RandomAgent",
    "RuleBasedAgent",
    "ScoredAgent",
    "from_onnx",
    "from_sb3",
    "from_torch",
    "to_onnx",
]
