import io
from dataclasses import replace
from typing import get_args

import pytest
from rich.console import Console

from actors.progress import Progress, TrialProgress, TrialStatus
from actors.standings import Standing, StandingRow
from orchestrator.progress import HEARTBEAT_S, LiveDisplay, PlainDisplay, display, duration

TRAINING = Progress(
    search_id="night-owl",
    phase="training",
    generation=1,
    generations=5,
    population=2,
    steps=1000,
    trials=(
        TrialProgress(id="g01-c00", status="training", of_steps=1000, steps=500, steps_per_s=9000.0),
        TrialProgress(id="g01-c01", status="waiting", of_steps=1000),
    ),
    done=2,
    best="g00-c01",
    best_fitness=0.345,
    scores=(0.345,),
    left_s=75.0,
)
HOSTILE = "[red]x[/] \x1b[2J"


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, force_terminal=terminal, width=100, markup=False, color_system=None), out


def test_a_terminal_gets_a_table_and_a_pipe_gets_lines() -> None:
    assert isinstance(display(console(terminal=True)[0]), LiveDisplay)
    assert isinstance(display(console(terminal=False)[0]), PlainDisplay)


def test_the_table_shows_generation_candidates_speed_best_and_time_left() -> None:
    on, out = console(terminal=True)
    with display(on) as shown:
        shown.show(TRAINING)
        shown.show(replace(TRAINING, notices=(f"careful {HOSTILE}",)))
    text = out.getvalue()
    for expected in (
        "generation 1 (of 5, from 0)",
        "g01-c00",
        "9,000",
        "best 0.345 (g00-c01)",
        "about 75 s left",
        "2 of 10",
    ):
        assert expected in text
    assert "careful [red]x[/] \\x1b[2J" in text


def test_lines_say_each_thing_once() -> None:
    on, out = console(terminal=False)
    ended = (
        TrialProgress(id="g01-c00", status="trained", of_steps=1000, steps=1000, fitness=0.4),
        TrialProgress(id="g01-c01", status="faulted", of_steps=1000, reason=f"log of -1 {HOSTILE}"),
    )
    with display(on) as shown:
        shown.show(TRAINING)
        shown.show(TRAINING)
        for _ in range(2):
            shown.show(replace(TRAINING, trials=ended, done=4, scores=(0.345, 0.4), notices=("a notice",)))
    lines = out.getvalue().splitlines()
    assert [line for line in lines if line.startswith("g01-c00 trained, fitness 0.400")] != []
    assert len(lines) == len(set(lines))
    assert "g01-c01 faulted: log of -1 [red]x[/] \\x1b[2J" in "\n".join(lines)
    assert "generation 1 finished: best 0.400" in lines
    assert lines.count("a notice") == 1


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("status", get_args(TrialStatus))
def test_every_status_of_a_trial_is_shown(status: TrialStatus, terminal: bool) -> None:
    on, out = console(terminal=terminal)
    trial = TrialProgress(id="g01-c00", status=status, of_steps=1000, steps=500, reason="why not")
    with display(on) as shown:
        shown.show(replace(TRAINING, trials=(trial,)))
    over = status in ("stopped", "faulted", "failed")
    assert ("why not" in out.getvalue()) == (over or terminal)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_standing_of_the_finals_is_told_once_and_trainings_are_counted(terminal: bool) -> None:
    on, out = console(terminal=terminal)
    row = StandingRow(of="g00-c01", fitness=None, replicates=0, failed=2)
    trial = TrialProgress(id="g00-c01-d0", status="training", of_steps=3000, steps=10, steps_per_s=1.0)
    held = replace(
        TRAINING,
        phase="finals",
        trials=(trial,),
        finals_done=3,
        finals_known=17,
        standings=(Standing(stage="qualifying", rows=(row,)),),
    )
    with display(on) as shown:
        shown.show(held)
        shown.show(held)
    assert out.getvalue().count("finals, qualifying: 1. g00-c01 out (0 of 2 training seeds)") == 1
    assert "3 of 17 trainings of the finals" in out.getvalue()


def test_lines_break_a_long_silence() -> None:
    on, out = console(terminal=False)
    now = 0.0
    shown = PlainDisplay(on, clock=lambda: now)
    shown.show(TRAINING)
    before = len(out.getvalue().splitlines())
    shown.show(TRAINING)
    assert len(out.getvalue().splitlines()) == before
    now = HEARTBEAT_S
    shown.show(TRAINING)
    assert len(out.getvalue().splitlines()) == before + 1


def test_durations_are_told_in_words() -> None:
    assert [duration(seconds) for seconds in (0.4, 119, 150, 3900)] == ["0 s", "119 s", "2 min", "1 h 05 min"]
