"""Searches without training: outcomes are made up, everything else is real."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from actors.coordinator import Coordinator
from actors.keys import Credentials
from actors.messages import Assignment
from actors.outcome import Delivery, Outcome
from actors.plan import FinalsSettings, SearchPlan
from actors.policy import Policy
from driving.episodes import to_parquet
from search_spaces.scenarios import SEED_SETS
from tests.entries import METRICS
from tests.tables import episodes

Deliver = Callable[[Assignment], Delivery]
"""What a trial does in these searches."""


def small_plan(**changes: Any) -> SearchPlan:
    """A search that is cheap to design."""
    settings: dict[str, Any] = {
        "search_id": "test",
        "population": 3,
        "generations": 2,
        "steps": 1000,
        "held_out": 5,
        "proposals_per_slot": 2,
        "finals": FinalsSettings(finalists=0),
    }
    return SearchPlan(**{**settings, **changes})


def delivery(name: str, speed: float = 24.0, *, episodes: bytes | None = None, **changes: Any) -> Delivery:
    """A made-up outcome with a real policy that does nothing much."""
    if changes.get("status", "trained") != "trained":
        return Delivery(outcome=Outcome(candidate_id=name, **changes))
    outcome = Outcome(
        candidate_id=name,
        status="trained",
        metrics={**METRICS, "speed_ms": speed, "progress_ms": speed - 1},
        env_steps=1000,
        wall_s=1.0,
    )
    policy = Policy(
        factor=np.ones(25, np.float32),
        offset=np.zeros(25, np.float32),
        weights=(np.zeros((25, 5), np.float32),),
        biases=(np.array([0, 1, 0, 0, 0], np.float32),),
    )
    return Delivery(outcome=outcome, policy=policy.to_bytes(), film=b"not really", episodes=episodes)


def opened(run: Path, plan: SearchPlan | None = None, session: str = "one", *, threads: bool = False) -> Coordinator:
    """A coordinator that was handed its keys."""
    coordinator = Coordinator(str(run), plan or small_plan(), session=session, threads=threads)
    coordinator.unlock(Credentials())
    return coordinator


def speed_of(name: str) -> float:
    """The made-up speed of a candidate, m/s: each another one."""
    return 22.0 + sum(map(ord, name)) % 40 / 10


def made_up(assignment: Assignment) -> Delivery:
    """An outcome of that speed, without single episodes."""
    return delivery(assignment.candidate_id, speed_of(assignment.candidate_id))


def driven(assignment: Assignment) -> Delivery:
    """An outcome with made-up episodes: the same for all, but for the speed of who drives."""
    name = assignment.candidate_id
    table = episodes(assignment.held_out, 7, crash_rate=0.0, speed=speed_of(name))
    seeds = np.array(SEED_SETS[assignment.seed_set].seeds(assignment.held_out), np.uint64)
    return delivery(name, speed_of(name), episodes=to_parquet(replace(table, seeds=seeds)))


def finish(coordinator: Coordinator, limit: int = 1000, deliver: Deliver = made_up) -> list[str]:
    """Deliver all that is asked for; return the ids in order of training."""
    trained = []
    for number in range(limit):
        answer = coordinator.ask(f"trial-{number}")
        if answer.candidate_id is None:
            break
        trained.append(answer.candidate_id)
        coordinator.deliver(deliver(coordinator.assignment(answer.candidate_id)))
        coordinator.tell(f"trial-{number}", None)
    return trained
