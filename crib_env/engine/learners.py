"""A learner's games, stepped in compiled code: its action, the others', reward, end, observation.

One compiled opponent plays inside one pass over the games (`LearnerEntries.step_range`). Where a
policy plays a phase of the deal for both seats, or opponents differ from game to game, a pass takes
the learners' actions and lists the games that wait for others, and another plays these up to the
learner's next decision (`LearnerEntries.take_turns`). An illegal action of the learner ends the
episode at `Family.illegal_reward`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from numba import float64, int8, int64, void

from crib_env.engine.acts import AGENTS_T, act_caller
from crib_env.engine.entries import FLOATS_T
from crib_env.engine.family import Family, Kernel
from crib_env.engine.jit import Entry, entry, kernel
from crib_env.engine.record import (
    DECKS_T,
    ENDINGS_T,
    FLAGS_T,
    LOG_T,
    MASKS_T,
    NONE,
    OBS_T,
    RNGS_T,
    TABLE_T,
    clear_gains,
    forget_decks,
    keep_log,
    margin,
    win_return,
)
from crib_env.engine.rng import below, next_word

# In place of an action, in games just begun: play the others up to the learner's first decision.
CONTINUE = -(1 << 40)

# Columns of ``endings``: the side that won (NONE if none did, or if an illegal action ended the
# episode), whether an illegal action ended it, the learner's seat, the scores by side.
WINNER, ILLEGAL, SEAT, SCORES = range(4)

# Columns of ``summary``: the same, but ILLEGAL is the illegal action itself (NONE without one,
# BELOW for any below 0), as `illegal_action` of the infos. The winning margin follows the scores.
BELOW = -2

# The others that a game can wait for besides the learner.
OPPONENT, PHASE_POLICY = 0, 1


class LearnerKernels(NamedTuple):
    """The kernels of a family's learners."""

    waits_for: Kernel
    reward: Kernel
    write_ending: Kernel
    begin_again: Kernel


@cache
def learner_kernels(family: Family) -> LearnerKernels:
    """Return the kernels of a family's learners."""
    unit = family.kernels.unit
    begin_episode, has_phases = family.kernels.begin_episode, "phase" in (family.state.names or ())

    @kernel
    def waits_for(s, phase, seat):
        """Return OPPONENT or PHASE_POLICY; NONE if the game waits for the learner or is over."""
        if s["over"]:
            return NONE
        if has_phases and s["phase"] == phase:
            return PHASE_POLICY
        return NONE if s["to_move"] == seat else OPPONENT

    @kernel
    def reward(s, rules, seat, points):
        """Return the reward since the learner's last action: points, or the return at the end."""
        side = rules["side_of"][seat]
        if points:
            return float(margin(s, rules, side)) / ((rules["sides"] - 1) * unit(rules))
        if s["over"] == 0:
            return 0.0
        return win_return(s, rules, side)

    @kernel
    def winner_of(s, rules):
        """Return the side whose return is above 0; NONE if there is none or more than one."""
        winner = NONE
        for side in range(rules["sides"]):
            if win_return(s, rules, side) > 0:
                if winner != NONE:
                    return NONE
                winner = side
        return winner

    @kernel
    def write_ending(s, rules, seat, illegal, ending):
        """Write ``ending``, int64[SCORES + sides]; ``illegal``: an illegal action ended it."""
        ending[WINNER] = NONE if illegal else winner_of(s, rules)
        ending[ILLEGAL] = illegal
        ending[SEAT] = seat
        for side in range(rules["sides"]):
            ending[SCORES + side] = s["scores"][side]

    @kernel
    def begin_again(s, rules, decks, log, seat, drawn_seat):
        """Begin another episode, from the game's own generator; return the learner's seat."""
        forget_decks(s)
        begin_episode(s, rules, decks, NONE, log)
        return below(s["rng"], rules["players"]) if drawn_seat else seat

    return LearnerKernels(waits_for, reward, write_ending, begin_again)


