"""The machine or cluster of a search: starting or joining Ray, and whether it can hold the plan."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import yaml

from actors.spawn import NAMESPACE
from search_spaces.errors import MachineError

BOOTSTRAP = Path("~/ray_bootstrap_config.yaml")
"""Where `ray up` leaves the cluster's configuration on the head."""
SETTINGS: Mapping[str, str] = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_STRICT_METRIC_CHECKING": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "TUNE_WARN_INSUFFICENT_RESOURCE_THRESHOLD_S": "0",
    "TUNE_WARN_INSUFFICENT_RESOURCE_THRESHOLD_S_AUTOSCALER": "0",
    "TUNE_GLOBAL_CHECKPOINT_S": "3600",
}
"""Environment of Ray and Tune: no usage statistics, no result files and no output of their own, Ctrl-C left to the
driver, and no snapshots of a Tuner that is never restored."""


PROBE_S = 5.0
"""How long a Ray that is to be joined may take to accept a connection, s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where a search runs.

    Attributes:
        address: `local` starts a Ray of its own; anything else is an address for `ray.init`.
        gpus_per_trial: Share of a GPU that each trial gets; 0 for none.
        cpus: Trials that run at the same time on a Ray of its own; None: one for each CPU.
    """

    address: str = "local"
    gpus_per_trial: float = 0.0
    cpus: int | None = None

    @property
    def per_trial(self) -> dict[str, float]:
        """Resources of one trial."""
        gpus = {"GPU": self.gpus_per_trial} if self.gpus_per_trial else {}
        return {"CPU": 1.0, **gpus}


def start_ray(machine: Machine, environ: MutableMapping[str, str] = os.environ) -> None:
    """Start or join Ray; without workers if `machine.cpus` is 0.

    Keys must be gone from the environment by now: workers inherit it.

    Raises:
        MachineError: Ray cannot be started or joined.
    """
    for name, value in SETTINGS.items():
        environ.setdefault(name, value)
    local = machine.address == "local"
    if local:
        environ.setdefault("RAY_AUTH_MODE", "disabled")
    try:
        if ":" in machine.address:
            _reach(machine.address)
        with _own_termination():
            ray.init(
                address=machine.address,
                namespace=NAMESPACE,
                num_cpus=machine.cpus if local else None,
                include_dashboard=False if local else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
                configure_logging=False,
            )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        hint = "" if local else f"; is a Ray running at {machine.address}? --local starts one here"
        raise MachineError(f"Ray could not be {'started' if local else 'joined'}: {error}{hint}") from error


@contextmanager
def _own_termination() -> Iterator[None]:
    """Keep this process's answer to SIGTERM: Ray installs one that aborts the process on the spot."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def _reach(address: str) -> None:
    """Connect once, because Ray itself tries for minutes.

    Raises:
        OSError: Nothing answers there.
        ValueError: The port is no number.
    """
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), PROBE_S).close()


def refuse_too_large(per_trial: Mapping[str, float], population: int, nodes: Sequence[Mapping[str, Any]]) -> int:
    """Check that the cluster can hold the plan.

    Args:
        per_trial: Resources of one trial.
        population: Trials of a generation.
        nodes: As `ray.nodes()` lists them, and those that may still come.

    Returns:
        How many trials run at the same time, at most the population.

    Raises:
        MachineError: Not one trial fits on any node; the sum is shown.
    """
    alive = [node["Resources"] for node in nodes if node["Alive"]]
    places = sum(_places(per_trial, resources) for resources in alive)
    if places == 0:
        each = " + ".join(f"{amount:g} {name}" for name, amount in per_trial.items())
        total = ", ".join(f"{population * amount:g} {name}" for name, amount in per_trial.items())
        held = ", ".join(f"{sum(node.get(name, 0.0) for node in alive):g} {name}" for name in per_trial)
        raise MachineError(
            f"no node can hold a trial of {each}: {population} trials need {total} in all, {len(alive)} node(s) hold "
            f"{held}; change --gpus-per-trial, or add nodes"
        )
    return min(places, population)


def nodes_to_come(config: Path = BOOTSTRAP) -> list[dict[str, Any]]:
    """Return the nodes that the autoscaler of this head may still start, as `ray.nodes()` would list them.

    Args:
        config: The cluster's configuration as `ray up` left it on the head; where there is none, nothing grows.

    Raises:
        MachineError: It cannot be read.
    """
    config = config.expanduser()
    if not config.exists():
        return []
    try:
        cluster = yaml.safe_load(config.read_text(encoding="utf-8"))
        kinds = {
            name: kind for name, kind in cluster["available_node_types"].items() if name != cluster["head_node_type"]
        }
        most = int(cluster.get("max_workers", 0))
        return [
            {"Alive": True, "Resources": kind.get("resources") or {}}
            for kind in kinds.values()
            for _ in range(min(int(kind.get("max_workers", most)), most))
        ]
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise MachineError(f"{config}: expected the configuration of a Ray cluster: {error!r}") from error


def _places(per_trial: Mapping[str, float], resources: Mapping[str, float]) -> int:
    return min(int((resources.get(name, 0.0) + 1e-9) / amount) for name, amount in per_trial.items())
