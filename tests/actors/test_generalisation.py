from dataclasses import replace

import pytest

from actors.comparison import difference
from actors.evaluator import PolicyDriver
from actors.generalisation import ROADS, Generalisation, matrix, roads_for
from driving.drivers import DRIVERS, driver_named, run_episodes
from search_spaces.scenarios import PRESETS, REPORT, Scenario
from tests.policies import drawn_policy

EPISODES = 12
JAMMED = Scenario(density=2.0, vehicles=30)
DRIVEN = {
    "g01-c02": [PolicyDriver(drawn_policy(seed)) for seed in (1, 2)],
    "ppo-native": [PolicyDriver(drawn_policy(seed, leaning=1)) for seed in (3, 4)],
}


@pytest.fixture(scope="module")
def found() -> Generalisation:
    whole = matrix("g01-c02", DRIVEN, JAMMED, episodes=EPISODES)
    assert whole is not None
    return whole


def test_everyone_drives_every_road(found: Generalisation) -> None:
    assert [road.name for road in found.roads] == ["the search's own", *ROADS]
    assert [road.own for road in found.roads] == [True] + [False] * len(ROADS)
    for road in found.roads:
        assert [cell.name for cell in road.cells] == ["g01-c02", "ppo-native", *DRIVERS]
        assert all(0 <= cell.crash_low <= cell.crash_rate <= cell.crash_high <= 1 for cell in road.cells)
        assert [cell.name for cell in road.cells if cell.lead is None] == ["g01-c02"]
    assert Generalisation.from_json(found.to_json()) == found


def test_a_road_where_all_buttons_crash_is_infeasible_though_idm_gets_through(found: Generalisation) -> None:
    jam, *others = found.roads
    crashes = {cell.name: cell.crash_rate for cell in jam.cells}
    assert crashes["idm"] < 0.2 < 0.7 < crashes["slower"]
    assert not jam.feasible
    assert all(road.feasible for road in others)
    assert all(lead.roads == len(others) for lead in found.leads())
    assert "left out: the search's own" in found.sentence()


def test_leads_are_paired_differences_of_the_fitness(found: Generalisation) -> None:
    road = next(road for road in found.roads if road.name == "3 lanes, density 1")
    seeds = REPORT.seeds(EPISODES)
    mine = [run_episodes(road.scenario, seeds, each) for each in DRIVEN["g01-c02"]]
    slower = [run_episodes(road.scenario, seeds, driver_named("slower"))]
    cell = next(cell for cell in road.cells if cell.name == "slower")
    assert cell.lead == difference(mine, slower, road.scenario, trained=False)
    assert cell.crash_rate == slower[0].columns["crashed"].mean()
    assert road.cells[0].fitness is not None
    assert cell.fitness is not None
    assert cell.lead is not None
    assert cell.lead.value == pytest.approx(road.cells[0].fitness.value - cell.fitness.value)


def test_the_lead_counts_feasible_roads_alone(found: Generalisation) -> None:
    names = [lead.over for lead in found.leads()]
    assert names == ["ppo-native", *DRIVERS]
    mobil = next(lead for lead in found.leads() if lead.over == "mobil")
    faster = next(lead for lead in found.leads() if lead.over == "faster")
    assert mobil.ahead == mobil.surely == 0
    assert faster.ahead == faster.roads == len(ROADS)
    assert "mobil (0 of 7)" in found.sentence()
    ahead, surely = (sum(getattr(lead, each) == len(ROADS) for lead in found.leads()) for each in ("ahead", "surely"))
    assert 0 < ahead < 9
    assert (
        f"over {ahead} of 9 others on all 7 roads, over {surely} of them with the whole interval; not"
        in found.sentence()
    )
    first = next(road for road in found.roads if road.feasible)
    cells = tuple(replace(each, lead=None) if each.name == "faster" else each for each in first.cells)
    partly = replace(found, roads=tuple(replace(each, cells=cells) if each is first else each for each in found.roads))
    assert f"faster ({len(ROADS) - 1} of {len(ROADS)})" in partly.sentence()
    everywhere = replace(found, roads=tuple(replace(road, feasible=True) for road in found.roads))
    assert {lead.roads for lead in everywhere.leads()} == {len(ROADS) + 1}


def test_a_road_of_the_matrix_is_not_driven_twice() -> None:
    assert list(roads_for(Scenario())) == list(ROADS)
    assert list(roads_for(PRESETS["highway-v0"])) == list(ROADS)
    assert roads_for(JAMMED)["the search's own"] == JAMMED


def test_nobody_waits_for_it() -> None:
    assert matrix("g01-c02", DRIVEN, Scenario(), episodes=1, wanted=lambda: False) is None