@dataclass(frozen=True)
class LearnerEntries:
    """The entries of a family's learners, for any opponent; see `learner_entries`."""

    step_range: Entry  # steps a learner's games against one compiled opponent
    learners_act: Entry
    take_turns: Entry  # plays several agents until the learner is to move
    settle: Entry
    observe: Entry
    draw_seats: Entry
    observe_features: Entry


@cache
def learner_entries(family: Family) -> LearnerEntries:
    """Return the entries of a family's learners."""
    states_t, rules_t, views_t = family.types
    step, find_move = family.kernels.step, family.kernels.find_move
    view, write_features = family.kernels.view, family.kernels.write_features
    encode, encode_mask = family.kernels.encode, family.kernels.encode_mask
    waits_for, reward, write_ending, begin_again = learner_kernels(family)
    name = family.name
    act_by = act_caller(family.view)

    @kernel
    def until_learner(s, rules, decks, table, agents, rng, v, log, seat):
        """Play the first agent until ``seat`` is to move; return False if it acted illegally."""
        while s["over"] == 0 and s["to_move"] != seat:
            view(s, rules, s["to_move"], v)
            move = find_move(s, rules, act_by(agents, 0, v, rng, table))
            if move == NONE:
                return False
            step(s, rules, decks, table, move, log)
            keep_log(log)
        return True

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, AGENTS_T, RNGS_T, views_t, LOG_T, int64, int64,
            int64, float64, int64, int64, int64[::1], int64[::1], OBS_T, MASKS_T, float64[::1],
            FLAGS_T, OBS_T, ENDINGS_T,
        ),
        f"{name}.step_range",
        seconds=8,
    )  # fmt: skip
    def step_range(
        states, rules, decks, table, agents, rngs, views, log, lo, hi, points, illegal_reward,
        autoreset, drawn_seat, seats, actions, obs, masks, rewards, dones, final_obs, endings,
    ):  # fmt: skip
        """Step a range of games for a learner in one seat, the first of ``agents`` in all others.

        An ended episode's last observation goes to ``final_obs``, and with ``autoreset`` a new
        episode begins; without, ``obs`` is that last observation. ``points`` is 1 for the reward in
        points, 0 for the return; ``drawn_seat`` 1 to draw the learner's seat for each episode.
        Returns NONE, or the first game in which the agent's action was illegal: there it stops.
        Shapes: seats, actions (CONTINUE in a game just begun) int64[N]; rewards float64[N]; dones
        bool[N]; obs, final_obs uint8[N, obs_size]; masks int8[N, actions]; endings
        int64[N, SCORES + sides], written where ``dones``.
        """
        r = rules[0]
        v = views[0]
        for i in range(lo, hi):
            s = states[i]
            rng = rngs[i]
            seat = seats[i]
            rewards[i] = 0.0
            dones[i] = False
            stepped = False
            illegal = False
            if actions[i] != CONTINUE:
                move = find_move(s, r, actions[i])
                if move == NONE:
                    rewards[i] = illegal_reward
                    illegal = True
                else:
                    step(s, r, decks, table, move, log)
                    keep_log(log)
                    stepped = True
            if illegal:
                dones[i] = True
            else:
                if not until_learner(s, r, decks, table, agents, rng, v, log, seat):
                    return i
                dones[i] = s["over"] != 0
            if stepped:
                rewards[i] = reward(s, r, seat, points)
                clear_gains(s)
            view(s, r, seat, v)
            if dones[i]:
                encode(v, final_obs[i])
                write_ending(s, r, seat, illegal, endings[i])
                if autoreset:
                    seat = begin_again(s, r, decks, log, seat, drawn_seat)
                    seats[i] = seat
                    if not until_learner(s, r, decks, table, agents, rng, v, log, seat):
                        return i
                    view(s, r, seat, v)
            encode(v, obs[i])
            encode_mask(v, masks[i])
        return NONE

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, AGENTS_T, RNGS_T, RNGS_T, views_t,
            LOG_T, int64, int64[::1], int64[::1], int64[::1], int64, int64,
        ),
        f"{name}.take_turns",
    )  # fmt: skip
    def take_turns(
        states, rules, decks, table, agents, rngs, phase_rngs, views, log, phase, drawn, seats, waiting, lo, hi
    ):  # fmt: skip
        """Play agents in the games ``waiting[lo:hi]`` up to the learner's next decision.

        ``agents`` are the opponents, number ``drawn[i]`` in game i, and last the policy of
        ``phase``, if any. Returns NONE, or the first game in which an action was illegal: there it
        stops.
        """
        v = views[0]
        for k in range(lo, hi):
            i = waiting[k]
            s = states[i]
            turn = waits_for(s, phase, seats[i])
            while turn != NONE:
                agent = drawn[i] if turn == OPPONENT else agents.shape[0] - 1
                rng = rngs[i] if turn == OPPONENT else phase_rngs[i]
                view(s, rules[0], s["to_move"], v)
                move = find_move(s, rules[0], act_by(agents, agent, v, rng, table))
                if move == NONE:
                    return i
                step(s, rules[0], decks, table, move, log)
                keep_log(log)
                turn = waits_for(s, phase, seats[i])
        return NONE

    @entry(
        int64(
            states_t, rules_t, DECKS_T, TABLE_T, LOG_T, int64, int64, int64, float64, int64[::1],
            int64[::1], float64[::1], FLAGS_T, int64[::1],
        ),
        f"{name}.learners_act",
    )  # fmt: skip
    def learners_act(
        states, rules, decks, table, log, lo, hi, phase, illegal_reward, seats, actions, rewards, dones, waiting
    ):
        """Take the learner's action in each game of a range.

        ``waiting`` (int64[N]) receives from ``lo`` on the games that wait for others; returns their
        number. ``phase`` is the one that the phase policy plays, NONE without one.
        """
        n = 0
        for i in range(lo, hi):
            s = states[i]
            rewards[i] = 0.0
            dones[i] = False
            if actions[i] != CONTINUE:
                move = find_move(s, rules[0], actions[i])
                if move == NONE:
                    rewards[i] = illegal_reward
                    dones[i] = True
                    continue
                step(s, rules[0], decks, table, move, log)
                keep_log(log)
            waiting[lo + n] = i
            n += waits_for(s, phase, seats[i]) != NONE
        return n

    @entry(
        int64(
            states_t, rules_t, DECKS_T, views_t, LOG_T, int64, int64, int64, int64, int64, int64,
            int64[::1], int64[::1], float64[::1], FLAGS_T, OBS_T, ENDINGS_T, int64[::1],
        ),
        f"{name}.settle",
    )  # fmt: skip
    def settle(
        states, rules, decks, views, log, lo, hi, phase, points, autoreset, drawn_seat, seats,
        actions, rewards, dones, final_obs, endings, waiting,
    ):  # fmt: skip
        """Reward the learner in each game of a range, and where an episode ended begin a new one.

        The arguments are those of `learners_act` and of `step_range`. Returns how many
        of the games begun wait for others.
        """
        r = rules[0]
        v = views[0]
        n = 0
        for i in range(lo, hi):
            s = states[i]
            seat = seats[i]
            illegal = dones[i]
            if not illegal and actions[i] != CONTINUE:
                rewards[i] = reward(s, r, seat, points)
                dones[i] = s["over"] != 0
                clear_gains(s)
            if dones[i]:
                view(s, r, seat, v)
                encode(v, final_obs[i])
                write_ending(s, r, seat, illegal, endings[i])
                if autoreset:
                    seats[i] = begin_again(s, r, decks, log, seat, drawn_seat)
                    waiting[lo + n] = i
                    n += waits_for(s, phase, seats[i]) != NONE
        return n

    @entry(void(states_t, rules_t, views_t, int64, int64, int64[::1], OBS_T, MASKS_T), f"{name}.observe_range")
    def observe(states, rules, views, lo, hi, seats, obs, masks):
        """Write the observation and the legal actions of the learner of each game of a range."""
        v = views[0]
        for i in range(lo, hi):
            view(states[i], rules[0], seats[i], v)
            encode(v, obs[i])
            encode_mask(v, masks[i])

    @entry(void(states_t, rules_t, int64[::1], int64[::1]), f"{name}.draw_seats")
    def draw_seats(states, rules, lanes, seats):
        """Draw the learner's seat in each of ``lanes`` from the game's own generator."""
        for k in range(lanes.shape[0]):
            seats[lanes[k]] = below(states[lanes[k]]["rng"], rules[0]["players"])

    @entry(
        void(states_t, rules_t, TABLE_T, views_t, int64[::1], FLAGS_T, OBS_T, FLOATS_T),
        f"{name}.observe_features",
        seconds=5,
    )
    def observe_features(states, rules, table, views, seats, ended, bits, observations):
        """Write ``observations``, float32[N, obs_size + features]: the ``bits``, then the features.

        A separate pass after the step, so steps without features cost nothing extra. Where
        ``ended`` (bool[N]) all features are 0.
        """
        v = views[0]
        seen = bits.shape[1]
        for i in range(states.shape[0]):
            row = observations[i]
            for k in range(seen):
                row[k] = bits[i, k]
            if ended[i]:
                row[seen:] = 0
            else:
                view(states[i], rules[0], seats[i], v)
                write_features(v, table, row[seen:])

    return LearnerEntries(step_range, learners_act, take_turns, settle, observe, draw_seats, observe_features)


