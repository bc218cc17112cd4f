"""Opponents for the environments of `crib_env`, found there by name.

``random``, ``greedy`` and ``rule_based`` play every game: six-card and five-card cribbage by the
same code, Table Top by that in ``agents.table_top``. Each is a class whose constructor takes no
arguments; ``crib_env.find_agent("rule_based")`` makes one.
"""

from agents.greedy import GreedyAgent
from agents.learned import LearnedAgent
from agents.phased import PhasedAgent
from agents.random_agent import RandomAgent
from agents.rule_based import RuleBasedAgent

__all__ = ["GreedyAgent", "LearnedAgent", "PhasedAgent", "RandomAgent", "RuleBasedAgent"]
