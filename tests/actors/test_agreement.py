import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from actors.agreement import Agreement, agreement, rung_agreements, summarise_rungs
from actors.archive import Archive
from actors.fitness import fitness
from actors.messages import Candidate
from actors.outcome import Outcome, RungPoint
from actors.record import SearchRecord
from actors.summary import summarise_search
from orchestrator.points import foretold, trained
from tests.entries import METRICS
from tests.searches import small_plan

PAIRS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=3, max_size=40)


@given(PAIRS)
def test_with_one_group_it_is_scipys(pairs: list[tuple[int, int]]) -> None:
    found = agreement([pairs])
    one, other = zip(*pairs, strict=True)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found == Agreement(count=0)
        return
    expected = spearmanr(one, other)
    assert found.count == len(pairs)
    assert found.spearman == pytest.approx(expected.statistic)
    assert found.kendall == pytest.approx(kendalltau(one, other).statistic)
    if abs(expected.statistic) < 1 - 1e-9:
        assert found.p == pytest.approx(expected.pvalue)


@given(PAIRS, st.floats(1, 100))
def test_another_scale_in_another_group_changes_nothing(pairs: list[tuple[int, int]], shift: float) -> None:
    alone = agreement([pairs])
    both = agreement([pairs, [(one - 500, other + shift) for one, other in pairs]])
    assert both.count == 2 * alone.count
    if alone.spearman is None:
        assert both.spearman is None
    else:
        assert both.spearman == pytest.approx(alone.spearman)
        assert both.kendall == pytest.approx(alone.kendall)


def test_too_few_say_nothing() -> None:
    assert agreement([]) == Agreement(count=0)
    assert agreement([[(1, 2), (2, 3)]]) == Agreement(count=0)
    assert agreement([[(1, 2), (2, 3), (3, 4)]]).p == 0.0


def archive_of(runs: dict[str, tuple[list[float | None], float | None]]) -> Archive:
    """Candidates with their fitness at 100, 200, ... steps, and the speed that their final fitness comes from."""
    candidates, outcomes, fitnesses = {}, {}, {}
    for name, (early, speed) in runs.items():
        points = tuple(
            RungPoint(steps=100 * (number + 1), fitness=each, native_return=1.0, crash_rate=0.0)
            for number, each in enumerate(early)
        )
        candidates[name] = Candidate(id=name, generation=0, source="", digest=name, seed=1, origin="seed")
        status = "stopped" if speed is None else "trained"
        outcomes[name] = Outcome(candidate_id=name, status=status, rungs=points, env_steps=1000)
        if speed is not None:
            fitnesses[name] = fitness({**METRICS, "speed_ms": speed})
    return Archive(candidates=candidates, outcomes=outcomes, fitnesses=fitnesses)


def test_rungs_are_compared_with_the_next_and_with_the_end() -> None:
    archive = archive_of(
        {
            "g00-c00": ([0.1, 0.2], 22.0),
            "g00-c01": ([0.2, 0.1], 23.0),
            "g00-c02": ([0.3, 0.4], 24.0),
            "g00-c03": ([0.4, None], 25.0),
            "g00-c04": ([0.05], None),
        }
    )
    found = {each.name: each.agreement for each in rung_agreements([archive])}
    assert list(found) == ["100_to_200", "100_to_final", "200_to_final"]
    assert found["100_to_200"].count == 3
    assert found["100_to_200"].spearman == pytest.approx(0.5)
    assert (found["100_to_final"].count, found["100_to_final"].spearman) == (4, pytest.approx(1.0))
    assert found["200_to_final"].spearman == pytest.approx(0.5)
    first = summarise_rungs(archive)[0]
    assert (first["steps"], first["later"], first["count"]) == (100, 200, 3)
    assert all(
        each.agreement.spearman == pytest.approx(found[each.name].spearman) for each in rung_agreements([archive] * 2)
    )
    assert math.isfinite(found["100_to_200"].p or math.nan)


def test_mlflow_and_the_summary_get_the_agreements() -> None:
    early = {f"g00-c{number:02d}": ([0.1 * number], 22.0 + number) for number in range(5)}
    archive = archive_of(early)
    points = {each.name: (each.value, each.step) for each in foretold(archive, 3)}
    assert points == {
        "rungs/spearman_100_to_final": (pytest.approx(1.0), 3),
        "rungs/kendall_100_to_final": (pytest.approx(1.0), 3),
    }
    logged = [each for each in trained(archive.outcomes["g00-c02"]) if each.name == "rungs/fitness"]
    assert [(each.value, each.step) for each in logged] == [(0.2, 100)]
    summary = summarise_search(SearchRecord(plan=small_plan(), archive=archive))
    assert [(each["steps"], each["later"], each["count"]) for each in summary["rungs"]] == [(100, "final", 5)]


def test_without_rungs_there_is_nothing_to_say() -> None:
    assert rung_agreements([archive_of({"g00-c00": ([], 22.0)}), Archive()]) == ()
