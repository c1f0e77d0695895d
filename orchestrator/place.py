"""Which Ray a search runs on: one of its own, or one that is there."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass

from ray._private.utils import read_ray_address

from search_spaces.errors import UsageError

LOCAL = "local"
"""Address of a Ray that is started for this search alone."""

_PROBE_S = 1.0


@dataclass(frozen=True, slots=True)
class Place:
    """A Ray to run on.

    Attributes:
        address: `local`, or an address to join.
        sentence: Which one it is and why, for the user.
    """

    address: str
    sentence: str


def find_place(local: bool, address: str | None, environ: Mapping[str, str]) -> Place:
    """Choose a Ray: what was asked for, else `RAY_ADDRESS`, else one that `ray start` left on this machine, else none.

    Args:
        local: Whether `--local` was given.
        address: What `--address` was given.
        environ: The environment.

    Raises:
        UsageError: Both were given, or an address of Ray Client.
    """
    if local and address is not None:
        raise UsageError("--local and --address exclude each other")
    if local:
        return Place(LOCAL, "Ray: this machine alone (--local)")
    if address is not None:
        return _joined(address, "--address")
    if environ.get("RAY_ADDRESS"):
        return _joined(environ["RAY_ADDRESS"], "RAY_ADDRESS")
    running = read_ray_address()
    if running and _answers(running):
        return _joined(running, "it runs on this machine")
    return Place(LOCAL, "Ray: this machine alone (no RAY_ADDRESS, and no Ray runs here)")


def _joined(address: str, why: str) -> Place:
    if "://" in address:
        raise UsageError(f"{why}: {address} is no address of a Ray node, such as 127.0.0.1:6379; type this on the head")
    if address == LOCAL:
        return Place(LOCAL, f"Ray: this machine alone ({why})")
    return Place(address, f"Ray: joining {address} ({why})")


def _answers(address: str) -> bool:
    """Return whether something listens there; the address outlives a Ray that was killed."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), _PROBE_S):
            return True
    except (OSError, ValueError):
        return False
