"""What the independent judge's child processes do: drive the same episodes in highway-env and in the kernel.

    python -P -m actors.upstream_child < ERRAND

It reads one `Errand` as a line of JSON and answers with one `Driven` as the last line of its output. Its input stays
open as long as somebody waits for the answer; when that ends, so does the child, at the next decision.
"""

import base64
import json
import select
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.evaluator import PolicyDriver
from actors.message import Message
from actors.policy import Policy
from driving.drivers import Driver, driver_named, run_episodes
from driving.episodes import from_parquet, to_parquet
from driving.measures import EpisodeTable
from driving.probe import differing_functions
from driving.reference import ReferenceVectorEnv
from search_spaces.errors import OrchestratorError
from search_spaces.scenarios import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand(Message):
    """What a child is asked to drive.

    Attributes:
        scenario: The road.
        seeds: Seeds of the episodes.
        driver: Name of a baseline driver; None: a policy drives.
        policy: `policy.npz` as base64; None: a baseline driver drives.
        sample_seed: Seed for sampling the policy's actions; None takes the likeliest.
    """

    scenario: Scenario
    seeds: tuple[int, ...]
    driver: str | None = None
    policy: str | None = None
    sample_seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven(Message):
    """What came of an errand.

    Attributes:
        differing_functions: NumPy functions that do not round there as the kernel does; where there are none, the two
            simulators must agree to the last bit.
        kernel: The episodes in the kernel, Parquet as base64.
        upstream: The same episodes in highway-env, likewise.
    """

    differing_functions: tuple[str, ...]
    kernel: str
    upstream: str

    def tables(self) -> tuple[EpisodeTable, EpisodeTable]:
        """Return the episodes in the kernel and in highway-env.

        Raises:
            RunError: They are no tables of episodes.
        """
        return from_parquet(base64.b64decode(self.kernel)), from_parquet(base64.b64decode(self.upstream))


def who_drives(errand: Errand) -> Driver:
    """Return the driver of an errand, fresh: two of them choose alike.

    Raises:
        PolicyError: The policy is damaged.
        UsageError: No driver of that name.
    """
    if errand.policy is None:
        return driver_named(errand.driver or "")
    rng = None if errand.sample_seed is None else np.random.default_rng(errand.sample_seed)
    return PolicyDriver(Policy.from_bytes(base64.b64decode(errand.policy)), rng)


def run_errand(errand: Errand) -> Driven:
    """Drive the episodes in both simulators; highway-env takes about half a second for one."""

    def still_wanted(_: Any, __: NDArray[np.bool_]) -> None:
        if select.select([sys.stdin], [], [], 0)[0]:
            raise SystemExit("nobody waits for the answer any more")

    scenario, seeds = errand.scenario, errand.seeds
    kernel = run_episodes(scenario, seeds, who_drives(errand))
    upstream = run_episodes(scenario, seeds, who_drives(errand), on_decision=still_wanted, simulator=ReferenceVectorEnv)
    return Driven(
        differing_functions=tuple(differing_functions()),
        kernel=base64.b64encode(to_parquet(kernel)).decode(),
        upstream=base64.b64encode(to_parquet(upstream)).decode(),
    )


def main() -> None:
    """Take one errand from the standard input and write what came of it to the standard output."""
    errand = Errand.from_json(json.loads(sys.stdin.readline()))
    try:
        driven = run_errand(errand)
    except OrchestratorError as error:
        sys.exit(str(error))
    sys.stdout.write(json.dumps(driven.to_json()) + "\n")


if __name__ == "__main__":
    main()
