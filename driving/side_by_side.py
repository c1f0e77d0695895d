"""Several drivers in the same traffic, one below the other in one film."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from driving.drivers import Act, Driver
from driving.film import LABEL_HEIGHT, encode
from driving.kernel.layout import CRASHED, SPEED, X
from driving.renderer import HEIGHT, WIDTH, Picture, Renderer, draw_label, frame_states
from search_spaces.errors import UsageError
from search_spaces.scenarios import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a driver's episode ended in a film.

    Attributes:
        label: Who drove.
        crashed: Whether the ego crashed.
        seconds: Length of the episode, s: to the end of the decision in which it crashed, or the whole schedule.
        metres: Distance along the road, m.
    """

    label: str
    crashed: bool
    seconds: float
    metres: float


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A film of several drivers.

    Attributes:
        mp4: The film, as `film.encode` makes them; as long as the longest episode.
        endings: How each driver's episode ended, from the top.
    """

    mp4: bytes
    endings: tuple[Ending, ...]


def film_side_by_side(scenario: Scenario, seed: int, drivers: Sequence[tuple[str, Driver | Act]]) -> SideBySide:
    """Film the same episode once for each driver, one below the other.

    Above each stands who drives, how fast and how far, decision by decision; who has ended stays on the last picture,
    with how it ended.

    Args:
        scenario: The road.
        seed: Seed of the episode.
        drivers: Label and driver of each, from the top; at least one.

    Raises:
        UsageError: No drivers.
        MachineError: The encoder is missing or fails.
    """
    if not drivers:
        raise UsageError("side by side: expected at least one driver, got none")
    renderer = Renderer(scenario)
    panels = [_Panel(label, scenario) for label, _ in drivers]
    reels = [panel.pictures(renderer, seed, driver) for panel, (_, driver) in zip(panels, drivers, strict=True)]
    mp4 = encode(_stacked(reels), scenario.simulation_frequency)
    return SideBySide(mp4, tuple(panel.ending() for panel in panels))


def _stacked(reels: Sequence[Iterator[Picture]]) -> Iterator[Picture]:
    """Yield the panels one below the other until the last has ended; one that has ended keeps its last picture."""
    latest = [np.zeros((HEIGHT + LABEL_HEIGHT, WIDTH, 3), np.uint8) for _ in reels]
    for pictures in itertools.zip_longest(*reels):
        latest = [old if new is None else new for old, new in zip(latest, pictures, strict=True)]
        yield np.concatenate(latest)


@dataclass(slots=True)
class _Panel:
    """One driver's part of the film, and what has happened in it."""

    label: str
    scenario: Scenario
    crashed: bool = False
    metres: float = 0.0
    frames: int = field(default=-1)

    def pictures(self, renderer: Renderer, seed: int, driver: Driver | Act) -> Iterator[Picture]:
        """Yield the panel for each physics frame, and its last picture once more under how it ended."""
        start, road = None, np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        for states in frame_states(self.scenario, seed, driver):
            start = float(states.vehicles[0, X, 0]) if start is None else start
            self.metres = float(states.vehicles[-1, X, 0]) - start
            self.crashed = bool(states.flags[-1, CRASHED, 0])
            label = self._label(f"{states.vehicles[-1, SPEED, 0]:.0f} m/s   {self.metres:.0f} m")
            for vehicles, flags in zip(states.vehicles, states.flags, strict=True):
                self.frames += 1
                road = renderer.draw(vehicles, flags)
                yield np.concatenate([label, road])
        ending = self.ending()
        label = self._label(f"{'crashed' if ending.crashed else 'arrived'} after {ending.seconds:.0f} s")
        yield np.concatenate([label, road])

    def ending(self) -> Ending:
        """Return how the episode ended, once it has."""
        seconds = self.frames / self.scenario.simulation_frequency
        return Ending(label=self.label, crashed=self.crashed, seconds=seconds, metres=self.metres)

    def _label(self, text: str) -> Picture:
        return draw_label(f"{self.label}   {text}", WIDTH, LABEL_HEIGHT)
