"""Trained on one road, tested on all: does the champion keep its lead where it never drove?

The roads are those of `ROADS` and the search's own. On a road where every baseline that presses the same five buttons
crashes more often than not, the buttons are what is wrong and not the drivers: it is marked infeasible for everyone and
left out of every count. (At density 1.5 and more on three lanes, traffic is slower than the lowest target speed of
20 m/s. IDM and IDM+MOBIL brake below that, as no button can, and have no say in this.)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from actors.comparison import difference, judge
from actors.difference import Difference
from actors.intervals import wilson
from actors.message import Message
from actors.messages import Fitness
from driving.drivers import DRIVERS, Driver, ModelDriver, driver_named, run_episodes
from driving.lampilot import LampilotScores
from driving.measures import EpisodeTable
from search_spaces.scenarios import PRESETS, REPORT, Scenario

EPISODES = 200
"""Report episodes on each road: the standard error of a fitness is then about 0.025."""

DENSITIES = (0.7, 1.0, 1.2)
LANES = (3, 4)
ROADS: Mapping[str, Scenario] = {
    **{
        f"{lanes} lanes, density {density:g}": Scenario(lanes=lanes, density=density)
        for lanes in LANES
        for density in DENSITIES
    },
    "highway-v0": PRESETS["highway-v0"],
}
"""The roads of the matrix by name; the first ones differ from highway-fast-v0 in lanes and density alone."""

HOPELESS = 0.5
"""A baseline crashes more often than not when the lower end of its crash rate's 95 % interval lies above this."""

Drive = Callable[[str, Scenario], EpisodeTable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Message):
    """One driver on one road.

    Attributes:
        name: Who drove.
        fitness: Fitness with its interval, the mean over its training seeds; None where a measure of it is undefined.
        crash_rate: Share of the episodes of all its training seeds that crashed, 0 to 1.
        crash_low: Lower end of its 95 % interval (Wilson's, as if all these episodes were independent).
        crash_high: Upper end.
        lead: What the champion's fitness is above this one's, paired over episodes; None for the champion itself and
            where it is undefined.
    """

    name: str
    fitness: Fitness | None
    crash_rate: float
    crash_low: float
    crash_high: float
    lead: Difference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Road(Message):
    """All drivers on one road.

    Attributes:
        name: Its name in the matrix.
        scenario: The road.
        own: Whether the champion was trained on it.
        feasible: Whether some baseline that presses buttons gets through at least every second episode.
        cells: The champion first, then whom it is compared with.
    """

    name: str
    scenario: Scenario
    own: bool
    feasible: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead(Message):
    """Over how much of the matrix the champion is ahead of one other driver.

    Attributes:
        over: The other driver.
        ahead: Feasible roads on which the champion's fitness is the higher one.
        surely: Of those, how many on which that is shown (`Difference.above`).
        roads: Feasible roads on which the two can be compared.
    """

    over: str
    ahead: int
    surely: int
    roads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Generalisation(Message):
    """The matrix of one champion.

    Attributes:
        champion: Who it is about.
        episodes: Report episodes on each road, for each training seed.
        roads: The rows.
    """

    champion: str
    episodes: int
    roads: tuple[Road, ...]

    def leads(self) -> tuple[Lead, ...]:
        """Return over how much of the feasible roads the champion keeps its lead, for each other driver."""
        names = [cell.name for cell in self.roads[0].cells if cell.name != self.champion] if self.roads else []
        return tuple(self._lead(name) for name in names)

    def _lead(self, over: str) -> Lead:
        found = [
            cell.lead
            for road in self.roads
            if road.feasible
            for cell in road.cells
            if cell.name == over and cell.lead is not None
        ]
        return Lead(
            over=over,
            ahead=sum(each.value > 0 for each in found),
            surely=sum(each.above for each in found),
            roads=len(found),
        )

    def sentence(self) -> str:
        """Say in one sentence where the champion keeps its lead."""
        leads = self.leads()
        feasible = sum(road.feasible for road in self.roads)
        kept = [each for each in leads if feasible and each.ahead == feasible]
        lost = [f"{each.over} ({each.ahead} of {feasible})" for each in leads if each not in kept]
        told = f"{self.champion} keeps its lead over {len(kept)} of {len(leads)} others on all {feasible} roads"
        if kept:
            told += f", over {sum(each.surely == feasible for each in kept)} of them with the whole interval"
        if lost:
            told += f"; not over {', '.join(lost)}"
        left_out = [road.name for road in self.roads if not road.feasible]
        return told + (f"; infeasible for everyone, left out: {', '.join(left_out)}" if left_out else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility(Message):
    """Other people's scores, for comparison with their work; they rank nobody here.

    Attributes:
        scores: LaMPilot-Bench's scores of the champion's first policy and of all that it is compared with, by name.
    """

    scores: Mapping[str, LampilotScores]


def roads_for(home: Scenario) -> dict[str, Scenario]:
    """Return the roads of the matrix of a search on `home`."""
    return dict(ROADS) if home in ROADS.values() else {"the search's own": home, **ROADS}


def matrix(
    champion: str,
    drivers: Mapping[str, Sequence[Driver]],
    home: Scenario,
    *,
    episodes: int = EPISODES,
    wanted: Callable[[], bool] = lambda: True,
) -> Generalisation | None:
    """Drive everyone on all roads.

    Args:
        champion: Whose lead is measured; a key of `drivers`.
        drivers: Name to its policies, one for each training seed. Baseline drivers are added.
        home: The road that they were trained on.
        episodes: Report episodes on each road.
        wanted: Asked now and then whether anyone still waits for the answer.

    Returns:
        The matrix; None when nobody waited for it any more.
    """
    everyone = {champion: drivers[champion], **drivers, **{name: (driver_named(name),) for name in DRIVERS}}
    rows = []
    for name, scenario in roads_for(home).items():
        tables = {}
        for who, policies in everyone.items():
            if not wanted():
                return None
            tables[who] = [run_episodes(scenario, REPORT.seeds(episodes), each) for each in policies]
        compared = [who for who in everyone if who != champion or who in DRIVERS]
        buttons = [who for who in compared if not _brakes_freely(everyone[who])]
        rows.append(_row(name, scenario, home, champion, tables, buttons))
    return Generalisation(champion=champion, episodes=episodes, roads=tuple(rows))


def _brakes_freely(policies: Sequence[Driver]) -> bool:
    return any(isinstance(each, ModelDriver) for each in policies)


def _row(
    name: str,
    scenario: Scenario,
    home: Scenario,
    champion: str,
    tables: Mapping[str, Sequence[EpisodeTable]],
    buttons: Sequence[str],
) -> Road:
    cells = [_cell(who, each, tables[champion], scenario, who == champion) for who, each in tables.items()]
    hopeless = [cell.crash_low > HOPELESS for cell in cells if cell.name in buttons]
    return Road(name=name, scenario=scenario, own=scenario == home, feasible=not all(hopeless), cells=tuple(cells))


def _cell(
    who: str,
    tables: Sequence[EpisodeTable],
    champions: Sequence[EpisodeTable],
    scenario: Scenario,
    is_champion: bool,
) -> Cell:
    crashes = sum(int(table.columns["crashed"].sum()) for table in tables)
    count = sum(len(table) for table in tables)
    low, high = wilson(crashes, count)
    return Cell(
        name=who,
        fitness=judge(tables, scenario, trained=who not in DRIVERS),
        crash_rate=crashes / count,
        crash_low=low,
        crash_high=high,
        lead=None if is_champion else difference(champions, tables, scenario, trained=who not in DRIVERS),
    )
