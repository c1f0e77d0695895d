"""What a program must survive before it may cost a trial.

Seconds at the first program (trajectories are recorded from the real kernel), milliseconds after. The stages, in order,
with the codes that a refusal carries:

    E_NONFINITE      the total or a component is infinite or NaN in some state
    GATE_STATELESS   reads no field of the state
    GATE_CONSTANT    the same total in every state that was recorded on the search's own road
    GATE_RECKLESS    pays drivers who crash more than drivers who do not

It is a veto and no more: nearly all of what it refuses is bad, and much of what passes is bad too. What is only odd
(a program that pays for the collision itself, say: most evolved programs with that flaw drive well, because ending the
episode forfeits more than a positive crash term pays) is for `linter.py` to name.
"""

import threading

import numpy as np
from numpy.typing import NDArray

from actors.evidence import Evidence, record_evidence
from driving.kernel.reward_machine import MachineResult, RewardMachine
from search_spaces.program import RewardProgram, Violation
from search_spaces.scenarios import Scenario
from search_spaces.state import FIELD_INDEX

TOLERANCE = 1e-9
"""Spread of the total, relative to its size, below which it counts as constant; dimensionless."""


class Gate:
    """Judges programs on states and trajectories that it records once.

    Safe to use from several threads.

    Args:
        scenario: Road of the search; pairs of trajectories always come from highway-v0, 40 decisions.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._lock = threading.Lock()
        self._evidence: Evidence | None = None

    def judge(self, program: RewardProgram) -> Violation | None:
        """Say why a program may not be trained; None when it may."""
        evidence = self._recorded()
        result = RewardMachine(program).evaluate(evidence.states)
        totals = result.totals[: evidence.recorded]
        return (
            _not_finite(program, evidence, result)
            or _stateless(program)
            or _constant(totals[evidence.local :])
            or _reckless(evidence, totals)
        )

    def _recorded(self) -> Evidence:
        with self._lock:
            if self._evidence is None:
                self._evidence = record_evidence(self._scenario)
            return self._evidence


def _refusal(code: str, message: str, hint: str) -> Violation:
    return Violation(code=code, message=message, line=None, hint=hint)


def _not_finite(program: RewardProgram, evidence: Evidence, result: MachineResult) -> Violation | None:
    if not result.faults.any():
        return None
    first = evidence.states[int(result.faults.argmax())]
    state = {name: float(first[FIELD_INDEX[name]]) for name in sorted(program.fields)}
    where = ", ".join(f"{name} = {value:g}" for name, value in state.items()) or "every state"
    return _refusal(
        "E_NONFINITE",
        f"{program.first_fault(state)} is infinite or not a number in {int(result.faults.sum())} of "
        f"{len(result.faults)} states, first at {where}",
        "guard divisions, logarithms and powers: x / max(y, 0.1), log1p(max(x, 0.0))",
    )


def _stateless(program: RewardProgram) -> Violation | None:
    if program.fields:
        return None
    return _refusal("GATE_STATELESS", "the program reads no field of the state", 'use fields such as state["speed_ms"]')


def _constant(totals: NDArray[np.float64]) -> Violation | None:
    spread, size = float(np.ptp(totals)), float(np.abs(totals).max())
    if spread > TOLERANCE * max(size, 1.0):
        return None
    return _refusal(
        "GATE_CONSTANT",
        f"the total is {totals[0]:g} in all {len(totals)} states recorded on the road of the search: nothing can be "
        "learned from it",
        "pay for something that driving changes; check thresholds, and totals beyond the clip at 1e6",
    )


def _reckless(evidence: Evidence, totals: NDArray[np.float64]) -> Violation | None:
    returns = evidence.returns(totals)
    cautious, reckless = returns[evidence.cautious], returns[evidence.reckless]
    preferred, pairs = int((reckless > cautious).sum()), len(cautious)
    if 2 * preferred <= pairs:
        return None
    return _refusal(
        "GATE_RECKLESS",
        f"in {preferred} of {pairs} pairs from the same start the driver who crashes collects more than the one who "
        f"does not (on average {reckless.mean():.3g} against {cautious.mean():.3g} an episode)",
        "let a decision be worth more than nothing on average, so that ending the episode forfeits something, or "
        "punish collided more",
    )
