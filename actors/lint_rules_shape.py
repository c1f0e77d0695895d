"""Rules about the reward as a function: its size, its components, and what it does with the fields that it reads."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from actors.lint_bank import Earnings
from actors.lint_table import Measure
from driving.kernel.reward_machine import RewardMachine
from search_spaces.operations import TOTAL_LIMIT
from search_spaces.program import RewardProgram
from search_spaces.state import FIELD_INDEX, FIELDS

SPREAD = 1e-9
"""Spread, relative to the size, below which a number counts as the same; dimensionless."""
SAMPLED = 512
"""Recorded states in which each field is changed."""


def shape_measures(earnings: Earnings) -> Iterator[Measure]:
    """Yield the measures of this module; the program's totals on the bank are finite."""
    yield from _components(earnings)
    yield from _scale(earnings)
    yield _saturated(earnings)
    yield _dead_fields(earnings)


def _components(earnings: Earnings) -> Iterator[Measure]:
    names = earnings.program.component_names
    if not names:
        return
    spread, size = np.ptp(earnings.components, axis=0), np.abs(earnings.components).max(axis=0)
    still = spread <= SPREAD * size
    reads = _reads_state(earnings.program)
    dead = [name for name, same in zip(names, still, strict=True) if same and reads[name]]
    yield Measure(
        rule="dead_component",
        value=float(len(dead)),
        sentence=f"{', '.join(dead)}: always the same in {len(earnings.totals)} recorded decisions",
    )
    moved = earnings.components.std(axis=0)
    if (~still).sum() >= 2 and moved.sum() > 0.0:
        largest = int(moved.argmax())
        share = float(moved[largest] / moved.sum())
        yield Measure(
            rule="dominant_component",
            value=share,
            sentence=f"component {names[largest]} makes {share:.1%} of what moves the reward",
        )


def _reads_state(program: RewardProgram) -> Mapping[str, bool]:
    """Say of each component whether it reads a field of the state."""
    reads: list[bool] = []
    for node in program.graph.nodes:
        reads.append(node.op == "field" or any(reads[each] for each in node.args))
    return {name: reads[index] for name, index in program.graph.components}


def _scale(earnings: Earnings) -> Iterator[Measure]:
    size = earnings.size
    sentence = f"a decision's reward is {size:.3g} in size on average"
    yield Measure(rule="scale_large", value=size, sentence=f"{sentence}: far above 1")
    yield Measure(rule="scale_small", value=size, sentence=f"{sentence}: far below 1")
    clipped = float((np.abs(earnings.totals) >= TOTAL_LIMIT).mean())
    yield Measure(
        rule="clipped", value=clipped, sentence=f"{clipped:.1%} of the recorded decisions reach the clip at 1e6"
    )


def _saturated(earnings: Earnings) -> Measure:
    step = SPREAD * max(float(np.abs(earnings.totals).max()), np.finfo(np.float64).tiny)
    values, counts = np.unique(np.round(earnings.totals / step), return_counts=True)
    most = int(counts.argmax())
    share = float(counts[most] / len(earnings.totals))
    return Measure(
        rule="saturated",
        value=share,
        sentence=f"the reward is {values[most] * step:.3g} in {share:.1%} of the recorded decisions",
    )


def _dead_fields(earnings: Earnings) -> Measure:
    moved = sensitivity(earnings)
    dead = [name for name, share in moved.items() if share == 0.0]
    return Measure(
        rule="dead_field",
        value=float(len(dead)),
        sentence=f"{', '.join(dead)}: read without any effect on the reward",
        evidence=moved,
    )


def sensitivity(earnings: Earnings) -> dict[str, float]:
    """Return, for each field that the program reads, the share of states whose reward changes with it, 0 to 1.

    In half of the sampled states the field takes its value from another recorded state, in the other half one from
    the range of the state table.
    """
    states = earnings.bank.states[:: max(1, len(earnings.totals) // SAMPLED)]
    machine = RewardMachine(earnings.program)
    before = machine.evaluate(states).totals
    shares = {}
    for name in sorted(earnings.program.fields):
        changed = states.copy()
        changed[:, FIELD_INDEX[name]] = _other_values(states[:, FIELD_INDEX[name]], name)
        shares[name] = float((machine.evaluate(changed).totals != before).mean())
    return shares


def _other_values(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    field = FIELDS[FIELD_INDEX[name]]
    rng = np.random.default_rng(FIELD_INDEX[name])
    drawn = rng.uniform(field.low, field.high, len(values))
    if field.kind != "number":
        drawn = np.round(drawn)
    return np.where(np.arange(len(values)) % 2 == 0, rng.permutation(values), drawn)
