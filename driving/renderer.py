"""highway-env's renderer, drawing the kernel's own states: nothing is stepped by highway-env."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from driving.drivers import Act, Driver, drive
from driving.vector_env import FrameStates
from search_spaces.errors import MachineError
from search_spaces.scenarios import Scenario

WIDTH = 640
HEIGHT = 160
"""Size of a picture, px."""

_INSTEAD = "film the episode instead (--video FILE)"

Picture = NDArray[np.uint8]
"""uint8[height, width, 3], RGB."""


def _pygame() -> ModuleType:
    """Import pygame, which highway-env draws with, without its greeting on standard output."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    import pygame

    return pygame


@contextmanager
def _video_driver(name: str | None) -> Iterator[None]:
    """Let SDL find the video driver `name`, or the machine's own for None, while it starts."""
    kept = os.environ.pop("SDL_VIDEODRIVER", None)
    if name is not None:
        os.environ["SDL_VIDEODRIVER"] = name
    try:
        yield
    finally:
        os.environ.pop("SDL_VIDEODRIVER", None)
        if kept is not None:
            os.environ["SDL_VIDEODRIVER"] = kept


class Renderer:
    """Draws states as highway-env does; not safe to share between threads.

    Args:
        scenario: The road to draw.
        window: Whether to show the pictures in a window, at the simulation's pace, instead of drawing off-screen, which
            needs no display.

    Raises:
        MachineError: A window is asked for and there is no display.
    """

    def __init__(self, scenario: Scenario, *, window: bool = False) -> None:
        pygame = _pygame()
        from highway_env.envs.common.graphics import EnvViewer

        from driving.upstream import upstream_environment

        self._env = upstream_environment(
            scenario,
            offscreen_rendering=not window,
            real_time_rendering=window,
            screen_width=WIDTH,
            screen_height=HEIGHT,
        )
        pygame.display.quit()
        try:
            with _video_driver(None if window else "dummy"):
                self._viewer = EnvViewer(self._env)
        except pygame.error as error:
            raise MachineError(f"no window: {error}; {_INSTEAD}") from error
        if window and pygame.display.get_driver() in ("dummy", "offscreen"):
            raise MachineError(f"no window: this machine has no display; {_INSTEAD}")
        # highway-env draws nothing under SDL's dummy driver, for want of a window; off-screen none is needed.
        self._viewer.enabled = True

    def draw(self, vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> Picture:
        """Draw a state.

        Args:
            vehicles: One environment, float64[VEHICLE_ROWS, V].
            flags: Its flags, int32[FLAG_ROWS, V].
        """
        from driving.upstream import write_vehicles

        write_vehicles(self._env, vehicles, flags)
        self._viewer.display()
        return np.ascontiguousarray(self._viewer.get_image())

    def closed(self) -> bool:
        """Tell whether the user has closed the window."""
        pygame = _pygame()
        return any(event.type == pygame.QUIT for event in pygame.event.get())


def frame_states(scenario: Scenario, seed: int, driver: Driver | Act) -> Iterator[FrameStates]:
    """Drive an episode and yield its states: the first alone, then the physics frames of each decision.

    Args:
        scenario: The road.
        seed: Seed of the episode.
        driver: Who drives.
    """
    for env, driving in drive(scenario, [seed], driver, watch=0):
        if driving.any():
            yield env.film_frames()
        else:
            yield FrameStates(env.vehicles.copy(), env.flags.copy())


def draw_episode(renderer: Renderer, scenario: Scenario, seed: int, driver: Driver | Act) -> Iterator[Picture]:
    """Drive an episode and draw it: one picture for each physics frame, plus the first."""
    for states in frame_states(scenario, seed, driver):
        for vehicles, flags in zip(states.vehicles, states.flags, strict=True):
            yield renderer.draw(vehicles, flags)


def show_episode(scenario: Scenario, seed: int, driver: Driver | Act) -> None:
    """Show an episode in a window, at its own pace, until it ends or the user closes the window.

    Args:
        scenario: The road.
        seed: Seed of the episode.
        driver: Who drives.

    Raises:
        MachineError: There is no display.
    """
    renderer = Renderer(scenario, window=True)
    try:
        for _ in draw_episode(renderer, scenario, seed, driver):
            if renderer.closed():
                return
    finally:
        _pygame().display.quit()


def draw_label(text: str, width: int, height: int) -> Picture:
    """Draw a line of light text on a dark strip of `width` x `height` px; what cannot be printed is escaped."""
    pygame = _pygame()
    pygame.font.init()
    strip = pygame.Surface((width, height))
    strip.fill((30, 30, 30))
    printable = text if text.isprintable() else text.encode("ascii", "backslashreplace").decode()
    strip.blit(pygame.font.Font(None, height).render(printable, True, (240, 240, 240)), (6, 3))
    return np.ascontiguousarray(np.moveaxis(pygame.surfarray.array3d(strip), 0, 1))
