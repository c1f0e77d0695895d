"""What a search has learned: candidates with their outcomes, what was refused, and baselines.

A pure fold over the journal's events, keyed by candidate id: the same events in any order give the same archive, and an
event that comes twice counts once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from actors import ranking
from actors.journal import Event
from actors.message import Message
from actors.messages import ArchiveEntry, Candidate, Critique, Fitness, Refusal
from actors.outcome import Outcome

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline(Message):
    """A driver that candidates are compared with.

    Attributes:
        name: Its name, such as `slower` or `ppo-native`.
        metrics: Measures on the same held-out episodes as the candidates'.
        fitness: Fitness; None when a measure that it needs is undefined.
    """

    name: str
    metrics: Mapping[str, float]
    fitness: Fitness | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive(Message):
    """All candidates of a search. Immutable: `after` returns another archive.

    Attributes:
        candidates: What was accepted, by id; PPO under the native reward is among them, with role `baseline`.
        outcomes: What was delivered, by candidate id.
        fitnesses: How it was judged; None where a needed measure is undefined, absent for what was not trained.
        critiques: What was said about it.
        refusals: What was turned down, by id.
        baselines: Drivers to compare with, by name.
        intervals: 95 % interval of the fitness and of each measure, lower and upper end, by candidate id or name of the
            baseline; empty for those of which the single episodes are not known.
    """

    candidates: Mapping[str, Candidate] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    fitnesses: Mapping[str, Fitness | None] = field(default_factory=dict)
    critiques: Mapping[str, Critique] = field(default_factory=dict)
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    baselines: Mapping[str, Baseline] = field(default_factory=dict)
    intervals: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    def after(self, event: Event) -> "Archive":
        """Return the archive with one more event; events that do not concern it change nothing."""
        data: Mapping[str, Any] = event.data
        match event.kind:
            case "accepted":
                return replace(self, candidates=_with(self.candidates, data["id"], Candidate.from_json(data)))
            case "delivered":
                return replace(self, outcomes=_with(self.outcomes, data["candidate_id"], Outcome.from_json(data)))
            case "judged":
                fitness = None if data["fitness"] is None else Fitness.from_json(data["fitness"])
                return replace(self, fitnesses=_with(self.fitnesses, data["candidate_id"], fitness))
            case "criticised":
                return replace(self, critiques=_with(self.critiques, data["candidate_id"], Critique.from_json(data)))
            case "refused":
                return replace(self, refusals=_with(self.refusals, data["id"], Refusal.from_json(data)))
            case "baseline":
                return replace(self, baselines=_with(self.baselines, data["name"], Baseline.from_json(data)))
            case "intervals":
                ends = {name: tuple(each) for name, each in data["intervals"].items()}
                return replace(self, intervals=_with(self.intervals, data["name"], ends))
        return self

    def before(self, generation: int) -> "Archive":
        """Return the archive without what belongs to `generation` or a later one."""
        kept = {key: each for key, each in self.candidates.items() if each.generation < generation}
        return replace(
            self,
            candidates=kept,
            outcomes={key: each for key, each in self.outcomes.items() if key in kept},
            fitnesses={key: each for key, each in self.fitnesses.items() if key in kept},
            critiques={key: each for key, each in self.critiques.items() if key in kept},
            refusals={key: each for key, each in self.refusals.items() if each.generation < generation},
            intervals={key: each for key, each in self.intervals.items() if key in kept or key in self.baselines},
        )

    def entry(self, candidate_id: str) -> ArchiveEntry:
        """Return a candidate with all that is known about it.

        Raises:
            KeyError: No candidate of that id.
        """
        return ArchiveEntry(
            candidate=self.candidates[candidate_id],
            outcome=self.outcomes.get(candidate_id),
            fitness=self.fitnesses.get(candidate_id),
            critique=self.critiques.get(candidate_id),
        )

    def entries(self, generation: int | None = None) -> tuple[ArchiveEntry, ...]:
        """Return the candidates that compete, in their order; those of one generation alone if it is given."""
        competing = [
            each
            for each in self.candidates.values()
            if each.role == "candidate" and generation in (None, each.generation)
        ]
        return tuple(self.entry(each.id) for each in sorted(competing, key=place))

    def parents(self, candidate_id: str) -> tuple[ArchiveEntry, ...]:
        """Return those that a candidate was written from, as far as they are known."""
        return tuple(self.entry(each) for each in self.candidates[candidate_id].parents if each in self.candidates)

    def ranked(self) -> tuple[ArchiveEntry, ...]:
        """Return the judged candidates, best first: see `ranking.py`."""
        return ranking.ranked(self.entries())

    def ordered(self) -> tuple[ArchiveEntry, ...]:
        """Return all candidates: the judged ones as `ranked`, then the stopped, the unknown and the failed."""
        return ranking.ordered(self.entries())

    def top(self, count: int) -> tuple[ArchiveEntry, ...]:
        """Return the `count` best."""
        return self.ranked()[:count]

    def worst(self, count: int) -> tuple[ArchiveEntry, ...]:
        """Return the `count` worst of those that were judged, worst first."""
        return self.ranked()[::-1][:count]

    def diverse(self, count: int) -> tuple[ArchiveEntry, ...]:
        """Return up to `count` good ones that drive differently.

        The best comes first; then, of the better half, always the one that is farthest from those taken, by the
        measures of `ranking.BEHAVIOUR`.
        """
        ranked = self.ranked()
        pool = list(ranked[: max(count, len(ranked) // 2)])
        taken = pool[:1]
        while pool and len(taken) < count:
            pool = [each for each in pool if each not in taken]
            if not pool:
                break
            taken.append(max(pool, key=lambda each: min(ranking.distance(each, other) for other in taken)))
        return tuple(taken[:count])

    def failed(self, count: int) -> tuple[ArchiveEntry, ...]:
        """Return the `count` latest whose training broke, latest first; one that was stopped has not failed."""
        broken = [
            each
            for each in self.entries()
            if each.outcome is not None and each.outcome.status not in ("trained", "stopped")
        ]
        return tuple(broken[::-1][:count])

    def digests(self) -> Mapping[str, str]:
        """Return the id of the candidate of each program digest, of those that compete."""
        return {each.digest: key for key, each in self.candidates.items() if each.role == "candidate"}


def place(candidate: Candidate) -> tuple[int, int, str]:
    """Return what candidates are sorted by: generation, then number."""
    return candidate.generation, len(candidate.id), candidate.id


def _with(mapping: Mapping[str, V], key: str, value: V) -> Mapping[str, V]:
    return mapping if key in mapping else {**mapping, key: value}
