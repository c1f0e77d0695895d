"""Measures, trajectory and film of a policy are of the same episodes, and agree on who crashed."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from actors.evaluator import PolicyDriver, evaluate
from driving.film import Film, film_episode
from driving.measures import EpisodeTable
from driving.renderer import Picture
from driving.trajectory import record_trajectory
from search_spaces.scenarios import REPORT, Scenario
from tests.policies import drawn_policy

SHORT = Scenario(duration=6)
DRIVER = PolicyDriver(drawn_policy(1, leaning=3, strength=0.1))
SEEDS = REPORT.seeds(8)


def shows_a_crash(picture: Picture) -> bool:
    """highway-env paints crashed cars red, (255, 100, 100), and nothing else on this road."""
    red, green, blue = np.moveaxis(picture.astype(int), -1, 0)
    return int(((red > 200) & (green < 150) & (blue < 150)).sum()) > 20


@pytest.fixture(scope="module")
def measured() -> tuple[Mapping[str, float], EpisodeTable]:
    return evaluate(DRIVER, SHORT, SEEDS)


@pytest.mark.parametrize("crashed", [False, True])
def test_film_trajectory_and_measures_agree_on_the_crash(
    measured: tuple[Mapping[str, float], EpisodeTable], tmp_path: Path, crashed: bool
) -> None:
    _, table = measured
    rows = np.flatnonzero((table.columns["crashed"] > 0) == crashed)
    assert rows.size, "both kinds of episodes are needed"
    seed = SEEDS[int(rows[0])]
    log = record_trajectory(DRIVER, SHORT, seed)
    path = tmp_path / "episode.mp4"
    path.write_bytes(film_episode(SHORT, seed, DRIVER))
    with Film.open(path) as film:
        pictures = list(film.pictures())
    assert len(pictures) == len(log)
    assert not shows_a_crash(pictures[0])
    assert shows_a_crash(pictures[-1]) == log.crashed == crashed
    assert table.columns["decisions"][rows[0]] * SHORT.frames_per_decision == len(log) - 1
    assert table.columns["distance_m"][rows[0]] == log.distance_m


def test_every_trajectory_has_the_crash_of_its_measures(
    measured: tuple[Mapping[str, float], EpisodeTable],
) -> None:
    metrics, table = measured
    logs = [record_trajectory(DRIVER, SHORT, seed) for seed in SEEDS]
    assert [log.crashed for log in logs] == [bool(each) for each in table.columns["crashed"]]
    assert metrics["crash_rate"] == np.mean([log.crashed for log in logs])
