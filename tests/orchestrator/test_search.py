"""Whole searches, small: in one process, under Ray, killed in the middle, and on two nodes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster

from actors.finals import TRAINED_BASELINES
from actors.journal import Event, JournalReader
from actors.keys import Credentials
from actors.lock import LOCK_NAME
from actors.plan import FinalsSettings, SearchPlan
from actors.progress import Progress
from actors.storage import Storage
from orchestrator.machine import Machine
from orchestrator.search import Search, resumed, run_debug, run_search
from search_spaces.errors import MachineError, RunError, SearchInterruptedError
from search_spaces.ppo import PPOSettings
from tests.groq_server import GroqServer, SearchScript
from tests.searches import small_plan

KEY = "gsk_" + "s3cr3t" * 6
ROOT = Path(__file__).parents[2]


def plan(**changes: object) -> SearchPlan:
    return small_plan(**{"population": 2, "steps": 8192, **changes})


def events_of(run: Path) -> list[Event]:
    return JournalReader(Storage.at(run)).events_after()


def named(run: Path, kind: str) -> list[str]:
    return [each.data["candidate_id"] for each in events_of(run) if each.kind == kind]


def policies(run: Path) -> dict[str, bytes]:
    return {each.parent.name: each.read_bytes() for each in (run / "candidates").glob("*/policy.npz")}


def quiet(_: Progress) -> None:
    return


def check_each_once(run: Path, count: int) -> None:
    """Each candidate is in the summary once and delivered once; nobody was trained after delivery."""
    summary = json.loads((run / "summary.json").read_text())
    listed = [each["id"] for generation in summary["generations"] for each in generation["candidates"]]
    assert len(listed) == len(set(listed)) == count
    assert all(
        each["status"] == "trained" for generation in summary["generations"] for each in generation["candidates"]
    )
    assert sorted(named(run, "delivered")) == sorted([*listed, *TRAINED_BASELINES])
    delivered: set[str] = set()
    for event in events_of(run):
        if event.kind == "delivered":
            delivered.add(event.data["candidate_id"])
        if event.kind == "assigned":
            assert event.data["candidate_id"] not in delivered
    assert summary["finished"]


@pytest.fixture(scope="module")
def debugged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A search in one process."""
    run = tmp_path_factory.mktemp("debug") / "run"
    seen: list[Progress] = []
    summary = run_debug(Search(plan=plan(), location=str(run)), Credentials(), seen.append)
    assert summary["finished"]
    assert seen[-1].phase == "finished"
    assert any(trial.status == "training" and trial.steps for each in seen for trial in each.trials)
    return run


def test_in_one_process_it_runs_to_its_end(debugged: Path) -> None:
    check_each_once(debugged, 4)
    assert set(policies(debugged)) == {"g00-c00", "g00-c01", "g01-c00", "g01-c01", *TRAINED_BASELINES}
    summary = json.loads((debugged / "summary.json").read_text())
    assert summary["champion"] is not None
    assert summary["baselines"]["ppo-native"]["metrics"]["episodes"] == 5


@pytest.mark.slow
def test_a_finished_search_resumes_to_nothing(debugged: Path) -> None:
    before = (debugged / "summary.json").read_text()
    run_debug(resumed(str(debugged)), Credentials(), quiet)
    assert json.loads((debugged / "summary.json").read_text())["champion"] == json.loads(before)["champion"]
    check_each_once(debugged, 4)


def test_what_is_no_run_cannot_be_resumed(tmp_path: Path, debugged: Path) -> None:
    with pytest.raises(RunError, match="no search to resume"):
        resumed(str(tmp_path))
    with pytest.raises(RunError, match="another search"):
        run_debug(Search(plan=plan(seed=5), location=str(debugged)), Credentials(), quiet)


