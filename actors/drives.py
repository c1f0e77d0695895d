"""Where the detectors look: episodes that a candidate drove, frame by frame, and what it earned in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.bootstrap import interval, weights
from actors.evaluator import PolicyDriver
from actors.messages import ArchiveEntry, Candidate
from actors.plan import SearchPlan
from actors.policy import Policy
from actors.run_files import episodes_file, policy_file
from actors.storage import Storage
from driving.drivers import Act, Driver
from driving.episodes import from_parquet
from driving.kernel.reward_machine import RewardMachine
from driving.measures import EpisodeTable
from driving.trajectory import Trajectory, record_trajectories
from search_spaces.language import compile_program
from search_spaces.program import RewardProgram
from search_spaces.scenarios import SEED_SETS, Scenario

EPISODES = 50
"""Episodes that are logged frame by frame, the first of those that the candidate was measured on: about 0.1 s."""
WINDOW_S = 6.0
"""Longest part of an episode that a finding points at, s: a lane change or an overtake lasts 2 to 5 s."""


class Signal(NamedTuple):
    """What a detector sees in one episode.

    Attributes:
        amount: How much of what it looks for.
        per: Of what, or in what: kilometres, minutes, frames.
        marks: How much of it each row of the log shows, float64[T].
    """

    amount: float
    per: float
    marks: NDArray[np.float64]


class Place(NamedTuple):
    """A part of an episode.

    Attributes:
        seed: Seed of the episode.
        frames: First and last physics frame.
    """

    seed: int
    frames: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Drives:
    """What a candidate drove.

    Attributes:
        scenario: The road.
        logs: Its episodes; at least one.
        program: What it was paid by; None for highway-env's own reward.
        horizon: How many decisions ahead it was trained to look.
        tables: Measured episodes of the candidate and of its parents, by id, as far as they are kept.
    """

    scenario: Scenario
    logs: Sequence[Trajectory]
    program: RewardProgram | None = None
    horizon: float = 10.0
    tables: Mapping[str, EpisodeTable] = field(default_factory=dict)

    @property
    def completion(self) -> float:
        """Share of the scheduled time that was driven, 0 to 1."""
        return sum(len(log.states) for log in self.logs) / (len(self.logs) * self.scenario.decisions)

    @property
    def crash_rate(self) -> float:
        """Share of the episodes that ended in a crash, 0 to 1."""
        return sum(log.crashed for log in self.logs) / len(self.logs)

    def rate(self, signals: Sequence[Signal]) -> tuple[float, tuple[float, ...]] | None:
        """Return the sum of all amounts over the sum of what they are per, and its 95 % interval over episodes.

        Args:
            signals: One for each log.

        Returns:
            None where there is nothing to divide by; an empty interval where most draws have nothing either.
        """
        amount = np.array([signal.amount for signal in signals])
        per = np.array([signal.per for signal in signals])
        if per.sum() <= 0.0:
            return None
        value = float(amount.sum() / per.sum())
        if len(signals) < 2:
            return value, ()
        drawn = weights(len(signals))
        below = drawn @ per
        draws = np.divide(drawn @ amount, below, out=np.full(len(below), np.nan), where=below > 0.0)
        return value, interval(draws, value) or ()

    def place(self, signals: Sequence[Signal]) -> Place | None:
        """Return the part of at most `WINDOW_S` whose rows show most, without the rows before and after that show none.

        Args:
            signals: One for each log.

        Returns:
            None where no row shows anything.
        """
        length = max(round(WINDOW_S * self.scenario.simulation_frequency), 1)
        sums = [_windows(signal.marks, length) for signal in signals]
        best = max(range(len(sums)), key=lambda row: float(sums[row].max()))
        if sums[best].max() <= 0.0:
            return None
        begin = int(sums[best].argmax())
        shown = begin + np.flatnonzero(signals[best].marks[begin : begin + length] > 0.0)
        return Place(self.logs[best].seed, (int(shown[0]), int(shown[-1])))

    def earned(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return what decisions earned under the candidate's own reward; None without a program of its own.

        Returns:
            ordinary: Of decisions that ended in no crash, float64[K].
            crashes: Of those that did, float64[C].
        """
        if self.program is None:
            return None
        machine = RewardMachine(self.program)
        totals = machine.evaluate(np.concatenate([log.states for log in self.logs])).totals
        crash = np.zeros(len(totals), np.bool_)
        ends = np.cumsum([len(log.states) for log in self.logs]) - 1
        crash[ends] = [log.crashed for log in self.logs]
        return totals[~crash], totals[crash]


def _windows(marks: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Return the sum of the `length` rows from each row on, fewer at the end, float64[T]."""
    sums = np.concatenate([[0.0], np.cumsum(marks)])
    last = np.minimum(np.arange(len(marks)) + length, len(marks))
    windows: NDArray[np.float64] = sums[last] - sums[:-1]
    return windows


def record_drives(
    driver: Driver | Act,
    scenario: Scenario,
    seeds: Sequence[int],
    source: str = "",
    horizon: float = 10.0,
    tables: Mapping[str, EpisodeTable] | None = None,
) -> Drives:
    """Drive episodes for the detectors.

    Args:
        driver: Who drives.
        scenario: The road.
        seeds: Seeds of the episodes; at least one.
        source: Text of the program that it was trained on; empty for highway-env's own reward.
        horizon: How many decisions ahead it was trained to look.
        tables: See `Drives`.
    """
    program = compile_program(source) if source else None
    return Drives(
        scenario,
        tuple(record_trajectories(driver, scenario, seeds)),
        program if isinstance(program, RewardProgram) else None,
        horizon,
        tables or {},
    )


def read_drives(
    storage: Storage, entry: ArchiveEntry, parents: Iterable[ArchiveEntry], plan: SearchPlan
) -> Drives | None:
    """Let a candidate's stored policy drive the first episodes that it was measured on.

    Args:
        storage: The run's folder.
        entry: The candidate.
        parents: Those it was written from.
        plan: The search.

    Returns:
        None where no policy is kept.

    Raises:
        PolicyError: What is kept is no policy.
        RunError: What is kept beside it are no episodes.
        OSError: The storage fails.
    """
    candidate, discount = entry.candidate, plan.ppo.discount
    content = storage.read(policy_file(candidate.id))
    if content is None:
        return None
    known = {each.id: _table(storage, each) for each in (candidate, *(parent.candidate for parent in parents))}
    return record_drives(
        PolicyDriver(Policy.from_bytes(content)),
        plan.scenario,
        SEED_SETS[candidate.seed_set].seeds(min(EPISODES, plan.held_out)),
        candidate.source,
        1 / (1 - discount) if discount < 1 else plan.scenario.decisions,
        {name: table for name, table in known.items() if table is not None},
    )


def _table(storage: Storage, candidate: Candidate) -> EpisodeTable | None:
    content = storage.read(episodes_file(candidate.id))
    return None if content is None else from_parquet(content)
