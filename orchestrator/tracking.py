"""The MLflow store: where it lies, and the few writes that a search makes to it.

The store is `MLFLOW_TRACKING_URI`, else one sqlite file beside the run folders, shared by all of them so that searches
can be compared. Every write can be repeated: runs are found by their tags, and a metric that is logged again with the
same time, step and value is stored once. What is written when is `follower.py`'s subject.
"""

import fcntl
import json
import logging
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunStatus, RunTag, ViewType
from mlflow.exceptions import MlflowException

from search_spaces.errors import MachineError

EXPERIMENT = "reward-search"
"""Experiment that holds the parent runs of all searches of a store; `MLFLOW_EXPERIMENT_NAME` names another."""

_DATABASE = "mlflow.db"
_ARTIFACTS = "mlartifacts"
_SECTION = "leaderboard"
_MOST_BARS = 50
_LONGEST_TAG = 5_000
_LONGEST_PARAM = 5_900
"""MLflow's own limits are 8 000 and 6 000 characters."""


@dataclass(frozen=True, slots=True)
class Point:
    """One logged number.

    Attributes:
        name: Metric name, such as `fitness/value`.
        value: Its value, finite.
        step: Its place on the horizontal axis: generation or environment steps.
    """

    name: str
    value: float
    step: int = 0


