"""Searches without training: outcomes are made up, everything else is real."""

from pathlib import Path
from typing import Any

import numpy as np

from actors.coordinator import Coordinator
from actors.keys import Credentials
from actors.outcome import Delivery, Outcome
from actors.plan import SearchPlan
from actors.policy import Policy
from tests.entries import METRICS


def small_plan(**changes: Any) -> SearchPlan:
    """A search that is cheap to design."""
    settings: dict[str, Any] = {
        "search_id": "test",
        "population": 3,
        "generations": 2,
        "steps": 1000,
        "held_out": 5,
        "proposals_per_slot": 2,
    }
    return SearchPlan(**{**settings, **changes})


def delivery(name: str, speed: float = 24.0, **changes: Any) -> Delivery:
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
    return Delivery(outcome=outcome, policy=policy.to_bytes(), film=b"not really")


def opened(run: Path, plan: SearchPlan | None = None, session: str = "one", *, threads: bool = False) -> Coordinator:
    """A coordinator that was handed its keys."""
    coordinator = Coordinator(str(run), plan or small_plan(), session=session, threads=threads)
    coordinator.unlock(Credentials())
    return coordinator


def speed_of(name: str) -> float:
    """The made-up speed of a candidate, m/s: each another one."""
    return 22.0 + sum(map(ord, name)) % 40 / 10


def finish(coordinator: Coordinator, limit: int = 1000) -> list[str]:
    """Deliver all that is asked for; return the ids in order of training."""
    trained = []
    for number in range(limit):
        answer = coordinator.ask(f"trial-{number}")
        if answer.candidate_id is None:
            break
        trained.append(answer.candidate_id)
        coordinator.deliver(delivery(answer.candidate_id, speed_of(answer.candidate_id)))
        coordinator.tell(f"trial-{number}", None)
    return trained
