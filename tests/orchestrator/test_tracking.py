import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from mlflow import MlflowClient
from mlflow.entities import Run

from actors.difference import Difference
from actors.messages import Fitness
from actors.outcome import Outcome
from actors.standings import Ablation, AblationRow, Confirmation, Standing, StandingRow
from driving.film import Film, encode
from orchestrator.follower import Follower
from orchestrator.tracking import Store, chart_link, metric_name
from search_spaces.errors import MachineError
from tests.orchestrator.journals import METRICS, SOURCE, Script, outcome

PICTURES = 11


@pytest.fixture(scope="module")
def film() -> bytes:
    """A film as short as one of two seconds of driving, without the driving."""
    return encode((np.full((160, 640, 3), 20 * n, np.uint8) for n in range(PICTURES)), 5)


def follow(script: Script, root: Path) -> list[str]:
    """Mirror what the journal holds now; return what was said."""
    said: list[str] = []
    follower = Follower(script.files, root, said.append)
    follower.start()
    follower.close()
    return said


def wait_until(condition: Callable[[], bool], patience_s: float = 30.0) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def write_search(script: Script) -> None:
    script.start()
    script.baseline("slower")
    script.ask("g00-a0-p00", "```python\n" + SOURCE + "```")
    script.refuse("g00-r000", 0, "GATE_CONSTANT")
    script.accept("g00-c00", 0, exchange="g00-a0-p00", origin="llm", move="write")
    script.accept("g00-c01", 0)
    for name in ("g00-c00", "g00-c01"):
        script.assign(name)
    script.deliver("g00-c00")
    script.deliver("g00-c01", status="faulted", reason="log of a negative number", metrics={}, curve=(), traces=())
    script.finish_generation(0, best=0.3, mean=0.3)


def runs_of(store: Store, search_id: str) -> dict[str, Run]:
    client = MlflowClient(store.uri)
    found = client.search_runs([store.experiment], f"tags.search_id = '{search_id}'")
    return {run.info.run_name: run for run in found}


def artifacts(store: Store, run: Run) -> set[str]:
    client = MlflowClient(store.uri)
    return {item.path for item in client.list_artifacts(run.info.run_id)}


@pytest.fixture(scope="module")
def script(root: Path, film: bytes) -> Iterator[Script]:
    """A search that ended after its second generation."""
    written = Script(root / "night-owl", film)
    write_search(written)
    assert follow(written, root) == []
    for name in ("g01-c00", "g01-c01"):
        written.accept(name, 1, parents=("g00-c00",))
        written.assign(name)
        written.deliver(name)
    written.finish_generation(1, best=0.4, mean=0.35)
    written.finish("g01-c00")
    assert follow(written, root) == []
    yield written
    written.close()


def test_a_search_is_one_parent_with_a_child_for_each_candidate_and_baseline(root: Path, script: Script) -> None:
    store = Store(root)
    runs = runs_of(store, "night-owl")
    assert set(runs) == {"night-owl", "slower", "g00-c00", "g00-c01", "g01-c00", "g01-c01"}
    parent = runs.pop("night-owl")
    assert {run.data.tags["mlflow.parentRunId"] for run in runs.values()} == {parent.info.run_id}
    roles = {name: run.data.tags["role"] for name, run in runs.items()}
    assert roles == {"slower": "baseline"} | {name: "candidate" for name in runs if name.startswith("g")}
    assert {name: run.info.status for name, run in runs.items()} == {
        "slower": "FINISHED",
        "g00-c00": "FINISHED",
        "g00-c01": "FAILED",
        "g01-c00": "FINISHED",
        "g01-c01": "FINISHED",
    }
    assert parent.info.status == "FINISHED"
    assert parent.data.tags["champion"] == "g01-c00"
    assert parent.data.tags["strategy"] == "evolve"
    assert parent.data.params["scenario/lanes"] == "3"


