"""The moves of a designer that needs no LLM: each makes a new program of one or two old ones.

Moves work on the typed graph, part by part (see `parts.py`), so every child is a legal program whose text reads
`total = a + b + c`. A move that finds nothing to do returns its program unchanged.

The sizes of the steps are those with which a plain evolutionary search reached the fitness of hand-written rewards;
dropping parts and replacing them never produced a new best there, so there is no such move.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from search_spaces.components import COMPONENTS, CONDITIONS, CRASH, Component
from search_spaces.errors import ProgramError
from search_spaces.graph import Graph, GraphBuilder
from search_spaces.language import compile_program
from search_spaces.operations import MAX_CONSTANT
from search_spaces.parts import Part, Split, graft, split, unused_name
from search_spaces.program import RewardProgram, Violation

T = TypeVar("T")
Move = Callable[[RewardProgram, np.random.Generator], RewardProgram]

MAX_PARTS = 10
"""Parts beyond which nothing is added: longer programs were never among the best."""
DIGITS = 3
"""Significant digits of a drawn number, so that programs stay readable."""


def change_weight(program: RewardProgram, rng: np.random.Generator) -> RewardProgram:
    """Multiply the weight of one part, by a factor of 2.5 either way typically; rarely turn its sign.

    A program of one part is left alone: training divides rewards by their spread, so its weight means nothing.
    """
    whole = split(program.graph)
    if len(whole.parts) < 2:
        return program
    parts = list(whole.parts)
    chosen = int(rng.integers(len(parts)))
    sign = -1.0 if rng.random() < 0.05 else 1.0
    parts[chosen] = replace(parts[chosen], weight=_rounded(sign * parts[chosen].weight * _factor(rng, 0.9)))
    return _program(program, whole, parts)


def change_constants(program: RewardProgram, rng: np.random.Generator) -> RewardProgram:
    """Move the weights and thresholds of most parts a little, by a quarter typically."""
    whole = split(program.graph)
    parts = [_jittered(part, rng) if rng.random() < 0.6 else part for part in whole.parts]
    return _program(program, whole, parts)


def add_component(program: RewardProgram, rng: np.random.Generator) -> RewardProgram:
    """Add a component of the vocabulary: plain, under a condition, or as a product of two."""
    whole = split(program.graph)
    if len(whole.parts) >= MAX_PARTS:
        return program
    used = {part.name for part in whole.parts}
    added = drawn_part(rng)
    while added.name in used:
        added = drawn_part(rng)
    return _program(program, whole, [*whole.parts, added])


def wrap_in_condition(program: RewardProgram, rng: np.random.Generator) -> RewardProgram:
    """Let one part, but not the crash, count only in a situation; or always, when it counted only in one."""
    whole = split(program.graph)
    able = [index for index, part in enumerate(whole.parts) if not is_crash(part)]
    if not able:
        return program
    chosen = able[int(rng.integers(len(able)))]
    parts = list(whole.parts)
    others = {part.name for index, part in enumerate(parts) if index != chosen}
    part = _unwrapped(parts[chosen]) or _wrapped(parts[chosen], rng)
    parts[chosen] = replace(part, name=unused_name(part.name, others))
    return _program(program, whole, parts)


def cross(first: RewardProgram, second: RewardProgram, rng: np.random.Generator) -> RewardProgram:
    """Mix the parts of two programs: most of the first, half of the second, each once, seldom without a crash term."""
    whole, other = split(first.graph), split(second.graph)
    parts = [part for part in whole.parts if rng.random() < 0.7]
    parts += [part for part in other.parts if rng.random() < 0.5]
    crashes = [part for part in (*whole.parts, *other.parts) if is_crash(part)]
    if crashes and not any(is_crash(part) for part in parts) and rng.random() < 0.9:
        parts.append(crashes[int(rng.integers(len(crashes)))])
    return _program(first, whole, _distinct(parts)[:MAX_PARTS])


def is_crash(part: Part) -> bool:
    """Say whether a part depends on the collision alone."""
    return part.fields == {"collided"}


MOVES: Mapping[str, Move] = MappingProxyType(
    {
        "weight": change_weight,
        "constant": change_constants,
        "add": add_component,
        "wrap": wrap_in_condition,
    }
)
"""Moves that need one program, by the name that a candidate carries."""


def _program(program: RewardProgram, whole: Split, parts: list[Part]) -> RewardProgram:
    graph = whole.join(parts)
    if graph is None:
        return program
    try:
        return RewardProgram(graph)
    except ProgramError:  # its text would be too long
        return program


def _jittered(part: Part, rng: np.random.Generator) -> Part:
    literals = {
        index: _rounded(_moved(part.body, index, float(node.value), rng))
        for index, node in enumerate(part.body.nodes)
        if node.op == "const" and isinstance(node.value, float) and abs(node.value) not in (0.0, 1.0)
        if rng.random() < 0.5
    }
    builder = GraphBuilder()
    body = builder.finish(graft(builder, part.body, part.body.total, literals), {})
    return Part(part.name, _rounded(part.weight * _factor(rng, 0.25)), body)


def _moved(body: Graph, index: int, value: float, rng: np.random.Generator) -> float:
    """Move a literal; by 2 m/s typically where it is a speed, whose useful range is narrow beside its size."""
    speeds = {place for place, node in enumerate(body.nodes) if node.value in ("speed_ms", "target_speed_ms")}
    beside = any(
        index in node.args and speeds.intersection(node.args) and node.op in ("sub", "lt", "le", "gt", "ge")
        for node in body.nodes
    )
    return value + float(rng.normal(0.0, 2.0)) if beside else value * _factor(rng, 0.25)


def drawn_part(rng: np.random.Generator) -> Part:
    """Draw a weighted component of the vocabulary: plain, under a condition, or as a product of two."""
    shape = rng.random()
    if shape < 0.65:
        component = _drawn((*COMPONENTS, CRASH), rng)
        return Part(component.name, _drawn_weight(component, rng), _filled(component.text, component.blanks, rng))
    varied = tuple(each for each in COMPONENTS if "state" in each.text)
    component = _drawn(varied, rng)
    part = Part(component.name, _drawn_weight(component, rng), _filled(component.text, component.blanks, rng))
    if shape < 0.90:
        return _wrapped(part, rng)
    other = _drawn([each for each in varied if each.name != component.name], rng)
    builder = GraphBuilder()
    factors = (part.body, _filled(other.text, other.blanks, rng))
    product = builder.node("mul", *(graft(builder, each, each.total) for each in factors))
    return Part(unused_name(f"{component.name}_times_{other.name}", set()), part.weight, builder.finish(product, {}))


def _wrapped(part: Part, rng: np.random.Generator) -> Part:
    condition = _drawn(CONDITIONS, rng)
    test = _filled(condition.text, condition.blanks, rng)
    builder = GraphBuilder()
    holds = builder.truth(graft(builder, test, test.total))
    body = builder.select(holds, graft(builder, part.body, part.body.total), builder.const(0.0))
    return Part(unused_name(f"{part.name}_when_{condition.name}", set()), part.weight, builder.finish(body, {}))


def _unwrapped(part: Part) -> Part | None:
    """Take the condition off a part that counts only in a situation; None when there is none."""
    top = part.body.nodes[part.body.total]
    if top.op != "select" or part.body.nodes[top.args[1]].op == "const":
        return None
    builder = GraphBuilder()
    body = builder.finish(graft(builder, part.body, top.args[1]), {})
    return Part(part.name.partition("_when_")[0], part.weight, body)


def _distinct(parts: list[Part]) -> list[Part]:
    """Keep the first of parts that have a name or a body in common."""
    kept: list[Part] = []
    for part in parts:
        if all(part.name != each.name and part.body != each.body for each in kept):
            kept.append(part)
    return kept


def _filled(text: str, blanks: Mapping[str, tuple[float, float]], rng: np.random.Generator) -> Graph:
    drawn = {name: _rounded(rng.uniform(*bounds)) for name, bounds in blanks.items()}
    program = compile_program(f"def compute_reward(state):\n    return {text.format(**drawn)}\n")
    if isinstance(program, Violation):
        raise ProgramError(program.code, f"the vocabulary is no program: {text!r}: {program.message}")
    return program.graph


def _drawn(items: Sequence[T], rng: np.random.Generator) -> T:
    return items[int(rng.integers(len(items)))]


def _drawn_weight(component: Component, rng: np.random.Generator) -> float:
    sign = -component.sign if rng.random() < 0.1 else component.sign
    return _rounded(sign * component.size * _factor(rng, 0.8))


def _factor(rng: np.random.Generator, spread: float) -> float:
    return float(np.exp(rng.normal(0.0, spread)))


def _rounded(value: float) -> float:
    return float(f"{min(max(value, -MAX_CONSTANT), MAX_CONSTANT):.{DIGITS}g}")
