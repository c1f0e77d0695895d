"""What MLflow is told of the finals and of what followed them: figures on the parent run, and the verdict as a text."""

import re
from collections.abc import Iterator, Mapping

from actors.difference import Difference
from actors.generalisation import Compatibility, Generalisation
from actors.messages import Fitness
from actors.record import SearchRecord
from actors.standings import Ablation, Confirmation, Result, Standing
from actors.upstream_comparison import Replay
from orchestrator import conclusion_tables, verdict
from orchestrator.tracking import Point

Said = Result | Replay | Generalisation | Compatibility
"""What is said of the champion and its rivals once the generations are over."""
SAID: Mapping[str, type[Said]] = {
    "standing": Standing,
    "confirmed": Confirmation,
    "ablated": Ablation,
    "replayed": Replay,
    "generalised": Generalisation,
    "scored": Compatibility,
}
"""Events that hold it."""
_NO_NAME = re.compile(r"[^\w\-./ ]")
"""What MLflow takes in no name of a metric."""


def figures(said: Said) -> Iterator[Point]:
    """Yield what the finals say under `finals/`, and what followed them under `replay/`, `roads/` and `lampilot/`."""
    match said:
        case Standing():
            for row in said.rows:
                yield from _ends(f"finals/{said.stage}/{row.of}", row.fitness)
        case Confirmation():
            yield from _confirmed(said)
        case Ablation():
            for without in said.rows:
                yield from _ends(f"finals/without/{without.component}", without.difference)
        case Replay():
            yield Point("replay/episodes", said.episodes)
            if not said.reason:
                yield Point("replay/differing", len(said.differing))
            yield Point("replay/functions_that_round_differently", len(said.differing_functions))
        case Generalisation():
            yield from _roads(said)
        case Compatibility():
            for name, scores in said.scores.items():
                yield Point(f"lampilot/{name}/driving_score", scores.driving_score)


def text(record: SearchRecord) -> str:
    """Return the verdict on a search, and what followed it, a sentence a line."""
    return "".join(f"{sentence}\n" for sentence in [*verdict.sentences(record), *conclusion_tables.sentences(record)])


def _confirmed(said: Confirmation) -> Iterator[Point]:
    yield from _ends("finals/champion/fitness", said.fitness)
    shrinkages = {
        "shrinkage_of_selection": said.shrinkage_of_selection,
        "shrinkage_of_finals": said.shrinkage_of_finals,
    }
    for name, value in shrinkages.items():
        if value is not None:
            yield Point(f"finals/champion/{name}", value)
    for other, difference in said.differences.items():
        yield from _ends(f"finals/champion_less/{other}", difference)


def _roads(said: Generalisation) -> Iterator[Point]:
    for road in said.roads:
        place = f"roads/{_NO_NAME.sub('', road.name)}"
        for cell in road.cells:
            yield Point(f"{place}/{cell.name}/crash_rate", cell.crash_rate)
            yield from _ends(f"{place}/{cell.name}/fitness", cell.fitness)


def _ends(name: str, figure: Fitness | Difference | None) -> Iterator[Point]:
    if figure is not None:
        named = {"value": figure.value, "low": figure.low, "high": figure.high}
        yield from (Point(f"{name}/{end}", value) for end, value in named.items() if value is not None)
