"""A search from its plan to its summary: under Ray Tune, or in one process for debugging."""

import contextlib
import itertools
import json
import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray import tune
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError
from ray.tune.search import ConcurrencyLimiter

from actors.coordinator import Coordinator
from actors.journal import JournalReader
from actors.keys import Credentials
from actors.ledger import replay
from actors.lock import lock_run
from actors.measurement import refuse_other_measurement
from actors.plan import SearchPlan
from actors.progress import Progress
from actors.spawn import LOCK_PATIENCE_S, NAMESPACE, spawn_coordinator, warm_nodes
from actors.storage import Storage
from actors.summary import SUMMARY_NAME
from actors.trainer import CandidateTrainer, train_candidate
from orchestrator.config import SearchConfig
from orchestrator.machine import Machine, nodes_to_come, refuse_too_large, start_ray
from orchestrator.searcher import CandidateSearcher
from search_spaces.errors import MachineError, OrchestratorError, RunError, SearchInterruptedError

POLL_S = 0.5
"""Seconds between two looks at the progress."""
CLOSE_PATIENCE_S = 20.0
"""Seconds that a coordinator has to write its summary in the end."""

Watch = Callable[[Progress], None]
"""Shown how far the search is; called from another thread under Ray."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is to be run, and where it is kept.

    Attributes:
        plan: What is asked for.
        location: The run's folder: an absolute path or a URI.
        take_over: Whether an abandoned lease of the run may be taken.
    """

    plan: SearchPlan
    location: str
    take_over: bool = False


def new_search(config: SearchConfig, out: str | None, root: Path, now: datetime) -> Search:
    """Name a search, make its folder, and save the configuration there.

    Args:
        config: What is asked for.
        out: Folder or URI of the run; None: a new folder below `root`.
        root: Folder that holds the runs.
        now: Names the search.

    Raises:
        RunError: The folder holds a run already, or cannot be written.
    """
    search_id = f"search-{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:4]}"
    storage = Storage.at(out if out is not None else root / search_id)
    location = str(storage.local_root) if storage.local_root is not None else str(out)
    try:
        if storage.names("events"):
            raise RunError(f"{location} holds a run already; go on with --resume {location}, or choose another --out")
        config.save(location)
    except OSError as error:
        raise RunError(
            f"{location} cannot be written ({error.strerror or error}); choose another folder with --out"
        ) from error
    return Search(plan=config.plan(search_id), location=location)


def resumed(location: str, *, take_over: bool = False) -> Search:
    """Return the search in a run's folder, to go on with.

    Raises:
        RunError: The folder holds no search, or one that measures otherwise than this release.
        JournalError: Its journal is damaged.
    """
    storage = Storage.at(location)
    record = replay(JournalReader(storage))
    if record.plan is None:
        raise RunError(f"{location} holds no search to resume; expected a run's folder with events/")
    refuse_other_measurement(record.measurement, location)
    root = storage.local_root
    return Search(plan=record.plan, location=location if root is None else str(root), take_over=take_over)


def run_search(search: Search, machine: Machine, credentials: Credentials, watch: Watch) -> dict[str, Any]:
    """Run a search under Ray Tune, from wherever its journal ends.

    Args:
        search: What is run.
        machine: Where.
        credentials: Keys of the LLM provider; taken out of the environment before.
        watch: Shown the progress twice a second, and once more at the end.

    Returns:
        The summary.

    Raises:
        SearchInterruptedError: Ctrl-C; the run can be resumed.
        MachineError: Ray cannot be started, cannot hold the plan, or ended early.
        UsageError: An LLM spec, URL or folder that cannot be used, or no key for Groq.
        ProviderError: The model can never answer.
        RunError: The run is written by another process, or holds another search.
    """
    _refuse_foreign(search)
    try:
        start_ray(machine)
        to_come = [] if machine.address == "local" else nodes_to_come()
        refuse_too_large(machine.per_trial, search.plan.population, [*ray.nodes(), *to_come])
        _run_under_tune(search, machine, credentials, watch)
    except KeyboardInterrupt:
        raise SearchInterruptedError(_interrupted(search)) from None
    finally:
        ray.shutdown()
    return read_summary(search.location)


def run_debug(search: Search, credentials: Credentials, watch: Watch) -> dict[str, Any]:
    """Run the same search in this process and thread, one trial after the other; errors come with their traceback.

    Ray is started without workers, because RLlib asks for one.

    Args:
        search: What is run.
        credentials: See `run_search`.
        watch: Shown the progress after each batch of a training.

    Returns:
        The summary.

    Raises:
        SearchInterruptedError: Ctrl-C; the run can be resumed.
        OrchestratorError: See `run_search`.
    """
    _refuse_foreign(search)
    try:
        start_ray(Machine(cpus=0))
        _run_here(search, credentials, watch)
    except KeyboardInterrupt:
        raise SearchInterruptedError(_interrupted(search)) from None
    finally:
        ray.shutdown()
    return read_summary(search.location)


