"""What figures are measured with: which episodes, which fitness, and which bound of it ranks."""

import hashlib
from dataclasses import fields

from actors.comparison import RETRAINED
from actors.fitness import CONSTANTS
from search_spaces.errors import RunError
from search_spaces.scenarios import seed_sets_digest


def measurement_digest() -> str:
    """Return SHA-256 of the seed sets and the constants of the fitness and its bound, as hexadecimal.

    Figures under another digest were measured otherwise, and comparing them says nothing.
    """
    constants = [(each.name, getattr(CONSTANTS, each.name)) for each in fields(CONSTANTS)]
    constants.append(("retrained", RETRAINED))
    return hashlib.sha256(f"{seed_sets_digest()}\n{constants}".encode()).hexdigest()


def refuse_other_measurement(recorded: str, location: str) -> None:
    """Refuse to go on with a search that measures otherwise than this release.

    Args:
        recorded: The digest in its journal; empty in journals of releases that wrote none, which pass.
        location: Where it lies.

    Raises:
        RunError: Another digest.
    """
    if recorded not in ("", measurement_digest()):
        raise RunError(
            f"{location} was begun by a release that measures otherwise (digest {recorded[:12]}, here "
            f"{measurement_digest()[:12]}): other episodes or another fitness, so its figures and new ones could not "
            "be compared. Finish it with that release, or begin a new search; `orchestrate export` and --archive carry "
            "its programs over"
        )
