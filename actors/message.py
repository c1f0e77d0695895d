"""How values cross a room: frozen, slotted, keyword-only, and the same after a walk through JSON."""

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Base of all messages."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object of all fields."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Build the message again; absent fields take their default.

        Raises:
            TypeError: An unknown field or a missing one.
        """
        hints = typing.get_type_hints(cls)
        return cls(**{name: _typed(hints.get(name, Any), value) for name, value in data.items()})


def _plain(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value


def _typed(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if value is None:
        return None
    if origin in (typing.Union, types.UnionType):
        return _typed(next(each for each in arguments if each is not type(None)), value)
    if is_dataclass(hint):
        return hint.from_json(value)  # type: ignore[union-attr, attr-defined, unused-ignore]
    if origin is tuple:
        return tuple(_typed(arguments[0], each) for each in value)
    if (
        origin is Mapping
        or origin is types.MappingProxyType
        or (isinstance(origin, type) and issubclass(origin, Mapping))
    ):
        return {key: _typed(arguments[1], each) for key, each in value.items()}
    return value
