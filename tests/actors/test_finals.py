"""Finals with made-up trainings: everything else is real."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from actors import finals
from actors.coordinator import Coordinator
from actors.journal import JournalReader
from actors.ledger import replay
from actors.messages import Assignment
from actors.outcome import Delivery
from actors.plan import FinalsSettings, SearchPlan
from actors.record import SearchRecord
from actors.standings import Standing
from actors.storage import Storage
from driving.drivers import DRIVERS
from search_spaces.scenarios import REPORT, seed_sets_digest
from tests.searches import Deliver, delivery, driven, finish, opened, small_plan, speed_of

FINALS: dict[str, Any] = {
    "finalists": 2,
    "seeds": 2,
    "steps": 2000,
    "leaders": 2,
    "leader_steps": 3000,
    "most_seeds": 3,
    "confirm": 2,
    "ablate": 2000,
    "replays": 0,
}


def plan(generations: int = 1, **changes: Any) -> SearchPlan:
    return small_plan(generations=generations, held_out=20, finals=FinalsSettings(**{**FINALS, **changes}))


def record_of(run: Path) -> SearchRecord:
    return replay(JournalReader(Storage.at(run)))


def standing(record: SearchRecord, stage: str) -> Standing:
    return record.standings[stage]


def searched(run: Path, asked: SearchPlan, deliver: Deliver = driven) -> tuple[SearchRecord, list[str]]:
    coordinator = opened(run, asked)
    trained = finish(coordinator, deliver=deliver)
    coordinator.close()
    return record_of(run), trained


def held(finished: Path, run: Path, asked: SearchPlan, deliver: Deliver = driven) -> tuple[SearchRecord, list[str]]:
    """The finals of another plan after the same search, which is copied."""
    storage = Storage.at(run)
    for name in sorted(each.name for each in (finished / "events").iterdir()):
        event = json.loads((finished / "events" / name).read_text())
        if event["kind"] == "search_started":
            event["data"]["plan"] = asked.to_json()
        storage.write(f"events/{name}", json.dumps(event).encode())
        if event["kind"] == "generation_finished":
            break
    for file in [*finished.glob("candidates/g00-c0?/*"), *finished.glob("baselines/**/*.parquet")]:
        storage.write(str(file.relative_to(finished)), file.read_bytes())
    return searched(run, asked, deliver)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A search that held its finals."""
    run = tmp_path_factory.mktemp("finals") / "run"
    _, trained = searched(run, plan())
    return run, trained


def breaking(*broken: str) -> Deliver:
    """Trainings of which those break whose id ends like this."""

    def deliver(assignment: Assignment) -> Delivery:
        if any(assignment.candidate_id.endswith(each) for each in broken):
            return delivery(assignment.candidate_id, status="faulted", reason="the reward was inf at decision 3")
        return driven(assignment)

    return deliver


def test_the_best_are_trained_again_stage_by_stage(finished: tuple[Path, list[str]]) -> None:
    run, trained = finished
    record = record_of(run)
    best = [each.candidate.id for each in record.archive.top(2)]
    assert best == sorted(["g00-c00", "g00-c01", "g00-c02"], key=speed_of)[::-1][:2]
    qualifying = [each for each in trained if "-q" in each]
    assert sorted(qualifying) == sorted(f"{name}-q{number}" for name in best for number in range(2))
    assert max(trained.index(each) for each in qualifying) < min(trained.index(f"{name}-d0") for name in best)
    assert record.champion is not None
    assert {f"{record.champion}-r0", f"{record.champion}-r1", "ppo-native-r0", "ppo-hand-tuned-r1"} <= set(trained)
    assert len(trained) == len(set(trained))
    assert record.finished


def test_each_training_has_its_own_seed_and_its_stage_decides_steps_and_episodes(
    finished: tuple[Path, list[str]],
) -> None:
    candidates = record_of(finished[0]).archive.candidates
    replicates = [each for each in candidates.values() if each.role == "replicate"]
    seeds = [each.seed for each in candidates.values() if each.role != "ablation"]
    assert len(set(seeds)) == len(seeds)
    told = {each.stage: (each.steps, each.seed_set) for each in replicates}
    assert told == {"qualifying": (2000, "finals"), "deciding": (3000, "finals"), "confirming": (3000, "report")}
    assert all(each.source == candidates[each.of or ""].source for each in replicates)
    assert all(each.seed_set != "report" for each in candidates.values() if each.stage != "confirming")


def test_leaders_that_cannot_be_told_apart_get_more_seeds_up_to_the_limit(finished: tuple[Path, list[str]]) -> None:
    record = record_of(finished[0])
    rows = standing(record, "deciding").rows
    first, second = rows[0].fitness, rows[1].fitness
    assert first is not None
    assert second is not None
    assert first.low is not None
    assert second.high is not None
    assert first.low <= second.high
    assert [row.replicates for row in rows] == [3, 3]
    assert record.champion == rows[0].of
    events = JournalReader(Storage.at(finished[0])).events_after()
    told = [each.data for each in events if each.kind == "standing" and each.data["stage"] == "deciding"]
    assert [[row["replicates"] for row in each["rows"]] for each in told] == [[2, 2], [3, 3]]