@pytest.mark.slow
def test_under_ray_it_gives_the_same_candidates_and_bit_identical_policies(debugged: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_search(Search(plan=plan(), location=str(run)), Machine(cpus=2), Credentials(), quiet)
    check_each_once(run, 4)
    assert not ray.is_initialized()
    for name in ("accepted", "screened", "refused"):
        assert [each.data for each in events_of(run) if each.kind == name and each.data.get("role") != "baseline"] == [
            each.data for each in events_of(debugged) if each.kind == name and each.data.get("role") != "baseline"
        ]
    assert policies(run) == policies(debugged)
    films = {each.parent.name: each.read_bytes() for each in run.glob("candidates/*/episode.mp4")}
    assert films == {each.parent.name: each.read_bytes() for each in debugged.glob("candidates/*/episode.mp4")}


def with_finals(**changes: object) -> SearchPlan:
    """A search with finals, each training of which is one batch."""
    settings = PPOSettings(environments=16, batch=512, minibatch=256, epochs=1, hidden=(16, 16))
    finals = FinalsSettings(
        finalists=2, seeds=1, steps=512, leaders=2, leader_steps=1024, most_seeds=2, confirm=1, ablate=512, replays=0
    )
    return plan(**{"generations": 1, "steps": 512, "ppo": settings, "baselines": False, "finals": finals, **changes})


def test_interrupted_in_the_middle_of_its_finals_it_goes_on_to_the_same_champion(tmp_path: Path) -> None:
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    run_debug(Search(plan=with_finals(), location=str(whole)), Credentials(), quiet)

    def interrupt(progress: Progress) -> None:
        if progress.finals_done == 2:
            raise KeyboardInterrupt

    with pytest.raises(SearchInterruptedError, match="resume with"):
        run_debug(Search(plan=with_finals(), location=str(halved)), Credentials(), interrupt)
    assert len(named(halved, "delivered")) == 4
    summary = run_debug(resumed(str(halved)), Credentials(), quiet)
    assert summary["finals"]["confirmed"] == json.loads((whole / "summary.json").read_text())["finals"]["confirmed"]
    assert summary["champion"] == summary["finals"]["confirmed"]["champion"]
    assert sorted(named(halved, "delivered")) == sorted(named(whole, "delivered"))
    assert policies(halved) == policies(whole)


@pytest.mark.slow
def test_killed_in_the_middle_of_its_finals_it_goes_on_and_trains_nothing_twice(tmp_path: Path) -> None:
    run, log = tmp_path / "run", tmp_path / "log"
    settings = with_finals(finals=replace(with_finals().finals, leader_steps=40_000))
    process = driver(run, settings, log)
    wait_for(lambda: run.exists() and any("-d" in each for each in named(run, "assigned")), process, log)
    process.kill()
    process.wait()
    again = driver(run, settings, log)
    assert again.wait(timeout=220) == 0, log.read_text()
    delivered = named(run, "delivered")
    assert len(delivered) == len(set(delivered))
    summary = json.loads((run / "summary.json").read_text())
    assert summary["finished"]
    assert summary["finals"]["confirmed"]["champion"] == summary["champion"]


def driver(run: Path, settings: SearchPlan, log: Path, **environment: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.orchestrator.driver", str(run), json.dumps(settings.to_json())],
            cwd=ROOT,
            env={**os.environ, **environment},
            stderr=said,
            start_new_session=True,
        )


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 150
    while not condition():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


def environments() -> list[bytes]:
    """The environment of every process of this user."""
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        try:
            found.append(each.read_bytes())
        except OSError:
            continue
    return found


@pytest.mark.slow
def test_killed_in_the_middle_of_a_generation_it_goes_on_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    run, log = tmp_path / "run", tmp_path / "log"
    settings = SearchPlan.from_json({**plan(population=3, steps=60_000).to_json(), "llm": {"spec": "groq:m"}})
    with GroqServer(SearchScript("10ms")) as server:
        process = driver(run, settings, log, GROQ_API_KEY=KEY, GROQ_BASE_URL=server.url)
        wait_for(lambda: run.exists() and len(named(run, "delivered")) >= 1, process, log)
        with_key = [each for each in environments() if KEY.encode() in each]
        assert len(with_key) <= 1  # the driver's own, as the kernel keeps it from the start
        assert not [each for each in with_key if b"RAY_JOB_ID" in each]
        process.kill()
        process.wait()
        assert len(named(run, "delivered")) < 3
        asked_before = {each.data["exchange"] for each in events_of(run) if each.kind == "llm_replied"}
        assert asked_before
        again = driver(run, settings, log, GROQ_API_KEY=KEY, GROQ_BASE_URL=server.url)
        assert again.wait(timeout=220) == 0, log.read_text()
    check_each_once(run, 6)
    replied = [each.data["exchange"] for each in events_of(run) if each.kind == "llm_replied"]
    assert len(replied) == len(set(replied))
    asked_after = [each.data["id"] for each in events_of(run) if each.kind == "llm_asked" and each.epoch > 1]
    assert asked_after
    assert not set(asked_after) & asked_before
    assert not [path for path in run.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


@pytest.mark.slow
def test_ctrl_c_ends_cleanly_with_130_and_says_how_to_go_on(tmp_path: Path) -> None:
    run, log = tmp_path / "run", tmp_path / "log"
    process = driver(run, plan(steps=200_000), log)
    wait_for(lambda: run.exists() and len(named(run, "assigned")) >= 2, process, log)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the group gets it
    assert process.wait(timeout=90) == 130, log.read_text()
    said = log.read_text()
    assert f"resume with: orchestrate --resume {run}" in said
    assert "Traceback" not in said
    assert json.loads((run / "summary.json").read_text())["finished"] is False


@pytest.mark.slow
def test_a_killed_coordinator_is_started_again_on_its_journal(tmp_path: Path) -> None:
    run = tmp_path / "run"
    killed: list[int] = []

    def kill_once(progress: Progress) -> None:
        if not killed and progress.done >= 1:
            killed.append(int((run / LOCK_NAME).read_text().split()[1]))
            os.kill(killed[0], signal.SIGKILL)

    run_search(Search(plan=plan(steps=60_000), location=str(run)), Machine(cpus=2), Credentials(), kill_once)
    assert killed
    check_each_once(run, 4)
    assert len(named(run, "assigned")) == len(set(named(run, "assigned")))
    assert {each.epoch for each in events_of(run)} == {1, 2}


@pytest.mark.slow
def test_two_nodes_share_a_search_and_one_may_be_lost(tmp_path: Path) -> None:
    run = tmp_path / "run"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1, num_gpus=1) for _ in range(2)]
    busy: list[int] = []

    def lose_one(progress: Progress) -> None:
        training = [each.id for each in progress.trials if each.status == "training"]
        if len(training) == 2 and not busy:
            free = ray._private.state.available_resources_per_node()
            busy.append(sum(resources.get("CPU", 0) < 1 and "GPU" in resources for resources in free.values()))
            cluster.remove_node(nodes[1], allow_graceful=False)

    try:
        machine = Machine(address=cluster.address, gpus_per_trial=0.5)
        run_search(Search(plan=plan(steps=100_000), location=str(run)), machine, Credentials(), lose_one)
    finally:
        cluster.shutdown()
    assert busy == [2]
    check_each_once(run, 4)
    assert len(named(run, "trial_failed")) == 1


@pytest.mark.slow
def test_a_plan_that_no_node_can_hold_is_refused_before_anything_is_designed(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="2 trials need 2 CPU, 6 GPU in all") as caught:
        run_search(
            Search(plan=plan(), location=str(tmp_path / "run")),
            Machine(cpus=1, gpus_per_trial=3.0),
            Credentials(),
            quiet,
        )
    assert "hold 1 CPU, 0 GPU" in str(caught.value)
    assert not (tmp_path / "run" / "events").exists()
