"""The benchmarks of strategies, with trainings that are made up or last a moment."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import ttest_1samp

from actors.generation import derived_seed
from actors.plan import FinalsSettings
from benchmarks.strategies import BUDGET, STRATEGIES, keep, known, row_of, search_once
from benchmarks.winners_curse import (
    SHRINKAGES,
    distinct,
    first_finished,
    interval,
    print_table,
    retrain,
    retrainings,
)
from orchestrator.config import load_config
from orchestrator.runs import find_run
from search_spaces.errors import UsageError
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import SEED_SETS, Scenario
from tests.searches import driven, finish, opened, small_plan

FINALS = FinalsSettings(
    finalists=2, seeds=2, most_seeds=2, steps=256, leaders=1, leader_steps=256, confirm=2, ablate=0, replays=0
)
PPO = PPOSettings(environments=16, batch=256, minibatch=256, epochs=1, hidden=(8,))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two searches with finals, and one that has not finished."""
    folder = tmp_path_factory.mktemp("benchmark")
    for strategy, seed in (("evolve", 0), ("random", 1), ("random", 2)):
        plan = small_plan(
            strategy=strategy,
            seed=seed,
            generations=1,
            steps=256,
            held_out=20,
            baselines=False,
            finals=FINALS,
            ppo=PPO,
            scenario=Scenario(vehicles=8, duration=10),
        )
        coordinator = opened(folder / f"{strategy}-{seed}", plan)
        finish(coordinator, 2 if seed == 2 else 1000, driven)
        coordinator.close()
    return folder


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_search_of_the_benchmark_costs_the_same(strategy: str) -> None:
    plan = load_config(options={**BUDGET, "strategy": strategy, "seed": 3}).plan("x")
    assert (plan.strategy, plan.seed, plan.population, plan.generations, plan.steps) == (strategy, 3, 6, 4, 100_000)
    assert (plan.finals.leaders, plan.finals.most_seeds) == (1, plan.finals.seeds)
    assert (plan.baselines, plan.films, plan.rungs, plan.llm.spec) == (False, False, (), None)


def test_a_row_tells_what_came_of_a_search(out: Path) -> None:
    record = find_run(str(out / "evolve-0")).record()
    assert record.confirmed is not None
    assert record.confirmed.fitness is not None
    row = row_of(out / "evolve-0", "evolve", 0)
    assert row is not None
    assert (row["champion"], row["confirmed"]) == (record.champion, record.confirmed.fitness.value)
    assert row["shrinkage_of_selection"] == pytest.approx(row["selection"] - row["confirmed"])
    assert row["shrinkage_of_finals"] == pytest.approx(row["finals"] - row["confirmed"])
    assert (row["search_steps"], row["finals_steps"]) == (3000, 4000)
    assert row_of(out / "random-2", "random", 2) is None
    assert row_of(out / "random-9", "random", 9) is None


def test_rows_accumulate_and_one_of_the_same_search_is_replaced(tmp_path: Path) -> None:
    results = tmp_path / "deep" / "results.json"
    rows = [{"strategy": name, "seed": seed, "confirmed": 0.1} for name in ("random", "evolve") for seed in (1, 0)]
    for row in rows:
        assert not known(row, results)
        keep({**row, "commit": "a"}, results)
        assert known(row, results)
    keep({**rows[0], "confirmed": 0.2, "commit": "b"}, results)
    kept = json.loads(results.read_text())
    assert [(each["strategy"], each["seed"]) for each in kept] == [
        ("evolve", 0),
        ("evolve", 1),
        ("random", 0),
        ("random", 1),
    ]
    assert [each["confirmed"] for each in kept] == [0.1, 0.1, 0.1, 0.2]
    assert not known(rows[0], results)


def test_a_folder_with_another_search_is_left_alone(out: Path) -> None:
    with pytest.raises(UsageError, match="other settings"):
        search_once(out / "evolve-0", "evolve", 0, BUDGET)


