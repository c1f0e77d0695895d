"""Episode tables of made-up drivers."""

import numpy as np
from hypothesis import strategies as st

from driving.kernel import records
from driving.measures import EpisodeTable
from search_spaces.scenarios import Scenario

ROAD = Scenario()


def episodes(count: int, seed: int, *, crash_rate: float = 0.1, speed: float = 25.0) -> EpisodeTable:
    """Episodes of a driver of this kind; `seed` stands for the training and the traffic alike."""
    rng = np.random.default_rng(seed)
    crashed = (rng.random(count) < crash_rate).astype(np.float64)
    decisions = np.where(crashed > 0, rng.integers(3, 30, count), ROAD.decisions).astype(np.float64)
    frames = decisions * ROAD.frames_per_decision
    columns = {
        "native_return": decisions * rng.uniform(0.6, 0.9, count),
        "decisions": decisions,
        "distance_m": decisions * rng.normal(speed, 1.0, count).clip(0.0),
        "crashed": crashed,
        "at_fault": crashed * (rng.random(count) < 0.7),
        "overtakes_made": rng.poisson(3.0, count).astype(np.float64),
        "overtakes_suffered": rng.poisson(0.5, count).astype(np.float64),
        "lane_changes": rng.poisson(4.0, count).astype(np.float64),
        "frames": frames,
        "low_ttc_frames": np.minimum(rng.poisson(1.0, count), frames),
        "low_headway_frames": np.minimum(rng.poisson(9.0, count), frames),
        "right_lane_frames": np.floor(frames * rng.random(count)),
        "accel_squares": frames * rng.uniform(1.0, 20.0, count),
        "jerk_squares": frames * rng.uniform(10.0, 200.0, count),
        "time_s": decisions,
    }
    counts = {
        name: rng.multinomial(100, np.full(records.BINS, 1 / records.BINS), count).astype(np.int32)
        for name in ("ttc", "headway", "accel", "jerk")
    }
    return EpisodeTable(np.arange(count, dtype=np.uint64), columns, counts)


drivers = st.builds(
    lambda count, seeds, crash_rate, speed: [
        episodes(count, seed, crash_rate=crash_rate, speed=speed) for seed in seeds
    ],
    st.integers(2, 40),
    st.lists(st.integers(0, 10_000), min_size=1, max_size=4, unique=True),
    st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    st.floats(15.0, 32.0),
)
"""Drivers: tables of one to four trainings, of the same 2 to 40 episodes."""
