"""Films of episodes as mp4, and contact sheets of films.

One picture for each physics frame plus the first, at the simulation's frequency, so that a film lasts as long as its
episode, on any machine.
"""

import itertools
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import imageio_ffmpeg
import numpy as np

from driving.drivers import Act, Driver
from driving.renderer import Picture, Renderer, draw_episode, draw_label, frame_states
from search_spaces.errors import MachineError, UsageError
from search_spaces.scenarios import Scenario

LABEL_HEIGHT = 20
"""Height of a label above a film of a contact sheet, px."""
CLIP_MARGIN_S = 2.0
"""What a clip shows before and after the frames that it is about, s."""


def film_episode(scenario: Scenario, seed: int, driver: Driver | Act) -> bytes:
    """Film an episode.

    Args:
        scenario: The road.
        seed: Seed of the episode.
        driver: Who drives.

    Returns:
        An mp4 (H.264, yuv420p, index in front): one picture for each physics frame plus the first, at the simulation's
        frequency.

    Raises:
        MachineError: The encoder is missing or fails.
    """
    return encode(draw_episode(Renderer(scenario), scenario, seed, driver), scenario.simulation_frequency)


def film_clip(scenario: Scenario, seed: int, driver: Driver | Act, first: int, last: int) -> bytes:
    """Film a part of an episode, with `CLIP_MARGIN_S` before and after it as far as the episode goes.

    Args:
        scenario: The road.
        seed: Seed of the episode.
        driver: Who drives.
        first: First physics frame of the part; 0 is the start of the episode.
        last: Last one.

    Returns:
        An mp4 as `film_episode` makes it, one picture for each physics frame.

    Raises:
        UsageError: Frames that the episode does not have.
        MachineError: The encoder is missing or fails.
    """
    margin = round(CLIP_MARGIN_S * scenario.simulation_frequency)
    states = [
        state
        for frames in frame_states(scenario, seed, driver)
        for state in zip(frames.vehicles, frames.flags, strict=True)
    ]
    if not 0 <= first <= last < len(states):
        raise UsageError(
            f"clip of episode {seed}: expected frames first <= last in [0, {len(states) - 1}], got {first} to {last}"
        )
    renderer = Renderer(scenario)
    shown = states[max(first - margin, 0) : last + margin + 1]
    return encode((renderer.draw(vehicles, flags) for vehicles, flags in shown), scenario.simulation_frequency)


def encode(pictures: Iterable[Picture], rate: float) -> bytes:
    """Encode pictures of equal, even size as an mp4 (H.264, yuv420p, index in front).

    Args:
        pictures: At least one.
        rate: Pictures per second.

    Raises:
        MachineError: The encoder is missing or fails.
    """
    remaining = iter(pictures)
    first = next(remaining)
    height, width, _ = first.shape
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        try:
            writer = imageio_ffmpeg.write_frames(
                str(path),
                (width, height),
                fps=rate,
                codec="libx264",
                pix_fmt_out="yuv420p",
                macro_block_size=2,
                ffmpeg_log_level="error",
                output_params=["-movflags", "+faststart", "-threads", "1"],
            )
            writer.send(None)
            for picture in itertools.chain([first], remaining):
                writer.send(np.ascontiguousarray(picture))
            writer.close()
            return path.read_bytes()
        except (OSError, RuntimeError) as error:
            raise MachineError(f"ffmpeg could not encode a film of {width} x {height} px: {error}") from error


@dataclass(slots=True)
class Film:
    """An mp4 that is being decoded; a context manager.

    Attributes:
        width: px.
        height: px.
        rate: Pictures per second.
    """

    width: int
    height: int
    rate: float
    _decoder: subprocess.Popen[bytes]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Start decoding.

        Raises:
            MachineError: ffmpeg is missing or cannot read the file.
        """
        ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
        about = subprocess.run([ffmpeg, "-hide_banner", "-i", str(path)], capture_output=True, text=True, check=False)
        found = re.search(r"Video: .*?, (\d+)x(\d+)\b.*?, ([\d.]+) fps", about.stderr)
        if found is None:
            raise MachineError(f"ffmpeg found no film in {path.name}: {about.stderr[-300:].strip()}")
        command = [ffmpeg, "-v", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        decoder = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        return cls(int(found[1]), int(found[2]), float(found[3]), decoder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._decoder.kill()
        self._decoder.communicate()

    def pictures(self) -> Iterator[Picture]:
        """Yield the pictures in order."""
        size = self.width * self.height * 3
        stream = self._decoder.stdout
        while stream is not None and len(data := stream.read(size)) == size:
            yield np.frombuffer(data, np.uint8).reshape(self.height, self.width, 3)


def contact_sheet(films: Sequence[tuple[str, bytes]], *, columns: int = 2) -> bytes:
    """Put films side by side into one, each under its label; one that ends early keeps its last picture.

    Args:
        films: Label and mp4 of each, of equal size and rate; at least one.
        columns: How many stand in a row.

    Returns:
        An mp4 as long as the longest of them.

    Raises:
        UsageError: No films, or films of different size or rate.
        MachineError: ffmpeg cannot read or write a film.
    """
    if not films:
        raise UsageError("contact sheet: expected at least one film, got none")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        opened = []
        for place, (_, film) in enumerate(films):
            path = Path(folder) / f"{place}.mp4"
            path.write_bytes(film)
            opened.append(stack.enter_context(Film.open(path)))
        shapes = {(film.width, film.height, film.rate) for film in opened}
        if len(shapes) > 1:
            raise UsageError(f"contact sheet: expected films of equal size and rate, got {sorted(shapes)}")
        return encode(_sheets([label for label, _ in films], opened, columns), opened[0].rate)


def _sheets(labels: Sequence[str], films: Sequence[Film], columns: int) -> Iterator[Picture]:
    """Yield the pictures of a contact sheet until the longest film ends."""
    columns = min(columns, len(films))
    rows = -(-len(films) // columns)
    width, height = films[0].width, films[0].height + LABEL_HEIGHT
    sheet = np.zeros((rows * height, columns * width, 3), np.uint8)
    for place, label in enumerate(labels):
        top, left = place // columns * height, place % columns * width
        sheet[top : top + LABEL_HEIGHT, left : left + width] = draw_label(label, width, LABEL_HEIGHT)
    for pictures in itertools.zip_longest(*(film.pictures() for film in films)):
        for place, picture in enumerate(pictures):
            if picture is not None:
                top, left = place // columns * height + LABEL_HEIGHT, place % columns * width
                sheet[top : top + height - LABEL_HEIGHT, left : left + width] = picture
        yield sheet.copy()
