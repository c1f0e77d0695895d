"""How far apart two rewards are, whatever their scale and potential shaping: EPIC (Gleave et al., 2021).

    C(s, s') = R(s, s') + E[g R(s', S') - R(s, S') - g R(S, S')]      S, S': reference states, g: discount
    distance = sqrt((1 - correlation of C1 and C2) / 2)               0: the same, 1: opposite

Two rewards at distance 0 have the same best policies on a road without an end. Episodes end here, at a crash, and then
a constant is worth something: with `- 1` for every decision a driver crashes as soon as he can. So the form above is
taken where nobody crashes, and each reward is made canonical a second time, by what a crash would earn, and compared
without subtracting the mean:

    C(s, s') = R(s, s') + g E[R(s', crash)] - E[R(s, crash)]          the second term 0 where s' is a crash

Shaping by a potential that is 0 after a crash leaves both forms alone; a constant changes the second. The distance is
the larger of the two.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driving.kernel.reward_machine import RewardMachine
from search_spaces.program import RewardProgram
from search_spaces.state import FIELD_INDEX

DRAWN = 512
"""Recorded transitions without a crash that rewards are compared on, drawn evenly."""
EDGES = 16
"""As many more from each end of each field, so that what is paid rarely counts too."""
CRASHES = 64
"""Recorded transitions into a crash."""
REFERENCES = 16
"""Reference states, and as many crashes."""

_SPEED, _LANE = FIELD_INDEX["speed_ms"], FIELD_INDEX["lane"]
_ACCEL, _JERK, _CHANGED = FIELD_INDEX["accel_ms2"], FIELD_INDEX["long_jerk"], FIELD_INDEX["lane_changed"]
_COLLIDED = FIELD_INDEX["collided"]

Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """A reward as it is and in its canonical forms; two rewards are as far apart as these.

    Attributes:
        plain: Rewards of recorded transitions as they are, length 1, float64[L + CRASHES]; zeros if all are 0.
        shape: Canonical rewards by reference states, mean 0 and length 1, float64[L]; zeros if constant.
        level: Canonical rewards by crashes, length 1, float64[L + CRASHES]; zeros if all are 0.
    """

    plain: Rows
    shape: Rows
    level: Rows


def distance(one: Embedding, other: Embedding) -> float:
    """Return how far apart two rewards are up to scale and shaping, 0 to 1; symmetric, and a metric."""
    return max(_half_chord(one.shape, other.shape), _half_chord(one.level, other.level))


def scaled_distance(one: Embedding, other: Embedding) -> float:
    """Return how far apart two rewards are up to scale alone, 0 to 1."""
    return _half_chord(one.plain, other.plain)


def _half_chord(one: Rows, other: Rows) -> float:
    # Equals sqrt((1 - one @ other) / 2) for unit vectors, without its cancellation near 0.
    return float(np.linalg.norm(one - other) / 2.0)


class Epic:
    """Embeds programs by transitions, references and crashes that it draws once.

    Args:
        before: Recorded states, float64[R, len(FIELDS)].
        after: The state that followed each, float64[R, len(FIELDS)]; some collided.
        decision_s: Duration of a decision, s.
        discount: Discount of the training.
    """

    def __init__(self, before: Rows, after: Rows, decision_s: float, discount: float) -> None:
        rng = np.random.default_rng(0)
        unhurt, crashed = np.flatnonzero(after[:, _COLLIDED] == 0.0), np.flatnonzero(after[:, _COLLIDED] > 0.0)
        live = np.concatenate([rng.choice(unhurt, DRAWN), unhurt[_edges(after[unhurt], rng)]])
        rows = np.concatenate([live, rng.choice(crashed, CRASHES)])
        references, crashes = after[rng.choice(unhurt, REFERENCES)], after[rng.choice(crashed, REFERENCES)]
        self._discount = discount
        self._live = len(live)
        self._after = after[rows]
        starts = np.concatenate([before[rows], after[live], references])
        self._pairs = _pairs(starts, np.concatenate([references, crashes]), decision_s)

    def embedded(self, program: RewardProgram) -> Embedding | None:
        """Return a program's embedding; None where it is not finite in one of the states."""
        live = self._live
        machine = RewardMachine(program)
        rewards = machine.evaluate(self._after).totals
        paired = machine.evaluate(self._pairs).totals.reshape(-1, 2, REFERENCES).mean(axis=-1)
        if not (np.isfinite(rewards).all() and np.isfinite(paired).all()):
            return None
        before, after, among = np.split(paired, [len(rewards), len(rewards) + live])
        shape = rewards[:live] + self._discount * after[:, 0] - before[:live, 0] - self._discount * among[:, 0].mean()
        level = rewards - before[:, 1]
        level[:live] += self._discount * after[:, 1]
        size = float(np.abs(rewards).max() + np.abs(paired).max())
        return Embedding(_unit(rewards, size), _unit(shape - shape.mean(), size), _unit(level, size))


def _unit(vector: Rows, size: float) -> Rows:
    """Return a vector at length 1; zeros where it is rounding beside `size`."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-12 * size * len(vector) else np.zeros_like(vector)


def _edges(states: Rows, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return rows at both ends of each field that varies: drawn from its lowest and its highest hundredth."""
    hundredth = max(EDGES, len(states) // 100)
    order = np.argsort(states[:, np.ptp(states, axis=0) > 0.0], axis=0, kind="stable")
    ends = [*order[:hundredth].T, *order[-hundredth:].T]
    return np.concatenate([rng.choice(each, EDGES) for each in ends])


def _pairs(ones: Rows, others: Rows, decision_s: float) -> Rows:
    """Return the state of `others` as if each had followed each of `ones`: float64[len(ones) * len(others), F].

    What a state says of the decision that led to it (acceleration, jerk along the road, lane change) is computed again.
    """
    pairs = np.tile(others, (len(ones), 1))
    first = np.repeat(ones, len(others), axis=0)
    pairs[:, _ACCEL] = (pairs[:, _SPEED] - first[:, _SPEED]) / decision_s
    pairs[:, _JERK] = (pairs[:, _ACCEL] - first[:, _ACCEL]) / decision_s
    pairs[:, _CHANGED] = pairs[:, _LANE] != first[:, _LANE]
    return pairs
