import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from actors.coordinator import Coordinator
from actors.journal import JournalReader
from actors.keys import Credentials, Secret
from actors.ledger import replay
from actors.outcome import RungPoint
from actors.plan import SearchPlan
from actors.record import SearchRecord
from actors.storage import Storage
from actors.summary import summarise_search
from search_spaces.errors import ProviderError, RunError, RunLockedError, UsageError
from tests.groq_server import GroqServer, error, hanging
from tests.searches import delivery, finish, opened, small_plan, speed_of

CANDIDATES = [f"g{generation:02d}-c{number:02d}" for generation in range(2) for number in range(3)]


def record_of(run: Path) -> SearchRecord:
    return replay(JournalReader(Storage.at(run)))


def kinds(run: Path) -> list[str]:
    return [each.kind for each in JournalReader(Storage.at(run)).events_after()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search that came to its end."""
    run = tmp_path_factory.mktemp("search") / "run"
    coordinator = opened(run)
    finish(coordinator)
    coordinator.close()
    return run


def test_a_search_trains_each_candidate_once_and_the_baseline_when_nothing_else_waits(finished: Path) -> None:
    record = record_of(finished)
    assert record.finished
    trained = [
        each.data["candidate_id"]
        for each in JournalReader(Storage.at(finished)).events_after()
        if each.kind == "assigned"
    ]
    assert trained == [*CANDIDATES, "ppo-native", "ppo-hand-tuned"]
    assert record.champion == max(CANDIDATES, key=speed_of)
    assert [each.candidate.id for each in record.archive.entries()] == CANDIDATES
    assert set(record.generations) == {"0", "1"}
    assert len({each.candidate.digest for each in record.archive.entries()}) == 6


def test_its_files_are_where_they_belong(finished: Path) -> None:
    for name in CANDIDATES:
        folder = finished / "candidates" / name
        assert {each.name for each in folder.iterdir()} == {
            "reward_program.py",
            "policy.npz",
            "episode.mp4",
            "critique.md",
        }
        assert (folder / "reward_program.py").read_text().startswith("def compute_reward(state):")
    assert {each.name for each in (finished / "candidates" / "ppo-native").iterdir()} == {"policy.npz", "episode.mp4"}


def test_its_summary_tells_all(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    assert summary == summarise_search(record_of(finished))
    assert list(summary)[:6] == ["search_id", "goal", "strategy", "llm", "seed", "population"]
    assert [each["generation"] for each in summary["generations"]] == [0, 1]
    for generation in summary["generations"]:
        values = [each["fitness"] for each in generation["candidates"]]
        assert generation["best"] == max(values)
        assert generation["mean"] == pytest.approx(sum(values) / 3)
    assert {"slower", "idm", "mobil", "random", "ppo-native", "ppo-hand-tuned"} <= set(summary["baselines"])
    assert summary["env_steps"] == 8000
    assert summary["llm_usage"] == {"replies": 0, "failures": 0, "prompt_tokens": 0, "completion_tokens": 0}
    assert "NaN" not in (finished / "summary.json").read_text()


def test_it_says_plainly_that_no_model_was_used(finished: Path) -> None:
    assert "no language model was used" in record_of(finished).notices[0]


def test_refusals_are_kept_and_take_no_slot(tmp_path: Path) -> None:
    source = 'def compute_reward(state):\n    return state["speed_ms"] * (1.0 + 10.0 * state["collided"])\n'
    broken = "def compute_reward(state):\n    return state['sped_ms']\n"
    coordinator = opened(tmp_path, small_plan(generations=1, start_from=(broken, source, source)))
    finish(coordinator)
    coordinator.close()
    archive = record_of(tmp_path).archive
    refused = [each for each in archive.refusals.values() if each.origin == "user"]
    assert refused[0].code.startswith("E_")
    assert refused[0].line == 2
    assert len(archive.entries()) == 3
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert {"id", "code", "reason"} == set(summary["generations"][0]["refused"][0])


def test_a_users_program_is_trained_whatever_the_screen_says(tmp_path: Path) -> None:
    own = 'def compute_reward(state):\n    return 1.0 + 0.001 * state["lane"] - 50.0 * state["collided"]\n'
    coordinator = opened(tmp_path, small_plan(generations=1, start_from=(own, own)))
    coordinator.close()
    archive = record_of(tmp_path).archive
    assert archive.entry("g00-c00").candidate.origin == "user"
    assert [each.code for each in archive.refusals.values()].count("GATE_DUPLICATE") <= 1
    assert sum(each.candidate.origin == "user" for each in archive.entries()) == 1


def test_every_verdict_of_the_screen_is_kept_and_one_is_taken_at_random(finished: Path) -> None:
    screened = [each.data for each in JournalReader(Storage.at(finished)).events_after() if each.kind == "screened"]
    assert [each["generation"] for each in screened] == [0, 1]
    archive = record_of(finished).archive
    for generation in screened:
        chosen = {each["candidate"]: each for each in generation["verdicts"] if each["candidate"]}
        assert len(chosen) == 3
        assert [each["at_random"] for _, each in sorted(chosen.items())] == [False, False, True]
        for name, verdict in chosen.items():
            screen = archive.candidates[name].screen
            assert screen is not None
            assert (screen.tau, screen.rank) == (verdict["tau"], verdict["rank"])


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coordinator]:
    """A coordinator in the middle of a generation of eight."""
    coordinator = opened(tmp_path_factory.mktemp("search") / "run", small_plan(population=8))
    yield coordinator
    coordinator.close()


def test_asking_twice_and_delivering_twice_is_harmless(working: Coordinator) -> None:
    first = working.ask("a")
    assert working.ask("a") == first
    name = first.candidate_id
    assert name is not None
    assert working.ask("b").candidate_id != name
    working.deliver(delivery(name, 25.0))
    before = working.record.next_sequence
    working.deliver(delivery(name, 23.0))
    working.tell("a", None)
    working.tell("a", None)
    assert working.record.next_sequence == before
    assert working.ask("a").candidate_id not in (None, name)
    assert working.record.archive.outcomes[name].metrics["speed_ms"] == 25.0


def test_who_is_not_known_is_refused(working: Coordinator) -> None:
    with pytest.raises(RunError, match="no candidate g09-c00"):
        working.assignment("g09-c00")
    with pytest.raises(RunError, match="no candidate g09-c00"):
        working.deliver(delivery("g09-c00"))


def test_an_assignment_holds_all_that_a_trial_needs(working: Coordinator) -> None:
    given = working.assignment("g00-c00")
    candidate = working.record.archive.candidates["g00-c00"]
    assert (given.source, given.seed, given.steps) == (candidate.source, candidate.seed, 1000)
    assert given.held_out == 5
    assert working.assignment("ppo-native").source is None
    assert (working.assignment("ppo-hand-tuned").source or "").startswith("def compute_reward(state):")
    seeds = {each.seed for each in working.record.archive.candidates.values()}
    assert len(seeds) == 10


def test_a_trial_that_dies_after_its_delivery_changes_nothing(working: Coordinator) -> None:
    name = working.ask("dies").candidate_id
    assert name is not None
    working.deliver(delivery(name))
    working.tell("dies", "its process died")
    assert name not in working.record.deaths


def test_an_outcome_with_nan_is_a_failure(working: Coordinator) -> None:
    name = working.ask("nan").candidate_id
    assert name is not None
    working.deliver(delivery(name, math.nan))
    outcome = working.record.archive.outcomes[name]
    assert (outcome.status, outcome.metrics) == ("failed", {})
    assert "progress_ms, speed_ms" in outcome.reason


def test_nan_on_the_way_is_a_failure_too(working: Coordinator) -> None:
    name = working.ask("nan").candidate_id
    assert name is not None
    point = RungPoint(steps=100, fitness=math.nan, native_return=20.0, crash_rate=0.1)
    sent = delivery(name)
    working.deliver(replace(sent, outcome=replace(sent.outcome, rungs=(point,))))
    outcome = working.record.archive.outcomes[name]
    assert (outcome.status, outcome.rungs) == ("failed", ())


def test_a_candidate_whose_trials_die_is_started_again_and_then_fails(tmp_path: Path) -> None:
    coordinator = opened(tmp_path, small_plan(attempts=3, population=1, generations=1, baselines=False))
    for attempt in range(3):
        assert coordinator.ask(f"t{attempt}").candidate_id == "g00-c00"
        coordinator.tell(f"t{attempt}", "its process died")
    assert coordinator.ask("t4").verdict == "finished"
    coordinator.close()
    record = record_of(tmp_path)
    outcome = record.archive.outcomes["g00-c00"]
    assert (outcome.status, record.deaths) == ("failed", {"g00-c00": 3})
    assert "died 3 times" in outcome.reason
    assert record.champion is None
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["generations"][0]["best"], summary["champion"]) == (None, None)


def test_failures_are_shown_and_do_not_stop_the_search(tmp_path: Path) -> None:
    coordinator = opened(tmp_path, small_plan(generations=1, baselines=False))
    for number, status in enumerate(("faulted", "trained", "failed")):
        name = coordinator.ask(f"t{number}").candidate_id
        assert name is not None
        coordinator.deliver(delivery(name, status=status, reason="" if status == "trained" else "inf at decision 3"))
    assert coordinator.ask("t9").verdict == "finished"
    progress = coordinator.progress()
    assert [each.status for each in progress.trials] == ["faulted", "trained", "failed"]
    assert progress.best == "g00-c01"
    assert progress.phase == "finished"
    coordinator.close()


@pytest.mark.parametrize("cut", [0, 9, 17, 30, 48])
def test_resumed_after_any_event_it_comes_to_the_same_end(finished: Path, tmp_path: Path, cut: int) -> None:
    names = sorted(each.name for each in (finished / "events").iterdir())
    (tmp_path / "events").mkdir()
    for name in names[:cut]:
        (tmp_path / "events" / name).write_bytes((finished / "events" / name).read_bytes())
    for file in finished.glob("candidates/*/policy.npz"):
        Storage.at(tmp_path).write(str(file.relative_to(finished)), file.read_bytes())
    delivered = set(record_of(tmp_path).archive.outcomes)
    coordinator = opened(tmp_path, session="two")
    trained = finish(coordinator)
    coordinator.close()
    assert not delivered & set(trained)
    assert record_of(tmp_path).archive == record_of(finished).archive
    assert record_of(tmp_path).champion == record_of(finished).champion


def test_a_restarted_coordinator_knows_the_trials_of_its_session_and_a_new_session_does_not(tmp_path: Path) -> None:
    coordinator = opened(tmp_path, session="one")
    assert coordinator.ask("t0").candidate_id == "g00-c00"
    coordinator.close()
    again = opened(tmp_path, session="one")
    assert again.ask("t0").candidate_id == "g00-c00"
    assert again.ask("t1").candidate_id == "g00-c01"
    again.close()
    resumed = opened(tmp_path, session="two")
    assert resumed.ask("other").candidate_id == "g00-c00"
    resumed.close()


def test_another_plan_or_another_writer_is_refused(tmp_path: Path) -> None:
    coordinator = opened(tmp_path)
    with pytest.raises(RunLockedError):
        opened(tmp_path)
    coordinator.close()
    with pytest.raises(RunError, match="another search"):
        opened(tmp_path, small_plan(seed=1))
    opened(tmp_path).close()


def test_a_closed_coordinator_writes_nothing_more(tmp_path: Path) -> None:
    coordinator = opened(tmp_path)
    coordinator.ask("t")
    coordinator.close()
    with pytest.raises(RunLockedError, match="closed"):
        coordinator.deliver(delivery("g00-c00"))
    assert "delivered" not in kinds(tmp_path)


def test_locked_until_it_has_its_keys(tmp_path: Path) -> None:
    coordinator = Coordinator(str(tmp_path), small_plan(), session="s", threads=False)
    assert coordinator.ask("t").verdict == "wait"
    assert coordinator.progress().phase == "locked"
    coordinator.unlock(Credentials())
    coordinator.unlock(Credentials())
    assert coordinator.ask("t").verdict == "train"
    coordinator.close()


def test_a_model_without_key_is_refused_before_anything_is_designed(tmp_path: Path) -> None:
    plan = SearchPlan.from_json({**small_plan().to_json(), "llm": {"spec": "groq:m"}})
    coordinator = Coordinator(str(tmp_path), plan, session="s", threads=False)
    with pytest.raises(UsageError, match="GROQ_API_KEY"):
        coordinator.unlock(Credentials())
    coordinator.close()


def test_steady_search_designs_the_next_generation_when_a_slot_is_free(tmp_path: Path) -> None:
    coordinator = opened(tmp_path, small_plan(steady=True, baselines=False))
    asked = [coordinator.ask(f"t{number}").candidate_id for number in range(6)]
    assert asked == CANDIDATES
    for name in CANDIDATES:
        coordinator.deliver(delivery(name))
    assert coordinator.record.finished
    coordinator.close()


def test_a_generation_waits_for_the_one_before(tmp_path: Path) -> None:
    coordinator = opened(tmp_path, small_plan(baselines=False))
    assert [coordinator.ask(f"t{number}").verdict for number in range(4)] == ["train", "train", "train", "wait"]
    coordinator.close()


def test_in_threads_it_answers_at_once_and_comes_to_the_same_end(finished: Path, tmp_path: Path) -> None:
    coordinator = opened(tmp_path, threads=True)
    taken: list[float] = []
    deadline, number = time.monotonic() + 60, 0
    while time.monotonic() < deadline and not coordinator.record.finished:
        started = time.perf_counter()
        answer = coordinator.ask(f"t{number}")
        taken.append(time.perf_counter() - started)
        number += 1
        if answer.candidate_id is None:
            time.sleep(0.02)
            continue
        started = time.perf_counter()
        coordinator.deliver(delivery(answer.candidate_id, speed_of(answer.candidate_id)))
        taken.append(time.perf_counter() - started)
        coordinator.progress()
    coordinator.close()
    coordinator.check()
    assert record_of(tmp_path).archive == record_of(finished).archive
    assert sorted(taken)[len(taken) // 2] < 0.05


def test_a_provider_that_refuses_every_key_stops_the_search_and_says_so(tmp_path: Path) -> None:
    plan = SearchPlan.from_json({**small_plan(baselines=False).to_json(), "llm": {"spec": "groq:m"}})
    with GroqServer(lambda _: error(401, "Invalid API Key")) as server:
        coordinator = Coordinator(str(tmp_path), plan, session="s")
        coordinator.unlock(Credentials((Secret("gsk_" + "x" * 20),), server.url))
        deadline = time.monotonic() + 60
        while coordinator.ask("t").verdict == "wait" and time.monotonic() < deadline:
            time.sleep(0.05)
    assert coordinator.ask("t").verdict == "finished"
    assert coordinator.progress().phase == "broken"
    assert "Invalid API Key" in (coordinator.progress().fault or "")
    with pytest.raises(ProviderError):
        coordinator.check()
    coordinator.close()
    assert "accepted" not in kinds(tmp_path)


def test_a_model_that_does_not_answer_is_replaced_by_the_evolver_and_that_is_said(tmp_path: Path) -> None:
    plan = SearchPlan.from_json(
        {**small_plan(generations=1, baselines=False).to_json(), "llm": {"spec": "groq:m", "proposals_per_slot": 1}}
    )
    with GroqServer(lambda _: error(400, "no such thing")) as server:
        coordinator = Coordinator(str(tmp_path), plan, session="s", threads=False)
        coordinator.unlock(Credentials((Secret("gsk_" + "x" * 20),), server.url))
        finish(coordinator)
        coordinator.close()
        # Three design requests in one attempt, and one for the critique of each of the three candidates.
        assert len(server.received) == 6
    record = record_of(tmp_path)
    assert record.finished
    assert [each for each in record.notices if "no such thing" in each and "evolver filled 3 of 3 slots" in each]
    assert len(record.failures) == 6
    assert all(each.critique is not None for each in record.archive.entries())


def test_it_answers_at_once_while_a_provider_hangs_and_closes_all_the_same(tmp_path: Path) -> None:
    plan = SearchPlan.from_json({**small_plan(baselines=False).to_json(), "llm": {"spec": "groq:m"}})
    with GroqServer(lambda _: hanging()) as server:
        coordinator = Coordinator(str(tmp_path), plan, session="s")
        coordinator.unlock(Credentials((Secret("gsk_" + "x" * 20),), server.url))
        deadline = time.monotonic() + 30
        while not server.received and time.monotonic() < deadline:
            time.sleep(0.05)
        taken = []
        for _ in range(40):
            started = time.perf_counter()
            assert coordinator.ask("t").verdict == "wait"
            assert coordinator.progress().phase == "designing"
            taken.append(time.perf_counter() - started)
        started = time.perf_counter()
        coordinator.close()
        closing = time.perf_counter() - started
    assert sorted(taken)[20] < 0.05
    assert closing < 5.0
    assert "accepted" not in kinds(tmp_path)
