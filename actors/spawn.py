"""Puts Ray around the coordinator, and warms a node before trials run on it."""

from pathlib import Path
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.coordinator import Coordinator
from actors.messages import Assignment
from actors.plan import SearchPlan
from driving.kernel.jit import cache_directory
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import Scenario
from search_spaces.starting_programs import STARTING_PROGRAMS

NAMESPACE = "reward-orchestrator"
"""Ray namespace of all coordinators."""
RESTARTS = 20
"""How often Ray starts a coordinator again whose process died."""
LOCK_PATIENCE_S = 30.0
"""How long a coordinator waits for the lock of one that was killed, s."""


def spawn_coordinator(location: str, plan: SearchPlan, session: str, *, take_over: bool = False) -> Any:
    """Start the coordinator of a search as an actor named after it, on this node.

    It takes no CPU from trials, ends with its driver, and is started again on the journal when its process dies. Its
    arguments are kept by Ray's control store, so no key is among them: see `Coordinator.unlock`.

    Args:
        location: The run's folder.
        plan: The search.
        session: Names this driver.
        take_over: See `lock.lock_run`.

    Returns:
        The actor's handle.
    """
    here = ray.get_runtime_context().get_node_id()
    actor = ray.remote(Coordinator).options(
        name=plan.search_id,
        namespace=NAMESPACE,
        num_cpus=0,
        max_restarts=RESTARTS,
        max_task_retries=-1,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=here, soft=False),
    )
    return actor.remote(location, plan, session=session, take_over=take_over, wait_s=LOCK_PATIENCE_S)


def warm_nodes() -> list[Any]:
    """Have every node that can run trials compile the kernels once; nodes whose cache is warm are left alone.

    Two trials that start with a cold cache would both compile for ten seconds or more.

    Returns:
        References that are ready when the nodes are.
    """
    here = ray.get_runtime_context().get_node_id()
    warm = ray.remote(num_cpus=1, max_retries=0)(warm_here)
    return [
        warm.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=True)).remote()
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        if node["NodeID"] != here or not _warm_mark().exists()
    ]


def _warm_mark() -> Path:
    return cache_directory() / "warm"


def warm_here() -> None:
    """Compile the kernels of a trial into this machine's cache, unless that was done before."""
    if _warm_mark().exists():
        return
    # Loading torch and RLlib takes seconds that a warm node need not spend.
    from actors.trainer import train_candidate

    train_candidate(
        Assignment(
            candidate_id="warm-up",
            source=next(iter(STARTING_PROGRAMS.values())),
            seed=0,
            steps=1,
            ppo=PPOSettings(environments=2, batch=64, minibatch=64, epochs=1),
            scenario=Scenario(),
            held_out=2,
            film=False,
        )
    )
    _warm_mark().touch()