def test_finals_are_children_of_their_own_kind_and_figures_of_the_search(root: Path) -> None:
    script = Script(root / "eagle-owl")
    script.start(search_id="eagle-owl")
    script.accept("g00-c00", 0)
    script.accept("g00-c00-q0", -1, role="replicate", of="g00-c00", stage="qualifying", steps=5, seed_set="finals")
    script.assign("g00-c00-q0")
    script.journal.append("delivered", outcome("g00-c00-q0").to_json())
    judged = Fitness(value=0.5, terms={}, gate=1.0, low=0.4, high=0.6)
    script.journal.append("judged", {"candidate_id": "g00-c00-q0", "fitness": judged.to_json()})
    row = StandingRow(of="g00-c00", fitness=judged, bounds=(0.4, 0.6), replicates=1)
    script.journal.append("standing", Standing(stage="qualifying", rows=(row,)).to_json())
    difference = Difference(value=0.2, low=0.1, high=0.3, probability_of_improvement=1.0)
    confirmed = Confirmation(
        champion="g00-c00",
        episodes=500,
        replicates=1,
        steps=5,
        selection=0.6,
        finals=0.5,
        fitness=judged,
        shrinkage_of_selection=0.1,
        shrinkage_of_finals=0.0,
        differences={"ppo-native": difference},
        seeds_digest="d",
    )
    script.journal.append("confirmed", confirmed.to_json())
    ablation = Ablation(champion="g00-c00", steps=5, rows=(AblationRow(component="crash", difference=difference),))
    script.journal.append("ablated", ablation.to_json())
    assert follow(script, root) == []
    script.close()
    store = Store(root)
    runs = runs_of(store, "eagle-owl")
    replicate, parent = runs["g00-c00-q0"], runs["eagle-owl"]
    tags = ("role", "stage", "of", "generation")
    assert [replicate.data.tags[name] for name in tags] == ["replicate", "qualifying", "g00-c00", "finals"]
    assert replicate.info.status == "FINISHED"
    figures = {name: value for name, value in parent.data.metrics.items() if name.startswith("finals/")}
    assert figures["finals/qualifying/g00-c00/low"] == 0.4
    assert figures["finals/champion/fitness/high"] == 0.6
    assert figures["finals/champion/shrinkage_of_selection"] == 0.1
    assert figures["finals/champion_less/ppo-native/low"] == 0.1
    assert figures["finals/without/crash/value"] == 0.2
    assert "verdict.txt" in artifacts(store, parent)


def test_the_report_of_a_run_lies_beside_its_search(root: Path) -> None:
    script = Script(root / "barn-owl")
    script.start(search_id="barn-owl")
    script.files.write("report/report.md", b"the same")
    store = Store(root)
    for page in (b"<p>first</p>", b"<p>second</p>"):
        script.files.write("report/report.html", page)
        assert follow(script, root) == []
        parent = runs_of(store, "barn-owl")["barn-owl"].info.run_id
        client = MlflowClient(store.uri)
        names = {each.path for each in client.list_artifacts(parent, "report")}
        assert names == {"report/report.html", "report/report.md"}
        assert Path(client.download_artifacts(parent, "report/report.html")).read_bytes() == page
    script.close()


def test_a_candidate_shows_its_place_its_measures_and_its_files(root: Path, script: Script, tmp_path: Path) -> None:
    store = Store(root)
    run = runs_of(store, "night-owl")["g01-c00"]
    assert run.data.tags["generation"] == run.data.params["generation"] == "1"
    assert run.data.tags["parent"] == "g00-c00"
    assert run.data.tags["program_sha"] == "sha-g01-c00"
    assert run.data.tags["gate"] == "passed"
    assert {name: run.data.metrics[f"eval/{name}"] for name in METRICS} == METRICS
    assert 0 < run.data.metrics["fitness/value"] < 1
    assert run.data.metrics["train/component/progress/mean"] == pytest.approx(0.3)
    assert artifacts(store, run) == {"reward_program.py", "critique.md", "episode.mp4", "learning_curve.png"}
    client = MlflowClient(store.uri)
    curve = client.get_metric_history(run.info.run_id, "train/native_return")
    assert [(point.step, point.value) for point in curve] == [(4096, 21.0), (8192, 22.0), (12288, 23.0)]
    with Film.open(Path(client.download_artifacts(run.info.run_id, "episode.mp4", str(tmp_path)))) as film:
        assert sum(1 for _ in film.pictures()) == PICTURES
    picture = Path(client.download_artifacts(run.info.run_id, "learning_curve.png", str(tmp_path)))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_program_never_becomes_a_parameter(root: Path, script: Script) -> None:
    for run in runs_of(Store(root), "night-owl").values():
        assert not any("compute_reward" in value for value in run.data.params.values())


