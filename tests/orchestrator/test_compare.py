import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from actors.aggregate import improvement, interquartile_mean
from actors.archive import Archive
from actors.messages import Fitness
from actors.plan import FinalsSettings, ImportedProgram
from actors.record import SearchRecord
from actors.standings import Confirmation
from orchestrator.cli import build_app
from orchestrator.compare import Compared, compare
from orchestrator.compare_table import print_comparison
from search_spaces.errors import UsageError
from search_spaces.scenarios import Scenario, seed_sets_digest
from tests.orchestrator.journals import Script, candidate, outcome, plan

CANDIDATES = ("g00-c00", "g00-c01", "g01-c00")
SELECTION = (0.30, 0.45, 0.40)


def judged(value: float) -> Fitness:
    return Fitness(value=value, terms={}, gate=1.0)


def record(seed: int, confirmed: float | None, steps: int = 100_000, **asked: Any) -> SearchRecord:
    """A finished search; `confirmed` is its champion's fitness on report episodes."""
    accepted = {name: candidate(name, int(name[2])) for name in CANDIDATES}
    for stage, suffix in (("qualifying", "q0"), ("confirming", "r0")):
        name = f"g00-c01-{suffix}"
        accepted[name] = candidate(name, -1, role="replicate", of="g00-c01", stage=stage)
    asked = {"finals": FinalsSettings(confirm=3), **asked}
    return SearchRecord(
        plan=plan(search_id=f"search-{seed}-{steps}", seed=seed, steps=steps, **asked),
        archive=Archive(
            candidates=accepted,
            outcomes={name: outcome(name, env_steps=steps) for name in accepted},
            fitnesses={name: judged(value) for name, value in zip(CANDIDATES, SELECTION, strict=True)},
        ),
        finished=True,
        champion="g00-c01",
        confirmed=Confirmation(
            champion="g00-c01",
            episodes=500,
            replicates=3,
            steps=steps,
            selection=0.45,
            finals=0.41,
            fitness=None if confirmed is None else judged(confirmed),
            shrinkage_of_selection=None,
            shrinkage_of_finals=None,
            seeds_digest=seed_sets_digest(),
        ),
    )


def repeats(strategy: str, values: list[float | None], **asked: Any) -> dict[str, SearchRecord]:
    return {f"{strategy}-{seed}": record(seed, value, strategy=strategy, **asked) for seed, value in enumerate(values)}


EVOLVE, RANDOM = [0.40, 0.44, 0.38, 0.46, 0.42], [0.20, 0.24, 0.43, 0.22, 0.18]


def printed(compared: Compared, width: int = 120) -> str:
    console = Console(width=width, no_color=True)
    with console.capture() as captured:
        print_comparison(console, compared)
    return captured.get()


def test_repeats_of_a_plan_are_one_group_and_the_first_is_compared_with_each_other() -> None:
    compared = compare({**repeats("evolve", [*EVOLVE]), **repeats("random", [*RANDOM])})
    evolve, random = compared.groups
    assert (evolve.name, random.name) == ("evolve", "random")
    assert [each.seed for each in evolve.repeats] == [0, 1, 2, 3, 4]
    assert evolve.iqm == interquartile_mean(EVOLVE)
    assert (random.best, random.improvement) == (0.43, improvement(EVOLVE, RANDOM))
    assert evolve.improvement is None
    assert (evolve.search_steps, evolve.finals_steps) == (300_000, 100_000)
    assert compared.figure == "confirmed"
    assert compared.warnings == ()


def test_groups_are_named_by_what_differs() -> None:
    compared = compare({**repeats("evolve", [0.4]), "big": record(1, 0.5, strategy="evolve", population=9)})
    assert [each.name for each in compared.groups] == ["evolve, population 2", "evolve, population 9"]


def test_the_table_shows_intervals_chances_and_steps_to_a_fitness() -> None:
    text = printed(compare({**repeats("evolve", [*EVOLVE]), **repeats("random", [*RANDOM])}, reach=0.45))
    evolve, random = (
        next(line for line in text.splitlines() if line.startswith(each)) for each in ("evolve", "random")
    )
    assert evolve.split()[:4] == ["evolve", "5", "0.30+0.10", "0.420"]
    assert "0.420 [" in evolve
    assert "0.20 M (5 of 5)" in evolve
    assert "0.88 [" in random
    assert "none of 5" in printed(compare(repeats("evolve", [*EVOLVE]), reach=0.9))


def test_the_table_fits_a_terminal_of_80_characters() -> None:
    records = {**repeats("evolve", [*EVOLVE]), **repeats("best-of-n", [*RANDOM])}
    records["best-of-n-4"] = replace(records["best-of-n-4"], finished=False)
    lines = printed(compare(records), 80).splitlines()
    header, *rows = lines[lines.index("") + 1 :][:3]
    assert header.split() == ["runs", "M", "steps", "mean", "IQM", "best", "P"]
    assert rows[0].startswith("evolve")
    assert rows[1].split()[:4] == ["best-of-n", "4", "of", "5"]
    assert "…" not in "".join(rows)


def test_compute_that_differs_is_said() -> None:
    compared = compare({**repeats("evolve", [*EVOLVE]), **repeats("random", [*RANDOM], steps=106_000)})
    assert any("+6% environment steps" in each for each in compared.warnings)
    within = compare({**repeats("evolve", [*EVOLVE]), **repeats("random", [*RANDOM], steps=104_000)})
    assert not any("environment steps" in each for each in within.warnings)


