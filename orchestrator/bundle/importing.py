"""Programs out of a bundle: verified, checked by the language, judged by the present fitness, and stripped of words.

What another search may start from is written into `imported.json`: canonical programs whose components have harmless
names, with their fitness as this release judges the bundle's episodes. Nothing else of the bundle is ever read again.
"""

import hashlib
import json
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from actors.checker import ProgramChecker
from actors.fitness import fitness
from actors.message import Message
from actors.messages import Fitness
from actors.plan import ImportedProgram
from actors.run_files import episodes_file, program_file
from driving.episodes import from_parquet
from driving.measures import summarise
from orchestrator.bundle.listing import LISTING, Listed, Listing, read_listing
from orchestrator.bundle.members import MANIFEST, check_content
from orchestrator.bundle.unpacking import unpack
from search_spaces.errors import BundleError, ProgramError, RunError
from search_spaces.naming import plainly_named
from search_spaces.program import RewardProgram, Violation
from search_spaces.scenarios import Scenario, seed_sets_digest

IMPORTED = "imported.json"
"""What an import writes beside the members of the bundle."""
Basis = Literal["episodes", "metrics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Message):
    """A candidate of a bundle as this release sees it.

    Attributes:
        name: Its id there.
        program: Its canonical program; None where it is refused.
        refused: Why the language refuses its program; empty where it does not.
        fitness: Its fitness by the present definition; None where a needed measure is undefined or was not delivered.
        basis: What that was computed from: its single episodes, or, where they are missing, its measures.
        told: Its fitness as the bundle has it; None where it has none.
    """

    name: str
    program: ImportedProgram | None
    refused: str = ""
    fitness: float | None = None
    basis: Basis | None = None
    told: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import found.

    Attributes:
        search_id: Name of the search that the bundle is of.
        sha256: Hash of the bundle.
        scenario: Road of that search.
        candidates: Its trained candidates, best first, those that are refused last.
        same_episodes: Whether they were measured on the episodes that this release measures on.
    """

    search_id: str
    sha256: str
    scenario: Scenario
    candidates: tuple[Judged, ...]
    same_episodes: bool

    @property
    def programs(self) -> tuple[ImportedProgram, ...]:
        """The programs that another search may start from, best first."""
        return tuple(each.program for each in self.candidates if each.program is not None)


def import_bundle(bundle: Path, out: Path) -> Imported:
    """Unpack a bundle into a new folder, verify it, and write `imported.json` there.

    Args:
        bundle: What `orchestrate export` wrote, here or elsewhere.
        out: The folder; must not exist.

    Raises:
        BundleError: The bundle is refused, or the folder exists or cannot be made; nothing was written.
    """
    if out.exists():
        raise BundleError(f"{out} exists already; choose another --out")
    sha256 = _sha256(bundle)
    there = next(each for each in out.absolute().parents if each.is_dir())
    temporary = there / f".{out.name}.{uuid.uuid4().hex}"
    try:
        temporary.mkdir()
        _verify(temporary, unpack(bundle, temporary))
        found = _judged(temporary, sha256)
        (temporary / IMPORTED).write_text(_saved(found), encoding="utf-8")
        out.absolute().parent.mkdir(parents=True, exist_ok=True)
        temporary.rename(out)
    except OSError as error:
        raise BundleError(f"{out} cannot be written: {error.strerror or error}; choose another --out") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return found


def programs_in(place: Path) -> tuple[ImportedProgram, ...]:
    """Return the programs of an imported folder or of a bundle, best first; the language has checked them just now.

    Raises:
        BundleError: Neither, or a bundle that is refused.
    """
    if place.is_dir():
        return tuple(_reread(place))
    if not place.is_file():
        raise BundleError(f"{place}: expected a bundle, or a folder that `orchestrate import` made; found neither")
    with tempfile.TemporaryDirectory(prefix="orchestrate-import-") as folder:
        return import_bundle(place, Path(folder) / "bundle").programs


def _sha256(bundle: Path) -> str:
    try:
        with bundle.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BundleError(f"{bundle} cannot be read: {error.strerror}") from error


class _Manifest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1]
    search_id: str
    events: int
    finished: bool
    members: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]


def _verify(folder: Path, hashes: Mapping[str, str]) -> None:
    """Compare what was unpacked with the manifest, and look into every member."""
    if MANIFEST not in hashes:
        raise BundleError(f"expected a bundle with {MANIFEST}, found none; nothing was written")
    try:
        manifest = _Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except ValidationError as error:
        raise BundleError(f"{MANIFEST}: not one of this release ({error.error_count()} errors)") from error
    for name in sorted({*manifest.members, *hashes} - {MANIFEST}):
        if name not in hashes:
            raise BundleError(f"member {name[:200]!a} is missing; nothing was written")
        if manifest.members.get(name) != hashes[name]:
            raise BundleError(f"member {name}: its SHA-256 is not that of {MANIFEST}; nothing was written")
        check_content(name, (folder / name).read_bytes())


def _judged(folder: Path, sha256: str) -> Imported:
    listing = read_listing(_read(folder, LISTING))
    road = listing.road()
    with ProgramChecker() as checker:
        candidates = [
            _candidate(folder, each, listing, road, checker)
            for each in listing.candidates
            if each.role == "candidate" and each.status == "trained"
        ]
    ranked = sorted(candidates, key=lambda each: (each.program is None, -_known(each.fitness)))
    return Imported(
        search_id=listing.search_id,
        sha256=sha256,
        scenario=road,
        candidates=tuple(ranked),
        same_episodes=listing.seed_sets == seed_sets_digest(),
    )


def _candidate(folder: Path, listed: Listed, listing: Listing, road: Scenario, checker: ProgramChecker) -> Judged:
    source = _read(folder, program_file(listed.id))
    if source is None:
        raise BundleError(f"{listed.id} has no reward_program.py; nothing was written")
    judged, basis = _judge(folder, listed, road)
    value = None if judged is None else judged.value
    checked = _checked(checker, source)
    if isinstance(checked, Violation):
        refused = f"{checked.code}: {checked.message}"
        return Judged(name=listed.id, program=None, refused=refused, fitness=value, basis=basis, told=listed.fitness)
    program = ImportedProgram(name=f"{listing.search_id}/{listed.id}", source=checked.source, fitness=value)
    return Judged(name=listed.id, program=program, fitness=value, basis=basis, told=listed.fitness)


def _checked(checker: ProgramChecker, source: str | bytes) -> RewardProgram | Violation:
    program = checker.check(source)
    if isinstance(program, Violation):
        return program
    try:
        return plainly_named(program)
    except ProgramError as error:
        return Violation(error.code, error.message, error.line, error.hint)


def _judge(folder: Path, listed: Listed, road: Scenario) -> tuple[Fitness | None, Basis | None]:
    """Judge a candidate by its episodes, or by its measures where there is no table that this release can read."""
    content = _read(folder, episodes_file(listed.id))
    if content is not None:
        try:
            table = from_parquet(content, histograms=False)
            with np.errstate(all="ignore"):
                return fitness(summarise(table, road)), "episodes"
        except (RunError, KeyError, IndexError, ValueError, TypeError, pa.ArrowException):
            pass  # another release wrote other columns
    judged = fitness(listed.metrics)
    return judged, None if judged is None else "metrics"


def _known(fitness: float | None) -> float:
    return -1.0 if fitness is None else fitness


def _read(folder: Path, name: str) -> bytes | None:
    path = folder / name
    return path.read_bytes() if path.is_file() else None


class _Program(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._/-]{1,210}$")]
    source: Annotated[str, Field(max_length=100_000)]
    fitness: FiniteFloat | None


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[1] = 1
    sha256: str
    programs: tuple[_Program, ...]


def _saved(found: Imported) -> str:
    programs = [each.to_json() for each in found.programs]
    return json.dumps({"format": 1, "sha256": found.sha256, "programs": programs}, indent=2) + "\n"


def _reread(folder: Path) -> Iterator[ImportedProgram]:
    """Yield the programs of an imported folder; it may have been written by hand, so each is checked again."""
    content = _read(folder, IMPORTED)
    if content is None:
        raise BundleError(f"{folder}: expected {IMPORTED}, found none; `orchestrate import BUNDLE` makes such a folder")
    try:
        saved = _Saved.model_validate_json(content)
    except ValidationError as error:
        raise BundleError(f"{folder / IMPORTED}: not one of this release ({error.error_count()} errors)") from error
    with ProgramChecker() as checker:
        for each in saved.programs:
            program = _checked(checker, each.source)
            if isinstance(program, RewardProgram):
                yield ImportedProgram(name=each.name, source=program.source, fitness=each.fitness)
