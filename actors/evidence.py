"""The states and trajectories that the gate judges programs on, recorded from the real kernel."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driving.drivers import StateTraces, driver_named, record_traces
from search_spaces.scenarios import GATE, PRESETS, Scenario
from search_spaces.state import FIELD_INDEX, FIELDS, STANDARD_STATE

CAUTIOUS = ("slower", "idm", "mobil")
"""Drivers that seldom crash on highway-v0."""
RECKLESS = ("faster", "idle", "left", "right", "random")
"""Drivers that crash in nearly every episode there."""
START_STATES = 32
"""Start states on highway-v0; every driver begins from each."""
LOCAL_DRIVERS = ("mobil", "faster", "random")
"""Who drives on the search's own road: between them they overtake, change lanes, brake, race and crash."""
LOCAL_EPISODES = 16
"""Episodes of each of them."""
RANDOM_STATES = 512
"""Corner states drawn uniformly from the box of the state table, beside the systematic ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What programs are judged on.

    Attributes:
        states: float64[R + K, len(FIELDS)]: R recorded states, first those from highway-v0, then those from the road
            of the search; then K corner states.
        local: The first row from the road of the search.
        episode: int64[R], the episode of each recorded state.
        cautious: int64[P], the episode of each pair that did not crash.
        reckless: int64[P], the episode of each pair that crashed, from the same start state.
    """

    states: NDArray[np.float64]
    local: int
    episode: NDArray[np.int64]
    cautious: NDArray[np.int64]
    reckless: NDArray[np.int64]

    @property
    def recorded(self) -> int:
        """How many states were recorded rather than made."""
        return len(self.episode)

    def returns(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the undiscounted return of each episode, float64[E], from totals per recorded state, float64[R]."""
        return np.bincount(self.episode, weights=totals).astype(np.float64)


def record_evidence(scenario: Scenario) -> Evidence:
    """Drive highway-v0 with cautious and reckless drivers, and a few episodes on `scenario`.

    Pairs are all combinations, from one start state, of a cautious driver that finished and a reckless one that
    crashed: same road, same traffic, another driver.
    """
    paired = [
        record_traces(PRESETS["highway-v0"], GATE.seeds(START_STATES), driver_named(name))
        for name in (*CAUTIOUS, *RECKLESS)
    ]
    local = [record_traces(scenario, GATE.seeds(LOCAL_EPISODES), driver_named(name)) for name in LOCAL_DRIVERS]
    flat = [flatten(traces) for traces in (*paired, *local)]
    first_episode = np.cumsum([0, *(len(traces.crashed) for traces in (*paired, *local))])
    pairs = list(_pairs(np.array([traces.crashed for traces in paired])))
    return Evidence(
        states=np.concatenate([*(states for states, _ in flat), corner_states()]),
        local=sum(len(states) for states, _ in flat[: len(paired)]),
        episode=np.concatenate([episode + first for (_, episode), first in zip(flat, first_episode, strict=False)]),
        cautious=np.array([cautious for cautious, _ in pairs], dtype=np.int64),
        reckless=np.array([reckless for _, reckless in pairs], dtype=np.int64),
    )


def flatten(traces: StateTraces) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the states of all decisions that were driven, float64[R, F], and the episode of each, int64[R]."""
    _, episode = np.nonzero(traces.alive)
    return traces.states[traces.alive], episode


def _pairs(crashed: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield episodes of one start state, one that did not crash and one that did, from bool[drivers, START_STATES]."""
    for start in range(START_STATES):
        for cautious in range(len(CAUTIOUS)):
            for reckless in range(len(CAUTIOUS), len(CAUTIOUS) + len(RECKLESS)):
                if crashed[reckless, start] and not crashed[cautious, start]:
                    yield cautious * START_STATES + start, reckless * START_STATES + start


def corner_states() -> NDArray[np.float64]:
    """Return states at the edges of the state table, float64[K, len(FIELDS)].

    All fields at their low or high end, each one alone at either end and at 0, every combination of the flags that a
    decision can raise, and random states from the whole box (the same ones in every process).
    """
    low = np.array([field.low for field in FIELDS])
    high = np.array([field.high for field in FIELDS])
    standard = np.array([STANDARD_STATE[field.name] for field in FIELDS])
    states = [standard, low, high]
    for column, field in enumerate(FIELDS):
        for value in (field.low, field.high, min(max(0.0, field.low), field.high)):
            state = standard.copy()
            state[column] = value
            states.append(state)
    flags = [FIELD_INDEX[name] for name in ("overtook", "lane_changed", "collided", "was_overtaken")]
    for bits in range(1 << len(flags)):
        state = standard.copy()
        state[flags] = [bits >> position & 1 for position in range(len(flags))]
        states.append(state)
    box = np.random.default_rng(0).uniform(low, high, (RANDOM_STATES, len(FIELDS)))
    whole = [column for column, field in enumerate(FIELDS) if field.kind != "number"]
    box[:, whole] = np.round(box[:, whole])
    return np.concatenate([np.array(states), box])