def test_the_champion_is_confirmed_on_episodes_and_seeds_that_selected_nobody(finished: tuple[Path, list[str]]) -> None:
    record = record_of(finished[0])
    confirmed = record.confirmed
    assert confirmed is not None
    assert confirmed.champion == record.champion
    assert (confirmed.episodes, confirmed.replicates, confirmed.steps) == (20, 2, 3000)
    assert confirmed.fitness is not None
    assert confirmed.fitness.low is not None
    assert confirmed.selection is not None
    assert confirmed.shrinkage_of_selection == pytest.approx(confirmed.selection - confirmed.fitness.value)
    assert {"ppo-native", "ppo-hand-tuned", *DRIVERS} <= set(confirmed.differences) == set(confirmed.native_returns)
    native = standing(record, "confirming").row("ppo-native")
    assert native is not None
    assert native.fitness is not None
    difference = confirmed.differences["ppo-native"]
    assert difference.value == pytest.approx(confirmed.fitness.value - native.fitness.value)
    assert difference.low <= difference.value <= difference.high
    assert confirmed.seeds_digest == seed_sets_digest()
    assert set(record.report_baselines) == set(DRIVERS)
    assert {each.stem for each in (finished[0] / "baselines" / "report").iterdir()} == set(DRIVERS)


def test_every_component_of_the_champion_is_dropped_once(finished: tuple[Path, list[str]]) -> None:
    record = record_of(finished[0])
    ablation = record.ablation
    assert ablation is not None
    assert record.champion is not None
    champion = record.archive.candidates[record.champion]
    assert [each.component for each in ablation.rows] != []
    for row in ablation.rows:
        left = record.archive.candidates[f"{champion.id}-without-{row.component}"]
        assert f'"{row.component}"' in champion.source
        assert f'"{row.component}"' not in left.source
        assert (left.seed, left.steps) == (record.archive.candidates[f"{champion.id}-q0"].seed, 2000)
        assert row.difference is not None


def test_the_summary_and_the_progress_tell_of_it(finished: tuple[Path, list[str]]) -> None:
    run, trained = finished
    summary = json.loads((run / "summary.json").read_text())["finals"]
    assert set(summary["standings"]) == {"qualifying", "deciding", "confirming"}
    assert summary["confirmed"]["champion"] == record_of(run).champion
    coordinator = Coordinator(str(run), plan(), session="two", threads=False)
    progress = coordinator.progress()
    coordinator.close()
    assert progress.phase == "finished"
    assert (
        progress.finals_done == progress.finals_known == sum("-" in each[7:] for each in trained if each[0] == "g") + 4
    )
    assert len(progress.standings) == 3


@pytest.mark.parametrize("part", [0.5, 0.7, 0.8, 0.9, 0.97])
def test_resumed_after_any_event_it_comes_to_the_same_end(
    finished: tuple[Path, list[str]], tmp_path: Path, part: float
) -> None:
    run, _ = finished
    names = sorted(each.name for each in (run / "events").iterdir())
    storage = Storage.at(tmp_path)
    for name in names[: int(part * len(names))]:
        storage.write(f"events/{name}", (run / "events" / name).read_bytes())
    for file in [*run.glob("candidates/*/*"), *run.glob("baselines/**/*.parquet")]:
        storage.write(str(file.relative_to(run)), file.read_bytes())
    delivered = set(record_of(tmp_path).archive.outcomes)
    coordinator = opened(tmp_path, plan(), session="two")
    trained = finish(coordinator, deliver=driven)
    coordinator.close()
    whole, again = record_of(run), record_of(tmp_path)
    assert not delivered & set(trained)
    assert again.archive == whole.archive
    assert again.standings == whole.standings
    assert (again.confirmed, again.ablation, again.champion) == (whole.confirmed, whole.ablation, whole.champion)


def test_a_finalist_of_which_all_trainings_break_is_out_and_that_is_said(
    finished: tuple[Path, list[str]], tmp_path: Path
) -> None:
    names = sorted(["g00-c00", "g00-c01", "g00-c02"], key=speed_of)[::-1]
    record, trained = held(finished[0], tmp_path, plan(ablate=0), breaking(f"{names[0]}-q0", f"{names[0]}-q1"))
    row = standing(record, "qualifying").rows[-1]
    assert (row.of, row.fitness, row.replicates, row.failed) == (names[0], None, 0, 2)
    assert any(f"{names[0]} is out" in each and "inf at decision 3" in each for each in record.notices)
    assert f"{names[0]}-d0" not in trained
    assert record.champion == names[1]
    assert record.ablation is None


def test_one_that_breaks_once_stands_behind_those_that_never_do(
    finished: tuple[Path, list[str]], tmp_path: Path
) -> None:
    names = sorted(["g00-c00", "g00-c01", "g00-c02"], key=speed_of)[::-1]
    record, _ = held(finished[0], tmp_path, plan(ablate=0, leaders=1), breaking(f"{names[0]}-q1"))
    rows = standing(record, "qualifying").rows
    assert [(row.of, row.failed) for row in rows] == [(names[1], 0), (names[0], 1)]
    assert record.champion == names[1]


