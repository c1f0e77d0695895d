import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.archive import Archive
from actors.fitness import fitness
from actors.journal import Event
from actors.message import Message
from actors.messages import Critique, Refusal
from tests.entries import archive_of, faulted, trained
from tests.searches import delivery


def event(kind: str, data: object) -> Event:
    assert isinstance(data, (Message, dict))
    return Event(kind=kind, data=data if isinstance(data, dict) else data.to_json(), epoch=1, sequence=0, time=0.0)


def folded(events: list[Event]) -> Archive:
    archive = Archive()
    for each in events:
        archive = archive.after(each)
    return archive


def events_of(names: list[str]) -> list[Event]:
    events = []
    for number, name in enumerate(names):
        entry = trained(name)
        outcome = delivery(name, 21.0 + number / 2).outcome
        judged = fitness(outcome.metrics)
        assert judged is not None
        events += [
            event("accepted", entry.candidate),
            event("delivered", outcome),
            event("judged", {"candidate_id": name, "fitness": judged.to_json()}),
            event("criticised", Critique(candidate_id=name)),
            event("refused", Refusal(id=f"g00-r{number:03d}", generation=0, code="E_X", reason="no", origin="llm")),
            event("baseline", {"name": f"driver-{number}", "metrics": {"speed_ms": 1.0}, "fitness": None}),
        ]
    return events


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), repeats=st.integers(0, 5))
def test_events_in_any_order_and_twice_give_the_same_archive(seed: int, repeats: int) -> None:
    events = events_of([f"g{number // 3:02d}-c{number % 3:02d}" for number in range(7)])
    rng = random.Random(seed)
    shuffled = events + rng.sample(events, repeats)
    rng.shuffle(shuffled)
    expected, found = folded(events), folded(shuffled)
    assert found == expected
    assert found.ranked() == expected.ranked()
    assert found.diverse(3) == expected.diverse(3)


def test_it_is_the_same_after_a_walk_through_json() -> None:
    archive = folded(events_of(["g00-c00", "g00-c01"]))
    archive = archive.after(event("judged", {"candidate_id": "g00-c02", "fitness": None}))
    assert Archive.from_json(archive.to_json()) == archive


def test_the_first_outcome_of_a_candidate_counts() -> None:
    archive = folded([event("delivered", delivery("g00-c00", speed).outcome) for speed in (23.0, 25.0)])
    assert archive.outcomes["g00-c00"].metrics["speed_ms"] == 23.0


def test_ranks_by_fitness_and_what_was_not_judged_is_not_ranked() -> None:
    good, bad, broken = trained("g00-c00"), trained("g00-c01", crash_rate=0.9), faulted("g01-c00")
    archive = archive_of(bad, broken, good)
    assert [each.candidate.id for each in archive.ranked()] == ["g00-c00", "g00-c01"]
    assert archive.top(1) == (good,)
    assert archive.worst(1) == (bad,)
    assert archive.failed(5) == (broken,)
    assert [each.candidate.id for each in archive.entries()] == ["g00-c00", "g00-c01", "g01-c00"]
    assert archive.entries(1) == (broken,)


def test_equals_rank_in_their_order_beyond_a_hundred() -> None:
    archive = archive_of(*(trained(name) for name in ("g00-c100", "g00-c99", "g00-c03")))
    assert [each.candidate.id for each in archive.ranked()] == ["g00-c03", "g00-c99", "g00-c100"]


def test_diverse_takes_the_best_and_then_who_drives_differently() -> None:
    best = trained("g00-c00", speed_ms=27.0)
    twin = trained("g00-c01", speed_ms=26.9)
    other = trained("g00-c02", speed_ms=24.0, lane_changes_per_km=9.0)
    archive = archive_of(best, twin, other, *(trained(f"g00-c1{n}", crash_rate=0.9) for n in range(4)))
    assert [each.candidate.id for each in archive.diverse(2)] == ["g00-c00", "g00-c02"]
    assert len(archive.diverse(100)) == 7
    assert Archive().diverse(3) == ()


def test_before_a_generation_knows_nothing_of_it() -> None:
    archive = folded(events_of(["g00-c00", "g01-c00", "g02-c00"]))
    refused = Refusal(id="g01-r000", generation=1, code="E_X", reason="no", origin="llm")
    archive = archive.after(event("refused", refused))
    earlier = archive.before(1)
    assert set(earlier.candidates) == set(earlier.outcomes) == set(earlier.fitnesses) == {"g00-c00"}
    assert "g01-r000" not in earlier.refusals
    assert earlier.baselines == archive.baselines


def test_parents_are_those_that_are_known() -> None:
    archive = archive_of(trained("g00-c00"), trained("g01-c00"))
    assert [each.candidate.id for each in archive.parents("g01-c00")] == ["g00-c00"]
    assert archive.parents("g00-c00") == ()
    with pytest.raises(KeyError):
        archive.entry("g09-c00")