def test_the_parent_shows_generations_refusals_and_contact_sheets(root: Path, script: Script, tmp_path: Path) -> None:
    store = Store(root)
    parent = runs_of(store, "night-owl")["night-owl"]
    client = MlflowClient(store.uri)
    best = client.get_metric_history(parent.info.run_id, "generation/best_fitness")
    assert [(point.step, point.value) for point in best] == [(0, 0.3), (1, 0.4)]
    assert parent.data.metrics["generation/failed"] == 0
    assert artifacts(store, parent) == {"leaderboard.csv", "refused.jsonl", "contact_sheets", "champion"}
    refused = Path(client.download_artifacts(parent.info.run_id, "refused.jsonl", str(tmp_path))).read_text()
    assert [json.loads(line)["code"] for line in refused.splitlines()] == ["GATE_CONSTANT"]
    with Film.open(
        Path(client.download_artifacts(parent.info.run_id, "contact_sheets/g01.mp4", str(tmp_path)))
    ) as sheet:
        assert sheet.width == 2 * 640
        assert sum(1 for _ in sheet.pictures()) == PICTURES
    table = Path(client.download_artifacts(parent.info.run_id, "leaderboard.csv", str(tmp_path))).read_text()
    assert len(table.splitlines()) == 1 + 4 + 1


def test_an_exchange_becomes_a_trace_and_artifacts_of_its_candidate(root: Path, script: Script) -> None:
    store = Store(root)
    runs = runs_of(store, "night-owl")
    assert {"prompt.txt", "reply.txt"} <= artifacts(store, runs["g00-c00"])
    client = MlflowClient(store.uri)
    (trace,) = client.search_traces(locations=[store.experiment], filter_string="tags.exchange = 'g00-a0-p00'")
    assert trace.info.request_metadata["mlflow.sourceRun"] == runs["night-owl"].info.run_id
    (span,) = trace.data.spans
    assert span.inputs["messages"][0]["content"] == "Write a reward program."
    assert span.outputs["completion_tokens"] == 5


def test_writing_everything_again_changes_nothing(root: Path, script: Script) -> None:
    store = Store(root)
    client = MlflowClient(store.uri)
    parent = runs_of(store, "night-owl")["night-owl"].info.run_id

    def numbers() -> dict[str, int]:
        runs = runs_of(store, "night-owl")
        return {
            f"{name} {metric}": len(client.get_metric_history(run.info.run_id, metric))
            for name, run in runs.items()
            for metric in run.data.metrics
        }

    before = numbers()
    client.set_tag(parent, "journal_position", "-1")
    assert follow(script, root) == []
    assert numbers() == before
    assert len(client.search_traces(locations=[store.experiment])) == 1


