"""A reward program as code of the register machine: int32 instructions over float64 registers.

An instruction is `operation, target, first, second, third`; unused operands are 0. Constants stand in the first
registers and are never written. A register is free again once the last user of its node has run.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search_spaces.graph import Graph
from search_spaces.state import FIELD_INDEX

WORDS = 5
"""Words of one instruction."""

OPERATION_NAMES = (
    "field", "decimals", "neg", "abs", "not", "sign", "sigmoid",
    "floor", "ceil", "trunc", "round",
    "exp", "expm1", "log", "log1p", "log2", "log10",
    "sin", "cos", "tan", "atan", "tanh", "sqrt",
    "add", "sub", "mul", "div", "and", "or",
    "min", "max", "floordiv", "mod", "pow", "hypot",
    "lt", "le", "gt", "ge", "eq", "ne",
    "clip", "select",
)  # fmt: skip
"""Operations of the machine; the place of each is its opcode, and each line is one group of `reward_machine.py`."""

(
    FIELD, DECIMALS, NEG, ABS, NOT, SIGN, SIGMOID,
    FLOOR, CEIL, TRUNC, ROUND,
    EXP, EXPM1, LOG, LOG1P, LOG2, LOG10,
    SIN, COS, TAN, ATAN, TANH, SQRT,
    ADD, SUB, MUL, DIV, AND, OR,
    MIN, MAX, FLOORDIV, MOD, POW, HYPOT,
    LT, LE, GT, GE, EQ, NE,
    CLIP, SELECT,
) = range(len(OPERATION_NAMES))  # fmt: skip

_CONSTANTS = {"true": 1.0, "false": 0.0, "inf": float("inf")}


@dataclass(frozen=True, slots=True)
class RewardCode:
    """Code of one program.

    Attributes:
        instructions: int32[I, WORDS].
        constants: float64[K], the contents of registers 0 to K-1.
        registers: How many registers it needs.
        outputs: int32[1 + C], registers of the total and of the components when the code has run.
    """

    instructions: NDArray[np.int32]
    constants: NDArray[np.float64]
    registers: int
    outputs: NDArray[np.int32]


def encoded(graph: Graph) -> RewardCode:
    """Return the code of `graph`."""
    last_use = _last_uses(graph)
    register: list[int] = []
    constants = _constants(graph)
    places = {key: place for place, key in enumerate(constants)}
    free: list[int] = []
    count = len(constants)
    opcodes = {name: opcode for opcode, name in enumerate(OPERATION_NAMES)}
    instructions: list[tuple[int, int, int, int, int]] = []
    for index, node in enumerate(graph.nodes):
        key = _constant_key(graph, index)
        if key is not None:
            register.append(places[key])
            continue
        if node.op == "number":
            # A boolean is 0.0 or 1.0 already, so its number lives in the same register.
            register.append(register[node.args[0]])
            continue
        target = free.pop() if free else count
        count = max(count, target + 1)
        operands = [register[each] for each in node.args]
        if node.op == "field":
            operands = [FIELD_INDEX[str(node.value)]]
        elif node.op == "decimals" and isinstance(node.value, float):
            operands.append(int(node.value))
        operands += [0] * (3 - len(operands))
        register.append(target)
        instructions.append((opcodes[node.op], target, operands[0], operands[1], operands[2]))
        free.extend(sorted({register[each] for each in node.args if last_use[each] == index} - set(places.values())))
    return RewardCode(
        np.array(instructions, dtype=np.int32).reshape(-1, WORDS),
        np.array([float.fromhex(key) for key in constants], dtype=np.float64),
        count,
        np.array([register[root] for root in graph.roots], dtype=np.int32),
    )


def _constant_key(graph: Graph, index: int) -> str | None:
    node = graph.nodes[index]
    value = node.value if node.op == "const" else _CONSTANTS.get(node.op)
    return value.hex() if isinstance(value, float) else None


def _constants(graph: Graph) -> list[str]:
    keys = (_constant_key(graph, index) for index in range(len(graph.nodes)))
    return list(dict.fromkeys(key for key in keys if key is not None))


def _last_uses(graph: Graph) -> list[int]:
    """Return the last instruction that reads each node's register; a boolean and its `number` share one."""
    last = [-1] * len(graph.nodes)
    for root in graph.roots:
        last[root] = len(graph.nodes)
    for index in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[index]
        for argument in node.args:
            last[argument] = max(last[argument], last[index] if node.op == "number" else index)
    for index, node in enumerate(graph.nodes):
        if node.op == "number":
            last[index] = last[node.args[0]]
    return last
