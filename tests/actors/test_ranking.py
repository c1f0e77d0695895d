import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.messages import ArchiveEntry, Fitness
from actors.outcome import Outcome
from actors.ranking import distance, ordered, ranked
from actors.record import SearchRecord
from tests.entries import archive_of, faulted, trained


def judged(number: int, value: float, low: float | None = None, **metrics: float) -> ArchiveEntry:
    entry = trained(f"g00-c{number:02d}", **metrics)
    return replace(entry, fitness=Fitness(value=value, terms={}, gate=1.0, low=low, high=None if low is None else 1.0))


def without(number: int, status: str) -> ArchiveEntry:
    entry = trained(f"g00-c{number:02d}")
    outcome = None if status == "waiting" else Outcome(candidate_id=entry.candidate.id, status=status)
    return replace(entry, outcome=outcome, fitness=None, critique=None)


def names(entries: tuple[ArchiveEntry, ...]) -> list[int]:
    return [int(each.candidate.id[-2:]) for each in entries]


def test_what_can_be_claimed_ranks_and_not_the_luckiest_value() -> None:
    lucky, sure = judged(0, 0.6, low=0.3), judged(1, 0.5, low=0.45)
    assert names(ranked([lucky, sure])) == [1, 0]


def test_equals_are_ordered_by_what_they_add_to_those_above() -> None:
    best = judged(0, 0.5, speed_ms=25.0)
    twin, near, far = (judged(number, 0.4, speed_ms=speed) for number, speed in ((1, 25.0), (2, 26.0), (3, 30.0)))
    assert names(ranked([best, twin, near, far])) == [0, 3, 2, 1]


def test_equals_that_drive_alike_stay_in_their_order() -> None:
    assert names(ranked([judged(number, 0.4) for number in range(5)])) == [0, 1, 2, 3, 4]


def test_a_generation_of_equals_is_ordered_by_behaviour_alone() -> None:
    """The oldest first, then the one that is farthest from it, then what lies between."""
    entries = [judged(number, 0.0, low=0.0, speed_ms=speed) for number, speed in enumerate((22.0, 23.0, 29.0, 25.0))]
    assert names(ranked(entries)) == [0, 2, 3, 1]


def test_stopped_ones_come_after_the_judged_and_before_the_failed() -> None:
    entries = [
        without(0, "failed"),
        without(1, "stopped"),
        without(2, "waiting"),
        judged(3, 0.1),
        without(4, "faulted"),
        without(5, "trained"),
        without(6, "stopped"),
    ]
    assert names(ordered(entries)) == [3, 1, 6, 2, 5, 0, 4]
    assert names(ranked(entries)) == [3]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_never_ranks(value: float) -> None:
    entries = [judged(0, value), judged(1, 0.2, low=value), judged(2, 0.01)]
    assert names(ranked(entries)) == [2]
    assert names(ordered(entries)) == [2, 0, 1]


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.2, 0.3, math.nan]), st.sampled_from(["judged", "failed", "stopped"])),
        max_size=7,
    ),
    st.integers(0, 9),
)
def test_any_generation_is_ranked_once_and_by_value(wanted: list[tuple[float, str]], seed: int) -> None:
    speeds = random.Random(seed)
    entries = [
        judged(number, value, speed_ms=speeds.choice([22.0, 24.0, 28.0])) if kind == "judged" else without(number, kind)
        for number, (value, kind) in enumerate(wanted)
    ]
    order = ordered(entries)
    assert sorted(names(order)) == list(range(len(entries)))
    values = [each.fitness.value for each in ranked(entries) if each.fitness]
    assert values == sorted(values, reverse=True)
    assert not any(math.isnan(value) for value in values)


def test_a_generation_in_which_all_failed_ranks_nobody() -> None:
    archive = archive_of(*(without(number, "failed") for number in range(3)))
    assert archive.ranked() == archive.top(3) == archive.worst(3) == archive.diverse(3) == ()
    assert names(archive.ordered()) == [0, 1, 2]
    score = SearchRecord(archive=archive).score(0)
    assert (score.best, score.mean) == (None, None)


def test_a_single_survivor_is_best_worst_and_all_there_is() -> None:
    archive = archive_of(without(0, "failed"), judged(1, 0.2, low=0.1), faulted("g00-c02"))
    assert (
        names(archive.ranked()) == names(archive.top(3)) == names(archive.worst(3)) == names(archive.diverse(3)) == [1]
    )
    score = SearchRecord(archive=archive).score(0)
    assert score.best == score.mean == 0.2


def test_measures_that_one_lacks_do_not_separate_two() -> None:
    whole, partial = judged(0, 0.2, speed_ms=25.0), judged(1, 0.2, speed_ms=25.0)
    assert partial.outcome is not None
    partial = replace(partial, outcome=replace(partial.outcome, metrics={"speed_ms": 28.0}))
    assert distance(whole, partial) == distance(partial, whole) == pytest.approx(1.0)