def test_when_every_finalist_breaks_there_is_no_champion_and_the_search_still_ends(
    finished: tuple[Path, list[str]], tmp_path: Path
) -> None:
    record, _ = held(finished[0], tmp_path, plan(), breaking("-q0", "-q1"))
    assert record.finished
    assert (record.champion, record.confirmed, record.ablation) == (None, None, None)


def test_a_champion_that_breaks_where_it_is_confirmed_is_said_to_have_no_figure(
    finished: tuple[Path, list[str]], tmp_path: Path
) -> None:
    names = sorted(["g00-c00", "g00-c01", "g00-c02"], key=speed_of)[::-1]
    record, _ = held(
        finished[0], tmp_path, plan(ablate=0), breaking(*(f"{name}-r{n}" for name in names for n in (0, 1)))
    )
    assert record.confirmed is not None
    assert (record.confirmed.fitness, record.confirmed.replicates) == (None, 0)
    assert record.confirmed.differences == {}


def test_where_nobody_is_judged_there_are_no_finals(tmp_path: Path) -> None:
    record, trained = searched(tmp_path, plan(), breaking("c00", "c01", "c02"))
    assert (record.finished, record.champion, record.standings) == (True, None, {})
    assert not any("-q" in each for each in trained)


def test_without_finals_the_best_candidate_is_the_champion(finished: tuple[Path, list[str]], tmp_path: Path) -> None:
    record, trained = held(finished[0], tmp_path, plan(finalists=0))
    assert record.champion == record.archive.top(1)[0].candidate.id
    assert trained == ["ppo-native", "ppo-hand-tuned"]


@pytest.mark.parametrize(
    ("changes", "stage"),
    [
        ({}, "deciding"),
        ({"leaders": 1}, "qualifying"),
        ({"leader_steps": 2000}, "qualifying"),
        ({"leader_steps": 1000}, "qualifying"),
    ],
)
def test_leaders_are_trained_again_only_where_that_decides_anything(changes: dict[str, int], stage: str) -> None:
    assert finals.decider(plan(**changes)) == stage


def test_fewer_judged_candidates_than_finalists_is_fine(finished: tuple[Path, list[str]], tmp_path: Path) -> None:
    record, _ = held(finished[0], tmp_path, plan(finalists=9, leaders=5, ablate=0))
    assert len(standing(record, "qualifying").rows) == len(standing(record, "deciding").rows) == 3
    assert record.champion is not None


def test_the_qualifying_stage_decides_with_more_seeds_where_there_is_no_other(
    finished: tuple[Path, list[str]], tmp_path: Path
) -> None:
    record, trained = held(finished[0], tmp_path, plan(leader_steps=2000, ablate=0))
    assert set(record.standings) == {"qualifying", "confirming"}
    assert [row.replicates for row in standing(record, "qualifying").rows] == [3, 3]
    assert not any("-d" in each for each in trained)


def test_replicates_and_baselines_are_no_programs_that_a_proposal_could_repeat(
    finished: tuple[Path, list[str]],
) -> None:
    archive = record_of(finished[0]).archive
    assert sorted(archive.digests().values()) == ["g00-c00", "g00-c01", "g00-c02"]


def test_what_is_trained_does_not_wait_for_what_is_compared(finished: tuple[Path, list[str]]) -> None:
    """Controls are accepted with the first stage and fill workers, but never go before a stage that decides."""
    trained = finished[1]
    assert max(i for i, each in enumerate(trained) if "-q" in each) < trained.index("ppo-native-r0")


def test_an_ablation_of_other_steps_is_compared_with_the_whole_program_after_as_many(
    finished: tuple[Path, list[str]], tmp_path: Path
) -> None:
    record, trained = held(finished[0], tmp_path, plan(ablate=1500))
    assert f"{record.champion}-whole" in trained
    assert record.ablation is not None
    assert record.ablation.steps == 1500
    assert all(row.difference is not None for row in record.ablation.rows)


def test_the_time_left_counts_the_finals() -> None:
    asked = plan()
    with_finals = finals.steps_left(asked, SearchRecord(plan=asked))
    assert with_finals == 2 * 2 * 2000 + 2 * 2 * 3000 + 4 * 2 * 3000
    none = replace(asked, finals=FinalsSettings(finalists=0))
    assert finals.steps_left(none, SearchRecord(plan=none)) == 0


def test_an_assignment_of_the_finals_is_complete(finished: tuple[Path, list[str]]) -> None:
    coordinator = opened(finished[0], plan(), session="three")
    native = coordinator.assignment("ppo-native-r0")
    champion = coordinator.record.champion
    confirming, qualifying = coordinator.assignment(f"{champion}-r0"), coordinator.assignment(f"{champion}-q0")
    coordinator.close()
    assert (native.source, native.steps, native.seed_set, native.rungs) == (None, 3000, "report", ())
    assert confirming.source == qualifying.source == record_of(finished[0]).archive.candidates[str(champion)].source
    assert (confirming.film, qualifying.film) == (True, False)
    assert REPORT.seeds(confirming.held_out)[0] == REPORT.first
