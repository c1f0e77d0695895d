"""Preflight: everything that a search needs, tried before anything is paid.

Each check does the thing itself (a task on Ray, a question to the model, a run in the store, a film) and answers with
one line; one that fails does not keep the others from being tried.
"""

import importlib.metadata
import os
import platform
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import ray
from packaging.requirements import Requirement
from ray.exceptions import RayError

from actors.chat import ChatFailure, ChatMessage, Exchange
from actors.keys import Credentials
from actors.patience import SystemClock
from actors.plan import LLMSettings
from actors.providers import open_provider
from actors.upstream_comparison import compared
from actors.upstream_judge import UpstreamJudge
from driving.drivers import driver_named
from driving.film import film_episode
from orchestrator.machine import Machine, start_ray
from orchestrator.provenance import DISTRIBUTION
from orchestrator.tracking import Store
from search_spaces.errors import MachineError, OrchestratorError
from search_spaces.scenarios import REPORT, Scenario

Verdict = Literal["ok", "warning", "failed"]

NEEDED_DISK_GB = 2.0
"""Free disk for a search of the default size, GB: 40 candidates of 1 MB, twice, and Ray's session files."""


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found.

    Attributes:
        name: What was tried.
        verdict: Whether a search would work.
        sentence: What was found, and what to do where it is not `ok`; may quote a provider, so it is untrusted.
    """

    name: str
    verdict: Verdict
    sentence: str


def check_python() -> Check:
    """Say which interpreter and processor this is."""
    found = f"{platform.python_version()} ({sys.executable}), {os.cpu_count()} CPUs, {platform.machine()}"
    wanted = importlib.metadata.metadata(DISTRIBUTION)["Requires-Python"]
    good = wanted is None or Requirement(f"python{wanted}").specifier.contains(platform.python_version())
    return Check("python", "ok" if good else "failed", found if good else f"{found}; Python {wanted} is needed")


def check_packages() -> Check:
    """Compare the installed versions with those that this project declares."""
    wrong, found = [], []
    for line in importlib.metadata.requires(DISTRIBUTION) or []:
        wanted = Requirement(line)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{wanted.name} is missing")
            continue
        found.append(f"{wanted.name} {version}")
        if not wanted.specifier.contains(version, prereleases=True):
            wrong.append(f"{wanted.name} {version} is not {wanted.specifier}")
    if wrong:
        return Check("packages", "failed", f"{'; '.join(wrong)}; `make setup` installs what is pinned")
    return Check("packages", "ok", ", ".join(found))


def check_disk(root: Path) -> Check:
    """Measure the free disk where runs go."""
    place = root.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / 1e9
    if not os.access(place, os.W_OK):
        return Check("disk", "failed", f"{place} cannot be written; name another folder with --out")
    good = free >= NEEDED_DISK_GB
    sentence = f"{free:.1f} GB free at {place}"
    return Check("disk", "ok" if good else "failed", sentence if good else f"{sentence}; {NEEDED_DISK_GB} are needed")


def check_ray(address: str) -> Check:
    """Start or join Ray, run one task there, and sum up what it has.

    Args:
        address: `local`, or the address of a cluster.
    """
    try:
        start_ray(Machine(address=address))
        version = ray.get(ray.remote(num_cpus=0)(platform.python_version).remote(), timeout=60)
        resources: Mapping[str, float] = ray.cluster_resources()
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
    except (MachineError, RayError) as error:
        return Check("ray", "failed", f"{address}: {error}")
    finally:
        ray.shutdown()
    memory = resources.get("memory", 0.0) / 2**30
    sums = f"{resources.get('CPU', 0):g} CPUs, {resources.get('GPU', 0):g} GPUs, {memory:.0f} GiB on {nodes} nodes"
    if version.rpartition(".")[0] != platform.python_version().rpartition(".")[0]:
        return Check("ray", "failed", f"{sums}; workers run Python {version}, this is {platform.python_version()}")
    return Check("ray", "ok", f"{address}: {sums}")


def check_model(settings: LLMSettings, credentials: Credentials) -> Check:
    """Ask the model one short question.

    Args:
        settings: Which model.
        credentials: Keys for it.
    """
    if settings.spec is None:
        return Check("model", "warning", "no LLM: programs are evolved. GROQ_API_KEY=... or --llm SPEC brings one in")
    question = ChatMessage(role="user", content="Answer with the single word ready.")
    exchange = Exchange(id="doctor", purpose="design", generation=0, messages=(question,))
    try:
        provider = open_provider(settings, credentials, SystemClock(threading.Event()))
        try:
            answer = provider.chat(exchange)
        finally:
            provider.close()
    except OrchestratorError as error:
        return Check("model", "failed", str(error))
    if isinstance(answer, ChatFailure):
        return Check("model", "failed", f"{settings.spec}: {answer.reason}")
    return Check("model", "ok", f"{answer.model} answered in {answer.wall_s:.1f} s")


def check_store(root: Path) -> Check:
    """Write a run to the MLflow store and delete it again."""
    try:
        store = Store(root)
        store.try_writing()
    except MachineError as error:
        return Check("mlflow", "failed", str(error))
    return Check("mlflow", "ok", f"{store.uri} takes runs")


def check_film() -> Check:
    """Drive a short episode on the kernel, render its frames and encode them."""
    scenario = Scenario(duration=3)
    try:
        film = film_episode(scenario, REPORT.first, driver_named("idm"))
    except (MachineError, OSError, RuntimeError) as error:
        return Check("film", "failed", f"{error}; candidates would have no films")
    return Check("film", "ok", f"{scenario.duration} s of driving rendered and encoded to {len(film)} bytes of mp4")


def check_simulator() -> Check:
    """Drive two short episodes in highway-env and in the kernel, and compare them bit by bit."""
    try:
        both = UpstreamJudge(processes=1).drive("idm", Scenario(duration=4), REPORT.seeds(2))
    except MachineError as error:
        return Check("highway-env", "failed", str(error))
    if both is None:
        return Check("highway-env", "failed", "its process was ended by somebody else")
    found = compared("idm", both)
    sure: Verdict = "ok" if found.maths_equal else "warning"
    return Check("highway-env", "failed" if found.broken else sure, found.sentence())


def examine(root: Path, address: str, settings: LLMSettings, credentials: Credentials) -> Iterator[Check]:
    """Try everything, yielding each finding as it is known.

    Args:
        root: Folder that runs go to.
        address: Ray's address.
        settings: Which model would be asked.
        credentials: Keys for it.
    """
    yield check_python()
    yield check_packages()
    yield check_disk(root)
    yield check_film()
    yield check_simulator()
    yield check_store(root)
    yield check_ray(address)
    yield check_model(settings, credentials)