def test_the_first_to_finish_are_trained_again_with_seeds_of_their_own(out: Path) -> None:
    runs = first_finished(out, 10)
    assert [run.name for run in runs] == ["evolve-0", "random-1"]
    assert [run.name for run in first_finished(out, 1)] == ["evolve-0"]
    record = runs[0].record()
    assert record.plan is not None
    asked = list(retrainings(record, record.plan, 3))
    used = {each.seed for each in record.archive.candidates.values()}
    seeds = {each.assignment.seed for each in asked}
    assert len(seeds) == 6
    assert not seeds & used
    assert asked[0].assignment.seed == derived_seed(0, f"{record.champion}-again0")
    assert {each.assignment.source for each in asked} == {record.archive.candidates[record.champion or ""].source}
    met = {seed for each in SEED_SETS.values() for seed in each.seeds(500)}
    assert all(len(episodes) == 20 for each in asked for episodes in each.episodes.values())
    assert not met & set(asked[-1].episodes["confirmed_elsewhere"])


def test_a_figure_is_only_compared_with_that_of_trainings_as_long(out: Path) -> None:
    record = first_finished(out, 1)[0].record()
    assert record.plan is not None
    longer = replace(record.plan, finals=replace(FINALS, leader_steps=512))
    search, finals = list(retrainings(record, longer, 1))
    assert (search.assignment.steps, finals.assignment.steps) == (256, 512)
    assert set(finals.episodes) == {"confirmed_again", "confirmed_elsewhere"}


def test_a_champion_is_really_trained_again(out: Path) -> None:
    record = first_finished(out, 1)[0].record()
    assert record.plan is not None
    search, finals = list(retrainings(record, record.plan, 1))
    assert set(search.episodes) == {"selection_again"}
    again = retrain(finals)
    assert set(again) == {"finals_again", "confirmed_again", "confirmed_elsewhere"}
    assert all(0.0 <= value <= 1.0 for value in again.values())
    broken = replace(
        finals.assignment, source='def compute_reward(state):\n    return 1.0 / (state["speed_ms"] * 0.0)\n'
    )
    assert retrain(replace(finals, assignment=broken)) == {}


def test_the_table_says_whether_zero_is_inside(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"strategy": "evolve", "champion": "g01-c00", "selection": 0.5, "confirmed": 0.4}
    shrinkages = {"of_selection": (0.1, 0.12, 0.11), "of_confirmed": (-0.02, 0.03, 0.01)}
    rows = [{**row, "seed": seed, **{name: values[seed] for name, values in shrinkages.items()}} for seed in range(3)]
    print_table(rows)
    lines = {line.strip()[:20]: line for line in capsys.readouterr().out.splitlines()}
    assert "0 is outside" in lines[SHRINKAGES["of_selection"][2][:20]]
    assert "0 is inside" in lines[SHRINKAGES["of_confirmed"][2][:20]]
    assert "too few" in lines[SHRINKAGES["of_finals"][2][:20]]


def test_a_champion_that_two_strategies_found_by_the_same_trainings_counts_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = {"seed": 3, "champion": "g00-c01", "selection": 0.5, "confirmed": 0.4}
    rows = [{**row, "strategy": name, "of_selection": 0.1} for name in ("evolve", "best-of-n")]
    rows += [{**rows[0], "seed": 4, "of_selection": 0.2}, {**rows[0], "selection": 0.51, "of_selection": 0.3}]
    assert [each["of_selection"] for each in distinct(rows)] == [0.1, 0.2, 0.3]
    print_table(rows)
    assert "1 searches found a champion that another one had found before" in capsys.readouterr().out


def test_the_interval_is_that_of_a_t_test() -> None:
    values = [0.01, -0.03, 0.02, 0.05, 0.0]
    mean, low, high = interval(values)
    expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (mean, low, high) == pytest.approx((0.01, expected.low, expected.high))
