"""Training scenarios and the held-out sets: which road, which traffic, which episodes.

A scenario fixes the road; a seed fixes the traffic on it. An episode is named by the two alone.
"""

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from search_spaces.errors import ScenarioError


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A straight highway with IDM/MOBIL traffic, as highway-env 1.12.1 builds it.

    The defaults are those of `highway-fast-v0`.

    Attributes:
        lanes: Number of lanes, 1-8.
        vehicles: Number of other vehicles (the ego is not counted), 1-100.
        density: highway-env's `vehicles_density`, 0.1-3, dimensionless; spacing of traffic is its inverse.
        ego_spacing: Free spacing ahead of the ego at the start, 0.5-10, dimensionless.
        simulation_frequency: Physics frames per second, Hz, 1-60.
        policy_frequency: Decisions per second, Hz; divides `simulation_frequency`.
        duration: Length of an episode that does not crash, s, 1-600.
        all_pairs_collisions: Whether traffic can collide with traffic (`highway-v0`) or only with the ego.

    Raises:
        ScenarioError: A value out of its range, or a policy frequency that does not divide the simulation frequency
            (highway-env then drifts its clock) or exceeds it (highway-env then freezes the car).
    """

    lanes: int = 3
    vehicles: int = 20
    density: float = 1.0
    ego_spacing: float = 1.5
    simulation_frequency: int = 5
    policy_frequency: int = 1
    duration: int = 30
    all_pairs_collisions: bool = False

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            integral = name not in ("density", "ego_spacing")
            if isinstance(value, bool) or not isinstance(value, int if integral else (int, float)):
                raise ScenarioError(
                    f"scenario: {name} must be {'an integer' if integral else 'a number'}, not {value!r}"
                )
            if not low <= value <= high:
                raise ScenarioError(f"scenario: {name} must lie in [{low}, {high}], not {value!r}")
        if not isinstance(self.all_pairs_collisions, bool):
            raise ScenarioError(
                f"scenario: all_pairs_collisions must be true or false, not {self.all_pairs_collisions!r}"
            )
        if self.simulation_frequency % self.policy_frequency:
            raise ScenarioError(
                f"scenario: policy_frequency {self.policy_frequency} Hz must divide simulation_frequency "
                f"{self.simulation_frequency} Hz; otherwise highway-env's clock drifts or its car freezes"
            )

    @property
    def frames_per_decision(self) -> int:
        """Physics frames in one decision."""
        return self.simulation_frequency // self.policy_frequency

    @property
    def decisions(self) -> int:
        """Decisions in an episode that does not crash."""
        return self.duration * self.policy_frequency

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a JSON object."""
        return asdict(self)

    def changed(self, settings: Mapping[str, Any]) -> "Scenario":
        """Return a copy with `settings` replaced.

        Raises:
            ScenarioError: An unknown setting (the nearest name is given), or a value that is refused.
        """
        known = [field.name for field in fields(Scenario)]
        for name in settings:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, 1)
                hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"
                raise ScenarioError(f"scenario: unknown setting {name!r}{hint}")
        return replace(self, **settings)

    @classmethod
    def from_json(cls, settings: Mapping[str, Any]) -> "Scenario":
        """Build a scenario from a JSON object; absent settings take their default.

        Raises:
            ScenarioError: See `changed`.
        """
        return cls().changed(settings)


_RANGES: dict[str, tuple[float, float]] = {
    "lanes": (1, 8),
    "vehicles": (1, 100),
    "density": (0.1, 3.0),
    "ego_spacing": (0.5, 10.0),
    "simulation_frequency": (1, 60),
    "policy_frequency": (1, 60),
    "duration": (1, 600),
}

PRESETS: Mapping[str, Scenario] = {
    "highway-fast-v0": Scenario(),
    "highway-v0": Scenario(
        lanes=4, vehicles=50, ego_spacing=2.0, simulation_frequency=15, duration=40, all_pairs_collisions=True
    ),
    "easy": Scenario(density=0.7),
    "dense": Scenario(density=1.2),
}
"""Named scenarios. Density above 1.2 is left out: its jams are slower than the ego's lowest target speed of 20 m/s, so
that nobody can drive there without crashing."""


def scenario_named(name: str) -> Scenario:
    """Return a preset.

    Raises:
        ScenarioError: No preset of that name; the nearest is given.
    """
    if name in PRESETS:
        return PRESETS[name]
    near = difflib.get_close_matches(name, PRESETS, 1)
    hint = f"did you mean {near[0]}?" if near else "nothing is near"
    raise ScenarioError(f"unknown scenario {name!r}: {hint} Known: {', '.join(PRESETS)}")


@dataclass(frozen=True, slots=True)
class SeedSet:
    """A contiguous block of episode seeds, disjoint from every other block of this module.

    Attributes:
        name: What the block is for.
        first: Its first seed.
        limit: How many seeds it holds at most.
    """

    name: str
    first: int
    limit: int

    def seeds(self, count: int) -> range:
        """Return the first `count` seeds.

        Raises:
            ScenarioError: More seeds than the block holds, or fewer than one.
        """
        if not 1 <= count <= self.limit:
            raise ScenarioError(f"{self.name} episodes: expected 1 to {self.limit}, got {count}")
        return range(self.first, self.first + count)

    def holds(self, seed: int) -> bool:
        """Return whether a seed is one of the block's."""
        return self.first <= seed < self.first + self.limit


TRAINING = SeedSet("training", 0, 10_000_000)
"""Traffic that policies are trained in."""
SELECTION = SeedSet("selection", 10_000_000, 1_000_000)
"""Traffic that all candidates of all searches are measured in (common random numbers)."""
GATE = SeedSet("gate", 20_000_000, 100_000)
"""Traffic that programs are tried on before they may be trained, by gate and linter."""
SCREEN = SeedSet("screen", 30_000_000, 100_000)
"""Traffic that the screen ranks proposals on."""
REPORT = SeedSet("report", 60_000_000, 1_000_000)
"""Traffic that only those who won the finals, and what they are compared with, ever meet: it selects nobody. The block
from 40 000 000 on served this purpose until a default was chosen on it; it is not used again."""
FINALS = SeedSet("finals", 50_000_000, 1_000_000)
"""Traffic that the finals decide on."""

SEED_SETS: Mapping[str, SeedSet] = {each.name: each for each in (TRAINING, SELECTION, GATE, SCREEN, REPORT, FINALS)}
"""All of them, by name."""


def seed_sets_digest() -> str:
    """Return SHA-256 of all seed sets, as hexadecimal: results under another digest met other traffic."""
    text = "\n".join(f"{each.name} {each.first} {each.limit}" for each in SEED_SETS.values())
    return hashlib.sha256(text.encode()).hexdigest()
