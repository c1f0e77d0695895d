from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from actors.fitness import fitness
from actors.messages import ScreenVerdict
from actors.screen import EPISODES, RESOLUTION, Gap, Screen, choose
from driving.drivers import DRIVERS, driver_named, record_traces, run_episodes
from driving.measures import summarise
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import PRESETS, SCREEN
from search_spaces.starting_programs import STARTING_PROGRAMS
from search_spaces.state import FIELD_INDEX

ROAD = PRESETS["highway-fast-v0"]
SEEDS = SCREEN.seeds(EPISODES)


def program(text: str) -> RewardProgram:
    compiled = compile_program(text if text.startswith("def") else f"def compute_reward(state):\n    return {text}\n")
    assert isinstance(compiled, RewardProgram), compiled
    return compiled


def baseline_fitness(name: str) -> float:
    judged = fitness(summarise(run_episodes(ROAD, SEEDS, driver_named(name)), ROAD))
    assert judged is not None
    return judged.value


def tau(returns: list[float], fitnesses: list[float]) -> float:
    return float(kendalltau(returns, [round(value / RESOLUTION) for value in fitnesses]).statistic)


@pytest.fixture(scope="module")
def screen() -> Screen:
    return Screen(ROAD)


@pytest.mark.parametrize("name", ["progress", "overtake"])
def test_tau_is_kendalls_between_undiscounted_returns_and_fitness(screen: Screen, name: str) -> None:
    asked = program(STARTING_PROGRAMS[name])
    returns = []
    for driver in DRIVERS:
        traces = record_traces(ROAD, SEEDS, driver_named(driver))
        rows = traces.states[traces.alive]
        states = ({field: float(row[FIELD_INDEX[field]]) for field in asked.fields} for row in rows)
        returns.append(sum(asked.evaluate(state).total for state in states))
    expected = tau(returns, [baseline_fitness(driver) for driver in DRIVERS])
    [verdict] = screen.rank([asked])
    assert verdict == ScreenVerdict(tau=pytest.approx(expected), rank=0, of=1)


def test_good_rewards_rank_before_bad_ones_and_undefined_last(screen: Screen) -> None:
    sound = program(STARTING_PROGRAMS["progress"])
    suicide = program('-1.0 - 0.01 * state["speed_ms"]')
    constant_there = program('max(state["lanes_count"], 3.0)')
    faulty = program('math.log(state["ttc"])')
    nothing = program('0.0 * state["speed_ms"]')
    verdicts = screen.rank([nothing, suicide, faulty, sound, constant_there])
    assert verdicts[3].rank == 0
    assert verdicts[0].tau is None
    assert verdicts[2].tau is None
    assert verdicts[1].tau is not None
    assert verdicts[1].tau < 0
    assert {verdicts[0].rank, verdicts[2].rank} == {3, 4}
    assert [verdict.of for verdict in verdicts] == [5] * 5


def test_trained_candidates_count_once_they_are_added() -> None:
    screen = Screen(ROAD)
    asked = [program('state["speed_ms"]'), program('-state["speed_ms"]')]
    before = screen.rank(asked)
    screen.add_policy("g00-c00", driver_named("faster"), 0.9)
    screen.add_policy("g00-c00", driver_named("faster"), 0.9)
    after = screen.rank(asked)
    fitnesses = [*(baseline_fitness(driver) for driver in DRIVERS), 0.9]
    returns = [record_speed(driver) for driver in (*DRIVERS, "faster")]
    assert after[0].tau == pytest.approx(tau(returns, fitnesses))
    assert after[0].tau != before[0].tau


def record_speed(driver: str) -> float:
    traces = record_traces(ROAD, SEEDS, driver_named(driver))
    return float(traces.states[traces.alive][:, FIELD_INDEX["speed_ms"]].sum())


def far(_index: int, _taken: Sequence[int]) -> float:
    return 1.0


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.integers(1, 10), st.integers(0, 1000))
def test_the_best_are_chosen_and_one_at_random(taus: list[float], count: int, seed: int) -> None:
    order = sorted(range(len(taus)), key=lambda index: -taus[index])
    verdicts = [ScreenVerdict(tau=tau, rank=order.index(index), of=len(taus)) for index, tau in enumerate(taus)]
    chosen = choose(verdicts, count, np.random.default_rng(seed), far)
    indices = [index for index, _ in chosen]
    assert len(set(indices)) == len(indices) == min(count, len(taus))
    lucky = [verdict for _, verdict in chosen if verdict.at_random]
    if count == 1 or count >= len(taus):
        assert lucky == []
        assert indices == order[:count]
    else:
        assert indices[:-1] == order[: count - 1]
        assert lucky == [chosen[-1][1]]


def test_the_one_at_random_is_any_of_the_others() -> None:
    verdicts = [ScreenVerdict(tau=None, rank=index, of=8) for index in range(8)]
    drawn = {choose(verdicts, 3, np.random.default_rng(seed), far)[-1][0] for seed in range(100)}
    assert drawn == {2, 3, 4, 5, 6, 7}


LINE = [0.0, 0.001, 0.05, 0.3, 0.31, 0.9]


def along(index: int, taken: Sequence[int]) -> float:
    return min((abs(LINE[index] - LINE[each]) for each in taken), default=1.0)


def chosen_along(count: int, gap: Gap) -> list[int]:
    verdicts = [ScreenVerdict(tau=1.0 - index / 10, rank=index, of=len(LINE)) for index in range(len(LINE))]
    return [index for index, verdict in choose(verdicts, count, np.random.default_rng(0), gap) if not verdict.at_random]


def test_the_chosen_lie_apart() -> None:
    assert chosen_along(4, along) == [0, 3, 5]


def test_where_too_few_lie_apart_nearer_ones_fill_up_and_copies_come_last() -> None:
    assert chosen_along(5, along) == [0, 2, 3, 5]
    assert chosen_along(6, along) == list(range(6))


def test_what_is_near_a_known_program_is_passed_over() -> None:
    def beside_the_first(index: int, taken: Sequence[int]) -> float:
        return min(abs(LINE[index] - LINE[0]), along(index, taken))

    assert chosen_along(3, beside_the_first) == [3, 5]
