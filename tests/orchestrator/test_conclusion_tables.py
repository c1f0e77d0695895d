"""What is said, shown and logged of a champion once it is confirmed."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from actors.difference import Difference
from actors.generalisation import Cell, Compatibility, Generalisation, Road
from actors.message import Message
from actors.messages import Fitness
from actors.standings import Confirmation
from actors.storage import Storage
from actors.upstream_comparison import EpisodeDifference, Replay
from orchestrator.conclusion_tables import matrix_table, say_conclusion, sentences
from orchestrator.finals_points import SAID, figures, text
from orchestrator.launch import conclude
from orchestrator.runs import Run
from search_spaces.errors import SimulatorMismatchError
from search_spaces.scenarios import PRESETS, REPORT, Scenario
from tests.orchestrator.journals import SCORES, Script

GOOD = Replay(name="g00-c00-r0", episodes=100, first_seed=REPORT.first, redelivered=0)
WRONG = replace(
    GOOD, differing=(EpisodeDifference(seed=REPORT.first + 7, kernel={"crashed": 0.0}, upstream={"crashed": 1.0}),)
)


def fitness(value: float) -> Fitness:
    return Fitness(value=value, terms={}, gate=1.0, low=value - 0.02, high=value + 0.02)


def cell(name: str, value: float, lead: float | None = None) -> Cell:
    difference = (
        None
        if lead is None
        else Difference(value=lead, low=lead - 0.03, high=lead + 0.03, probability_of_improvement=1.0)
    )
    return Cell(name=name, fitness=fitness(value), crash_rate=0.05, crash_low=0.03, crash_high=0.09, lead=difference)


def road(name: str, scenario: Scenario, lead: float, *, feasible: bool = True) -> Road:
    cells = (cell("g00-c00", 0.5), cell("ppo-native", 0.5 - lead, lead))
    return Road(name=name, scenario=scenario, own=scenario == Scenario(), feasible=feasible, cells=cells)


ROADS = Generalisation(
    champion="g00-c00",
    episodes=200,
    roads=(
        road("3 lanes, density 1", Scenario(), 0.2),
        road("4 lanes, density 1", Scenario(lanes=4), 0.01),
        road("highway-v0", PRESETS["highway-v0"], -0.1),
        road("the search's own", Scenario(density=2.0), 0.4, feasible=False),
    ),
)
CONFIRMED = Confirmation(
    champion="g00-c00",
    episodes=500,
    replicates=5,
    steps=1000,
    selection=0.6,
    finals=0.5,
    fitness=fitness(0.5),
    shrinkage_of_selection=0.1,
    shrinkage_of_finals=0.0,
    seeds_digest="",
)


def run_with(folder: Path, *said: tuple[str, Message]) -> Run:
    """A finished run whose champion was confirmed, and of which this was said."""
    script = Script(folder)
    script.start()
    script.accept("g00-c00", 0)
    script.deliver("g00-c00")
    script.baseline("slower")
    for kind, message in (("confirmed", CONFIRMED), *said):
        script.journal.append(kind, message.to_json())
    script.finish("g00-c00")
    script.close()
    return Run(str(folder), Storage.at(folder), folder.parent)


def printed(run: Run) -> str:
    console = Console(file=io.StringIO(), width=80, force_terminal=False)
    say_conclusion(console, run.record())
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_all_of_it_is_said(tmp_path: Path) -> None:
    scores = Compatibility(scores={"g00-c00": SCORES, "faster": replace(SCORES, score=None, ttc=None)})
    run = run_with(tmp_path / "run", ("replayed", GOOD), ("generalised", ROADS), ("scored", scores))
    said = sentences(run.record())
    assert said[0] == "100 of 100 report episodes of g00-c00-r0 are identical in highway-env"
    assert said[1] == (
        "g00-c00 keeps its lead over 0 of 1 others on all 3 roads; not over ppo-native (2 of 3); "
        "infeasible for everyone, left out: the search's own"
    )
    assert said[2].startswith("nobody is both faster and safer")
    shown = printed(run)
    assert "(out)" in shown
    assert "compatibility score" in shown
    assert all(f"{sentence[:60]}" in shown.replace("\n", " ") for sentence in said)
    assert text(run.record()).splitlines()[-3:] == said


def test_before_that_nothing_is_said_but_the_front(tmp_path: Path) -> None:
    run = run_with(tmp_path / "run")
    assert len(sentences(run.record())) == 1
    assert "compatibility" not in printed(run)


def test_the_matrix_counts_leads_on_feasible_roads() -> None:
    (lead,) = ROADS.leads()
    assert (lead.over, lead.ahead, lead.surely, lead.roads) == ("ppo-native", 2, 1, 3)
    console = Console(file=io.StringIO(), width=80)
    console.print(matrix_table(ROADS))
    assert isinstance(console.file, io.StringIO)
    assert " 2/3" in console.file.getvalue()


def test_a_search_whose_champion_differs_in_highway_env_fails_after_all_is_told(root: Path) -> None:
    run = run_with(root / "differs", ("replayed", WRONG))
    console = Console(file=io.StringIO(), width=80)
    with pytest.raises(SimulatorMismatchError, match=r"1 of 100 episodes differ.*g00-c00-r0 --upstream") as caught:
        conclude(console, run)
    assert caught.value.exit_code == 1
    assert isinstance(console.file, io.StringIO)
    assert "99 of 100 report episodes" in console.file.getvalue()
    assert "results:" in console.file.getvalue()


def test_where_the_maths_differ_the_same_count_fails_nothing(root: Path) -> None:
    unsure = replace(WRONG, differing_functions=("tan",))
    console = Console(file=io.StringIO(), width=200)
    conclude(console, run_with(root / "differs-unsurely", ("replayed", unsure)))
    assert isinstance(console.file, io.StringIO)
    assert "99 of 100 report episodes" in console.file.getvalue()
    assert "no verdict" in console.file.getvalue()


def test_mlflow_is_told_in_names_that_it_takes() -> None:
    assert {"replayed", "generalised", "scored"} <= set(SAID)
    points = {
        each.name: each.value
        for said in (GOOD, ROADS, Compatibility(scores={"slower": SCORES}))
        for each in figures(said)
    }
    assert points["replay/episodes"] == 100
    assert points["replay/differing"] == 0
    assert points["roads/3 lanes density 1/ppo-native/fitness/value"] == pytest.approx(0.3)
    assert points["roads/highway-v0/g00-c00/crash_rate"] == 0.05
    assert points["lampilot/slower/driving_score"] == 65.5
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-./ ") for name in points)