def test_searches_that_did_not_finish_do_not_thin_out_the_compute() -> None:
    """A group is as dear as the searches whose champions count."""
    dear = repeats("random", [*RANDOM, 0.4, 0.4], steps=200_000)
    for name in ("random-5", "random-6"):
        archive = replace(dear[name].archive, outcomes={})
        dear[name] = replace(dear[name], archive=archive, finished=False)
    compared = compare({**repeats("evolve", [*EVOLVE]), **dear})
    assert (compared.groups[1].search_steps, compared.groups[1].finals_steps) == (600_000, 200_000)
    assert any("+100% environment steps" in each for each in compared.warnings)


def test_champions_that_were_confirmed_after_longer_trainings_are_told() -> None:
    longer = repeats("random", [*RANDOM])
    for name, each in longer.items():
        assert each.confirmed is not None
        longer[name] = replace(each, confirmed=replace(each.confirmed, steps=300_000))
    (warning,) = compare({**repeats("evolve", [*EVOLVE]), **longer}).warnings
    assert "random: champions were trained for 300,000 environment steps to be confirmed" in warning


def test_confirming_trainings_that_broke_are_told() -> None:
    records = repeats("evolve", [*EVOLVE])
    confirmed = records["evolve-1"].confirmed
    assert confirmed is not None
    records["evolve-1"] = replace(records["evolve-1"], confirmed=replace(confirmed, replicates=1))
    (warning,) = compare(records).warnings
    assert warning == "evolve-1: 2 of its 3 confirming trainings broke; leaving them out flatters"


def test_a_search_that_was_given_programs_is_no_repeat_of_one_that_was_not() -> None:
    given = ImportedProgram(name="night-owl/g01-c00", source="def compute_reward(state): ...")
    records = {
        **repeats("evolve", [*EVOLVE]),
        "told": record(7, 0.5, imported=(given,)),
        "told-otherwise": record(8, 0.6, imported=(replace(given, source="another"),)),
        "started": record(9, 0.6, start_from=("mine",)),
    }
    names = [each.name for each in compare(records).groups]
    assert len(names) == len(set(names)) == 4
    assert names[0] == "evolve, start_from none, imported none"
    assert names[1].startswith("evolve, start_from none, imported 1 (")


def test_few_repeats_and_repeated_seeds_are_said() -> None:
    again = {"again": replace(record(0, 0.4, strategy="evolve"))}
    (warning, few) = compare({**repeats("evolve", [0.4]), **again}).warnings
    assert "seed 0 occurs twice" in warning
    assert "2 of its repeats count; at least 5" in few


def test_what_did_not_finish_or_has_no_champion_is_left_out_and_said() -> None:
    records = repeats("evolve", [0.4, None, 0.5])
    records["evolve-2"] = replace(records["evolve-2"], finished=False)
    compared = compare(records)
    assert compared.groups[0].scored == 1
    assert any("unfinished: evolve-2" in each for each in compared.warnings)
    assert any("1 finished without a champion" in each for each in compared.warnings)
    assert "1 of 3" in printed(compared)
    nobody = compare(repeats("evolve", [None]))
    assert (nobody.groups[0].iqm, nobody.groups[0].mean) == (None, None)
    assert "0 of 1" in printed(nobody)


def test_without_finals_the_selection_counts_and_is_called_inflated() -> None:
    records = repeats("evolve", [0.4, 0.4], finals=FinalsSettings(finalists=0))
    plain = {name: replace(each, confirmed=None) for name, each in records.items()}
    compared = compare({**plain, **repeats("random", [0.2])})
    assert compared.figure == "selection"
    assert compared.groups[0].best == 0.45
    assert compared.groups[1].best == 0.45
    assert "inflated by luck" in compared.warnings[0]
    assert "left aside" in compared.warnings[1]


def test_other_roads_and_other_traffic_are_refused() -> None:
    with pytest.raises(UsageError, match="a and b drive on different roads"):
        compare({"a": record(0, 0.4), "b": record(0, 0.4, scenario=Scenario(lanes=4))})
    other = record(1, 0.4)
    assert other.confirmed is not None
    other = replace(other, confirmed=replace(other.confirmed, seeds_digest="another"))
    with pytest.raises(UsageError, match="a and b met different traffic"):
        compare({"a": record(0, 0.4), "b": other})
    with pytest.raises(UsageError, match=r"a and b met different traffic \(held_out\)"):
        compare({"a": record(0, 0.4), "b": record(1, 0.4, held_out=50)})
    with pytest.raises(UsageError, match="c has not started"):
        compare({"c": SearchRecord()})


def test_the_command_compares_runs(tmp_path: Path) -> None:
    for strategy in ("evolve", "random"):
        script = Script(tmp_path / strategy)
        script.start(strategy=strategy, finals=FinalsSettings(finalists=0))
        script.accept("g00-c00", 0)
        script.deliver("g00-c00", better=strategy == "evolve")
        script.finish("g00-c00")
        script.close()
    runs = [str(tmp_path / strategy) for strategy in ("evolve", "random")]
    result = CliRunner().invoke(build_app(), ["compare", *runs])
    assert result.exit_code == 0, result.output
    assert "1.00" in result.output
    assert "[" not in result.output.partition("\n\n")[2].partition("\n\n")[0]  # one repeat has no interval
    told = json.loads(CliRunner().invoke(build_app(), ["compare", *runs, "--json", "-"]).output)
    assert Compared.from_json(told).groups[1].name == "random"
    assert told["groups"][0]["repeats"][0]["selection"] == told["groups"][0]["best"]
    CliRunner().invoke(build_app(), ["compare", *runs, "--json", str(tmp_path / "out.json")])
    assert json.loads((tmp_path / "out.json").read_text()) == told
    assert CliRunner().invoke(build_app(), ["compare", runs[0], runs[0]]).exit_code == 2
