"""Films: decoded again, counted, and looked at."""

import itertools
import os

import numpy as np
import pytest

from driving.drivers import driver_named, run_episodes
from driving.film import CLIP_MARGIN_S, LABEL_HEIGHT, Film, contact_sheet, encode, film_clip, film_episode
from driving.kernel.layout import X
from driving.renderer import HEIGHT, WIDTH, frame_states, show_episode
from search_spaces.errors import MachineError, UsageError
from search_spaces.scenarios import Scenario

SCENARIO = Scenario(duration=8)
SEED = 10_000_000


def watch(film, folder):
    """Decode a film: its rate and its pictures, uint8[T, height, width, 3]."""
    path = folder / "film.mp4"
    path.write_bytes(film)
    with Film.open(path) as opened:
        return opened.rate, np.array(list(opened.pictures()))


def share(picture, colour):
    """Return the share of pixels within 60 of `colour` in each channel."""
    return (np.abs(picture.astype(int) - colour) < 60).all(axis=-1).mean()


EGO = (50, 200, 0)
TRAFFIC = (100, 200, 255)
WRECK = (255, 100, 100)


@pytest.fixture(scope="module")
def crash():
    return film_episode(SCENARIO, SEED, driver_named("faster"))


@pytest.fixture(scope="module")
def calm():
    return film_episode(SCENARIO, SEED, driver_named("slower"))


def test_one_picture_for_each_physics_frame_plus_the_first(crash, calm, tmp_path):
    for film, name in ((crash, "faster"), (calm, "slower")):
        table = run_episodes(SCENARIO, [SEED], driver_named(name))
        rate, pictures = watch(film, tmp_path)
        assert rate == SCENARIO.simulation_frequency
        assert len(pictures) == table.columns["time_s"][0] * SCENARIO.simulation_frequency + 1
        assert pictures.shape[1:] == (HEIGHT, WIDTH, 3)


def test_the_road_moves_past_the_green_car(calm, tmp_path):
    _, pictures = watch(calm, tmp_path)
    for picture in pictures:
        assert share(picture, EGO) > 0.001
        assert share(picture, WRECK) == 0.0
        assert picture.mean() > 50.0
    assert share(pictures[0], TRAFFIC) > 0.001
    for before, after in itertools.pairwise(pictures):
        assert np.abs(before.astype(int) - after).mean() > 0.1


def test_the_crash_is_seen(crash, tmp_path):
    _, pictures = watch(crash, tmp_path)
    assert share(pictures[0], EGO) > 0.001
    assert share(pictures[0], WRECK) == 0.0
    assert share(pictures[-1], EGO) == 0.0
    assert share(pictures[-1], WRECK) > 0.002


def test_plays_everywhere(crash):
    assert crash[4:8] == b"ftyp"
    assert crash.index(b"moov") < crash.index(b"mdat")
    assert b"avc1" in crash


def test_the_dummy_video_driver_does_not_blacken_it(monkeypatch, calm, tmp_path):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    assert film_episode(SCENARIO, SEED, driver_named("slower")) == calm
    assert os.environ["SDL_VIDEODRIVER"] == "dummy"


def test_frames_are_consecutive_physics(calm):
    positions = np.concatenate(
        [states.vehicles[:, X, 0] for states in frame_states(SCENARIO, SEED, driver_named("idle"))]
    )
    assert np.diff(positions) == pytest.approx(25.0 / SCENARIO.simulation_frequency)


def test_a_contact_sheet_shows_all_films_to_the_end_of_the_longest(crash, calm, tmp_path):
    sheet = contact_sheet([("faster \x1b[31m", crash), ("slower", calm), ("again", calm)])
    rate, pictures = watch(sheet, tmp_path)
    assert rate == SCENARIO.simulation_frequency
    assert pictures.shape == (41, 2 * (HEIGHT + LABEL_HEIGHT), 2 * WIDTH, 3)
    last, bottom = pictures[-1], HEIGHT + LABEL_HEIGHT
    assert share(last[LABEL_HEIGHT:bottom, :WIDTH], WRECK) > 0.002
    assert share(last[LABEL_HEIGHT:bottom, WIDTH:], EGO) > 0.001
    assert share(last[bottom + LABEL_HEIGHT :, :WIDTH], EGO) > 0.001
    assert last[bottom:, WIDTH:].max() < 30
    assert last[:LABEL_HEIGHT, :200].max() > 150


@pytest.mark.parametrize(("first", "last", "begin", "end"), [(14, 17, 4, 27), (0, 2, 0, 12), (35, 40, 25, 40)])
def test_a_clip_shows_the_frames_with_a_margin(calm, tmp_path, first, last, begin, end):
    assert CLIP_MARGIN_S * SCENARIO.simulation_frequency == 10
    _, whole = watch(calm, tmp_path)
    rate, pictures = watch(film_clip(SCENARIO, SEED, driver_named("slower"), first, last), tmp_path)
    assert rate == SCENARIO.simulation_frequency
    assert len(pictures) == end - begin + 1
    right = np.abs(pictures - whole[begin : end + 1].astype(int)).mean()
    nearly = np.abs(pictures[1:] - whole[begin:end].astype(int)).mean()
    assert right < nearly / 3


def test_a_clip_of_frames_that_are_not_there_is_refused():
    for first, last in ((-1, 3), (5, 4), (0, 41)):
        with pytest.raises(UsageError, match=r"in \[0, 40\]"):
            film_clip(SCENARIO, SEED, driver_named("slower"), first, last)


def test_misuse_is_refused(calm, tmp_path):
    with pytest.raises(UsageError, match="at least one film"):
        contact_sheet([])
    other = encode([np.zeros((64, 64, 3), np.uint8)] * 3, 5)
    with pytest.raises(UsageError, match="equal size and rate"):
        contact_sheet([("a", calm), ("b", other)])
    with pytest.raises(MachineError, match="found no film"):
        contact_sheet([("a", b"not a film")])


def test_a_window_needs_a_display(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MachineError, match="no window"):
        show_episode(SCENARIO, SEED, driver_named("idm"))
