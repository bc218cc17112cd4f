"""Opponents for the environments of `crib_env`, found there by name.

``random``, ``greedy``, ``rule_based`` and ``expert`` play every game: six-card and five-card
cribbage by the same code, Table Top by that in ``agents.table_top``. Each is a class whose
constructor takes no arguments; ``crib_env.find_agent("rule_based")`` makes one.
"""

from agents.expert.agent import ExpertAgent
from agents.greedy import GreedyAgent
from agents.learned import LearnedAgent
from agents.phased import PhasedAgent
from agents.random_agent import RandomAgent
from agents.rule_based import RuleBasedAgent

__all__ = [
    "ExpertAgent",
    "GreedyAgent",
    "LearnedAgent",
    "PhasedAgent",
    "RandomAgent",
    "RuleBasedAgent",
]
