import json
import math
import random
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from actors.archive import Archive, Baseline
from actors.calibration import LEAST_FLAGGED, TOP_SHARE, Calibration, Case, Kept, calibrate
from actors.calibration_cases import calibrate_runs, case_of
from actors.fitness import fitness
from actors.messages import ArchiveEntry, Candidate, Finding, Refusal, ScreenVerdict
from actors.outcome import Outcome, RungPoint
from actors.record import SearchRecord
from tests.entries import METRICS


def case(number: int, value: float | None, *flags: str, group: str = "run", **scores: float) -> Case:
    return Case(name=f"p{number}", group=group, fitness=value, flags=flags, scores=scores)


def twenty() -> list[Case]:
    """Twenty programs of fitness 0.00 to 0.38: `right` flags the worst ten, `wrong` the best, `blind` every other."""
    cases = []
    for number in range(20):
        value = 0.02 * number
        flags = ["right" if number < 10 else "wrong", *(["blind"] if number % 2 else [])]
        scores = {"exact": value, "reversed": -value, "noise": (number * 7) % 20}
        cases.append(case(number, value, *flags, **scores))
    return cases


def test_figures_are_those_of_the_definitions() -> None:
    found = calibrate(twenty(), {"run": 0.30})
    flags = {each.name: each for each in found.flags}
    # Above 0.30 are four, and the best tenth, two, is among them.
    assert (found.count, found.good) == (20, 4)
    assert flags["right"].kept == Kept(
        count=20, kept=10, good=0.2, precision=0.4, recall=1.0, good_among_lost=0.0, top_kept=1.0
    )
    assert flags["wrong"].kept == Kept(
        count=20, kept=10, good=0.2, precision=0.0, recall=0.0, good_among_lost=0.4, top_kept=0.0
    )
    assert [flags[name].verdict for name in ("right", "wrong", "blind")] == ["pays", "does not pay", "does not pay"]
    scores = {each.name: each for each in found.scores}
    assert scores["exact"].agreement.spearman == pytest.approx(1.0)
    assert (scores["exact"].kept.top_kept, scores["exact"].kept.recall) == (1.0, 1.0)
    assert [scores[name].verdict for name in ("exact", "reversed", "noise")] == ["pays", "does not pay", "does not pay"]


def test_without_a_baseline_only_the_best_tenth_is_good() -> None:
    assert calibrate(twenty(), {}).good == 2
    assert calibrate([case(number, 0.01) for number in range(10)], {"run": 0.0}).good == 0


def test_a_flag_that_is_right_but_costs_the_best_may_only_warn() -> None:
    cases = [case(number, 0.0, "mostly") for number in range(30)] + [case(30 + number, 0.3) for number in range(9)]
    cases.append(case(99, 0.5, "mostly"))
    (flag,) = calibrate(cases, {"run": 0.2}).flags
    assert flag.p < 0.001
    assert flag.kept.top_kept == pytest.approx(0.75)
    assert flag.verdict == "warning at most"


def test_few_cases_allow_no_verdict() -> None:
    cases = [case(number, 0.1 * number, *(["rare"] if number < LEAST_FLAGGED - 1 else [])) for number in range(19)]
    found = calibrate(cases, {})
    assert [each.verdict for each in found.flags] == ["too few"]
    scored = calibrate([case(number, 0.1 * number, tau=number) for number in range(19)], {})
    assert [each.verdict for each in scored.scores] == ["too few"]


def test_a_flag_that_could_not_show_that_it_is_right_has_too_few() -> None:
    """Three good ones among ten: five bad ones under a flag, of all good or bad luck, come up in one case of twelve."""
    few = [case(number, 0.5 if number < 3 else 0.1, *(["right"] if number >= 5 else [])) for number in range(10)]
    (flag,) = calibrate(few, {"run": 0.3}).flags
    assert flag.kept.good_among_lost == 0.0
    assert flag.p == pytest.approx(1 / 12)
    assert flag.verdict == "too few"
    (same,) = calibrate([replace(each, group=group) for group in "ab" for each in few], {"a": 0.3, "b": 0.3}).flags
    assert same.p == pytest.approx(1 / 144)
    assert same.verdict == "pays"


