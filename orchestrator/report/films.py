"""The films of a report: everyone in the same traffic, and the parts of episodes that findings are about."""

from collections.abc import Iterator
from dataclasses import dataclass

from actors.finals import NATIVE
from actors.messages import ArchiveEntry, Finding
from driving.drivers import Driver, driver_named
from driving.film import film_clip
from driving.side_by_side import Ending, film_side_by_side
from orchestrator.report.gather import ReportData
from orchestrator.report.wording import listed, named
from search_spaces.errors import UsageError
from search_spaces.scenarios import REPORT

EPISODES = 3
"""Report episodes that are filmed side by side: the first ones."""
CLIPS = 6
"""Clips of findings at most, each of another finding."""
MOST_BYTES = 14_000_000
"""Films of a report together; base64 makes a third more of them, and a page over 20 MB opens slowly."""
_BESIDE = "idm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A film with its words.

    Attributes:
        name: File name without suffix.
        caption: What happens in it.
        mp4: The film.
    """

    name: str
    caption: str
    mp4: bytes


def side_by_side(data: ReportData) -> tuple[Shot, ...]:
    """Film the champion, PPO under the native reward and IDM in the same traffic.

    Of several trainings, one is filmed that was measured on report episodes, as that is what is claimed. Who has no
    policy is left out; without the champion's there is no film.

    Raises:
        MachineError: The encoder is missing or fails.
    """
    if data.champion is None:
        return ()
    name = data.champion.candidate.id
    champion, native = data.entrant(name), data.entrant(NATIVE)
    if champion is None:
        return ()
    drivers: list[tuple[str, Driver]] = [(f"champion {name}", champion.driver)]
    if native is not None:
        drivers.append((named(NATIVE), native.driver))
    drivers.append((named(_BESIDE), driver_named(_BESIDE)))
    shots = []
    for seed in REPORT.seeds(EPISODES):
        film = film_side_by_side(data.plan.scenario, seed, drivers)
        told = listed([_ended(each) for each in film.endings])
        shots.append(Shot(name=f"side-by-side-{seed}", caption=f"Episode {seed}: {told}.", mp4=film.mp4))
    return _that_fit(shots, MOST_BYTES)


def _ended(ending: Ending) -> str:
    how = "crashes" if ending.crashed else "arrives"
    return f"{ending.label} {how} after {ending.seconds:.0f} s and {ending.metres:.0f} m"


def clips(data: ReportData, left: int) -> tuple[Shot, ...]:
    """Film what findings are about: each finding once, in the champion where it is found there, else in the best.

    Args:
        data: The run.
        left: Bytes that the films may take.

    Raises:
        MachineError: The encoder is missing or fails.
    """
    shots: list[Shot] = []
    for entry, finding in _shown(data):
        entrant = data.policy_of(entry.candidate.id)
        if entrant is None or finding.seed is None or len(shots) == CLIPS:
            continue
        first, last = finding.frames
        try:
            mp4 = film_clip(data.plan.scenario, finding.seed, entrant.driver, first, last)
        except UsageError:  # the episode has another length here: the machine that found it rounds differently
            continue
        caption = (
            f"{finding.name} in {entry.candidate.id}: {finding.sentence}. Episode {finding.seed}, frames {first} to "
            f"{last} with some before and after."
        )
        shots.append(Shot(name=f"finding-{len(shots) + 1}", caption=caption, mp4=mp4))
    return _that_fit(shots, left)


def _shown(data: ReportData) -> Iterator[tuple[ArchiveEntry, Finding]]:
    """Yield whom to film for which finding, the champion's first."""
    ordered = [*([data.champion] if data.champion is not None else []), *data.record.archive.ranked()]
    known: set[str] = set()
    for entry in ordered:
        for finding in entry.critique.findings if entry.critique is not None else ():
            if finding.seed is not None and len(finding.frames) == 2 and finding.name not in known:
                known.add(finding.name)
                yield entry, finding


def _that_fit(shots: list[Shot], left: int) -> tuple[Shot, ...]:
    """Return the first films that together take at most `left` bytes."""
    kept = []
    for shot in shots:
        left -= len(shot.mp4)
        if left < 0:
            break
        kept.append(shot)
    return tuple(kept)
