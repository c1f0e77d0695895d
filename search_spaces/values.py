"""What a variable can hold while a program is compiled: a number or boolean, a tuple, a dict of components, the state.

Only the first ends up in the graph; the others are taken apart at compile time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from search_spaces.errors import ProgramError
from search_spaces.graph import GraphBuilder


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or a boolean.

    Attributes:
        index: Its node.
        integral: Whether Python would hold an integer here, at least on some path; an integer has no -0.
    """

    index: int
    integral: bool = False


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple, such as `total, components`; never one of tuples."""

    items: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """A dict of named numbers; never changed, a store makes a new one."""

    entries: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class State:
    """The parameter of `compute_reward`; it can only be read by key."""


@dataclass(frozen=True, slots=True)
class Unset:
    """A variable that no value is known for on some path.

    Attributes:
        code: What reading it is refused with.
        message: Why.
    """

    code: str = "E_UNBOUND"
    message: str = "is not set on every path"


Value = Scalar | Several | Parts | State | Unset


@dataclass(slots=True)
class Frame:
    """The variables of one call.

    Attributes:
        variables: Name to value.
        assigned: Every name that the function assigns somewhere; Python treats them as local from the first line on.
        shared: Dicts that a second name, a tuple or a call can see, so that a store would be seen there too.
    """

    variables: dict[str, Value]
    assigned: frozenset[str] = frozenset()
    shared: set[str] = field(default_factory=set)

    def branch(self) -> "Frame":
        """Return a copy for one arm of an `if`."""
        return Frame(dict(self.variables), self.assigned, self.shared)


def merged(builder: GraphBuilder, condition: int, chosen: Value, other: Value) -> Value:
    """Return the value that is `chosen` where `condition` holds and `other` elsewhere.

    Returns:
        `Unset` where the two have no common type, or one of them is unset.
    """
    if chosen == other:
        return chosen
    match chosen, other:
        case (Unset(), _):
            return chosen
        case (_, Unset()):
            return other
        case (Scalar(), Scalar()):
            index = builder.select(condition, chosen.index, other.index)
            return Scalar(index, chosen.integral or other.integral)
        case (Parts(), Parts()):
            return merged_parts(builder, condition, chosen, other)
        case (Several(items=one), Several(items=two)) if len(one) == len(two):
            items = tuple(merged(builder, condition, *pair) for pair in zip(one, two, strict=True))
            wrong = [each for each in items if isinstance(each, Unset)]
            return wrong[0] if wrong else Several(items)
        case (Scalar(), Several(items=(_, Parts()))):
            return merged(builder, condition, Several((chosen, Parts({}))), other)
        case (Several(items=(_, Parts())), Scalar()):
            return merged(builder, condition, chosen, Several((other, Parts({}))))
    return Unset("E_TYPE", "has values of different types on different paths")


def merged_parts(builder: GraphBuilder, condition: int, chosen: Parts, other: Parts) -> Parts:
    """Return the components of two paths; one that a path lacks is 0 there."""
    names = {**chosen.entries, **other.entries}
    zero = Scalar(builder.const(0.0)) if set(chosen.entries) != set(other.entries) else None
    entries: dict[str, Scalar] = {}
    for name in names:
        one, two = chosen.entries.get(name, zero), other.entries.get(name, zero)
        if one is not None and two is not None:
            entries[name] = Scalar(builder.select(condition, one.index, two.index), one.integral or two.integral)
    return Parts(entries)


def scalar(value: Value, line: int | None = None) -> Scalar:
    """Return `value` when it is a number or a boolean.

    Args:
        value: What an expression gave.
        line: Line of that expression.

    Raises:
        ProgramError: `E_TYPE` otherwise.
    """
    if isinstance(value, Scalar):
        return value
    found = {"Several": "a tuple", "Parts": "a dict", "State": "the whole state"}.get(type(value).__name__, "nothing")
    hint = 'Read one field: state["ttc"].' if isinstance(value, State) else "Use one number here."
    raise ProgramError("E_TYPE", f"a number is needed here, not {found}", line, hint)