def test_programs_are_compared_inside_their_search() -> None:
    """A search on an easier road: all its programs have more fitness, and neither is the better for it."""
    easy = [case(number, 0.5 + 0.02 * number, group="easy", tau=number) for number in range(20)]
    hard = [case(number, 0.02 * number, group="hard", tau=number) for number in range(20)]
    found = calibrate([*easy, *hard], {"easy": 0.8})
    assert found.good == 4 + 2
    (score,) = found.scores
    assert score.agreement.spearman == pytest.approx(1.0)
    assert score.kept.kept == 20
    assert score.kept.top_kept == 1.0


def test_what_was_not_looked_for_in_a_search_is_not_counted_there() -> None:
    looked = [case(number, 0.01 * number, *(["lint"] if number < 5 else []), group="new") for number in range(10)]
    found = calibrate([*looked, *(case(number, 0.5, group="old") for number in range(50))], {})
    assert found.flags[0].kept.count == 10


def test_what_broke_ranks_last_and_is_bad() -> None:
    cases = [case(number, None, "breaks", tau=-1.0) for number in range(10)]
    cases += [case(10 + number, 0.1, tau=0.5 + number) for number in range(10)]
    found = calibrate(cases, {"run": 0.05})
    assert found.good == 10
    assert found.flags[0].verdict == "pays"
    assert found.flags[0].kept.good_among_lost == 0.0
    assert (found.scores[0].agreement.spearman or 0) > 0.8


def test_a_search_with_few_good_ones_and_many_flags_makes_no_flag_right() -> None:
    """In each of the two searches the flag falls on good and bad ones alike."""
    cases = []
    for group, good, bad, flagged in (("poor", 2, 30, 0.75), ("rich", 30, 10, 0.1)):
        for value, count in ((0.5, good), (0.1, bad)):
            for number in range(count):
                flags = ("blind",) if number < round(flagged * count) else ()
                cases.append(Case(name=f"{value}-{number}", group=group, fitness=value, flags=flags))
    (flag,) = calibrate(cases, {"poor": 0.3, "rich": 0.3}).flags
    assert (flag.kept.count, flag.kept.kept, flag.kept.good_among_lost) == (72, 44, 7 / 28)
    assert fisher_exact([[7, 21], [27, 17]], alternative="less").pvalue < 0.01
    assert flag.p > 0.2
    assert flag.verdict == "does not pay"


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
@example(0, 1, 1, 9)
def test_in_one_search_it_is_fishers_exact_test(good_flagged: int, flagged: int, good_kept: int, kept: int) -> None:
    counts = ((0.5, "flag", good_flagged), (0.1, "flag", flagged), (0.5, "", good_kept), (0.1, "", kept))
    cases = [
        Case(name=f"{value}{flag}{number}", group="run", fitness=value, flags=(flag,) if flag else ())
        for value, flag, count in counts
        for number in range(count)
    ]
    for found in calibrate(cases, {"run": 0.3}).flags:
        # Where the good ones are too few for a tenth, the first of the bad ones, flagged before kept, fill it up.
        tenth = math.ceil(TOP_SHARE * len(cases))
        filled = min(flagged, max(0, tenth - good_flagged - good_kept))
        rest = max(0, tenth - good_flagged - good_kept - filled)
        table = [[good_flagged + filled, flagged - filled], [good_kept + rest, kept - rest]]
        assert found.p == pytest.approx(fisher_exact(table, alternative="less").pvalue)


CASES = st.lists(
    st.builds(
        lambda value, flags, tau, group: (value, tuple(flags), tau, group),
        st.one_of(st.none(), st.floats(0, 1)),
        st.lists(st.sampled_from(["a", "b"]), unique=True),
        st.one_of(st.none(), st.floats(-1, 1)),
        st.sampled_from(["one", "two"]),
    ),
    max_size=30,
)


@given(CASES, st.dictionaries(st.sampled_from(["one", "two"]), st.floats(0, 1)))
def test_shares_are_shares_and_order_does_not_matter(drawn: list, natives: dict[str, float]) -> None:
    cases = [
        Case(name=f"p{n}", group=group, fitness=value, flags=flags, scores={} if tau is None else {"tau": tau})
        for n, (value, flags, tau, group) in enumerate(drawn)
    ]
    found = calibrate(cases, natives)
    for each in (*found.flags, *found.scores):
        kept = each.kept
        assert 0 <= kept.kept <= kept.count
        for share in (kept.good, kept.precision, kept.recall, kept.good_among_lost, kept.top_kept):
            assert share is None or 0 <= share <= 1
        if kept.good is not None and kept.precision is not None and kept.recall is not None:
            assert kept.precision * kept.kept == pytest.approx(kept.recall * kept.good * kept.count)
    shuffled = cases.copy()
    random.Random(0).shuffle(shuffled)
    again = calibrate(shuffled, natives)
    assert (again.count, again.good) == (found.count, found.good)
    assert Calibration.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found


