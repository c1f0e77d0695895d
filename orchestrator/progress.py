"""How far the search is, as a live table on a terminal and as plain lines elsewhere."""

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Protocol, Self, get_args

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from actors.outcome import Status
from actors.progress import Progress, TrialProgress, TrialStatus
from actors.standings import Standing
from orchestrator.console import shown
from orchestrator.verdict import standing_sentence

HEARTBEAT_S = 30.0
"""Longest silence of the plain display, s."""

_OVER = get_args(Status)
"""What a trial is once it has delivered."""
_NUMBERS = ("steps", "steps/s", "fitness")
_STYLES: Mapping[TrialStatus, str] = {
    "waiting": "dim",
    "training": "cyan",
    "trained": "green",
    "stopped": "yellow",
    "faulted": "red",
    "failed": "red",
}


class Display(Protocol):
    """Shows progress; a context manager around the search."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, progress: Progress) -> None:
        """Show how far the search is; called about once a second."""
        ...

    def say(self, sentence: str) -> None:
        """Show a sentence beside the progress; may be called from other threads. Its text is untrusted."""
        ...


def display(console: Console) -> Display:
    """Return the display that suits a console."""
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)


class _Told:
    """What a display has said of notices and standings, each of which is said once."""

    def __init__(self) -> None:
        self._notices = 0
        self._standings: tuple[Standing, ...] = ()

    def notices(self, progress: Progress) -> tuple[str, ...]:
        """Return the notices that are new, untrusted."""
        new = progress.notices[self._notices :]
        self._notices = len(progress.notices)
        return new

    def standings(self, progress: Progress) -> list[str]:
        """Return the standings that are new, a sentence each."""
        new = [standing_sentence(each) for each in progress.standings if each not in self._standings]
        self._standings = progress.standings
        return new


class LiveDisplay:
    """A table that is drawn again and again at the end of a terminal.

    Args:
        console: The terminal.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._told = _Told()

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, progress: Progress) -> None:
        """See `Display`."""
        for sentence in (*self._told.notices(progress), *self._told.standings(progress)):
            self.say(sentence)
        self._live.update(picture(progress), refresh=True)

    def say(self, sentence: str) -> None:
        """See `Display`."""
        self._console.print(shown(sentence, style="yellow"))


class PlainDisplay:
    """One line for each thing that happens.

    Args:
        console: Where lines go.
        clock: Seconds on a clock that never jumps.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._spoken = clock()
        self._ended: set[str] = set()
        self._finished = 0
        self._told = _Told()
        self._phase = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def show(self, progress: Progress) -> None:
        """See `Display`."""
        for notice in self._told.notices(progress):
            self.say(notice)
        for trial in progress.trials:
            if trial.status in _OVER and trial.id not in self._ended:
                if trial.status == "trained" and trial.fitness is None:
                    continue  # judged a moment later
                self._ended.add(trial.id)
                self.say(f"{_ended(trial)}; {_overall(progress)}")
        for generation in range(self._finished, len(progress.scores)):
            best = progress.scores[generation]
            self.say(f"generation {generation} finished: {'nobody judged' if best is None else f'best {best:.3f}'}")
        self._finished = len(progress.scores)
        for standing in self._told.standings(progress):
            self.say(standing)
        if progress.phase != self._phase or self._clock() - self._spoken >= HEARTBEAT_S:
            self._phase = progress.phase
            self.say(f"{_where(progress, '')}: {progress.phase}; {_overall(progress)}")

    def say(self, sentence: str) -> None:
        """See `Display`."""
        self._spoken = self._clock()
        self._console.print(shown(sentence))


def picture(progress: Progress) -> RenderableType:
    """Return progress as it is shown on a terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, width in (("candidate", 10), ("status", 8), ("steps", 9), ("", 20), ("steps/s", 7), ("fitness", 7)):
        table.add_column(title, min_width=width, justify="right" if title in _NUMBERS else "left")
    for trial in progress.trials:
        style = _STYLES[trial.status]
        table.add_row(
            shown(trial.id, style=style),
            shown(trial.reason or trial.status, style=style),
            f"{trial.steps:,}" if trial.steps else "",
            ProgressBar(total=trial.of_steps, completed=min(trial.steps, trial.of_steps), width=20),
            f"{trial.steps_per_s:,.0f}" if trial.steps_per_s else "",
            "" if trial.fitness is None else f"{trial.fitness:.3f}",
        )
    return Group(shown(_headline(progress), style="bold"), table, Text(_overall(progress)))


def _headline(progress: Progress) -> str:
    return (
        f"{progress.search_id}  {_where(progress, f' (of {progress.generations}, from 0)')}  {progress.phase}"
        f"{f'  {progress.refused} refused' if progress.refused else ''}"
        f"{f'  {progress.tokens:,} tokens' if progress.tokens else ''}"
    )


def _where(progress: Progress, of: str) -> str:
    if progress.finals_known:
        return f"{progress.finals_done} of {progress.finals_known} trainings of the finals"
    return f"generation {progress.generation}{of}"


def _overall(progress: Progress) -> str:
    best = "no candidate judged yet"
    if progress.best is not None and progress.best_fitness is not None:
        best = f"best {progress.best_fitness:.3f} ({progress.best})"
    left = f", about {duration(progress.left_s)} left" if progress.left_s else ""
    speed = sum(trial.steps_per_s for trial in progress.trials)
    pace = f", {speed:,.0f} steps/s" if speed else ""
    return f"{progress.done} of {progress.population * progress.generations} candidates, {best}{pace}{left}"


def _ended(trial: TrialProgress) -> str:
    if trial.fitness is not None:
        return f"{trial.id} trained, fitness {trial.fitness:.3f}"
    return f"{trial.id} {trial.status}: {trial.reason}"


def duration(seconds: float) -> str:
    """Return a time span in words, such as `1 h 05 min`."""
    whole = max(0, round(seconds))
    if whole < 120:
        return f"{whole} s"
    minutes = whole // 60
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
