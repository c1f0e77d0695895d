"""Where runs lie, and which one is meant."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from actors.journal import JournalReader
from actors.ledger import replay
from actors.lock import lock_run
from actors.record import SearchRecord
from actors.storage import Storage
from search_spaces.errors import RunError, RunLockedError, UsageError

ROOT = Path("runs")
"""Folder that new runs go to, relative to the working directory."""

_EVENTS = "events"


@dataclass(frozen=True, slots=True)
class Run:
    """A run that exists.

    Attributes:
        location: Its folder, as an absolute path or a URI.
        storage: The same, opened.
        root: Local folder that holds it and its siblings, and the MLflow store; `runs/` for a run in an object store.
    """

    location: str
    storage: Storage
    root: Path

    @property
    def name(self) -> str:
        """Last part of the location."""
        return self.location.rstrip("/").rpartition("/")[2]

    @property
    def shown(self) -> str:
        """The location as a user would type it here."""
        path = Path(self.location)
        return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else self.location

    def record(self) -> SearchRecord:
        """Return the search as its journal stands now, also while it runs.

        Raises:
            JournalError: An event is missing or damaged.
        """
        return replay(JournalReader(self.storage))

    def is_being_written(self) -> bool:
        """Return whether another process writes this run now."""
        try:
            lock_run(self.storage).release()
        except RunLockedError:
            return True
        except OSError:  # a run that may only be read
            return False
        return False


def runs_in(folder: Path) -> list[Path]:
    """Return the run folders directly in `folder`, newest first."""
    if not folder.is_dir():
        return []
    found = [each for each in folder.iterdir() if (each / _EVENTS).is_dir()]
    return sorted(found, key=lambda run: (run / _EVENTS).stat().st_mtime, reverse=True)


def find_run(named: str) -> Run:
    """Return the run that `named` means: a path, a name under `runs/`, or a URI.

    Raises:
        RunError: It is no run; the message lists the runs that there are.
    """
    if "://" in named:
        storage = Storage.at(named)
        if not storage.names(_EVENTS):
            raise RunError(f"{named} is not a run: it holds no {_EVENTS}/")
        return Run(named.rstrip("/"), storage, ROOT.absolute())
    path = Path(named)
    for place in (path, ROOT / path):
        if (place / _EVENTS).is_dir():
            folder = place.resolve()
            return Run(str(folder), Storage.at(folder), folder.parent)
    what = f"is not a run folder (it holds no {_EVENTS}/)" if path.exists() else "does not exist"
    known = list(dict.fromkeys(run.absolute() for folder in (path, path.parent, ROOT) for run in runs_in(folder)))
    if not known:
        raise RunError(f"{named} {what}, and there is no run in {ROOT}/ either; `orchestrate --local` makes one")
    listing = "\n".join(f"  {run}  ({_when(run)})" for run in known[:20])
    raise RunError(f"{named} {what}. Runs here, newest first:\n{listing}")


def find_runs(named: Sequence[str]) -> list[Run]:
    """Return several runs, each of which counts once.

    Args:
        named: What `find_run` takes, for each.

    Raises:
        RunError: One of them is no run.
        UsageError: Two names mean the same run.
    """
    found: dict[str, Run] = {}
    for name in named:
        run = find_run(name)
        if run.location in found:
            raise UsageError(f"{run.shown} is named twice and would count twice; name every run once")
        found[run.location] = run
    return list(found.values())


def _when(run: Path) -> str:
    return datetime.fromtimestamp((run / _EVENTS).stat().st_mtime).astimezone().strftime("%Y-%m-%d %H:%M")


def root_of(location: str | None) -> Path:
    """Return the local folder that holds a run and its siblings, and the MLflow store they share.

    Args:
        location: The run's folder or URI; None for the default place.
    """
    if location is None or "://" in location:
        return ROOT.absolute()
    return Path(location).absolute().parent
