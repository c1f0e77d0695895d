"""What a trial delivers: measures, learning curve, component traces, files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from actors.message import Message

Status = Literal["trained", "stopped", "faulted", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint(Message):
    """Training episodes that ended since the point before.

    Attributes:
        steps: Environment steps so far.
        own_return: Mean undiscounted return under the candidate's own reward; not comparable between candidates.
        native_return: The same episodes under highway-env's native reward.
        crash_rate: Share of them that crashed, 0 to 1.
        length_s: Their mean length, s.
        episodes: How many they are.
    """

    steps: int
    own_return: float
    native_return: float
    crash_rate: float
    length_s: float
    episodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePoint(Message):
    """One component of the reward over the decisions since the point before.

    Attributes:
        component: Its name; "total" is the whole reward, "residual" what components leave unexplained.
        steps: Environment steps so far.
        low: Smallest value per decision.
        mean: Mean value.
        high: Largest value.
    """

    component: str
    steps: int
    low: float
    mean: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RungPoint(Message):
    """The policy measured on the way, on the episodes of the final evaluation.

    Attributes:
        steps: Environment steps so far.
        fitness: Its fitness, 0 to 1; None where a needed measure is undefined.
        native_return: Mean native return.
        crash_rate: Share of episodes that crash, 0 to 1.
    """

    steps: int
    fitness: float | None
    native_return: float
    crash_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Message):
    """What a trial delivers.

    Attributes:
        candidate_id: Whose it is.
        status: `trained`; `stopped` early at a rung, which says nothing against it; `faulted` when its program became
            non-finite; `failed` when the trial broke.
        reason: Why it is not `trained`, in one sentence; empty otherwise.
        metrics: Measures by the simulator on held-out episodes (see `docs/metrics.md`); absent ones are undefined.
        curve: Learning curve.
        rungs: Measurements on the way.
        traces: Component traces, about ten points each.
        env_steps: Environment steps really trained.
        wall_s: Seconds of training, evaluation and film together.
    """

    candidate_id: str
    status: Status
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    curve: tuple[CurvePoint, ...] = ()
    rungs: tuple[RungPoint, ...] = ()
    traces: tuple[TracePoint, ...] = ()
    env_steps: int = 0
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An outcome with its files; the coordinator stores the files and journals the outcome.

    Attributes:
        outcome: The outcome.
        policy: `policy.npz` (no pickles inside); None unless trained.
        film: An mp4 of one held-out episode; None unless filmed.
        episodes: The single episodes of the evaluation (`driving.episodes`); None unless measured.
    """

    outcome: Outcome
    policy: bytes | None = None
    film: bytes | None = None
    episodes: bytes | None = None