def read_summary(location: str) -> dict[str, Any]:
    """Return a run's summary.

    Raises:
        RunError: There is none.
    """
    content = Storage.at(location).read(SUMMARY_NAME)
    if content is None:
        raise RunError(f"{location} has no {SUMMARY_NAME}; a search writes it after each generation")
    summary: dict[str, Any] = json.loads(content)
    return summary


def _refuse_foreign(search: Search) -> None:
    """Look for another writer and another search before anything is started, where errors are easy to read."""
    storage = Storage.at(search.location)
    lock_run(storage, take_over=search.take_over, wait_s=LOCK_PATIENCE_S).release()
    known = replay(JournalReader(storage)).plan
    if known not in (None, search.plan):
        raise RunError(f"{search.location} holds another search; choose another folder, or go on with --resume")


def _interrupted(search: Search) -> str:
    return f"interrupted; resume with: orchestrate --resume {search.location}"


def _run_here(search: Search, credentials: Credentials, watch: Watch) -> None:
    session = _new_session()
    coordinator = Coordinator(
        search.location, search.plan, session=session, take_over=search.take_over, wait_s=LOCK_PATIENCE_S, threads=False
    )
    try:
        coordinator.unlock(credentials)
        for number in itertools.count():
            trial = f"{session}-{number}"
            candidate = coordinator.ask(trial).candidate_id
            if candidate is None:
                break

            def show(steps: int, steps_per_s: float, candidate: str = candidate) -> None:
                coordinator.training(candidate, steps, steps_per_s)
                watch(coordinator.progress())

            ask_at_rung = partial(coordinator.rung, candidate)
            coordinator.deliver(train_candidate(coordinator.assignment(candidate), show, ask_at_rung))
            coordinator.tell(trial, None)
        watch(coordinator.progress())
    finally:
        coordinator.close()


def _run_under_tune(search: Search, machine: Machine, credentials: Credentials, watch: Watch) -> None:
    session = _new_session()
    coordinator = spawn_coordinator(search.location, search.plan, session, take_over=search.take_over)
    try:
        ray.get(warm_nodes())
        _get(coordinator.unlock.remote(credentials))
        with _watching(coordinator, credentials, watch):
            _fit(search, machine, session)
        _get(coordinator.check.remote())
        if not _get(coordinator.progress.remote()).phase == "finished":
            raise MachineError(f"Tune ended before the search did; resume with: orchestrate --resume {search.location}")
    finally:
        with contextlib.suppress(RayActorError, GetTimeoutError):
            ray.get(coordinator.close.remote(), timeout=CLOSE_PATIENCE_S)


def _fit(search: Search, machine: Machine, session: str) -> None:
    searcher = CandidateSearcher(search.plan.search_id, NAMESPACE)
    trainable = tune.with_resources(CandidateTrainer, tune.PlacementGroupFactory([machine.per_trial]))
    tuner = tune.Tuner(
        trainable,
        tune_config=tune.TuneConfig(
            search_alg=ConcurrencyLimiter(searcher, max_concurrent=search.plan.population),
            num_samples=-1,
            reuse_actors=True,
            trial_name_creator=_trial_name,
            trial_dirname_creator=_trial_name,
        ),
        run_config=tune.RunConfig(
            name=session,
            storage_path=f"{search.location}/tune",
            failure_config=tune.FailureConfig(max_failures=0),
            checkpoint_config=tune.CheckpointConfig(checkpoint_frequency=0, checkpoint_at_end=False),
            verbose=0,
        ),
    )
    # It complains of result files that are switched off.
    logging.getLogger("ray.tune").setLevel(logging.ERROR)
    tuner.fit()


def _trial_name(trial: Any) -> str:
    return f"{trial.config['candidate']}-{trial.trial_id}"


def _new_session() -> str:
    return uuid.uuid4().hex[:12]


@contextlib.contextmanager
def _watching(coordinator: Any, credentials: Credentials, watch: Watch) -> Iterator[None]:
    """Show the progress from a thread, and hand the keys to a coordinator that was started again."""
    ended = threading.Event()

    def follow() -> None:
        # A coordinator that is gone for good is noticed, and raised, by the searcher.
        with contextlib.suppress(RayActorError):
            while not ended.wait(POLL_S):
                progress: Progress = _get(coordinator.progress.remote())
                if progress.phase == "locked":
                    _get(coordinator.unlock.remote(credentials))
                watch(progress)

    thread = threading.Thread(target=follow, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _get(reference: Any) -> Any:
    """Fetch an actor's answer; the project's own errors are raised as what they are."""
    try:
        return ray.get(reference)
    except RayTaskError as error:
        if isinstance(error.cause, OrchestratorError):
            raise error.cause from None
        raise
