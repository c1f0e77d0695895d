"""The candidates of a run as figures alone: what an import reads of a bundle, besides programs and episodes.

No goal, comment, critique or reply is in it, so that no word of whoever made the bundle can reach a prompt.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from actors.messages import ArchiveEntry
from actors.plan import SearchPlan
from actors.record import SearchRecord
from search_spaces.errors import BundleError, RunError, ScenarioError
from search_spaces.scenarios import Scenario, seed_sets_digest

LISTING = "candidates.json"
"""Name of the listing in a bundle."""

_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{0,64}$")]
_Move = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+ -]{0,100}$")]
"""One edit, several as `add+weight`, or of an ablation `without COMPONENT`."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Listed(_Strict):
    """One candidate, baseline or training of the finals."""

    id: _Name
    role: _Word
    generation: int
    digest: _Word
    seed: int
    steps: int
    seed_set: _Word
    parents: tuple[_Name, ...] = ()
    origin: _Word
    move: _Move
    status: _Word
    metrics: dict[_Word, FiniteFloat]
    fitness: FiniteFloat | None


class Listing(_Strict):
    """All candidates of a run.

    Attributes:
        format: Format of this listing; another one is refused.
        search_id: Name of the search.
        finished: Whether it had ended.
        seed_sets: `scenarios.seed_sets_digest()` of the release that ran it.
        scenario: Settings of its road.
        held_out: Episodes of each evaluation.
        candidates: What was accepted.
    """

    format: Literal[1] = 1
    search_id: _Name
    finished: bool
    seed_sets: _Word
    scenario: dict[_Word, int | float | bool]
    held_out: int
    candidates: tuple[Listed, ...]

    def road(self) -> Scenario:
        """Return the road.

        Raises:
            BundleError: Settings that no road has.
        """
        try:
            return Scenario.from_json(self.scenario)
        except ScenarioError as error:
            raise BundleError(f"{LISTING}: {error}") from error

    def to_bytes(self) -> bytes:
        """Return the content of `candidates.json`."""
        return (self.model_dump_json(indent=2) + "\n").encode()


def listing_of(record: SearchRecord) -> Listing:
    """Return the listing of a search as it stands.

    Raises:
        RunError: Its journal holds no search yet.
        BundleError: It holds what a bundle cannot.
    """
    plan = record.plan
    if plan is None:
        raise RunError("expected a run with a search in it, found an empty journal")
    try:
        return _listing(record, plan)
    except ValidationError as error:
        raise BundleError(f"{plan.search_id} holds what a bundle cannot: {_first(error)}") from error


def _listing(record: SearchRecord, plan: SearchPlan) -> Listing:
    return Listing(
        search_id=plan.search_id,
        finished=record.finished,
        seed_sets=seed_sets_digest(),
        scenario=plan.scenario.to_json(),
        held_out=plan.held_out,
        candidates=tuple(_listed(record, plan.steps)),
    )


def _listed(record: SearchRecord, steps: int) -> Iterator[Listed]:
    for name in record.archive.candidates:
        entry: ArchiveEntry = record.archive.entry(name)
        candidate, outcome = entry.candidate, entry.outcome
        yield Listed(
            id=name,
            role=candidate.role,
            generation=candidate.generation,
            digest=candidate.digest,
            seed=candidate.seed,
            steps=candidate.steps or steps,
            seed_set=candidate.seed_set,
            parents=candidate.parents,
            origin=candidate.origin,
            move=candidate.move,
            status="waiting" if outcome is None else outcome.status,
            metrics={} if outcome is None else dict(outcome.metrics),
            fitness=None if entry.fitness is None else entry.fitness.value,
        )


def read_listing(content: bytes | None) -> Listing:
    """Return the listing of a bundle.

    Raises:
        BundleError: There is none, or it is not one of this release.
    """
    if content is None:
        raise BundleError(f"expected a bundle with {LISTING}, found none; `orchestrate export RUN` makes one")
    try:
        # From JSON, in strict mode too, lists are tuples.
        return Listing.model_validate_json(content)
    except ValidationError as error:
        raise BundleError(f"{LISTING}: {_first(error)}; another release wrote this bundle") from error


def _first(error: ValidationError) -> str:
    """Return the first thing that is wrong: where, and what."""
    first: Any = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