def entry(name: str, speed: float | None, **changes: object) -> ArchiveEntry:
    """A candidate that drives at a speed; one whose reward broke without it."""
    candidate = Candidate(id=name, generation=0, source="", digest=name, seed=1, origin="seed")
    candidate = Candidate.from_json({**candidate.to_json(), **changes})
    if speed is None:
        return ArchiveEntry(candidate=candidate, outcome=Outcome(candidate_id=name, status="faulted"))
    metrics = {**METRICS, "speed_ms": speed, "progress_ms": speed}
    rung = RungPoint(steps=100, fitness=speed / 100, native_return=1.0, crash_rate=0.0)
    outcome = Outcome(candidate_id=name, status="trained", metrics=metrics, rungs=(rung,), env_steps=300)
    return ArchiveEntry(candidate=candidate, outcome=outcome, fitness=fitness(metrics))


def record_of(*entries: ArchiveEntry, native: float | None = None) -> SearchRecord:
    judged = fitness({**METRICS, "speed_ms": native, "progress_ms": native}) if native else None
    archive = Archive(
        candidates={each.candidate.id: each.candidate for each in entries},
        outcomes={each.candidate.id: each.outcome for each in entries if each.outcome},
        fitnesses={each.candidate.id: each.fitness for each in entries if each.fitness},
        baselines={"ppo-native": Baseline(name="ppo-native", metrics={}, fitness=judged)} if native else {},
        refusals={
            f"g00-r{number:03d}": Refusal(
                id=f"g00-r{number:03d}", generation=0, code="GATE_RECKLESS", reason="", origin="evolver"
            )
            for number in range(2)
        },
    )
    return SearchRecord(archive=archive)


def test_a_candidate_becomes_a_case_with_all_that_was_said() -> None:
    verdict = ScreenVerdict(tau=0.5, rank=0, of=9)
    lint = [Finding(name="weaving", sentence="weaves").to_json()]
    warnings = ["pays for the collision itself: 31 of 40 states earn more", "12 of 400 recorded states reach 1e6"]
    found = case_of(entry("g00-c00", 24.0, screen=verdict.to_json(), lint=lint, warnings=warnings), "run")
    assert found is not None
    assert found.flags == (
        "lint weaving",
        "warning: pays for the collision itself",
        "warning: N of N recorded states reach N",
    )
    assert found.scores == {"screen tau": 0.5, "rung 100": 0.24}
    assert found.fitness is not None


def test_censored_dead_and_waiting_candidates_say_nothing() -> None:
    whole = entry("g00-c00", 24.0)
    for status in ("stopped", "failed"):
        outcome = Outcome(candidate_id="g00-c00", status=status)  # type: ignore[arg-type]
        assert case_of(ArchiveEntry(candidate=whole.candidate, outcome=outcome), "run") is None
    assert case_of(ArchiveEntry(candidate=whole.candidate), "run") is None
    diverged = Outcome(candidate_id="g00-c00", status="failed", reason="training diverged", env_steps=4096)
    bad = case_of(ArchiveEntry(candidate=whole.candidate, outcome=diverged), "run")
    assert bad is not None
    assert bad.fitness is None
    broken = case_of(entry("g00-c01", None), "run")
    assert broken is not None
    assert broken.fitness is None


def test_runs_are_judged_together() -> None:
    lint = [Finding(name="parking", sentence="parks").to_json()]
    first = record_of(
        *(entry(f"g00-c{number:02d}", 21.0 + number / 2) for number in range(10)),
        *(entry(f"g00-c{number:02d}", 20.1, lint=lint) for number in range(10, 16)),
        native=23.0,
    )
    stopped = Outcome(candidate_id="g01-c00", status="stopped")
    second = record_of(
        entry("g00-c00", 24.0), ArchiveEntry(candidate=entry("g01-c00", 24.0).candidate, outcome=stopped)
    )
    found = calibrate_runs({"first": first, "second": second})
    assert (found.count, found.stopped) == (17, 1)
    assert found.refused == {"GATE_RECKLESS": 4}
    assert [each.name for each in found.flags] == ["lint parking"]
    assert found.flags[0].kept.count == 16
    assert {each.name for each in found.scores} == {"rung 100"}
    assert found.rungs[0].name == "100_to_final"
    assert found.rungs[0].agreement.count == 16