def test_a_killed_search_leaves_nothing_running_and_goes_on_in_the_same_runs(root: Path, film: bytes) -> None:
    script = Script(root / "killed", film)
    script.start(search_id="killed")
    script.accept("g00-c00", 0)
    script.assign("g00-c00")
    assert follow(script, root) == []
    store = Store(root)
    assert {run.info.status for run in runs_of(store, "killed").values()} == {"KILLED"}
    first = {name: run.info.run_id for name, run in runs_of(store, "killed").items()}
    ended = runs_of(store, "killed")["killed"].info.end_time
    assert follow(script, root) == []
    assert runs_of(store, "killed")["killed"].info.end_time == ended

    said: list[str] = []
    follower = Follower(script.files, root, said.append)
    script.open("second")
    script.assign("g00-c00")
    follower.start()
    wait_until(lambda: {run.info.status for run in runs_of(store, "killed").values()} == {"RUNNING"})
    script.die("g00-c00", 1)
    script.assign("g00-c00")
    script.deliver("g00-c00")
    script.finish("g00-c00")
    follower.close()
    after = runs_of(store, "killed")
    assert after["g00-c00"].data.tags["died"] == "1"
    assert {name: run.info.run_id for name, run in after.items()} == first
    assert {run.info.status for run in after.values()} == {"FINISHED"}
    assert said == []
    assert follow(script, root) == []
    assert {run.info.status for run in runs_of(store, "killed").values()} == {"FINISHED"}
    script.close()


def test_a_store_that_fails_stops_nothing_and_is_made_up_for(
    root: Path, film: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script(root / "unlucky", film)
    script.start(search_id="unlucky")
    script.accept("g00-c00", 0)
    with monkeypatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
        said = follow(script, root)
    assert "The search goes on" in said[0]
    assert "3 events are not in MLflow" in said[-1]
    assert follow(script, root) == []
    assert set(runs_of(Store(root), "unlucky")) == {"unlucky", "g00-c00"}
    script.close()


def test_an_event_that_can_never_be_written_does_not_hold_up_the_others(
    root: Path, film: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(outcome: Outcome) -> bytes:
        if outcome.candidate_id == "g00-c00":
            raise ZeroDivisionError("no curve")
        return b"PNG"

    script = Script(root / "poisoned", film)
    script.start(search_id="poisoned")
    for name in ("g00-c00", "g00-c01"):
        script.accept(name, 0)
        script.deliver(name)
    with monkeypatch.context() as patch:
        patch.setattr("orchestrator.mirror.learning_curve", broken)
        said = follow(script, root)
    script.close()
    assert "no curve" in said[0]
    assert "is left out" in said[1]
    runs = runs_of(Store(root), "poisoned")
    assert {name: run.info.status for name, run in runs.items() if name != "poisoned"} == {
        "g00-c00": "FINISHED",
        "g00-c01": "FINISHED",
    }
    assert "fitness/value" in runs["g00-c00"].data.metrics


def test_a_damaged_film_costs_the_contact_sheet_alone(root: Path) -> None:
    script = Script(root / "damaged", b"no film")
    script.start(search_id="damaged")
    script.accept("g00-c00", 0)
    script.deliver("g00-c00")
    script.finish_generation(0, best=0.3, mean=0.3)
    script.finish("g00-c00")
    script.close()
    assert follow(script, root) == []
    store = Store(root)
    parent = runs_of(store, "damaged")["damaged"]
    assert parent.info.status == "FINISHED"
    client = MlflowClient(store.uri)
    assert [item.path for item in client.list_artifacts(parent.info.run_id, "contact_sheets")] == [
        "contact_sheets/g00.txt"
    ]


def test_a_store_that_cannot_be_opened_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    with pytest.raises(MachineError, match="Set MLFLOW_TRACKING_URI"):
        Store(tmp_path)


def test_metric_names_of_a_model_are_made_harmless() -> None:
    assert metric_name("train/component/a$b\x1b/mean") == "train/component/a_b_/mean"


def test_the_chart_link_opens_the_view_that_was_stored(root: Path, script: Script) -> None:
    store = Store(root)
    tags = MlflowClient(store.uri).get_experiment(store.experiment).tags
    view = json.loads(tags["mlflow.sharedViewState.night-owl"])
    assert view["groupBy"]["groupByKeys"] == [{"mode": "tag", "groupByData": "generation"}]
    assert [chart["metricKey"] for chart in view["compareRunCharts"]][:2] == ["fitness/value", "eval/crash_rate"]
    link = chart_link("http://127.0.0.1:5000", store.experiment, "night-owl")
    assert "compareRunsMode=CHART" in link
    assert "viewStateShareKey=night-owl" in link
