"""What a training leaves behind besides its policy: learning curve, component traces, and the state that broke it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from actors.outcome import CurvePoint, TracePoint
from search_spaces.program import RewardProgram
from search_spaces.state import FIELD_INDEX

CURVE_POINTS = 30
"""Points of a learning curve, at most."""
TRACE_POINTS = 10
"""Points of each component trace, at most."""
EXPRESSION_LIMIT = 200
"""Characters of a faulty expression that are shown."""
TOTAL, RESIDUAL = "total", "residual"
"""Names of the two traces that are no component: the whole reward, and what components leave unexplained."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A reward that was not a finite number, so that nobody can learn from it.

    Attributes:
        steps: Environment steps before the batch in which it happened.
        expression: The operation that made it infinite or NaN, as text of the reward language.
        state: The state that did it, by field, as far as the program reads it.
    """

    steps: int
    expression: str
    state: Mapping[str, float]

    def sentence(self) -> str:
        """Return the reason as an outcome gives it; the state in so many digits that it breaks the program again."""
        values = ", ".join(f"{name}={_exactly(value)}" for name, value in self.state.items())
        culprit = self.expression
        if len(culprit) > EXPRESSION_LIMIT:
            culprit = culprit[:EXPRESSION_LIMIT] + "..."
        return f"the reward was not finite after {self.steps} training steps: {culprit} in the state {values}"


def _exactly(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else repr(value)


def find_fault(
    program: RewardProgram, states: NDArray[np.float64], faults: NDArray[np.bool_], steps: int
) -> Fault | None:
    """Return the first fault of a batch, None when there is none.

    Args:
        program: The program that was evaluated.
        states: float64[B, len(FIELDS)], reward states in decision order.
        faults: bool[B], where its reward was not finite.
        steps: Environment steps before this batch.
    """
    if not faults.any():
        return None
    row = states[int(faults.argmax())]
    state = {name: float(row[column]) for name, column in FIELD_INDEX.items()}
    expression = program.first_fault(state) or "the total"
    return Fault(steps, expression, {name: value for name, value in state.items() if name in program.fields})


class LearningCurve:
    """Means over the episodes that end in each stretch of a training.

    Args:
        environments: How many environments run side by side, N.
        steps: Environment steps of the whole training; it is cut into `CURVE_POINTS` stretches.
        decision_s: Length of a decision, s.
    """

    def __init__(self, environments: int, steps: int, decision_s: float) -> None:
        self._decision_s = decision_s
        self._steps = steps
        self._closed = 0
        self._running = np.zeros((3, environments))
        self._ended: list[NDArray[np.float64]] = []
        self.points: list[CurvePoint] = []

    def add(
        self,
        steps: int,
        own: NDArray[np.float64],
        native: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        ended: NDArray[np.bool_],
    ) -> None:
        """Take in a batch.

        Args:
            steps: Environment steps with this batch.
            own: float64[T, N], the candidate's own reward before any normalisation.
            native: float64[T, N], highway-env's reward.
            terminated: bool[T, N], the episode ended in a crash.
            ended: bool[T, N], it ended for whatever reason.
        """
        for row in range(len(own)):
            self._running += np.stack((own[row], native[row], np.ones_like(own[row])))
            if ended[row].any():
                self._ended.append(np.vstack((self._running[:, ended[row]], terminated[row, ended[row]])))
                self._running[:, ended[row]] = 0.0
        stretch = steps * CURVE_POINTS // self._steps
        if stretch > self._closed and self._ended:
            self._closed = stretch
            self._close(steps)

    def _close(self, steps: int) -> None:
        episodes = np.hstack(self._ended)
        self._ended.clear()
        own, native, decisions, crashed = (float(value) for value in episodes.mean(axis=1))
        self.points.append(
            CurvePoint(
                steps=steps,
                own_return=own,
                native_return=native,
                crash_rate=crashed,
                length_s=decisions * self._decision_s,
                episodes=episodes.shape[1],
            )
        )


@dataclass(slots=True)
class ComponentTraces:
    """Smallest, mean and largest value of each component in each stretch of a training.

    Attributes:
        names: Names of the components.
        steps: Environment steps of the whole training; it is cut into `TRACE_POINTS` stretches.
        points: The traces so far; a component that was not finite in a stretch has no point there.
    """

    names: Sequence[str]
    steps: int
    points: list[TracePoint] = field(default_factory=list)
    _closed: int = field(init=False, default=0)
    _batches: list[NDArray[np.float64]] = field(init=False, default_factory=list)
    _rows: int = field(init=False, default=0)

    def add(self, steps: int, totals: NDArray[np.float64], components: NDArray[np.float64]) -> None:
        """Take in a batch.

        Args:
            steps: Environment steps with this batch.
            totals: float64[B], rewards as the program declares them.
            components: float64[B, C].
        """
        with np.errstate(invalid="ignore", over="ignore"):
            columns = [components, totals[:, None]]
            if self.names:
                columns.append((totals - components.sum(axis=1))[:, None])
            table = np.concatenate(columns, axis=1)
            self._batches.append(np.stack((table.min(axis=0), table.sum(axis=0), table.max(axis=0))))
        self._rows += len(totals)
        stretch = steps * TRACE_POINTS // self.steps
        if stretch > self._closed:
            self._closed = stretch
            self._close(steps)

    def _close(self, steps: int) -> None:
        batches = np.stack(self._batches)
        self._batches.clear()
        lows, highs = batches[:, 0].min(axis=0), batches[:, 2].max(axis=0)
        with np.errstate(invalid="ignore", over="ignore"):
            means = batches[:, 1].sum(axis=0) / self._rows
        self._rows = 0
        for name, low, mean, high in zip((*self.names, TOTAL, RESIDUAL), lows, means, highs, strict=False):
            if np.isfinite((low, mean, high)).all():
                self.points.append(
                    TracePoint(component=name, steps=steps, low=float(low), mean=float(mean), high=float(high))
                )