@entry(int64(FLAGS_T, ENDINGS_T, int64[::1], int64, ENDINGS_T))
def summarize_episodes(dones, endings, actions, target, summary):
    """Summarise the episodes that have just ended; return how many an illegal action ended.

    Shapes: dones bool[N]; endings int64[N, SCORES + sides]; actions int64[N]; summary
    int64[N, SCORES + sides + 1].
    """
    illegal = 0
    for i in range(dones.shape[0]):
        if not dones[i]:
            continue
        summary[i, WINNER] = endings[i, WINNER]
        summary[i, SEAT] = endings[i, SEAT]
        highest, second = NONE, NONE
        for column in range(SCORES, endings.shape[1]):
            score = endings[i, column]
            summary[i, column] = score
            second = max(second, min(score, highest))
            highest = max(highest, score)
        if endings[i, ILLEGAL]:
            illegal += 1
            summary[i, ILLEGAL] = actions[i] if actions[i] >= 0 else BELOW
        else:
            summary[i, ILLEGAL] = NONE
            if highest >= target:
                summary[i, endings.shape[1]] = highest - second
    return illegal


# --- draws, which in NumPy would take longer than a step ------------------------------------------


@kernel
def legal_at(mask, word):
    """Return the legal action that a word, 0 to 2**32 - 1, falls on; NONE if none is legal."""
    legal = 0
    for action in range(mask.shape[0]):
        legal += mask[action] != 0
    k = word * legal >> 32
    for action in range(mask.shape[0]):
        k -= mask[action] != 0
        if k < 0:
            return action
    return NONE


