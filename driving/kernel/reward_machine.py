"""The register machine: one compiled interpreter that evaluates every reward program on blocks of states.

A program is int32 code over registers and float64 constants, so a new program costs no compilation. Each instruction
runs over a block of rows before the next one is looked at. Every operation is bit by bit that of
`search_spaces/semantics.py`; booleans are 0.0 and 1.0.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driving.kernel import reward_code as code
from driving.kernel.jit import compiled
from driving.kernel.reward_arithmetic import clip, decimals, floor_divide, hypot, maximum, minimum, modulo, sign
from search_spaces.operations import TOTAL_LIMIT
from search_spaces.program import RewardProgram
from search_spaces.state import FIELDS

BLOCK = 128
"""Rows that an instruction runs over: long enough to hide the dispatch, short enough for the first-level cache."""

Row = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MachineResult:
    """Rewards of N states, in arrays of their own.

    Attributes:
        totals: float64[N], clipped to +-1e6; NaN on a fault.
        components: float64[N, C], in the order of `RewardProgram.component_names`; not clipped.
        faults: bool[N], whether the total before it was clipped, or a component, is infinite or NaN.
    """

    totals: NDArray[np.float64]
    components: NDArray[np.float64]
    faults: NDArray[np.bool_]


class RewardMachine:
    """Evaluates one program; not to be shared between threads.

    Args:
        program: The program.
    """

    def __init__(self, program: RewardProgram) -> None:
        encoded = code.encoded(program.graph)
        self._instructions = encoded.instructions
        self._outputs = encoded.outputs
        self._registers = np.zeros((encoded.registers, BLOCK))
        self._registers[: len(encoded.constants)] = encoded.constants[:, None]
        self._columns = len(encoded.outputs) - 1

    def evaluate(self, states: NDArray[np.float64]) -> MachineResult:
        """Compute the rewards of many states, bit by bit those of `RewardProgram.evaluate`.

        Args:
            states: float64[N, len(FIELDS)], C-contiguous; columns as in `FIELDS`.

        Raises:
            ValueError: Another shape or type.
        """
        if states.ndim != 2 or states.shape[1] != len(FIELDS) or states.dtype != np.float64:
            raise ValueError(f"expected states float64[N, {len(FIELDS)}], got {states.dtype}{list(states.shape)}")
        rows = len(states)
        totals, faults = np.empty(rows), np.empty(rows, dtype=np.bool_)
        components = np.empty((rows, self._columns))
        _run(
            self._instructions,
            self._outputs,
            self._registers,
            np.ascontiguousarray(states),
            totals,
            components,
            faults,
        )
        return MachineResult(totals, components, faults)


@compiled
def _run(
    instructions: NDArray[np.int32],
    outputs: NDArray[np.int32],
    registers: NDArray[np.float64],
    states: NDArray[np.float64],
    totals: NDArray[np.float64],
    components: NDArray[np.float64],
    faults: NDArray[np.bool_],
) -> None:
    rows = states.shape[0]
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        for k in range(instructions.shape[0]):
            op = instructions[k, 0]
            target = registers[instructions[k, 1]]
            if op == code.FIELD:
                for j in range(count):
                    target[j] = states[start + j, instructions[k, 2]]
                continue
            first = registers[instructions[k, 2]]
            second, third = registers[instructions[k, 3]], registers[instructions[k, 4]]
            if op == code.DECIMALS:
                for j in range(count):
                    target[j] = decimals(first[j], instructions[k, 3])
            elif op < code.FLOOR:
                _simple(op, target, first, count)
            elif op < code.EXP:
                _rounded(op, target, first, count)
            elif op < code.SIN:
                _exponential(op, target, first, count)
            elif op < code.ADD:
                _curved(op, target, first, count)
            elif op < code.MIN:
                _basic(op, target, first, second, count)
            elif op < code.LT:
                _special(op, target, first, second, count)
            elif op < code.CLIP:
                _compared(op, target, first, second, count)
            else:
                _chosen(op, target, first, second, third, count)
        _deliver(outputs, registers, start, count, totals, components, faults)


@compiled
def _deliver(
    outputs: NDArray[np.int32],
    registers: NDArray[np.float64],
    start: int,
    count: int,
    totals: NDArray[np.float64],
    components: NDArray[np.float64],
    faults: NDArray[np.bool_],
) -> None:
    for j in range(count):
        total = registers[outputs[0], j]
        fault = not math.isfinite(total)
        for c in range(components.shape[1]):
            part = registers[outputs[c + 1], j]
            components[start + j, c] = part
            fault = fault or not math.isfinite(part)
        faults[start + j] = fault
        totals[start + j] = math.nan if fault else clip(total, -TOTAL_LIMIT, TOTAL_LIMIT)


@compiled
def _simple(op: int, target: Row, x: Row, count: int) -> None:
    if op == code.NEG:
        for j in range(count):
            target[j] = -x[j]
    elif op == code.ABS:
        for j in range(count):
            target[j] = abs(x[j])
    elif op == code.NOT:
        for j in range(count):
            target[j] = 1.0 - x[j]
    elif op == code.SIGN:
        for j in range(count):
            target[j] = sign(x[j])
    elif op == code.SIGMOID:
        for j in range(count):
            target[j] = 1.0 / (1.0 + math.exp(-x[j]))


@compiled
def _rounded(op: int, target: Row, x: Row, count: int) -> None:
    if op == code.FLOOR:
        for j in range(count):
            target[j] = np.floor(x[j]) + 0.0
    elif op == code.CEIL:
        for j in range(count):
            target[j] = np.ceil(x[j]) + 0.0
    elif op == code.TRUNC:
        for j in range(count):
            target[j] = np.trunc(x[j]) + 0.0
    elif op == code.ROUND:
        for j in range(count):
            target[j] = np.rint(x[j]) + 0.0


@compiled
def _exponential(op: int, target: Row, x: Row, count: int) -> None:
    if op == code.EXP:
        for j in range(count):
            target[j] = math.exp(x[j])
    elif op == code.EXPM1:
        for j in range(count):
            target[j] = math.expm1(x[j])
    elif op == code.LOG:
        for j in range(count):
            target[j] = math.log(x[j])
    elif op == code.LOG1P:
        for j in range(count):
            target[j] = math.log1p(x[j])
    elif op == code.LOG2:
        for j in range(count):
            target[j] = math.log2(x[j])
    elif op == code.LOG10:
        for j in range(count):
            target[j] = math.log10(x[j])


@compiled
def _curved(op: int, target: Row, x: Row, count: int) -> None:
    if op == code.SIN:
        for j in range(count):
            target[j] = math.sin(x[j])
    elif op == code.COS:
        for j in range(count):
            target[j] = math.cos(x[j])
    elif op == code.TAN:
        for j in range(count):
            target[j] = math.tan(x[j])
    elif op == code.ATAN:
        for j in range(count):
            target[j] = math.atan(x[j])
    elif op == code.TANH:
        for j in range(count):
            target[j] = math.tanh(x[j])
    elif op == code.SQRT:
        for j in range(count):
            target[j] = math.sqrt(x[j])


@compiled
def _basic(op: int, target: Row, x: Row, y: Row, count: int) -> None:
    if op == code.ADD:
        for j in range(count):
            target[j] = x[j] + y[j]
    elif op == code.SUB:
        for j in range(count):
            target[j] = x[j] - y[j]
    elif op == code.MUL:
        for j in range(count):
            target[j] = x[j] * y[j]
    elif op == code.DIV:
        for j in range(count):
            target[j] = x[j] / y[j]
    elif op == code.AND:
        for j in range(count):
            target[j] = x[j] * y[j]
    elif op == code.OR:
        for j in range(count):
            target[j] = max(x[j], y[j])


@compiled
def _special(op: int, target: Row, x: Row, y: Row, count: int) -> None:
    if op == code.MIN:
        for j in range(count):
            target[j] = minimum(x[j], y[j])
    elif op == code.MAX:
        for j in range(count):
            target[j] = maximum(x[j], y[j])
    elif op == code.FLOORDIV:
        for j in range(count):
            target[j] = floor_divide(x[j], y[j])
    elif op == code.MOD:
        for j in range(count):
            target[j] = modulo(x[j], y[j])
    elif op == code.POW:
        for j in range(count):
            target[j] = math.pow(x[j], y[j])
    elif op == code.HYPOT:
        for j in range(count):
            target[j] = hypot(x[j], y[j])


@compiled
def _compared(op: int, target: Row, x: Row, y: Row, count: int) -> None:
    if op == code.LT:
        for j in range(count):
            target[j] = 1.0 if x[j] < y[j] else 0.0
    elif op == code.LE:
        for j in range(count):
            target[j] = 1.0 if x[j] <= y[j] else 0.0
    elif op == code.GT:
        for j in range(count):
            target[j] = 1.0 if x[j] > y[j] else 0.0
    elif op == code.GE:
        for j in range(count):
            target[j] = 1.0 if x[j] >= y[j] else 0.0
    elif op == code.EQ:
        for j in range(count):
            target[j] = 1.0 if x[j] == y[j] else 0.0
    elif op == code.NE:
        for j in range(count):
            target[j] = 1.0 if x[j] != y[j] else 0.0


@compiled
def _chosen(op: int, target: Row, x: Row, y: Row, z: Row, count: int) -> None:
    if op == code.CLIP:
        for j in range(count):
            target[j] = clip(x[j], y[j], z[j])
    elif op == code.SELECT:
        for j in range(count):
            target[j] = y[j] if x[j] != 0.0 else z[j]
