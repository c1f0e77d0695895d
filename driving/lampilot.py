"""LaMPilot-Bench's scores of an episode, for comparison with work that reports them; a compatibility score, no fitness.

    TTC score         100 without a conflict or above 2 s, else max(100 - 1 / smallest time to collision, -100)
    speed score       100 (1 - standard deviation of the speed / 10 m/s)
    time efficiency   100 (1 - time taken / 60 s)
    score             max(0, 0.5 TTC + 0.3 speed + 0.2 time) of a success, 0 of a failure
    driving score     success rate * mean score of the successes - 500 * collision rate

Definitions and constants are those of Ma et al., "LaMPilot: An Open Benchmark Dataset for Autonomous Driving with
Language Model Programs", CVPR 2024, pp. 15141-15151, as in the evaluator that its authors publish
(github.com/PurdueDigitalTwin/LaMPilot). Its time to collision is measured from centre to centre along the road, over
vehicles of all lanes, ahead and behind: a car that is passed two lanes away counts. It is nearly flat besides: one
second still scores 99.

What is approximate here: LaMPilot gives an instruction, and counts its completion as success; an episode of this
project has none, so success is to drive the whole scheduled episode without a collision. The time taken is then the
schedule itself, and time efficiency the same number for every driver of a scenario. LaMPilot also counts leaving the
road as a collision; from three frames a second on, the five actions cannot leave it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driving.drivers import Act, Driver, drive
from driving.kernel.layout import COS, CRASHED, SIN, SPEED, X
from search_spaces.errors import UsageError
from search_spaces.scenarios import Scenario

SAFE_TTC_S = 2.0
"""Time to collision above which nothing is lost, s."""
SPEED_DEVIATION_MS = 10.0
"""Standard deviation of the speed at which nothing is left, m/s."""
TIME_LIMIT_S = 60.0
"""Time at which nothing is left, s."""
WEIGHTS = {"ttc": 0.5, "speed": 0.3, "time": 0.2}
COLLISION_PENALTY = 500.0
SLOWEST_CLOSING_MS = 1e-2
"""Closing speeds nearer to zero count as this much, m/s: highway-env's `not_zero`, which the evaluator divides by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LampilotScores:
    """LaMPilot-Bench's scores of a number of episodes; compatibility scores, each at most 100.

    Attributes:
        episodes: How many there were.
        success_rate: Share that was driven to its scheduled end without a collision, 0 to 1.
        collision_rate: Share that collided, 0 to 1.
        ttc: Mean TTC score of the successes; None without any, as for the next three.
        speed: Mean speed score.
        time: Mean time efficiency; the same for all drivers of a scenario.
        score: Mean score.
        driving_score: Driving score, -500 to 100.
    """

    episodes: int
    success_rate: float
    collision_rate: float
    ttc: float | None
    speed: float | None
    time: float | None
    score: float | None
    driving_score: float

    def to_json(self) -> dict[str, Any]:
        """Return the scores as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "LampilotScores":
        """Build the scores again.

        Raises:
            TypeError: An unknown field or a missing one.
        """
        return cls(**data)


def smallest_ttc(vehicles: NDArray[np.float64]) -> float | None:
    """Return the smallest time to collision of the ego with anyone, in LaMPilot's sense.

    Args:
        vehicles: Whole states, one for each frame, float64[T, VEHICLE_ROWS, V].

    Returns:
        s, above 0; None when nobody ever came nearer.
    """
    ego, others = vehicles[:, :, :1], vehicles[:, :, 1:]
    ahead = others[:, X] - ego[:, X]
    along = others[:, SPEED] * (others[:, COS] * ego[:, COS] + others[:, SIN] * ego[:, SIN])
    closing = ego[:, SPEED] - along
    floor = np.where(closing >= 0.0, SLOWEST_CLOSING_MS, -SLOWEST_CLOSING_MS)
    closing = np.where(np.abs(closing) > SLOWEST_CLOSING_MS, closing, floor)
    times = np.where(ego[:, SPEED] == others[:, SPEED], -1.0, ahead / closing)
    conflicts = times[times > 0.0]
    return float(conflicts.min()) if conflicts.size else None


def ttc_score(ttc_s: float | None) -> float:
    """Return the TTC score of an episode, -100 to 100, from its smallest time to collision, s."""
    if ttc_s is None or ttc_s > SAFE_TTC_S:
        return 100.0
    return max(100.0 - 1.0 / ttc_s, -100.0)


def speed_score(speeds: NDArray[np.float64]) -> float:
    """Return the speed score of an episode, at most 100, from the ego's speed in each frame, m/s, float64[T]."""
    return 100.0 * (1.0 - float(speeds.std()) / SPEED_DEVIATION_MS)


def time_score(time_s: float) -> float:
    """Return the time efficiency of an episode, at most 100, from its length, s."""
    return 100.0 * (1.0 - time_s / TIME_LIMIT_S)


def combined(ttc: float, speed: float, time: float) -> float:
    """Return the score of a success, 0 to 100, from its three parts."""
    return max(0.0, WEIGHTS["ttc"] * ttc + WEIGHTS["speed"] * speed + WEIGHTS["time"] * time)


def lampilot_scores(scenario: Scenario, seeds: Sequence[int], driver: Driver | Act) -> LampilotScores:
    """Drive one episode for each seed, one after the other, and score them as LaMPilot-Bench does.

    Every physics frame is looked at, which takes about three milliseconds an episode.

    Args:
        scenario: The road.
        seeds: Seeds of the episodes.
        driver: Who drives.

    Raises:
        UsageError: No seeds.
    """
    if not seeds:
        raise UsageError("LaMPilot scores: expected at least one seed, got none")
    parts = [_parts(*_frames(scenario, seed, driver), scenario) for seed in seeds]
    successes = [part for part in parts if part is not None]
    rate, collisions = len(successes) / len(parts), (len(parts) - len(successes)) / len(parts)
    means = [float(np.mean(column)) for column in zip(*successes, strict=True)] if successes else None
    mean_score = float(np.mean([combined(*part) for part in successes])) if successes else None
    return LampilotScores(
        episodes=len(parts),
        success_rate=rate,
        collision_rate=collisions,
        ttc=means[0] if means else None,
        speed=means[1] if means else None,
        time=means[2] if means else None,
        score=mean_score,
        driving_score=rate * (mean_score or 0.0) - COLLISION_PENALTY * collisions,
    )


def _frames(scenario: Scenario, seed: int, driver: Driver | Act) -> tuple[NDArray[np.float64], bool]:
    """Drive an episode; return the states of its physics frames and whether the ego crashed."""
    frames = []
    crashed = False
    for env, driving in drive(scenario, [seed], driver, watch=0):
        if driving.any():
            frames.append(env.film_frames().vehicles)
        crashed = bool(env.flags[0, CRASHED, 0])
    return np.concatenate(frames), crashed


def _parts(vehicles: NDArray[np.float64], crashed: bool, scenario: Scenario) -> tuple[float, float, float] | None:
    """Return TTC score, speed score and time efficiency of a success; None for an episode that ended in a crash."""
    if crashed:
        return None
    time_s = len(vehicles) / scenario.simulation_frequency
    return ttc_score(smallest_ttc(vehicles)), speed_score(vehicles[:, SPEED, 0]), time_score(time_s)