def store_uri(root: Path) -> str:
    """Return the address of the store that searches under `root` share."""
    return os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{(root / _DATABASE).resolve()}"


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Hold the lock under which a store is created: two processes that open a fresh sqlite store break it for good."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / f".{_DATABASE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Store:
    """An open MLflow store and the experiment that searches are written to.

    Args:
        root: Folder that holds the run folders.

    Raises:
        MachineError: The store cannot be opened or written.
    """

    def __init__(self, root: Path) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
        os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
        for name in ("mlflow.store.db.utils", "alembic"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.uri = store_uri(root)
        try:
            with _alone(root):
                self.client = MlflowClient(tracking_uri=self.uri)
                self.experiment = self._experiment()
        except (MlflowException, OSError) as error:
            raise MachineError(
                f"the MLflow store {self.uri} cannot be opened: {error}. Set MLFLOW_TRACKING_URI to one that can, "
                "or unset it to keep a store beside the runs"
            ) from error
        mlflow.set_tracking_uri(self.uri)  # traces know no client of their own

    def _experiment(self) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT
        found = self.client.get_experiment_by_name(name)
        if found is not None:
            return str(found.experiment_id)
        location = None
        if self.uri.startswith("sqlite:///"):
            folder = Path(self.uri.removeprefix("sqlite:///")).resolve().parent / _ARTIFACTS
            folder.mkdir(parents=True, exist_ok=True)
            location = folder.as_uri()
        return str(self.client.create_experiment(name, artifact_location=location))

    def share_view(self, search_id: str, charts: Sequence[str]) -> None:
        """Store the view that `chart_link` opens: the search's candidates, grouped by generation.

        MLflow's page reads it from a tag of the experiment, as it does for links made with its share button.

        Args:
            search_id: The search.
            charts: Metrics that come first, each as bars; MLflow adds the others below.
        """
        view = {
            "searchFilter": f"tags.search_id = '{search_id}' and tags.role = 'candidate'",
            "groupBy": {
                "aggregateFunction": "average",
                "groupByKeys": [{"mode": "tag", "groupByData": "generation"}],
            },
            "runsHiddenMode": "SHOW_ALL",
            "isAccordionReordered": True,
            "compareRunSections": [{"uuid": _SECTION, "name": _SECTION, "display": True, "isReordered": True}],
            "compareRunCharts": [
                {
                    "type": "BAR",
                    "uuid": f"{_SECTION}-{name}",
                    "metricSectionId": _SECTION,
                    "metricKey": name,
                    "displayName": name,
                    "runsCountToCompare": _MOST_BARS,
                    "deleted": False,
                    "isGenerated": False,
                }
                for name in charts
            ],
        }
        self.client.set_experiment_tag(self.experiment, f"mlflow.sharedViewState.{search_id}", json.dumps(view))

    def find(self, tags: Mapping[str, str]) -> dict[str, str]:
        """Return the run names and run ids of all runs that carry every one of `tags`."""
        query = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
        found: dict[str, str] = {}
        token = None
        while True:
            page = self.client.search_runs(
                [self.experiment], query, ViewType.ACTIVE_ONLY, max_results=1000, page_token=token
            )
            found.update({run.info.run_name: run.info.run_id for run in page})
            token = page.token
            if not token:
                return found

    def create(self, name: str, tags: Mapping[str, str], *, started_ms: int, parent: str | None = None) -> str:
        """Create a run, nested under `parent` if given, and return its id."""
        nesting = {} if parent is None else {"mlflow.parentRunId": parent}
        clipped = {key: value[:_LONGEST_TAG] for key, value in {**tags, **nesting}.items()}
        run = self.client.create_run(self.experiment, start_time=started_ms, tags=clipped, run_name=name)
        return str(run.info.run_id)

    def tags(self, run: str) -> dict[str, str]:
        """Return the tags of a run."""
        return dict(self.client.get_run(run).data.tags)

    def log(
        self,
        run: str,
        *,
        points: Iterable[Point] = (),
        params: Mapping[str, object] | None = None,
        tags: Mapping[str, object] | None = None,
        time_ms: int = 0,
    ) -> None:
        """Log numbers, parameters and tags of a run.

        Args:
            run: Run id.
            points: Numbers; repeated ones with the same time, step and value are stored once.
            params: Parameters; MLflow refuses another value for one that is set.
            tags: Tags; a later value replaces an earlier one.
            time_ms: Time of the numbers, ms since the epoch.
        """
        metrics = [Metric(metric_name(each.name), each.value, time_ms, each.step) for each in points]
        settings = [Param(key, str(value)[:_LONGEST_PARAM]) for key, value in (params or {}).items()]
        labels = [RunTag(key, str(value)[:_LONGEST_TAG]) for key, value in (tags or {}).items()]
        for start in range(0, max(len(metrics), 1), 900):
            self.client.log_batch(run, metrics[start : start + 900], settings, labels)
            settings, labels = [], []

    def answers(self) -> bool:
        """Return whether the store can be read now."""
        try:
            self.client.get_experiment(self.experiment)
        except (MlflowException, OSError):
            return False
        return True

    def try_writing(self) -> None:
        """Create a run and delete it again.

        Raises:
            MachineError: The store takes no runs.
        """
        try:
            run = self.create("doctor", {"role": "doctor"}, started_ms=int(time.time() * 1000))
            self.put_text(run, "ready", "ready.txt")
            self.client.delete_run(run)
        except (MlflowException, OSError) as error:
            raise MachineError(f"the MLflow store {self.uri} takes no runs: {error}") from error

    def put_text(self, run: str, text: str, name: str) -> None:
        """Store a text artifact."""
        self.client.log_text(run, text.encode("utf-8", "backslashreplace").decode(), name)

    def put_bytes(self, run: str, data: bytes, name: str) -> None:
        """Store an artifact."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, Path(name).name)
            file.write_bytes(data)
            inside = str(Path(name).parent)
            self.client.log_artifact(run, str(file), None if inside == "." else inside)

    def begin(self, run: str) -> None:
        """Mark a run as running."""
        self.client.update_run(run, RunStatus.to_string(RunStatus.RUNNING))

    def end(self, run: str, status: str, time_ms: int) -> None:
        """Mark a run as `FINISHED`, `FAILED` or `KILLED`."""
        self.client.set_terminated(run, status, time_ms)

    def unfinished(self, runs: Iterable[str]) -> list[str]:
        """Return those of `runs` that are neither finished, failed nor killed."""
        return [run for run in runs if not RunStatus.is_terminated(self._status(run))]

    def _status(self, run: str) -> int:
        return int(RunStatus.from_string(self.client.get_run(run).info.status))

    def span(
        self,
        run: str,
        exchange: str,
        *,
        request: Mapping[str, Any],
        response: Mapping[str, Any],
        attributes: Mapping[str, str],
        started_ns: int,
        ended_ns: int,
        failed: bool,
    ) -> None:
        """Record one LLM exchange as a trace of a run, once."""
        known = self.client.search_traces(locations=[self.experiment], filter_string=f"tags.exchange = '{exchange}'")
        if any(trace.info.request_metadata.get("mlflow.sourceRun") == run for trace in known):
            return
        root = self.client.start_trace(
            name=attributes.get("purpose", "exchange"),
            span_type="LLM",
            inputs=dict(request),
            attributes=dict(attributes),
            tags={"exchange": exchange},
            experiment_id=self.experiment,
            start_time_ns=started_ns,
            run_id=run,
        )
        self.client.end_trace(
            root.trace_id, outputs=dict(response), status="ERROR" if failed else "OK", end_time_ns=ended_ns
        )


def metric_name(name: str) -> str:
    """Return `name` with the characters that MLflow refuses in a metric name replaced by `_`."""
    return re.sub(r"[^\w./ :-]", "_", name, flags=re.ASCII)


def chart_link(server: str, experiment: str, search_id: str) -> str:
    """Return the address of the chart view of one search, grouped by generation (see `Store.share_view`)."""
    return (
        f"{server.rstrip('/')}/#/experiments/{experiment}/runs?workflowType=machine_learning&compareRunsMode=CHART"
        f"&viewStateShareKey={search_id}"
    )
