import re
from pathlib import Path

import numpy as np
import pytest
from highway_env.utils import not_zero
from hypothesis import given
from hypothesis import strategies as st

from driving.drivers import driver_named, run_episodes
from driving.kernel.layout import COS, SPEED, VEHICLE_ROWS, X
from driving.lampilot import combined, lampilot_scores, smallest_ttc, speed_score, time_score, ttc_score
from driving.reference import ReferenceVectorEnv
from search_spaces.errors import UsageError
from search_spaces.scenarios import REPORT, Scenario

SHORT = Scenario(duration=8)
PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")


def frame(*cars: tuple[float, float]) -> np.ndarray:
    """One frame of cars that drive straight: x m, speed m/s; the ego first."""
    vehicles = np.zeros((1, VEHICLE_ROWS, len(cars)))
    vehicles[0, COS] = 1.0
    vehicles[0, [X, SPEED]] = np.array(cars).T
    return vehicles


@pytest.mark.parametrize(
    ("cars", "expected"),
    [
        (((0, 20), (50, 20)), None),  # equal speeds never meet
        (((0, 20), (50, 25)), None),  # drawing away
        (((0, 25), (50, 20)), 10.0),  # coming nearer, centre to centre
        (((50, 20), (0, 25)), 10.0),  # being caught up with
        (((50, 25), (0, 20)), None),
        (((0, 25), (50, 20), (20, 15)), 2.0),  # the nearest in time counts
        (((0, 20.004), (50, 20)), 5000.0),  # hardly closing counts as 0.01 m/s
        (((0, 25), (0, 20)), None),  # side by side
    ],
)
def test_time_to_collision_is_lampilots(cars: tuple[tuple[float, float], ...], expected: float | None) -> None:
    found = smallest_ttc(frame(*cars))
    assert found == (None if expected is None else pytest.approx(expected))


def test_time_to_collision_is_that_of_highway_envs_own_vehicles() -> None:
    env = ReferenceVectorEnv(1, Scenario(), autoreset=False)
    env.reset(seed=5)
    found = []
    for action in (3, 3, 0, 1, 2, 3):
        env.step(np.array([action]))
        ego, *others = env.environments[0].road.vehicles
        times = [
            ego.lane_distance_to(other) / not_zero(ego.speed - other.speed * np.dot(other.direction, ego.direction))
            for other in others
            if other.speed != ego.speed
        ]
        expected = min((time for time in times if time > 0), default=None)
        found.append(expected)
        assert smallest_ttc(env.vehicles[:1].copy()) == (expected and pytest.approx(expected, rel=1e-12))
    assert sum(each is not None for each in found) >= 3, found


def test_the_published_figures() -> None:
    assert (ttc_score(None), ttc_score(2.1), ttc_score(1.0), ttc_score(0.1)) == (100.0, 100.0, 99.0, 90.0)
    assert ttc_score(1e-9) == -100.0
    assert speed_score(np.array([20.0, 20.0])) == 100.0
    assert speed_score(np.array([10.0, 30.0])) == 0.0
    assert (time_score(0.0), time_score(30.0), time_score(60.0)) == (100.0, 50.0, 0.0)
    assert combined(100.0, 100.0, 50.0) == pytest.approx(90.0)
    assert combined(-100.0, -100.0, 0.0) == 0.0


@given(st.floats(1e-6, 100), st.floats(1e-6, 100))
def test_more_time_never_scores_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert -100.0 <= ttc_score(low) <= ttc_score(high) <= 100.0


@pytest.mark.parametrize("name", ["slower", "left", "mobil"])
def test_collisions_are_those_of_the_measures(name: str) -> None:
    seeds = REPORT.seeds(12)
    scores = lampilot_scores(SHORT, seeds, driver_named(name))
    crashed = run_episodes(SHORT, seeds, driver_named(name)).columns["crashed"].mean()
    assert scores.collision_rate == pytest.approx(crashed)
    assert scores.success_rate == pytest.approx(1 - crashed)
    assert scores.time in (None, pytest.approx(time_score(SHORT.duration)))
    assert scores.driving_score == pytest.approx(scores.success_rate * (scores.score or 0) - 500 * crashed)


@pytest.mark.parametrize("name", ["slower", "mobil", "faster"])
def test_the_documented_scores_are_what_the_code_computes(name: str) -> None:
    section = PAGE.split("## LaMPilot-compatible scores", 1)[1].split("\n## ", 1)[0]
    (row,) = re.findall(rf"^\| {name} \|(.*)\|$", section, re.MULTILINE)
    shown = [cell.strip().removesuffix(" %") for cell in row.split("|")]
    found = lampilot_scores(Scenario(), REPORT.seeds(100), driver_named(name))
    parts = (found.driving_score, found.score, found.ttc, found.speed, found.time)
    computed = ["" if each is None else f"{each:.1f}" for each in parts]
    assert [*computed, f"{100 * found.success_rate:.0f}"] == shown


def test_without_a_success_there_is_no_mean() -> None:
    scores = lampilot_scores(Scenario(), REPORT.seeds(5), driver_named("faster"))
    assert scores.collision_rate == 1.0
    assert (scores.ttc, scores.speed, scores.time, scores.score) == (None, None, None, None)
    assert scores.driving_score == -500.0


def test_no_episodes_is_no_score() -> None:
    with pytest.raises(UsageError, match="at least one seed"):
        lampilot_scores(SHORT, [], driver_named("idle"))
