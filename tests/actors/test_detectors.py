"""Detectors on what real drivers do in the kernel: those with a habit are found, sound ones are not."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.detector_table import DETECTORS
from actors.detectors import Sighting, detect
from actors.drives import EPISODES, WINDOW_S, Drives, Signal, record_drives
from actors.evaluator import PolicyDriver
from actors.lint_drivers import ScriptedDriver
from actors.messages import ArchiveEntry, Assignment
from actors.policy import Policy
from actors.trainer import train_candidate
from driving.drivers import Driver, driver_named, run_episodes
from driving.kernel.layout import FASTER, IDLE, LEFT, RIGHT, SLOWER
from driving.measures import summarise
from driving.trajectory import record_trajectory
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import SELECTION, Scenario
from tests.entries import trained

ROAD = Scenario()
SEEDS = SELECTION.seeds(16)
SUICIDE = "def compute_reward(state):\n    return 0.02 * (state['speed_ms'] - 20.0) - 1.0\n"
BONUS = "def compute_reward(state):\n    return state['speed_ms'] / 30.0 + 3.0 * state['collided']\n"
UNCHARGED = "def compute_reward(state):\n    return state['speed_ms'] / 30.0\n"
ALIVE = "def compute_reward(state):\n    return 1.0 - 3.0 * state['collided']\n"
SOUND: Mapping[str, Driver] = {
    "idm": driver_named("idm"),
    "mobil": driver_named("mobil"),
    "prudent": ScriptedDriver(),
    "overtaker": ScriptedDriver(overtakes=True),
}


@dataclass(frozen=True, slots=True)
class Repeated:
    """Plays a sequence of actions over and over."""

    actions: Sequence[int]
    count: list[int] = field(default_factory=lambda: [0])

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        self.count[0] += 1
        return np.full(len(states), self.actions[self.count[0] % len(self.actions)], np.int64)


@dataclass(frozen=True, slots=True)
class Cruiser:
    """Keeps to 20 m/s but for a touch of the throttle now and then."""

    count: list[int] = field(default_factory=lambda: [0])

    def act(self, observations: NDArray[np.float32], states: NDArray[np.float64]) -> NDArray[np.int64]:
        self.count[0] += 1
        return np.full(len(states), FASTER if self.count[0] % 10 == 0 else SLOWER, np.int64)


def sightings(driver: Driver, source: str = "", road: Scenario = ROAD) -> dict[str, Sighting]:
    drives = record_drives(driver, road, SEEDS, source)
    return {sighting.finding.name: sighting for sighting in detect(trained("g00-c00"), (), drives)}


def found(driver: Driver, source: str = "", road: Scenario = ROAD) -> set[str]:
    return {name for name, sighting in sightings(driver, source, road).items() if sighting.found}


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("source", ["", ALIVE], ids=["native", "alive"])
def test_sound_drivers_are_not_accused(name: str, source: str) -> None:
    assert found(SOUND[name], source) == set()


@pytest.mark.parametrize(
    ("name", "driver"),
    [
        ("weaving", ScriptedDriver(habit="weave")),
        ("lane_request_farming", ScriptedDriver(habit="wobble")),
        ("tailgating", ScriptedDriver(headway_s=0.3, ttc_s=1.5)),
        ("acceleration_spam", Repeated((FASTER, SLOWER))),
        ("parking", driver_named("slower")),
        ("crawling", Cruiser()),
    ],
)
def test_scripted_habits_are_found_and_shown(name: str, driver: Driver) -> None:
    sighting = sightings(driver)[name]
    finding = sighting.finding
    assert sighting.found
    assert finding.value is not None
    assert finding.value > DETECTORS[name].threshold
    assert finding.threshold == DETECTORS[name].threshold
    assert finding.source
    low, high = finding.interval
    assert low <= finding.value <= high
    assert finding.seed in SEEDS
    first, last = finding.frames
    assert 0 <= first <= last < first + WINDOW_S * ROAD.simulation_frequency


def test_a_parked_car_is_not_said_to_crawl_too() -> None:
    assert found(driver_named("slower")) == {"parking"}


def test_the_frames_show_what_was_found() -> None:
    finding = sightings(ScriptedDriver(habit="weave"))["weaving"].finding
    assert finding.seed is not None
    first, last = finding.frames
    # One driver drove all episodes in turn: the same decision numbers come again only in the same order.
    logs = {log.seed: log for log in record_drives(ScriptedDriver(habit="weave"), ROAD, SEEDS).logs}
    changed = np.flatnonzero(logs[finding.seed].changes)
    assert {first, last} <= set(changed)
    assert ((changed >= first) & (changed <= last)).sum() >= 3


@pytest.mark.parametrize(
    ("source", "accused"), [(SUICIDE, True), (BONUS, True), (UNCHARGED, False), (ALIVE, False), ("", False)]
)
def test_ending_early_is_a_hack_where_it_pays(source: str, accused: bool) -> None:
    sighted = sightings(driver_named("faster"), source)
    assert ("early_ending" in {name for name, each in sighted.items() if each.found}) == accused
    assert ("early_ending" in sighted) == bool(source)
    if accused:
        finding = sighted["early_ending"].finding
        assert finding.seed is not None
        log = record_trajectory(driver_named("faster"), ROAD, finding.seed)
        assert finding.frames[1] == log["crashed"].argmax()


@pytest.mark.parametrize("name", ["random", "left", "right", "mobil"])
@pytest.mark.parametrize("frequencies", [(3, 1), (5, 1), (5, 5), (15, 3)], ids=str)
def test_at_three_frames_a_second_or_more_nobody_leaves_the_road(name: str, frequencies: tuple[int, int]) -> None:
    road = Scenario(simulation_frequency=frequencies[0], policy_frequency=frequencies[1], vehicles=8)
    sighting = sightings(driver_named(name), road=road)["off_road_between_decisions"]
    assert sighting.finding.value == 0.0
    for log in record_drives(driver_named(name), road, SEEDS).logs:
        assert (log["on_road"][log.measured] == 1.0).all()
        lateral = log["y_m"][log.measured]
        assert np.maximum(-lateral, lateral - 8.0).max(initial=-1.0) < 0.1


def test_off_road_frames_that_no_decision_ends_in_are_found() -> None:
    # At two frames a second highway-env's steering is unstable, and MOBIL swings off the road and back.
    road = Scenario(simulation_frequency=2, policy_frequency=1, vehicles=3)
    drives = record_drives(driver_named("mobil"), road, range(16))
    sighted = {each.finding.name: each for each in detect(trained("g00-c00"), (), drives)}
    finding = sighted["off_road_between_decisions"].finding
    assert sighted["off_road_between_decisions"].found
    log = next(each for each in drives.logs if each.seed == finding.seed)
    rows = np.arange(finding.frames[0], finding.frames[1] + 1)
    off = rows[log["on_road"][rows] == 0.0]
    assert len(off) > 0
    assert any(log["on_road"][row + row % 2] == 1.0 for row in off)


def test_a_band_just_above_where_the_reward_bends_counts_as_tailgating() -> None:
    source = "def compute_reward(state):\n    return 1.0 if state['time_headway'] > 0.95 else -1.0\n"
    driver = ScriptedDriver(headway_s=1.0, ttc_s=1.5)
    plain = sightings(driver)["tailgating"].finding
    bent = sightings(ScriptedDriver(headway_s=1.0, ttc_s=1.5), source)["tailgating"].finding
    assert plain.value is not None
    assert bent.value is not None
    assert plain.evidence["just_above_share"] == 0.0
    assert bent.evidence["just_above_share"] > 0.02
    assert bent.value == pytest.approx(plain.value + bent.evidence["just_above_share"])
    assert "0.95 s" in bent.sentence


def test_slower_than_the_parent_is_shown_with_an_interval_over_shared_episodes() -> None:
    seeds, names = SELECTION.seeds(60), ("faster", "slower")
    tables = {name: run_episodes(ROAD, seeds, driver_named(name)) for name in names}

    def entry(name: str) -> ArchiveEntry:
        known = trained("g00-c00" if name == "faster" else "g01-c00", **summarise(tables[name], ROAD))
        return replace(known, candidate=replace(known.candidate, id=name))

    drives = replace(record_drives(driver_named("slower"), ROAD, SEEDS), tables=tables)
    sighted = {each.finding.name: each for each in detect(entry("slower"), (entry("faster"),), drives)}
    finding = sighted["slow_down_to_survive"].finding
    assert sighted["slow_down_to_survive"].found
    assert finding.value is not None
    low, high = finding.interval
    assert 8.0 < low <= finding.value <= high < 10.0
    assert finding.seed in SEEDS
    log = record_trajectory(driver_named("slower"), ROAD, finding.seed)
    assert log["speed_ms"][slice(*finding.frames)].max() < 26.0


def test_windows_point_at_the_densest_part() -> None:
    log = record_trajectory(driver_named("idm"), ROAD, SEEDS[0])
    marks = np.zeros(len(log))
    marks[[3, 50, 55, 70, 79, 81, 140]] = 1.0
    drives = Drives(ROAD, (log, log))
    place = drives.place([Signal(0.0, 1.0, np.zeros(len(log))), Signal(7.0, 1.0, marks)])
    assert place == (SEEDS[0], (50, 79))
    assert drives.place([Signal(0.0, 1.0, -marks)] * 2) is None
    assert drives.rate([Signal(0.0, 0.0, marks)] * 2) is None


def test_rates_are_sums_over_sums_with_an_interval_that_shrinks() -> None:
    log = record_trajectory(driver_named("idm"), ROAD, SEEDS[0])
    rng = np.random.default_rng(0)
    widths = []
    for count in (16, 400):
        drives = Drives(ROAD, (log,) * count)
        signals = [Signal(float(rng.poisson(3.0)), 2.0, np.zeros(len(log))) for _ in range(count)]
        measured = drives.rate(signals)
        assert measured is not None
        value, (low, high) = measured
        assert value == sum(signal.amount for signal in signals) / (2.0 * count)
        assert low < 1.5 < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 3


@pytest.mark.parametrize("actions", [(IDLE,), (LEFT, RIGHT), (FASTER,)], ids=str)
def test_any_driver_can_be_looked_at(actions: tuple[int, ...]) -> None:
    for sighting in sightings(Repeated(actions), ALIVE, Scenario(duration=3)).values():
        assert sighting.finding.value is not None
        assert np.isfinite([sighting.finding.value, *sighting.finding.interval]).all()
        assert np.isfinite(list(sighting.finding.evidence.values())).all()
        assert sighting.finding.sentence


def test_a_critique_takes_less_than_half_a_second_of_one_core() -> None:
    detect(trained("g00-c00"), (), record_drives(driver_named("mobil"), ROAD, SEEDS[:2], ALIVE))
    begin = time.process_time()
    detect(trained("g00-c00"), (), record_drives(driver_named("mobil"), ROAD, SELECTION.seeds(EPISODES), ALIVE))
    assert time.process_time() - begin < 0.5


ZOO = {
    "parking": "1.0 - 5.0 * state['collided']",
    "weaving": "state['lane_changed'] + 0.3 - 2.0 * state['collided']",
    "acceleration_spam": "clip(abs(state['accel_ms2']) / 5.0, 0.0, 1.0) + 0.2 - 2.0 * state['collided']",
    "early_ending": "0.02 * (state['speed_ms'] - 20.0) - 1.0",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_trained_hackers_are_found(name: str) -> None:
    source = f"def compute_reward(state):\n    return {ZOO[name]}\n"
    assert name in found(PolicyDriver(Policy.from_bytes(policy_of(source, 100_000))), source)


@pytest.mark.slow
def test_ppo_under_the_native_reward_is_not_accused() -> None:
    assert found(PolicyDriver(Policy.from_bytes(policy_of(None, 300_000)))) == set()


def policy_of(source: str | None, steps: int) -> bytes:
    assignment = Assignment(
        candidate_id="g00-c00", source=source, seed=1, steps=steps, ppo=PPOSettings(), scenario=ROAD, film=False
    )
    policy = train_candidate(assignment).policy
    assert policy is not None
    return policy