@entry(int64(int8[:, ::1], int64[::1], int64[::1]))
def nth_legal(masks, draws, actions):
    """Write for each mask the legal action that a draw from 0 to 2**32 - 1 falls on.

    Returns NONE, or the first row without a legal action; rows before it are written.
    """
    for i in range(masks.shape[0]):
        actions[i] = legal_at(masks[i], draws[i])
        if actions[i] == NONE:
            return i
    return NONE


@entry(void(RNGS_T, int64[:, ::1], int64[::1], int64[::1]))
def draw_shares(rngs, bounds, lanes, drawn):
    """Draw one of K shares for each of ``lanes``; ``bounds``, int64[N, K], add them up to 2**32."""
    for j in range(lanes.shape[0]):
        lane = lanes[j]
        word = next_word(rngs[lane])
        k = 0
        while word >= bounds[lane, k]:
            k += 1
        drawn[lane] = k


@entry(void(MASKS_T, RNGS_T, int64[::1], int64[::1]))
def replace_illegal(masks, rngs, actions, illegal):
    """Store each illegal action in ``illegal``, int64[N], and replace it by a random legal one."""
    for i in range(masks.shape[0]):
        illegal[i] = NONE
        action = actions[i]
        if action == CONTINUE or (0 <= action < masks.shape[1] and masks[i, action]):
            continue
        illegal[i] = BELOW if action < 0 else action
        actions[i] = legal_at(masks[i], next_word(rngs[i]))
