"""Whether highway-env and the kernel tell the same story, episode by episode and figure by figure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from actors.message import Message
from driving.measures import EpisodeTable
from search_spaces.errors import SimulatorMismatchError
from search_spaces.scenarios import REPORT


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeDifference(Message):
    """An episode in which the two simulators disagree.

    Attributes:
        seed: Its seed.
        kernel: The figures that differ, as the kernel has them; `ttc` and the like stand for a whole histogram and give
            the number of frames in it.
        upstream: The same figures in highway-env.
    """

    seed: int
    kernel: Mapping[str, float]
    upstream: Mapping[str, float]

    def sentence(self) -> str:
        """Say what differs."""
        told = [f"{name} {value!r} in the kernel, {self.upstream[name]!r}" for name, value in self.kernel.items()]
        return f"episode {self.seed}: {'; '.join(told)} in highway-env"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(Message):
    """Episodes of one driver in highway-env and in the kernel, compared.

    Attributes:
        name: Who drove.
        episodes: How many episodes were compared.
        first_seed: Seed of the first one.
        differing: Those that differ in crash, length, return or any other measure, by a bit or more.
        differing_functions: NumPy functions that do not round on this machine as the kernel does.
        redelivered: Of the same episodes as the trial measured them, how many differ from the kernel's on this machine;
            None where there was nothing to compare with.
        reason: Why nothing could be replayed; empty where it was.
    """

    name: str
    episodes: int
    first_seed: int
    differing: tuple[EpisodeDifference, ...] = ()
    differing_functions: tuple[str, ...] = ()
    redelivered: int | None = None
    reason: str = ""

    @property
    def maths_equal(self) -> bool:
        """Whether the machine's arithmetic is the kernel's, so that no episode may differ."""
        return not self.differing_functions

    @property
    def broken(self) -> bool:
        """Whether the simulators disagree where they must not: nothing that the kernel measured can be trusted then."""
        return self.maths_equal and bool(self.differing)

    def refuse(self, driver: str) -> None:
        """Raise where the simulators disagree though they must not.

        Args:
            driver: What `orchestrate evaluate` takes to have the same one drive, such as `RUN CANDIDATE`.

        Raises:
            SimulatorMismatchError: They do.
        """
        if self.broken:
            first = self.differing[0]
            raise SimulatorMismatchError(
                f"{len(self.differing)} of {self.episodes} episodes differ between the kernel and highway-env, whose "
                f"arithmetic is the same here: what this run measured cannot be trusted. {first.sentence()}. To see it "
                f"again: orchestrate evaluate {driver} --upstream --episodes 1 --seed {first.seed}"
            )

    def sentence(self) -> str:
        """Say what was found."""
        if self.reason:
            return f"{self.name} could NOT be replayed in highway-env, so that only the kernel vouches: {self.reason}"
        same = self.episodes - len(self.differing)
        episodes = "report episodes" if REPORT.holds(self.first_seed) else "episodes"
        told = f"{same} of {self.episodes} {episodes} of {self.name} are identical in highway-env"
        if not self.maths_equal:
            names = ", ".join(self.differing_functions)
            told += f" (NumPy's {names} round differently on this machine, so that some may differ; no verdict)"
        elif self.differing:
            told += f"; {self.differing[0].sentence()}"
        if self.redelivered:
            told += (
                f"; {self.redelivered} of them differ from what the trial delivered: the machine that trained it "
                "rounds differently from this one, or this is not its policy"
            )
        return told


@dataclass(frozen=True, slots=True, eq=False)
class BothWays:
    """The same episodes in the two simulators.

    Attributes:
        kernel: In the kernel.
        upstream: In highway-env.
        differing_functions: See `Replay`.
    """

    kernel: EpisodeTable
    upstream: EpisodeTable
    differing_functions: tuple[str, ...]


def differences(kernel: EpisodeTable, upstream: EpisodeTable) -> tuple[EpisodeDifference, ...]:
    """Return the episodes that differ in any figure, in the order of the tables.

    Args:
        kernel: Episodes in the kernel.
        upstream: The same seeds, in the same order, in highway-env.
    """
    found = []
    for row, seed in enumerate(kernel.seeds):
        names = [name for name, column in kernel.columns.items() if column[row] != upstream.columns[name][row]]
        ours = {name: float(kernel.columns[name][row]) for name in names}
        theirs = {name: float(upstream.columns[name][row]) for name in names}
        for name, counts in kernel.histograms.items():
            if not np.array_equal(counts[row], upstream.histograms[name][row]):
                ours[name] = float(counts[row].sum())
                theirs[name] = float(upstream.histograms[name][row].sum())
        if ours:
            found.append(EpisodeDifference(seed=int(seed), kernel=ours, upstream=theirs))
    return tuple(found)


def compared(name: str, both: BothWays, delivered: EpisodeTable | None = None) -> Replay:
    """Compare episodes that were driven both ways.

    Args:
        name: Who drove.
        both: The episodes.
        delivered: Episodes of the same driver as its trial measured them; those that were driven again are compared.
    """
    redelivered = None
    if delivered is not None:
        _, theirs, ours = np.intersect1d(delivered.seeds, both.kernel.seeds, assume_unique=True, return_indices=True)
        redelivered = len(differences(delivered.take(theirs), both.kernel.take(ours)))
    return Replay(
        name=name,
        episodes=len(both.kernel),
        first_seed=int(both.kernel.seeds[0]),
        differing=differences(both.kernel, both.upstream),
        differing_functions=both.differing_functions,
        redelivered=redelivered,
    )
